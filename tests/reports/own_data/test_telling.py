"""Labels left among the features, and columns that tell them, are warned of by number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports.own_data.request import Request
from reports.own_data.telling import Telling, telling_columns
from tests.reports.own_data.test_analysis import kinds, request, tame


def telling(folder: Path, X: Any, y: Any) -> str:
    return kinds(request(folder, X, y)).get("labels among the features", {}).get("reason", "")


@pytest.mark.parametrize(
    ("column", "how"),
    [
        (lambda y: y, "column 601 equals the labels"),
        (lambda y: -3.0 * y, "column 601 is a multiple of the labels"),
        (lambda y: 2.0 * y - 7.0, "column 601 is the labels times a number plus another"),
        (
            lambda y: (2.0 * y - 7.0).round(7),
            "column 601 is the labels times a number plus another",
        ),
        (np.exp, "column 601 has the order of the labels"),
        (lambda y: -(y**3), "column 601 has the order of the labels"),
    ],
)
def test_labels_left_among_the_features_are_told(tmp_path: Path, column: Any, how: str) -> None:
    X = tame()[0]
    y = np.random.default_rng(1).normal(size=12)
    assert how in telling(tmp_path, np.c_[X, column(y)], y)
    assert telling(tmp_path, X, y) == ""


def test_classes_left_among_the_features_are_told(tmp_path: Path) -> None:
    X, y = tame()
    assert "column 601 equals" in telling(tmp_path, np.c_[X, y], y)
    both = telling(tmp_path, np.c_[X, y, y > 0], y)
    assert "column 601 equals the labels; column 602 tells every label" in both
    assert "column 1 tells every label" in telling(tmp_path, np.c_[y > 0, X], y)
    assert "column 601 tells every label" in telling(tmp_path, np.c_[X, y < 0], y)
    few = np.array([1.0] + [-1.0] * 11)
    assert "column 601 equals the labels" in telling(tmp_path, np.c_[X, few], few)
    n = 40
    X, codes = np.random.default_rng(2).normal(size=(n, 600)), np.arange(n) % 5.0
    y = np.where(codes == 3, 1.0, -1.0)
    assert "column 601 tells every label" in telling(tmp_path, np.c_[X, codes], y)
    height = np.random.default_rng(3).normal(size=n)
    y = np.where(height > 0.2, 1.0, -1.0)
    assert "column 2 tells every label by a threshold" in telling(
        tmp_path, np.c_[X[:, 0], height, X], y
    )
    classes = np.digitize(height, [-0.5, 0.5]) + 1.0
    assert "column 2 tells every label" in telling(tmp_path, np.c_[X[:, 0], height, X], classes)


def test_a_column_of_a_table_that_tells_the_labels_is_named(tmp_path: Path) -> None:
    X, y = tame()
    rows = [
        ",".join([*map(str, row), str(int(one > 0)), "ab"[int(one > 0)]])
        for row, one in zip(X, y, strict=True)
    ]
    header = ",".join([*(f"g{i}" for i in range(600)), "case", "diagnosis"])
    file = tmp_path / "table.csv"
    file.write_text("\n".join([header, *rows]))
    warnings = kinds(Request(str(file), label_column="diagnosis", positive="b"))
    assert "column 601 tells every label" in warnings["labels among the features"]["reason"]
    lifted = kinds(
        Request(
            str(file), label_column="diagnosis", positive="b", lift="relu:500", normalise_rows=True
        )
    )
    assert "column 601 tells every label" in lifted["labels among the features"]["reason"]


@pytest.mark.parametrize("n", [2, 4, 6, 20])
def test_columns_that_agree_by_chance_are_not_told(tmp_path: Path, n: int) -> None:
    rng = np.random.default_rng(0)
    y = np.tile([1.0, -1.0], n // 2)
    for X in (rng.normal(size=(n, 4000)), rng.integers(0, 2, size=(n, 4000)) * 1.0):
        assert telling_columns(X, y) == ()


def test_row_numbers_and_constant_columns_do_not_tell_labels(tmp_path: Path) -> None:
    X, y = tame()
    X[:, 3], X[:, 4], X[:, 5] = np.arange(12), 0.0, 1e9
    assert telling(tmp_path, X, np.sort(y)) == ""
    assert telling_columns(X[:, 4:], y * 0 + 1) == ()


def test_wide_data_are_looked_at_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reports.own_data.telling._ENTRIES", 120)
    X, y = tame()
    assert telling_columns(np.c_[X, y], y) == (Telling(601, "equals the labels"),)
