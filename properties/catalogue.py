"""The built-in theorems by id, and the one way from a name to a theorem."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from verify.errors import UnknownName
from verify.loading import load_file, load_module
from verify.theorem import Theorem

if TYPE_CHECKING:
    from verify.engine.plan import Entry

_NAMES = (
    "lai2026.gram_concentration",
    "lai2026.theorem1",
    "lai2026.theorem2",
    "lai2026.theorem3",
    "lai2026.theorem4",
    "lai2026.selection",
    "lai2026.many_neurons",
    "vardi_shamir2021.theorem1",
    "vardi_shamir2021.theorem3",
    "vardi_shamir2021.theorem5",
    "vardi_shamir2021.theorem8",
    "vardi_shamir2021.theorem8_flow",
    "vardi_shamir2021.lemma10",
    "boursier2022.fixed_signs",
    "boursier2022.both_layers",
    "between.road",
    "frei2023.proposition3",
    "frei2023.proposition4",
    "kou2023.leaky_relu",
    "kou2023.relu",
    "dana2025.coverage",
)

_MAIN_PAPER = "lai2026"

MODULES = {name: f"properties.{name}" for name in _NAMES}


def find_theorem(name: str) -> Theorem:
    """Return the theorem called `name`: a built-in id, or its last part, or a Python file's path;
    or a family, if it has but one.

    Raises UnknownName, with the nearest ids, for anything else.
    """
    members = _ids_of(name)
    if len(members) > 1:
        raise UnknownName(
            f"{name!r} is a family of {len(members)} theorems, expected one: write "
            f"{' or '.join(members)}"
        )
    name = members[0]
    if name in MODULES:
        return load_module(MODULES[name])
    if _is_file(name):
        return load_file(name)
    _require_no_claim(name)
    raise UnknownName(f"theorem {name!r} is unknown{_nearest(name, [*MODULES, *_families()])}")


def _is_file(name: str) -> bool:
    """Say whether a name that is no built-in id is meant as a file's path."""
    return name.endswith(".py") or os.path.isfile(name)


def _require_no_claim(name: str) -> None:
    """Raise UnknownName, with what to write, for a claim where a theorem is expected."""
    path, _, _ = name.rpartition("::")
    if path and _is_file(path):
        raise UnknownName(
            f"{name!r} names a claim, expected a theorem: write {path} alone, without ::claim"
        )
    prefix, _, bare = name.rpartition(".")
    meant = [full_id(prefix)] if prefix else list(MODULES)
    owners = [one for one in meant if one in MODULES and bare in _names(load_module(MODULES[one]))]
    if owners:
        raise UnknownName(
            f"{name!r} names a claim, expected a theorem: write {' or '.join(owners)} alone"
        )


def full_id(name: str) -> str:
    """Return the built-in id that ends in `.name`, else the name.

    Where several do (every paper has its theorem 1), that of the paper the others are beside.
    """
    ending = _ending_in(name)
    first = [known for known in ending if known.startswith(f"{_MAIN_PAPER}.")]
    return (first or ending)[0] if len(ending) == 1 or first else name


def others_called(name: str) -> list[str]:
    """Return the ids, besides `full_id(name)`, that end in `.name` as well."""
    return [known for known in _ending_in(name) if known != full_id(name)]


def _ending_in(name: str) -> list[str]:
    return [known for known in MODULES if known.endswith(f".{name}")]


def family(name: str) -> list[str]:
    """Return the ids of a paper's theorems, for `paper` or `paper.*`; none for any other name."""
    paper = name.removesuffix(".*")
    return [known for known in MODULES if known.partition(".")[0] == paper]


def _ids_of(name: str) -> list[str]:
    """Return the ids that a name stands for: a family's theorems, else the one `full_id`."""
    return family(name) or [full_id(name)]


def _families() -> list[str]:
    return list(dict.fromkeys(known.partition(".")[0] for known in MODULES))


def distinct(names: Iterable[str]) -> list[str]:
    """Return each theorem's name once, in their order, however its id or path is spelt; a family
    stands for its theorems."""
    first: dict[str, str] = {}
    for name in names:
        for each in _ids_of(name):
            first.setdefault(each if each in MODULES else os.path.realpath(each), each)
    return list(first.values())


