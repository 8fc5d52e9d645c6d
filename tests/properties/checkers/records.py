"""Records of exact counterexamples, and what one number changed makes of them."""

import copy
import importlib.util
import json
from fractions import Fraction
from pathlib import Path

from properties import checkers
from properties.catalogue import find_theorem
from verify.confirm import confirm
from verify.counterexample import Counterexample, content_of, digest_of

GAP = ("lai2026.theorem2", "limit_is_the_minimum_norm", ())
FREEZING = ("lai2026.theorem1", "pattern_freezes_after_step_one", ("dimension_is_high",))
DOUBLING = (
    "vardi_shamir2021.theorem8",
    "distance_at_most_doubles",
    ("labels_are_nonnegative",),
)


def loaded():
    """Return the checker of ReLU networks as a module."""
    path = Path(checkers.__file__).with_name("relu.py")
    spec = importlib.util.spec_from_file_location("checker", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def confirmed(theorem, claim, without, recipe, kind="small"):
    """Return what exact arithmetic says of an instance of a built-in theorem."""
    known = find_theorem(theorem)
    example = Counterexample(
        theorem, claim, known.claim(claim).statement, kind, recipe, -1.0, without=tuple(without)
    )
    return confirm(known, example)


def record_of(theorem, claim, without, recipe, kind="small"):
    """Return the content of the file of an exact counterexample."""
    found = confirmed(theorem, claim, without, recipe, kind)
    assert found.outcome == "exact", found.reason
    return json.loads(json.dumps(content_of(found.example)))


def leaves(value, path=()):
    """Yield every number, text and truth value with the way to it."""
    if isinstance(value, dict | list):
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(part, (*path, name))
    else:
        yield path, value


def mutants(value):
    """Return other values of the same kind; none of a text that is no rational, and of null."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    try:
        number = Fraction(value)
    except (TypeError, ValueError):
        return []
    others = [number + Fraction(1, 7), number - 1, 2 * number + 1, -number, Fraction(0)]
    return [str(other) for other in dict.fromkeys(others) if other != number]


def changed(record, path, value):
    """Return a record with one entry changed, and the digest of what it then holds."""
    other = copy.deepcopy(record)
    inside = other
    for name in path[:-1]:
        inside = inside[name]
    inside[path[-1]] = value
    return {**other, "digest": digest_of(other)}


def unnoticed(checker, record):
    """Return the changes of single numbers of the exact part that a checker lets pass, and how many
    changes were tried."""
    passed, tried = [], 0
    for path, value in leaves(record["exact"]):
        for other in mutants(value):
            tried += 1
            try:
                checker.check(changed(record, ("exact", *path), other))
            except checker.Wrong:
                continue
            passed.append((path, value, other))
    return passed, tried
