"""One pass of Hypothesis over instances of one kind, driven into the scope and to low margins."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, seed, target
from hypothesis import strategies as st

from properties.search import (
    DECIDED,
    OUT_OF_SCOPE,
    UNDECIDED,
    VIOLATED,
    Look,
    rest_of_the_process_left_out,
    searching,
)
from properties.seeking.sought import Sought
from properties.seeking.watch import TimeOver, Watch
from verify.counterexample import Kind
from verify.engine.executors import one_thread

NO_INSTANCE = "no instance"
"""Outcome where the recipe makes none (`Sought.look`)."""


@dataclass
class Met:
    """What was met in one place.

    counts: of outcomes; their total is the number of examples.   violated, undecided: margin and
    recipe of the examples that are so in floating point, each once, in the order they were met.
    """

    kind: Kind
    counts: Counter[str] = field(default_factory=Counter)
    violated: dict[str, tuple[float, dict[str, Any]]] = field(default_factory=dict)
    undecided: dict[str, tuple[float, dict[str, Any]]] = field(default_factory=dict)

    def add(self, look: Look | None, recipe: dict[str, Any]) -> None:
        """Count one example."""
        self.counts[NO_INSTANCE if look is None else look.outcome] += 1
        if look is None or look.outcome not in (VIOLATED, UNDECIDED):
            return
        kept = self.violated if look.outcome == VIOLATED else self.undecided
        kept.setdefault(json.dumps(recipe, sort_keys=True), (look.margin, recipe))


def look_at_each(sought: Sought, met: Met, recipes: list[dict[str, Any]], watch: Watch) -> None:
    """Look at given instances, until the time is over."""
    with one_thread():
        for recipe in recipes:
            if watch.over():
                return
            met.add(sought.look(met.kind, recipe), recipe)
            watch.count()


def explore(
    sought: Sought,
    met: Met,
    strategy: st.SearchStrategy[dict[str, Any]],
    examples: int,
    words: tuple[object, ...],
    watch: Watch,
) -> None:
    """Look at `examples` instances that Hypothesis draws, until the time is over.

    Out of scope it is driven towards the scope, in scope towards low margins; it does not stop at
    a violation. The same words find the same.
    """
    digest = hashlib.sha256("\n".join(map(str, words)).encode()).digest()

    @seed(int.from_bytes(digest[:8], "little"))
    @searching(examples)
    @given(recipe=strategy)
    def attempt(recipe: dict[str, Any]) -> None:
        if watch.over():
            raise TimeOver
        look = sought.look(met.kind, recipe)
        met.add(look, recipe)
        watch.count()
        if look is None:
            return
        if look.outcome == OUT_OF_SCOPE:
            target(look.met, label="scope")
        elif look.outcome in DECIDED:  # ties within rounding would attract it, for nothing
            target(look.score, label="violation")

    with one_thread(), rest_of_the_process_left_out(), suppress(TimeOver):
        attempt()
