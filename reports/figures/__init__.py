"""Figures of a report, as SVG: pure functions of parts of report.json.

Every figure is a string as `svg.for_page` gives it. Marks differ in shape and line style, so that
nothing is told by colour alone.
"""

from reports.figures.bounds import (
    MARKERS,
    MOST_CELLS,
    SHAPES,
    bounds_differ,
    cells_shown,
    probability_bounds,
)
from reports.figures.frequencies import frequencies, is_calibration
from reports.figures.margins import margins, margins_shown
from reports.figures.patterns import (
    MOST_EXAMPLES,
    MOST_STEPS,
    pattern_raster,
    raster_is_drawable,
    raster_order,
)
from reports.figures.quantiles import ends_and_middle, quantiles
from reports.figures.scaling import scaling_is_drawable, scaling_law
from reports.figures.series import MOST_LINES, lines_of

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
]
