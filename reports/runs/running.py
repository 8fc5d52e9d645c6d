"""A whole run: check every theorem, hunt counterexamples, keep everything in one folder."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from properties.catalogue import MODULES, is_built_in
from properties.parts import Hunt
from properties.search import drawn, with_hunt
from reports.runs.damage import telling_damage
from reports.runs.hunting import made_parts, whole_hunts
from verify import counterexample
from verify.arrays import backend as open_backend
from verify.claims import Universal
from verify.computing import Computing
from verify.confirm import confirm
from verify.counterexample import Counterexample, file_of
from verify.engine.check import check
from verify.engine.executors import AnyExecutor, open_executor
from verify.engine.plan import profile_named, whole
from verify.engine.shards import Shard
from verify.engine.store import RecordsMissing, Store
from verify.errors import InputError
from verify.theorem import Theorem
from verify.verdict import Conclusion, Verdict, Verdicts

STORE_NAME = "records.sqlite"
COUNTEREXAMPLES = "counterexamples"

Progress = Callable[[str, int, int, str], None]
"""Called with (theorem, done, total, what was done last)."""


@dataclass(frozen=True)
class Settings:
    """What a run was asked for.

    executor: where its blocks run, as `verify.engine.executors.open_executor` takes it.
    confidence: over everything that the run states.   shard: the part of the run's work that is
    done, None for all of it.
    """

    profile: str = "quick"
    seed: int = 0
    jobs: int = 1
    backend: str = "numpy"
    confidence: float = 0.95
    executor: str | None = None
    shard: Shard | None = None


@dataclass(frozen=True)
class Filed:
    """A counterexample and the file in the run's folder that holds it.

    kind: "smallest" (shrunk), "worst" (lowest margin)."""

    kind: str
    file: str
    example: Counterexample


@dataclass(frozen=True)
class Result:
    """One theorem's verdicts, its counterexamples by claim id, and how long trials and searches
    took."""

    theorem: Theorem
    verdicts: Verdicts
    counterexamples: dict[str, tuple[Filed, ...]]
    computing: Computing = field(default_factory=Computing)


def error_share(theorem: Theorem, confidence: float) -> float:
    """Return the probability of error that a theorem's verdicts may use together.

    The built-in theorems share 1 − confidence evenly, whichever of them are run, so that one
    alone and all together give the same verdicts; each theorem of a user's own has it in full,
    on top (the report states the sum).
    """
    error = 1.0 - confidence
    return error / len(MODULES) if is_built_in(theorem) else error


def run(
    theorems: Sequence[Theorem],
    settings: Settings,
    folder: Path,
    progress: Progress | None = None,
) -> Iterator[Result]:
    """Check the theorems and hunt counterexamples; keep records and counterexamples in `folder`.

    Yields each theorem's result when it is complete. Running the same again goes on where an
    interrupted run stopped.
    """
    require_usable(settings, folder)
    stems = stems_of(theorems)
    with (
        telling_damage(Store(folder / STORE_NAME)) as store,
        open_executor(settings.executor, settings.jobs) as executor,
    ):
        for theorem in theorems:
            step = reporter(theorem, progress)
            verdicts = _verdicts(theorem, settings, store, executor, step)
            found, searching = made_parts(
                theorem, settings.profile, settings.seed, executor, store, step
            )
            hunts = whole_hunts(theorem, found)
            stem = stems[theorem.address]
            result = result_of(theorem, verdicts, hunts, settings.seed, stem, searching)
            file_counterexamples(result, folder, stem)
            yield result


def require_usable(settings: Settings, folder: Path) -> None:
    """Raise InputError or BackendUnavailable where a run could not begin."""
    if not 0 < settings.confidence < 1:
        raise InputError(f"confidence={settings.confidence}, expected between 0 and 1, e.g. 0.95")
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InputError(f"--out {folder} is a file, expected a folder (it is made if missing)")
    profile_named(settings.profile)
    whole("root_seed", settings.seed, 0)
    open_backend(settings.backend)


def _verdicts(
    theorem: Theorem,
    settings: Settings,
    store: Store,
    executor: AnyExecutor | None,
    step: Callable[[int, int, str], None] | None,
) -> Verdicts:
    """Return a theorem's verdicts, from the records alone where they are complete and the theorem
    is built in: one of a user's may read what is in no hash, a data file say."""
    if is_built_in(theorem):
        try:
            return checked(theorem, settings, store, compute=False)
        except RecordsMissing:
            pass
    return checked(theorem, settings, store, executor=executor, progress=step)


def checked(theorem: Theorem, settings: Settings, store: Store, **how: Any) -> Verdicts:
    """Return the verdicts that a run with these settings gives; how: see `check`."""
    return check(
        theorem,
        profile=settings.profile,
        confidence=1.0 - error_share(theorem, settings.confidence),
        root_seed=settings.seed,
        store=store,
        backend=settings.backend,
        **how,
    )


