"""Claims of the paper's theorems can fail: what each looks at is perturbed, then the claim breaks.

Every witness of a claim is perturbed alone, a little; what the claim does not look at may change.
Where bounds lie is for `test_claims_by_hand` to say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from properties.catalogue import find_theorem
from properties.lai2026 import many_neurons, theorem3
from tests.properties.perturbations import (
    SMALL,
    TRIALS,
    Change,
    adding,
    changed,
    every,
    first_example,
    fitting,
    flipped,
    least_interpolant,
    margin_of,
    neuron_times,
    off_class,
    on_class,
    on_class_of,
    predicting,
    then,
    times,
    trial_of,
    with_duals,
)
from verify import Margin, Trial
from verify.relu import Problem, descend


class Case(NamedTuple):
    """A perturbation that violates a claim.

    witness: whether it says nothing where the run perturbed is not certified, or not settled.
    """

    theorem: str
    claim: str
    what: str
    change: Change
    witness: bool = True


def of_dynamics(name: str, frozen: str, likely: str, silent: str, nearest: str) -> tuple[Case, ...]:
    """Return what theorems 1 and 3 have in common."""
    return (
        Case(name, frozen, "run", flipped, False),
        Case(name, frozen, "run", every("freeze_margin", -SMALL), False),
        Case(name, frozen, "plain", every("last_flip", 2)),
        Case(name, frozen, "plain", predicting(on_class, -3.0)),
        Case(name, frozen, "plain", predicting(off_class, 3.0)),
        Case(name, likely, "run", flipped, False),
        Case(name, silent, "plain", with_duals(off_class, SMALL)),
        Case(name, silent, "plain", with_duals(off_class, -SMALL)),
        Case(name, silent, "plain", adding("change_after_first_step", off_class, 1e-9)),
        *(
            Case(name, nearest, what, with_duals(where, SMALL))
            for what in ("run", "plain")
            for where in (on_class, off_class)
        ),
    )


def of_bias(name: str, neurons: int) -> tuple[Case, ...]:
    """Return what theorems 2 and 4 have in common, less the bounds: those are pinned below."""
    optimal, schur = "comparator_is_optimal", "gap_schur_identity"
    return (
        *(
            Case(name, optimal, "minimum_norm", neuron_times(k, factor), False)
            for k in range(neurons)
            for factor in (1 - SMALL, 1 + SMALL)
        ),
        Case(name, optimal, "minimum_norm", with_duals(off_class, SMALL), False),
        Case(name, optimal, "minimum_norm", with_duals(off_class, -SMALL), False),
        Case(name, schur, "run", times("duals", 1 + SMALL), False),
        Case(name, schur, "run", times("duals", 1 - SMALL), False),
        Case(name, schur, "minimum_norm", with_duals(off_class, 0.1), False),
    )


REACHING = (
    "sixteen_neurons_reach_a_global_minimum",
    "doubling_the_width_helps",
    "sixteen_beat_two",
    "coverage_suffices",
)

CASES = (
    *of_dynamics(
        "theorem1",
        "pattern_freezes_after_step_one",
        "freezes_with_high_probability",
        "inactive_duals_frozen",
        "limit_is_nearest_interpolant",
    ),
    *(
        Case("theorem1", claim, what, predicting(where, size))
        for claim, where, sizes in (
            ("positives_interpolated", on_class, (SMALL, -SMALL)),
            ("negatives_predicted_zero", off_class, (3.0,)),
        )
        for what in ("run", "plain")
        for size in sizes
    ),
    *of_bias("theorem2", 1),
    *of_dynamics(
        "theorem3",
        "active_sets_are_label_classes",
        "decouples_with_high_probability",
        "trains_on_disjoint_subsets",
        "limits_are_nearest_interpolants",
    ),
    *(
        Case("theorem3", "interpolates_all", what, predicting(on_class, size))
        for what in ("run", "plain")
        for size in (SMALL, -SMALL)
    ),
    *(
        Case("theorem3", "interpolates_all", what, predicting(on_class_of(0), size))
        for what in ("run", "plain")
        for size in (SMALL, -SMALL)
    ),
    *(
        Case("theorem3", "neurons_decouple", "run", with_duals(where, SMALL))
        for where in (on_class, off_class)
    ),
    *of_bias("theorem4", 2),
    *(
        Case(name, control, "run", flipped, False)
        for name, control in (
            ("theorem1", "frozen_at_a_small_step"),
            ("theorem1", "frozen_from_random_signs"),
            ("theorem1", "frozen_with_harmonic_spectrum"),
            ("theorem3", "decouples_from_random_signs"),
            ("theorem3", "decouples_in_low_dimension"),
        )
    ),
    Case("theorem4", "comparator_duals_agree", "minimum_norm", every("agreement", -1e-12), False),
    Case("many_neurons", "two_neurons_miss_the_global_minimum", "run", fitting),
    *(Case("many_neurons", claim, "run", times("predictions", 1 + SMALL)) for claim in REACHING),
    Case("many_neurons", "the_pattern_is_not_stable", "run", every("last_flip", 1), False),
    Case("many_neurons", "what_is_seen_is_learnt", "run", times("duals", 1 + SMALL)),
    Case("many_neurons", "what_is_seen_is_learnt", "run", times("duals", 1 - SMALL)),
    Case("many_neurons", "what_is_seen_is_learnt", "plain", times("predictions", 1 + SMALL)),
    Case("many_neurons", "what_is_seen_is_learnt", "plain", times("predictions", 1 - SMALL)),
    *(
        Case("selection", "relu_interpolates_the_positives_only", "run", predicting(on_class, size))
        for size in (SMALL, -SMALL)
    ),
    Case("selection", "positives_interpolated", "run", predicting(on_class, SMALL)),
    Case("selection", "positives_interpolated", "plain", predicting(on_class, SMALL)),
    Case("selection", "negated_labels_select_the_others", "run", predicting(on_class, SMALL)),
    Case("selection", "negated_labels_select_the_others", "opposite", predicting(off_class, SMALL)),
    Case(
        "selection",
        "linear_model_interpolates_all",
        "linear",
        adding("predictions", first_example, SMALL),
    ),
    Case(
        "selection",
        "linear_model_interpolates_all",
        "linear",
        adding("predictions", first_example, -SMALL),
    ),
    Case(
        "selection",
        "linear_limit_is_the_minimum_norm_interpolant",
        "linear",
        times("duals", 1 + SMALL),
    ),
)


def named(cases: tuple[Case, ...]) -> Any:
    """Return the cases as pytest's parameters, with readable names."""
    return [pytest.param(case, id=f"{case.theorem}-{case.claim}-{case.what}") for case in cases]


