"""The HTML report: one self-contained page, from report.json alone.

`render` builds a model in which everything a reader sees is decided (`_Page`), and hands it to
the templates in `templates/`, which only lay it out. Nothing is fetched and no script runs: a
content security policy in the page says so to the browser. Text from theorems and files is
escaped; `prose` alone adds markup, to text that is escaped already.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from reports import figures
from reports.figures import number, point_text
from verify.errors import InputError

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

SCHEMA_VERSION = 1

Part = Mapping[str, Any]

VERDICTS = {
    "certified": "holds on every instance looked at, deductively and for all steps",
    "supported": "no evidence against it, and enough for it, at the stated confidence",
    "refuted": "a counterexample exists, or the stated probability or slope is excluded",
    "vacuous": "its assumptions were never met, so nothing was tested",
    "inconclusive": "too few trials in scope, or bounds that straddle the claim",
    "undecided": "numerics cannot tell: within rounding, or a run without certificate",
}
"""The six words and their meaning; `verify.verdict` says the same, and a test holds them to it."""

MARKS = {
    "V": ("the paper’s", "read in the source"),
    "A": ("the paper’s", "the abstract or a published summary only"),
    "D": ("ours", "derived here and checked numerically"),
    "H": ("ours", "our heuristic, with measured evidence"),
    "F": ("folklore", "folklore or conjecture, without a source"),
    "X": ("false", "false on purpose: a control, which must be refuted"),
}
"""Whose statement it is, and how that is known; `verify.theorem` says the same."""

EXIT_CODES = {
    0: "everything is as expected",
    1: "a claim is refuted against expectation, or a control is not refuted",
    3: "something is inconclusive, undecided or vacuous",
}

LONGEST_LIST, LONGEST_TEXT = 14, 400
"""Entries of a list, and characters of a text, that a counterexample card shows."""


def render(report: Part) -> str:
    """Return the page for a report as read from report.json.

    The same report gives the same bytes. Raises InputError for a report of another version.
    """
    version = report.get("schema_version")
    if version != SCHEMA_VERSION:
        raise InputError(
            f"schema_version={version!r}, expected {SCHEMA_VERSION}; render the report with the "
            "relu-verify that wrote it"
        )
    page = _page(_clean(report))
    return _environment().get_template("report.html").render(page=page)


def anchor(kind: str, name: str) -> str:
    """Return the id of a theorem, claim or assumption on the page: "theorem-lai2026.theorem1".

    Safe in URLs and different for different names: whatever a fragment may not hold is written
    ~XX, by byte.
    """
    return f"{kind}-{quote(name, safe='/:@').replace('~', '~7E').replace('%', '~')}"


# The model: what the page says, in its order.


def _page(report: Part) -> dict[str, Any]:
    verdicts = [_with_defaults(verdict) for verdict in report.get("verdicts") or ()]
    theorems = _theorems(report, verdicts)
    drawn = _figures(report, theorems)
    tool = {"name": "relu-verify", "version": "", **(report.get("tool") or {})}
    claims = [claim for theorem in theorems for claim in theorem["claims"]]
    controls = [claim for theorem in theorems for claim in theorem["controls"]]
    return {
        "title": f"{tool['name']} report",
        "tool": tool,
        "sentence": report.get("sentence") or "No verdicts.",
        "good": all(verdict["as_expected"] for verdict in verdicts),
        "created": str(report.get("created") or "").replace("T", " ").removesuffix("+00:00"),
        "tallies": _tallies(claims, controls),
        "run": {key: report.get(key) for key in ("seed", "profile", "backend", "wall_time_s")},
        "confidence": report.get("confidence"),
        "budget": _budget(report),
        "theorems": theorems,
        "claims": claims,
        "controls": controls,
        "claim_groups": _groups(theorems, "claims"),
        "control_groups": _groups(theorems, "controls"),
        "figures": drawn,
        "verdicts": [(word, VERDICTS[word]) for word in VERDICTS],
        "marks": [(mark, *MARKS[mark]) for mark in MARKS],
        "command": report.get("command") or "",
        "versions": report.get("versions") or {},
        "exit_code": report.get("exit_code"),
        "exit_meaning": EXIT_CODES.get(report.get("exit_code"), "see the documentation"),
        "schema_version": report["schema_version"],
    }


def _theorems(report: Part, verdicts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the theorems with their claims and controls; also one that only verdicts name."""
    listed = {theorem["address"]: theorem for theorem in report.get("theorems") or ()}
    for verdict in verdicts:
        listed.setdefault(verdict["theorem"], {"address": verdict["theorem"]})
    found, taken = [], set()
    for address, theorem in listed.items():
        name = theorem.get("id") or address
        name = address if name in taken else name
        taken.add(name)
        own = [verdict for verdict in verdicts if verdict["theorem"] == address]
        assumptions = [
            {**assumption, "anchor": anchor("assumption", f"{name}/{assumption['id']}")}
            for assumption in theorem.get("assumptions") or ()
        ]
        links = {assumption["id"]: assumption["anchor"] for assumption in assumptions}
        claims = [_claim(verdict, links) for verdict in own]
        found.append(
            {
                "name": name,
                "address": address,
                "anchor": anchor("theorem", name),
                "title": theorem.get("title") or name,
                "statement": theorem.get("statement") or "",
                "citation": theorem.get("citation") or "",
                "status": theorem.get("status"),
                "axes": theorem.get("axes") or (),
                "assumptions": assumptions,
                "claims": [claim for claim in claims if claim["expected"] != "refuted"],
                "controls": [claim for claim in claims if claim["expected"] == "refuted"],
                "share": ((report.get("error_budget") or {}).get("theorems") or {}).get(address),
            }
        )
    return found


