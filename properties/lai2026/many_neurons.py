"""Beyond the theorems of Lai et al. (COLT 2026): many neurons, and starts of random sign."""

from __future__ import annotations

from typing import Any

import numpy as np

from properties.lai2026 import by_width, setting, wide_networks
from properties.lai2026.setting import NONZERO_LABELS, REGULAR, label_scale
from properties.lai2026.wide_networks import FITTED, misfit, reaches
from verify.arrays import array_namespace, to_numpy
from verify.claims import Assumption, Control, Probable, Status, Universal
from verify.margin import Margin
from verify.relu.plain import PlainRun
from verify.relu.problem import Problem
from verify.space import Axis, Point
from verify.theorem import Theorem
from verify.trial import Trial

Host = np.ndarray[Any, Any]

PAIR, WIDE = Point(n=20, d=2_000, m=2), Point(n=20, d=2_000, m=16)

_OF_THE_DATA = (
    "y_min",
    "positives",
    "spectrum",
    "spectrum_exponent",
    "spike_height",
    "features",
    "degrees_of_freedom",
)
"""Axes of the data, which many neurons have like one."""

WIDE_AXES = (
    Axis("n", 2, 2_000, "integer", inside=(2, 12), meaning="examples"),
    Axis("m", 2, 64, "integer", inside=(2, 8), meaning="neurons"),
    Axis("d_over_n", 1.05, 2e4, "log", simplest=1e3, inside=(48, 2e3), meaning="d/n"),
    Axis("d", 2, 10**7, "integer", instead_of="d_over_n", meaning="features"),
    Axis(
        "c", 1e-3, 10.0, "log", simplest=0.5, inside=(0.2, 1.0), meaning="relative step of a neuron"
    ),
    Axis(
        "start",
        scale="choice",
        choices=("random_sign", "positive", "constant", "zero"),
        inside=("random_sign",),
        meaning="kind of start",
    ),
    Axis(
        "start_scale",
        1e-6,
        10.0,
        "log",
        inside=(1e-5, 1e-2),
        overrides=("start_low", "start_high"),
        meaning="size of the starting predictions",
    ),
    *(axis for axis in setting.WIDE_AXES if axis.name in _OF_THE_DATA),
)
"""Whatever can be moved, of starts within the span; `inside` is about what `axes` have."""


# Assumptions.


def all_are_covered_at_the_start(trial: Trial) -> Margin:
    """At the start every example has an active neuron of its own sign."""
    return by_width.all_covered(trial)


def just_one_of_both_widths_reaches_it(trial: Trial) -> Margin:
    """Of the network and the first half of its neurons, trained alone, just one reaches a global
    minimum."""
    return _just_one(trial, "half")


def just_one_of_it_and_two_neurons_reaches_it(trial: Trial) -> Margin:
    """Of the network and its first two neurons, trained alone, just one reaches a global
    minimum."""
    return _just_one(trial, "two")


def _just_one(trial: Trial, reference: str) -> Margin:
    wide, narrow = reaches(trial.run), reaches(trial.reference(reference))
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
    return reaches(trial.run)


def doubling_the_width_helps(trial: Trial) -> Margin:
    """Where just one of a network and the first half of its neurons reaches a global minimum, it is
    the wider one: with probability at least .75 (a paired test on the same data and starts; the
    probability is ours)."""
    return reaches(trial.run)


def sixteen_beat_two(trial: Trial) -> Margin:
    """Where just one of sixteen neurons and the first two of them reaches a global minimum, it is
    the sixteen: with probability at least .95 (paired; the probability is ours)."""
    return reaches(trial.run)


def the_pattern_is_not_stable(trial: Trial) -> Margin:
    """From random starts the pattern goes on changing after step one: with probability at least .9
    (the probability is ours)."""
    return Margin(2, trial.run.last_flip)


def coverage_suffices(trial: Trial) -> Margin:
    """Where every example is covered at the start by a neuron of its own sign, a global minimum is
    reached: with probability at least .9 (the probability is ours)."""
    return reaches(trial.run)


def what_is_seen_is_learnt(trial: Trial) -> Margin:
    """The limit interpolates every example on which some neuron is active at the end: only dead
    examples are missed."""
    problem: Problem = trial.problem
    plain: PlainRun = trial.reference("plain")
    allowed = FITTED * label_scale(problem)

    def missed(predictions: Any) -> Host:
        output = to_numpy(problem.output(predictions))
        seen = (to_numpy(predictions) > 0).any(axis=1)
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
    return reaches(trial.run)


def the_pattern_is_stable_from_step_one(trial: Trial) -> Margin:
    """From random starts the pattern never changes after step one."""
    return Margin(trial.run.last_flip, 1)


def width_makes_no_difference(trial: Trial) -> Margin:
    """Where just one of sixteen neurons and the first two of them reaches a global minimum, it is
    the two as often as not."""
    return reaches(trial.reference("two"))


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
    defaults=wide_networks.DEFAULTS,
    axes=(
        Axis("n", 2, 12, "integer", meaning="examples"),
        Axis("m", scale="choice", choices=(2, 1, 4, 8), meaning="neurons"),
        Axis("aspect", 4.0, 1e3, "log", simplest=1e3, meaning="d/n²"),
        Axis("c", 0.2, 1.0, simplest=0.5, meaning="relative step of one neuron"),
        Axis("start_high", 1e-5, 1e-2, "log", meaning="size of the starting predictions"),
    ),
    wide_axes=WIDE_AXES,
    cells=(PAIR, WIDE),
    draw=wide_networks.draw,
    simulate=setting.descend_to_a_pattern,
    references={"plain": setting.plain, "half": wide_networks.half, "two": wide_networks.two},
    place=setting.place,
    describe=wide_networks.describe,
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
    measures=by_width.measures(GIVEN, SETTLED),
)
