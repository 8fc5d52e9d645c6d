"""What is written down of an exact problem is enough to derive it again, with no code of ours."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from tests.verify.relu.exact.problems import descend_in_weights, draw
from verify.relu.exact import ExactLaw, ExactProblem, descend, descent, document
from verify.relu.exact.rational import rational

START = [[Fraction(1, 16)] * 2]


def two(**changed):
    given = {"labels": [1, -1], "start": START, "step_size": Fraction(1, 2)}
    return ExactProblem.from_features([[1, 0], [0, 1]], **{**given, **changed})


def test_by_hand():
    assert document(two(), "minimum_norm") == {
        "problem": {
            "features": [["1", "0"], ["0", "1"]],
            "gram": [["1", "0"], ["0", "1"]],
            "labels": ["1", "-1"],
            "start": [["1/16", "1/16"]],
            "starting_duals": [["1/16", "1/16"]],
            "starting_square": "1/128",
            "starting_residual": ["-15/16", "17/16"],
            "signs": [1],
            "step_size": "1/2",
            "slope_at_zero": 0,
            "outside": [["0"]],
            "law": None,
        },
        "steps": [
            [["1/16", "1/16"]],
            [["17/32", "-15/32"]],
            [["49/64", "-15/32"]],
            [["113/128", "-15/32"]],
        ],
        "first_departure": None,
        "final": {
            "name": "rows",
            "step": 1,
            "pattern": [[1, 0]],
            "row_weights": ["1", "0"],
            "kappa": "1/2",
            "duals": [["15/32", "-17/32"]],
            "limit_change": [["15/16", "-17/32"]],
        },
        "comparator": {"name": "minimum_norm", "duals": [["1", "0"]]},
    }


def test_the_nearest_minimum_is_told_from_the_start():
    found = document(two(), "nearest_minimum")["comparator"]
    assert found == {"name": "nearest_minimum", "duals": [["15/16", "-1/16"]]}
    assert document(two())["comparator"] is None


def test_steps_reach_the_first_departure_where_they_can():
    at_once = document(two(labels=[-1, -1], step_size=Fraction(1, 100)))
    assert (at_once["first_departure"], len(at_once["steps"])) == (1, 2)
    assert (document(two())["first_departure"], len(document(two())["steps"])) == (None, 4)


def test_a_departure_too_late_to_be_shown_is_told():
    """r_t = (−1.1)^t/10 with η = 2.1: the prediction 1 + r_t is first below 0 at t = 25."""
    given = {"start": [[Fraction(11, 10)]], "step_size": Fraction(21, 10)}
    found = document(ExactProblem.from_gram([[1]], [1], **given))
    assert (found["first_departure"], len(found["steps"])) == (25, 4)


def test_what_is_not_known_is_null(monkeypatch):
    monkeypatch.setattr(descent, "MOST_STEPS", 50)
    found = document(ExactProblem.from_gram([[1]], [1], start=[[1.5]], step_size=2))
    assert (found["final"], found["first_departure"]) == (None, None)
    assert found["problem"]["features"] is None
    singular = ExactProblem.from_gram([[1, 1], [1, 1]], [1, 1], start=[[1, 1]], step_size=0.5)
    assert document(singular, "minimum_norm")["comparator"] is None


def test_a_law_is_told():
    law = ExactLaw(rational(100), rational(50), None, rational("7/2"))
    problem = ExactProblem.from_gram([[1]], [1], start=[[1]], step_size=0.5, law=law)
    told = document(problem)["problem"]["law"]
    assert told == {"dimension": "100", "trace": "50", "d_2": None, "d_inf": "7/2"}


def test_steps_and_limit_can_be_derived_again(monkeypatch):
    monkeypatch.setattr(descent, "MOST_STEPS", 60)
    rng, derived = np.random.default_rng(7), 0
    for _ in range(80):
        small = draw(rng)
        found = json.loads(json.dumps(document(small.exact())))
        path = descend_in_weights(small, len(found["steps"]) - 1)
        assert read(found["steps"]) == path
        if found["final"] is None:
            continue
        derived += 1
        gram, final = read(found["problem"]["gram"]), found["final"]
        n = len(gram)
        limit = read(found["problem"]["start"])
        for k, change in enumerate(read(final["limit_change"])):
            for i in range(n):
                limit[k][i] += sum(gram[i][j] * change[j] for j in range(n))
        for i, y in enumerate(read(found["problem"]["labels"])):
            active = [k for k, on in enumerate(final["pattern"]) if on[i]]
            assert not active or sum(small.signs[k] * limit[k][i] for k in active) == y
        assert descend(small.exact()).final.step == final["step"]
    assert derived > 40


def read(value):
    return [read(entry) for entry in value] if isinstance(value, list) else Fraction(value)


@pytest.mark.parametrize("name", ["least_norm", ""])
def test_an_unknown_comparator_is_a_mistake(name):
    with pytest.raises(KeyError):
        document(two(), name)
