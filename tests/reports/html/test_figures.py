import re
from xml.etree import ElementTree

import matplotlib
import pytest

from reports.html import figures
from reports.html.figures.compact_svg import shorter_path
from reports.html.figures.series import is_logarithmic, with_unit
from reports.html.figures.svg import COLOURS, WIDTH
from tests.reports import sample

SLOPE = {
    "sweep": "d at n=20",
    "verdict": "supported",
    "exponent": 0.5,
    "tolerance": 0.01,
    "slope": 0.4973,
    "low": 0.4958,
    "high": 0.4988,
    "curvature": 0.02,
    "abscissa": [2e-2, 2e-4, 2e-6, 2e-8],
    "mean": [3.4e-2, 3.7e-3, 3.8e-4, 3.8e-5],
    "spread": [0.08, 0.07, 0.08, 0.07],
    "points": [{"n": 20, "d": 10.0**k} for k in (3, 5, 7, 9)],
    "band_low": [2e-2, 2e-3, 2e-4, 2e-5],
    "band_high": [6e-2, 6e-3, 6e-4, 6e-5],
}
HOSTILE = "<script>alert('x')</script> $\\frac{1}{$ & \"quotes\" 🙂 ∮ الحد"


def cell(holds=150, in_scope=150, verdict="supported", low=0.96, high=1.0, **point):
    tally = {"trials": 150, "in_scope": in_scope, "holds": holds, "violated": in_scope - holds}
    bounds = {"lower_bound": low, "upper_bound": high}
    return {"point": point or {"n": 20}, "verdict": verdict, "tally": tally, **bounds}


CELLS = [
    cell(n=20, d=4000, c=0.5),
    cell(n=50, d=1e12, c=0.5, holds=100, low=0.5, high=0.8, verdict="refuted"),
    cell(n=50, d=2e4, c=0.5, in_scope=0, holds=0, low=None, high=None, verdict="vacuous"),
    cell(n=50, d=2e4, c=0.9, holds=140, low=0.85, high=0.97, verdict="inconclusive"),
    cell(n=50, d=2e5, c=0.9, holds=140, low=0.85, high=0.97, verdict="undecided"),
]
MEASURES = {entry["measure"]: entry for entry in sample.measures()}
MARGINS = [-0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7]
CLAIMS = [
    {"claim": "tight", "cells": [{**CELLS[0], "margins": MARGINS}, {**CELLS[1], "margins": None}]},
    {"claim": "level", "cells": [{**CELLS[0], "margins": [1.0] * 7}]},
    {"claim": "silent", "cells": [CELLS[0]]},
]
PATTERN = [[1, 1, 1, 1], [1, 0, 1, 0], [1, 0, 1, 0], [1, 1, 1, 0]]
LABELS = [0.5, -0.9, 0.8, -0.6]

