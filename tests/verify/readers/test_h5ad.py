"""Annotated matrices, honest and hostile."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from tests.verify.readers.helpers import KINDS, Bomb, X, refusal
from verify.datasets import read_labels, read_matrix, read_pair
from verify.errors import UnknownName

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


BEYOND = 2**60 + 1


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csc_matrix])
def test_numbers_that_float64_cannot_hold_are_refused(h5ad: Any, make: Any) -> None:
    assert "has dtype=complex128: expected real" in refusal(read_matrix, h5ad(make(X * (1 + 2j))))
    whole = make(np.array([[2, 1], [BEYOND, 1]]))
    assert f"has integers from 1 to {BEYOND}" in refusal(read_matrix, h5ad(whole))


def test_labels_that_float64_cannot_hold_are_refused(h5ad: Any) -> None:
    def plant(root: Any) -> None:
        root["obs/long"] = root["obs/count/values"][...] + BEYOND
        del root["obs/count/values"]
        root["obs/count/values"] = np.array([BEYOND, 1, 2])
        grade = root["obs"].create_group("grade")
        grade["codes"], grade["categories"] = np.array([0, 1, 0]), np.array([BEYOND, 1])

    path = h5ad(X, plant)
    for column in ("long", "count", "grade"):
        assert "expected magnitudes up to 2**53" in refusal(read_labels, path, None, column)


def test_codes_that_are_no_whole_numbers_are_refused(h5ad: Any) -> None:
    for codes in (np.array([0.0, 0.5, 1.0]), np.array([0, 2**64 - 1, 1], dtype=np.uint64)):

        def plant(root: Any, codes: Any = codes) -> None:
            del root["obs/kind/codes"]
            root["obs/kind/codes"] = codes

        message = refusal(read_labels, h5ad(X, plant), "ill", "kind")
        assert "code without a category" in message


@pytest.mark.parametrize("shape", [(3.0, 4.5), (3.0, 4.0), (3,), 3, "34", (-3, 4)])
def test_a_sparse_shape_that_is_not_two_whole_numbers_is_refused(h5ad: Any, shape: Any) -> None:
    def plant(root: Any) -> None:
        root["X"].attrs["shape"] = shape

    message = refusal(read_matrix, h5ad(scipy.sparse.csr_matrix(X), plant))
    assert "the shape" in message


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
