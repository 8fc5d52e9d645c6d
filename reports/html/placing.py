"""Which figures a page has, in its order: drawn, numbered, captioned, each with what it shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from reports.html import captions, figures, measure_captions
from reports.typography import Part

Draw = Callable[..., str]


class Album:
    """Figures as they are added: every one is numbered, and is listed with its owner."""

    def __init__(self) -> None:
        self.figures: list[dict[str, Any]] = []

    def add(self, owner: Any, draw: Draw, caption: Sequence[str], label: str) -> int:
        """Draw a figure, list it in its owner's "figures" (a claim, measure or theorem), and
        return its number."""
        rank = len(self.figures) + 1
        name = f"figure-{rank}"
        svg = draw(name=name, label=f"{label} {caption[0]}")
        entry = {"number": rank, "anchor": name, "svg": svg, "caption": caption}
        self.figures.append(entry)
        owner["figures"].append(entry)
        return rank


def place_figures(report: Part, theorems: Sequence[Part]) -> list[dict[str, Any]]:
    """Return the figures that a report has data for, in the order of the page, and list each with
    the claim, measure or theorem of `theorems` that it belongs to."""
    album = Album()
    for theorem in theorems:
        _patterns(album, report, theorem)
        for claim in theorem["claims"]:
            _evidence(album, claim)
        if any(figures.margins_shown(claim) for claim in theorem["claims"]):
            owner = theorem["margins"]
            draw = partial(figures.margins, theorem["claims"])
            album.add(owner, draw, measure_captions.margins(theorem["claims"]), "Margins.")
        for shared in of_one_figure(theorem["measures"]).values():
            draw, caption = partial(figures.stacked, shared), measure_captions.stacked(shared)
            album.add(theorem["shared"], draw, caption, "Measures over one abscissa.")
        for measure in theorem["measures"]:
            _measure(album, measure)
    for theorem in theorems:
        for control in theorem["controls"]:
            _patterns(album, report, theorem, control)
            _evidence(album, control)
    return album.figures


def _patterns(album: Album, report: Part, theorem: Part, control: Part | None = None) -> None:
    """Draw the patterns of a control, or else those that are the theorem's own."""
    of_controls = [entry["claim"] for entry in theorem["controls"]]
    for raster in report.get("rasters") or ():
        kind = raster.get("kind")
        ours = kind == control["claim"] if control else kind not in of_controls
        if (
            ours
            and raster.get("theorem") == theorem["address"]
            and figures.raster_is_drawable(raster)
        ):
            parts = (raster["patterns"], raster["labels"], raster["signs"])
            draw, caption = partial(figures.pattern_raster, *parts), captions.pattern_raster(raster)
            album.add(control or theorem, draw, caption, "Activation pattern.")


def _evidence(album: Album, claim: Part) -> None:
    """Draw what a claim was judged by: slopes, or bounds on a probability."""
    told: dict[bool, int] = {}
    for slope in claim["slopes"]:
        if figures.scaling_is_drawable(slope):
            has_band = any(slope.get("band_low") or ())
            caption = captions.scaling_law(slope, told.get(has_band))
            draw = partial(figures.scaling_law, slope)
            told.setdefault(has_band, album.add(claim, draw, caption, "Log–log plot."))
    is_bounded = claim["kind"] == "probable" and claim["probability"] is not None
    if is_bounded and figures.bounds_differ(claim["cells"]):
        draw = partial(figures.probability_bounds, claim["cells"], claim["probability"])
        album.add(claim, draw, captions.probability_bounds(claim), "Confidence bounds by cell.")


def of_one_figure(measures: Sequence[Part]) -> dict[str, list[Part]]:
    """Return the measures that are drawn above one another, by the name of their figure."""
    named: dict[str, list[Part]] = {}
    for measure in measures:
        if measure["figure"]:
            named.setdefault(measure["figure"], []).append(measure)
    return {name: shared for name, shared in named.items() if figures.is_stackable(shared)}


def _measure(album: Album, measure: Part) -> None:
    """Draw a measure, if any of its cells measured anything."""
    if measure["kind"] == "frequency":
        if any(cell["frequency"] is not None for cell in measure["cells"]):
            caption = measure_captions.frequencies(measure)
            album.add(measure, partial(figures.frequencies, measure), caption, "Frequencies.")
    elif any(figures.ends_and_middle(cell) for cell in measure["cells"]):
        caption = measure_captions.quantiles(measure)
        album.add(measure, partial(figures.quantiles, measure), caption, "Quantiles.")