DRAWN = {
    "scaling": lambda: figures.scaling_law(SLOPE, name="f1", label="a law"),
    "bounds": lambda: figures.probability_bounds(CELLS, 0.95, name="f2", label="bounds"),
    "raster": lambda: figures.pattern_raster([PATTERN], LABELS, [1], name="f3", label="pattern"),
    "neurons": lambda: figures.pattern_raster(
        [PATTERN, PATTERN], LABELS, [1, -1], name="f4", label="patterns"
    ),
    "lines": lambda: figures.frequencies(MEASURES["success"], name="f5", label="lines"),
    "diagonal": lambda: figures.frequencies(MEASURES["predicted"], name="f6", label="diagonal"),
    "shares": lambda: figures.frequencies(MEASURES["by_cell"], name="f7", label="shares"),
    "quantiles": lambda: figures.quantiles(MEASURES["ratio"], name="f8", label="quantiles"),
    "rows": lambda: figures.quantiles(MEASURES["constant"], name="f9", label="rows"),
    "margins": lambda: figures.margins(CLAIMS, name="f10", label="margins"),
}
SHOWN = {
    "scaling": ("geometric mean (dimensionless)", "claimed", "fitted", "mean ± spread"),
    "bounds": ("P(holds | in scope) (dimensionless)", "claimed P ≥ 0.95", "no trial in scope"),
    "raster": ("step of gradient descent (number of steps)", "y > 0", "y < 0", "from step 1"),
    "neurons": ("(number of steps)", "neuron 1, output sign +", "neuron 2, output sign −"),
    "lines": (
        "axis of success (dimensionless)",
        "number m of neurons (dimensionless)",
        "n = 20",
        "n = 50",
        "level ticks: predicted",
    ),
    "diagonal": ("predicted P̂ (dimensionless)", "dashed: as predicted"),
    "shares": ("axis of by_cell (dimensionless)", "no trial in scope"),
    "quantiles": ("axis of ratio (dimensionless)", "dimension d (dimensionless)", "dashed: pred"),
    "rows": ("axis of constant (dimensionless)", "n = 20, c = 0.5"),
    "margins": (
        "margin (dimensionless; scales differ from claim to claim)",
        "0: violated left of it",
        "tight",
        "least −0.02",
        "level",
    ),
}


@pytest.fixture(params=sorted(DRAWN))
def drawn(request):
    return request.param, DRAWN[request.param]()


def texts(svg):
    return [
        "".join(element.itertext()) for element in ElementTree.fromstring(svg).findall(".//{*}text")
    ]


def test_figures_name_their_axes_with_units(drawn):
    name, svg = drawn
    found = " | ".join(texts(svg))
    missing = [text for text in SHOWN[name] if text not in found]
    assert not missing, f"{missing} should be in {found}"


def test_figures_scale_and_are_told_to_screen_readers(drawn):
    root = ElementTree.fromstring(drawn[1])
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert root.get("viewBox", "").startswith(f"0 0 {WIDTH} ")
    assert root.get("width") is None
    assert root.get("height") is None


def test_figures_bring_nothing_of_their_own_into_a_page(drawn):
    _, svg = drawn
    root = ElementTree.fromstring(svg)
    prefix = root.find(".//*[@id]").get("id").partition("-")[0]
    assert all(e.get("id", f"{prefix}-").startswith(f"{prefix}-") for e in root.iter())
    references = re.findall(r'(?:href="#|url\(#)([^")]+)', svg)
    assert set(references) <= {e.get("id") for e in root.iter()}
    assert not re.search(r"<style|<metadata|<image|font-family|http(?!://www.w3.org/2000/svg)", svg)


def test_colours_are_variables_that_a_page_may_set(drawn):
    bare = re.findall(r"(?<!, )#[0-9a-f]{6}", drawn[1])
    assert not bare, f"colours {set(bare)} cannot follow light and dark"


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_the_same_input_gives_the_same_bytes_whatever_the_users_settings(name):
    once = DRAWN[name]()
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.hashsalt": "x"}):
        assert DRAWN[name]() == once


@pytest.mark.parametrize(
    ("path", "short"),
    [
        ("M1.50 2L3.25 2L3.25 4.00L5 6z", "M1.5 2H3.25V4L5 6z"),
        ("M0 0L0 5zM10 0L10 5", "M0 0V5zM10 0V5"),
        ("M0 0L0 0L20 30", "M0 0V0L20 30"),
        ("M0 0C1 1 2 2 3 3L3 9", "M0 0C1 1 2 2 3 3L3 9"),
    ],
)
def test_paths_are_written_short(path, short):
    assert shorter_path(path) == short


def test_active_and_inactive_differ_in_greyscale():
    def luminance(colour):
        red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue

    active, inactive = (luminance(COLOURS[name]) for name in ("active", "inactive"))
    assert inactive - active > 0.5


