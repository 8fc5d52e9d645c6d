"""What report.json holds: of each entry that other pages need, its type.

A type or types, WORDS, COUNT, [what each entry is], or {name: what it is}; `reports.runs.saved`
holds files to it.
"""

from __future__ import annotations

from verify.verdict import Conclusion

SCHEMA_VERSION = 3
"""2 had counterexamples without severity."""

WORDS = tuple(str(conclusion) for conclusion in Conclusion)

NUMBER = (int, float)
MAYBE = (int, float, type(None))
COUNT = range(10**9)
POINT = dict
TALLY = {
    "trials": COUNT,
    "in_scope": COUNT,
    "holds": COUNT,
    "violated": COUNT,
    "undecided": COUNT,
    "worst_margin": MAYBE,
}
CELL = {
    "point": POINT,
    "verdict": WORDS,
    "tally": TALLY,
    "lower_bound": MAYBE,
    "upper_bound": MAYBE,
}
SLOPE = {
    "sweep": str,
    "verdict": WORDS,
    "exponent": NUMBER,
    "tolerance": NUMBER,
    "slope": MAYBE,
    "low": MAYBE,
    "high": MAYBE,
    "points": [POINT],
    "abscissa": [MAYBE],
    "mean": [MAYBE],
    "spread": [MAYBE],
}
VERDICT = {
    **TALLY,
    "theorem": str,
    "claim": str,
    "full_id": str,
    "kind": str,
    "verdict": WORDS,
    "expected": WORDS,
    "as_expected": bool,
    "statement": str,
    "status": str,
    "because": str,
    "detail": str,
    "lower_bound": MAYBE,
    "upper_bound": MAYBE,
    "probability": MAYBE,
    "hunted": (dict, type(None)),
    "given": [str],
    "rests_on": [str],
    "cells": [CELL],
    "slopes": [SLOPE],
    "counterexamples": [
        {
            "kind": str,
            "file": str,
            "margin": MAYBE,
            "summary": dict,
            "searched": bool,
            "severity": (dict, type(None)),
        }
    ],
}
SEVERITY = {
    "margin": MAYBE,
    "in_scope": (bool, type(None)),
    "assumptions": [
        {"assumption": str, "margin": MAYBE, "state": str, "role": str, "coordinate": str}
    ],
    "first_step": (int, type(None)),
    "rate": (dict, type(None)),
}
RATE = {
    "violated": COUNT,
    "undecided": COUNT,
    "in_scope": COUNT,
    "trials": COUNT,
    "low": NUMBER,
    "high": NUMBER,
    "confidence": NUMBER,
    "where": POINT,
}
MEASURE = {
    "theorem": str,
    "measure": str,
    "full_id": str,
    "kind": str,
    "statement": str,
    "status": str,
    "unit": str,
    "cells": [{"point": POINT, "trials": COUNT, "in_scope": COUNT, "unknown": COUNT, "x": MAYBE}],
}
MEASURED = {
    "frequency": {"holds": COUNT, "frequency": MAYBE, "low": NUMBER, "high": NUMBER},
    "quantiles": {
        "mean": MAYBE,
        "deviation": MAYBE,
        "quantiles": [{"level": NUMBER, "value": MAYBE, "low": MAYBE, "high": MAYBE}],
    },
}
CHAIN = {
    "theorem": str,
    "links": [{"id": str, "statement": str}],
    "cells": [
        {
            "trials": COUNT,
            "holds": COUNT,
            "undecided": COUNT,
            "first": [COUNT],
            "controls": [str],
        }
    ],
}
COMPUTING = {
    "in_all_s": NUMBER,
    "now_s": MAYBE,
    "untimed": COUNT,
    "theorems": [{"theorem": str, "in_all_s": NUMBER, "shares_s": dict}],
}
"""Reports made before times were kept have none."""
THEOREM = {
    "id": str,
    "address": str,
    "title": str,
    "citation": str,
    "statement": str,
    "status": str,
    "assumptions": [{"id": str, "statement": str, "status": str}],
}
REPORT = {
    "out": str,
    "created": str,
    "command": str,
    "sentence": str,
    "profile": str,
    "seed": int,
    "backend": str,
    "confidence": NUMBER,
    "wall_time_s": MAYBE,
    "exit_code": int,
    "versions": dict,
    "theorems": [THEOREM],
    "verdicts": [VERDICT],
}
