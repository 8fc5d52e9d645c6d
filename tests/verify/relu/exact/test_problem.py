"""Problems over the rationals: built from features or a Gram matrix, and refused exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import fmpq, fmpq_mat

from verify.errors import InputError
from verify.relu.exact import ExactProblem

HALF = Fraction(1, 2)


def test_features_become_a_gram_matrix():
    problem = ExactProblem.from_features([[1, 2], [0, 3]], [1, -1], start=[[1, 1]], step_size=HALF)
    assert problem.gram == fmpq_mat([[5, 6], [6, 9]])
    assert problem.starting_duals * problem.gram == problem.start
    assert (problem.examples, problem.neurons, problem.dimension) == (2, 1, 2)
    assert problem.trace == 7
    assert problem.label_classes == ((True, False),)
    assert repr(problem) == "ExactProblem(examples=2, neurons=1)"


def test_starting_weights_have_a_part_outside_the_span():
    problem = ExactProblem.from_features(
        [[1, 0, 0], [1, 1, 0]],
        [1, -1],
        starting_weights=[[2, 3, 5], [0, 0, 1]],
        step_size=HALF,
        signs=(1, -1),
    )
    assert problem.start == fmpq_mat([[2, 5], [0, 0]])
    assert problem.outside == fmpq_mat([[25, 5], [5, 1]])


def test_a_start_in_the_range_of_a_singular_gram_matrix_is_taken():
    problem = ExactProblem.from_gram([[1, 2], [2, 4]], [1, 1], start=[[3, 6]], step_size=1)
    assert not problem.regular
    assert problem.starting_duals * problem.gram == problem.start


def test_a_start_out_of_range_by_very_little_is_refused():
    start = [[3, 6 + Fraction(1, 10**40)]]
    with pytest.raises(InputError, match="is not in the range of the Gram matrix"):
        ExactProblem.from_gram([[1, 2], [2, 4]], [1, 1], start=start, step_size=1)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"gram": [[1, 2], [2, 1]]}, "gram is not symmetric and positive semi-definite"),
        ({"gram": [[1, 0], [1, 1]]}, "gram is not symmetric"),
        ({"gram": [[1, 0]]}, r"gram has the shape \(1, 2\), expected \(1, 1\)"),
        ({"labels": [1]}, "labels has n=1, expected n=2"),
        ({"labels": [1, "x"]}, "no rational number"),
        ({"start": [[1, 1, 1]]}, r"start has the shape \(1, 3\), expected \(1, 2\)"),
        ({"start": [[1, 1], [1, 1]]}, r"start has the shape \(2, 2\), expected \(1, 2\)"),
        ({"signs": (2,)}, r"signs=\(2,\), expected -1 and \+1"),
        ({"step_size": 0}, "step_size=0 is not positive"),
        ({"step_size": -1}, "step_size=-1 is not positive"),
        ({"slope_at_zero": 2}, "slope_at_zero=2, expected 0 or 1"),
        ({"outside": [[-1]]}, "outside is not symmetric and positive semi-definite"),
        ({"outside": [[0, 0]]}, r"outside has the shape \(1, 2\)"),
    ],
)
def test_what_is_no_problem_is_refused_by_name(changed, message):
    given = {"gram": [[1, 0], [0, 1]], "labels": [1, -1], "start": [[1, 1]], "step_size": HALF}
    with pytest.raises(InputError, match=message):
        ExactProblem.from_gram(**{**given, **changed})


def test_either_predictions_or_weights():
    with pytest.raises(InputError, match="exactly one of the two"):
        ExactProblem.from_features([[1]], [1], step_size=1)
    with pytest.raises(InputError, match="starting_weights has d=2, expected d=1"):
        ExactProblem.from_features([[1]], [1], starting_weights=[[1, 2]], step_size=1)


def test_label_scale_is_one_without_labels():
    given = {"start": [[1]], "step_size": 1}
    assert ExactProblem.from_gram([[1]], [0], **given).label_scale == 1
    assert ExactProblem.from_gram([[1]], [-3], **given).label_scale == fmpq(3)