def test_verdicts_differ_in_shape():
    shapes = [tuple(sorted(style.items())) for style in figures.MARKERS.values()]
    assert len(set(shapes)) == len(shapes) == 6
    assert set(figures.SHAPES) == set(figures.MARKERS)


@pytest.mark.filterwarnings("error")
def test_hostile_text_is_text():
    slope = {**SLOPE, "sweep": HOSTILE, "against": HOSTILE, "quantity": HOSTILE}
    svg = figures.scaling_law(slope, name="f1", label=HOSTILE)
    assert "<script" not in svg
    assert ElementTree.fromstring(svg).get("aria-label") == HOSTILE
    cells = [cell(name=HOSTILE), cell(name="x" * 5000)]
    drawn = texts(figures.probability_bounds(cells, 0.9, name="f2", label="x"))
    assert any("<script>alert('x')</script> $" in text for text in drawn)
    assert max(map(len, drawn)) < 80


@pytest.mark.parametrize(
    "changes",
    [
        {"slope": None, "low": None, "high": None, "curvature": None},
        {"band_low": [], "band_high": []},
        {"band_low": [0.0, 2.3e-308, 2e-4, 2e-5]},
        {"spread": [0.0, None, 0.1, 0.2]},
        {"mean": [None, 1e-3, 1e-4, 1e-5]},
        {"exponent": 0.0, "slope": 0.0, "mean": [0.00356, 0.00355, 0.00356, 0.00355]},
        {"abscissa": [10.0, 20.0, 40.0, 80.0], "mean": [1e-300, 1e-200, 1e200, 1e300]},
    ],
    ids=["no slope", "no band", "band at zero", "no spread", "a gap", "level", "extreme"],
)
def test_scaling_laws_draw_what_there_is(changes):
    svg = figures.scaling_law({**SLOPE, **changes}, name="f", label="x")
    assert ("fitted" in texts(svg)) == (changes.get("slope", 0) is not None)


@pytest.mark.parametrize("abscissa", [(), (1.0,), (1.0, None), (0.0, -1.0, 2.0)])
def test_scaling_needs_two_points(abscissa):
    slope = {"abscissa": abscissa, "mean": (1.0,) * 3, "spread": (0.1,) * 3}
    assert not figures.scaling_is_drawable(slope)
    assert figures.scaling_is_drawable(SLOPE)


def test_the_abscissa_is_named_after_the_coordinate_that_it_equals():
    slope = {**SLOPE, "abscissa": [point["d"] for point in SLOPE["points"]]}
    assert "d (dimensionless)" in texts(figures.scaling_law(slope, name="f", label="x"))


def test_axes_carry_the_names_that_a_report_gives_them():
    slope = {**SLOPE, "against": "n/‖λ‖₁", "quantity": "gap ‖w_∞ − w⋆‖₂"}
    found = texts(figures.scaling_law(slope, name="f", label="x"))
    assert "n/‖λ‖₁ (dimensionless)" in found
    assert "gap ‖w∞ − w⋆‖₂, geometric mean (dimensionless)" in found


@pytest.mark.parametrize("quantity", ["relative gap ‖w_∞ − w⋆‖₂/‖w⋆‖₂", "long " * 99])
def test_a_long_name_never_cuts_off_the_unit(quantity):
    slope = {**SLOPE, "against": quantity, "quantity": quantity}
    quantity = quantity.replace("_", "")
    found = [text for text in texts(figures.scaling_law(slope, name="f", label="x")) if text]
    assert [text for text in found if text.startswith(quantity[:31])]
    assert all(text.endswith("(dimensionless)") for text in found if text.startswith(quantity[:9]))


def test_rasters_sort_by_sign_then_magnitude():
    assert figures.raster_order([0.5, -0.9, 0.8, -0.6, 0.0]) == [2, 0, 1, 3, 4]


