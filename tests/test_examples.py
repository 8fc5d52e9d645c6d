"""The examples come out as their texts say, and what they find is found again."""

from pathlib import Path

import numpy as np
import pytest

from verify.engine.check import check
from verify.engine.evaluate import draw_trial, margin_of
from verify.engine.plan import Cell
from verify.loading import load_file
from verify.space import Point
from verify.trial import Trial
from verify.verdict import Conclusion

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name):
    return load_file(EXAMPLES / f"{name}.py")


def test_every_example_is_checked_here():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {"least_squares", "same_factor"}


@pytest.mark.parametrize("seed", range(5))
def test_least_squares_is_supported(seed):
    found = check(example("least_squares"), root_seed=seed)["converges_at_the_spectral_rate"]
    assert found.verdict is Conclusion.SUPPORTED
    assert found.in_scope == found.holds == found.trials == 400


def test_least_squares_holds_to_a_tenth_of_its_tolerance():
    assert check(example("least_squares"), profile="full")[0].worst_margin > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_same_factor_is_refuted_by_an_instance_that_is_found_again(seed):
    theorem = example("same_factor")
    found = check(theorem, root_seed=seed)["shrinks_by_the_same_factor"]
    assert found.verdict is Conclusion.REFUTED
    where = found.instance
    cell = Cell(Point(**where.point), where.control, (), theorem.block)
    trial = draw_trial(theorem, cell, seed, where.block)
    margin = margin_of(theorem.claims[0].inequality, trial)
    assert margin.value[where.trial] == where.margin == found.worst_margin < 0
    assert margin.violated[where.trial]


def test_same_factor_describes_the_instance_for_a_reader():
    theorem = example("same_factor")
    trial = draw_trial(theorem, Cell(theorem.cells[0], "", (), 50), 0, 0)
    facts = theorem.describe(trial.problem, 7)
    assert set(facts) == {"curvatures", "start", "step_size"}
    assert facts["curvatures"].shape == facts["start"].shape == (3,)


def test_same_factor_fails_on_an_explicit_problem_that_fits_on_a_line():
    theorem = example("same_factor")
    values = theorem.explicit.values({"d": 2, "curvatures": [1, 2], "start": [1, 1], "c": 2})
    trial = Trial(theorem, None, theorem.explicit.build(values), 1)
    np.testing.assert_allclose(trial.run[:, 0], [np.sqrt(2), 0.5, 0.25])
    assert margin_of(theorem.claims[0].inequality, trial).violated.all()


def test_a_start_at_the_minimiser_is_out_of_scope_and_warns_of_nothing():
    theorem = example("same_factor")
    values = theorem.explicit.values({"d": 1, "curvatures": [1], "start": [0], "c": 2})
    trial = Trial(theorem, None, theorem.explicit.build(values), 1)
    assert margin_of(theorem.claims[0].given[0].inequality, trial, "assumption").violated.all()
    assert not margin_of(theorem.claims[0].inequality, trial).violated.any()
