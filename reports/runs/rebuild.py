"""A run's report made again from its records: nothing is sampled and nothing is searched.

Verdicts are a function of the records, and hunts are kept whole. What is drawn and simulated
anew, from the same seeds, are single blocks: those that hold counterexamples, which files
describe, and those whose activation patterns are shown as pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.runs.damage import telling_damage
from reports.runs.hunting import computing, known_parts, parts, whole_hunts
from reports.runs.incomplete import Missing, incomplete
from reports.runs.journal import Place, Run, chosen, open_store, runs_of
from reports.runs.running import (
    Result,
    checked,
    file_counterexamples,
    require_usable,
    result_of,
    stems_of,
)
from reports.runs.summary import summarise, versions, write
from reports.text.counts import count_of, missing_words
from verify.arrays import backend as open_backend
from verify.engine.store import RecordsMissing, Store
from verify.errors import BackendUnavailable, ReluVerifyError, StoreError
from verify.loading import source_digest
from verify.theorem import Theorem


@dataclass(frozen=True)
class Rebuilt:
    """A run told again: its report (None if no theorem is complete) and what is missing.

    later: the number of a run begun after this one and not finished, or None.
    """

    run: Run
    folder: Path
    report: dict[str, Any] | None
    missing: tuple[Missing, ...]
    later: int | None
    results: tuple[Result, ...]
    stems: dict[str, str]


def rebuild(folder: Path, number: int | None = None, pictures: bool = True) -> Rebuilt:
    """Return the report of a run, by default the latest that was finished, from its records.

    The verdicts are those that the run gave. Writes nothing.   pictures: see `summarise`.
    Raises InputError where there are no records or no such run, BackendUnavailable where the
    run's array library is not to be had, StoreError for records that cannot be read.
    """
    with telling_damage(open_store(folder)) as store:
        runs = runs_of(store)
        run = chosen(runs, number, folder)
        _require_backend(run, folder)
        theorems: list[tuple[Place, Theorem]] = []
        missing: list[Missing] = []
        for place in run.theorems:
            try:
                theorems.append((place, place.load()))
            except ReluVerifyError as reason:
                missing.append(Missing(place.address, str(reason), changed=True))
        stems = stems_of([theorem for _, theorem in theorems])
        told = [_told(t, place, run, store, stems[t.address]) for place, t in theorems]
    results = tuple(entry for entry in told if isinstance(entry, Result))
    missing += [entry for entry in told if isinstance(entry, Missing)]
    later = runs[-1].number if runs[-1].number > run.number and not runs[-1].outcome else None
    report = _report(run, results, missing, folder, pictures) if results else None
    return Rebuilt(run, folder, report, tuple(missing), later, results, stems)


def restore(rebuilt: Rebuilt) -> None:
    """Write a rebuilt report and its counterexamples to the folder that they were told from, in
    place of what is there. Raises InputError where that cannot be."""
    for result in rebuilt.results:
        file_counterexamples(result, rebuilt.folder, rebuilt.stems[result.theorem.address])
    if rebuilt.report is not None:
        write(rebuilt.report, rebuilt.folder)


def told_to_ci(rebuilt: Rebuilt) -> dict[str, Any]:
    """Return the report, for a CI server also where no theorem is complete: then it tells what is
    missing and no verdict."""
    if rebuilt.report is not None:
        return rebuilt.report
    return _report(rebuilt.run, (), rebuilt.missing, rebuilt.folder, pictures=False)


def missing_lines(rebuilt: Rebuilt) -> list[str]:
    """Say which theorems are not complete, why, and what to type; nothing if all are."""
    lines = [f"{entry.theorem}: {entry.reason}" for entry in rebuilt.missing]
    if not lines:
        return []
    told = len(rebuilt.results)
    theorems = count_of(told + len(lines), "theorem")
    lines.insert(0, f"{told} of {theorems} can be told from the records.")
    if rebuilt.run.settings.shard is None or not rebuilt.run.outcome:
        lines.append(f"To compute what is missing: {rebuilt.run.command}")
    written = rebuilt.folder / "report.json"
    if any(entry.changed for entry in rebuilt.missing) and written.is_file():
        lines.append(f"To see what was reported then: relu-verify report {written}")
    return lines


def _require_backend(run: Run, folder: Path) -> None:
    """Raise InputError or BackendUnavailable where records of a run cannot be told here."""
    try:
        require_usable(run.settings, folder)
    except BackendUnavailable as reason:
        raise BackendUnavailable(
            f"run {run.number} was made with --backend {run.settings.backend}, without which its "
            f"records cannot be told ({reason}); what it wrote then can: relu-verify report "
            f"{folder / 'report.json'}"
        ) from reason


def _told(theorem: Theorem, place: Place, run: Run, store: Store, stem: str) -> Result | Missing:
    """Return a theorem's result from the records alone, or why there is none."""
    blocks, lost = (0, 0), 0
    try:
        wanted = parts(theorem, run.settings.profile, run.settings.seed)
        found = known_parts(wanted, store)
        try:
            verdicts = checked(theorem, run.settings, store, compute=False)
            if len(found) == len(wanted):
                hunts, searching = whole_hunts(theorem, found), computing(found, store)
                return result_of(theorem, verdicts, hunts, run.settings.seed, stem, searching)
        except RecordsMissing as reason:
            blocks, lost = (reason.missing, reason.total), reason.damaged
    except StoreError:
        raise
    except ReluVerifyError as reason:
        return Missing.of(theorem, str(reason), changed=True)
    what = missing_words(blocks, (len(wanted) - len(found), len(wanted)))
    if lost := lost + sum(store.has_lost_search(part.key) for part in wanted):
        what += f" ({lost} of them damaged)"
    changed = changes(theorem, place, run)
    if changed:
        return Missing.of(theorem, f"{what}, since {', '.join(changed)}", changed=True)
    if run.settings.shard is not None:
        why = f"since this is shard {run.settings.shard}: join all with relu-verify merge"
    elif lost:
        why = "since their checksums do not fit"
    else:
        why = "though the run was finished" if run.outcome else "since the run was not finished"
    return Missing.of(theorem, f"{what}, {why}")


