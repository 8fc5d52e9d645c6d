"""`relu-verify new`: a complete theorem in a file, to start from."""

from __future__ import annotations

import importlib.util
import keyword
import os
import shlex
import sys
from pathlib import Path

from verify.errors import InputError
from verify.writing import write_text

TEMPLATES = Path(__file__).parent / "theorem_templates"
PLAIN = "deviations"
"""The template that asks for no knowledge of `verify.relu`."""

_PLACEHOLDER = "my_theorem"
"""What the templates call themselves: the file's name and the theorem's id."""

_SPECIAL = {"conftest", "sitecustomize", "usercustomize"}


def write_new(name: str, kind: str = PLAIN, force: bool = False) -> Path:
    """Write a theorem to start from, and return its file: `name`, with .py if that is missing.

    kind: a template, by the name of its file.   force: replace a file that is there.
    Raises InputError for a name that cannot be imported or would hide a module, and for a file
    that is there or cannot be written.
    """
    if not os.path.basename(name.removesuffix(".py")):
        where = os.path.join(os.path.dirname(name), _PLACEHOLDER)
        raise InputError(f"NAME={name!r} names no file, expected the name of one; try {where!r}")
    file = Path(name if name.endswith(".py") else f"{name}.py")
    _require_usable(file)
    if file.is_symlink() and not file.exists():
        raise InputError(
            f"{file} is a link to {os.readlink(file)!r}, which is not there; remove the link, or "
            "choose another name"
        )
    template = (TEMPLATES / f"{kind}.py").read_text(encoding="utf-8")
    text = template.replace(_PLACEHOLDER, file.stem)
    if file.is_file() and not force:
        raise InputError(f"{file} is there already; choose another name, or add --force")
    write_text(file, text)
    return file


def next_commands(file: Path) -> str:
    """Return what to type next, one command a line, with what each does."""
    path = shlex.quote(file.as_posix())
    commands = (
        (f"relu-verify run {path}", "verify it: one line a claim, and a report"),
        (f"relu-verify explain {path}", "what it says, claim by claim"),
        (f"pytest --theorem {path}", "the same as tests, for your own suite"),
    )
    width = max(len(command) for command, _ in commands)
    lines = [f"  {command:<{width}}  # {meaning}" for command, meaning in commands]
    return "\n".join([f"{file} is written, and runs as it is. Next:", *lines])


def _require_usable(file: Path) -> None:
    """Raise InputError unless the file's name is one that Python can import and nobody has."""
    stem = file.stem
    if not stem.isidentifier() or keyword.iskeyword(stem):
        raise InputError(
            f"NAME={stem!r}, expected a name as Python has them, letters, digits and _ without a "
            f"digit in front; try {_tamed(stem)!r}"
        )
    if stem in _SPECIAL or (stem.startswith("__") and stem.endswith("__")):
        raise InputError(
            f"NAME={stem!r} is the name of a file that Python or pytest runs on its own; try "
            f"'{stem.strip('_') or 'my'}_theorem'"
        )
    if stem in sys.stdlib_module_names or _is_a_module_elsewhere(file):
        raise InputError(
            f"NAME={stem!r} is a Python module already, which the file would hide from others in "
            f"its folder; try '{stem}_theorem'"
        )


def _tamed(stem: str) -> str:
    """Return an identifier like `stem`."""
    letters = "".join(letter if letter.isalnum() else "_" for letter in stem).strip("_")
    tame = letters if letters.isidentifier() else f"theorem_{letters}".rstrip("_")
    return f"{tame}_theorem" if keyword.iskeyword(tame) else tame


def _is_a_module_elsewhere(file: Path) -> bool:
    """Say whether `import NAME` finds an installed module: one that lies in another folder."""
    found = importlib.util.find_spec(file.stem)
    origin = found.origin if found is not None else None
    folder = file.parent.resolve()
    return origin is not None and folder not in Path(os.path.realpath(origin)).parents
