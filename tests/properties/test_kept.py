"""What a search found is tried first by the next one, until it violates nothing any more."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis.database import InMemoryExampleDatabase

from properties import suite
from properties.kept import database_in, keep, still_violating
from properties.suite import ClaimFails, require_no_counterexample
from tests.verify.engine.toys import at_least_zero, below_a_half, theorem_of
from verify.claims import Universal
from verify.space import Axis
from verify.theorem import Theorem

TRUE, FALSE = Universal(at_least_zero), Universal(below_a_half)
THEOREM = theorem_of(TRUE, FALSE, axes=(Axis("n", 1, 3, "integer"),))


def entries(database: InMemoryExampleDatabase) -> list[Any]:
    return [json.loads(content) for kept in database.data.values() for content in kept]


@pytest.fixture
def database() -> InMemoryExampleDatabase:
    """Return a database with what a search found against the false claim."""
    found = InMemoryExampleDatabase()
    with pytest.raises(ClaimFails, match="refuted by the search: u is below one half") as failed:
        require_no_counterexample(THEOREM, FALSE, 30, 0, found)
    assert "an earlier search" not in str(failed.value)
    assert [entry["kind"] for entry in entries(found)] == ["seeded"]
    return found


def test_what_was_found_comes_first(database: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "hunt", None)
    with pytest.raises(ClaimFails, match="u is below one half") as failed:
        require_no_counterexample(THEOREM, FALSE, 30, 1, database)
    message = str(failed.value)
    assert "an earlier search found this, and it still violates it" in message
    (entry,) = entries(database)
    assert f"at n={entry['recipe']['point']['n']} (seed={entry['recipe']['seed']})" in message
    assert "go on: relu-verify run" in message


def test_it_is_of_its_claim_alone(database: Any) -> None:
    require_no_counterexample(THEOREM, TRUE, 30, 0, database)
    assert still_violating(database, replace(THEOREM, id="other"), FALSE) is None
    assert len(entries(database)) == 1


def test_what_violates_nothing_any_more_is_forgotten(database: Any) -> None:
    mended = Universal(at_least_zero, name="below_a_half")
    theorem = replace(THEOREM, claims=(mended,))
    require_no_counterexample(theorem, mended, 30, 0, database)
    assert entries(database) == []


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"[]", b'{"kind": "seeded"}', b'{"kind": "drawn", "recipe": {}}',
     b'{"kind": "seeded", "recipe": {"point": {"m": 1}, "seed": 0}}',
     b'{"kind": "seeded", "recipe": {"point": {"n": 1}, "seed": "x"}}',
     b'{"kind": "explicit", "recipe": {"values": {"n": 1}}}'],
)  # fmt: skip
def test_what_cannot_be_made_any_more_is_forgotten(database: Any, content: bytes) -> None:
    def draw(point: Any, generator: Any, trials: int) -> Any:
        assert point["n"]
        return generator.random(trials)

    theorem = replace(THEOREM, draw=draw)
    (key,) = database.data
    database.data[key] = {content}
    assert still_violating(database, theorem, FALSE) is None
    assert not database.data[key]


def test_the_simplest_comes_first(database: Any) -> None:
    (entry,) = entries(database)
    for seed in range(100, 120):
        again = {**entry["recipe"], "seed": seed}
        found = still_violating(database, THEOREM, FALSE)
        assert found is not None
        keep(database, THEOREM, replace(found, recipe=again))
    assert len(entries(database)) == 21
    found = still_violating(database, THEOREM, FALSE)
    assert found is not None
    assert found.recipe == entry["recipe"]


def test_it_lies_where_hypothesis_keeps_its_own(tmp_path: Any) -> None:
    def kept(theorem: Theorem) -> int:
        database = database_in(tmp_path)
        with pytest.raises(ClaimFails):
            require_no_counterexample(theorem, FALSE, 30, 0, database)
        return len(list((tmp_path / ".hypothesis" / "examples").rglob("*")))

    assert kept(THEOREM) == kept(THEOREM) > 0
