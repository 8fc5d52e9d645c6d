"""The search finds the smallest and the worst, confirms them exactly, and calls nothing else a
counterexample."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from properties.seeking import Sought, passes, seek
from properties.seeking.found import Effort
from properties.seeking.worst import RATE_TRIALS, WHERE, axes_of, rate_at
from tests.properties.seeking.toys import (
    BOUNDED,
    POSITIVE,
    SMALL,
    numbers_theorem,
    squares_are_subadditive,
    sum_is_small,
    tenths_theorem,
)
from tests.properties.seeking.toys import EXACT as EXACT_FORM
from tests.verify.engine.toys import rate as toy_rate
from verify import (
    Explicit,
    Field,
    InputError,
    Margin,
    Point,
    ProcessPool,
    TheoremError,
    UnknownName,
    load_file,
)
from verify.claims import Universal
from verify.counterexample import EXACT, FLOATING, read, replay, write
from verify.exact import ExactMargin, NotDecided

EXAMPLES = Path(__file__).parents[3] / "examples"


def sought(name="squares_are_subadditive", *without, theorem=None):
    theorem = theorem or numbers_theorem()
    return Sought(theorem, theorem.claim(name), without)


@pytest.fixture(scope="module")
def found():
    return seek(sought("squares_are_subadditive", "all_are_positive"), examples=60)


def test_the_smallest_is_the_one_that_people_would_write_down(found):
    assert found.smallest.recipe == {"values": {"n": 2, "numbers": [4, -4]}}, "1² + (−1)² ≤ 0²"
    assert found.smallest.evidence == EXACT
    assert (found.smallest.exact["claim"]["left"], found.smallest.exact["claim"]["right"]) == (
        "2",
        "0",
    )
    assert found.smallest.without == ("all_are_positive",)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_whatever_the_seed_it_is_the_smallest(seed):
    found = seek(sought("squares_are_subadditive", "all_are_positive"), 60, root_seed=seed)
    assert found.smallest.recipe == {"values": {"n": 2, "numbers": [4, -4]}}
    assert found.smallest.seed == seed


def test_places_are_searched_from_the_smallest_to_the_first_counterexample(found):
    assert [effort.where for effort in found.efforts] == ["n=1", "n=2", WHERE]
    assert [effort.examples for effort in found.efforts[:2]] == [60, 60]
    assert found.efforts[0].violated == 0 < found.efforts[1].violated


def test_the_worst_has_the_lowest_margin_and_is_confirmed(found):
    assert found.worst.margin <= found.smallest.margin
    assert found.worst.evidence == EXACT
    assert -12 <= found.worst.margin < -2, "2² + 3² ≤ 1² would be the worst of two numbers"


def test_what_is_told_of_them_is_their_severity(found):
    assert found.smallest.severity["in_scope"] is False
    told = {one["assumption"]: one for one in found.smallest.severity["assumptions"]}
    assert told["all_are_positive"]["role"] == "dropped"
    assert found.smallest.severity["rate"] is None, "what was searched has no probability"


def test_the_rate_at_the_worst_drawn_instance_is_that_of_fresh_trials():
    found = seek(sought("squares_are_subadditive", "all_are_positive", theorem=drawn_only()), 60)
    rate = found.worst.severity["rate"]
    assert found.worst.kind == "seeded"
    assert rate["trials"] == RATE_TRIALS
    assert rate["where"] == dict(found.worst.recipe["point"])
    assert rate["low"] < rate["violated"] / rate["in_scope"] < rate["high"]


def drawn_only():
    return numbers_theorem(small=None)


def test_a_rate_is_right_where_it_is_known():
    """x, y uniform on [−1, 1): the sum of squares exceeds the square of the sum where xy < 0."""
    rate = rate_at(sought("squares_are_subadditive", "all_are_positive"), {"n": 2, "low": -1.0}, 0)
    assert rate.in_scope == 200
    assert 0.36 < rate.low < 0.5 < rate.high < 0.64


def test_an_assumption_that_is_dropped_frees_its_axes_alone():
    axes = {axis.name: axis for axis in axes_of(sought("squares_are_subadditive"))}
    assert axes.keys() == {"n"}, "nothing dropped: the theorem's own axes"
    axes = {a.name: a for a in axes_of(sought("squares_are_subadditive", "all_are_positive"))}
    assert (axes["low"].low, axes["low"].high) == (-1.0, 0.9)
    axes = {a.name: a for a in axes_of(sought("squares_are_subadditive", "all_are_at_most_two"))}
    assert (axes["low"].low, axes["low"].high) == (0.25, 0.9)


@pytest.mark.parametrize("name", ["squares_are_subadditive", "squares_are_bounded"])
def test_a_true_claim_yields_nothing(name):
    found = seek(sought(name), examples=40)
    assert found.conclusion == "nothing"
    assert not found.refuted
    assert [effort.where for effort in found.efforts] == ["n=1", "n=2", "n=3", "n=4", WHERE]
    assert sum(effort.in_scope for effort in found.efforts) > 60


@pytest.mark.parametrize("examples", [20, 60])
def test_a_violation_that_is_only_rounding_is_undecided(examples):
    found = seek(sought("tenths_add_up", theorem=tenths_theorem()), examples)
    assert found.conclusion == "undecided"
    assert (found.smallest, found.worst, found.refuted) == (None, None, False)
    assert sum(effort.unconfirmed for effort in found.efforts) > 0
    assert "exactly the claim holds" in found.why
    assert found.unconfirmed.margin < 0, "floating point violates it"
    assert found.unconfirmed.evidence == FLOATING


def test_without_an_exact_form_a_violation_is_one_in_floating_point():
    theorem = numbers_theorem(exact=None)
    found = seek(sought("squares_are_subadditive", "all_are_positive", theorem=theorem), 60)
    assert found.conclusion == "counterexample in floating point"
    assert found.smallest.recipe == {"values": {"n": 2, "numbers": [4, -4]}}
    assert found.smallest.evidence == FLOATING


def undecidable(numbers):
    raise NotDecided("it is too large")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"from_floats": None}, "the exact form says nothing: drawn problems have no exact form"),
        ({"statements": {"sum_is_small": undecidable}}, "not decided: it is too large"),
    ],
)
def test_where_there_is_an_exact_form_floating_point_alone_refutes_nothing(change, why):
    claims = (Universal(sum_is_small, given=(POSITIVE,)),)
    exact = replace(EXACT_FORM, **change)
    theorem = numbers_theorem(claims=claims, controls=(), small=None, exact=exact)
    found = seek(sought("sum_is_small", theorem=theorem), examples=60)
    assert found.efforts[0].violated > 0
    assert found.efforts[0].unconfirmed > 0
    assert (found.smallest, found.worst, found.refuted) == (None, None, False)
    assert (found.conclusion, found.contradicted) == ("undecided", False)
    assert why in found.why
    assert found.unconfirmed.evidence == FLOATING


def test_the_worst_is_the_worst_that_is_confirmed():
    def small_enough(problem, index):
        if len(problem[index]) > 3:
            raise NotDecided("it has more than three numbers")
        return EXACT_FORM.from_floats(problem, index)

    claims = (Universal(sum_is_small, given=(POSITIVE,)),)
    exact = replace(EXACT_FORM, from_floats=small_enough)
    theorem = numbers_theorem(
        claims=claims, controls=(), small=None, exact=exact, cells=(Point(n=3, low=0.9), Point(n=4))
    )
    found = seek(sought("sum_is_small", theorem=theorem), examples=4)
    assert found.worst.recipe["point"]["n"] == 3
    assert found.worst.evidence == EXACT
    assert found.unconfirmed.margin < found.worst.margin
    assert found.refuted


def blurred(trial):
    """The sum of the squares is at most the square of the sum."""
    return Margin(0.0, squares_are_subadditive(trial).value, rounding=np.inf)


@pytest.mark.parametrize("exact", [True, False])
def test_it_is_told_whether_anything_was_decided(exact):
    claims = (Universal(blurred, name="squares_are_subadditive", given=(POSITIVE,)),)
    form = EXACT_FORM if exact else None
    theorem = numbers_theorem(claims=claims, controls=(), exact=form)
    found = seek(sought(theorem=theorem), 20)
    assert found.conclusion == "nothing"
    assert sum(effort.in_scope for effort in found.efforts) > 20
    assert found.nothing_decided != exact, "small problems are decided exactly"


@pytest.mark.parametrize("period", [2, 3, 7])
def test_an_exact_form_that_is_not_deterministic_is_named(period):
    calls = []

    def fickle(numbers):
        calls.append(None)
        return ExactMargin(Fraction(len(calls) % period), Fraction(0))

    exact = replace(EXACT_FORM, statements={**EXACT_FORM.statements, "sum_is_small": fickle})
    theorem = numbers_theorem(exact=exact)
    with pytest.raises(TheoremError, match=r"'sum_is_small' is not deterministic: at \{'"):
        seek(sought("sum_is_small", theorem=theorem), examples=20)


def test_what_floating_point_leaves_undecided_is_decided_exactly():
    def blurred(trial):
        """The sum of the squares is at most the square of the sum."""
        margin = squares_are_subadditive(trial)
        return Margin(margin.left, margin.right, rounding=np.inf)

    claims = (Universal(blurred, name="squares_are_subadditive"),)
    found = seek(sought(theorem=numbers_theorem(claims=claims, controls=())), 60)
    assert found.smallest.recipe == {"values": {"n": 2, "numbers": [4, -4]}}
    assert found.smallest.evidence == EXACT
    assert found.refuted


def test_a_claim_that_is_false_in_its_scope_is_refuted_whatever_was_dropped():
    claims = (Universal(sum_is_small, given=(POSITIVE, BOUNDED)),)
    theorem = numbers_theorem(claims=claims, controls=())
    found = seek(sought("sum_is_small", "all_are_at_most_two", theorem=theorem), examples=60)
    assert found.smallest.recipe == {"values": {"n": 1, "numbers": [12]}}, "3 > 2 was dropped"
    assert not any(one.severity["in_scope"] for one in found.examples[:1])
    found = seek(sought("sum_is_small", "all_are_positive", theorem=theorem), examples=60)
    inside = [one for one in found.examples if one.severity["in_scope"]]
    assert found.refuted == bool(inside)


def test_controls_are_searched_too():
    found = seek(sought("sum_is_small"), examples=60)
    assert found.smallest.recipe == {"values": {"n": 1, "numbers": [12]}}, "3² > 4"
    assert not found.universal
    assert not found.refuted, "a control is to be false"


def test_a_broken_simulator_runs_for_its_own_control():
    found = seek(sought("halved_is_enough"), examples=60)
    assert found.smallest.control == "halved_is_enough"
    assert found.smallest.recipe == {"values": {"n": 1, "numbers": [4]}}, "1² > 1²/4"
    assert found.smallest.evidence == FLOATING, "exact forms are about the theorem's own"


def test_a_claim_about_a_probability_is_not_refuted_by_an_instance():
    found = seek(sought("sum_is_often_small"), examples=60)
    assert found.smallest is not None
    assert not found.refuted


def test_what_makes_no_instance_is_counted_apart():
    found = seek(sought("squares_are_bounded"), examples=60)
    assert found.efforts[0].no_instance > 0, "all numbers zero"
    for effort in found.efforts:
        assert effort.in_scope + effort.no_instance <= effort.examples


def test_a_mistake_of_the_theorem_is_no_missing_instance():
    def misspelt(point, generator, trials):
        return generator.uniform(0.25, point["count"], size=(trials, 2))

    said = r"in draw.*no coordinate 'count'.*\(at the seeded instance \{'point': "
    with pytest.raises(TheoremError, match=said):
        seek(sought(theorem=numbers_theorem(draw=misspelt)), examples=5)


def test_the_same_search_finds_the_same(found):
    again = seek(sought("squares_are_subadditive", "all_are_positive"), examples=60)
    assert again.to_json() == found.to_json()


def test_what_was_found_replays(found, tmp_path):
    for name in ("smallest", "worst"):
        write(getattr(found, name), tmp_path / "one.json")
        assert replay(numbers_theorem(), read(tmp_path / "one.json")).violated


# Bounds on the effort. The clock is a counter: it ticks once each time that it is read.


def ticking():
    times = iter(range(10**9))
    return lambda: float(next(times))


def test_seconds_end_a_search_and_say_so():
    found = seek(sought("squares_are_bounded"), seconds=100, now=ticking())
    assert found.ended == "time"
    assert sum(effort.examples for effort in found.efforts) < 100


def test_when_the_time_is_over_nothing_more_is_drawn():
    reads = []

    def clock():
        reads.append(None)
        return float(len(reads))

    found = seek(sought("squares_are_bounded"), examples=10**7, seconds=100, now=clock)
    assert found.ended == "time"
    assert 50 < len(reads) < 110, "each example that is drawn reads the clock"


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_seconds_are_a_time(seconds):
    with pytest.raises(InputError, match=f"seconds={seconds}, expected a finite number above 0"):
        seek(sought("squares_are_bounded"), seconds=seconds)


def test_seconds_alone_go_on_pass_after_pass_with_other_seeds(monkeypatch):
    monkeypatch.setattr(passes, "EXAMPLES", 20)
    theorem = numbers_theorem(small=replace(SMALL, sizes={"n": (2, 2)}))
    asked = sought("squares_are_bounded", theorem=theorem)
    once = seek(asked, examples=20)
    found = seek(asked, seconds=400, now=ticking())
    assert found.ended == "time"
    assert found.efforts[0].examples > 3 * once.efforts[0].examples
    assert found.efforts[0].undecided != 3 * once.efforts[0].undecided, "other examples"


def two_at_most(trial):
    """There are at most two numbers."""
    return Margin(float(trial.problem.shape[-1]), 2.0, rounding=0.1)


def test_a_further_pass_looks_at_every_place_that_may_have_a_smaller_one(monkeypatch):
    monkeypatch.setattr(passes, "EXAMPLES", 10)
    claims = (Universal(two_at_most),)
    theorem = numbers_theorem(claims=claims, controls=(), exact=None)
    found = seek(sought("two_at_most", theorem=theorem), seconds=300, now=ticking())
    assert found.smallest.recipe["values"]["n"] == 3
    examples = {effort.where: effort.examples for effort in found.efforts}
    assert list(examples) == ["n=1", "n=2", "n=3", WHERE]
    assert examples["n=3"] == 10, "nothing smaller is there"
    assert examples["n=2"] > 20
    assert abs(examples["n=1"] - examples["n=2"]) <= 10


def test_examples_and_seconds_are_both_bounds():
    found = seek(sought("squares_are_bounded"), examples=20, seconds=10**6, now=ticking())
    assert found.ended == ""
    assert found.efforts[0].examples == 20


def test_an_interrupted_search_tells_what_it_found():
    def interrupt(done, total, where):
        assert done <= total
        if where == WHERE:
            raise KeyboardInterrupt

    found = seek(
        sought("squares_are_subadditive", "all_are_positive"), examples=60, progress=interrupt
    )
    assert found.ended == "interrupted"
    assert found.smallest.recipe == {"values": {"n": 2, "numbers": [4, -4]}}
    assert [effort.where for effort in found.efforts] == ["n=1", "n=2", WHERE]
    assert found.efforts[2].examples == 1


def test_what_was_met_before_an_interruption_is_told():
    def interrupt(done, total, where):
        if where == "n=2" and done == 60 + 50:
            raise KeyboardInterrupt

    found = seek(
        sought("squares_are_subadditive", "all_are_positive"), examples=60, progress=interrupt
    )
    assert found.efforts[1].examples == 50
    assert found.efforts[1].violated > 0
    assert found.worst is not None
    assert found.worst.evidence == EXACT


# What cannot be searched.


def test_a_rate_is_refused():
    theorem = numbers_theorem(claims=(toy_rate(),), controls=(), exact=None)
    with pytest.raises(InputError, match="is a rate, which no single instance violates"):
        Sought(theorem, theorem.claims[0])


def test_an_unknown_assumption_is_refused():
    with pytest.raises(UnknownName, match="it has all_are_positive, all_are_at_most_two"):
        sought("squares_are_subadditive", "nothing")


def test_a_theorem_with_nothing_to_search_but_its_cells_is_searched_there():
    theorem = numbers_theorem(small=None, axes=(), wide_axes=())
    found = seek(sought("squares_are_bounded", theorem=theorem), examples=20)
    assert [(effort.where, effort.examples) for effort in found.efforts] == [(WHERE, 1)]


def test_a_theorem_that_runs_do_not_hunt_in_is_searched_within_what_it_assumes():
    theorem = numbers_theorem(small=None, axes=())
    claimed = sought("squares_are_subadditive", theorem=theorem)
    assert {axis.name: (axis.low, axis.high) for axis in axes_of(claimed)} == {
        "n": (1, 5),
        "low": (0.25, 0.9),
    }
    [effort] = seek(claimed, examples=20).efforts
    assert effort.where == WHERE
    assert effort.examples > 20
    assert effort.in_scope > 10


def test_with_nothing_at_all_to_search_it_says_what_to_give():
    theorem = numbers_theorem(small=None, axes=(), wide_axes=(), exact=None)
    with pytest.raises(InputError, match=r"nothing to search; give it axes=\(Axis"):
        seek(sought("squares_are_subadditive", "all_are_positive", theorem=theorem))


def test_efforts_add_up():
    one = Effort("small", "n=1", 5, 4, 3, 2, 1, 1, 1)
    assert one + one == Effort("small", "n=1", 10, 8, 6, 4, 2, 2, 2)
    assert one.decided == 4 - 2 + 1


def test_explicit_problems_are_searched_in_scope_where_small_ones_find_nothing():
    explicit = Explicit(
        sizes={"k": (2, 3)},
        fields={"numbers": Field(1, 3, shape=("k",))},
        build=lambda values: values["numbers"][None],
    )
    theorem = numbers_theorem(explicit=explicit)
    found = seek(sought("squares_are_bounded", theorem=theorem), examples=20)
    assert [effort.kind for effort in found.efforts] == [
        *["small"] * 4,
        *["explicit"] * 2,
        "seeded",
    ]


# On workers


@pytest.mark.parametrize(
    ("name", "without"),
    [
        ("squares_are_subadditive", ("all_are_positive",)),
        ("squares_are_bounded", ()),
        ("sum_is_small", ()),
    ],
)
def test_sections_that_are_searched_at_the_same_time_find_the_same(name, without):
    here = seek(sought(name, *without), examples=40)
    with ThreadPoolExecutor(4) as threads:
        there = seek(sought(name, *without), examples=40, executor=threads)
    assert there.to_json() == here.to_json()


def test_processes_find_the_same():
    theorem = load_file(EXAMPLES / "same_factor.py")
    asked = Sought(theorem, theorem.claims[0])
    with ProcessPool(2) as pool:
        there = seek(asked, examples=40, executor=pool)
    assert there.smallest is not None
    assert there.to_json() == seek(asked, examples=40).to_json()


def test_progress_of_workers_is_told_section_by_section():
    told = []
    with ThreadPoolExecutor(1) as threads:
        found = seek(
            sought("squares_are_bounded"),
            examples=40,
            progress=lambda *step: told.append(step),
            executor=threads,
        )
    assert [where for _, _, where in told] == [WHERE, "n=1", "n=2", "n=3", "n=4"]
    assert told[-1][0] == sum(effort.examples for effort in found.efforts)


def test_interrupted_workers_leave_the_sections_that_are_finished():
    def interrupt(done, total, where):
        if where == "n=2":
            raise KeyboardInterrupt

    with ThreadPoolExecutor(1) as threads:
        found = seek(
            sought("squares_are_bounded"), examples=40, progress=interrupt, executor=threads
        )
    assert found.ended == "interrupted"
    assert [effort.where for effort in found.efforts] == ["n=1", WHERE]


def test_a_search_of_some_seconds_has_no_workers():
    with (
        ThreadPoolExecutor(1) as threads,
        pytest.raises(InputError, match="seconds=9 with an"),
    ):
        seek(sought("squares_are_bounded"), seconds=9, executor=threads)
