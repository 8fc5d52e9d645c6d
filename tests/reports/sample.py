"""Reports as a run writes them, for tests of pages: full, hostile, bare and empty; and a reader."""

import copy
from html.parser import HTMLParser

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> & {{ 7*7 }} ∮ 🙂"
LONG = "a_very_long_name_" * 20 + "w" * 300


def tally(holds, in_scope=200, undecided=0):
    counts = {"trials": 200, "in_scope": in_scope, "holds": holds, "undecided": undecided}
    violated = in_scope - holds - undecided
    return {**counts, "violated": violated, "worst_margin": -0.18 if violated else 2.8e-4}


def cell(verdict="supported", holds=200, *, bounded=True, **point):
    bounds = {"lower_bound": 0.95814, "upper_bound": 1.0} if bounded else {}
    return {
        "point": {"n": 20, "d": 1e4, **point},
        "verdict": verdict,
        "tally": tally(holds),
        **dict.fromkeys(("lower_bound", "upper_bound")),
        **bounds,
        "margins": [-0.18 if holds < 200 else 2.8e-4, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7],
    }


SEARCHED = {"examples": 500, "in_scope": 431, "violated": 0, "undecided": 2}


def verdict(claim, word="supported", theorem="lai2026.theorem1", **changes):
    found = {
        "theorem": theorem,
        "claim": claim,
        "full_id": f"{theorem}.{claim}",
        "kind": "universal",
        "verdict": word,
        "expected": "supported",
        "statement": f"What {claim} says of w_∞, y_min and 1e-9.",
        "status": "A",
        **tally(200),
        "lower_bound": 0.99305,
        "upper_bound": 1.0,
        "confidence": 0.99904,
        "detail": f"the detail of {claim}",
        "cells": [cell(c=0.5, bounded=False), cell(c=0.9, bounded=False)],
        "slopes": [],
        "instance": None,
        "closest": None,
        "hunted": {**SEARCHED, "worst_margin": None},
        "probability": None,
        "given": ["labels_are_nonzero", "not_listed"],
        "because": "",
        "status_meaning": "the abstract or a published summary only",
        "counterexamples": [],
    }
    found.update(changes)
    good = ("supported", "certified") if found["expected"] == "supported" else ("refuted",)
    return {"as_expected": found["verdict"] in good, **found}


SLOPE = {
    "sweep": "d at n=20",
    "against": "n/‖λ‖₁",
    "quantity": "gap ‖w_∞ − w⋆‖₂",
    "verdict": "supported",
    "exponent": 0.5,
    "tolerance": 0.01,
    "slope": 0.4973,
    "low": 0.4958,
    "high": 0.4988,
    "curvature": 0.02,
    "abscissa": [2e-2, 2e-4, 2e-6],
    "mean": [3.4e-2, 3.7e-3, 3.8e-4],
    "spread": [0.08, 0.07, 0.08],
    "points": [{"n": 20, "d": 10.0**k} for k in (3, 5, 7)],
    "band_low": [2e-2, 2e-3, 2e-4],
    "band_high": [6e-2, 6e-3, 6e-4],
}
SEVERITY = {
    "margin": -0.18,
    "in_scope": True,
    "assumptions": [
        {
            "assumption": "labels_are_nonzero",
            "margin": 0.4,
            "state": "holds",
            "role": "scope",
            "coordinate": "",
        },
        {
            "assumption": "step_is_bounded_below",
            "margin": -0.23,
            "state": "violated",
            "role": "hypothesis",
            "coordinate": "c = 0.02, outside the range tested, 0.25 to 1.2",
        },
    ],
    "first_step": 3,
    "rate": {
        "violated": 10,
        "undecided": 1,
        "in_scope": 200,
        "trials": 200,
        "low": 0.0242,
        "high": 0.0962,
        "confidence": 0.95,
        "where": {"n": 20, "c": 0.02},
    },
}
COUNTEREXAMPLE = {
    "kind": "smallest",
    "file": "counterexamples/x.json",
    "margin": -0.18,
    "searched": False,
    "severity": SEVERITY,
    "summary": {
        "labels": [-0.5, 1],
        "block": [[1, 0], [-2, 1]],
        "gram": [[k * j for k in range(40)] for j in range(40)],
        "step_size": 4.9e-4,
        "recipe": {"n": 2},
        "nothing": None,
    },
}


