"""What a flow watches between events, against its path; and what events make of errors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from verify.relu.dynamics.activation import Activation
from verify.relu.dynamics.exponentials import Sums
from verify.relu.dynamics.flow import flow
from verify.relu.dynamics.regime import Modes, Setting, directions, point
from verify.relu.dynamics.rest import come_to_rest
from verify.relu.dynamics.spreading import after_event
from verify.relu.dynamics.watched import holding, predictions_apart
from verify.relu.problem import Problem


def drawn(rng: Any, labels: Any, neurons: int = 1, n: int = 5, d: int = 12) -> Problem:
    return Problem.from_features(
        rng.normal(size=(n, d)), rng.uniform(0.5, 1, n) * rng.choice(labels, n),
        starting_predictions=rng.normal(size=(neurons, n)), step_size=0.1, slope_at_zero=1,
        signs=(1, -1)[:neurons],
    )  # fmt: skip


def at(sums: Sums, time: float, part: str = "") -> Any:
    """Return the functions, or one of their envelopes, at a time, (F,)."""
    constant, terms = getattr(sums, part + "constant"), getattr(sums, part + "terms")
    return constant + (terms * np.exp(-time * sums.rates)).sum(axis=-1)


def encloses(sums: Sums, time: float, value: Any, slack: float = 1e-13) -> bool:
    low, high = at(sums, time, "low_"), at(sums, time, "high_")
    return bool(((low <= value + slack) & (value <= high + slack)).all())


@pytest.mark.parametrize("slope_below", [0.0, 0.3])
@pytest.mark.parametrize("neurons", [1, 2])
def test_distances_from_the_kinks_are_those_of_the_path(slope_below: float, neurons: int) -> None:
    """Labels of zero too: what falls to zero alone is given in a form of its own."""
    rng, nowhere, falling = np.random.default_rng(0), None, 0
    for _ in range(12):
        problem = drawn(rng, [0, 0, 1] if neurons == 1 else [0, 1, -1], neurons)
        (path,) = flow(problem, Activation(slope_below)).paths
        for regime in path.regimes:
            nowhere = np.zeros(regime.modes.active.shape, dtype=np.int64)
            sums = predictions_apart(regime, nowhere)
            for time in (0.0, 0.02, 0.2, 2.0):
                change = regime.change(time)
                there = regime.setting.start + change @ regime.setting.gram
                side = np.where(regime.modes.active, 1.0, -1.0)
                expected = np.where(regime.modes.held, 0.0, side * there).ravel()
                free = ~regime.modes.held.ravel()
                np.testing.assert_allclose(at(sums, time)[free], expected[free], atol=1e-12)
                assert encloses(sums, time, at(sums, time))
            falling += int(((sums.constant == 0) & (sums.terms != 0).any(axis=-1)).sum())
    assert falling >= 3 or neurons == 2


@pytest.mark.parametrize("slope_below", [0.0, 0.3])
def test_what_holds_an_example_is_watched_as_it_changes(slope_below: float) -> None:
    rng, seen = np.random.default_rng(1), 0
    for _ in range(40):
        problem = drawn(rng, [1, -1], 2)
        (path,) = flow(problem, Activation(slope_below)).paths
        for regime in path.regimes:
            where = np.argwhere(regime.modes.held)
            if not len(where):
                continue
            sums, steer = holding(regime), directions(regime.setting, regime.modes)
            for time in (0.0, 0.1, 1.0):
                residual = regime.residual(time)
                signs = regime.setting.signs[where[:, 0]]
                pulled = signs * (steer[where[:, 0], where[:, 1]] @ residual)
                left = signs * residual[where[:, 1]]
                expected = np.concatenate([pulled - slope_below * left, left - pulled])
                np.testing.assert_allclose(at(sums, time), expected, atol=1e-12)
                assert encloses(sums, time, expected)
            seen += 1
    assert seen >= 5


def test_an_event_makes_of_an_error_what_it_makes_of_a_start_that_is_off() -> None:
    """The start is moved by 1e-6: where that leads beyond the first event, to first order."""
    rng, tiny, checked, parted = np.random.default_rng(2), 1e-6, 0, 0
    for _ in range(60):
        problem = drawn(rng, [0, 1, 1, 1])
        (path,) = flow(problem).paths
        if path.lost or len(path.regimes) != 2 or path.regimes[1].modes.held.any():
            continue
        first, second = path.regimes
        off = rng.normal(size=first.origin.change.shape)
        moved = replace(
            problem, starting_predictions=problem.starting_predictions + tiny * off @ problem.gram
        )
        (other,) = flow(moved).paths
        event = float(path.starts[1])
        reached = replace(first, origin=replace(first.origin, spread=off[None])).spread(event)
        here = replace(second.origin, spread=reached, error=0.0)
        crossing = first.modes.active != second.modes.active
        after = after_event(second.setting, here, first.modes, second.modes, crossing)
        origin = replace(second.origin, spread=after.spread)
        later = replace(second, origin=origin).spread(0.3)[0]
        found = (other.change(event + 0.3) - path.change(event + 0.3)) / tiny + off
        np.testing.assert_allclose(later, found, atol=1e-3 * np.abs(found).max())
        parted += np.abs(after.spread[0] - reached[0]).max() > 1e-2
        checked += 1
    assert checked >= 6
    assert parted >= 2


def resting(predictions: Any, labels: Any, signs: Any = (1.0,), gram: Any = None) -> Any:
    """Return what `come_to_rest` says of one neuron, or two, that came that far from zero."""
    beta = np.atleast_2d(np.asarray(predictions, dtype=float))
    gram = np.eye(beta.shape[1]) if gram is None else gram
    start = np.where(beta > 0.5, 0.1, beta)
    setting = Setting(
        gram, np.asarray(labels, float), start, np.asarray(signs, float), 0.0,
        float(np.linalg.eigvalsh(gram)[-1]), np.sqrt(np.diagonal(gram)),
    )  # fmt: skip
    modes = Modes(beta > 0, np.zeros(beta.shape, dtype=bool))
    change = np.linalg.solve(gram, (beta - start).T).T
    return come_to_rest(setting, point(setting, change, modes))


def test_an_example_at_its_kink_rests_there_where_its_label_asks_for_no_more() -> None:
    for label in (0.0, -1.0):
        found = resting([1.0, 1e-13], [1.0, label])
        assert found is not None
        regime, radius = found
        assert regime.modes.held.tolist() == [[False, True]]
        assert 0 < radius < 1e-11


@pytest.mark.parametrize(
    ("predictions", "labels", "why"),
    [
        ([1.0, 1e-13], [1.0, 1.0], "its label is still to be learnt"),
        ([0.999, 1e-13], [1.0, 0.0], "the other one is not fitted yet"),
        ([1.0 - 1e-6, 1e-13], [1.0, 0.0], "1e-6 is not negligible"),
        ([1.0, 1e-13, 5e-9], [1.0, 0.0, 1.0], "the third is seen, and not fitted"),
    ],
)
def test_what_is_not_certain_to_rest_does_not(predictions: Any, labels: Any, why: str) -> None:
    assert resting(predictions, labels) is None, why
