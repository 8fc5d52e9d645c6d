"""What about a researcher's data speaks against the theorems' setting, with the reason.

Warnings stand beside the verdicts and never change them. Their thresholds are ours [H].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reports.own_data.request import Given
from reports.own_data.spelling import LISTED, counted, plural
from reports.typography import percent
from verify.tolerances import IDENTITY

CENTRED_BELOW = 1e-4
"""n times the mean's share of the trace; about 1 for independent rows of mean zero."""
LARGE_MEAN = 0.3
FEW_OF_A_CLASS = 0.1
UNEQUAL_NORMS = 2.0
UNEQUAL_LABELS = 10.0
ILL_CONDITIONED = 1e6
ONE_COLUMN = 0.5
MOST_CLASSES = 20

Warning_ = dict[str, str]


def warnings_of(given: Given, data: dict[str, Any]) -> list[Warning_]:
    """Return warnings {"kind", "reason", "try"} on data whose facts are `data`."""
    found = [
        _centred(data),
        _duplicated(given),
        _few_directions(given, data),
        _constant_columns(given),
        _numbered_rows(given),
        _telling(given),
        _labels(data),
        _like_classes(given),
        _unbalanced(data),
        _unequal_labels(data),
        _unequal_norms(given),
        _conditioning(given, data),
    ]
    return [warning for warning in found if warning is not None]


def is_centred(data: dict[str, Any]) -> bool:
    """Whether the common mean is far smaller than that of independent rows of mean zero."""
    return bool(data["examples"] * data["share_of_common_mean"] < CENTRED_BELOW)


def duplicates(examples: np.ndarray) -> list[list[int]]:
    """Return groups of equal rows, by number from 1."""
    groups: dict[bytes, list[int]] = {}
    for i, row in enumerate(examples + 0.0, 1):  # + 0.0: −0 and 0 are equal
        groups.setdefault(row.tobytes(), []).append(i)
    return [rows for rows in groups.values() if len(rows) > 1]


def _warning(kind: str, reason: str, try_: str) -> Warning_:
    return {"kind": kind, "reason": reason, "try": try_}


def _centred(data: dict[str, Any]) -> Warning_ | None:
    if not is_centred(data):
        return None
    return _warning(
        "centred columns",
        "the rows sum to zero, as far as the numbers are written: the smallest eigenvalue of the "
        "Gram matrix is zero but for rounding, and every solve with it magnifies that rounding",
        "the columns as they were before centring, or less a mean estimated on other examples",
    )


def _duplicated(given: Given) -> Warning_ | None:
    groups = duplicates(given.examples)
    if not groups:
        return None
    listed = "; ".join(counted(rows, "and", " = ") for rows in groups[:LISTED])
    left_out = len(groups) - LISTED
    more = f"; {plural(left_out, 'more group', 'more groups')}" if left_out > 0 else ""
    torn = any(len(set(given.labels[np.array(rows) - 1])) > 1 for rows in groups)
    clash = ", and equal rows have different labels, which no model can fit" if torn else ""
    return _warning(
        "duplicated rows",
        f"rows {listed}{more} are equal: the Gram matrix is singular{clash}",
        "one row of each group",
    )


def _few_directions(given: Given, data: dict[str, Any]) -> Warning_ | None:
    n, d_2 = data["examples"], data["d_2"]
    if not d_2 < n * np.log(n):
        return None
    mean = data["share_of_common_mean"]
    d = data["dimension"]
    above = f" (above d = {d} by sampling error)" if d_2 > d else ""
    reason = (
        f"d_2 ≈ {d_2:.3g}{above}, where the theorems want it large against n·log n = "
        f"{n * np.log(n):.3g}: "
    )
    if mean > LARGE_MEAN:
        share = f"{percent(mean)} of the trace is the common mean, one direction that all share"
        return _warning("small effective dimension", f"{reason}{share}", _against_a_mean(given))
    values = np.linalg.eigvalsh(given.gram)[::-1]
    half = int(np.searchsorted(np.cumsum(values) / np.trace(given.gram), 0.5)) + 1
    directions = int((values > IDENTITY * values[0]).sum())
    column, heaviest = _heaviest_column(given)
    loud = (
        f"; column {column} alone makes {percent(heaviest)} of it"
        if given.lift is None and heaviest > ONE_COLUMN and given.dimension > 1
        else ""
    )
    return _warning(
        "small effective dimension",
        f"{reason}{half} of {plural(directions, 'direction', 'directions')} "
        f"{'holds' if half == 1 else 'hold'} half of the trace{loud}",
        "columns of equal scale" if loud else "fewer examples, or more independent features",
    )


def _against_a_mean(given: Given) -> str:
    """Say what makes the common mean of the features smaller."""
    lift = given.lift
    if lift is None:
        return (
            "subtracting a mean estimated on other examples (centring on these makes the Gram "
            "matrix singular)"
        )
    if lift.bandwidth is None:
        return "Fourier features: those of a ReLU are never negative"
    return f"a smaller bandwidth, such as fourier:{lift.number}:{lift.bandwidth / 4:.2g}"


def _heaviest_column(given: Given) -> tuple[int, float]:
    """Return the column with the largest share of the trace, from 1, and the share."""
    squares = (given.examples**2).sum(axis=0)
    return int(squares.argmax()) + 1, float(squares.max() / squares.sum())