def theorem(name="lai2026.theorem1", **changes):
    assumption = {
        "id": "labels_are_nonzero",
        "statement": "No label is zero.",
        "status": "D",
        "status_meaning": "derived here and checked numerically",
        "realised": {
            "trials": 1000,
            "met": 990,
            "violated": 9,
            "unknown": 1,
            "margins": [-0.02, 0.1, 0.4, 0.63, 0.7, 0.75, 0.8],
        },
    }
    axis = {"name": "n", "low": 2, "high": 12, "scale": "integer", "choices": [], "meaning": ""}
    return {
        "id": name,
        "address": name,
        "title": "One ReLU neuron",
        "citation": "Lai et al.: COLT 2026, PMLR 336; arXiv 2603.04895; Theorem 1.",
        "statement": "After step one the pattern is frozen.",
        "method": "By plain gradient descent [D], w_0^⊥ included.",
        "status": "A",
        "status_meaning": "the abstract or a published summary only",
        "axes": [axis],
        "symbols": [{"symbol": "w_∞", "meaning": "limit of ‖w_∞‖, from Xw_0"}],
        "defaults": {"n": 20, "spectrum": "isotropic", "start_low": 1e-4},
        "assumptions": [assumption],
        **changes,
    }


def shares(x, frequency, *, line=None, prediction=None, trials=200):
    """Return a cell of a frequency, with bounds as wide as two standard deviations."""
    wide = 2 * (frequency * (1 - frequency) / trials) ** 0.5 + 0.01
    return {
        "point": {"n": 20, "d": 1e4, **({"m": x} if x is not None else {"c": 0.5})},
        "line": line,
        "trials": trials,
        "in_scope": trials,
        "unknown": 0,
        "x": x,
        "prediction": prediction,
        "holds": round(frequency * trials),
        "frequency": frequency,
        "low": max(frequency - wide, 0.0),
        "high": min(frequency + wide, 1.0),
    }


def spread(x, middle, *, line=None, prediction=None):
    """Return a cell of quantiles about `middle`; the highest has no upper end."""
    told = [(0.05, 0.8, 0.75, 0.85), (0.5, 1.0, 0.98, 1.03), (0.95, 1.2, 1.15, None)]
    return {
        "point": {"n": 20, **({"d": x} if x is not None else {"c": 0.5})},
        "line": line,
        "trials": 200,
        "in_scope": 200,
        "unknown": 3,
        "x": x,
        "prediction": prediction,
        "mean": 1.01 * middle,
        "deviation": 0.12 * middle,
        "quantiles": [
            {"level": p, "value": v * middle, "low": a * middle, "high": b and b * middle}
            for p, v, a, b in told
        ],
    }


def measure(name, kind, cells, *, theorem="lai2026.theorem1", **changes):
    return {
        "theorem": theorem,
        "measure": name,
        "full_id": f"{theorem}.{name}",
        "kind": kind,
        "statement": f"What {name} reports of ‖w_∞‖.",
        "status": "D",
        "status_meaning": "derived here and checked numerically",
        "unit": "dimensionless",
        "axis": f"axis of {name}",
        "abscissa": "number m of neurons",
        "by": "",
        "figure": "",
        "given": ["labels_are_nonzero"],
        "confidence": 0.9995,
        "cells": cells,
        "thresholds": [],
        **changes,
    }


WIDTHS = (1, 2, 4, 8, 16, 32, 64)
LIKELY = {20: (0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 1.0), 50: (0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99)}
"""Frequencies by number of examples, at WIDTHS."""


def measures():
    """Return a measure of every shape: lines against a log axis, a calibration, rows, quantiles."""
    success = [
        shares(m, p, line=n, prediction=min(1.0, p + 0.01))
        for n, row in LIKELY.items()
        for m, p in zip(WIDTHS, row, strict=True)
    ]
    thresholds = [
        {"line": 20, "level": 0.5, "low": 2, "high": 8, "monotone": True},
        {"line": 50, "level": 0.5, "low": 4, "high": 16, "monotone": True},
        {"line": 20, "level": 0.95, "low": None, "high": 64, "monotone": True},
        {"line": 50, "level": 0.95, "low": 16, "high": None, "monotone": True},
        {"line": 20, "level": 0.99, "low": None, "high": None, "monotone": False},
        {"line": 50, "level": 0.99, "low": None, "high": None, "monotone": True},
    ]
    calibrated = [shares(p, p, prediction=p) for p in (0.0, 0.1, 0.3, 0.6, 0.9, 1.0)]
    calibrated[2] |= {"frequency": 0.45, "holds": 90, "low": 0.38, "high": 0.52}
    empty = {**shares(None, 0.0), "in_scope": 0, "frequency": None, "low": None, "high": None}
    ratios = [spread(10.0**k, 1 + 0.1 / k, prediction=1.0) for k in (2, 3, 4, 5)]
    return [
        measure("success", "frequency", success, by="n", thresholds=thresholds),
        measure("predicted", "frequency", calibrated, abscissa="predicted P̂"),
        measure("by_cell", "frequency", [shares(None, 0.9), empty], abscissa=""),
        measure("ratio", "quantiles", ratios, abscissa="dimension d"),
        measure("constant", "quantiles", [spread(None, 2.0)], abscissa=""),
    ]


