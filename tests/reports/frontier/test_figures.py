"""The phase diagram and the profiles: what is drawn, and where."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from reports.frontier.figures import phase_diagram
from reports.frontier.placing import edges, is_log, place_of
from reports.frontier.profiles import profile, shown_cells
from tests.reports.frontier.sample import START, D, N, by_start, frontier, row, single


def diagram(found: dict[str, Any]) -> str:
    return phase_diagram(found, name="a", label="Diagram.")


def texts(svg: str) -> list[str]:
    return ["".join(e.itertext()) for e in ElementTree.fromstring(svg).iter() if
            e.tag.endswith("text")]  # fmt: skip


def test_places_are_logarithms_numbers_or_ranks() -> None:
    assert place_of(D, [10, 1000])(1000) == 3.0
    assert place_of({**D, "scale": "linear"}, [1, 2])(1.5) == 1.5
    assert place_of(START, ["b", "a", "b"])("a") == 1.0
    assert is_log(N)
    assert not is_log({**N, "low": 2, "high": 12})
    assert not is_log({**N, "low": 0, "high": 500})


def test_shades_meet_halfway_between_neighbours() -> None:
    assert edges([0.0, 1.0, 3.0]) == [(-0.5, 0.5), (0.5, 2.0), (2.0, 4.0)]
    assert edges([2.0]) == [(1.5, 2.5)]


def test_the_diagram_names_axes_levels_and_lines() -> None:
    found = texts(diagram(frontier()))
    for text in ("d: features (dimensionless)", "n: examples (dimensionless)", "P = 0.5",
                 "P = 0.95", "prediction P̂", "share that holds", "160"):  # fmt: skip
        assert text in found
    assert any(text.startswith("certificate certified_from") for text in found)


def test_every_choice_is_a_row_by_name() -> None:
    found = texts(diagram(by_start()))
    assert [t for t in found if t in START["choices"]] == START["choices"]


def test_shades_are_opacities_from_the_least_to_the_most_frequent() -> None:
    grey = re.findall(r"opacity:([\d.]+)", diagram(frontier()))
    assert min(map(float, grey)) == pytest.approx(0.07)
    assert max(map(float, grey)) == pytest.approx(0.62)


def test_a_place_without_trials_in_scope_is_not_shaded() -> None:
    whole = frontier(lines=[])
    nothing = [{**c, "frequency": None, "in_scope": 0} for c in whole["cells"] if c["y"] == 10]
    rest = [c for c in whole["cells"] if c["y"] != 10]
    one, other = (diagram({**whole, "cells": cells}) for cells in (whole["cells"], nothing + rest))
    assert len(other) < len(one)


def test_rows_without_a_boundary_are_drawn_without_marks() -> None:
    known = [row(n, 0.5, 90.0) for n in (10, 20, 40)]
    lacking = [known[0], row(20, 0.5, None), known[2]]
    one, other = (diagram(frontier(lines=[], rows=rows, levels=[0.5])) for rows in (known, lacking))
    assert one.count("<use ") == other.count("<use ") + 3  # a mark, and both ends of its bar


def test_a_band_joins_rows_that_cross_once() -> None:
    once = frontier(lines=[], levels=[0.5])
    twice = [*once["rows"], row(10, 0.5, 900.0)]
    assert "opacity:.22" in diagram(once).replace("0.22", ".22")
    assert "opacity:.22" not in diagram({**once, "rows": twice}).replace("0.22", ".22")
    assert "opacity:.22" not in diagram(by_start()).replace("0.22", ".22")


@pytest.mark.parametrize("ends", [(None, 50.0), (30.0, None), (None, None)])
def test_open_intervals_are_drawn(ends: tuple[float | None, float | None]) -> None:
    rows = [row(n, 0.5, 40.0 * n, low=ends[0], high=ends[1]) for n in (10, 20, 40)]
    for svg in (diagram(frontier(rows=rows)), profile(frontier(rows=rows), 10, name="a", label="")):
        assert "nan" not in svg.lower()
        assert svg.startswith("<svg")


def test_a_profile_shows_the_transition_with_a_little_of_the_plateaus() -> None:
    found = frontier()
    shown = shown_cells(found, 20)
    cells = sorted((c for c in found["cells"] if c["y"] == 20), key=lambda c: c["x"])
    assert 0 < len(shown) < len(cells)
    middle = [c for c in cells if 0.02 < c["frequency"] < 0.98]
    assert all(cell in shown for cell in middle)
    ends = [r[key] for r in found["rows"] if r["y"] == 20 for key in ("low", "high")]
    assert shown[0]["x"] < min(ends) < max(ends) < shown[-1]["x"]


def test_a_row_that_never_changes_is_shown_whole() -> None:
    found = by_start()
    assert len(shown_cells(found, "random_sign")) == 21


def test_a_profile_has_a_legend_and_predictions_only_where_there_are_some() -> None:
    with_it = texts(profile(single(), None, name="a", label="P."))
    assert "predicted" in with_it
    assert "share that holds" in with_it
    assert "boundary" in with_it
    bare = single(cells=[{**c, "prediction": None} for c in single()["cells"]])
    assert "predicted" not in texts(profile(bare, None, name="a", label="P."))


def test_the_same_frontier_gives_the_same_bytes() -> None:
    assert diagram(frontier()) == diagram(frontier())
