"""Finding theorems: in a module of an installed package, or in a user's Python file."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from verify.errors import InputError, TheoremError
from verify.theorem import Theorem


def load_file(path: str | Path) -> Theorem:
    """Return the theorem in a Python file; its address becomes the path as given.

    The file is run. Raises InputError if it is not there, TheoremError if it fails to run or
    does not hold exactly one Theorem.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"no file {str(path)!r}; give the path of a Python file with a Theorem")
    theorem = _only_theorem(_run(file.resolve()), str(path))
    return replace(theorem, origin=f"file:{file.resolve()}\n{file.as_posix()}")


def load_module(name: str) -> Theorem:
    """Return the theorem in the module `name`, which holds exactly one."""
    return replace(_only_theorem(importlib.import_module(name), name), origin=f"module:{name}")


@lru_cache(maxsize=64)
def load_origin(origin: str) -> Theorem:
    """Return the theorem that `Theorem.origin` names; used by worker processes."""
    kind, _, place = origin.partition(":")
    if kind == "module":
        return load_module(place)
    path, _, _ = place.partition("\n")
    return replace(load_file(path), origin=origin)


def source_digest(theorem: Theorem) -> str:
    """Return a digest of everything that decides what a record holds.

    The sources of this library and, for a theorem from a file, that file; for one from a
    module, its package. A changed definition so gets new records, never old ones.
    """
    roots = [Path(__file__).parent]
    kind, _, place = (theorem.origin or "").partition(":")
    if kind == "file":
        roots.append(Path(place.partition("\n")[0]))
    elif kind == "module":
        top = sys.modules[place.partition(".")[0]]
        roots.append(Path(top.__path__[0]))
    digest = hashlib.sha256()
    for root in roots:
        for file in [root] if root.is_file() else sorted(root.rglob("*.py")):
            digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _run(file: Path) -> ModuleType:
    name = f"_theorem_file_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError(f"{file} is not a Python file; give it the ending .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as reason:
        del sys.modules[name]
        if isinstance(reason, TheoremError):
            raise
        raise TheoremError(
            f"{file}{_line_in(file, reason)} raised {type(reason).__name__}: {reason}"
        ) from reason
    return module


def _line_in(file: Path, reason: BaseException) -> str:
    """Return ":line" of the last frame of an exception that lies in `file`."""
    line = getattr(reason, "lineno", None) if isinstance(reason, SyntaxError) else None
    trace = reason.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(file):
            line = trace.tb_lineno
        trace = trace.tb_next
    return f":{line}" if line else ""


def _only_theorem(module: ModuleType, where: str) -> Theorem:
    found = list(
        {id(value): value for value in vars(module).values() if isinstance(value, Theorem)}.values()
    )
    if len(found) != 1:
        raise TheoremError(
            f"{where} holds {len(found)} theorems, expected one: end the file with "
            "`theorem = Theorem(...)`"
        )
    return found[0]