def chain(theorem="lai2026.theorem1"):
    """Return a chain of three links in a cell where it holds, and in one of a control."""
    links = [{"id": f"link_{k}", "statement": f"Link {k} bounds δ_{k}."} for k in (1, 2, 3)]
    cells = [
        {"point": {"n": 20, "d": 1e4}, "controls": [], "first": [0, 8, 2], "holds": 189},
        {"point": {"n": 20, "d": 50}, "controls": ["small_step"], "first": [150, 30, 20]},
    ]
    counts = {"trials": 200, "undecided": 1, "holds": 0}
    cells[1] |= {"undecided": 0}
    return {"theorem": theorem, "links": links, "cells": [{**counts, **cell} for cell in cells]}


def report(**changes):
    """Return a report with every verdict, every kind of claim and what these draw; no measures."""
    rate = {"kind": "rate", "cells": [], "slopes": [SLOPE], "hunted": None, "lower_bound": None}
    cells = [cell(c=0.5), cell(c=0.9)]
    likely = {"kind": "probable", "probability": 0.95, "status": "D", "cells": cells}
    searched = {**SEARCHED, "violated": 3, "undecided": 0, "worst_margin": -0.27}
    bad = {"counterexamples": [copy.deepcopy(COUNTEREXAMPLE)], **tally(190), "worst_margin": -0.18}
    verdicts = [
        verdict("freezes", "certified"),
        verdict("interpolates", "supported", rests_on=["freezes"]),
        verdict("never", "refuted", status="H", **bad),
        verdict("empty", "vacuous", in_scope=0, holds=0, worst_margin=None, lower_bound=0.0),
        verdict("likely", "inconclusive", rests_on=["never", "left_out", "freezes"], **likely),
        verdict("unsure", "undecided", undecided=3, holds=197),
        verdict("scales", "supported", **rate),
        verdict("missed", "refuted", hunted=searched, counterexamples=[COUNTEREXAMPLE]),
        verdict(
            "small_step",
            "refuted",
            expected="refuted",
            status="X",
            because="it is too small",
            **bad,
        ),
        verdict("missed_control", "supported", expected="refuted", because="it is false"),
    ]
    raster = {
        "theorem": "lai2026.theorem1",
        "kind": "typical",
        "claim": "freezes",
        "certified_last_flip": 1,
        "point": {"n": 4, "d": 400},
        "patterns": [[[1, 1, 1, 1], [1, 0, 1, 0], [1, 0, 1, 0]]],
        "labels": [0.5, -0.9, 0.8, -0.6],
        "signs": [1],
        "neurons_in_all": 1,
        "caption_facts": {"regime_index_H": 13.1, "labels": [1, 2]},
    }
    longer = [[*raster["patterns"][0], [0, 1, 1, 0]]]
    flipping = {**raster, "kind": "small_step", "patterns": longer, "certified_last_flip": 3}
    pair = [[[1, 1, 1, 1], [1, 0, 1, 0]], [[1, 1, 1, 1], [0, 1, 0, 1]]]
    worst = {**raster, "kind": "worst", "patterns": pair, "signs": [1, -1], "neurons_in_all": 16}
    return {
        "schema_version": 3,
        "tool": {"name": "relu-verify", "version": "0.1.0"},
        "command": "relu-verify run --profile quick",
        "out": "my runs/one",
        "created": "2026-11-30T19:00:00+00:00",
        "seed": 0,
        "profile": "quick",
        "backend": "numpy",
        "confidence": 0.95,
        "wall_time_s": 17.2,
        "exit_code": 1,
        "sentence": "Of 8 claims, 3 are supported.",
        "error_budget": {"total": 0.05, "theorems": {"lai2026.theorem1": 0.05}},
        "versions": {"python": "3.11.7", "numpy": "2.4.6"},
        "theorems": [theorem()],
        "verdicts": verdicts,
        "rasters": [raster, worst, flipping],
        **changes,
    }


