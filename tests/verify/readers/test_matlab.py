"""MATLAB files, honest and hostile."""

from __future__ import annotations

import pickle
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from tests.verify.readers.helpers import KINDS, Bomb, X, refusal
from verify import files
from verify.datasets import read_labels, read_matrix, read_pair
from verify.errors import InputError, UnknownName


@pytest.fixture
def mat(tmp_path: Path) -> Callable[..., Path]:
    def write(name: str = "x.mat", **variables: Any) -> Path:
        scipy.io.savemat(tmp_path / name, variables, do_compression=True)
        return tmp_path / name

    return write


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"])
def test_a_matrix_of_matlab_is_read(tmp_path: Path, dtype: str, packed: bool) -> None:
    matrix = np.array([[0, 1, 100], [1, 0, 7]]).astype(dtype)
    scipy.io.savemat(tmp_path / "x.mat", {"A": matrix}, do_compression=packed)
    np.testing.assert_array_equal(read_matrix(tmp_path / "x.mat"), matrix)


def test_a_matlab_file_of_a_big_endian_machine_is_read(tmp_path: Path) -> None:
    def element(kind: int, data: bytes) -> bytes:
        return struct.pack(">II", kind, len(data)) + data + bytes(-len(data) % 8)

    flags, shape = struct.pack(">II", 6, 0), struct.pack(">ii", *X.shape)
    values = np.asfortranarray(X).astype(">f8").tobytes(order="F")
    matrix = element(6, flags) + element(5, shape) + element(1, b"X") + element(9, values)
    header = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack(">H", 0x0100) + b"MI"
    (tmp_path / "x.mat").write_bytes(header + element(14, matrix))
    np.testing.assert_array_equal(scipy.io.loadmat(tmp_path / "x.mat")["X"], X)
    np.testing.assert_array_equal(read_matrix(tmp_path / "x.mat"), X)


def test_a_matlab_file_of_version_4_is_told_how_to_be_saved(tmp_path: Path) -> None:
    scipy.io.savemat(tmp_path / "x.mat", {"X": np.ones((4, 4))}, format="4")
    assert "'-v7'" in refusal(read_matrix, tmp_path / "x.mat")


def test_complex_numbers_of_matlab_are_refused(mat: Any) -> None:
    assert "save real(X)" in refusal(read_matrix, mat(X=X * 1j))


def test_labels_of_matlab_may_be_in_any_script(mat: Any) -> None:
    path = mat(y=np.array(["naïve", "Ωμέγα", "naïve"], dtype=object))
    assert read_labels(path, "Ωμέγα").values.tolist() == [-1, 1, -1]


def test_a_compressed_variable_that_claims_any_size_costs_no_memory(tmp_path: Path) -> None:
    def element(kind: int, data: bytes, pad: bool = True) -> bytes:
        return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8 if pad else 0)

    flags, shape = struct.pack("<II", 6, 0), struct.pack("<ii", 2**20, 2**20)
    inner = element(6, flags) + element(5, shape) + element(1, b"X") + struct.pack("<II", 9, 2**31)
    whole = struct.pack("<II", 14, len(inner) + 2**24) + inner + bytes(2**24)
    header = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    packed = element(15, zlib.compress(whole), pad=False)
    (tmp_path / "x.mat").write_bytes(header + packed)
    assert len(packed) < 2**16
    assert "2**28 entries" in refusal(read_matrix, tmp_path / "x.mat")


def test_a_function_handle_of_matlab_is_refused(tmp_path: Path) -> None:
    def element(kind: int, data: bytes) -> bytes:
        return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)

    header = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    for kind, word in ((16, "function handle"), (17, "object"), (3, "object")):
        shape = b"" if kind == 17 else element(5, struct.pack("<ii", 1, 1))
        inner = element(6, struct.pack("<II", kind, 0)) + shape + element(1, b"X")
        (tmp_path / "x.mat").write_bytes(header + element(14, inner + element(1, b"@system")))
        assert f"holds a {word} in 'X'" in refusal(read_matrix, tmp_path / "x.mat")


@pytest.mark.parametrize("kind", ["csc_matrix", "csc_array"])
def test_a_sparse_matrix_of_matlab_is_written_out(mat: Any, kind: str) -> None:
    np.testing.assert_array_equal(read_matrix(mat(X=getattr(scipy.sparse, kind)(X))), X)


def test_features_and_labels_of_one_matlab_file_are_told_apart_by_their_usual_names(
    mat: Any,
) -> None:
    features, labels = read_pair(mat(X=X, y=[[1, -1, 1]], other=[1.0]))
    np.testing.assert_array_equal(features, X)
    assert labels.values.tolist() == [1, -1, 1]


def test_variables_of_a_matlab_file_can_be_named(mat: Any) -> None:
    path = mat(genes=X, outcome=np.array([[1.0], [2.0], [3.0]]))
    features, labels = read_pair(f"{path}::genes", None, None, "outcome")
    np.testing.assert_array_equal(features, X)
    assert labels.values.tolist() == [1, 2, 3]
    assert read_labels(f"{path}::outcome").values.tolist() == [1, 2, 3]


