"""Matrix Market files."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from tests.verify.readers.helpers import X, refusal
from verify.datasets import read_labels, read_matrix, read_pair


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
    expected = scipy.io.mmread(tmp_path / "x.mtx", spmatrix=False).toarray()
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


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
def test_a_claimed_shape_costs_no_memory(tmp_path: Path, symmetry: str) -> None:
    (tmp_path / "x.mtx").write_text(ARRAY.replace("general", symmetry) + "16384 16384\n1\n")
    tracemalloc.start()
    try:
        message = refusal(read_matrix, tmp_path / "x.mtx")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    expected = {"general": 2**28, "symmetric": 2**27 + 2**13, "skew-symmetric": 2**27 - 2**13}
    assert f"expected {expected[symmetry]}" in message
    assert peak < 2**20
