"""Shallow ReLU regression over the rationals: descent, certificates and comparators, all exact."""

from verify.relu.exact.descent import ExactRun, ExactState, descend, first_departure
from verify.relu.exact.document import document
from verify.relu.exact.floats import from_floats
from verify.relu.exact.minimum import ExactMinimum, minimum_norm, nearest_minimum
from verify.relu.exact.problem import ExactLaw, ExactProblem

__all__ = [
    "ExactLaw",
    "ExactMinimum",
    "ExactProblem",
    "ExactRun",
    "ExactState",
    "descend",
    "document",
    "first_departure",
    "from_floats",
    "minimum_norm",
    "nearest_minimum",
]