def _groups(theorems: Sequence[Part], key: str) -> list[dict[str, Any]]:
    """Return the theorems that have entries under `key`, for a table with a heading for each."""
    shown = [theorem for theorem in theorems if theorem[key]]
    return [{"name": t["name"], "anchor": t["anchor"], "entries": t[key]} for t in shown]


def _with_defaults(verdict: Part) -> dict[str, Any]:
    lists = ("cells", "slopes", "given", "counterexamples")
    numbers = ("lower_bound", "upper_bound", "confidence", "worst_margin", "probability", "hunted")
    counts = ("trials", "in_scope", "holds", "violated", "undecided")
    return {
        **dict.fromkeys(numbers),
        **dict.fromkeys(counts, 0),
        **{"expected": "supported", "detail": "", "statement": "", "because": "", "status": None},
        **{key: value for key, value in verdict.items() if value is not None},
        **{key: verdict.get(key) or () for key in lists},
        "as_expected": bool(verdict.get("as_expected")),
    }


def _claim(verdict: dict[str, Any], assumptions: Mapping[str, str]) -> dict[str, Any]:
    cells = [_cell(cell, rank) for rank, cell in enumerate(verdict["cells"], start=1)]
    return {
        **verdict,
        "anchor": anchor("claim", verdict["full_id"]),
        "meaning": VERDICTS.get(verdict["verdict"], ""),
        "kind_words": _kind_words(verdict),
        "counts": _counts(verdict),
        "bound": _bound(verdict),
        "assumptions": [(name, assumptions.get(name)) for name in verdict["given"]],
        "cells": cells,
        "shared_point": point_text(figures.common_coordinates([c["point"] for c in cells]))
        if len(cells) > 1
        else "",
        "cell_confidence": _cell_confidence(verdict),
        "cells_agree": all(cell["verdict"] == verdict["verdict"] for cell in cells),
        "cells_words": _cells_words(cells),
        "counterexamples": [_counterexample(entry) for entry in verdict["counterexamples"]],
        "figures": [],
    }


def _cells_words(cells: Sequence[Part]) -> str:
    """Say how many cells have which verdict."""
    if len(cells) == 1:
        return f"1 cell, {cells[0]['verdict']}"
    found = [cell["verdict"] for cell in cells]
    words = [f"{found.count(word)} {word}" for word in dict.fromkeys(found)]
    if len(words) == 1:
        return f"{len(cells)} cells, all {found[0]}"
    return f"{len(cells)} cells: {', '.join(words)}"


def _kind_words(verdict: Part) -> str:
    if verdict["kind"] == "probable" and verdict["probability"] is not None:
        return f"with probability ≥ {number(verdict['probability'])}"
    return {"universal": "every instance", "rate": "power law"}.get(
        verdict["kind"], verdict["kind"]
    )


