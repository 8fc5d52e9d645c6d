"""The measured statements of theory §6–7 on theorems 1 and 2, and the assumptions' edges."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
import pytest

from properties.catalogue import find_theorem
from properties.lai2026 import setting
from verify import Point, Trial
from verify.relu import Problem, descend

SEED = 20260401


def dimension_at(index: float, n: int, c: float) -> float:
    """Return the isotropic d at which H has the value `index`, |y| ~ U[½, 1]."""
    mean_square = (0.25 + 0.5 + 1.0) / 3
    return index * n * math.log(n) * (1 + c * c) * mean_square / (c * c * 0.25)


def test_patterns_freeze_in_99_percent_of_draws_where_h_is_at_least_4() -> None:
    """Isotropic, n ≥ 10, .2 ≤ c ≤ 1.2, start U[1e-4, 1e-3] (theory §7)."""
    rng = np.random.default_rng(SEED)
    frozen = total = 0
    for n, c, index in itertools.product((10, 20, 40, 80), (0.2, 0.5, 0.9, 1.2), (4.0, 8.0)):
        point = Point(n=n, d=dimension_at(index, n, c), c=c, start_low=1e-4, start_high=1e-3)
        assert setting.ensemble_at(point).regime_index == pytest.approx(index)
        problem = setting.draw(point, rng, 100)
        run = descend(problem)
        same = (run.pattern_after_first_step[:, 0] == problem.positives).all(axis=-1)
        frozen += int((run.certified & same & (run.last_flip <= 1)).sum())
        total += problem.batch
    assert frozen >= 0.99 * total, f"{frozen} of {total} froze"


def test_the_step_one_certificate_holds_in_95_percent_of_draws_at_d_of_order_4_n_squared() -> None:
    """(n, d) = (10, 500), (20, 2000), (50, 10⁴), c = ½, |y| ~ U[½, 1] (theory §4)."""
    rng = np.random.default_rng(SEED)
    theorem = find_theorem("lai2026.theorem1")
    held = [
        setting.certified_from_step_one(
            Trial(theorem, None, setting.draw(Point(n=n, d=d), rng, 100), 100)
        ).holds.mean()
        for n, d in ((10, 500), (20, 2_000), (50, 10_000))
    ]
    assert np.mean(held) >= 0.95, f"held in {held}"


def test_the_step_one_certificate_is_sound() -> None:
    """Where it holds, the run freezes after step one, also at d where it often does not hold."""
    rng = np.random.default_rng(SEED)
    theorem = find_theorem("lai2026.theorem1")
    checked = 0
    sizes = ((2, 30), (2, 200), (6, 200), (6, 2_000), (20, 2_000))
    for (n, d), c in itertools.product(sizes, (0.2, 0.6, 1.2, 1.8)):
        problem = setting.draw(Point(n=n, d=d, c=c), rng, 50)
        trial = Trial(theorem, None, problem, 50, partial(descend, max_steps=300))
        inside = setting.certified_from_step_one(trial).holds
        frozen = setting.pattern_is_the_positives_from_step_one(trial).holds
        assert frozen[inside].all()
        checked += int(inside.sum())
    assert checked >= 300, f"only {checked} in scope"


def explicit(**changes: object) -> Problem:
    values = {
        "n": 2,
        "k": 1,
        "diagonal": 32,
        "block": [[0], [1]],
        "labels": [4, -4],
        "start": [1, 1],
        "c": 8,
    }
    return setting.EXPLICIT.build(setting.EXPLICIT.values({**values, **changes}))


def holds(assumption: object, problem: Problem) -> bool:
    trial = Trial(find_theorem("lai2026.theorem1"), None, problem, problem.batch)
    return bool(assumption(trial).holds.all())  # type: ignore[operator]


def test_each_assumption_holds_on_a_tame_problem_and_can_fail() -> None:
    tame = explicit()
    for assumption in (
        setting.labels_are_nonzero,
        setting.both_signs_occur,
        setting.gram_is_regular,
        setting.start_is_positive,
        setting.start_is_in_the_span,
        setting.step_is_stable,
        setting.certified_from_step_one,
        setting.pattern_is_the_positives_from_step_one,
        setting.gram_is_near_identity,
    ):
        assert holds(assumption, tame), assumption.__name__
    gram, start = np.diag([4.0, 4.0]), np.full((1, 2), 0.1)

    def made(y: list[float], B0: np.ndarray = start, eta: float = 0.1) -> Problem:
        return Problem.from_gram(gram, y, starting_predictions=B0, step_size=eta)

    assert not holds(setting.labels_are_nonzero, made([1.0, 0.0]))
    assert not holds(setting.both_signs_occur, made([1.0, 2.0]))
    assert not holds(setting.start_is_positive, made([1.0, -1.0], np.array([[0.1, -0.1]])))
    assert not holds(setting.step_is_stable, made([1.0, -1.0], eta=0.6))
    assert not holds(setting.certified_from_step_one, made([1.0, -1.0], eta=1e-4))
    assert not holds(
        setting.pattern_is_the_positives_from_step_one, made([1.0, -1.0], np.array([[-0.1, 0.1]]))
    )
    wide = Problem.from_gram(
        np.array([[1.0, 0.0], [0.0, 9.0]]), [1.0, -1.0], starting_predictions=start, step_size=0.05
    )
    assert holds(setting.gram_is_near_identity, wide) == (max(abs(1 / 5 - 1), abs(9 / 5 - 1)) < 1)
    outside = Problem.from_features(
        np.eye(2, 3), [1.0, -1.0], starting_weights=[[0.1, 0.1, 1.0]], step_size=0.1
    )
    assert not holds(setting.start_is_in_the_span, outside)
    singular = Problem.from_features(
        np.ones((2, 3)), [1.0, -1.0], starting_weights=[[0.1, 0.1, 0.1]], step_size=0.1
    )
    assert not holds(setting.gram_is_regular, singular)


def test_a_zero_label_puts_an_instance_out_of_scope_of_every_theorem_1_claim() -> None:
    from verify.engine.evaluate import scope_of

    theorem = find_theorem("lai2026.theorem1")
    problem = Problem.from_gram(
        np.eye(2) * 4, [1.0, 0.0], starting_predictions=[[0.1, 0.1]], step_size=0.1
    )
    trial = Trial(theorem, None, problem, 1)
    assert all(scope_of(claim, trial)[0] == 0.0 for claim in theorem.claims)


def test_a_gap_of_zero_is_no_violation_of_its_identity() -> None:
    """Rounding of ‖w⋆‖² is all that is left of a gap that vanishes: it decides nothing."""
    theorem = find_theorem("lai2026.theorem2")
    assert theorem.small is not None
    values = {
        "n": 2,
        "d": 3,
        "X": [[3, -3, -1], [-2, 3, -1]],
        "y": [-6, 3],
        "start": [-6, 6],
        "c": 35,
    }
    names = dict(zip(theorem.small.fields, ("X", "y", "start", "c"), strict=True))
    known = {name: values[key] for name, key in names.items()} | {"n": 2, "d": 3}
    problem = theorem.small.build(theorem.small.values(known))
    margin = theorem.claim("gap_schur_identity").inequality(Trial(theorem, None, problem, 1))
    assert not margin.violated.any()
