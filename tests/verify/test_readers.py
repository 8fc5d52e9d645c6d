"""Files of other tools, honest and hostile: MATLAB, Matrix Market, svmlight, Parquet, AnnData."""

from __future__ import annotations

import pickle
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verify import files
from verify.datasets import read_labels, read_matrix, read_pair
from verify.errors import BackendUnavailable, InputError, ReluVerifyError, UnknownName

X = np.array([[1.0, 0.0, -2.5, 0.0], [0.0, 4.0, 0.0, 6e-3], [7.0, 0.0, 0.0, 8.0]])
KINDS = ["ill", "well", "ill"]


def refusal(
    read: Callable[..., Any], *arguments: Any, error: type[Exception] = InputError, **named: Any
) -> str:
    """The message of the error, which must be one sentence."""
    with pytest.raises(error) as caught:
        read(*arguments, **named)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    assert ": expected " in message
    assert "; " in message
    return message


class Bomb:
    """A pickle that leaves a trace where it is loaded."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (str(self.trace), "w"))


@pytest.fixture
def bomb(tmp_path: Path) -> Bomb:
    return Bomb(tmp_path / "trace")


def test_the_bomb_goes_off_where_a_pickle_is_loaded(bomb: Bomb) -> None:
    pickle.loads(pickle.dumps(bomb)).close()
    assert bomb.trace.exists()


# Tables with the labels among the columns ---------------------------------------------------


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("kind,a,b\nill,1,2\nwell,3,4\nill,5,6\n", "kind"),
        ("kind,a,b\nill,1,2\nwell,3,4\nill,5,6\n", "1"),
        ("a,kind,b\n1,ill,2\n3,well,4\n5,ill,6\n", " kind "),
        ("a,b,kind\n1,2,ill\n3,4,well\n5,6,ill\n", "3"),
        ("1,2,ill\n3,4,well\n5,6,ill\n", "3"),
        (",a,kind,b\n0,1,ill,2\n1,3,well,4\n2,5,ill,6\n", "kind"),
        ("s,1,2,ill\nt,3,4,well\nu,5,6,ill\n", "4"),
    ],
)
def test_a_label_column_of_a_table_is_no_feature(tmp_path: Path, text: str, column: str) -> None:
    (tmp_path / "x.csv").write_text(text)
    features, labels = read_pair(tmp_path / "x.csv", None, "ill", column)
    assert features.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert labels.values.tolist() == [1, -1, 1]


def test_the_number_of_a_column_is_no_name_in_a_table_without_header(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("1,2\n3,4\n5,6\n")
    features, labels = read_pair(tmp_path / "x.csv", None, None, "1")
    assert features.tolist() == [[2], [4], [6]]
    assert labels.values.tolist() == [1, 3, 5]


def test_a_column_of_a_table_of_labels_can_be_named(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "y.tsv").write_text("sample\tkind\ns\till\nt\twell\nu\till\n")
    features, labels = read_pair(tmp_path / "x.npy", tmp_path / "y.tsv", "ill", "kind")
    np.testing.assert_array_equal(features, X)
    assert labels.values.tolist() == [1, -1, 1]


def test_a_column_of_an_array_are_labels(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    features, labels = read_pair(tmp_path / "x.npy", None, None, "4")
    np.testing.assert_array_equal(features, X[:, :3])
    np.testing.assert_array_equal(labels.values, X[:, 3])
    np.savez(tmp_path / "x.npz", X=X, mine=[1, 2, 3])
    assert read_pair(tmp_path / "x.npz", None, None, "mine")[1].values.tolist() == [1, 2, 3]


@pytest.mark.parametrize("column", ["kin", "0", "4", "", "1.0", "-1", "kind,b"])
def test_an_unknown_column_is_refused_with_the_nearest(tmp_path: Path, column: str) -> None:
    (tmp_path / "x.csv").write_text("a,b,kind\n1,2,ill\n3,4,well\n")
    message = refusal(read_pair, tmp_path / "x.csv", None, "ill", column, error=UnknownName)
    assert "'kind'" in message
    assert "a number from 1 to 3" in message


def test_a_name_that_several_columns_have_wants_a_number(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b,b\n1,2,3\n3,4,5\n")
    message = refusal(read_pair, tmp_path / "x.csv", None, None, "b")
    assert "--label-column 2" in message


def test_a_file_without_labels_says_how_to_give_them(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,4\n")
    for name in ("x.npy", "x.csv"):
        assert "--label-column NAME" in refusal(read_pair, tmp_path / name)


def test_labels_are_not_named_twice(tmp_path: Path) -> None:
    np.savez(tmp_path / "y.npz", a=[1, 2, 3], b=[1, 2, 3])
    refusal(read_labels, f"{tmp_path / 'y.npz'}::a", None, "b")


# MATLAB -------------------------------------------------------------------------------------


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


# Matrix Market ------------------------------------------------------------------------------


@pytest.mark.parametrize("matrix", [X, scipy.sparse.coo_matrix(X)], ids=["array", "coordinate"])
def test_a_matrix_market_file_is_read(tmp_path: Path, matrix: Any) -> None:
    scipy.io.mmwrite(tmp_path / "x.mtx", matrix)
    np.testing.assert_array_equal(read_matrix(tmp_path / "x.mtx"), X)


def test_a_column_of_a_matrix_market_file_are_labels_or_features(tmp_path: Path) -> None:
    scipy.io.mmwrite(tmp_path / "x.mtx", X)
    features, labels = read_pair(tmp_path / "x.mtx", None, None, "1")
    np.testing.assert_array_equal(features, X[:, 1:])
    np.testing.assert_array_equal(labels.values, X[:, 0])
    scipy.io.mmwrite(tmp_path / "y.mtx", X[:, :1])
    assert read_labels(tmp_path / "y.mtx").values.tolist() == X[:, 0].tolist()


MARKET = "%%MatrixMarket matrix coordinate real general\n"
ARRAY = "%%MatrixMarket matrix array real general\n"


@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric"])
@pytest.mark.parametrize("form", ["array", "coordinate"])
def test_halves_of_symmetric_matrices_are_completed(
    tmp_path: Path, symmetry: str, form: str
) -> None:
    half = np.tril(np.arange(1.0, 10.0).reshape(3, 3), -1)
    whole = half + half.T + np.eye(3) if symmetry == "symmetric" else half - half.T
    written = whole if form == "array" else scipy.sparse.coo_matrix(whole)
    scipy.io.mmwrite(tmp_path / "x.mtx", written, symmetry=symmetry)
    np.testing.assert_array_equal(read_matrix(tmp_path / "x.mtx"), whole)


@pytest.mark.parametrize("field", ["integer", "pattern", "real"])
def test_fields_of_matrix_market_agree_with_scipy(tmp_path: Path, field: str) -> None:
    sparse = scipy.sparse.coo_matrix(np.array([[1, 0, 1], [0, 1, 0]]))
    scipy.io.mmwrite(tmp_path / "x.mtx", sparse, comment="by hand\nof somebody", field=field)
    expected = scipy.io.mmread(tmp_path / "x.mtx").toarray()
    np.testing.assert_array_equal(read_matrix(tmp_path / "x.mtx"), expected)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (MARKET + "3 4 1\n9 9 1.0\n", "'9 9 1.0' in line 3"),
        (MARKET + "3 4 1\n0 1 1.0\n", "a place within 3 rows"),
        (MARKET + "3 4 2\n1 1 1.0\n% mine\n1 1 2.0\n", "'1 1 2.0' in line 5"),
        (MARKET + "3 4 2\n1 1 1.0\n", "has 1 lines of entries"),
        (MARKET + "3 4 1\n1 1 x\n", "one real number"),
        (MARKET + "3 4 1\n1 1\n", "row, column and value"),
        (MARKET + "3 4 1\n1 1 1_0\n", "one real number"),
        (MARKET + "3 4\n", "rows, columns and"),
        (MARKET + "3 4 x\n", "a whole number"),
        (MARKET + "3 -4 1\n", "a whole number"),
        (MARKET + "1000000 1000000 1\n1 1 1.0\n", "2**28 entries"),
        (MARKET + "10 10 99999999\n1 1 1.0\n", "expected 99999999"),
        (MARKET + "% nothing\n", "a line of sizes"),
        (MARKET.replace("real", "complex") + "1 1 1\n1 1 1.0 2.0\n", "write real numbers"),
        (MARKET.replace("general", "hermitian") + "1 1 1\n1 1 1.0\n", "begins with"),
        (MARKET.replace("general", "symmetric") + "2 3 1\n1 1 1.0\n", "square"),
        (MARKET.replace("general", "symmetric") + "2 2 1\n1 2 1.0\n", "mirror image"),
        (MARKET.replace("general", "skew-symmetric") + "2 2 1\n1 1 1.0\n", "mirror image"),
        (ARRAY + "2 2\n1 2\n3 4\n5 6\n7 8\n", "one real number"),
        (ARRAY + "2 2\n1\n2\n3\n4\n5\n", "has 5 lines of entries"),
        (ARRAY + "2 2\n1\n2\0\n3\n4\n", "NUL"),
        (ARRAY + "2 2\n1\n2\n1e999\n4\n", "infinite values, the first at row 1, column 2"),
        (ARRAY.replace("real", "pattern") + "1 1\n1\n", "begins with"),
        ("hello\n", "begins with 'hello'"),
        ("\n", "begins with"),
    ],
)
def test_unusable_matrix_market_files_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "x.mtx").write_text(text)
    assert reason in refusal(read_matrix, tmp_path / "x.mtx")


# svmlight -----------------------------------------------------------------------------------


@pytest.fixture
def svm(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        (tmp_path / "x.svm").write_text(text)
        return tmp_path / "x.svm"

    return write


@pytest.mark.parametrize(
    "text",
    [
        "+1 1:1 3:-2.5\n-1 2:4 4:6e-3\n1.0 1:7 4:8\n",
        "# made by hand\n1 1:1 3:-2.5 # the first\n\n-1 2:4 4:.006\r\n1 1:7 4:8",
        "1 0:1 2:-2.5\n-1 1:4 3:6e-3\n1 0:7 3:8\n",
    ],
    ids=["from 1", "comments", "from 0"],
)
def test_svmlight_holds_features_and_labels(svm: Any, text: str) -> None:
    features, labels = read_pair(svm(text))
    np.testing.assert_array_equal(features, X)
    assert labels.values.tolist() == [1, -1, 1]


def test_a_line_of_svmlight_may_have_no_entries(svm: Any) -> None:
    assert read_matrix(svm("1 2:3\n-1\n")).tolist() == [[0, 3], [0, 0]]


def test_classes_of_svmlight_want_a_positive_level(svm: Any) -> None:
    path = svm("ill 1:1\nwell 1:2\nill 1:3\n")
    assert read_pair(path, None, "ill")[1].values.tolist() == [1, -1, 1]
    assert "'ill' (2), 'well' (1)" in refusal(read_pair, path)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("1:", "a number after the colon"),
        ("1:x", "a number after the colon"),
        ("1:1_0", "a number after the colon"),
        ("a:1", "whole index"),
        ("-1:1", "whole index"),
        ("1.5:1", "whole index"),
        ("7", "whole index"),
        ("qid:3", "drop qid"),
        ("2:1 2:1", "rising"),
        ("3:1 2:1", "rising"),
        ("9999999999:1", "whole index"),
        ("999999999:1", "2**28 entries"),
        ("1:nan", "NaN"),
        ("1:1e999", "infinite"),
    ],
)
def test_mistakes_in_svmlight_are_placed(svm: Any, entry: str, reason: str) -> None:
    message = refusal(read_matrix, svm(f"1 1:1\n-1 {entry}\n"))
    assert reason in message
    assert "line 2" in message or "2**28" in message or "row 2" in message


@pytest.mark.parametrize("text", ["1:2 3:4\n", "# nothing\n", "\n"])
def test_svmlight_without_labels_or_lines_is_refused(svm: Any, text: str) -> None:
    refusal(read_labels, svm(text))


def test_svmlight_has_no_columns_to_be_named(svm: Any) -> None:
    path = svm("1 1:1\n-1 1:2\n")
    assert "leave out --label-column" in refusal(read_pair, path, None, None, "1")


# Parquet ------------------------------------------------------------------------------------

parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
pyarrow = pytest.importorskip("pyarrow")


@pytest.fixture
def pq(tmp_path: Path) -> Callable[..., Path]:
    def write(**columns: Any) -> Path:
        parquet.write_table(pyarrow.table(columns), tmp_path / "x.parquet")
        return tmp_path / "x.parquet"

    return write


COLUMNS = {name: X[:, j] for j, name in enumerate("abcd")}


def test_a_parquet_table_is_read_with_its_label_column(pq: Any) -> None:
    for column in ("kind", "3"):
        path = pq(a=X[:, 0], b=X[:, 1], kind=KINDS, c=X[:, 2], d=X[:, 3])
        features, labels = read_pair(path, None, "ill", column)
        np.testing.assert_array_equal(features, X)
        assert labels.values.tolist() == [1, -1, 1]


@pytest.mark.parametrize("dtype", ["f4", "i1", "u2", "i8", "?"])
def test_columns_of_all_numeric_types_are_features(pq: Any, dtype: str) -> None:
    column = np.array([0, 1, 1]).astype(dtype)
    assert read_matrix(pq(a=column, b=[1.5, 2.5, 3.5]))[:, 0].tolist() == [0, 1, 1]


def test_row_names_and_the_index_of_pandas_are_dropped(pq: Any, tmp_path: Path) -> None:
    np.testing.assert_array_equal(read_matrix(pq(sample=["s", "t", "u"], **COLUMNS)), X)
    described = b'{"index_columns": ["__index_level_0__"], "columns": []}'
    table = pyarrow.table({**COLUMNS, "__index_level_0__": [7, 8, 9]})
    parquet.write_table(
        table.replace_schema_metadata({b"pandas": described}), tmp_path / "i.parquet"
    )
    np.testing.assert_array_equal(read_matrix(tmp_path / "i.parquet"), X)


def test_text_among_the_features_is_refused_by_its_column(pq: Any) -> None:
    message = refusal(read_matrix, pq(**COLUMNS, kind=KINDS))
    assert "has type string in column 'kind'" in message
    assert "--label-column" in message


def test_a_missing_value_of_parquet_is_placed(pq: Any) -> None:
    path = pq(a=[1, None, 3], b=[1, 2, 3])
    assert "the first at row 2, column 1" in refusal(read_matrix, path)
    assert "the first at label 2" in refusal(read_labels, pq(y=["a", None, "b"]), "a")
    assert "the first at label 2" in refusal(read_labels, pq(y=[1, None, 2]))


def test_categories_are_labels(pq: Any) -> None:
    labels = pyarrow.array(KINDS).dictionary_encode()
    assert read_labels(pq(kind=labels), "ill").values.tolist() == [1, -1, 1]


def test_a_label_column_must_be_named_and_known(pq: Any) -> None:
    path = pq(**COLUMNS, kind=KINDS)
    assert "has 5 columns ('a', 'b', 'c', 'd', 'kind')" in refusal(read_labels, path)
    message = refusal(read_labels, path, "ill", "kinds", error=UnknownName)
    assert "('kind', " in message


def test_integers_of_parquet_that_float64_would_round_are_refused(pq: Any) -> None:
    assert "2**53" in refusal(read_matrix, pq(a=[2**53 + 1, 0], b=[1, 2]))


def test_lists_and_dates_of_parquet_are_refused(pq: Any) -> None:
    refusal(read_matrix, pq(a=[[1], [2]], b=[1, 2]))
    refusal(read_labels, pq(a=np.array(["2020-01-01"], dtype="M8[s]")))


def test_a_pickle_in_the_schema_of_parquet_is_not_run(tmp_path: Path, bomb: Bomb) -> None:
    field = pyarrow.field(
        "a",
        pyarrow.float64(),
        metadata={
            b"ARROW:extension:name": b"arrow.py_extension_type",
            b"ARROW:extension:metadata": pickle.dumps(bomb),
        },
    )
    table = pyarrow.table([pyarrow.array([1.0, 2.0])], schema=pyarrow.schema([field]))
    parquet.write_table(table, tmp_path / "x.parquet")
    assert read_matrix(tmp_path / "x.parquet").tolist() == [[1], [2]]
    assert not bomb.trace.exists()


# AnnData ------------------------------------------------------------------------------------

h5py = pytest.importorskip("h5py", reason="the extra h5ad is not installed")


def strings(group: Any, name: str, texts: list[str]) -> None:
    group.create_dataset(name, data=texts, dtype=h5py.string_dtype())


@pytest.fixture
def h5ad(tmp_path: Path) -> Callable[..., Path]:
    """Write X and obs as anndata 0.12 does; `change` does what it likes to the open file."""

    def write(matrix: Any = X, change: Callable[[Any], Any] = lambda root: None) -> Path:
        with h5py.File(tmp_path / "x.h5ad", "w") as root:
            if isinstance(matrix, np.ndarray):
                root["X"] = matrix
            else:
                group = root.create_group("X")
                group.attrs.update({"encoding-type": f"{matrix.format}_matrix"})
                group.attrs["shape"] = matrix.shape
                for part in ("data", "indices", "indptr"):
                    group[part] = getattr(matrix, part)
            obs = root.create_group("obs")
            strings(obs, "_index", ["s", "t", "u"])
            strings(obs, "text", KINDS)
            obs["age"] = np.array([40.0, 50.0, 60.0])
            kind = obs.create_group("kind")
            kind["codes"] = np.array([0, 1, 0], dtype=np.int8)
            strings(kind, "categories", ["ill", "well"])
            count = obs.create_group("count")
            count["values"], count["mask"] = np.array([1, 2, 3]), np.zeros(3, dtype=bool)
            change(root)
        return tmp_path / "x.h5ad"

    return write


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csc_matrix])
def test_x_of_an_annotated_matrix_is_read(h5ad: Any, make: Any) -> None:
    np.testing.assert_array_equal(read_matrix(h5ad(make(X))), X)


@pytest.mark.parametrize("column", ["kind", "text"])
def test_classes_of_obs_are_labels(h5ad: Any, column: str) -> None:
    features, labels = read_pair(h5ad(), None, "ill", column)
    np.testing.assert_array_equal(features, X)
    assert labels.values.tolist() == [1, -1, 1]
    assert labels.classes == {"ill": 2, "well": 1}


@pytest.mark.parametrize(("column", "values"), [("age", [40, 50, 60]), ("count", [1, 2, 3])])
def test_numbers_of_obs_are_labels(h5ad: Any, column: str, values: list[float]) -> None:
    assert read_labels(h5ad(), None, column).values.tolist() == values
    assert read_labels(f"{h5ad()}::obs/{column}").values.tolist() == values


def test_layers_and_embeddings_can_be_named(h5ad: Any) -> None:
    path = h5ad(X, lambda root: root.create_group("obsm").create_dataset("X_pca", data=2 * X))
    np.testing.assert_array_equal(read_matrix(f"{path}::obsm/X_pca"), 2 * X)
    assert "obsm/NAME" in refusal(read_matrix, f"{path}::uns/secret")
    message = refusal(read_matrix, f"{path}::obsm/X_umap", error=UnknownName)
    assert "'X_pca'" in message


def test_columns_of_obs_are_listed_where_none_is_named(h5ad: Any) -> None:
    message = refusal(read_pair, h5ad())
    assert "'age'" in message
    assert "'kind'" in message
    assert "--label-column NAME" in message
    assert "('kind'" in refusal(read_labels, h5ad(), None, "kinds", error=UnknownName)


def test_a_category_that_is_missing_is_a_missing_label(h5ad: Any) -> None:
    def hide(root: Any) -> None:
        root["obs/kind/codes"][1] = -1

    assert "the first at label 2" in refusal(read_labels, h5ad(X, hide), "ill", "kind")

    def mask(root: Any) -> None:
        root["obs/count/mask"][2] = True

    assert "the first at label 3" in refusal(read_labels, h5ad(X, mask), None, "count")


def test_codes_without_a_category_are_refused(h5ad: Any) -> None:
    def break_(root: Any) -> None:
        root["obs/kind/codes"][1] = 2

    assert "code without a category" in refusal(read_labels, h5ad(X, break_), "ill", "kind")


def test_categories_of_an_old_anndata_are_labels(h5ad: Any) -> None:
    def old(root: Any) -> None:
        root["obs/stage"] = np.array([1, 0, 1])
        strings(root["obs"].create_group("__categories"), "stage", ["early", "late"])

    assert read_labels(h5ad(X, old), "late", "stage").values.tolist() == [1, -1, 1]


def test_opaque_bytes_and_pickles_in_hdf5_are_never_interpreted(h5ad: Any, bomb: Bomb) -> None:
    def plant(root: Any) -> None:
        del root["X"]
        content = np.array([pickle.dumps(bomb)] * 3)
        root["X"] = content.view(f"V{content.itemsize}").reshape(3, 1)

    assert "never interpreted" in refusal(read_matrix, h5ad(X, plant))
    assert not bomb.trace.exists()


def test_data_of_other_files_is_not_followed(h5ad: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret.bin"
    secret.write_bytes(X.tobytes())
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["X"] = X

    def outside(root: Any) -> None:
        del root["X"]
        root.create_dataset("X", X.shape, "f8", external=[(str(secret), 0, secret.stat().st_size)])

    def link(root: Any) -> None:
        del root["X"]
        root["X"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "X")

    def virtual(root: Any) -> None:
        del root["X"]
        layout = h5py.VirtualLayout(X.shape, "f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "X", X.shape)
        root.create_virtual_dataset("X", layout)

    for change in (outside, link, virtual):
        message = refusal(read_matrix, h5ad(X, change))
        assert "elsewhere" in message or "in other files" in message


def test_a_sparse_matrix_of_hdf5_is_checked_before_it_is_written_out(h5ad: Any) -> None:
    def beyond(root: Any) -> None:
        root["X/indices"][0] = 10**6

    assert "do not fit" in refusal(read_matrix, h5ad(scipy.sparse.csr_matrix(X), beyond))

    def huge(root: Any) -> None:
        root["X"].attrs["shape"] = (3, 2**40)

    assert "2**28 entries" in refusal(read_matrix, h5ad(scipy.sparse.csr_matrix(X), huge))


def test_an_array_that_claims_any_size_costs_no_memory(h5ad: Any) -> None:
    def huge(root: Any) -> None:
        del root["X"]
        root.create_dataset("X", (2**20, 2**20), "f8", chunks=(64, 64))

    assert "2**28 entries" in refusal(read_matrix, h5ad(X, huge))


# All of them --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "module", "extra"), [("x.parquet", "pyarrow", "parquet"), ("x.h5ad", "h5py", "h5ad")]
)
def test_a_missing_extra_is_named_with_its_pip_line(
    tmp_path: Path, name: str, module: str, extra: str
) -> None:
    path = tmp_path / name
    path.write_bytes(b"anything")
    code = (
        f"import sys; sys.modules[{module!r}] = None\n"
        f"from reports.cli import main; main(['data', {str(path)!r}, {str(path)!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 4, done.stderr
    assert f"pip install 'relu-verify[{extra}]'" in done.stderr


def test_the_libraries_of_extras_are_not_imported_without_need() -> None:
    code = (
        "import sys, verify.datasets; "
        "print([m for m in ('h5py', 'pyarrow', 'scipy.io') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_library_is_not_a_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match="no_such_library"):
        files.library("no_such_library", "extra", tmp_path)


@pytest.mark.parametrize("suffix", [".mat", ".mtx", ".svm", ".parquet", ".h5ad"])
@pytest.mark.parametrize("read", [read_matrix, read_labels])
def test_text_that_is_nothing_of_the_kind_is_refused(
    tmp_path: Path, suffix: str, read: Callable[[Path], Any]
) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_text("::: nothing of the kind :::\n" * 40)
    refusal(read, path)


def _sound(folder: Path) -> dict[str, bytes]:
    scipy.io.savemat(folder / "x.mat", {"X": X, "y": np.array(KINDS, dtype=object)})
    scipy.io.mmwrite(folder / "x.mtx", scipy.sparse.coo_matrix(X))
    parquet.write_table(pyarrow.table({**COLUMNS}), folder / "x.parquet")
    with h5py.File(folder / "x.h5ad", "w") as root:
        root["X"] = X
    (folder / "x.svm").write_text("1 1:2 3:4\n-1 2:3\n")
    return {f.suffix: f.read_bytes() for f in folder.glob("x.*")}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return _sound(tmp_path_factory.mktemp("sound"))


@settings(
    max_examples=150,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=(HealthCheck.function_scoped_fixture,),
)
@given(data=st.data(), suffix=st.sampled_from([".mat", ".mtx", ".svm", ".parquet", ".h5ad"]))
def test_any_bytes_are_read_or_refused(
    tmp_path: Path, sound: dict[str, bytes], data: st.DataObject, suffix: str
) -> None:
    content = bytearray(sound[suffix])
    edits = st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255))
    for position, byte in data.draw(st.lists(edits, max_size=4)):
        content[position] = byte
    cut = data.draw(st.just(len(content)) | st.integers(0, len(content)))
    path = tmp_path / f"x{suffix}"
    path.write_bytes(bytes(content[:cut]))
    for read in (read_matrix, read_labels):
        try:
            found = read(path)
            assert np.isfinite(getattr(found, "values", found)).all()
        except ReluVerifyError:
            pass
