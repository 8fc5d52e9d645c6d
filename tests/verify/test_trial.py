"""A trial: what happened is computed once, and it is known whether a function looked at it."""

from __future__ import annotations

import numpy as np
import pytest

from properties.catalogue import find_theorem
from verify.engine.evaluate import draw_trial
from verify.engine.plan import Cell


def drawn():
    theorem = find_theorem("lai2026.theorem2")
    return draw_trial(theorem, Cell(theorem.cells[0], "", (), theorem.block), 0, 0)


def test_a_reference_looks_at_the_run_for_itself_alone():
    trial = drawn()
    trial.simulate()
    assert trial.reference("minimum_norm").certified.all()
    assert not trial.run_was_looked_at
    assert np.asarray(trial.run.certified).shape == (trial.trials,)
    assert trial.run_was_looked_at


def test_what_a_function_cannot_set_is_whether_it_looked():
    with pytest.raises(AttributeError):
        drawn().run_was_looked_at = True
