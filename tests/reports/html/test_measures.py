"""What a page tells of measures, chains and realised assumptions."""

import pytest

from reports.html import measures
from reports.html.figures.strips import strip
from reports.html.render import render
from tests.reports import sample
from tests.reports.sample import Reader, chain, full, measure, report, shares, spread, theorem


@pytest.fixture(scope="module")
def page():
    return render(full())


def section(page, start, end):
    """Return the words of a part of a page: from an id up to the next closing tag."""
    return Reader(page[page.index(f'id="{start}"') :].split(end)[0].partition(">")[2]).words


def told(name, kind, cells, **changes):
    """Return a measure as a page tells it."""
    made = measure(name, kind, cells, **changes)
    (found,) = measures.measures({"measures": [made]}, made["theorem"], {})
    return found


def test_measures_are_told_apart_from_claims(page):
    found = section(page, "measure-lai2026.theorem1.success", "</article>")
    assert "measured D ours how often it holds, given labels_are_nonzero" in found
    assert "What success reports of ‖w∞‖." in found
    assert "supported" not in found
    assert "14 cells, in numbers" in found
    assert "all with n = 20, d = 10 000; abscissa: number m of neurons" in found


def test_frequencies_are_told_with_their_bounds_rounded_outwards():
    cell = {**shares(8, 0.5, prediction=0.51), "low": 0.45001, "high": 0.54999}
    table = told("success", "frequency", [cell])["table"]
    assert [title for title, _ in table["columns"]] == [
        "Cell",
        "Abscissa",
        "Holds / in scope / trials",
        "Frequency",
        "Within",
        "Predicted",
    ]
    assert table["rows"] == [
        [
            "n = 20, m = 8, d = 10\N{NARROW NO-BREAK SPACE}000",
            "8",
            "100 / 200 / 200",
            "0.5",
            "0.4500 to 0.5500",
            "0.51",
        ]
    ]


def test_a_cell_without_trials_in_scope_says_so():
    empty = {**shares(8, 0.0), "in_scope": 0, "frequency": None, "low": 0.0, "high": 1.0}
    (row,) = told("success", "frequency", [empty])["table"]["rows"]
    assert row[2:] == ["0 / 0 / 200", "—", "none in scope"]


def test_quantiles_are_told_with_their_intervals():
    table = told("ratio", "quantiles", [spread(None, 1.0)], abscissa="")["table"]
    columns = [title for title, _ in table["columns"]]
    assert columns[2:] == [
        "Mean ± s.d.",
        "5\N{NARROW NO-BREAK SPACE}% quantile",
        "Median",
        "95\N{NARROW NO-BREAK SPACE}% quantile",
    ]
    (row,) = table["rows"]
    assert row[1:] == [
        "197 / 200",
        "1.01 ± 0.12",
        "0.8 [0.75, 0.85]",
        "1 [0.98, 1.03]",
        "1.2 [1.15, —]",
    ]


def test_empirical_constants_span_the_cells():
    two = told("ratio", "quantiles", [spread(10.0, 1.0), spread(100.0, 2.0)])
    (row,) = measures.constants([two])
    assert row["points"] == "2"
    assert [tuple(quantile.values()) for quantile in row["quantiles"]] == [
        ("5\N{NARROW NO-BREAK SPACE}% quantile", "0.8 to 1.6", "[0.75, 1.7]"),
        ("median", "1 to 2", "[0.98, 2.06]"),
        ("95\N{NARROW NO-BREAK SPACE}% quantile", "1.2 to 2.4", "[1.15, —]"),
    ]
    nothing = {**spread(10.0, 1.0), "quantiles": []}
    assert measures.constants([told("ratio", "quantiles", [nothing])]) == []


@pytest.mark.parametrize(
    ("low", "high", "monotone", "where"),
    [
        (2, 8, True, "between 2 and 8"),
        (None, 8, True, "at or below 8"),
        (2, None, True, "above 2"),
        (None, None, True, "not bracketed by the cells sampled"),
        (None, None, False, "nowhere: the bounds say that it falls"),
    ],
)
def test_thresholds_say_between_what_they_lie(low, high, monotone, where):
    threshold = {"line": 20, "level": 0.95, "low": low, "high": high, "monotone": monotone}
    found = told("success", "frequency", [shares(8, 0.5, line=20)], by="n", thresholds=[threshold])
    assert measures.thresholds([found]) == {
        "levels": ["0.95"],
        "rows": [{"measure": found, "line": "n = 20", "passed": [where]}],
    }


def test_thresholds_stand_line_by_line_with_a_column_for_each_level():
    whole = {"line": 20, "level": 0.5, "low": 2, "high": 8, "monotone": True}
    lines = told("a", "frequency", [], by="n", thresholds=[{**whole, "line": n} for n in (20, 50)])
    alone = told("b", "frequency", [], thresholds=[{**whole, "line": None, "level": 0.9}])
    found = measures.thresholds([lines, alone])
    assert found["levels"] == ["0.5", "0.9"]
    assert [(row["line"], row["passed"]) for row in found["rows"]] == [
        ("n = 20", ["between 2 and 8", "—"]),
        ("n = 50", ["between 2 and 8", "—"]),
        ("all cells", ["—", "between 2 and 8"]),
    ]


def test_pages_gather_the_empirical_constants_of_a_theorem(page):
    found = Reader(page.split("Empirical constants</h4>")[1].split("<article")[0]).words
    for part in (
        "Do not take them for the paper’s.",
        "ratioaxis of ratio (dimensionless) 0.816 to 0.84[0.765, 0.8925]",
        "constantaxis of constant (dimensionless) 1.6[1.5, 1.7]",
        "assuming that the frequency never falls along the abscissa",
        "successnumber m of neuronsn = 20between 2 and 8at or below 64nowhere: the bounds say",
    ):
        assert part in found, f"{part!r} should be in {found}"