def is_built_in(theorem: Theorem) -> bool:
    """Say whether a theorem is one of this project's, not one of a user's under the same id."""
    return theorem.origin in {f"module:{module}" for module in MODULES.values()}


def find_entry(name: str) -> tuple[Theorem, Entry]:
    """Return the claim, control, measure or chain called `name`, and its theorem.

    name: `theorem.claim`, the theorem by its id, or by the last part of it or its paper where but
    one claim is meant; `path/to/file.py::claim`; or the bare name where it is unique among the
    built-in theorems. Raises UnknownName.
    """
    if "::" in name:
        path, _, bare = name.rpartition("::")
        theorem = load_file(path)
        return theorem, _entry_of(theorem, bare)
    if name.endswith(".py"):
        raise _in_file(name)
    prefix, _, bare = name.rpartition(".")
    if prefix in MODULES:
        theorem = find_theorem(prefix)
        return theorem, _entry_of(theorem, bare)
    if meant := _ending_in(prefix) or family(prefix):
        return _entry_in(meant, name)
    theorems = [find_theorem(known) for known in MODULES]
    found = [theorem for theorem in theorems if name in _names(theorem)]
    if len(found) == 1:
        return found[0], found[0].entry(name)
    if found:
        raise _in_several(name, name, found)
    _require_no_theorem(name)
    known_names = [n for t in theorems for bare in _names(t) for n in (bare, t.address_of(bare))]
    raise UnknownName(f"claim or measure {name!r} is unknown{_nearest(name, known_names)}")


def _entry_in(meant: list[str], name: str) -> tuple[Theorem, Entry]:
    """Return the entry `name`, "theorem1.claim" say, of the only one of the theorems that may be
    meant that has such an entry."""
    bare = name.rpartition(".")[2]
    theorems = [find_theorem(known) for known in meant]
    found = [theorem for theorem in theorems if bare in _names(theorem)]
    if len(found) == 1:
        return found[0], found[0].entry(bare)
    if found:
        raise _in_several(name, bare, found)
    _require_no_theorem(name)
    known = [t.address_of(entry) for t in theorems for entry in _names(t)]
    raise UnknownName(f"claim or measure {name!r} is unknown{_nearest(name, known)}")


def _in_several(name: str, bare: str, found: list[Theorem]) -> UnknownName:
    full = ", ".join(theorem.address_of(bare) for theorem in found)
    return UnknownName(f"{name!r} is in several theorems: write one of {full}")


def _require_no_theorem(name: str) -> None:
    """Raise UnknownName, with what to write, for a theorem or family where a claim is expected."""
    members = _ids_of(name)
    if len(members) > 1:
        raise UnknownName(
            f"{name!r} is a family of {len(members)} theorems, expected a claim of one of them "
            f"(see `relu-verify list {name.removesuffix('.*')}`): {', '.join(members)}"
        )
    known = members[0]
    if known in MODULES:
        theorem = find_theorem(known)
        claims = ", ".join(theorem.address_of(claim.id) for claim in theorem.claims)
        raise UnknownName(f"{name!r} is theorem {known}, expected one of its claims: {claims}")
    if _is_file(name):
        raise _in_file(name)


def _in_file(name: str) -> UnknownName:
    """Return what to write for a theorem's file where a claim is expected.

    Raises whatever `load_file` does where the file holds no theorem.
    """
    theorem = load_file(name)
    claims = ", ".join(theorem.address_of(entry) for entry in _names(theorem))
    return UnknownName(f"{name!r} is a theorem's file, expected one of its claims: {claims}")


def _names(theorem: Theorem) -> list[str]:
    return [entry.id for entry in theorem.entries]


def _entry_of(theorem: Theorem, name: str) -> Entry:
    names = _names(theorem)
    if name not in names:
        raise UnknownName(
            f"theorem {theorem.address!r} has no claim or measure {name!r}"
            f"{_nearest(name, names, '' if is_built_in(theorem) else theorem.address)}"
        )
    return theorem.entry(name)


def _nearest(name: str, known: list[str], file: str = "") -> str:
    """Return the nearest of the known names, in words.   file: that they are of, if of one."""
    unique = list(dict.fromkeys(known))
    near = get_close_matches(name, unique, n=3, cutoff=0.4) or unique[:3]
    see = f"relu-verify list {shlex.quote(file)}" if file else "relu-verify list"
    return f"; the nearest names are {', '.join(near)} (see `{see}`)"
