"""Tables of Parquet, honest and hostile."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.verify.readers.helpers import KINDS, Bomb, X, refusal
from verify.datasets import read_labels, read_matrix, read_pair
from verify.errors import UnknownName

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


def test_labels_of_parquet_that_float64_would_round_are_refused(pq: Any) -> None:
    path = pq(a=[1.0, 2.0], y=[2**53 + 1, 0], u=np.array([2**64 - 1, 0], dtype="u8"))
    assert "2**53" in refusal(read_labels, path, None, "y")
    assert "2**53" in refusal(read_labels, path, None, "u")
    assert "2**53" in refusal(read_labels, path, str(2**53), "y")


@pytest.mark.parametrize(
    "described",
    [
        b'{"index_columns": null}',
        b"not JSON",
        b"\xff\xfe",
        b"[]",
        b"3",
        b'{"index_columns": 3}',
        b'{"index_columns": {"kind": "range"}}',
        b"[" * 100_000,
        b"",
    ],
)
def test_metadata_of_pandas_that_make_no_sense_are_left_alone(
    tmp_path: Path, described: bytes
) -> None:
    table = pyarrow.table({**COLUMNS, "y": [1.0, 2.0, 3.0]})
    path = tmp_path / "m.parquet"
    parquet.write_table(table.replace_schema_metadata({b"pandas": described}), path)
    features, labels = read_pair(path, None, None, "y")
    np.testing.assert_array_equal(features, X)
    assert labels.values.tolist() == [1, 2, 3]


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
