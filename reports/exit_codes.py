"""How a command ends: the first of these that applies. `relu-verify --help` says the same."""

ALL_AS_EXPECTED = 0
REFUTED = 1
"""Refuted against expectation, or a control not refuted."""
USAGE = 2
"""Usage or bad input."""
UNSETTLED = 3
"""Something inconclusive, undecided or vacuous."""
UNAVAILABLE = 4
"""A backend, data or a Dask scheduler not available."""
INTERNAL = 70
"""An error of this program's own, memory that ran out, or workers that kept dying: nothing is said
of any theorem."""
INTERRUPTED = 130
TERMINATED = 143
