"""Shards joined: the records of several folders in one, and the verdicts that follow from them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from properties.catalogue import MODULES
from reports.runs.damage import telling_damage
from reports.runs.hunting import computing, known_parts, parts, whole_hunts
from reports.runs.incomplete import Missing, incomplete
from reports.runs.journal import Run, open_store, runs_of
from reports.runs.rebuild import changes
from reports.runs.running import (
    STORE_NAME,
    Result,
    Settings,
    checked,
    file_counterexamples,
    result_of,
    stems_of,
)
from reports.runs.summary import summarise
from reports.text.counts import missing_words
from verify.engine.merging import Joined, join
from verify.engine.shards import owner
from verify.engine.store import RecordsMissing, Store
from verify.errors import InputError
from verify.theorem import Theorem


@dataclass(frozen=True)
class Shared:
    """What the runs of several folders have in common: theorems and settings, of no shard.

    counts: into how many shards the runs were split, for those that were.
    """

    theorems: tuple[Theorem, ...]
    settings: Settings
    counts: frozenset[int]

    def command(self, out: Path) -> str:
        """Return the command that computes in one run what the shards compute together."""
        names = [theorem.address for theorem in self.theorems]
        usual = Settings()
        options = [
            f"--{name}={getattr(self.settings, name)}"
            for name in ("profile", "seed", "backend", "confidence")
            if getattr(self.settings, name) != getattr(usual, name)
        ]
        everything = names == list(MODULES)
        words = ["relu-verify", "run", *([] if everything else names), *options, "--out", str(out)]
        return shlex.join(words)


@dataclass(frozen=True)
class Lack:
    """What is missing of a theorem: blocks and parts of searches, each with how many there are,
    and the shards, "i/k", whose they are."""

    theorem: Theorem
    blocks: tuple[int, int]
    parts: tuple[int, int]
    shards: tuple[str, ...]

    @property
    def words(self) -> str:
        """What is missing, and whose it is."""
        noun = "shard" if len(self.shards) == 1 else "shards"
        whose = f" ({noun} {', '.join(self.shards)})" if self.shards else ""
        return f"{missing_words(self.blocks, self.parts)}{whose}"

    @property
    def line(self) -> str:
        """The theorem, and what is missing of it."""
        return f"{self.theorem.address}: {self.words}"


def shared(folders: Sequence[Path]) -> Shared:
    """Return what the latest runs of some folders have in common.

    Raises InputError where they are of other theorems or settings, or were made by other versions,
    or where a theorem is not what it was; StoreError for records that cannot be used.
    """
    found: list[tuple[Path, Run]] = []
    for folder in folders:
        with open_store(folder) as store:
            runs = runs_of(store)
        if not runs:
            raise InputError(f"{folder} remembers no runs, so it is not known what its records are")
        found.append((folder, runs[-1]))
    first, run = found[0]
    decisive = _decisive(run)
    for folder, other in found[1:]:
        theirs = _decisive(other)
        both = [name for name in decisive if name in theirs]  # of two backends no version is both's
        odd = [name for name in both if decisive[name] != theirs[name]]
        if odd:
            told = "; ".join(f"{name}: {decisive[name]} and {theirs[name]}" for name in odd)
            raise InputError(
                f"{first} and {folder} hold parts of different runs ({told}), expected the same "
                "command but for --shard, --out, --jobs and --executor; leave one of the two out"
            )
    theorems = tuple(_theorem(run, number, found) for number in range(len(run.theorems)))
    shards = [each.settings.shard for _, each in found]
    return Shared(
        theorems,
        replace(run.settings, jobs=1, executor=None, shard=None),
        frozenset(shard.count for shard in shards if shard is not None),
    )


def _decisive(run: Run) -> dict[str, Any]:
    """Return all that decides a run's records, by what people call it."""
    settings, versions = run.settings, run.versions
    named = {place.address if not place.file else Path(place.file).name for place in run.theorems}
    return {
        "theorems": ", ".join(sorted(named)),
        **{name: getattr(settings, name) for name in ("profile", "seed", "backend", "confidence")},
        **{name: versions.get(name) for name in ("relu-verify", "numpy", "scipy", "hypothesis")},
        f"version of {settings.backend}": run.backend_version,
        "digest of the sources": ", ".join(place.everything[:12] for place in run.theorems),
    }