def _counts(verdict: Part) -> list[tuple[str, str]]:
    """Return the counts that make sense for the kind of claim, each with its name."""
    names = ("holds", "in_scope", "trials") if verdict["kind"] != "rate" else ("in_scope", "trials")
    return [(name.replace("_", " "), number(verdict[name])) for name in names]


def _bound(verdict: Part) -> str:
    """Return the bound that decides: a lower one, or for a refuted claim the upper one."""
    if verdict["kind"] == "rate":
        slopes = [slope for slope in verdict["slopes"] if slope.get("slope") is not None]
        if not slopes:
            return "no slope fitted"
        furthest = max(slopes, key=lambda s: _reach(s) - s["tolerance"])
        more = f" (furthest of {len(slopes)} sweeps)" if len(slopes) > 1 else ""
        return f"slope {interval(furthest)}, claimed {claimed_slope(furthest)}{more}"
    if not verdict["in_scope"]:
        return "none: nothing in scope"
    if verdict["verdict"] == "refuted":
        upper = f"P ≤ {at_most(verdict['upper_bound'])}"
        return upper if verdict["kind"] == "probable" else f"{_violations(verdict)}; {upper}"
    where = "in every cell" if verdict["kind"] == "probable" else "on average"
    return f"P ≥ {at_least(verdict['lower_bound'])} {where}"


def _violations(verdict: Part) -> str:
    """Say where the violations are that refute a claim about every instance."""
    searched = (verdict["hunted"] or {}).get("violated")
    if searched and not verdict["violated"]:
        return f"{number(searched)} found by search"
    return f"{number(verdict['violated'])} of {number(verdict['in_scope'])} violate it"


def _reach(slope: Part) -> float:
    """Return how far the slope's interval reaches from the claimed exponent."""
    ends = (slope[end] for end in ("low", "high") if slope.get(end) is not None)
    return max((abs(end - slope["exponent"]) for end in ends), default=0.0)


def _cell(cell: Part, rank: int) -> dict[str, Any]:
    tally = {**dict.fromkeys(("trials", "in_scope", "holds", "violated", "undecided"), 0)}
    tally = {**tally, "worst_margin": None, **(cell.get("tally") or {})}
    bounds = {key: cell.get(key) for key in ("lower_bound", "upper_bound")}
    return {**cell, **bounds, "point": cell.get("point") or {}, "tally": tally, "rank": rank}


def _cell_confidence(verdict: Part) -> float | None:
    """Return the confidence of each bound of a cell: a universal claim's is quoted for the pool,
    and its cells share that error equally; a with-probability claim's is quoted for a cell."""
    if verdict["confidence"] is None or not verdict["cells"]:
        return None
    shares = len(verdict["cells"]) if verdict["kind"] == "universal" else 1
    return 1 - (1 - verdict["confidence"]) / shares


def _counterexample(entry: Part) -> dict[str, Any]:
    facts = entry.get("summary") or {}
    return {
        "kind": entry.get("kind") or "",
        "file": entry.get("file") or "",
        "margin": entry.get("margin"),
        "command": entry.get("command") or "",
        "facts": [(_fact_name(name), _fact(value)) for name, value in facts.items()],
    }


def _fact(value: Any) -> dict[str, Any]:
    """Return a value as a matrix (rows of texts), a list, or a text; long ones cut, visibly."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        rows = [[_short(entry) for entry in row[:LONGEST_LIST]] for row in value[:LONGEST_LIST]]
        wide = max(len(row) for row in value)
        cut = len(value) > LONGEST_LIST or wide > LONGEST_LIST
        return {"rows": rows, "cut": f"{len(value)} × {wide}, cut" if cut else ""}
    if isinstance(value, list):
        texts = [_short(entry) for entry in value[:LONGEST_LIST]]
        more = len(value) - LONGEST_LIST
        return {"text": ", ".join(texts) + (f", … {more} more" if more > 0 else "")}
    if isinstance(value, Mapping):
        return {"text": ", ".join(f"{name} = {_short(entry)}" for name, entry in value.items())}
    return {"text": _short(value)}


def _fact_name(name: str) -> str:
    """Return a fact's name in words; symbols such as d_2 stay."""
    return name if re.fullmatch(r"\w_\w{1,3}", name) else name.replace("_", " ")


