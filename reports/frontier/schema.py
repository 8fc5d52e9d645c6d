"""What frontier.json holds, as a JSON Schema; the engine gives the entries of `MEASURED`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FORMAT, SCHEMA_VERSION = "relu-verify frontier", 1


def _all_of(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object that has just these entries."""
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }


def _list_of(what: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": what}


def _said(what: Mapping[str, Any], description: str) -> dict[str, Any]:
    return {**what, "description": description}


_TEXT = {"type": "string"}
_NUMBER = {"type": "number"}
_MAYBE = {"type": ["number", "null"]}
_COUNT = {"type": "integer", "minimum": 0}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_MAYBE_SHARE = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_COORDINATE = {"type": ["number", "string"]}
_Y = _said({"type": ["number", "string", "null"]}, "value of the axis y; null without one")
_Q = _said({"enum": [0, 1]}, "exponent of log y, fixed")

AXIS = _all_of(
    name=_TEXT,
    meaning=_TEXT,
    low=_NUMBER,
    high=_NUMBER,
    scale={"enum": ["linear", "log", "integer", "choice"]},
    choices=_said(_list_of(_COORDINATE), "the values of a choice; empty for numbers"),
)
ROW = _all_of(
    y=_Y,
    level=_SHARE,
    boundary=_said(_MAYBE, "x at which the probability passes the level; null for none"),
    low=_said(_MAYBE, "lower end of its interval; null where it is open, or there is none"),
    high=_said(_MAYBE, "upper end of its interval; null where it is open, or there is none"),
    trials=_said(_COUNT, "of the row, at all levels"),
    direction=_said({"enum": ["rising", "falling", None]}, "of the probability along x"),
    note=_said(_TEXT, "why there is no boundary, or that there are several; empty otherwise"),
    absent=_said({"type": "boolean"}, "whether every value sampled certainly is on one side"),
    settled=_said({"type": "boolean"}, "whether there is a boundary with both ends, or none"),
)
FIT = _all_of(
    level=_SHARE,
    q=_Q,
    p=_said(_MAYBE, "exponent of y in boundary = a·y^p·(log y)^q"),
    p_low=_MAYBE,
    p_high=_MAYBE,
    a=_said(_MAYBE, "the factor, in the unit of x"),
    consistent=_said({"type": "boolean"}, "whether the law passes through the intervals"),
)
COMPARISON = _all_of(
    level=_SHARE,
    verdict={"enum": ["q=0", "q=1", "indistinguishable", "neither", "too few rows"]},
    sentence=_TEXT,
)
CELL = _all_of(
    y=_Y,
    x=_NUMBER,
    trials=_COUNT,
    in_scope=_COUNT,
    holds=_COUNT,
    violated=_COUNT,
    undecided=_COUNT,
    frequency=_said(_MAYBE_SHARE, "in which the claim holds; null where none was in scope"),
    low=_said(_MAYBE_SHARE, "anytime-valid lower bound of the probability"),
    high=_said(_MAYBE_SHARE, "anytime-valid upper bound of the probability"),
    prediction=_said(_MAYBE_SHARE, "of the probability, by the claim's heuristic; null for none"),
)
LINE = _all_of(
    what={"enum": ["certificate", "assumption", "prediction"]},
    id=_TEXT,
    meaning=_TEXT,
    rows=_said(_list_of(ROW), "an assumption's interval is between neighbouring values"),
    fits=_list_of(FIT),
)

MEASURED: dict[str, Any] = {
    "format": {"const": FORMAT},
    "schema_version": {"const": SCHEMA_VERSION},
    "theorem": _TEXT,
    "claim": _TEXT,
    "full_id": _TEXT,
    "statement": _TEXT,
    "x": AXIS,
    "y": {"anyOf": [AXIS, {"type": "null"}]},
    "without": _said(_list_of(_TEXT), "assumptions that were dropped"),
    "at": {"type": "object", "additionalProperties": _COORDINATE},
    "levels": {"type": "array", "items": _SHARE, "minItems": 1},
    "confidence": _SHARE,
    "seed": _COUNT,
    "budget": _COUNT,
    "trials": _said(_COUNT, "spent on the claim"),
    "given": _said(_list_of(_TEXT), "ids of the assumptions that put a problem in scope"),
    "left_out": _said(_list_of(_TEXT), "ids of our own certificates, which imply the claim"),
    "rows": _list_of(ROW),
    "fits": _list_of(FIT),
    "comparison": _list_of(COMPARISON),
    "cells": _list_of(CELL),
    "lines": _said(_list_of(LINE), "where other things pass the levels, for comparison"),
}
"""What the engine measured, by entry."""

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "frontier.json",
    **_all_of(
        **MEASURED,
        tool=_all_of(name=_TEXT, version=_TEXT),
        versions={"type": "object", "additionalProperties": _TEXT},
        command=_said(_TEXT, "as it was typed"),
        created=_said(_TEXT, "ISO 8601, UTC"),
        exit_code={"enum": [0, 3]},
        defaults=_said(
            {"type": "object", "additionalProperties": _COORDINATE},
            "of the theorem's coordinates that none of x, y and at sets",
        ),
        sentence=_said(_TEXT, "the answer in a sentence or two"),
    ),
}
"""The whole file."""
