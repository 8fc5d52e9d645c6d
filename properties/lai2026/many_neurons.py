"""Beyond the theorems of Lai et al. (COLT 2026): many neurons, and starts of random sign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from properties.lai2026 import setting
from properties.lai2026.setting import NONZERO_LABELS, REGULAR, label_scale
from verify.arrays import array_namespace, to_numpy
from verify.claims import Assumption, Control, Probable, Status, Universal
from verify.margin import Margin
from verify.measures import Frequency, Quantiles
from verify.relu.descent import Run
from verify.relu.plain import PlainRun
from verify.relu.problem import Problem
from verify.space import Axis, Point
from verify.theorem import Theorem
from verify.trial import Trial

Host = np.ndarray[Any, Any]

DEFAULTS: Mapping[str, Any] = {
    **setting.DEFAULTS,
    "positives": "random",
    "start": "random_sign",
    "start_high": 1e-3,
    "m": 16,
}

WIDTHS = (1, 2, 4, 8, 16, 32, 64)

BY_WIDTH = tuple(Point(n=n, d=100 * n, m=m) for n in (10, 20, 40) for m in WIDTHS)

PAIR, WIDE = Point(n=20, d=2_000, m=2), Point(n=20, d=2_000, m=16)

FITTED = 1e-8
"""Largest misfit, over the largest label, at a global minimum."""


def draw(point: Point, generator: np.random.Generator, trials: int) -> Problem:
    """Draw m neurons of alternating output sign; c is that of one neuron, over ⌈m/2⌉.

    Neurons of one sign add up: m/2 of them that see an example move its prediction m/2 times as
    far as one.
    """
    at = {**DEFAULTS, **point}
    m = int(at["m"])
    signs = tuple(1 if k % 2 == 0 else -1 for k in range(m))
    coordinates = {name: value for name, value in at.items() if name != "m"}
    law = setting.ensemble_at(Point(**{**coordinates, "c": at["c"] / _of_one_sign(m)}), signs)
    return law.draw(generator, trials)


def _of_one_sign(neurons: int) -> int:
    """Return how many of so many neurons of alternating sign have the sign +1."""
    return (neurons + 1) // 2


def first(problem: Problem, neurons: int) -> Problem:
    """Return the same data and the first neurons alone, with the step that is theirs."""
    share = _of_one_sign(problem.neurons) / _of_one_sign(neurons)
    return replace(
        problem,
        starting_predictions=problem.starting_predictions[:, :neurons, :],
        signs=problem.signs[:, :neurons],
        step_size=problem.step_size * share,
        perpendicular_gram=problem.perpendicular_gram[:, :neurons, :neurons],
        features=None,
        starting_weights=None,
    )


def half(problem: Problem, _run: Run) -> Run:
    """Return what the first half of the neurons does alone."""
    return setting.descend_to_a_pattern(first(problem, max(problem.neurons // 2, 1)))


def two(problem: Problem, _run: Run) -> Run:
    """Return what the first two neurons do alone."""
    return setting.descend_to_a_pattern(first(problem, min(problem.neurons, 2)))


def describe(problem: Problem, index: int) -> dict[str, Any]:
    """Return what a person needs to recognise one problem."""
    one = problem.select(np.asarray([index]))
    return {
        "examples": one.examples,
        "neurons": one.neurons,
        "dimension": float(np.ravel(setting.dimensions_of(one).dimension)[0]),
        "step_size": float(to_numpy(one.step_size)[0]),
        "covered_at_the_start": int(_covered_at_the_start(one).sum()),
        "labels": to_numpy(one.labels)[0],
    }


# What a run comes to.


def misfit(run: Run) -> Host:
    """Return max_i |f(x_i) − t_i| over the largest label, (B,): 0 at a global minimum.

    t is the label, or 0 where no neuron has its sign.
    """
    problem = run.problem
    signs = to_numpy(problem.signs)[:, :, None]
    output = (signs * np.maximum(to_numpy(run.predictions), 0.0)).sum(axis=1)
    reachable = to_numpy(problem.label_classes).any(axis=1)
    target = np.where(reachable, to_numpy(problem.labels), 0.0)
    return np.asarray(np.abs(output - target).max(axis=-1) / label_scale(problem))


def _reaches(run: Run) -> Margin:
    """Return the margin of: the run ends at a global minimum. Chattering runs decide nothing."""
    return Margin(misfit(run), FITTED).undecided_where(~run.certified)


def _covered_at_the_start(problem: Problem) -> Host:
    """Return where a neuron of an example's own sign is active on it at the start, (B, n)."""
    active = to_numpy(problem.starting_predictions) > 0
    return np.asarray((active & to_numpy(problem.label_classes)).any(axis=1))