@pytest.mark.parametrize("case", named(CASES))
def test_a_claim_that_holds_is_violated_where_a_witness_is_perturbed(case: Case) -> None:
    held = margin_of(case.theorem, case.claim, trial_of(case.theorem)).holds
    assert held.sum() >= (3 if case.theorem == "many_neurons" else TRIALS)
    broken = margin_of(case.theorem, case.claim, changed(case.theorem, case.what, case.change))
    assert broken.violated[held].all()


@pytest.mark.parametrize("case", named(tuple(case for case in CASES if case.witness)))
def test_a_perturbed_witness_that_did_not_settle_violates_nothing(case: Case) -> None:
    """It must not hold either, unless the other witness alone decides."""

    def change(problem: Problem, found: Any) -> Any:
        found = case.change(problem, found)
        if hasattr(found, "settled"):
            return replace(found, settled=np.zeros(TRIALS, dtype=bool))
        return replace(found, status=np.full(TRIALS, "undecided"))

    margin = margin_of(case.theorem, case.claim, changed(case.theorem, case.what, change))
    assert not margin.violated.any()
    by_certificate = case.what == "plain" and case.claim in (
        "pattern_freezes_after_step_one",
        "active_sets_are_label_classes",
    )
    assert margin.holds.all() if by_certificate else not margin.holds.any()


