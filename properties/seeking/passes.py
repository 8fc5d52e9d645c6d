"""The search as a whole: passes over all places, until all is done, or the time is over."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

from properties.search import OUT_OF_SCOPE, UNDECIDED, VIOLATED
from properties.seeking.explore import NO_INSTANCE
from properties.seeking.found import NOTHING, Effort, Found
from properties.seeking.sections import Section, search_elsewhere, search_section
from properties.seeking.smallest import Candidate, places
from properties.seeking.sought import Sought
from properties.seeking.watch import Progress, Watch
from properties.seeking.worst import WHERE, axes_of, own_points, rate_at
from verify.confirm import Confirmed
from verify.counterexample import Counterexample
from verify.engine.executors import AnyExecutor, one_thread
from verify.errors import InputError

EXAMPLES = 300
"""Examples of each size and kind, by default."""

_WORST = 20
"""Violations of a place, those of the lowest margin, that may become the worst."""


def seek(
    sought: Sought,
    examples: int | None = None,
    seconds: float | None = None,
    root_seed: int = 0,
    progress: Progress | None = None,
    now: Callable[[], float] = time.monotonic,
    executor: AnyExecutor | None = None,
) -> Found:
    """Search the smallest and the worst counterexample to a claim.

    examples: of each size of small problems, the smallest first until one has a counterexample,
    and of the structured ensembles; by default 300.   seconds: when to stop, and, unless `examples`
    is given too, how long to go on: pass after pass, each with another seed. Without `seconds` the
    same arguments find the same. A KeyboardInterrupt ends the search, and what was found until
    then is returned.   executor: None runs here; else see `verify.engine.executors`: sections are
    searched at the same time, and what is found is the same; a search of some seconds runs here.
    Raises InputError where the theorem has nothing to search, for a number of seconds that is not
    finite and above 0, or for seconds with an executor; TheoremError for functions of the theorem
    that misbehave.
    """
    if seconds is not None and not 0 < seconds < math.inf:
        raise InputError(f"seconds={seconds}, expected a finite number above 0")
    if seconds is not None and executor is not None:
        raise InputError(
            f"seconds={seconds} with an executor: a search that the clock ends runs in this "
            "process; leave out one of the two"
        )
    search = _Search(sought, root_seed, Watch(seconds, now, progress), executor)
    search.require_something()
    endless = seconds is not None and examples is None
    ended = ""
    try:
        for number in itertools.count() if endless else range(1):
            search.one_pass(examples or EXAMPLES, number)
            if search.watch.over():
                break
    except KeyboardInterrupt as reason:
        ended = "interrupted" if type(reason) is KeyboardInterrupt else "terminated"
    return search.found(ended or ("time" if search.watch.cut else ""))


class _Search:
    """What a search has met so far."""

    def __init__(
        self, sought: Sought, root_seed: int, watch: Watch, executor: AnyExecutor | None
    ) -> None:
        self.sought, self.root_seed, self.watch = sought, root_seed, watch
        self._executor = executor
        self._places = places(sought)
        self._efforts: dict[tuple[str, str], Effort] = {}
        self._smallest: Candidate | None = None
        self._worst: list[Candidate] = []
        self._unconfirmed: tuple[Candidate, Confirmed] | None = None

    def require_something(self) -> None:
        """Raise InputError unless there are instances to look at."""
        sought = self.sought
        if not (self._places or axes_of(sought) or own_points(sought)):
            raise InputError(
                f"theorem {sought.theorem.address!r} has nothing to search; give it axes=(Axis(…), "
                "…), or small=Explicit(…)"
            )

    def one_pass(self, examples: int, number: int) -> None:
        """Look at every place that can still improve what was found, then at the ensembles."""
        self.watch.plan(examples * (len(self._places) + 2))
        if self._executor is not None:
            self._pass_elsewhere(self._executor, examples, number)
            return
        for place in (*self._places, None):
            if self.watch.over():
                return
            if place is not None and place.number >= len(self._places):
                continue
            section = Section(place)
            try:
                search_section(self.sought, section, examples, self.root_seed, number, self.watch)
            finally:  # an interruption leaves what was met until then
                self._note(section)

    def _pass_elsewhere(self, executor: AnyExecutor, examples: int, number: int) -> None:
        """Look at all sections at once, and keep those that a search one by one looks at."""
        met: list[Section] = []
        how = (executor, examples, self.root_seed, number, self.watch)
        try:
            with closing(search_elsewhere(self.sought, self._places, *how)) as sections:
                met.extend(sections)
        finally:
            for section in sorted(met, key=_order):
                if section.place is None or section.place.number < len(self._places):
                    self._note(section)

    def _number_of(self, found: Candidate) -> int:
        """Return the number of the place of a counterexample, which steps may have made smaller."""
        values = found.recipe["values"]
        return next(
            place.number
            for place in self._places
            if place.kind == found.kind
            and all(values[name] == size for name, size in place.sizes.items())
        )

    def _judged(self, candidate: Candidate) -> Confirmed:
        return self.sought.judged(candidate.kind, candidate.recipe, candidate.margin)

    def _note(self, section: Section) -> None:
        """Keep what was met in a section."""
        met, where = section.met, section.where
        if section.smallest is not None:
            self._smallest = section.smallest
            self._places = self._places[: self._number_of(self._smallest)]
        self._unconfirmed = self._unconfirmed or section.unconfirmed
        counts = met.counts
        effort = Effort(
            met.kind,
            where,
            counts.total(),
            counts.total() - counts[OUT_OF_SCOPE] - counts[NO_INSTANCE],
            counts[VIOLATED],
            counts[UNDECIDED],
            counts[NO_INSTANCE],
        )
        key = (met.kind, where)
        self._efforts[key] = self._efforts.get(key, replace(NOTHING, kind=met.kind, where=where))
        self._efforts[key] += effort + section.closer
        lowest = sorted(met.violated.values(), key=lambda entry: entry[0])[:_WORST]
        self._worst += [Candidate(met.kind, recipe, margin) for margin, recipe in lowest]

    def found(self, ended: str) -> Found:
        """Return what was found; after an interruption, without the rate of the worst."""
        with one_thread():
            found = self._confirmed_worst()
            worst = None if found is None else self._described(*found)
            smallest = self._smallest_described()
            if worst is not None and worst.kind == "seeded":
                stopped = ended in ("interrupted", "terminated")
                worst = worst if stopped else self._with_rate(worst)
            kept = self._unconfirmed
            judged = None if kept is None else kept[1]
            unconfirmed = None if kept is None else self._described(*kept)
        sought = self.sought
        return Found(
            theorem=sought.theorem.address,
            claim=sought.claim.id,
            statement=sought.claim.statement,
            without=sought.without,
            scope=tuple(a.id for a in sought.theorem.scope(sought.claim, sought.without)),
            universal=sought.universal,
            seed=self.root_seed,
            efforts=tuple(self._efforts.values()),
            smallest=smallest,
            worst=worst,
            unconfirmed=unconfirmed,
            why="" if judged is None else judged.reason,
            contradicted=judged is not None and judged.contradicted,
            ended=ended,
        )

    def _confirmed_worst(self) -> tuple[Candidate, Confirmed] | None:
        """Return the violation of the lowest margin that counts: confirmed over the rationals,
        where the claim has an exact form.

        Of equal margins the drawn one is the worst: it has a rate.
        """

        def margin(candidate: Candidate) -> tuple[float, bool]:
            return candidate.margin, candidate.kind != "seeded"

        for candidate in sorted(self._worst, key=margin):
            judged = self._judged(candidate)
            if judged.outcome != "undecided":
                return candidate, judged
            self._unconfirmed = self._unconfirmed or (candidate, judged)
            if candidate.kind == "seeded":
                key = (candidate.kind, WHERE)
                self._efforts[key] += replace(NOTHING, kind=key[0], where=WHERE, unconfirmed=1)
        return None

    def _described(self, candidate: Candidate, judged: Confirmed) -> Counterexample:
        """Return a candidate as it is told.   judged: what exact arithmetic said of it."""
        kind, recipe, margin = candidate.kind, candidate.recipe, candidate.margin
        return self.sought.described(kind, recipe, margin, self.root_seed, judged)

    def _smallest_described(self) -> Counterexample | None:
        """Return the smallest counterexample as it is told. It was confirmed, and is again."""
        if self._smallest is None:
            return None
        judged = self._judged(self._smallest)
        if judged.outcome == "undecided":
            recipe, first = self._smallest.recipe, "that it is violated"
            raise self.sought.not_deterministic(recipe, first, judged.reason)
        return self._described(self._smallest, judged)

    def _with_rate(self, example: Counterexample) -> Counterexample:
        rate = rate_at(self.sought, example.recipe["point"], self.root_seed)
        told = None if rate is None else rate.to_json()
        return replace(example, severity={**example.severity, "rate": told})


def _order(section: Section) -> float:
    """Return when a section's turn is, one by one."""
    return math.inf if section.place is None else section.place.number