# Assumptions.


def all_are_covered_at_the_start(trial: Trial) -> Margin:
    """At the start every example has an active neuron of its own sign."""
    missing = (~_covered_at_the_start(trial.problem)).sum(axis=-1)
    return Margin(missing, 0.0, scale=trial.problem.examples)


def just_one_of_both_widths_reaches_it(trial: Trial) -> Margin:
    """Of the network and the first half of its neurons, trained alone, just one reaches a global
    minimum."""
    return _just_one(trial, "half")


def just_one_of_it_and_two_neurons_reaches_it(trial: Trial) -> Margin:
    """Of the network and its first two neurons, trained alone, just one reaches a global
    minimum."""
    return _just_one(trial, "two")


def _just_one(trial: Trial, reference: str) -> Margin:
    wide, narrow = _reaches(trial.run), _reaches(trial.reference(reference))
    decided = (wide.holds | wide.violated) & (narrow.holds | narrow.violated)
    return Margin(0.0, np.where(decided & (wide.holds != narrow.holds), 1.0, -1.0))


def the_run_settles(trial: Trial) -> Margin:
    """The run is certified within 1000 steps: it neither chatters at a kink nor diverges."""
    return Margin(0.0, np.where(trial.run.certified, 1.0, -1.0))


COVERED = Assumption(all_are_covered_at_the_start, Status.DERIVED, axes=("m",))
SETTLES = Assumption(the_run_settles, Status.DERIVED)
DISCORDANT = Assumption(just_one_of_both_widths_reaches_it, Status.DERIVED)
DISCORDANT_WITH_TWO = Assumption(just_one_of_it_and_two_neurons_reaches_it, Status.DERIVED)


# Claims.


def two_neurons_miss_the_global_minimum(trial: Trial) -> Margin:
    """From random starts two neurons end away from every global minimum: with probability at least
    .9 at n = 20, d = 2000 (the probability is ours)."""
    return Margin(FITTED, misfit(trial.run)).undecided_where(~trial.run.certified)


def sixteen_neurons_reach_a_global_minimum(trial: Trial) -> Margin:
    """From random starts sixteen neurons end at a global minimum: with probability at least .8 at
    n = 20, d = 2000 (the probability is ours)."""
    return _reaches(trial.run)


def doubling_the_width_helps(trial: Trial) -> Margin:
    """Where just one of a network and the first half of its neurons reaches a global minimum, it is
    the wider one: with probability at least .75 (a paired test on the same data and starts; the
    probability is ours)."""
    return _reaches(trial.run)


def sixteen_beat_two(trial: Trial) -> Margin:
    """Where just one of sixteen neurons and the first two of them reaches a global minimum, it is
    the sixteen: with probability at least .95 (paired; the probability is ours)."""
    return _reaches(trial.run)


def the_pattern_is_not_stable(trial: Trial) -> Margin:
    """From random starts the pattern goes on changing after step one: with probability at least .9
    (the probability is ours)."""
    return Margin(2, trial.run.last_flip)


def coverage_suffices(trial: Trial) -> Margin:
    """Where every example is covered at the start by a neuron of its own sign, a global minimum is
    reached: with probability at least .9 (the probability is ours)."""
    return _reaches(trial.run)


def what_is_seen_is_learnt(trial: Trial) -> Margin:
    """The limit interpolates every example on which some neuron is active at the end: only dead
    examples are missed."""
    problem: Problem = trial.problem
    plain: PlainRun = trial.reference("plain")
    allowed = FITTED * label_scale(problem)

    def missed(predictions: Any) -> Host:
        active = np.maximum(to_numpy(predictions), 0.0)
        output = (to_numpy(problem.signs)[:, :, None] * active).sum(axis=1)
        seen = (active > 0).any(axis=1)
        return np.asarray(
            np.where(seen, np.abs(output - to_numpy(problem.labels)), 0.0).max(axis=-1)
        )

    limit = trial.run.duals @ problem.gram
    # In the limit an active example may have the prediction 0 of a kink: the pattern decides.
    active = array_namespace(limit).where(trial.run.final_pattern, limit, 0 * limit)
    by_jump = Margin(missed(active), allowed, allowed).undecided_where(~trial.run.certified)
    by_plain = Margin(missed(plain.predictions), allowed, allowed)
    return Margin.worst(by_jump, by_plain.undecided_where(~plain.settled))