def full(**changes):
    """Return a report with measures and a chain as well."""
    return report(**{"measures": measures(), "chains": [chain()], **changes})


def hostile():
    """Return a report whose every text, keys of facts included, attacks the page."""

    def poison(value):
        if isinstance(value, str):
            return f"{value}{HOSTILE}\x00\x1b\ud800"
        if isinstance(value, dict):
            return {key: poison(entry) for key, entry in value.items()}
        return [poison(entry) for entry in value] if isinstance(value, list) else value

    found = copy.deepcopy(full())
    kept = ("kind", "verdict", "expected", "status")
    for entry in found["verdicts"]:
        kinds = {key: entry[key] for key in kept}
        entry.update({**poison(entry), **kinds})
        for inner, clean in zip(entry["cells"] + entry["slopes"], [1] * 9, strict=False):
            inner["verdict"] = "supported" if clean else ""
        for example in entry["counterexamples"]:
            example["summary"] = {HOSTILE: HOSTILE, "rows": [[HOSTILE, 1]], LONG: LONG * 3}
    found["theorems"] = poison([theorem(status="<b>")])
    found["rasters"] = [{**poison(raster), "kind": HOSTILE} for raster in found["rasters"]]
    for entry in found["measures"]:
        kind = entry["kind"]
        entry.update({**poison(entry), "kind": kind, "theorem": found["theorems"][0]["address"]})
    found["chains"] = [{**poison(chain()), "theorem": found["theorems"][0]["address"]}]
    for key in ("command", "out", "created", "profile", "sentence", "versions", "tool", "backend"):
        found[key] = poison(found[key])
    long = f"{LONG}/{LONG}.py"
    found["theorems"].append(theorem(LONG, address=long, title=LONG, citation=LONG))
    found["verdicts"].append(verdict(LONG, theorem=long, full_id=f"{long}::{LONG}"))
    return found


def bare():
    """Return a report in which everything optional is missing or null."""
    required = ("theorem", "claim", "full_id", "kind", "verdict", "expected", "as_expected")
    verdicts = []
    for entry in report()["verdicts"]:
        nothing = dict.fromkeys(entry)
        verdicts.append({**nothing, **{key: entry[key] for key in required}})
        verdicts.append(
            {key: entry[key] for key in required}
            | {"theorem": "other", "full_id": f"other.{entry['claim']}"}
        )
    gap = {"verdict": "vacuous", "slope": None, "low": None, "high": None, "curvature": None}
    verdicts[12] |= {"slopes": [{**SLOPE, **gap, "abscissa": [], "mean": [], "spread": []}]}
    return {"schema_version": 3, "verdicts": verdicts}


def large():
    """Return a report of ten theorems, 120 verdicts and 60 figures."""
    found, small = full(theorems=[], verdicts=[], rasters=[], measures=[], chains=[]), full()
    names = [f"lai2026.theorem{k}" for k in range(10)]
    for name in names:
        found["theorems"].append(theorem(name))
        found["chains"].append(chain(name))
        found["rasters"] += [{**one, "theorem": name} for one in small["rasters"][:2]]
        found["measures"] += [
            {**one, "theorem": name, "full_id": f"{name}.{one['measure']}"}
            for one in small["measures"][:2]
        ]
        more = [{**small["verdicts"][1], "claim": claim} for claim in ("again", "once_more")]
        for entry in (*small["verdicts"][1:8], *small["verdicts"][7:], *more):
            claim = f"{entry['claim']}{len(found['verdicts'])}"
            full_id = f"{name}.{claim}"
            changed = {"theorem": name, "claim": claim, "full_id": full_id, "rests_on": []}
            cells = [*entry["cells"]] * 3
            found["verdicts"].append({**entry, **changed, "cells": cells})
    found["error_budget"]["theorems"] = dict.fromkeys(names, 0.005)
    return found


REPORTS = {"full": full, "hostile": hostile, "bare": bare, "empty": lambda: {"schema_version": 3}}


class Reader(HTMLParser):
    """Collects what tests ask about: elements with attributes, ids, links, and the text."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.text, self._skip = [], [], False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._skip = tag in ("style", "script")

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag):
        self._skip = False

    def handle_data(self, data):
        if not self._skip:
            self.text.append(data)

    @property
    def words(self):
        return " ".join("".join(self.text).split())

    def values(self, name):
        return [attrs[name] for _, attrs in self.elements if name in attrs]
