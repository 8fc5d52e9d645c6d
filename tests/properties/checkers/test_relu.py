"""The stand-alone checker of ReLU networks: it passes what is right and notices any change."""

import hashlib
import json
import random

import pytest

from properties import checkers
from properties.catalogue import MODULES, find_theorem
from tests.properties.checkers.records import (
    DOUBLING,
    FREEZING,
    GAP,
    changed,
    confirmed,
    leaves,
    loaded,
    mutants,
    record_of,
    unnoticed,
)
from verify.errors import InputError

CHECKER = loaded()


def small(features, labels, start, c):
    """Return the recipe of a small problem."""
    pair = {"m": 2} if isinstance(start[0], list) else {}
    sizes = {"n": len(features), "d": len(features[0]), **pair}
    return {"values": {**sizes, "features": features, "labels": labels, "start": start, "c": c}}


def hypotheses(theorem):
    """Return the ids of a theorem's hypotheses."""
    return tuple(assumption.id for assumption in find_theorem(theorem).hypotheses)


PAIR = "lai2026.theorem3"
RECORDS = {
    "the limit is not the minimum norm": (*GAP, small([[1, 0], [0, 1]], [1, -1], [1, 1], 8)),
    "no freezing without high dimension": (
        *FREEZING,
        small([[-1, -1], [-1, 0]], [2, -2], [1, 1], 8),
    ),
    "the distance more than doubles": (
        *DOUBLING,
        small([[0, 0, 2], [2, -2, 0]], [1, -3], [1, 1], 16),
    ),
    "a comparator and no limit": (
        "vardi_shamir2021.theorem8",
        "never_increases_at_a_longer_step",
        DOUBLING[2],
        small([[-2, 2, -1, 2], [1, -2, 0, 2], [-2, 0, 0, -2]], [2, -3, 0], [3, 2, -2], 16),
    ),
    "the energy norm": (
        PAIR,
        "active_sets_are_label_classes",
        hypotheses(PAIR),
        small([[2, 0], [2, -2]], [1, 2], [[3, -3], [1, 1]], 4),
    ),
    "a pair that comes to rest": (
        "lai2026.theorem4",
        "limit_is_the_minimum_norm",
        hypotheses("lai2026.theorem4"),
        small([[2, -2], [-1, -1]], [0, 3], [[2, -2], [1, 0]], 8),
    ),
    "a limit that is not the nearest": (
        "lai2026.theorem1",
        "limit_is_nearest_interpolant",
        hypotheses("lai2026.theorem1"),
        small([[1, -2, -1, 1], [0, 0, -2, 2], [-2, 2, 2, -1]], [-1, 1, 2], [-3, 1, 0], 8),
    ),
}


@pytest.mark.parametrize("recipe", RECORDS.values(), ids=RECORDS)
def test_a_change_of_any_number_is_noticed_whatever_the_digest_says(recipe):
    record = record_of(*recipe)
    CHECKER.check(record)
    passed, tried = unnoticed(CHECKER, record)
    assert passed == []
    assert tried > 100


def test_a_change_of_anything_is_noticed_by_the_digest():
    record = record_of(*RECORDS["the limit is not the minimum norm"])
    for path, value in leaves(record):
        for other in [*mutants(value), f"{value}?"]:
            digest = other if path == ("digest",) else record["digest"]
            tampered = {**changed(record, path, other), "digest": digest}
            with pytest.raises(CHECKER.Wrong, match=r"digest|no counterexample file|version"):
                CHECKER.check(tampered)


@pytest.mark.parametrize("theorem", ["lai2026.theorem1", "lai2026.theorem3", DOUBLING[0]])
def test_random_problems_are_derived_again(theorem):
    known, chosen = find_theorem(theorem), random.Random(theorem)
    broken = {control.id for control in known.controls if control.simulate is not None}
    claims = [c for c in known.all_claims if c.id in known.exact.statements and c.id not in broken]
    checked = 0
    while checked < 25:
        n, d, claim = chosen.randint(2, 3), chosen.randint(2, 4), chosen.choice(claims)

        def row(size, most):
            return [chosen.randint(-most, most) for _ in range(size)]

        start = [row(n, 4), row(n, 4)] if theorem == PAIR else row(n, 4)
        recipe = small([row(d, 3) for _ in range(n)], row(n, 3), start, chosen.randint(1, 40))
        without = hypotheses(theorem) or tuple(a.id for a in claim.given)
        try:
            found = confirmed(theorem, claim.id, without, recipe)
        except InputError:  # no weights predict such a start
            continue
        if found.outcome == "exact":
            CHECKER.check(record_of(theorem, claim.id, without, recipe))
            checked += 1