def test_chains_say_which_link_fails_first_and_where(page):
    found = section(page, "chain-lai2026.theorem1", "</section>")
    for part in (
        "In the theorem’s own cells a link fails in 10 of 200 trials, most often first link 2, "
        "link_2 (8 times).",
        "At the point of control small_step a link fails in 200 of 200 trials, most often first "
        "link 1, link_1 (150 times).",
        "link_3 Link 3 bounds δ3.",
        "d = 10 0002000821189",
        "d = 50control small_step200150302000",
    ):
        assert part in found, f"{part!r} should be in {found}"
    assert "--share: 75.0%" in page


def test_chains_tell_controls_that_break_them_one_by_one_and_the_others_together():
    told = chain()
    broken, kept = told["cells"][1], {**told["cells"][0], "first": [0, 0, 3], "holds": 196}
    broken = {**broken, "first": [200, 0, 0]}
    points = [{**broken, "controls": [f"broken_{k}"]} for k in range(6)]
    points += [{**kept, "controls": [f"kept_{k}"]} for k in range(2)]
    seen = measures.chain({"chains": [{**told, "cells": points}]}, told["theorem"])["seen"]
    assert seen.count("a link fails in 200 of 200 trials, always first link 1, link_1.") == 4
    assert "At the point of control broken_3 a link" in seen
    assert "At the points of 2 more controls a link fails in 400 of 400 trials" in seen
    assert "At the points of the other controls a link fails in 6 of 400 trials" in seen


@pytest.mark.parametrize(
    ("first", "holds", "seen"),
    [
        ([0, 0, 0], 200, "no link fails in 200 trials."),
        ([0, 0, 0], 190, "no link fails in 200 trials; in 10 a link is undecided."),
    ],
)
def test_chains_that_hold_say_so(first, holds, seen):
    told = chain()
    told["cells"] = [{**told["cells"][0], "first": first, "holds": holds, "undecided": 200 - holds}]
    found = measures.chain({"chains": [told]}, told["theorem"])
    assert found["seen"] == f"In the theorem’s own cells {seen}"


def test_assumptions_tell_how_they_were_met(page):
    assert (
        "met in 990 of 1000 trials, 1 unknown; margin: median 0.63 [min −0.02, max 0.8]"
    ) in section(page, "assumption-lai2026.theorem1/labels_are_nonzero", "</dd>")
    assert page.count('class="strip"') == 1


def test_assumptions_without_spread_or_margins_have_no_strip():
    one = theorem()["assumptions"][0]
    level = {**one["realised"], "unknown": 0, "margins": [1.0] * 7}
    assert measures.realised({**one, "realised": level}) == {
        "words": "met in 990 of 1000 trials; margin 1 everywhere",
        "strip": "",
    }
    infinite = {**level, "margins": [None, *[1.0] * 6]}
    assert measures.realised({**one, "realised": infinite})["words"] == "met in 990 of 1000 trials"
    assert measures.realised({**one, "realised": None}) is None
    assert measures.realised({"id": "a"}) is None


def test_strips_put_zero_and_the_median_where_they_belong():
    def places(margins):
        drawn = strip(margins)
        paths = (drawn.split(f'class="{part}" d="M')[1] for part in ("zero", "middle"))
        return [float(path.split(" ")[0]) for path in paths]

    zero, median = places([-1.0, -0.5, 0.0, 0.5, 0.6, 0.8, 1.0])
    assert zero == pytest.approx(64, abs=0.1)
    assert median == pytest.approx(94.5, abs=0.1)
    zero, median = places([1.0, 1.1, 1.2, 1.5, 1.6, 1.8, 2.0])
    assert (zero, median) == (3.0, pytest.approx(94.5, abs=0.1))
    zero, median = places([-1e9, -1e3, 0.1, 0.5, 0.6, 0.8, 1.0])
    assert 3 < zero < median < 125


def test_a_report_without_measures_says_nothing_of_them():
    page = render(report())
    words = Reader(
        page.split('<section id="theorems">')[1].split('<section id="reading">')[0]
    ).words
    assert "Empirical constants" not in words
    assert "Measured, not judged" not in words
    assert "The chain of the proof" not in words


def test_measures_of_a_kind_that_the_page_does_not_know_are_left_out():
    made = measure("odd", "histogram", [])
    assert measures.measures({"measures": [made]}, made["theorem"], {}) == []


def test_the_sample_is_what_the_engine_writes():
    from verify.findings import FrequencyCell, Measured, QuantileFound, QuantilesCell, Threshold

    def keys(kind):
        return set(kind.__dataclass_fields__)

    for made in sample.measures():
        assert set(made) == keys(Measured)
        kind = FrequencyCell if made["kind"] == "frequency" else QuantilesCell
        for cell in made["cells"]:
            assert set(cell) == keys(kind)
            assert all(set(q) == keys(QuantileFound) for q in cell.get("quantiles", ()))
        assert all(set(threshold) == keys(Threshold) for threshold in made["thresholds"])


def test_a_chain_has_one_row_for_all_points_of_a_control():
    told = chain()
    own, broken = told["cells"]
    found = measures.chain({"chains": [{**told, "cells": [own, broken, broken]}]}, told["theorem"])
    alone, together = found["cells"]
    assert alone["where"]
    assert (together["where"], together["trials"]) == ("2 points together", 400)
    assert together["first"] == [300, 60, 40]
    assert together["counts"][0] == {"count": 300, "share": 75.0}