def _constant_columns(given: Given) -> Warning_ | None:
    constant = np.flatnonzero((given.examples == given.examples[0]).all(axis=0))
    if not len(constant):
        return None
    zero = int((given.examples[0, constant] == 0).sum())
    rest = len(constant) - zero
    parts = []
    if zero:
        parts.append(plural(zero, "is zero and only raises d", "are zero and only raise d"))
    if rest:
        adds = plural(rest, "adds", "add")
        parts.append(f"{adds} the same number to all inner products, a common mean")
    listed = counted(constant + 1, "and")
    return _warning(
        "constant columns",
        f"{len(constant)} of {plural(given.examples.shape[1], 'given column', 'given columns')} "
        f"{'has' if len(constant) == 1 else 'have'} one value in all rows (number {listed}): "
        f"{'; '.join(parts)}",
        "the data without them",
    )


def _numbered_rows(given: Given) -> Warning_ | None:
    if not given.row_numbers:
        return None
    n, many = len(given.labels), len(given.row_numbers) > 1
    return _warning(
        "row numbers",
        f"given column{'s' if many else ''} {counted(given.row_numbers, 'and')} "
        f"{'count' if many else 'counts'} the {n} rows one by one, as an index does, and "
        f"{'are' if many else 'is'} taken as a feature",
        "the data without it (pandas: index=False)",
    )


def _telling(given: Given) -> Warning_ | None:
    if not given.telling:
        return None
    each = [f"column {column.column} {column.how}" for column in given.telling]
    noun = " such column" if len(each) == LISTED + 1 else " such columns"
    which = "it, where it is" if len(each) == 1 else "those that are"
    return _warning(
        "labels among the features",
        f"given {counted(each, 'and', '; ', noun)}: what is to be learnt is then a feature, and "
        "the verdicts are about that",
        f"the data without {which} the labels or made from them",
    )


def _labels(data: dict[str, Any]) -> Warning_ | None:
    if data["zeros"]:
        return _warning(
            "zero labels",
            f"{data['zeros']} of {data['examples']} labels {'is' if data['zeros'] == 1 else 'are'} "
            "0, neither positive nor negative: "
            "the theorems ask for labels that are not zero",
            "--positive LEVEL if labels are classes",
        )
    if not data["positives"] or not data["negatives"]:
        sign = "positive" if data["positives"] else "negative"
        return _warning(
            "one sign only",
            f"all labels are {sign}: there is no gap to be bounded between the two signs",
            "--positive LEVEL if labels are classes",
        )
    return None


def _like_classes(given: Given) -> Warning_ | None:
    levels = np.unique(given.labels)
    few = 3 <= len(levels) <= min(MOST_CLASSES, len(given.labels) // 2)
    if not few or (levels != np.round(levels)).any():
        return None
    return _warning(
        "labels like classes",
        f"the labels are {len(levels)} whole numbers ({counted(levels.astype(int), 'and')}), and "
        "are fitted as numbers",
        "--positive LEVEL if they are classes",
    )


def _unbalanced(data: dict[str, Any]) -> Warning_ | None:
    fewer = min(data["positives"], data["negatives"])
    if not 0 < fewer < FEW_OF_A_CLASS * data["examples"]:
        return None
    sign = "positive" if fewer == data["positives"] else "negative"
    return _warning(
        "unbalanced labels",
        f"only {fewer} of {data['examples']} labels {'is' if fewer == 1 else 'are'} {sign}: what "
        "is said of that class rests on so few",
        "another level as --positive, or a balanced subset",
    )


def _unequal_labels(data: dict[str, Any]) -> Warning_ | None:
    if data["zeros"] or data["y_max"] <= UNEQUAL_LABELS * data["y_min"]:
        return None
    return _warning(
        "labels of very different size",
        f"|y| runs from {data['y_min']:.3g} to {data['y_max']:.3g}: the smallest decides whether "
        "the pattern freezes (H has y_min² over the mean of y²)",
        "labels away from zero, or classes with --positive LEVEL",
    )


def _unequal_norms(given: Given) -> Warning_ | None:
    norms = np.sqrt(np.diag(given.gram))
    low, high = float(norms.min()), float(norms.max())
    if high <= UNEQUAL_NORMS * low:
        return None
    shortest = f"row {norms.argmin() + 1}"
    compared = (
        f"{shortest} is zero"
        if low == 0
        else f"row {norms.argmax() + 1} is {high / low:.3g} times as long as {shortest}"
    )
    return _warning(
        "unequal rows",
        f"{compared}, where the theorems have G ≈ τ·I: rows of nearly equal length",
        "the data without rows of zeros" if low == 0 else "--normalise-rows",
    )


def _conditioning(given: Given, data: dict[str, Any]) -> Warning_ | None:
    if not ILL_CONDITIONED < data["conditioning"] < np.inf or is_centred(data):
        return None
    norms = np.sqrt(np.diag(given.gram))
    cosines = np.abs(given.gram) / np.outer(norms, norms) - np.eye(len(norms))
    i, j = sorted(np.unravel_index(cosines.argmax(), cosines.shape))
    return _warning(
        "bad conditioning",
        f"λ_max/λ_min of the Gram matrix is {data['conditioning']:.2g}: results lose about "
        f"{np.log10(data['conditioning']):.0f} of 16 digits; the most aligned examples are rows "
        f"{i + 1} and {j + 1} (cosine {cosines[i, j]:.6f})",
        "the data without one of two nearly equal rows, or fewer examples",
    )
