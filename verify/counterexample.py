"""Counterexamples as files: written once, read by people, replayed by anyone."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

import verify
from verify.arrays import to_numpy
from verify.blame import blaming
from verify.claims import Claim, Rate
from verify.engine.evaluate import draw_trial, margin_of, scope_of, simulator
from verify.engine.plan import Cell
from verify.errors import InputError
from verify.space import Point
from verify.theorem import Theorem, Trial
from verify.verdict import IN_SCOPE

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
    person to read it.   evidence: how exactly the violation is known.
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
    try:
        if example.kind == "drawn":
            point = Point(**recipe["point"])
            cell = Cell(point, example.control, (example.claim,), theorem.block)
            trial = draw_trial(theorem, cell, recipe["root_seed"], recipe["block"])
            position = int(recipe["trial"])
            if not 0 <= position < theorem.block:
                raise InputError(f"trial={position}, expected 0 to {theorem.block - 1}")
            return trial, position
        if example.kind == "seeded":
            point = Point(**recipe["point"])
            generator = np.random.default_rng(recipe["seed"])
            with blaming("draw", theorem.draw):
                problem = theorem.draw(point, generator, 1)
            return Trial(theorem, point, problem, 1, simulator(theorem, example.control)), 0
        if theorem.explicit is None:
            raise InputError(f"theorem {theorem.address!r} has no explicit problems (any more)")
        values = theorem.explicit.values(recipe["values"])
        with blaming("explicit build", theorem.explicit.build):
            problem = theorem.explicit.build(values)
        return Trial(theorem, None, problem, 1, simulator(theorem, example.control)), 0
    except (KeyError, TypeError) as reason:
        raise InputError(
            f"the counterexample's recipe does not fit theorem {theorem.address!r} "
            f"({type(reason).__name__}: {reason}); was the theorem changed?"
        ) from reason


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
    close = abs(value - example.margin) <= 1e-6 * max(abs(value), abs(example.margin))
    return Replayed(violated and in_scope, in_scope, value, close)


def facts_of(theorem: Theorem, problem: Any, position: int) -> dict[str, Any]:
    """Return the theorem's description of one instance as JSON-able values.

    Without a `describe`, the entries of the problem's arrays that belong to the instance.
    """
    if theorem.describe is None:
        return _slices(problem, position)
    with blaming("describe", theorem.describe):
        facts = theorem.describe(problem, position)
    return {name: jsonable(value) for name, value in facts.items()}


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
        theorem.address, claim.id, claim.statement, kind, dict(recipe), margin, control
    )
    trial, position = realise(theorem, bare)
    facts = facts_of(theorem, trial.problem, position)
    return Counterexample(**{**vars(bare), "facts": facts})


def write(example: Counterexample, path: str | Path) -> None:
    """Write a counterexample as JSON, whole or not at all."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"relu-verify {verify.__version__}, numpy {np.__version__}",
        **{name: jsonable(value) for name, value in vars(example).items()},
    }
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(f".{os.getpid()}.partial")
    partial.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.replace(target)


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
        "margin": (int, float),
        "control": str,
        "facts": dict,
        "evidence": str,
    }
    for name, kind in expected.items():
        if not isinstance(content.get(name), kind) or isinstance(content[name], bool):
            raise InputError(f"{path}: entry {name!r} is missing or of the wrong type")
    if content["kind"] not in ("drawn", "seeded", "explicit"):
        raise InputError(f"{path}: kind={content['kind']!r}, expected drawn, seeded or explicit")
    return Counterexample(**{name: content[name] for name in expected})


def jsonable(value: Any) -> Any:
    """Return `value` with arrays as lists and NaN and infinities as null."""
    if isinstance(value, Mapping):
        return {str(key): jsonable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(entry) for entry in value]
    if isinstance(value, str | bool | int) or value is None:
        return value
    if isinstance(value, float):
        return float(value) if np.isfinite(value) else None
    return jsonable(to_numpy(value).tolist())