def test_large_rasters_stay_small():
    steps, examples = 400, 300
    pattern = [[(t * i) % 7 < 3 for i in range(examples)] for t in range(steps)]
    labels = [(-1) ** i * (1 + i) for i in range(examples)]
    svg = figures.pattern_raster([pattern], labels, [1], name="f", label="x")
    assert len(figures.raster_order(labels)) <= figures.MOST_EXAMPLES
    assert len(svg) < 2_000_000


def test_many_cells_leave_the_lowest_bounds():
    cells = [cell(n=k, low=0.5 + k / 1000) for k in range(100)]
    shown = figures.cells_shown(cells)
    assert [rank for rank, _ in shown] == list(range(1, figures.MOST_CELLS + 1))


@pytest.mark.parametrize(
    "changes",
    [
        {"labels": []},
        {"patterns": []},
        {"patterns": [[]]},
        {"patterns": [PATTERN, PATTERN]},
        {"patterns": [PATTERN, PATTERN[:2]], "signs": [1, -1]},
        {"patterns": [[[1, 1]]]},
    ],
    ids=["no labels", "no neuron", "no step", "signs short", "steps differ", "examples differ"],
)
def test_rasters_are_drawn_only_where_every_neuron_has_a_state_for_every_label(changes):
    whole = {"patterns": [PATTERN], "labels": LABELS, "signs": [1]}
    assert figures.raster_is_drawable(whole)
    assert not figures.raster_is_drawable({**whole, **changes})


def test_lines_differ_in_shape_and_in_dashes():
    cells = [sample.shares(m, 0.5, line=n) for n in range(9) for m in (1, 2)]
    lines = figures.lines_of(cells)
    assert len(lines) == figures.MOST_LINES
    assert len({line.marks["marker"] for line in lines}) == len(lines)
    assert len({str(line.joined["linestyle"]) for line in lines}) == len(lines)


def test_lines_are_sorted_along_the_abscissa_and_leave_out_cells_without_one():
    cells = [sample.shares(m, 0.5) for m in (4, None, 1, 2)]
    (line,) = figures.lines_of(cells)
    assert [cell["x"] for cell in line.cells] == [1, 2, 4]


@pytest.mark.parametrize(
    ("values", "logarithmic"),
    [([1, 2, 64], True), ([1, 31], False), ([0, 1, 1000], False), ([-1, 100], False), ([], False)],
)
def test_axes_are_logarithmic_where_positive_values_span_more_than_a_decade_and_a_half(
    values, logarithmic
):
    assert is_logarithmic(values) == logarithmic


def test_an_abscissa_that_is_the_prediction_is_a_calibration():
    assert figures.is_calibration(MEASURES["predicted"]["cells"])
    assert not figures.is_calibration(MEASURES["success"]["cells"])
    assert not figures.is_calibration([])


def dashed(svg, colour):
    """Return the paths of a figure that are dashed and have a colour."""
    style = [e.get("style", "") for e in ElementTree.fromstring(svg).iter()]
    return [s for s in style if "dasharray" in s and f"--fig-{colour}" in s]


def test_the_diagonal_is_drawn_for_a_calibration_alone():
    assert len(dashed(DRAWN["diagonal"](), "claim")) == 1
    without = {**MEASURES["predicted"], "abscissa": "x"}
    cells = [{**cell, "prediction": None} for cell in without["cells"]]
    svg = figures.frequencies({**without, "cells": cells}, name="f", label="x")
    assert not dashed(svg, "claim")
    assert "dashed: as predicted" not in texts(svg)


def test_levels_asked_about_are_drawn_once():
    def level_count(*levels):
        thresholds = [
            {"line": n, "level": p, "low": 2, "high": 8} for n in (20, 50) for p in levels
        ]
        measure = {**MEASURES["success"], "thresholds": thresholds}
        return len(dashed(figures.frequencies(measure, name="f", label="x"), "soft"))

    assert level_count() == 0
    assert level_count(0.5, 0.9) == 2


