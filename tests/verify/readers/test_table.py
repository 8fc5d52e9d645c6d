"""Tables with the labels among the columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.verify.readers.helpers import X, refusal
from verify.datasets import read_labels, read_matrix, read_pair
from verify.errors import UnknownName


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


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        ("csv", "0,1,2\n1.5,2,1\n2,3,-1\n4,1,1\n"),
        ("csv", "1,2,3\n1.5,2,1\n2,3,-1\n4,1,1\n"),
        ("csv", ",0,1\n0,1.5,1\n1,2,-1\n"),
        ("tsv", "0\t1\t2\n1.5\t2\t1\n2\t3\t-1\n"),
        ("csv", "400,402,404,406,408\n.1,.2,.3,.4,1\n.1,.2,.3,.5,-1\n"),
    ],
)
@pytest.mark.parametrize("column", ["2", None])
def test_a_header_of_numbers_is_not_taken_for_an_example(
    tmp_path: Path, suffix: str, text: str, column: str | None
) -> None:
    file = tmp_path / f"x.{suffix}"
    file.write_text(text)
    message = refusal(read_matrix, file, column)
    assert "row 1" in message
    assert "header" in message
    assert "if row 1 is an example" in message
    if column is not None:
        assert refusal(read_labels, file, None, column) == message


def test_an_example_that_looks_like_a_header_is_read_once_it_has_decimal_points(
    tmp_path: Path,
) -> None:
    (tmp_path / "x.csv").write_text("0.0,1.0,2.0\n1.5,2,1\n2,3,-1\n")
    features, labels = read_pair(tmp_path / "x.csv", None, None, "2")
    assert features.tolist() == [[0, 2], [1.5, 1], [2, -1]]
    assert labels.values.tolist() == [1, 2, 3]


@pytest.mark.parametrize("text", ["3,1,2\n1,5,1\n2,3,-1\n", "1,2,4\n1,5,1\n2,3,-1\n", "1,2,3\n"])
def test_rows_that_do_not_count_are_examples(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.csv").write_text(text)
    assert len(read_matrix(tmp_path / "x.csv")) == len(text.splitlines())


def test_a_name_that_is_a_number_wins_over_the_number_of_a_column(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("y,3,2\n1,5.5,6\n-1,7,8\n")
    features, labels = read_pair(tmp_path / "x.csv", None, None, "2")
    assert labels.values.tolist() == [6, 8]
    assert features.tolist() == [[1, 5.5], [-1, 7]]


def test_a_number_that_may_be_a_name_or_a_place_is_refused(tmp_path: Path) -> None:
    """Row 1 may be names, as genes have numbers: column 3 is then not the third one."""
    (tmp_path / "x.csv").write_text("7157,3,672\n1.5,0.5,1\n2.5,0.25,-1\n")
    message = refusal(read_pair, tmp_path / "x.csv", None, None, "3")
    assert "column 2" in message
    assert "header" in message
    (tmp_path / "x.csv").write_text("7157,3,672,header\n1.5,0.5,1,0\n2.5,0.25,-1,0\n")
    assert read_pair(tmp_path / "x.csv", None, None, "3")[1].values.tolist() == [0.5, 0.25]