def test_several_variables_without_a_usual_name_are_listed(mat: Any) -> None:
    message = refusal(read_matrix, mat(genes=X, cells=X))
    assert "'genes', 'cells'" in message
    assert "file.mat::name" in message


def test_an_unknown_variable_gets_the_nearest_first(mat: Any) -> None:
    message = refusal(read_matrix, f"{mat(genes=X, cells=X)}::gene", error=UnknownName)
    assert "('genes', 'cells')" in message


@pytest.mark.parametrize(
    "labels",
    [
        np.array(KINDS, dtype=object),
        np.array(KINDS, dtype=object)[:, None],
        np.array(["ill ", "well", "ill "]),
    ],
    ids=["row of cells", "column of cells", "char matrix"],
)
def test_texts_of_matlab_are_labels(mat: Any, labels: Any) -> None:
    found = read_labels(mat(y=labels), "ill")
    assert found.values.tolist() == [1, -1, 1]
    assert found.classes == {"ill": 2, "well": 1}


def test_an_empty_cell_is_a_missing_label(mat: Any) -> None:
    path = mat(y=np.array(["a", np.zeros((0, 0)), "b"], dtype=object))
    assert "the first at label 2" in refusal(read_labels, path, "a")


@pytest.mark.parametrize("cell", [np.ones((2, 2)), np.array(["a", "b"], dtype=object), {"a": 1.0}])
def test_cells_that_are_no_texts_are_refused(mat: Any, cell: Any) -> None:
    path = mat(y=np.array(["a", cell], dtype=object))
    assert "no text" in refusal(read_labels, path, "a")


def test_a_cell_array_is_no_matrix(mat: Any) -> None:
    assert "save the numbers as a matrix" in refusal(
        read_matrix, mat(X=np.array(KINDS, dtype=object))
    )


def test_a_structure_of_matlab_is_not_interpreted(mat: Any) -> None:
    message = refusal(read_matrix, mat(X={"data": X}))
    assert "holds a struct in 'X', which is never interpreted" in message


def test_a_pickle_called_mat_is_refused_and_not_run(tmp_path: Path, bomb: Bomb) -> None:
    path = tmp_path / "x.mat"
    path.write_bytes(pickle.dumps(bomb))
    assert "intact" in refusal(read_matrix, path)
    assert not bomb.trace.exists()


def test_bytes_of_a_pickle_in_matlab_stay_numbers(mat: Any, bomb: Bomb) -> None:
    content = np.frombuffer(pickle.dumps(bomb), dtype=np.uint8)
    assert read_matrix(mat(X=content)).shape == (1, content.size)
    assert not bomb.trace.exists()


def test_matlab_7_3_is_told_how_to_be_saved(tmp_path: Path) -> None:
    header = b"MATLAB 7.3 MAT-file".ljust(124) + struct.pack("<H", 0x0200) + b"IM"
    (tmp_path / "x.mat").write_bytes(header + b"\x89HDF\r\n\x1a\n" * 8)
    assert "'-v7'" in refusal(read_matrix, tmp_path / "x.mat")


def test_a_sparse_matrix_with_indices_outside_it_is_refused(mat: Any) -> None:
    path = mat(X=X)
    scipy.io.savemat(path, {"X": scipy.sparse.csc_matrix(np.eye(3)[[1, 2, 0]])})
    content, rows = path.read_bytes(), np.array([2, 0, 1], dtype="<i4").tobytes()
    assert content.count(rows) == 1
    path.write_bytes(content.replace(rows, np.array([2, 10**6, 1], dtype="<i4").tobytes()))
    assert "indices do not fit" in refusal(read_matrix, path)


@pytest.mark.parametrize(
    ("places", "starts"),
    [
        ([0, 1, 2], [0, 1, 2, 4]),
        ([0, 1, 2], [0, 1, 2]),
        ([0, 1, 2], [1, 1, 2, 3]),
        ([0, 1, 2], [0, 2, 1, 3]),
        ([0, 1, 3], [0, 1, 2, 3]),
        ([0, -1, 2], [0, 1, 2, 3]),
        ([0, 1, 2], [0, 128, 12, 0]),
        ([0.0, 1.0, 2.0], [0, 1, 2, 3]),
        ([0, 1, 2], [0.0, 1.0, 2.0, 3.0]),
        ([0, 1, 2], []),
    ],
)
def test_sparse_indices_that_do_not_fit_are_refused(places: list[Any], starts: list[Any]) -> None:
    """With [0, 128, 12, 0] scipy's toarray ends the process, whatever check_format says."""
    parts = np.ones(3), np.array(places), np.array(starts)
    for by_rows in (True, False):
        with pytest.raises(InputError, match="indices do not fit"):
            files.written_out(Path("x"), (3, 3), *parts, by_rows)


def test_sparse_matrices_are_written_out_as_scipy_does() -> None:
    rng = np.random.default_rng(1)
    matrix = scipy.sparse.random_array((5, 8), density=0.4, rng=rng).tocsr()
    for form, by_rows in ((matrix, True), (matrix.tocsc(), False)):
        parts = form.data, form.indices, form.indptr
        found = files.written_out(Path("x"), (5, 8), *parts, by_rows)
        np.testing.assert_array_equal(found, matrix.toarray())