def test_few_abscissae_are_named_themselves_and_lines_stand_in_the_order_of_their_values():
    cells = [sample.shares(m, 0.5, line=n) for n in (10, 40, 20) for m in (1, 2, 4, 8, 16, 32, 64)]
    drawn = texts(figures.frequencies({**MEASURES["success"], "cells": cells}, name="f", label="x"))
    assert [text for text in drawn if text in ("1", "2", "4", "8", "16", "32", "64")][:7] == [
        "1",
        "2",
        "4",
        "8",
        "16",
        "32",
        "64",
    ]
    assert [text for text in drawn if text.startswith("n = ")] == ["n = 10", "n = 20", "n = 40"]


def test_an_abscissa_too_long_for_its_line_keeps_its_unit_on_the_next():
    name = "P̂, the predicted probability of freezing, ours"
    svg = figures.frequencies({**MEASURES["success"], "abscissa": name}, name="f", label="x")
    assert {name, "(dimensionless)"} <= set(texts(svg))


def test_bounds_are_drawn_only_where_cells_differ():
    assert not figures.bounds_differ([])
    assert not figures.bounds_differ([cell(), cell(n=50)])
    assert figures.bounds_differ([cell(), cell(holds=149)])
    assert figures.bounds_differ(CELLS)


def test_quantiles_are_those_at_the_ends_and_next_to_the_middle():
    cell = {"quantiles": [{"level": p, "value": p} for p in (0.9, 0.1, 0.45, 0.25)]}
    assert [q["level"] for q in figures.ends_and_middle(cell)] == [0.1, 0.45, 0.9]
    assert figures.ends_and_middle({"quantiles": [{"level": 0.5, "value": None}]}) is None
    assert figures.ends_and_middle({}) is None


def test_a_single_quantile_and_a_level_axis_can_be_drawn():
    one = {"level": 0.5, "value": 0.0, "low": None, "high": None}
    cells = [{**sample.spread(10.0, 1.0), "quantiles": [one]}] * 2
    svg = figures.quantiles({**MEASURES["ratio"], "cells": cells}, name="f", label="x")
    assert "axis of ratio (dimensionless)" in texts(svg)


@pytest.mark.parametrize(
    ("margins", "ticks"),
    [
        (MARGINS, {"0", "0.15"}),
        ([-2.2e11, -1e9, -1e3, -1.0, 0.5, 0.7, 1.0], {"0", "−10⁸"}),
        ([-1e3, -1.0, 0.5, 0.7, 1.0, 1e9, 1.7e308], {"0"}),
    ],
)
def test_margins_far_from_zero_are_drawn_on_a_log_axis(margins, ticks):
    claim = {"claim": "far", "cells": [{**CELLS[0], "margins": margins}]}
    found = set(texts(figures.margins([claim], name="f", label="x")))
    assert ticks <= found


def test_margins_leave_the_cells_closest_to_violation():
    cells = [{**CELLS[0], "margins": [k / 100, *MARGINS[1:]]} for k in range(20)]
    assert [rank for rank, _ in figures.margins_shown({"cells": cells})] == list(range(1, 9))
    gaps = [{**CELLS[0], "margins": [None, *MARGINS[1:]]}, {**CELLS[0], "margins": None}, CELLS[0]]
    assert figures.margins_shown({"cells": gaps}) == []


def test_margins_that_are_all_but_equal_are_told_in_one_row():
    identity = [{**CELLS[0], "margins": [0.9991 + k / 1e4, *[1.0] * 6]} for k in (1, 0, 2)]
    assert [rank for rank, _ in figures.margins_shown({"cells": identity})] == [2]


def test_labels_end_in_a_unit():
    assert with_unit("long " * 40, 40).endswith("… (dimensionless)")
    assert len(with_unit("long " * 40, 40)) == 40
    assert with_unit("d", 40) == with_unit("d (dimensionless)", 40) == "d (dimensionless)"
    assert with_unit("time (in steps)", 40) == "time (in steps)"