# False statements, for the controls.


def two_neurons_reach_the_global_minimum(trial: Trial) -> Margin:
    """From random starts two neurons reach a global minimum."""
    return _reaches(trial.run)


def the_pattern_is_stable_from_step_one(trial: Trial) -> Margin:
    """From random starts the pattern never changes after step one."""
    return Margin(trial.run.last_flip, 1)


def width_makes_no_difference(trial: Trial) -> Margin:
    """Where just one of sixteen neurons and the first two of them reaches a global minimum, it is
    the two as often as not."""
    return _reaches(trial.reference("two"))


# Measures.


def reaches_a_global_minimum(trial: Trial) -> Margin:
    """Gradient descent from a random start ends at a global minimum (of the certified runs; those
    that chatter at a kink are counted apart). One neuron is no narrower pair: its minima fit the
    positive labels alone, so m = 1 may do better than m = 2."""
    return _reaches(trial.run)


def all_covered(trial: Trial) -> Margin:
    """At the start every example has an active neuron of its own sign."""
    return all_are_covered_at_the_start(trial)


def chatters(trial: Trial) -> Margin:
    """No certificate within 1000 steps: the run chatters at a kink, or is too slow."""
    return Margin(1.0, np.where(trial.run.certified, 0.0, 1.0))


def dead_examples(trial: Trial) -> Host:
    """Share of the examples on which no neuron is active at the end."""
    dead = ~to_numpy(trial.run.final_pattern).any(axis=1)
    return np.where(trial.run.certified, dead.mean(axis=-1), np.nan)


def last_change_of_the_pattern(trial: Trial) -> Host:
    """Step at which the pattern changes for the last time, among certified runs."""
    return np.where(trial.run.certified, trial.run.last_flip.astype(float), np.nan)


def neurons(trial: Trial) -> float:
    """Number m of neurons."""
    return float(trial.problem.neurons)


def predicted_coverage(trial: Trial) -> Host:
    """(1 − 2^(−m₊))^n₊·(1 − 2^(−m₋))^n₋, m± neurons of each sign: each sees an example with
    probability ½, treated as independent [D]."""
    problem = trial.problem
    labels, signs = to_numpy(problem.labels)[:, None, :], to_numpy(problem.signs)
    of_its_sign = (signs[:, :, None] * labels > 0).sum(axis=1)
    return np.asarray(np.prod(1 - 0.5**of_its_sign, axis=-1))


GIVEN = (NONZERO_LABELS, REGULAR)
SETTLED = (*GIVEN, SETTLES)
"""Runs that chatter are counted apart, by a measure of their own."""