def _theorem(run: Run, number: int, found: Iterable[tuple[Path, Run]]) -> Theorem:
    """Return a theorem of the runs, from the first place where its file lies, or from where its
    path as given leads to here. Raises InputError where it is not what it was."""
    places = [each.theorems[number] for _, each in found]
    place = next((p for p in places if not p.file or Path(p.file).is_file()), places[0])
    here = Path(place.address)
    if place.file and not Path(place.file).is_file() and here.is_file():
        place = replace(place, file=str(here.resolve()))
    theorem = place.load()
    if changed := changes(theorem, place, run):
        raise InputError(
            f"theorem {theorem.address!r} cannot be told from these records, since "
            f"{', '.join(changed)}; merge them with what they were made with"
        )
    return theorem


def join_folders(folders: Sequence[Path], out: Path) -> Joined:
    """Add what some folders hold to the records of `out`, which may be one of them.

    Raises StoreError where they contradict each other; then nothing is added.
    """
    with ExitStack() as stack:
        target = stack.enter_context(telling_damage(Store(out / STORE_NAME)))
        others = [f for f in folders if f.resolve() != out.resolve()]
        sources = [stack.enter_context(telling_damage(open_store(f))) for f in others]
        return join(target, sources)


def lacking(common: Shared, out: Path) -> list[Lack]:
    """Return what the records of `out` lack for verdicts on the theorems."""
    with telling_damage(open_store(out)) as store:
        found = (_lack(theorem, common, store) for theorem in common.theorems)
        return [lack for lack in found if lack is not None]


def _lack(theorem: Theorem, common: Shared, store: Store) -> Lack | None:
    settings = common.settings
    wanted = parts(theorem, settings.profile, settings.seed)
    known = known_parts(wanted, store)
    keys = [(part.hash, part.number) for part in wanted if part not in known]
    absent, blocks, total = len(keys), 0, 0
    try:
        checked(theorem, settings, store, compute=False)
    except RecordsMissing as reason:
        blocks, total = reason.missing, reason.total
        keys += reason.keys
    if not keys:
        return None
    owners = {owner(*key, count) for count in common.counts for key in keys}
    names = [str(shard) for shard in sorted(owners, key=lambda shard: (shard.count, shard.index))]
    whose = tuple(names) if len(common.counts) == 1 else ()
    return Lack(theorem, (blocks, total), (absent, len(wanted)), whose)


def told_from_records(common: Shared, out: Path, lacks: Sequence[Lack] = ()) -> Iterator[Result]:
    """Yield each theorem's result, from the records of `out` alone, and file counterexamples.

    lacks: theorems that are left out.
    """
    settings, stems = common.settings, stems_of(common.theorems)
    left_out = {lack.theorem.address for lack in lacks}
    with open_store(out) as store:
        for theorem in common.theorems:
            if theorem.address in left_out:
                continue
            verdicts = checked(theorem, settings, store, compute=False)
            found = known_parts(parts(theorem, settings.profile, settings.seed), store)
            hunts = whole_hunts(theorem, found)
            stem, searching = stems[theorem.address], computing(found, store)
            result = result_of(theorem, verdicts, hunts, settings.seed, stem, searching)
            file_counterexamples(result, out, stem)
            yield result


def told_incomplete(
    common: Shared, lacks: Sequence[Lack], out: Path, command: str
) -> dict[str, Any]:
    """Return the report of the theorems that are complete, if any are, with what the others lack;
    file counterexamples.   command: what computes all of it."""
    results = tuple(told_from_records(common, out, lacks))
    report = summarise(results, common.settings, 0.0, command, out, pictures=False)
    missing = [Missing.of(lack.theorem, lack.words) for lack in lacks]
    return incomplete({**report, "wall_time_s": None}, missing)
