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
from verify.counterexample import digest_of
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


@pytest.mark.parametrize("name", RECORDS)
def test_any_other_number_of_the_recipe_is_noticed(name):
    record = record_of(*RECORDS[name])
    for path, value in leaves(record["recipe"]):
        others = {value + 1, -value - 1, 2 * value + 3} - {value}
        for other in (*others, float(value), str(value), True):
            with pytest.raises(CHECKER.Wrong, match="recipe"):
                CHECKER.check(changed(record, ("recipe", *path), other))


@pytest.mark.parametrize("theorem", CHECKER.THEOREMS)
def test_the_scopes_are_those_of_the_theorems(theorem):
    known = find_theorem(theorem)
    _, _, hypotheses, claims = CHECKER.THEOREMS[theorem]
    broken = {control.id for control in known.controls if control.simulate is not None}
    exact = set(known.exact.statements)
    assert hypotheses == tuple(one.id for one in known.hypotheses)
    assert set(claims) == {c.id for c in known.all_claims if c.id in exact and c.id not in broken}
    for name, given in claims.items():
        claim = known.claim(name)
        assert given == tuple(one.id for one in claim.given)
        droppable = list(dict.fromkeys([*hypotheses, *given]))
        for without in [(), *((one,) for one in droppable), tuple(droppable)]:
            scope = [one.id for one in known.scope(claim, without)]
            assert CHECKER.scope_of(theorem, name, without) == scope
            assert {one for one in scope if one not in exact} <= set(CHECKER.NOT_EXACT)
    assert not exact & set(CHECKER.NOT_EXACT)
    for kind, family in (("small", known.small), ("explicit", known.explicit)):
        below = CHECKER.DENOMINATORS[theorem.split(".")[0], kind]
        assert below == {name: field.denominator for name, field in family.fields.items()}


def test_every_theorem_that_it_is_for_is_known():
    text = checkers.source("relu")
    exact = {name: find_theorem(name).exact for name in MODULES}
    ours = {find_theorem(name).id for name, one in exact.items() if one and one.checker == text}
    assert ours == set(CHECKER.THEOREMS)


def without_entry(record, *path):
    """Return a record with one entry taken out, and the digest of what it then holds."""
    other = json.loads(json.dumps(record))
    inside = other
    for name in path[:-1]:
        inside = inside[name]
    del inside[path[-1]]
    return {**other, "digest": digest_of(other)}


@pytest.mark.parametrize("name", RECORDS)
def test_no_assumption_can_be_taken_out(name):
    record = record_of(*RECORDS[name])
    assumptions = record["exact"]["assumptions"]
    assert assumptions or record["exact"]["not_exact"]
    for place, entry in enumerate(assumptions):
        with pytest.raises(CHECKER.Wrong, match=r"assumptions: expected|is left out"):
            CHECKER.check(without_entry(record, "exact", "assumptions", place))
        if entry["dropped"]:
            continue
        hidden = without_entry(record, "exact", "assumptions", place)
        moved = changed(
            hidden, ("exact", "not_exact"), [*hidden["exact"]["not_exact"], entry["id"]]
        )
        with pytest.raises(CHECKER.Wrong, match="assumptions: expected"):
            CHECKER.check(moved)
    for place in range(len(record["exact"]["not_exact"])):
        with pytest.raises(CHECKER.Wrong, match="not_exact: expected"):
            CHECKER.check(without_entry(record, "exact", "not_exact", place))
    double = [*assumptions, *assumptions[:1]]
    if assumptions:
        with pytest.raises(CHECKER.Wrong, match="one occurs twice"):
            CHECKER.check(changed(record, ("exact", "assumptions"), double))


def test_an_assumption_cannot_be_dropped_after_the_fact():
    record = record_of(*RECORDS["no freezing without high dimension"])
    other = changed(record, ("without",), [])
    with pytest.raises(CHECKER.Wrong, match="dimension_is_high"):
        CHECKER.check(other)
    shorter = without_entry(other, "exact", "assumptions", -1)
    with pytest.raises(CHECKER.Wrong, match="assumptions: expected"):
        CHECKER.check(shorter)


LAWS = {"dimension": "9999999", "trace": "1", "d_2": "9999999", "d_inf": "9999999"}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("exact", "problem", "law"), LAWS, "features are given, and a law too"),
        (("exact", "problem", "more"), "1", "problem: other entries"),
        (("exact", "more"), "1", "exact: other entries"),
        (("exact", "final", "more"), "1", "final: other entries"),
        (("exact", "comparator", "more"), "1", "comparator: other entries"),
        (("exact", "claim", "more"), "1", "a statement has other entries"),
        (("exact", "steps"), [[["1/16", "1/16"]]], "steps: 1 are recorded, expected 4"),
        (("exact", "first_departure"), True, r"is another|step True is none|steps"),
        (("theorem",), "mine.py", "does not know the theorem 'mine.py'"),
        (("theorem",), "lai2026.theorem1", "has no such claim"),
        (("theorem",), "lai2026.theorem4", "signs are not the theorem's"),
        (("control",), "broken_solver_steps_twice", "about a broken simulator"),
        (("margin",), 0.5, "the margin is not negative"),
        (("margin",), "-1", "the margin is not negative"),
        (("kind",), "drawn", "recipe: other entries"),
        (("without",), ["gravity"], "no assumptions of the claim"),
    ],
)
def test_what_does_not_belong_together_is_named(path, value, said):
    record = record_of(*RECORDS["the limit is not the minimum norm"])
    with pytest.raises(CHECKER.Wrong, match=said):
        CHECKER.check(changed(record, path, value))


@pytest.mark.parametrize(
    "text",
    ["1" * 4_002, "1/" + "1" * 4_002, " 1", "1_0", "+1", "1e9", "0.5", "-0", "1/-2", "\u0661"],
)
def test_rationals_are_written_in_one_way_only(text):
    with pytest.raises(CHECKER.Wrong):
        CHECKER.rational(text)


def test_an_entry_that_occurs_twice_is_noticed(tmp_path, capsys):
    record = record_of(*RECORDS["the limit is not the minimum norm"])
    file = tmp_path / "twice.json"
    file.write_text(json.dumps(record))
    assert CHECKER.main([str(file)]) == 0
    said = capsys.readouterr().out
    assert 'Every number under "exact" was derived again; the digest alone covers the rest.' in said
    file.write_text(json.dumps(record).replace('"margin"', '"margin": -9.0, "margin"'))
    assert CHECKER.main([str(file)]) == 1
    assert capsys.readouterr().out == "WRONG: an entry occurs twice\n"


def test_what_it_says_is_one_line(tmp_path, capsys):
    record = record_of(*RECORDS["the limit is not the minimum norm"])
    file = tmp_path / "it.json"
    file.write_text(json.dumps(changed(record, ("theorem",), "a\nall is well\x1b[2J")))
    assert CHECKER.main([str(file)]) == 1
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert "\x1b" not in said


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
