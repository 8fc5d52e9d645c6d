"""Full-batch gradient descent over the rationals: every sign decided, the limit solved exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from flint import fmpq, fmpq_mat

from verify.exact import NotDecided
from verify.relu.exact.certificate import Frozen, certify
from verify.relu.exact.problem import ExactProblem, Mask
from verify.relu.exact.rational import height

MOST_STEPS = 1_000
"""Steps after which a run is given up."""

MOST_BITS = 12_000
"""Length of a number at which a run is given up: they grow by a constant number of bits a step.

Some 3600 digits; a file holds 4000 (`verify.counterexample`).
"""

_TRIED_AT_EVERY_STEP = 32
"""Steps up to which a certificate is tried each time; beyond them, every eighth time."""


@dataclass(frozen=True, eq=False)
class ExactState:
    """Gradient descent at one step.

    step: its number.   change: (m, n), data-span coefficients gained since the start.
    predictions: (m, n).   pattern: (m, n), where each neuron is active.
    residual: n, model output minus label.
    """

    step: int
    change: fmpq_mat
    predictions: fmpq_mat
    pattern: Mask
    residual: tuple[fmpq, ...]


@dataclass(frozen=True, eq=False)
class ExactRun:
    """Gradient descent up to a state whose pattern is certain to be final, or until given up.

    states: from step 0 on.   final: the certificate at the last state, or None.
    given_up: why there is none; empty where there is one.
    """

    problem: ExactProblem
    states: tuple[ExactState, ...]
    final: Frozen | None
    given_up: str

    @property
    def steps(self) -> list[fmpq_mat]:
        """Predictions (m, n) at steps 0, 1, … up to the last state."""
        return [state.predictions for state in self.states]

    @cached_property
    def change(self) -> fmpq_mat:
        """α_∞ − α_0, (m, n): α_k^∞ = α_k − s_k D_k q (theory §3). Raises NotDecided."""
        if self.final is None:
            raise NotDecided(self.given_up)
        state, found = self.states[-1], fmpq_mat(self.states[-1].change)
        for k, active in enumerate(state.pattern):
            for i in range(self.problem.examples):
                if active[i]:
                    found[k, i] -= self.problem.signs[k] * self.final.remainder[i]
        return found

    @cached_property
    def predictions(self) -> fmpq_mat:
        """Predictions of the limit, (m, n). Raises NotDecided."""
        return self.problem.start + self.change * self.problem.gram

    @property
    def pattern(self) -> Mask:
        """Where each neuron is active from the last state on, for ever. Raises NotDecided."""
        if self.final is None:
            raise NotDecided(self.given_up)
        return self.states[-1].pattern

    @property
    def first_departure(self) -> int | None:
        """The first step from 1 on after which some neuron is not active exactly on its label
        class; None if there is none, ever. Raises NotDecided."""
        return first_departure(self.problem)


def observe(problem: ExactProblem, step: int, change: fmpq_mat) -> ExactState:
    """Return the state whose coefficients differ from the start by `change`, (m, n)."""
    predictions = problem.start + change * problem.gram
    n, neurons = problem.examples, range(problem.neurons)
    pattern = tuple(tuple(problem.is_active(predictions[k, i]) for i in range(n)) for k in neurons)
    residual = tuple(
        sum(
            (problem.signs[k] * predictions[k, i] for k in neurons if pattern[k][i]),
            start=-problem.labels[i],
        )
        for i in range(n)
    )
    return ExactState(step, change, predictions, pattern, residual)


def gradient_step(problem: ExactProblem, state: ExactState) -> ExactState:
    """Return the state one step later: α_k ← α_k − η s_k D_k r (theory §2)."""
    change = fmpq_mat(state.change)
    for k, active in enumerate(state.pattern):
        rate = problem.step_size * problem.signs[k]
        for i in range(problem.examples):
            if active[i]:
                change[k, i] -= rate * state.residual[i]
    return observe(problem, state.step + 1, change)


def state_at(problem: ExactProblem, step: int) -> ExactState:
    """Return the state after so many steps. Raises NotDecided beyond what is walked."""
    walk = _walk(problem)
    while len(walk.states) <= step:
        walk.advance()
    return walk.states[step]


def descend(problem: ExactProblem) -> ExactRun:
    """Run gradient descent until a certificate of theory §4 says that the pattern is final.

    It is computed once for a problem. Without a certificate within `MOST_STEPS` steps or numbers
    of `MOST_BITS` bits it says so: whatever of it needs the limit then raises NotDecided.
    """
    walk = _walk(problem)
    while walk.final is None:
        try:
            walk.advance()
        except NotDecided as given_up:
            return ExactRun(problem, tuple(walk.states), None, str(given_up))
    return ExactRun(problem, tuple(walk.states[: walk.final.step + 1]), walk.final, "")


def first_departure(problem: ExactProblem) -> int | None:
    """Return the first step from 1 on after which some neuron is not active exactly on its label
    class; None if a certificate says that there is none. Raises NotDecided.

    It walks no further than it must.
    """
    walk, step = _walk(problem), 1
    while True:
        if walk.final is not None and step > max(walk.final.step, 1):
            return None
        if state_at(problem, step).pattern != problem.label_classes:
            return step
        step += 1


@dataclass(eq=False)
class _Walk:
    """The states of a run so far, and the certificate of the first found to have one."""

    problem: ExactProblem
    states: list[ExactState] = field(default_factory=list)
    final: Frozen | None = None

    def __post_init__(self) -> None:
        nothing = fmpq_mat(self.problem.neurons, self.problem.examples)
        self._keep(observe(self.problem, 0, nothing))

    def advance(self) -> None:
        """Take one more step. Raises NotDecided where the run is given up."""
        last = self.states[-1]
        if self.final is None:
            self._check(last)
        self._keep(gradient_step(self.problem, last))

    def _keep(self, state: ExactState) -> None:
        self.states.append(state)
        due = state.step <= _TRIED_AT_EVERY_STEP or state.step % 8 == 0
        if self.final is None and due:
            self.final = certify(self.problem, state)

    def _check(self, last: ExactState) -> None:
        if last.step >= MOST_STEPS:
            why = f"within {MOST_STEPS} steps"
        elif height(last.predictions.entries()) >= MOST_BITS:
            why = f"within {last.step} steps, where numbers have {MOST_BITS} bits"
        else:
            return
        raise NotDecided(f"no certificate {why} that the pattern is final: it may yet change")


def _walk(problem: ExactProblem) -> _Walk:
    """Return the walk of a problem, as far as it has come."""
    if "walk" not in problem.known:
        problem.known["walk"] = _Walk(problem)
    found: _Walk = problem.known["walk"]
    return found
