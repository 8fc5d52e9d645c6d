"""A report's figure of measures over one abscissa, as an SVG file that stands alone."""

from __future__ import annotations

from functools import partial

from reports import typography
from reports.html import figures, measure_captions
from reports.html import measures as of_measures
from reports.html.figures.svg import COLOURS, WIDTH
from reports.html.placing import of_one_figure
from reports.runs.schema import SCHEMA_VERSION
from reports.typography import Part
from verify.errors import InputError

ENLARGED = 1.6
"""Pixels of the file for one of the page's."""


def single_figure(report: Part) -> str:
    """Return the figure of a report, as read from report.json, in which measures share an abscissa.

    The same report gives the same bytes. Raises InputError for a report of another version, and
    unless it has just one such figure.
    """
    version = report.get("schema_version")
    if version != SCHEMA_VERSION:
        raise InputError(
            f"schema_version={version!r}, expected {SCHEMA_VERSION}; draw the figure with the "
            "relu-verify that wrote the report"
        )
    report = typography.clean(report)
    found = [
        shared
        for theorem in report.get("theorems") or ()
        for shared in of_one_figure(of_measures.measures(report, theorem["address"], {})).items()
    ]
    if len(found) != 1:
        names = ", ".join(repr(name) for name, _ in found) or "none"
        raise InputError(
            f"figures of several measures in the report: {names}; expected one, so run one theorem "
            "alone whose measures name a figure, such as relu-verify run between.road"
        )
    ((_, measures),) = found
    draw = partial(figures.stacked, measures, label=measure_captions.stacked(measures)[0])
    return _standing_alone(draw(name="figure"))


def _standing_alone(svg: str) -> str:
    """Give a figure what a page gives it: a size, a font and a background."""
    style = f"font-family:system-ui,sans-serif;background:{COLOURS['card']}"
    opening = f'<svg width="{round(ENLARGED * WIDTH)}" style="{style}" '
    return svg.replace("<svg ", opening, 1) + "\n"