def reporter(theorem: Theorem, progress: Progress | None) -> Callable[[int, int, str], None] | None:
    if progress is None:
        return None
    return lambda done, total, what: progress(theorem.address, done, total, what)


def result_of(
    theorem: Theorem,
    verdicts: Verdicts,
    hunts: Mapping[str, Hunt],
    seed: int,
    stem: str,
    searching: Computing,
) -> Result:
    """Join verdicts and hunts, with counterexamples to whatever is refuted; write nothing.

    stem: how the names of the theorem's files begin (`stems_of`).   searching: how long the hunts
    took.
    """
    final, filed = [], {}
    for verdict in verdicts:
        found = hunts.get(verdict.claim)
        joined = verdict if found is None else with_hunt(verdict, found)
        if joined.verdict is Conclusion.REFUTED:
            joined, shown = _confirmed(theorem, joined, _filed(theorem, joined, found, seed, stem))
            if joined.verdict is Conclusion.REFUTED:
                filed[joined.claim] = shown
        final.append(joined)
    together = verdicts.computing + searching
    return Result(theorem, replace(verdicts, items=tuple(final)), filed, together)


def _confirmed(
    theorem: Theorem, verdict: Verdict, filed: tuple[Filed, ...]
) -> tuple[Verdict, tuple[Filed, ...]]:
    """Return a refuted verdict on a universal claim with its counterexamples decided over the
    rationals, where the theorem has an exact form; undecided if all of them are none there.

    Controls stay as they are: false as they are, they are refuted in floating point.
    """
    control = verdict.expected is Conclusion.REFUTED
    if control or not isinstance(theorem.claim(verdict.claim), Universal):
        return verdict, filed
    found = [(entry, confirm(theorem, entry.example)) for entry in filed]
    if found and all(confirmed.contradicted for _, confirmed in found):
        detail = f"{verdict.detail}; but exact arithmetic says of it: {found[0][1].reason}"
        return replace(verdict, verdict=Conclusion.UNDECIDED, detail=detail), ()
    return verdict, tuple(replace(entry, example=c.example) for entry, c in found)


def _filed(
    theorem: Theorem, verdict: Verdict, found: Hunt | None, seed: int, stem: str
) -> tuple[Filed, ...]:
    """Return the smallest and the worst counterexample to a claim."""
    claim = theorem.claim(verdict.claim)
    worst = [found.worst] if found is not None and found.worst is not None else []
    if verdict.instance is not None:
        worst.append(drawn(theorem, claim, verdict, seed))
    chosen: list[tuple[str, Counterexample]] = []
    if found is not None and found.smallest is not None:
        chosen.append(("smallest", found.smallest))
    if worst:
        chosen.append(("worst", min(worst, key=lambda example: example.margin)))
    filed = []
    for kind, example in chosen:
        # A stored hunt may have been made when the theorem's file lay elsewhere.
        here = replace(example, theorem=theorem.address, theorem_file=file_of(theorem))
        filed.append(Filed(kind, file_name(stem, verdict.claim, kind), here))
    return tuple(filed)


def file_counterexamples(result: Result, folder: Path, stem: str) -> None:
    """Write a theorem's counterexamples to a run's folder, in place of those that are there."""
    filed = [entry for entries in result.counterexamples.values() for entry in entries]
    for entry in filed:
        counterexample.write(entry.example, folder / entry.file)
    current = {entry.file for entry in filed}
    for verdict in result.verdicts:
        for kind in ("smallest", "worst"):
            name = file_name(stem, verdict.claim, kind)
            if name not in current and os.path.lexists(folder / name):
                (folder / name).unlink()


def stems_of(theorems: Sequence[Theorem]) -> dict[str, str]:
    """Return how the files of each theorem's counterexamples begin, by its address.

    That is the id, or the name of its file, with a digest of the path where it is another's too.
    """
    plain = {t.address: Path(t.address).stem if file_of(t) else t.id for t in theorems}
    count = Counter(stem.casefold() for stem in plain.values())
    return {
        t.address: f"{plain[t.address]}-{_digest(file_of(t))}"
        if file_of(t) and count[plain[t.address].casefold()] > 1
        else plain[t.address]
        for t in theorems
    }


def file_name(stem: str, claim: str, kind: str) -> str:
    """Return the place of a counterexample in the run's folder; any id makes a file name."""
    name = f"{stem}.{claim}"
    tame = os.fsencode(re.sub(r"[^\w.+ ()\[\]-]", "_", name))[:180].decode(errors="ignore")
    if tame != name:
        tame += f"-{_digest(name)}"
    return f"{COUNTEREXAMPLES}/{tame}.{kind}.json"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
