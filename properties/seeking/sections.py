"""Sections of a search: one size of small problems, or the structured ensembles. Each has words of
its own, which decide what is met, so that it does not matter where and in what order they are
searched."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from properties.seeking.explore import Met
from properties.seeking.found import NOTHING, Effort
from properties.seeking.smallest import (
    STARTS,
    Candidate,
    Place,
    by_simplicity,
    places,
    search_place,
    simplest,
)
from properties.seeking.sought import Sought
from properties.seeking.watch import Watch
from properties.seeking.worst import WHERE, search_structured
from verify.confirm import Confirmed
from verify.engine.executors import AnyExecutor, map_unordered, one_thread
from verify.loading import load_origin
from verify.theorem import Theorem


@dataclass
class Section:
    """What a section has met so far.

    place: None for the structured ensembles.   closer: what exact arithmetic added to what was
    met.   smallest: the simplest counterexample.   unconfirmed: the first violation that exact
    arithmetic does not confirm, and what it says.
    """

    place: Place | None
    met: Met = field(init=False)
    closer: Effort = field(init=False)
    smallest: Candidate | None = None
    unconfirmed: tuple[Candidate, Confirmed] | None = None

    def __post_init__(self) -> None:
        kind = "seeded" if self.place is None else self.place.kind
        self.met = Met(kind)
        self.closer = replace(NOTHING, kind=kind, where=self.where)

    @property
    def where(self) -> str:
        """The section in words."""
        return WHERE if self.place is None else self.place.where


def search_section(
    sought: Sought, section: Section, examples: int, root_seed: int, number: int, watch: Watch
) -> None:
    """Look at `examples` instances and confirm what is met.   number: of the pass, from 0."""
    words = (root_seed, sought.theorem.id, sought.claim.id, *sought.without, f"pass {number}")
    if section.place is None:
        start = (root_seed + 7919 * number) % 2**32
        search_structured(sought, section.met, examples, start, words, watch)
        return
    search_place(sought, section.place, section.met, examples, words, watch)
    with one_thread():
        _look_closely(sought, section, section.place, watch)


def _look_closely(sought: Sought, section: Section, place: Place, watch: Watch) -> None:
    """Confirm what was met in a place, and simplify it."""
    confirmed: list[Candidate] = []
    unconfirmed = settled = 0
    for candidate in by_simplicity(place, section.met):
        if watch.over() or len(confirmed) == STARTS:
            break
        judged = sought.judged(candidate.kind, candidate.recipe, candidate.margin)
        certain = judged.outcome == "no exact form" and candidate.decided
        settled += not candidate.decided and judged.outcome == "exact"
        if judged.outcome == "exact" or certain:
            confirmed.append(candidate)
            section.smallest = section.smallest or candidate
        elif judged.outcome == "undecided" and candidate.decided:
            unconfirmed += 1
            section.unconfirmed = section.unconfirmed or (candidate, judged)
        else:
            settled += judged.contradicted
    if confirmed:
        section.smallest = simplest(sought, place, confirmed, watch)
    section.closer = replace(section.closer, unconfirmed=unconfirmed, settled=settled)


@dataclass(frozen=True)
class _Task:
    """A section for another process.

    theorem: None where it is loaded from its origin.   place: its number, None for the structured
    ensembles.
    """

    theorem: Theorem | None
    origin: str
    claim: str
    without: tuple[str, ...]
    place: int | None
    examples: int
    root_seed: int
    number: int


def search_elsewhere(
    sought: Sought,
    wanted: Sequence[Place],
    executor: AnyExecutor,
    examples: int,
    root_seed: int,
    number: int,
    watch: Watch,
) -> Generator[Section]:
    """Yield sections as they are searched: the structured ensembles, and every place up to the
    first that has a counterexample, perhaps more."""
    theorem = sought.theorem
    sent, origin = (None, theorem.origin) if theorem.origin else (theorem, "")
    tasks = [
        _Task(sent, origin, sought.claim.id, sought.without, place, examples, root_seed, number)
        for place in (None, *(one.number for one in wanted))  # the longest first
    ]
    left = {task.place for task in tasks}
    by_number = {place.number: place for place in wanted}
    with closing(map_unordered(executor, _searched, tasks)) as results:
        for task, section in results:
            if task.place is not None:
                section.place = by_number[task.place]
            watch.where = section.where
            watch.count(section.met.counts.total())
            yield section
            left.discard(task.place)
            if task.place is not None and section.smallest is not None:
                left = {place for place in left if place is None or place < task.place}
            if not left:
                return


def _searched(task: _Task) -> Section:
    """Search a section, in any process; the place is left out: its family may have lambdas."""
    theorem = task.theorem if task.theorem is not None else load_origin(task.origin)
    sought = Sought(theorem, theorem.claim(task.claim), task.without)
    section = Section(None if task.place is None else places(sought)[task.place])
    search_section(sought, section, task.examples, task.root_seed, task.number, Watch())
    section.place = None
    return section
