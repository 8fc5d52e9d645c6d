"""What one would write finds what this package finds; where it does not, the program says so."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.otherwise import comparing

LIBRARIES = {"pytorch": ("torch", "cvxpy"), "jax": ("jax",)}


def quiet(what: str) -> None:
    """Show no progress."""


@pytest.mark.parametrize("way", comparing.WAYS)
def test_another_way_has_the_same_answers(way: str) -> None:
    for library in LIBRARIES[way]:
        pytest.importorskip(library)
    (row,) = comparing.against(((6, 300),), 0.0, quiet, ways=(way,)).rows
    assert max(row["limit"], row["best"], row["gap"]) <= comparing.AGREE
    assert row["limit"] > 0, "two programs never agree to the last bit of 300 weights"
    assert row["ratio"].low > 0


def test_other_answers_are_refused() -> None:
    """A way that stops a step too early does not pass."""

    class Hasty:
        NAME, COMPILES = "hasty", False

        @staticmethod
        def descend(features, labels, start, step_size):  # type: ignore[no-untyped-def]
            return start

        @staticmethod
        def minimum_norm(features, labels):  # type: ignore[no-untyped-def]
            return np.linalg.lstsq(features, labels, rcond=None)[0]

    given = comparing.Given.draw(6, 300, seed=0)
    mine = comparing.found_here(given)
    with pytest.raises(comparing.DifferentAnswers, match="hasty at n=6, d=300 differs"):
        comparing._compared(Hasty, given, mine, 0.0, True)


def test_differences_are_relative() -> None:
    one = comparing.Found(np.array([3.0, 4.0]), np.array([0.0, 1.0]))
    other = comparing.Found(np.array([3.0, 4.5]), np.array([0.0, 1.0]))
    found = other.differences(one)
    assert found["limit"] == pytest.approx(0.1)
    assert found["best"] == 0.0
    assert found["gap"] == pytest.approx(np.hypot(3, 3.5) / np.hypot(3, 3) - 1)


def test_the_problem_that_all_are_given_starts_positive_in_the_span() -> None:
    given = comparing.Given.draw(6, 300, seed=0)
    predictions = given.features @ given.start
    assert ((predictions > 0.0009) & (predictions < 0.0051)).all()
    fitted = given.features.T @ np.linalg.lstsq(given.features.T, given.start, rcond=None)[0]
    assert np.allclose(fitted, given.start, rtol=1e-9)