@pytest.mark.parametrize(
    ("theorem", "claim", "point"),
    [
        ("lai2026.theorem2", "limit_is_the_minimum_norm", {"n": 4, "d": 100.0, "c": 0.5}),
        ("lai2026.theorem1", "frozen_at_a_small_step", {"n": 4, "d": 12.0, "c": 0.02}),
    ],
)
def test_problems_that_were_drawn_are_derived_again(theorem, claim, point):
    record = record_of(theorem, claim, (), {"point": point, "seed": 1}, "seeded")
    CHECKER.check(record)
    law = record["exact"]["problem"]["law"]
    assert law["dimension"] == str(int(point["d"]))
    passed, _ = unnoticed(CHECKER, record)
    unused = {("problem", "law", name) for name in law}
    assert {path for path, _, _ in passed} <= unused, "of the law only what a statement uses counts"


def test_every_statement_of_the_theorems_that_it_is_for_is_known():
    text, seen = checkers.source("relu"), 0
    for name in MODULES:
        exact = find_theorem(name).exact
        if exact is not None and exact.checker == text:
            assert set(exact.statements) <= set(CHECKER.STATEMENTS), name
            seen += 1
    assert seen >= 5


def test_the_recipe_is_that_of_the_problem():
    record = record_of(*RECORDS["the limit is not the minimum norm"])
    for place in ("features", "labels", "start"):
        other = changed(
            record, ("recipe", "values", place, 0), 5 if place != "features" else [0, 1]
        )
        with pytest.raises(CHECKER.Wrong, match=f"recipe: {place} is another"):
            CHECKER.check(other)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("problem", "gram", 0, 1), "1", "gram is not symmetric"),
        (("problem", "step_size"), "-1/2", "the step size is not positive"),
        (("problem", "step_size"), "1/0", "'1/0' is no rational"),
        (("problem", "step_size"), "2/4", "'2/4' is not in lowest terms"),
        (("problem", "step_size"), 0.5, "0.5 is no rational"),
        (("problem", "signs"), [1, 1], r"signs are neither \[1\] nor \[1, -1\]"),
        (("steps", 2, 0, 1), "0", "step 2 is another"),
        (("final", "step"), 10**9, "step 1000000000 is none"),
        (("final", "step"), -1, "step -1 is none"),
        (("final", "name"), "hope", "no certificate is called 'hope'"),
        (("final", "kappa"), "1/3", "kappa is another"),
        (("final", "limit_change", 0, 0), "0", "the limit does not fit"),
        (("comparator", "duals", 0, 1), "1/2", "it is not optimal at example 1|2"),
        (("claim", "right"), "1", "limit_is_the_minimum_norm: right is 1/1000000000000, not 1"),
        (("claim", "id"), "gap_schur_identity", "the claim is another"),
        (("claim", "violated"), False, "it is not violated"),
        (("assumptions", 0, "left"), "1", "labels_are_nonzero: left is 0, not 1"),
        (("assumptions", 0, "dropped"), True, "labels_are_nonzero: dropped is False"),
        (("assumptions", 0, "id"), "all_is_well", "does not know the statement"),
    ],
)
def test_what_disagrees_is_named(path, value, said):
    record = record_of(*RECORDS["the limit is not the minimum norm"])
    with pytest.raises(CHECKER.Wrong, match=said):
        CHECKER.check(changed(record, ("exact", *path), value))


def test_the_digest_is_that_of_the_canonical_json():
    record = record_of(*RECORDS["the limit is not the minimum norm"])
    digest = record.pop("digest")
    text = json.dumps(record, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(text.encode()).hexdigest() == digest
