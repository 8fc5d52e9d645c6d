"""`relu-verify pin`: a counterexample that the property suite replays for ever."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reports.characters import one_line
from reports.terminal import stdout_kept

if TYPE_CHECKING:
    from verify.counterexample import Counterexample
    from verify.theorem import Theorem


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    default=None,
    help="The folder of pinned counterexamples.  [default: F.pinned/ beside a theorem's file F.py, "
    "pinned/ for a built-in theorem]",
)
@click.option("--list", "listing", is_flag=True, help="List what is pinned there.")
@click.option("--remove", is_flag=True, help="Pin it no more: delete the file of its name there.")
def pin(file: Path | None, into: Path | None, listing: bool, remove: bool) -> int:
    """Make the property suite replay a stored counterexample for ever.

    FILE is a counterexample's record, as `run`, `search` and `ablate` write it. With --list it may
    be a theorem's file too, or be left out. `pytest --theorem THEOREM` then has a test
    `claim[pinned NAME]`, which replays it, exactly where it is exact.

    A counterexample to a universal claim in its own scope must not violate the claim any more: the
    test fails as long as the claim is refuted by it, and guards the correction. One to a control,
    or found without an assumption, must still violate its claim: the test fails when the boundary
    of the theorem has moved.

    Exit code 0; 2 for a file that is no counterexample or cannot be pinned.
    """
    from verify.errors import InputError

    if listing and remove:
        raise InputError("--list and --remove were both given, expected one of them")
    if file is None and not listing:
        raise InputError("no FILE was given; give the record of a counterexample, or --list")
    with stdout_kept() as stdout:
        if listing:
            lines = _listed(_folder(file, into))
        elif remove:
            lines = _removed(_existing(file), into)
        else:
            lines = _pinned(_existing(file), into)
        for line in lines:
            click.echo(one_line(line), file=stdout)
    return 0


def _existing(file: Path | None) -> Path:
    assert file is not None
    return file


def _folder(file: Path | None, into: Path | None) -> Path:
    """Return the folder of pins: of --into, a theorem's file, a counterexample, or a folder."""
    from properties.catalogue import find_theorem
    from properties.pinned import folder_of

    if into is not None or file is None:
        return into or Path("pinned")
    if file.is_dir():
        return file
    if file.suffix == ".py":
        return folder_of(find_theorem(str(file)))
    return folder_of(_read(file)[1])


def _read(file: Path) -> tuple[Counterexample, Theorem]:
    from reports.counterexamples.publish import theorem_of
    from verify.counterexample import read

    example = read(file)
    return example, theorem_of(example)


def _pinned(file: Path, into: Path | None) -> list[str]:
    """Copy a counterexample to where the suite replays it; say what its test asks for."""
    from properties.pinned import folder_of, must_violate, outcome
    from verify.errors import InputError
    from verify.writing import require_writable, write_text

    example, theorem = _read(file)
    target = (into or folder_of(theorem)) / f"{_name(file, example)}.json"
    text = file.read_text(encoding="utf-8")
    require_writable(target)
    must = must_violate(theorem, example)
    found, why = outcome(theorem, example)
    if must and found != "violated":
        raise InputError(
            f"{file} is {found} today ({why}), and must violate its claim to be pinned; search "
            "again"
        )
    if found == "violated":
        _require_as_recorded(file, theorem, example)
    if target.exists() and target.read_text(encoding="utf-8") != text:
        raise InputError(
            f"{target} exists and is another counterexample; rename FILE, or take that one out "
            "with --remove"
        )
    write_text(target, text)
    option = "" if into is None else f" --theorem-pinned {shlex.quote(str(into))}"
    test = f"{example.claim}[pinned {target.stem}]"
    return [
        f"Pinned: {target}",
        f"  {test} of: pytest --theorem {shlex.quote(theorem.address)}{option}",
        f"  It {_asked(theorem, example, must)}",
        f"  Today it is {found}: {why}.",
    ]


def _require_as_recorded(file: Path, theorem: Theorem, example: Counterexample) -> None:
    """Raise InputError unless today's numbers are those of the record, as `replay --exact` says."""
    from reports.counterexamples.compare import compared
    from verify.confirm import confirm
    from verify.errors import InputError

    other = compared(theorem, example, confirm(theorem, example)).other
    if other:
        more = f", and {len(other) - 1} more" if len(other) > 1 else ""
        raise InputError(
            f"{file}: what is recorded differs from what comes out today ({other[0]}{more}): the "
            "file, the theorem or the library has changed since; search again"
        )


def _name(file: Path, example: Counterexample) -> str:
    """Return a pin's name: the file's, or the claim's where that says nothing."""
    if file.stem not in ("smallest", "worst"):
        return file.stem
    return "-".join([example.claim, *(f"without-{name}" for name in example.without), file.stem])


def _asked(theorem: Theorem, example: Counterexample, must: bool) -> str:
    if not must:
        return (
            "must not violate the claim any more: the test fails as long as the claim is refuted "
            "by it."
        )
    why = f"without {', '.join(example.without)}" if example.without else "which is a control"
    return f"must still violate the claim, {why}: the test fails if it does not."


def _removed(file: Path, into: Path | None) -> list[str]:
    """Delete a pin: FILE itself, if it lies in a folder of pins, or what was pinned from it."""
    from verify.errors import InputError

    example, _ = _read(file)
    folder = _folder(file, into)
    target = folder / f"{_name(file, example)}.json"
    if file.resolve().parent == folder.resolve():
        target = file
    if not target.is_file():
        raise InputError(f"{target} is not there: nothing of that name is pinned (see --list)")
    target.unlink()
    return [f"Pinned no more: {target}"]


def _listed(folder: Path) -> list[str]:
    """Return a line for each file in a folder of pins."""
    from properties.pinned import pins_in
    from verify.counterexample import read
    from verify.errors import InputError

    files = pins_in(folder)
    lines = []
    for file in files:
        try:
            example = read(file)
        except InputError as reason:
            lines.append(f"{file.stem}: unreadable: {reason}")
            continue
        without = f" without {', '.join(example.without)}" if example.without else ""
        place = f"{example.theorem}: {example.claim}{without}"
        lines.append(f"{file.stem}: {place} ({example.evidence})")
    return lines or [f"Nothing is pinned in {folder}."]