def _short(value: Any) -> str:
    just_below = isinstance(value, float) and 0.99995 <= value < 1
    text = "> 0.9999" if just_below else number(value)
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def _tallies(claims: Sequence[Part], controls: Sequence[Part]) -> dict[str, Any]:
    def count(entries: Sequence[Part]) -> dict[str, Any]:
        expected = sum(entry["as_expected"] for entry in entries)
        words = [sum(entry["verdict"] == word for entry in entries) for word in VERDICTS]
        return {"all": len(entries), "expected": expected, "words": words}

    return {"words": list(VERDICTS), "claims": count(claims), "controls": count(controls)}


def _budget(report: Part) -> str:
    """Say in words how the error is split."""
    budget = report.get("error_budget") or {}
    shares = budget.get("theorems") or {}
    if budget.get("total") is None or not shares:
        return ""
    if len(shares) == 1:
        return f"All of the error of {percent(budget['total'], 3)} goes to one theorem."
    if max(shares.values()) - min(shares.values()) < 1e-12:
        each = f"{percent(min(shares.values()), 3)} each"
    else:
        each = ", ".join(f"{percent(share, 3)} to {name}" for name, share in shares.items())
    return (
        f"The error of {percent(budget['total'], 3)} is split over {len(shares)} theorems, {each}."
    )


# The figures, numbered, with what to see in them.


def _figures(report: Part, theorems: Sequence[Part]) -> list[dict[str, Any]]:
    """Return the figures in the order of the page; claims get the numbers of theirs."""
    found: list[dict[str, Any]] = []

    def add(claim: Any, theorem: Part, draw: Any, caption: Sequence[str], label: str) -> None:
        rank = len(found) + 1
        svg = draw(name=f"figure-{rank}", label=f"{label} {caption[0]}")
        entry = {"number": rank, "anchor": f"figure-{rank}", "svg": svg, "caption": caption}
        found.append({**entry, "claim": claim, "theorem": theorem})
        if claim is not None:
            claim["figures"].append(rank)

    for theorem in theorems:
        for raster in report.get("rasters") or ():
            if raster.get("theorem") == theorem["address"] and _raster_is_drawable(raster):
                claim = next((c for c in _all(theorem) if c["claim"] == raster["kind"]), None)

                def draw(name: str, label: str, raster: Part = raster) -> str:
                    pattern, labels = raster["pattern"], raster["labels"]
                    return figures.pattern_raster(pattern, labels, name=name, label=label)

                add(claim, theorem, draw, _raster_caption(raster, claim), "Activation pattern.")
        for claim in _all(theorem):
            for slope in claim["slopes"]:
                if figures.scaling_is_drawable(slope):

                    def draw(name: str, label: str, slope: Part = slope) -> str:
                        return figures.scaling_law(slope, name=name, label=label)

                    add(claim, theorem, draw, _scaling_caption(slope), "Log–log plot.")
            if claim["kind"] == "probable" and claim["cells"] and claim["probability"] is not None:

                def draw(name: str, label: str, claim: Part = claim) -> str:
                    cells, claimed = claim["cells"], claim["probability"]
                    return figures.probability_bounds(cells, claimed, name=name, label=label)

                add(claim, theorem, draw, _bounds_caption(claim), "Confidence bounds by cell.")
    return found


def _all(theorem: Part) -> list[Any]:
    return [*theorem["claims"], *theorem["controls"]]


def _raster_is_drawable(raster: Part) -> bool:
    labels, pattern = raster.get("labels") or (), raster.get("pattern") or ()
    return bool(labels) and bool(pattern) and all(len(step) == len(labels) for step in pattern)


