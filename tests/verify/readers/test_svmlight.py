"""Files of svmlight."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.verify.readers.helpers import X, refusal
from verify.datasets import read_labels, read_matrix, read_pair


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
