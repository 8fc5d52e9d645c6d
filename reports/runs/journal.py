"""What a run's folder remembers of its runs: what each was asked, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from properties.catalogue import MODULES, find_theorem
from reports.runs.running import STORE_NAME, Settings, require_usable
from reports.runs.summary import versions
from verify.arrays import backend as open_backend
from verify.counterexample import file_of
from verify.engine.shards import Shard
from verify.engine.store import Store, StoredRun
from verify.errors import InputError, ReluVerifyError, StoreError
from verify.loading import load_origin, source_digest
from verify.theorem import Theorem, file_origin


@dataclass(frozen=True)
class Place:
    """A theorem that a run was about: how commands name it, and its file ("": built in).

    source, everything: digests of its own source, and of that with this library's.
    """

    address: str
    file: str
    source: str
    everything: str

    @staticmethod
    def of(theorem: Theorem) -> Place:
        """Return where a loaded theorem is found again."""
        digest = source_digest(theorem)
        return Place(theorem.address, file_of(theorem), theorem.source, digest)

    def load(self) -> Theorem:
        """Return the theorem as it is today, under the address that it had.

        Raises InputError where it cannot be found, TheoremError where it cannot be run.
        """
        if self.file:
            return load_origin(file_origin(self.file, self.address))
        if self.address not in MODULES:
            raise InputError(f"theorem {self.address!r} is not built in (any more)")
        return find_theorem(self.address)


@dataclass(frozen=True)
class Run:
    """A run of a folder. started: ISO 8601, UTC.   backend_version: of its array library.

    versions: what results depend on, as report.json has them.   outcome: None for a run that was
    not finished, else the report's created, wall_time_s (seconds), exit_code and sentence, and
    computed_s, the seconds of workers that it took (older runs: none).
    """

    number: int
    theorems: tuple[Place, ...]
    settings: Settings
    command: str
    started: str
    backend_version: str
    versions: Mapping[str, str]
    outcome: Mapping[str, Any] | None


def replaced(folder: Path, theorems: Sequence[Theorem]) -> tuple[str, ...]:
    """Return the files of other theorems that the report in a folder is about.

    They are named by the latest run that was finished there; none where that cannot be told.
    """
    if not ((folder / "report.json").is_file() and (folder / STORE_NAME).is_file()):
        return ()
    try:
        with Store(folder / STORE_NAME) as store:
            finished = [run for run in runs_of(store) if run.outcome]
    except StoreError:  # said by whatever uses the records
        return ()
    mine = {file_of(theorem) for theorem in theorems}
    last = finished[-1].theorems if finished else ()
    return tuple(place.file for place in last if place.file and place.file not in mine)


def begin(folder: Path, theorems: Sequence[Theorem], settings: Settings, command: str) -> int:
    """Remember that a run begins, and return its number, from 1.

    Raises InputError or BackendUnavailable for settings with which nothing can be run.
    """
    require_usable(settings, folder)
    asked = {
        "theorems": [asdict(Place.of(theorem)) for theorem in theorems],
        "settings": {
            **asdict(settings),
            "shard": None if settings.shard is None else str(settings.shard),
        },
        "command": command,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "backend_version": open_backend(settings.backend).version,
        "versions": versions(),
    }
    with Store(folder / STORE_NAME) as store:
        return store.begin(asked)


_KEPT = {"created": str, "wall_time_s": float, "exit_code": int, "sentence": str}
"""What is kept of a report, with the type of each entry."""


def finish(folder: Path, number: int, report: Mapping[str, Any]) -> None:
    """Remember that a run was finished, with this report."""
    with Store(folder / STORE_NAME) as store:
        kept = {name: report[name] for name in _KEPT}
        store.finish(number, {**kept, "computed_s": report["computing"]["now_s"]})


def open_store(folder: Path) -> Store:
    """Open the records of a run's folder to read them; it need not be writable.

    Raises InputError where there are none, StoreError where they cannot be used.
    """
    if not folder.exists():
        raise InputError(f"no file or folder {str(folder)!r}; give the folder of a run")
    if not (folder / STORE_NAME).is_file():
        raise InputError(
            f"{folder} holds no {STORE_NAME}; give the folder of a run (`relu-verify run --out "
            "DIR` makes one), or a report.json"
        )
    try:
        return Store(folder / STORE_NAME, reading=True)
    except StoreError as reason:
        written = folder / "report.json"
        if not written.is_file():
            raise
        raise StoreError(
            f"{reason}, or show what the run wrote: relu-verify report {written}"
        ) from reason


def runs_of(store: Store) -> tuple[Run, ...]:
    """Return the runs of a folder, oldest first. Raises StoreError for what is no run of ours."""
    return tuple(_run(stored, store.path) for stored in store.runs())


def chosen(runs: Sequence[Run], number: int | None, folder: Path) -> Run:
    """Return the run of that number, by default the latest that was finished, else the latest.

    Raises InputError where there is none.
    """
    if not runs:
        raise InputError(
            f"{folder} remembers no runs (any more); give the run's command again, which uses "
            "its records, or show what it wrote: relu-verify report "
            f"{folder / 'report.json'}"
        )
    if number is None:
        return next((run for run in reversed(runs) if run.outcome), runs[-1])
    for run in runs:
        if run.number == number:
            return run
    known = ", ".join(str(run.number) for run in runs)
    raise InputError(f"--run {number}: {folder} has runs {known} (see them with --list)")


def shard_in(folder: Path) -> Shard | None:
    """Return which shard of a run a folder holds, None if it holds none that can be read."""
    try:
        with open_store(folder) as store:
            runs = runs_of(store)
    except ReluVerifyError:
        return None
    return runs[-1].settings.shard if runs else None


def run_line(run: Run) -> str:
    """Return one line for a run: number, when, settings, theorems, what came of it."""
    came = run.outcome["sentence"] if run.outcome else "Not finished."
    names = ", ".join(place.address for place in run.theorems)
    settings = f"{run.settings.profile}, seed {run.settings.seed}, {run.settings.backend}"
    when = run.started.replace("T", " ").removesuffix("+00:00")
    return f"{run.number:>3}  {when}  {settings}  {names}  {came}"


def _run(stored: StoredRun, path: Path) -> Run:
    """Return a stored run. Raises StoreError unless it is written as `begin` and `finish` do."""
    asked, outcome = stored.asked, stored.outcome
    try:
        run = Run(
            number=stored.number,
            theorems=tuple(Place(**place) for place in asked["theorems"]),
            settings=_settings(asked["settings"]),
            command=asked["command"],
            started=asked["started"],
            backend_version=asked["backend_version"],
            versions=dict(asked["versions"]),
            outcome=outcome,
        )
        usable = _is_written_by_us(run)
    except (KeyError, TypeError, ValueError, AttributeError):
        usable = False
    if not usable:
        raise StoreError(
            f"{path}: run {stored.number} is not written as this version writes it; read it with "
            "the relu-verify that wrote it, or run again in another folder"
        )
    return run


def _settings(asked: Mapping[str, Any]) -> Settings:
    """Return stored settings; those of older runs name neither executor nor shard."""
    shard = asked.get("shard")
    return Settings(**{**asked, "shard": None if shard is None else Shard.parse(shard)})


def _is_written_by_us(run: Run) -> bool:
    """Whether every entry is of the type that it should be."""
    texts = [run.command, run.started, run.backend_version, *run.versions, *run.versions.values()]
    texts += [text for place in run.theorems for text in vars(place).values()]
    usual = {name: type(value) for name, value in vars(Settings()).items()}
    kinds: dict[str, Any] = {**usual, "executor": str | None, "shard": Shard | None}
    typed: list[tuple[Any, Any]] = [(text, str) for text in texts]
    typed += [(value, kinds[name]) for name, value in vars(run.settings).items()]
    if run.outcome is not None:
        typed += [(run.outcome[name], kind) for name, kind in _KEPT.items()]
        typed.append((run.outcome.get("computed_s"), float | None))
    return all(isinstance(value, kind) for value, kind in typed)
