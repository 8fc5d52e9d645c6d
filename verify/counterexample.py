"""Counterexamples as files: written once, read by people, replayed by anyone."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

import verify
from verify.arrays import to_numpy
from verify.blame import blaming, whereabouts
from verify.claims import Claim, Rate
from verify.engine.evaluate import draw_trial, margin_of, scope_of, simulator
from verify.engine.examine import chain_of
from verify.engine.plan import Cell, broken_by, whole
from verify.errors import InputError, ReluVerifyError, TheoremError
from verify.space import Point
from verify.theorem import Theorem, paths_of
from verify.trial import Trial
from verify.verdict import IN_SCOPE
from verify.writing import json_text, jsonable, write_text

FORMAT = "relu-verify counterexample"
VERSION = 1

Kind = Literal["drawn", "seeded", "explicit"]


@dataclass(frozen=True)
class Counterexample:
    """An instance that violates a claim, and how to make it again.

    kind: "drawn" (a trial of a block: point, root_seed, block, trial), "seeded" (one instance
    drawn at a point from a seed: point, seed) or "explicit" (the integers of the theorem's
    explicit problem: values).   recipe: those entries.   control: id of the control whose
    broken simulator runs, or "".   margin: dimensionless, negative.   facts: what helps a
    person to read it.   evidence: how exactly the violation is known.   theorem_file: absolute
    path of a user's theorem, which `theorem` names as it was given, or "".
    """

    theorem: str
    claim: str
    statement: str
    kind: Kind
    recipe: Mapping[str, Any]
    margin: float
    control: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    evidence: str = "floating point, beyond its rounding bound"
    theorem_file: str = ""


@dataclass(frozen=True)
class Replayed:
    """What a stored counterexample does today.

    violated: the claim fails again, in scope and beyond rounding.   same: the margin is the
    stored one to 1e-6 relative.   margin: today's, dimensionless.
    """

    violated: bool
    in_scope: bool
    margin: float
    same: bool


def realise(theorem: Theorem, example: Counterexample) -> tuple[Trial, int]:
    """Return the batch that holds the instance, simulated, and its position there.

    Raises InputError where the recipe does not fit the theorem.
    """
    recipe = example.recipe
    _require_control(theorem, example)
    try:
        if example.kind == "drawn":
            point = Point(**recipe["point"])
            root_seed, block, position = (
                _whole(recipe, name) for name in ("root_seed", "block", "trial")
            )
            if position >= theorem.block:
                raise InputError(f"trial={position}, expected 0 to {theorem.block - 1}")
            cell = Cell(point, example.control, (example.claim,), theorem.block)
            return draw_trial(theorem, cell, root_seed, block), position
        if example.kind == "seeded":
            point = Point(**recipe["point"])
            generator = np.random.default_rng(_whole(recipe, "seed"))
            with blaming("draw", theorem.draw):
                problem = theorem.draw(point, generator, 1)
            return Trial(theorem, point, problem, 1, simulator(theorem, example.control)), 0
        if theorem.explicit is None:
            raise InputError(f"theorem {theorem.address!r} has no explicit problems (any more)")
        values = theorem.explicit.values(recipe["values"])
        with blaming("explicit build", theorem.explicit.build):
            problem = theorem.explicit.build(values)
        return Trial(theorem, None, problem, 1, simulator(theorem, example.control)), 0
    except ReluVerifyError:
        raise
    except (LookupError, TypeError, ValueError, ArithmeticError) as reason:
        raise InputError(
            f"the counterexample's recipe does not fit theorem {theorem.address!r} "
            f"({type(reason).__name__}: {reason}); was the theorem changed?"
        ) from reason


def _require_control(theorem: Theorem, example: Counterexample) -> None:
    """Raise InputError unless the example runs the simulator that its claim is about."""
    expected = broken_by(theorem, theorem.claim(example.claim))
    if example.control != expected:
        raise InputError(
            f"control={example.control!r}, expected {expected!r} for the claim {example.claim!r} "
            f"of theorem {theorem.address!r}; was the file or the theorem changed?"
        )


def _whole(recipe: Mapping[str, Any], name: str) -> int:
    """Return a seed or a number of a recipe. Raises InputError unless it is whole and from 0."""
    value = recipe[name]
    if isinstance(value, bool):
        raise InputError(f"{name}={value!r}, expected a whole number of at least 0")
    number = whole(name, value, 0)
    if number.bit_length() > 63 and name != "root_seed":
        raise InputError(f"{name}={number}, expected a whole number below 2**63")
    return number


def replay(theorem: Theorem, example: Counterexample) -> Replayed:
    """Run a counterexample again and say whether it still violates its claim."""
    claim = theorem.claim(example.claim)
    if isinstance(claim, Rate):
        raise InputError(f"claim {claim.id!r} is a rate: no single instance violates it")
    trial, position = realise(theorem, example)
    margin = margin_of(claim.inequality, trial)
    value = float(np.broadcast_to(margin.value, (trial.trials,))[position])
    violated = bool(np.broadcast_to(margin.violated, (trial.trials,))[position])
    in_scope = bool(scope_of(claim, trial)[position] == IN_SCOPE)
    stored = example.margin
    same = value == stored or bool(
        abs(value - stored) <= 1e-6 * max(abs(value), abs(stored)) < math.inf
    )
    return Replayed(violated and in_scope, in_scope, value, same)


def facts_of(theorem: Theorem, problem: Any, position: int) -> dict[str, Any]:
    """Return the theorem's description of one instance as JSON-able values.

    Without a `describe`, the entries of the problem's arrays that belong to the instance. A
    `describe` that fails is told in place of its facts: a verdict does not depend on it.
    """
    if theorem.describe is None:
        try:
            return _slices(problem, position)
        except Exception:  # a problem may be of any type whatever
            return {}
    try:
        with blaming("describe", theorem.describe):
            facts = theorem.describe(problem, position)
            if not isinstance(facts, Mapping):
                raise TheoremError(
                    f"{whereabouts('describe', theorem.describe)} returned "
                    f"{type(facts).__name__}, expected a dict"
                )
            return {str(name): jsonable(value) for name, value in facts.items()}
    except ReluVerifyError as reason:
        return {"describe": str(reason)}


def _slices(problem: Any, position: int) -> dict[str, Any]:
    """Return entry `position` of every array of a problem that is not large."""
    if isinstance(problem, Mapping):
        parts = dict(problem)
    elif isinstance(problem, tuple):
        parts = {str(number): part for number, part in enumerate(problem)}
    else:
        parts = dict(getattr(problem, "__dict__", None) or {"problem": problem})
    arrays = {name: part for name, part in parts.items() if np.ndim(part) > 0}
    return {
        str(name): jsonable(np.asarray(to_numpy(part))[position])
        for name, part in arrays.items()
        if len(part) > position and np.size(part[position]) <= _LARGEST_FACT
    }


_LARGEST_FACT = 4_096
"""Numbers of one entry above which a counterexample file leaves it out: the recipe is there."""


def captured(
    theorem: Theorem,
    claim: Claim,
    kind: Kind,
    recipe: Mapping[str, Any],
    margin: float,
    control: str = "",
) -> Counterexample:
    """Return the counterexample with that recipe, described by making it again."""
    bare = Counterexample(
        theorem.address,
        claim.id,
        claim.statement,
        kind,
        dict(recipe),
        margin,
        control,
        theorem_file=file_of(theorem),
    )
    trial, position = realise(theorem, bare)
    facts = facts_of(theorem, trial.problem, position)
    if not control:
        facts |= _broken_link(theorem, trial, position)
    return Counterexample(**{**vars(bare), "facts": facts})


def _broken_link(theorem: Theorem, trial: Trial, position: int) -> dict[str, str]:
    """Return, as a fact, the first link of the theorem's chain that does not hold on an instance.

    A link that fails to run is told in place of it: a verdict does not depend on the chain.
    """
    if theorem.chain is None:
        return {}
    try:
        links = chain_of(theorem, trial, position)
    except ReluVerifyError as reason:
        return {"first_broken_link": str(reason)}
    broken = next((link for link in links if link.state != "holds"), None)
    if broken is None:
        return {"first_broken_link": "none: every link of the chain holds"}
    state = "" if broken.state == "violated" else f" ({broken.state})"
    return {"first_broken_link": f"{broken.link}{state}: {broken.statement}"}


def file_of(theorem: Theorem) -> str:
    """Return the absolute path of a theorem from a user's file, "" for any other."""
    return paths_of(theorem.origin)[0]


