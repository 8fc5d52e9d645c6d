"""What an ablation finds of one assumption: verdicts, effort, and the violations to show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from properties.ablation.looking import (
    HOLDS,
    REFUSED,
    REST_FAILED,
    REST_UNKNOWN,
    UNDECIDED,
    VIOLATED,
    Looked,
)
from properties.ablation.question import Question
from properties.ablation.rates import refutes, sample
from properties.ablation.searching import Searched, search
from verify.claims import Claim, Probable
from verify.counterexample import Counterexample, captured
from verify.severity import ViolationRate
from verify.space import Coordinate, Point

LOAD_BEARING, NOT_NEEDED, VACUOUS = "load-bearing", "not needed as far as found", "vacuous"
NEEDED_TO_STATE = "needed to state the claim"
VERDICTS = (LOAD_BEARING, NEEDED_TO_STATE, UNDECIDED, NOT_NEEDED, VACUOUS)
"""The gravest first: an assumption has the gravest verdict of its claims."""

MEANINGS = {
    LOAD_BEARING: "a counterexample exists in which it alone is violated; a claim about a "
    "probability has one where that is below what is stated, at confidence .95 a point",
    NEEDED_TO_STATE: "no counterexample was found, but where it is violated the claim could not be "
    "evaluated on some instances: a comparator of its own refuses them, or a bound does not exist",
    UNDECIDED: "whether the claim holds where it is violated could not be decided",
    NOT_NEEDED: "no counterexample was found in which it alone is violated; the effort says how "
    "hard was looked, and finding nothing proves nothing",
    VACUOUS: "no instance was met in which it alone is violated, so nothing was tested without it",
}

FAILS, STANDS = "violated with nothing dropped", "no violation found"
"""At the baseline, of a universal claim, in place of the first and the fourth verdict."""

BELOW, NOT_BELOW = "below its probability with nothing dropped", "not found below its probability"
"""The same of a claim about a probability."""

Rates = Mapping[str, ViolationRate | None]
Sampler = Callable[[Mapping[str, Coordinate], bool], Rates]


@dataclass(frozen=True)
class Shown:
    """A violation that is shown: its counterexample and, at the dropped assumption, how far
    outside it lies (its margin; NaN at the baseline)."""

    example: Counterexample
    outside: float

    @staticmethod
    def from_json(content: Mapping[str, Any] | None) -> Shown | None:
        """Return what `asdict` was made of."""
        if content is None:
            return None
        return Shown(Counterexample(**content["example"]), content["outside"])


@dataclass(frozen=True)
class ClaimFound:
    """What dropping an assumption does to one claim.

    tested: instances in which the assumption alone is violated (at the baseline, in which all
    holds): they hold, violate, or are undecided or refused.   least: the lowest decided margin.
    rates: those measured, of a claim about a probability.   worst, nearest: violations that make
    the assumption load-bearing (at the baseline, refute the claim): of lowest margin, and least
    outside.   in_scope: a violation with nothing dropped, which the search met by the way.
    """

    claim: str
    verdict: str
    tested: int
    holds: int
    violated: int
    undecided: int
    refused: int
    least: float
    rates: tuple[ViolationRate, ...] = ()
    worst: Shown | None = None
    nearest: Shown | None = None
    in_scope: Shown | None = None


@dataclass(frozen=True)
class Found:
    """What the search without one assumption found; "" is the baseline, with nothing dropped.

    examples: instances looked at; of those, rest_failed violate another assumption of every claim
    (or leave it open), held meet the dropped assumption, open leave it undecided, tested test a
    claim.   not_drawn: points where no instance can be drawn, not among them.   furthest, closest:
    margins of the dropped assumption on the instances tested.   scatter: of those, its margin, and
    by claim the margin and outcome; only where a claim is violated.
    """

    dropped: str
    claims: tuple[ClaimFound, ...]
    examples: int
    not_drawn: int
    rest_failed: int
    held: int
    open: int
    tested: int
    furthest: float
    closest: float
    scatter: Mapping[str, Any] = field(default_factory=dict)

    def verdict(self, leaving_out: Collection[str] = ()) -> str:
        """Return the gravest verdict on a claim but for some; vacuous if none is left."""
        told = [one.verdict for one in self.claims if one.claim not in leaving_out]
        return min(told, key=VERDICTS.index, default=VACUOUS)

    def to_json(self) -> dict[str, Any]:
        """Return it as values that JSON has, NaN and infinities as Python writes them."""
        return asdict(self)

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> Found:
        """Return what `to_json` was made of."""
        claims = []
        for one in content["claims"]:
            shown = {name: Shown.from_json(one[name]) for name in ("worst", "nearest", "in_scope")}
            rates = tuple(ViolationRate(**rate) for rate in one["rates"])
            claims.append(ClaimFound(**{**one, **shown, "rates": rates}))
        return Found(**{**content, "claims": tuple(claims)})


def find(question: Question, examples: int, root_seed: int) -> Found:
    """Search without an assumption, and say what that shows; the same arguments find the same."""
    searched = search(question, examples, root_seed)
    known: dict[tuple[str, bool], Rates] = {}

    def rates_at(point: Mapping[str, Coordinate], again: bool) -> Rates:
        key = Point(**point).canonical, again
        if key not in known:
            counted = sample(question, point, root_seed, again)
            copies = question.theorem.copies_at(point)
            known[key] = {name: one.rate(point, copies) for name, one in counted.items()}
        return known[key]

    claims = tuple(
        _claim_found(question, claim, searched, rates_at, root_seed) for claim in question.scopes
    )
    return _found(question, searched, claims)


def _found(question: Question, searched: Searched, claims: tuple[ClaimFound, ...]) -> Found:
    wanted = _wanted(question)
    tested = [
        one for one in searched.looks if any(one.tests(name, wanted) for name in one.outcomes)
    ]
    untested = {REST_FAILED, REST_UNKNOWN}
    states = Counter(
        "rest" if set(one.outcomes.values()) <= untested else one.state for one in searched.looks
    )
    margins = [one.margin for one in tested]
    return Found(
        dropped=question.name,
        claims=claims,
        examples=len(searched.looks),
        not_drawn=searched.not_drawn,
        rest_failed=states["rest"],
        held=states[HOLDS] if question.dropped else 0,
        open=states[UNDECIDED],
        tested=len(tested),
        furthest=min(margins, default=float("nan")),
        closest=max(margins, default=float("nan")),
        scatter=_scatter(tested, claims) if question.dropped else {},
    )


def _wanted(question: Question) -> str:
    """Return the state of the dropped assumption that is tested; at the baseline all holds."""
    return HOLDS if question.dropped is None else VIOLATED


def _scatter(tested: list[Looked], claims: tuple[ClaimFound, ...]) -> dict[str, Any]:
    violated = [one.claim for one in claims if one.worst is not None]
    if not violated:
        return {}
    return {
        "outside": [one.margin for one in tested],
        "claims": {
            name: {
                "margins": [one.margins[name] for one in tested],
                "outcomes": [one.outcomes[name] for one in tested],
            }
            for name in violated
        },
    }


def _claim_found(
    question: Question, claim: Claim, searched: Searched, rates_at: Sampler, root_seed: int
) -> ClaimFound:
    name, wanted = claim.id, _wanted(question)
    tested = [one for one in searched.looks if one.tests(name, wanted)]
    counts = Counter(one.outcomes[name] for one in tested)
    decided = [one.margins[name] for one in tested if one.outcomes[name] in (HOLDS, VIOLATED)]
    plain = ClaimFound(
        claim=name,
        verdict=_verdict_without_violation(counts),
        tested=len(tested),
        holds=counts[HOLDS],
        violated=counts[VIOLATED],
        undecided=counts[UNDECIDED],
        refused=counts[REFUSED],
        least=min(decided, default=float("nan")),
    )
    violations = searched.violations(name, wanted)
    if isinstance(claim, Probable):
        plain, violations = _measured(claim, plain, violations, rates_at)
    elif question.dropped is not None and (by_the_way := searched.violations(name, HOLDS)):
        met = _shown(question, claim, by_the_way[0], None, root_seed)
        plain = replace(plain, in_scope=met)
    if not violations:
        return plain
    worst, nearest = violations[0], max(violations, key=lambda one: one.margin)
    shown = _shown(question, claim, worst, rates_at(worst.point, False)[name], root_seed)
    if nearest is not worst:
        near: Shown | None = _shown(question, claim, nearest, None, root_seed)
    else:
        near = shown
    return replace(
        plain,
        verdict=LOAD_BEARING,
        worst=shown,
        nearest=near if question.dropped else None,
    )


def _measured(
    claim: Probable, plain: ClaimFound, violations: list[Looked], rates_at: Sampler
) -> tuple[ClaimFound, list[Looked]]:
    """Return what is found of a claim about a probability, with the rates measured, and those of
    its violations at whose points the probability is below what is stated.

    It is measured at the points of the nearest violation and of the worst, then of the one in the
    middle between nearest and furthest unless the nearest was enough, and again, with more trials,
    at the first point that left it open unless one was enough.
    """
    if not violations:
        return plain, []
    nearer = sorted(violations, key=lambda one: -one.margin)
    answers: dict[int, bool | None] = {}
    rates: list[ViolationRate] = []

    def measure(one: Looked, again: bool = False) -> bool | None:
        rate = rates_at(one.point, again)[claim.id]
        rates.extend([] if rate is None else [rate])
        answers[id(one)] = refutes(claim, rate)
        return answers[id(one)]

    chosen = [nearer[0], violations[0], nearer[len(nearer) // 2]]
    for one in chosen[: 2 if measure(nearer[0]) else 3]:
        if id(one) not in answers:
            measure(one)
    if True not in answers.values():
        unclear = next((one for one in chosen if answers[id(one)] is None), None)
        if unclear is not None:
            measure(unclear, again=True)
    found = replace(plain, rates=tuple({id(rate): rate for rate in rates}.values()))
    below = [one for one in violations if answers.get(id(one))]
    if not below:
        found = replace(found, verdict=UNDECIDED if None in answers.values() else NOT_NEEDED)
    return found, below


def _verdict_without_violation(counts: Counter[str]) -> str:
    if not counts.total():
        return VACUOUS
    if counts[REFUSED]:
        return NEEDED_TO_STATE
    return NOT_NEEDED if counts[HOLDS] else UNDECIDED


def _shown(
    question: Question, claim: Claim, one: Looked, rate: ViolationRate | None, root_seed: int
) -> Shown:
    without = question.recorded_without(claim)
    example = captured(
        question.theorem,
        claim,
        one.kind,
        one.recipe,
        one.margins[claim.id],
        without=without,
        seed=root_seed,
    )
    told = None if rate is None else rate.to_json()
    return Shown(replace(example, severity={**example.severity, "rate": told}), one.margin)
