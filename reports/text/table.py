"""A report as one table in CSV: a row for each cell of a claim, point of a sweep, or measure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

Part = Mapping[str, Any]

_CLAIM = ("theorem", "claim", "kind", "expected", "claim_verdict", "cell_verdict")
_COUNTS = ("trials", "in_scope", "holds", "violated", "undecided")
_BOUNDS = ("lower_bound", "upper_bound", "worst_margin")
_CLAIM_BOUNDS = ("claim_lower_bound", "claim_upper_bound", "search_violated")
_SWEEP = ("sweep", "exponent", "tolerance", "slope", "slope_low", "slope_high")
_MEANS = ("abscissa", "mean", "spread")


def table(report: Part) -> str:
    """Return a report as CSV (RFC 4180 with line feeds): a row for each cell of each claim, each
    point of each sweep of a rate, and each cell of what was measured.

    A coordinate x of the points is the column `point.x`, empty where a point has none. Numbers
    are written in full; what is unknown is empty. `claim_…` bounds are those of the claim on all
    its cells, `search_violated` counts violations that the search found. Of a rate's quantity,
    mean and spread are the geometric mean and the standard deviation of its logarithm; of a
    measured quantity, mean and standard deviation, with a column for each quantile.
    """
    rows = [*_rows(report), *_measured(report)]
    found = sorted({name for row in rows for name in row})
    coordinates = [name for name in found if name.startswith("point.")]
    quantiles = [name for name in found if name.startswith("quantile.")]
    columns = (*_CLAIM, *coordinates, *_COUNTS, *_BOUNDS, *_CLAIM_BOUNDS, *_SWEEP, *_MEANS)
    columns += tuple(quantiles)
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _rows(report: Part) -> Iterator[dict[str, Any]]:
    for verdict in report["verdicts"]:
        claim = {
            **{name: verdict[name] for name in ("theorem", "claim", "kind", "expected")},
            "claim_verdict": verdict["verdict"],
            "claim_lower_bound": verdict["lower_bound"],
            "claim_upper_bound": verdict["upper_bound"],
            "search_violated": (verdict["hunted"] or {}).get("violated"),
        }
        for cell in verdict["cells"]:
            yield {**claim, **_point(cell["point"]), **_counted(cell)}
        for slope in verdict["slopes"]:
            for place, point in enumerate(slope["points"]):
                yield {**claim, **_point(point), **_swept(slope, place)}


def _measured(report: Part) -> Iterator[dict[str, Any]]:
    for measure in report["measures"]:
        names = {"theorem": measure["theorem"], "claim": measure["measure"]}
        for cell in measure["cells"]:
            row = {**names, "kind": measure["kind"], **_point(cell["point"])}
            row |= {name: cell[name] for name in ("trials", "in_scope")}
            row |= {"undecided": cell["unknown"], "abscissa": cell["x"]}
            if measure["kind"] == "frequency":
                yield row | {
                    "holds": cell["holds"],
                    "lower_bound": cell["low"],
                    "upper_bound": cell["high"],
                }
            else:
                levels = {f"quantile.{q['level']:g}": q["value"] for q in cell["quantiles"]}
                yield row | {"mean": cell["mean"], "spread": cell["deviation"], **levels}


def _point(point: Part) -> dict[str, Any]:
    return {f"point.{name}": value for name, value in point.items()}


def _counted(cell: Part) -> dict[str, Any]:
    tally = cell["tally"]
    return {
        "cell_verdict": cell["verdict"],
        **{name: tally[name] for name in (*_COUNTS, "worst_margin")},
        **{name: cell[name] for name in ("lower_bound", "upper_bound")},
    }


def _swept(slope: Part, place: int) -> dict[str, Any]:
    series = {name: slope[name] for name in _MEANS}
    return {
        "cell_verdict": slope["verdict"],
        **{name: slope[name] for name in ("sweep", "exponent", "tolerance", "slope")},
        **{f"slope_{end}": slope[end] for end in ("low", "high")},
        **{name: values[place] for name, values in series.items() if place < len(values)},
    }
