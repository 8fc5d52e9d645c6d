"""Figures of a report, as SVG: pure functions of parts of report.json.

Every figure is a string as `svg.for_page` gives it. Marks differ in shape and line style, so that
nothing is told by colour alone.
"""

from reports.html.figures.bounds import (
    MARKERS,
    MOST_CELLS,
    SHAPES,
    bounds_differ,
    cells_shown,
    probability_bounds,
)
from reports.html.figures.frequencies import frequencies, is_calibration
from reports.html.figures.margins import margins, margins_shown
from reports.html.figures.patterns import (
    MOST_EXAMPLES,
    MOST_STEPS,
    pattern_raster,
    raster_is_drawable,
    raster_order,
)
from reports.html.figures.quantiles import ends_and_middle, quantiles
from reports.html.figures.scaling import scaling_is_drawable, scaling_law
from reports.html.figures.series import MOST_LINES, lines_of
from reports.html.figures.stacked import is_stackable, stacked

__all__ = [
    "MARKERS",
    "MOST_CELLS",
    "MOST_EXAMPLES",
    "MOST_LINES",
    "MOST_STEPS",
    "SHAPES",
    "bounds_differ",
    "cells_shown",
    "ends_and_middle",
    "frequencies",
    "is_calibration",
    "is_stackable",
    "lines_of",
    "margins",
    "margins_shown",
    "pattern_raster",
    "probability_bounds",
    "quantiles",
    "raster_is_drawable",
    "raster_order",
    "scaling_is_drawable",
    "scaling_law",
    "stacked",
]