HARMLESS = (
    Case("theorem1", "pattern_freezes_after_step_one", "plain", every("last_flip", 1)),
    Case("theorem3", "active_sets_are_label_classes", "plain", every("last_flip", 1)),
    Case("theorem1", "positives_interpolated", "run", predicting(off_class, 0.1)),
    Case("theorem1", "positives_interpolated", "plain", predicting(off_class, 0.1)),
    Case("theorem1", "negatives_predicted_zero", "run", predicting(on_class, 0.1)),
    Case("theorem1", "negatives_predicted_zero", "plain", predicting(on_class, 0.1)),
    Case("theorem1", "inactive_duals_frozen", "plain", with_duals(on_class, 0.1)),
    Case("theorem3", "trains_on_disjoint_subsets", "plain", with_duals(on_class, 0.1)),
    Case("theorem3", "interpolates_all", "run", predicting(off_class, -0.1)),
    Case("theorem3", "interpolates_all", "plain", predicting(off_class, -0.1)),
    Case("many_neurons", "the_pattern_is_not_stable", "run", every("last_flip", 2)),
    *(Case("many_neurons", claim, "run", fitting) for claim in REACHING),
)


@pytest.mark.parametrize("case", named(HARMLESS))
def test_a_claim_looks_at_nothing_else(case: Case) -> None:
    trial = changed(case.theorem, case.what, case.change)
    decided = trial.run.certified | (case.claim == "the_pattern_is_not_stable")
    assert decided.sum() >= 3
    assert margin_of(case.theorem, case.claim, trial).holds[decided].all()


@pytest.mark.parametrize(
    ("name", "control", "what", "made_true", "spoilt"),
    [
        (
            "many_neurons",
            "the_pattern_is_stable_from_step_one",
            "run",
            every("last_flip", 1),
            every("last_flip", 2),
        ),
        *(
            ("many_neurons", control, what, fitting, times("predictions", 1 + SMALL))
            for control, what in (
                ("two_neurons_reach_the_global_minimum", "run"),
                ("width_makes_no_difference", "two"),
            )
        ),
        (
            "selection",
            "relu_limit_is_the_minimum_norm_interpolant",
            "run",
            least_interpolant,
            times("duals", 1 + SMALL),
        ),
    ],
)
def test_a_false_statement_is_no_nonsense_it_holds_where_it_is_made_true(
    name: str, control: str, what: str, made_true: Change, spoilt: Change
) -> None:
    made_true = then(made_true, every("status", "certified"))
    assert margin_of(name, control, changed(name, what, made_true)).holds.all()
    broken = changed(name, what, then(made_true, spoilt))
    assert margin_of(name, control, broken).violated.all()


def test_neurons_that_do_not_settle_alone_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    unsettled = every("status", "undecided")
    monkeypatch.setattr(theorem3, "descend", lambda problem: unsettled(problem, descend(problem)))
    margin = theorem3.neurons_decouple(trial_of("theorem3"))
    assert not (margin.holds | margin.violated).any()


# Assumptions of many neurons.


@pytest.mark.parametrize(
    ("reference", "assumption"),
    [
        ("half", many_neurons.just_one_of_both_widths_reaches_it),
        ("two", many_neurons.just_one_of_it_and_two_neurons_reaches_it),
    ],
)
def test_two_widths_are_discordant_where_just_one_reaches_a_global_minimum(
    reference: str, assumption: Callable[[Trial], Margin]
) -> None:
    there = trial_of("many_neurons")
    decided = there.run.certified & there.reference(reference).certified
    both = changed("many_neurons", reference, lambda _problem, _found: there.run)
    assert assumption(both).violated.all()
    missed = many_neurons.two_neurons_miss_the_global_minimum(there).violated
    narrow = many_neurons.two_neurons_miss_the_global_minimum(
        Trial(
            find_theorem("lai2026.many_neurons"),
            there.point,
            there.problem,
            TRIALS,
            simulate=lambda _problem: there.reference(reference),
        )
    ).violated
    assert (assumption(there).holds == (decided & (missed != narrow))).all()
    assert assumption(there).holds.sum() >= 3


def test_a_run_without_a_certificate_does_not_settle() -> None:
    unsettled = changed("many_neurons", "run", every("status", "undecided"))
    assert many_neurons.the_run_settles(unsettled).violated.all()
    settled = changed("many_neurons", "run", every("status", "certified"))
    assert many_neurons.the_run_settles(settled).holds.all()