def _scaling_caption(slope: Part) -> list[str]:
    """Return what to see, and what is drawn."""
    if slope.get("slope") is None:
        seen = f"No slope was fitted; claimed is {claimed_slope(slope)}."
    else:
        seen = {
            "supported": "The means follow the claimed law: the whole interval of the slope, "
            "{found}, lies within {claimed}.",
            "refuted": "The means do not follow the claimed law: the slope, {found}, excludes "
            "{claimed}.",
        }.get(slope["verdict"], "The slope, {found}, does not settle the claimed {claimed}.")
        seen = seen.format(found=interval(slope), claimed=claimed_slope(slope))
    points = slope.get("points") or ()
    shared = figures.common_coordinates(points)
    held = f", at {point_text(shared)}" if shared else ""
    has_band = any(slope.get("band_low") or ())
    drawn = (
        f"{len(points)} points of the sweep “{slope.get('sweep', '')}”{held}. Bars: one standard "
        "deviation of the logarithm over trials. "
        + (
            "Shaded: the band coded with the claim; do not take its constants for the paper’s. "
            * has_band
        )
        + "Both lines pass through the centre of the means, since a slope says nothing about "
        "constants. Below, the means are divided by the claimed law: level dots follow it, a tilt "
        "is a wrong slope."
    )
    return [seen, drawn]


def _bounds_caption(claim: Part) -> list[str]:
    cells, claimed = claim["cells"], claim["probability"]
    above = sum((cell["lower_bound"] or 0.0) >= claimed for cell in cells)
    seen = (
        f"In {above} of {len(cells)} cells the lower confidence bound is at or above the claimed "
        f"{number(claimed)} (dashed): there the claim is supported."
    )
    shared = f" All cells have {claim['shared_point']}." if claim["shared_point"] else ""
    left_out = len(cells) - len(figures.cells_shown(cells))
    drawn = (
        "The mark is the lower bound, the line runs to the upper bound, and the small tick is the "
        f"observed frequency. {_marks_drawn(cells)} Each bound has confidence "
        f"{percent(claim['cell_confidence'])}."
        f"{shared}"
        + (f" The {left_out} cells with the highest bounds are left out." * bool(left_out))
    )
    return [seen, drawn]


def _marks_drawn(cells: Sequence[Part]) -> str:
    """Say what the marks mean that occur among some cells."""
    found = [word for word in figures.SHAPES if any(cell["verdict"] == word for cell in cells)]
    listed = ", ".join(f"{figures.SHAPES[word]} for {word}" for word in found)
    return f"Marks: {listed}."


def _raster_caption(raster: Part, claim: Part | None) -> list[str]:
    pattern, labels = raster["pattern"], raster["labels"]
    positive = [label > 0 for label in labels]
    flips = [t for t in range(1, len(pattern)) if list(pattern[t]) != list(pattern[t - 1])]
    last = max(flips, default=0)
    if last > 1:
        dead = sum(not on for on, sign in zip(pattern[-1], positive, strict=True) if sign)
        seen = f"The pattern goes on changing after step 1, last at step {last}" + (
            f"; of positive label but inactive at the end: {dead}." if dead else "."
        )
    elif [bool(on) for on in pattern[-1]] == positive:
        seen = "From step 1 on the active examples are those of positive label; nothing changes."
    else:
        seen = "The pattern does not change after step 1, but it is not that of positive labels."
    which = {"typical": "A typical draw", "worst": "The worst draw in scope"}.get(raster["kind"])
    if which is None:
        name = claim["claim"] if claim else raster["kind"]
        which = f"The worst draw of {name}"
    point = raster.get("point") or {}
    facts = [
        f"{_fact_name(name)} {_short(value)}"
        for name, value in (raster.get("caption_facts") or {}).items()
        if isinstance(value, int | float | str) and value not in point.values()
    ]
    told = f" Computed for it, by formulas of ours: {', '.join(facts)}." if facts else ""
    steps = len(pattern) - 1
    shown = f" The first {figures.MOST_STEPS} of {steps} steps are shown."
    drawn = (
        f"{which}{': ' * bool(point)}{point_text(point)}. Rows are examples, columns steps; dark "
        f"is active, that is, predicted positive.{told}" + shown * (steps > figures.MOST_STEPS)
    )
    return [seen, drawn]


# Numbers and text, as people read them.


def percent(share: float | None, digits: int = 2) -> str:
    """Return a share as a percentage, with `digits` digits of its distance from 0 and 100%."""
    if share is None:
        return "—"
    least = min(abs(share), abs(1 - share)) * 100
    decimals = min(max(digits - 1 - math.floor(math.log10(least)), 0), 8) if least > 1e-12 else 0
    text = f"{share * 100:.{decimals}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}\N{NARROW NO-BREAK SPACE}%"


