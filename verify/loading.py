"""Finding theorems: in a module of an installed package, or in a user's Python file."""

from __future__ import annotations

import ast
import hashlib
import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import RLock
from types import ModuleType

from verify.blame import line_in
from verify.errors import InputError, ReluVerifyError, TheoremError
from verify.provided import Sources, place_of
from verify.theorem import Theorem, file_origin, paths_of

_loaded: dict[Path, tuple[Theorem, Sources]] = {}
"""What `load_file` has run, so that a file is run once as long as it stays the same."""

_loading = RLock()


def load_file(path: str | Path) -> Theorem:
    """Return the theorem in a Python file; its address becomes the path as given.

    The file is run with its own folder to import from, as `python path` would (but only while
    it runs: imports belong at its top), and what it prints goes to stderr. Raises InputError if
    it is not there, TheoremError if it fails to run or does not hold exactly one Theorem.
    """
    file = Path(path).resolve()
    place = place_of(file)
    if not place.is_file():
        raise InputError(f"no file {str(path)!r}; give the path of a Python file with a Theorem")
    if file.suffix != ".py":
        raise InputError(f"{path} is not a Python file; give it the ending .py")
    with _loading:
        files = {one: one.read_bytes() for one in _with_siblings(place)}
        source = _digest(files)
        theorem, _ = _loaded.get(file, (None, {}))
        if theorem is None or theorem.source != source:
            module = _run(file, place)
            try:
                theorem = replace(_only_theorem(module, str(path)), source=source)
            except TheoremError:
                del sys.modules[module.__name__]
                raise
            parts = {one.relative_to(place.parent).as_posix(): files[one] for one in files}
            _loaded[file] = theorem, parts
    return replace(theorem, origin=file_origin(file, Path(path).as_posix()))


def loaded_files() -> dict[str, Sources]:
    """Return what the theorem files held that this process has loaded, by their absolute paths."""
    with _loading:
        return {str(file): sources for file, (_, sources) in _loaded.items()}


def load_module(name: str) -> Theorem:
    """Return the theorem in the module `name`, which holds exactly one."""
    theorem = _only_theorem(importlib.import_module(name), name)
    return replace(theorem, origin=f"module:{name}", source=package_digest(name.partition(".")[0]))


def load_origin(origin: str) -> Theorem:
    """Return the theorem that `Theorem.origin` names; used by worker processes."""
    kind, _, place = origin.partition(":")
    if kind == "module":
        return load_module(place)
    return replace(load_file(paths_of(origin)[0]), origin=origin)


def source_digest(theorem: Theorem) -> str:
    """Return a digest of everything that decides what a record holds.

    The sources of this library and, for a theorem from a file, that file with the files of its
    folder that it imports, as they were when it was loaded; for one from a module, its package.
    A changed definition so gets new records, never old ones.
    """
    return hashlib.sha256(f"{package_digest('verify')}\n{theorem.source}".encode()).hexdigest()


@cache
def package_digest(name: str) -> str:
    """Return a digest of the sources of an imported top-level package or module."""
    module = sys.modules[name]
    folders = [Path(folder) for folder in getattr(module, "__path__", ())]
    files = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    return _digest({file: file.read_bytes() for file in files or [Path(module.__file__ or "")]})


def _digest(files: Mapping[Path, bytes]) -> str:
    digest = hashlib.sha256()
    for file, content in files.items():
        digest.update(os.fsencode(f"{file.name} {len(content)}\n") + content)
    return digest.hexdigest()


def _with_siblings(file: Path) -> list[Path]:
    """Return a file and the files of its folder that it imports, directly or not."""
    found, ahead = [file], [file]
    while ahead:
        for sibling in _imported_siblings(ahead.pop(), file.parent):
            if sibling not in found:
                found.append(sibling)
                ahead.append(sibling)
    return [file, *sorted(found[1:])]


def _imported_siblings(file: Path, folder: Path) -> Iterator[Path]:
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return  # running it says so better
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        for top in {name.partition(".")[0] for name in names}:
            if (folder / f"{top}.py").is_file():
                yield folder / f"{top}.py"
            elif top and (folder / top / "__init__.py").is_file():
                yield from sorted((folder / top).rglob("*.py"))


def _run(file: Path, place: Path) -> ModuleType:
    """Run a file as a module.   place: where its content is (`provided.place_of`)."""
    name = f"_theorem_file_{hashlib.sha256(os.fsencode(file)).hexdigest()[:12]}"
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = str(file)
    try:
        # Compiled here and not by importlib, whose .pyc of a file edited twice a second is stale.
        with _importable(place.parent), redirect_stdout(sys.stderr):
            code = compile(place.read_bytes(), str(file), "exec", dont_inherit=True)
            exec(code, vars(module))
    except BaseException as reason:
        del sys.modules[name]
        if not isinstance(reason, Exception | SystemExit):
            raise
        line = line_in(str(file), reason)
        where = f"{file}:{line}" if line else f"{file}"
        if isinstance(reason, ReluVerifyError):
            raise TheoremError(f"{where}: {reason}") from reason
        said = reason.msg if isinstance(reason, SyntaxError) else reason
        raise TheoremError(f"{where} raised {type(reason).__name__}: {said}") from reason
    return module


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let a file import from its folder while it runs, and forget afterwards what it did import:
    the next file may have other modules of these names."""
    if str(folder) in sys.path:
        yield
        return
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        new = set(sys.modules) - before
        tops = {name.partition(".")[0] for name in new} - before
        own = {top for top in tops if _lies_in(folder, sys.modules.get(top))}
        for name in new:
            if name.partition(".")[0] in own:
                del sys.modules[name]


def _lies_in(folder: Path, module: ModuleType | None) -> bool:
    """Say whether a top-level module is a file of `folder`, or a package in it."""
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    return any(folder in (Path(p).parent, Path(p).parent.parent) for p in places if p)


def _only_theorem(module: ModuleType, where: str) -> Theorem:
    named = {n: value for n, value in vars(module).items() if isinstance(value, Theorem)}
    found = {id(value): value for value in named.values()}
    if not found:
        raise TheoremError(
            f"{where} holds 0 theorems, expected one: end the file with `theorem = Theorem(...)`, "
            "or start from the one that `relu-verify new NAME` writes"
        )
    if len(found) > 1:
        raise TheoremError(
            f"{where} holds {len(found)} theorems ({', '.join(named)}), expected one: move the "
            "others to files of their own, or `del` what was only a step on the way"
        )
    return next(iter(found.values()))