def write(example: Counterexample, path: str | Path) -> None:
    """Write a counterexample as JSON, whole or not at all. Raises InputError if it cannot be."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"relu-verify {verify.__version__}, numpy {np.__version__}",
        **{name: jsonable(value) for name, value in vars(example).items()},
    }
    if not example.theorem_file:
        del content["theorem_file"]
    write_text(Path(path), json_text(content))


def read(path: str | Path) -> Counterexample:
    """Read a counterexample. Raises InputError for anything that is not one."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"no file {str(path)!r}; counterexamples lie in DIR/counterexamples/"
        ) from None
    except (OSError, ValueError, RecursionError) as reason:
        raise InputError(f"{path} is not a counterexample file ({reason})") from reason
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"{path} is not a counterexample file: its format is not {FORMAT!r}")
    if content.get("version") != VERSION:
        raise InputError(
            f"{path} has version={content.get('version')!r}, expected {VERSION}; read it with the "
            "relu-verify that wrote it"
        )
    expected: dict[str, type | tuple[type, ...]] = {
        "theorem": str,
        "claim": str,
        "statement": str,
        "kind": str,
        "recipe": dict,
        "margin": (int, float, type(None)),
        "control": str,
        "facts": dict,
        "evidence": str,
    }
    for name, kind in expected.items():
        if (
            name not in content
            or not isinstance(content[name], kind)
            or isinstance(content[name], bool)
        ):
            raise InputError(f"{path}: entry {name!r} is missing or of the wrong type")
    if content["kind"] not in ("drawn", "seeded", "explicit"):
        raise InputError(f"{path}: kind={content['kind']!r}, expected drawn, seeded or explicit")
    file = content.get("theorem_file", "")
    if not isinstance(file, str):
        raise InputError(f"{path}: entry 'theorem_file' is of the wrong type")
    known = {name: content[name] for name in expected}
    return Counterexample(
        **{**known, "margin": _margin(path, content["margin"])}, theorem_file=file
    )


def _margin(path: str | Path, stored: float | None) -> float:
    """Return a stored margin, where null stands for −∞. Raises InputError for other infinities."""
    if stored is None:
        return -math.inf
    try:
        margin = float(stored)
    except OverflowError:
        margin = math.inf
    if not math.isfinite(margin):
        raise InputError(f"{path}: margin={margin}, expected a finite number")
    return margin