def at_least(bound: float | None) -> str:
    """Return a lower bound rounded down to 4 decimals, so that what is printed is true."""
    return "—" if bound is None else f"{math.floor(bound * 1e4 + 1e-9) / 1e4:.4f}"


def at_most(bound: float | None) -> str:
    """Return an upper bound rounded up to 4 decimals."""
    return "—" if bound is None else f"{math.ceil(bound * 1e4 - 1e-9) / 1e4:.4f}"


def interval(slope: Part) -> str:
    """Return a fitted slope with its interval."""
    if slope.get("slope") is None:
        return "—"
    middle, low, high = (f"{slope[k]:.4f}".replace("-", "−") for k in ("slope", "low", "high"))
    return f"{'0.0000' if middle == '−0.0000' else middle} [{low}, {high}]"


def claimed_slope(slope: Part) -> str:
    """Return the claimed exponent with its tolerance."""
    return f"{number(slope.get('exponent'))} ± {number(slope.get('tolerance'))}"


_LETTER_SCRIPTS = re.compile(
    r"(?<![\w.])([A-Za-zΑ-Ωα-ωφ][⁰¹²₊₋]?)"
    r"(?:_(∞|[0-9]{1,2}|min|max|inf|[a-z]{1,2}))?(?:\^(⊥|[0-9]{1,2}|[a-z]))?(?![\w^])"
)
_BELOW, _ABOVE = "₀₁₂₃₄₅₆₇₈₉₊₋", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"
_PLAIN = str.maketrans(_BELOW + _ABOVE, "0123456789+−" * 2)
_RUNS = re.compile(f"([{_BELOW}]+)|([{_ABOVE}]+)")
_POWERS = re.compile(r"(?<![\w.])\d+(?:\.\d+)?e[+-]?\d{1,3}(?!\w)")
_PREPRINT = re.compile(r"arXiv[ :](\d{4}\.\d{4,5})(?!\d)")


def prose(text: Any) -> Markup:
    """Return a statement escaped and typeset: w_∞, y_min, X₊ and 1e-9 with real scripts.

    After "_" and "^" only a single letter takes a script, so that names_of_claims stay as they
    are. The characters for scripts become markup too: few text fonts have them.
    """
    from markupsafe import Markup, escape

    def scripts(below: str | None, above: str | None) -> str:
        low, high = (part and part.translate(_PLAIN) for part in (below, above))
        return (f"<sub>{low}</sub>" if low else "") + (f"<sup>{high}</sup>" if high else "")

    text = str(escape(str(text)))
    text = _POWERS.sub(lambda found: number(float(found[0])), text)
    text = _LETTER_SCRIPTS.sub(lambda found: found[1] + scripts(found[2], found[3]), text)
    return Markup(_RUNS.sub(lambda found: scripts(found[1], found[2]), text))


def breakable(name: Any) -> Markup:
    """Return a name, escaped, that may break after its underscores, dots and slashes."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"([_./:]+)(?=[^_./:])", r"\1<wbr>", str(escape(str(name)))))


def citation(text: Any) -> Markup:
    """Return a citation with its arXiv number as a link: the only links that leave the page."""
    from markupsafe import Markup

    link = r'<a rel="external noreferrer" href="https://arxiv.org/abs/\1">arXiv \1</a>'
    return Markup(_PREPRINT.sub(link, str(prose(text))))


_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def _clean(value: Any) -> Any:
    """Return JSON values without the characters that neither HTML nor SVG can hold."""
    if isinstance(value, str):
        return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, Mapping):
        return {_clean(key): _clean(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=number,
        point=point_text,
        percent=percent,
        at_least=at_least,
        at_most=at_most,
        interval=interval,
        claimed_slope=claimed_slope,
        prose=prose,
        breakable=breakable,
        citation=citation,
        figure=Markup,
    )
    environment.globals.update(owner={mark: owner for mark, (owner, _) in MARKS.items()})
    environment.globals.update(verdicts=VERDICTS)
    environment.globals.update(mark_meaning={mark: text for mark, (_, text) in MARKS.items()})
    return environment
