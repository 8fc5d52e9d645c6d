"""Measures over one abscissa, drawn above one another: in a page, and as a file of its own."""

import re
from xml.etree import ElementTree

import pytest

from reports.html import figures
from reports.html.placing import of_one_figure
from reports.html.render import render
from reports.html.single_figure import single_figure
from tests.reports import sample
from tests.reports.sample import measure, shares, spread
from verify.claims import Universal
from verify.errors import InputError, TheoremError
from verify.margin import Margin
from verify.measures import Frequency

X = (0.0, 0.5, 1.0)


def gap(values, **changes):
    cells = [
        {**spread(x, value), "line": line}
        for line, row in values.items()
        for x, value in zip(X, row, strict=True)
    ]
    return measure("gap", "quantiles", cells, by="c", abscissa="place ρ", figure="road", **changes)


GAP = gap({0.0: (1e-5, 1e-3, 1e-2), 0.3: (0.5, 0.4, 0.3)})
FROZEN = measure(
    "frozen",
    "frequency",
    [{**shares(x, p), "line": 0.3} for x, p in zip(X, (1.0, 0.4, 0.0), strict=True)],
    by="c",
    abscissa="place ρ",
    figure="road",
)
COSINE = measure(
    "cosine",
    "quantiles",
    [spread(x, x + 0.1) for x in X],
    abscissa="place ρ",
    figure="road",
)
ALL = [GAP, FROZEN, COSINE]


def texts(svg):
    root = ElementTree.fromstring(svg)
    return ["".join(element.itertext()) for element in root.iter() if "text" in element.tag]


def report(*measured):
    """Return a report of one theorem with these measures."""
    return {**sample.full(), "measures": list(measured)}


def test_every_measure_has_a_panel_and_every_line_one_name():
    svg = figures.stacked(ALL, name="f", label="stacked")
    said = texts(svg)
    for name in ("gap", "frozen", "cosine"):
        assert any(text.startswith(f"axis of {name}") for text in said)
    assert said.count("c = 0") == said.count("c = 0.3") == 1
    assert sum(text.startswith("place ρ") for text in said) == 1
    assert figures.stacked(ALL, name="f", label="stacked") == svg


def test_a_line_looks_alike_in_all_panels():
    """c = 0.3 is the second line of the first panel and the only one of the second."""
    svg = figures.stacked(ALL, name="f", label="stacked")
    alone = figures.stacked([FROZEN, COSINE], name="f", label="stacked")
    dashed = r"stroke-dasharray:6\.6"
    assert len(re.findall(dashed, svg)) > len(re.findall(dashed, alone))


def test_cells_without_an_abscissa_or_with_another_one_are_not_stacked():
    assert figures.is_stackable(ALL)
    assert not figures.is_stackable([GAP])
    assert not figures.is_stackable([GAP, {**COSINE, "abscissa": "another"}])
    nowhere = {**COSINE, "cells": [spread(None, 1.0)]}
    assert not figures.is_stackable([GAP, nowhere])
    assert figures.is_stackable([GAP, nowhere, FROZEN])
    assert "axis of cosine" not in figures.stacked([GAP, nowhere, FROZEN], name="f", label="l")


def test_measures_are_taken_together_by_the_name_of_their_figure():
    assert of_one_figure([*ALL, {**COSINE, "figure": ""}]) == {"road": ALL}
    assert of_one_figure([GAP, {**FROZEN, "figure": "other"}]) == {}


def test_a_page_shows_the_figure_and_each_measure():
    page = render(report(*ALL))
    assert page.count("Road, over place ρ: axis of gap") >= 1
    caption = sample.Reader(page).words
    assert "axis of gap, 10−5 to 0.5 at the left end and 0.01 to 0.3 at the right" in caption
    assert "axis of frozen, 1 at the left end and 0 at the right" in caption
    for name in ("gap", "frozen", "cosine"):
        assert f"lai2026.theorem1.{name}" in page


def test_the_figure_of_a_report_stands_alone():
    svg = single_figure(report(*ALL))
    root = ElementTree.fromstring(svg)
    assert root.get("width") == "640"
    assert "font-family" in root.get("style", "")
    assert root.get("aria-label", "").startswith("Road, over place ρ")
    assert svg == single_figure(report(*ALL))


@pytest.mark.parametrize(
    ("measured", "said"),
    [
        ((), "in the report: none; expected one"),
        ((GAP,), "in the report: none"),
        (
            (*ALL, *({**m, "figure": "other", "full_id": f"x.{m['measure']}"} for m in ALL)),
            "'road', 'other'",
        ),
    ],
)
def test_a_report_with_no_such_figure_or_several_is_refused(measured, said):
    with pytest.raises(InputError, match=re.escape(said)):
        single_figure(report(*measured))


def test_a_figure_of_another_version_is_refused():
    with pytest.raises(InputError, match="schema_version=99, expected"):
        single_figure({**report(*ALL), "schema_version": 99})


def test_a_measure_that_names_a_figure_needs_an_abscissa():
    def holds(trial):
        """It holds."""
        return Margin(0, 1)

    assert Universal(holds).id == "holds"
    with pytest.raises(TheoremError, match="figure='road' without an abscissa"):
        Frequency(holds, figure="road")
