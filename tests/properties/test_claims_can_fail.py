"""Claims of the paper's theorems can fail: what each looks at is perturbed, then the claim breaks.

Every witness of a claim is perturbed alone, a little; what the claim does not look at may change.
Where bounds lie is for `test_claims_by_hand` to say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from properties.catalogue import find_theorem
from properties.lai2026 import many_neurons
from verify import Margin, Point, Trial
from verify.relu import Problem

SEED = 20261201
TRIALS = 20
SMALL = 1e-6
"""A perturbation of predictions: far above what counts as equal, far below the labels."""

POINTS = {
    "theorem1": Point(n=6, d=4_000),
    "theorem2": Point(n=6, d=4_000),
    "theorem3": Point(n=6, d=8_000),
    "theorem4": Point(n=6, d=8_000),
    "many_neurons": Point(n=6, d=2_000, m=4),
    "selection": Point(n=6, d=4_000),
}

Change = Callable[[Problem, Any], Any]


@cache
def trial_of(name: str) -> Trial:
    """Return a batch of a theorem's problems, run as the engine does."""
    theorem = find_theorem(f"lai2026.{name}")
    problem = theorem.draw(POINTS[name], np.random.default_rng(SEED), TRIALS)
    return Trial(theorem, POINTS[name], problem, TRIALS)


def changed(name: str, what: str, change: Change) -> Trial:
    """Return the same batch with its run, or the reference called `what`, changed."""
    theorem, there = find_theorem(f"lai2026.{name}"), trial_of(name)
    run = change(there.problem, there.run) if what == "run" else there.run
    references: dict[str, Any] = {
        each: lambda _problem, _run, each=each: there.reference(each) for each in theorem.references
    }
    if what != "run":
        references[what] = lambda problem, _run: change(problem, there.reference(what))
    perturbed = replace(theorem, references=references)
    return Trial(perturbed, there.point, there.problem, TRIALS, simulate=lambda _problem: run)


def margin_of(name: str, claim: str, trial: Trial) -> Margin:
    """Return a claim's or an assumption's margin on a trial."""
    theorem = find_theorem(f"lai2026.{name}")
    assumed = {each.id: each.inequality for each in theorem.assumptions}
    found: Margin = (assumed.get(claim) or theorem.claim(claim).inequality)(trial)
    return found


# Perturbations of a run or a reference.


def on_class(problem: Problem) -> Any:
    """Mask of the first example of each neuron's label class, (B, m, n)."""
    return _first(problem.label_classes)


def off_class(problem: Problem) -> Any:
    """Mask of the first example off each neuron's label class, (B, m, n)."""
    return _first(~problem.label_classes)


def first_example(problem: Problem) -> Any:
    """Mask of the first example, (n,)."""
    return np.arange(problem.examples) == 0


def _first(mask: Any) -> Any:
    return mask & (np.cumsum(mask, axis=-1) == 1)


def predicting(where: Callable[[Problem], Any], size: float) -> Change:
    """Add `size` to the predictions on a mask, and to the weights what that takes."""

    def change(problem: Problem, found: Any) -> Any:
        by = size * where(problem)
        weights = np.linalg.solve(problem.gram, by.swapaxes(1, 2)).swapaxes(1, 2)
        return _moved(found, weights, by)

    return change


def with_duals(where: Callable[[Problem], Any], size: float) -> Change:
    """Add `size` of the largest dual coefficient to the duals on a mask."""

    def change(problem: Problem, found: Any) -> Any:
        duals = getattr(found, "duals", getattr(found, "change", None))
        by = size * np.abs(duals).max(axis=(1, 2), keepdims=True) * where(problem)
        return _moved(found, by, by @ problem.gram)

    return change


def _moved(found: Any, duals: Any, predictions: Any) -> Any:
    by = {"duals": duals, "change": duals, "predictions": predictions}
    moved = {name: getattr(found, name) + each for name, each in by.items() if hasattr(found, name)}
    return replace(found, **moved)


def times(name: str, factor: float) -> Change:
    """Multiply an array by a number."""
    return lambda _problem, found: replace(found, **{name: getattr(found, name) * factor})


def adding(name: str, where: Callable[[Problem], Any], size: float) -> Change:
    """Add a number to an array, on a mask alone."""

    def change(problem: Problem, found: Any) -> Any:
        return replace(found, **{name: getattr(found, name) + size * where(problem)})

    return change


def neuron_times(neuron: int, factor: float) -> Change:
    """Multiply the duals of one neuron by a number."""

    def change(problem: Problem, found: Any) -> Any:
        own = np.arange(problem.neurons)[:, None] == neuron
        return replace(found, duals=np.where(own, factor, 1.0) * found.duals)

    return change


def every(name: str, value: Any) -> Change:
    """Set an array (B,) to one value."""
    return lambda _problem, found: replace(found, **{name: np.full(TRIALS, value)})


def flipped(problem: Problem, run: Any) -> Any:
    """Let every neuron be active on the first example where it was not, and the reverse."""
    pattern = run.pattern_after_first_step ^ first_example(problem)
    return replace(run, pattern_after_first_step=pattern)


def fitting(problem: Problem, run: Any) -> Any:
    """Let the first neuron of each sign predict the labels of its class, all others be dead."""
    first = np.arange(problem.neurons)[None, :, None] < 2
    own = first & problem.label_classes
    return replace(run, predictions=np.where(own, np.abs(problem.labels)[:, None, :], -1.0))


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
        Case("theorem3", "neurons_decouple", "run", with_duals(where, SMALL))
        for where in (on_class, off_class)
    ),
    *of_bias("theorem4", 2),
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
