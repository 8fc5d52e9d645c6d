"""Where a measured frequency passes a level, in the same words wherever it is told."""

from __future__ import annotations

import math

from reports.typography import Part, number


def state(threshold: Part) -> str:
    """Return what is known of a threshold: "falls", "open", "from above", "from below" or
    "between"."""
    if not threshold.get("monotone", True):
        return "falls"
    known = [threshold.get(end) is not None for end in ("low", "high")]
    return {(0, 0): "open", (0, 1): "from above", (1, 0): "from below"}.get(
        (int(known[0]), int(known[1])), "between"
    )


def passed_words(threshold: Part) -> str:
    """Say where a frequency passes a level, assuming that it does not fall along the abscissa."""
    low, high = number(threshold.get("low")), number(threshold.get("high"))
    return {
        "falls": "nowhere: the bounds say that it falls",
        "open": "not bracketed by the cells sampled",
        "from above": f"at or below {high}",
        "from below": f"above {low}",
        "between": f"between {low} and {high}",
    }[state(threshold)]


def differ(one: Part, other: Part) -> bool:
    """Whether two thresholds of one level differ in what is known, or lie apart."""
    if state(one) != state(other):
        return True
    (a, b), (c, d) = map(_ends, (one, other))
    return b <= c or d <= a


def _ends(threshold: Part) -> tuple[float, float]:
    low, high = threshold.get("low"), threshold.get("high")
    return -math.inf if low is None else low, math.inf if high is None else high