def changes(theorem: Theorem, place: Place, run: Run) -> list[str]:
    """Say what of that which decides a theorem's records is not what it was."""
    now = versions()
    found = [
        f"{name} was {run.versions.get(name)} and is {now[name]} now"
        for name in ("relu-verify", "numpy", "scipy", "hypothesis")
        if run.versions.get(name) != now[name]
    ]
    if run.settings.backend.partition(":")[0] != "numpy":
        version = open_backend(run.settings.backend).version
        if version != run.backend_version:
            found.append(f"{run.settings.backend} was {run.backend_version} and is {version} now")
    if theorem.source != place.source:
        whose = "its file, or one that it imports," if place.file else "its source"
        found.append(f"{whose} has been edited")
    elif source_digest(theorem) != place.everything:
        found.append("the source of relu-verify has been edited")
    return found


def _report(
    run: Run, results: Sequence[Result], missing: Sequence[Missing], folder: Path, pictures: bool
) -> dict[str, Any]:
    """Return the report of the results, with the dates and versions of the run.

    Besides what every report has: `rebuilt_with`, today's versions where they are others, and
    `missing`, the theorems that are not in it.
    """
    outcome = run.outcome or {}
    seconds = float(outcome.get("wall_time_s", 0.0))
    created = str(outcome.get("created", ""))
    report = summarise(results, run.settings, seconds, run.command, folder, created, pictures)
    report["computing"]["now_s"] = outcome.get("computed_s")
    now = report["versions"]
    report["versions"] = dict(run.versions)
    if now != report["versions"]:
        report["rebuilt_with"] = now
    if not run.outcome:
        report["wall_time_s"] = None
    return incomplete(report, missing) if missing else report
