"""Explicit problems: integers over their denominators."""

import numpy as np
import pytest

from verify.errors import InputError, TheoremError
from verify.explicit import Explicit, Field

EXPLICIT = Explicit(
    sizes={"n": (1, 3)},
    fields={
        "labels": Field(-2, 2, shape=("n",), denominator=2, nonzero=True),
        "block": Field(0, 9, shape=("n", "n")),
        "step": Field(1, 4, denominator=4),
    },
    build=dict,
)
VALUES = {"n": 2, "labels": [-2, 1], "block": [[0, 1], [2, 3]], "step": 3}


def test_explicit_values_are_the_integers_over_their_denominators():
    values = EXPLICIT.values(VALUES)
    assert values["n"] == 2
    np.testing.assert_array_equal(values["labels"], [-1.0, 0.5])
    assert values["block"].dtype == np.float64
    assert values["step"] == 0.75


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": 4}, "n=4, expected 1 to 3"),
        ({"n": True}, "n=True, expected 1 to 3"),
        ({"n": 2.0}, "n=2.0, expected"),
        ({"labels": [1, 1, 1]}, r"labels is not an integer array of \(2,\)"),
        ({"labels": [1, 0]}, r"labels=\[1, 0\] has entries outside -2 to 2 without 0"),
        ({"labels": [1, 3]}, "entries outside -2 to 2"),
        ({"labels": [1.0, 2.0]}, "labels is not an integer array"),
        ({"labels": [True, True]}, "labels is not an integer array"),
        ({"labels": [1, [2]]}, "labels is not an integer array"),
        ({"labels": [1, 10**30]}, "entries outside"),
        ({"block": [[0, 1], [2]]}, "block is not an integer array"),
        ({"step": [3]}, r"step is not an integer array of \(\)"),
        ({"step": None}, "step is not an integer array"),
        ({"extra": 1}, r"names \['extra'\] are missing or unknown"),
    ],
)
def test_explicit_values_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        EXPLICIT.values({**VALUES, **changes})


def test_a_missing_explicit_value_is_named():
    with pytest.raises(InputError, match=r"\['step'\] are missing"):
        EXPLICIT.values({name: value for name, value in VALUES.items() if name != "step"})


def test_a_field_allows_some_integer_and_its_shape_is_known():
    with pytest.raises(TheoremError, match="expected low <= high"):
        Field(2, 1)
    with pytest.raises(TheoremError, match="no integer is allowed"):
        Field(0, 0, nonzero=True)
    with pytest.raises(TheoremError, match="denominator >= 1"):
        Field(0, 1, denominator=0)
    with pytest.raises(TheoremError, match=r"the shapes name \['m'\], which are no sizes"):
        Explicit(sizes={}, fields={"a": Field(0, 1, shape=("m",))}, build=dict)
