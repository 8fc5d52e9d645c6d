"""What a researcher hands over, as what a neuron sees: a Gram matrix, labels and a start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reports.own_data.spelling import plural
from reports.own_data.telling import Telling, telling_columns
from verify.datasets import read_pair
from verify.engine.plan import whole
from verify.errors import InputError
from verify.relu.problem import Problem
from verify.relu.random_features import RandomFeatures

SIGNS = {1: (1,), 2: (1, -1)}
"""Output signs of the neurons, by their number."""


@dataclass(frozen=True)
class Request:
    """The files of a researcher, and what is to be done with them.

    features, labels, label_column, positive: as `verify.datasets.read_pair` takes them.
    relative_step: c = η·tr(G)/n.   start: every starting prediction, in units of the labels.
    normalise_rows: whether every example is scaled to length 1.
    lift: random features in place of the given ones, of the rows so scaled, as
        `RandomFeatures.named` reads them, with `seed`; or None.
    neurons: 1, or 2 of opposite sign.   theorem: an id or a Python file to examine in place of
    the built-in theorems.
    """

    features: str
    labels: str | None = None
    label_column: str | None = None
    positive: str | None = None
    relative_step: float = 0.5
    start: float = 1e-3
    normalise_rows: bool = False
    lift: str | None = None
    seed: int = 0
    neurons: int = 1
    theorem: str | None = None

    def __post_init__(self) -> None:
        if not 1e-9 <= self.relative_step <= 1e9:
            raise InputError(
                f"--step {self.relative_step}, expected within 1e-9 and 1e9, of order 1, e.g. 0.5"
            )
        if not 1e-50 <= self.start <= 1e50:
            raise InputError(
                f"--start {self.start}, expected a number within 1e-50 and 1e50, e.g. 1e-3"
            )
        whole("--seed", self.seed, 0)
        if self.neurons not in SIGNS:
            raise InputError(f"--neurons {self.neurons}, expected 1 or 2; nothing is known of more")


@dataclass(frozen=True, eq=False)
class Given:
    """The examples as a neuron sees them.

    examples: (n, d), rows scaled where asked for, before any lift.   labels: (n,).
    gram: (n, n), of the features that the neuron sees.   dimension: their number.
    lift: the random features with their bandwidth settled, or None.   row_numbers: the columns,
    from 1, that number the rows as they are given.   telling: other columns that tell the labels.
    """

    examples: np.ndarray
    labels: np.ndarray
    gram: np.ndarray
    dimension: int
    lift: RandomFeatures | None
    row_numbers: tuple[int, ...] = ()
    telling: tuple[Telling, ...] = ()

    @property
    def trace(self) -> float:
        """Return τ ≈ tr(G)/n."""
        return float(np.trace(self.gram)) / len(self.labels)

    def problem(self, request: Request, start: float | np.ndarray) -> Problem:
        """Return the problem of one or two neurons, each of the starting predictions `start`: a
        number, or (n,)."""
        signs = SIGNS[request.neurons]
        return Problem.from_gram(
            self.gram,
            self.labels,
            starting_predictions=np.zeros((len(signs), len(self.labels))) + start,
            step_size=request.relative_step / self.trace,
            signs=signs,
        )


def read(request: Request) -> Given:
    """Return the data that a request names.

    Raises InputError for files, labels or options that cannot be used, BackendUnavailable where a
    file needs a library that is missing.
    """
    lift = None if request.lift is None else RandomFeatures.named(request.lift, request.seed)
    X, labels = read_pair(request.features, request.labels, request.positive, request.label_column)
    y = labels.values
    if len(y) < 2:
        raise InputError(f"{request.features} has n={len(y)} example, expected at least 2 rows")
    for path, values in ((request.features, X), (request.labels or request.features, y)):
        _check_size(path, values)
    numbers = _row_numbers(X)
    telling = tuple(each for each in telling_columns(X, y) if each.column not in numbers)
    if request.normalise_rows:
        X = _of_length_one(request.features, X)
    if lift is None:
        return Given(X, y, X @ X.T, X.shape[1], None, numbers, telling)
    lift = lift.fitted(X)
    return Given(X, y, lift.gram(X), lift.number, lift, numbers, telling)


def told_options(request: Request, given: Given) -> dict[str, Any]:
    """Return what was asked for, with what was settled on the data, for a report."""
    lift = given.lift
    return {
        "features": request.features,
        "labels": request.labels,
        "label_column": request.label_column,
        "positive": request.positive,
        "relative_step": request.relative_step,
        "start": request.start,
        "step_size": request.relative_step / given.trace,
        "neurons": request.neurons,
        "theorem": request.theorem,
        "normalise_rows": request.normalise_rows,
        "random_features": None
        if lift is None
        else {
            "kind": lift.kind,
            "number": lift.number,
            "seed": lift.seed,
            "bandwidth": lift.bandwidth,
            "bandwidth_is": None
            if lift.bandwidth is None
            else "given"
            if request.lift and request.lift.count(":") == 2
            else "the median distance between two examples",
            "of_dimension": given.examples.shape[1],
        },
    }


def _check_size(path: str, values: np.ndarray) -> None:
    """Refuse numbers whose squares leave the range of doubles."""
    largest = float(np.abs(values).max())
    if largest == 0:
        raise InputError(f"{path} holds only zeros, expected numbers that are not all zero")
    if not 1e-50 <= largest <= 1e50:
        raise InputError(f"{path} holds numbers of the size {largest:.3g}: rescale them")


_FEWEST_NUMBERED = 4
"""Rows from which 0, 1, … or 1, 2, … in a column are no chance."""


def _row_numbers(X: np.ndarray) -> tuple[int, ...]:
    """Return the columns, from 1, that count the rows from 0 or from 1."""
    if len(X) < _FEWEST_NUMBERED:
        return ()
    counted = (X - X[0] == np.arange(len(X))[:, None]).all(axis=0) & np.isin(X[0], (0, 1))
    return tuple((np.flatnonzero(counted) + 1).tolist())


def _of_length_one(path: str, X: np.ndarray) -> np.ndarray:
    largest = np.abs(X).max(axis=1)
    if (largest == 0).any():
        rows = np.flatnonzero(largest == 0) + 1
        first = "the first " if len(rows) > 1 else ""
        raise InputError(
            f"{path} has {plural(len(rows), 'row', 'rows')} of zeros, {first}row {rows[0]}, "
            "expected rows with a direction for --normalise-rows; drop what has none"
        )
    scaled = X / largest[:, None]
    return np.asarray(scaled / np.linalg.norm(scaled, axis=1)[:, None])