theorem = Theorem(
    id="lai2026.many_neurons",
    title="Random-sign starts: patterns are not stable, minima are missed, and neurons help",
    citation=f"{setting.CITATION}; simulations beyond its theorems. Coverage as in Dana, "
    "Pillaud-Vivien, Bach (2025), arXiv 2502.16977.",
    status=Status.SUMMARY,
    statement=(
        "From starts of random sign the activation patterns do not freeze after step one, and two "
        "neurons can miss every global minimum; more neurons help."
    ),
    method=(
        "m neurons of alternating output sign start at Gaussian weights with predictions of size "
        "1e-3; the relative step is c over the number of neurons of one sign. Runs without a "
        "certificate within 1000 steps, which chatter at a kink, count as undecided. Wider and "
        "narrower networks are compared on the same data and starts (the narrower one has the "
        "first neurons of the wider)."
    ),
    symbols={
        **setting.SYMBOLS,
        "f, φ": "the model f(x) = Σ_k s_k φ(w_k·x), s_k = ±1 in turn, φ(z) = max(z, 0)",
        "m": "number of neurons",
        "c": "the relative step ητ of one neuron; m of them take c/⌈m/2⌉",
        "dead": "an example on which no neuron is active at the end",
    },
    defaults=DEFAULTS,
    axes=(
        Axis("n", 2, 12, "integer", meaning="examples"),
        Axis("m", scale="choice", choices=(2, 1, 4, 8), meaning="neurons"),
        Axis("aspect", 4.0, 1e3, "log", simplest=1e3, meaning="d/n²"),
        Axis("c", 0.2, 1.0, simplest=0.5, meaning="relative step of one neuron"),
        Axis("start_high", 1e-5, 1e-2, "log", meaning="size of the starting predictions"),
    ),
    cells=(PAIR, WIDE),
    draw=draw,
    simulate=setting.descend_to_a_pattern,
    references={"plain": setting.plain, "half": half, "two": two},
    place=setting.place,
    describe=describe,
    claims=(
        Probable(
            two_neurons_miss_the_global_minimum,
            given=SETTLED,
            probability=0.9,
            at=(PAIR,),
            status=Status.SUMMARY,
        ),
        Probable(
            sixteen_neurons_reach_a_global_minimum,
            given=SETTLED,
            probability=0.8,
            at=(WIDE,),
            status=Status.SUMMARY,
        ),
        Probable(
            doubling_the_width_helps,
            given=(*GIVEN, DISCORDANT),
            probability=0.75,
            at=tuple(Point(n=20, d=2_000, m=m) for m in (4, 8, 16)),
            status=Status.HEURISTIC,
        ),
        Probable(
            sixteen_beat_two,
            given=(*GIVEN, DISCORDANT_WITH_TWO),
            probability=0.95,
            at=(WIDE,),
            status=Status.HEURISTIC,
        ),
        Probable(
            the_pattern_is_not_stable,
            given=GIVEN,
            probability=0.9,
            at=(PAIR, WIDE),
            status=Status.SUMMARY,
        ),
        Probable(
            coverage_suffices,
            given=(*SETTLED, COVERED),
            probability=0.9,
            at=(WIDE, Point(n=20, d=2_000, m=32)),
            status=Status.HEURISTIC,
        ),
        Universal(what_is_seen_is_learnt, given=SETTLED, status=Status.DERIVED),
    ),
    controls=(
        Control(
            Universal(
                two_neurons_reach_the_global_minimum, given=SETTLED, at=(PAIR,), status=Status.FALSE
            ),
            because="an example that its own neuron does not see at the start often ends dead "
            "(docs/theory.md §7, failure regime 3)",
        ),
        Control(
            Universal(
                the_pattern_is_stable_from_step_one, given=GIVEN, at=(WIDE,), status=Status.FALSE
            ),
            because="neurons of both signs fight over the examples that they share",
        ),
        Control(
            Probable(
                width_makes_no_difference,
                given=(*GIVEN, DISCORDANT_WITH_TWO),
                probability=0.5,
                at=(WIDE,),
                status=Status.FALSE,
            ),
            because="two neurons almost never reach a global minimum, sixteen mostly do",
        ),
    ),
    measures=(
        Frequency(
            reaches_a_global_minimum,
            given=SETTLED,
            at=BY_WIDTH,
            against=neurons,
            by="n",
            levels=(0.5, 0.9),
            axis="frequency of reaching a global minimum",
            status=Status.HEURISTIC,
            name="success_by_width",
        ),
        Frequency(
            all_covered,
            given=GIVEN,
            at=BY_WIDTH,
            against=neurons,
            by="n",
            prediction=predicted_coverage,
            axis="frequency of coverage at the start",
            status=Status.DERIVED,
            name="coverage_by_width",
        ),
        Frequency(
            chatters,
            given=GIVEN,
            at=BY_WIDTH,
            against=neurons,
            by="n",
            axis="frequency of chattering",
            status=Status.HEURISTIC,
            name="chattering_by_width",
        ),
        Quantiles(
            dead_examples,
            given=SETTLED,
            at=BY_WIDTH,
            against=neurons,
            by="n",
            axis="share of examples dead at the end",
            status=Status.HEURISTIC,
            name="dead_examples_by_width",
        ),
        Quantiles(
            last_change_of_the_pattern,
            given=SETTLED,
            at=BY_WIDTH,
            against=neurons,
            by="n",
            axis="last change of the pattern",
            unit="steps",
            status=Status.HEURISTIC,
            name="last_change_by_width",
        ),
    ),
)
