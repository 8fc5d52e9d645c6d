"""Six conclusions, never folded into one another, and the error rates that they promise."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from verify.errors import UnknownName
from verify.statistics import ErrorBudget, SlopeFit, fit_slope, trials_to_support
from verify.verdict import (
    ENOUGH,
    IN_SCOPE,
    OUT_OF_SCOPE,
    SCOPE_UNKNOWN,
    Conclusion,
    Tally,
    Verdict,
    Verdicts,
    at_least,
    at_most,
    conclude_probable,
    conclude_slope,
    conclude_universal,
    gravest,
)

CERTIFIED, SUPPORTED, REFUTED, VACUOUS, INCONCLUSIVE, UNDECIDED = Conclusion
ERROR = 0.05 / 40

quickly = settings(max_examples=200, deadline=None, derandomize=True, database=None)


def tally(holds=0, violated=0, undecided=0, outside=0):
    in_scope = holds + violated + undecided
    return Tally(in_scope + outside, in_scope, holds, violated, undecided, math.nan)


# Counting


def test_every_trial_is_counted_where_it_belongs():
    value = np.array([1.0, 0.0, -1.0, -1.0, 1.0, -1.0, np.nan, 1.0, -1.0])
    rounding = np.array([0.0, 0.0, 0.0, 2.0, 2.0, 0.0, 0.0, 0.0, 0.0])
    scope = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.5, 0.5])
    assert Tally.of(value, rounding, scope) == Tally(
        trials=9, in_scope=8, holds=2, violated=1, undecided=5, worst_margin=-1.0
    )


@pytest.mark.parametrize(
    ("value", "rounding"),
    [(np.nan, 0.0), (np.nan, np.nan), (1.0, np.nan), (np.inf, np.inf), (5.0, np.inf)],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_nan_and_no_bound_are_undecided_never_a_hold_or_a_violation(value, rounding, sign):
    found = Tally.of(np.array([sign * value]), np.array([rounding]), np.array([IN_SCOPE]))
    assert (found.holds, found.violated, found.undecided) == (0, 0, 1)
    assert math.isnan(found.worst_margin)


@pytest.mark.parametrize(
    ("value", "holds", "violated"),
    [(0.5, 1, 0), (np.nextafter(0.5, 0), 0, 0), (-0.5, 0, 0), (np.nextafter(-0.5, -1), 0, 1)],
)
def test_the_rounding_bound_itself_holds_and_its_negative_is_undecided(value, holds, violated):
    found = Tally.of(np.array([value]), np.array([0.5]), np.array([IN_SCOPE]))
    assert (found.holds, found.violated) == (holds, violated)


def test_a_trial_of_unknown_scope_is_undecided_whatever_its_margin():
    found = Tally.of(np.array([1.0, -1.0]), np.zeros(2), np.full(2, SCOPE_UNKNOWN))
    assert (found.in_scope, found.undecided) == (2, 2)


def test_a_trial_out_of_scope_counts_nowhere_else():
    found = Tally.of(np.array([-9.0, np.nan]), np.zeros(2), np.full(2, OUT_OF_SCOPE))
    assert found.trials == 2
    assert (found.in_scope, found.holds, found.violated, found.undecided) == (0, 0, 0, 0)
    assert math.isnan(found.worst_margin)


FLOATS = st.floats(-2, 2) | st.sampled_from([math.nan, math.inf, -math.inf])
TRIALS = st.lists(st.tuples(FLOATS, FLOATS.map(abs), st.sampled_from([0.0, 0.5, 1.0])), max_size=20)


@given(TRIALS, TRIALS)
@quickly
def test_tallies_partition_the_scope_and_add_like_their_trials(one, other):
    def of(trials):
        return Tally.of(*np.array(trials, dtype=float).reshape(-1, 3).T)

    both = of(one + other)
    assert both.in_scope == both.holds + both.violated + both.undecided <= both.trials
    assert repr(of(one) + of(other)) == repr(both)


# Universal claims


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"holds": ENOUGH}, SUPPORTED),
        ({"holds": 10**6}, SUPPORTED),
        ({"holds": ENOUGH - 1}, INCONCLUSIVE),
        ({"holds": ENOUGH - 1, "outside": 10**6}, INCONCLUSIVE),
        ({"holds": 10**6, "undecided": 1}, UNDECIDED),
        ({"undecided": 3}, UNDECIDED),
        ({"outside": 10**6}, VACUOUS),
        ({}, VACUOUS),
        ({"holds": 10**6, "violated": 1}, REFUTED),
        ({"violated": 1, "undecided": 10**6}, REFUTED),
        ({"violated": 1}, REFUTED),
    ],
)
def test_one_violation_refutes_a_universal_claim_and_support_needs_all_decided(counts, expected):
    assert conclude_universal(tally(**counts)) is expected


# With-probability claims


@pytest.mark.parametrize(
    ("counts", "probability", "expected"),
    [
        ({"holds": 131}, 0.95, SUPPORTED),
        ({"holds": 130}, 0.95, INCONCLUSIVE),
        ({"holds": 666}, 0.99, SUPPORTED),
        ({"holds": 950, "violated": 50}, 0.95, INCONCLUSIVE),
        ({"holds": 80, "violated": 20}, 0.95, REFUTED),
        ({"violated": ENOUGH}, 0.5, REFUTED),
        ({"violated": ENOUGH - 1}, 0.95, INCONCLUSIVE),
        ({"holds": ENOUGH - 1, "outside": 1000}, 0.01, INCONCLUSIVE),
        ({"outside": 1000}, 0.95, VACUOUS),
        ({"undecided": 200}, 0.95, UNDECIDED),
        ({"holds": 120, "undecided": 11}, 0.95, UNDECIDED),  # supported, if they held
        ({"holds": 110, "undecided": 20}, 0.95, UNDECIDED),  # refuted, if they failed
        ({"holds": 129, "undecided": 1}, 0.95, INCONCLUSIVE),  # too few trials either way
        ({"holds": 1000, "undecided": 1}, 0.95, SUPPORTED),
        ({"violated": 500, "undecided": 400}, 0.95, REFUTED),
    ],
)
def test_bounds_decide_a_with_probability_claim(counts, probability, expected):
    assert conclude_probable(tally(**counts), probability, ERROR) is expected


@given(
    st.integers(0, 300),
    st.integers(0, 300),
    st.integers(0, 300),
    st.floats(0.01, 0.99),
    st.sampled_from([0.05, ERROR]),
)
@quickly
def test_undecided_trials_never_make_a_conclusion(holds, violated, undecided, p, error):
    def concluded(**counts):
        return conclude_probable(tally(**counts), p, error)

    found = concluded(holds=holds, violated=violated, undecided=undecided)
    ways = {
        concluded(holds=holds + undecided, violated=violated),
        concluded(holds=holds, violated=violated + undecided),
    }
    if found in (SUPPORTED, REFUTED):
        assert ways == {found}
    elif found is INCONCLUSIVE:
        assert not ways & {SUPPORTED} or holds + violated + undecided < ENOUGH
    if undecided == 0:
        assert found is not UNDECIDED


@pytest.mark.parametrize("probability", [0.5, 0.9, 0.95, 0.99])
def test_the_trials_to_support_support_and_one_fewer_do_not(probability):
    enough = max(ENOUGH, trials_to_support(probability, ERROR))
    assert conclude_probable(tally(holds=enough), probability, ERROR) is SUPPORTED
    assert conclude_probable(tally(holds=enough - 1), probability, ERROR) is not SUPPORTED


# The error rates, exactly: every count of holds, weighed by its probability


def chance(conclusion, truth, claimed, trials, error):
    """Return the probability of a conclusion on a claim of `claimed` when the truth is `truth`."""
    counts = range(trials + 1)
    found = [conclude_probable(tally(holds=k, violated=trials - k), claimed, error) for k in counts]
    weights = stats.binom.pmf(counts, trials, truth)
    return float(sum(w for w, f in zip(weights, found, strict=True) if f is conclusion))


@pytest.mark.parametrize("error", [0.05, ERROR])
@pytest.mark.parametrize("trials", [30, 77, 200, 1000])
@pytest.mark.parametrize("claimed", [0.3, 0.9, 0.95])
def test_a_claim_that_is_true_with_nothing_to_spare_is_refuted_as_rarely_as_stated(
    claimed, trials, error
):
    assert chance(REFUTED, claimed, claimed, trials, error) <= error


@pytest.mark.parametrize("error", [0.05, ERROR])
@pytest.mark.parametrize("trials", [30, 77, 200, 1000])
@pytest.mark.parametrize("claimed", [0.3, 0.9, 0.95])
def test_a_claim_that_is_only_just_false_is_supported_as_rarely_as_stated(claimed, trials, error):
    assert chance(SUPPORTED, claimed - 1e-9, claimed, trials, error) <= error * (1 + 1e-6)


def test_a_claim_that_is_false_by_a_margin_is_never_supported_and_soon_refuted():
    assert chance(SUPPORTED, 0.8, 0.95, 200, ERROR) < 1e-15
    assert chance(REFUTED, 0.8, 0.95, 200, ERROR) > 0.999
    assert chance(SUPPORTED, 0.9, 0.95, 1000, ERROR) < 1e-12


def test_a_claim_that_is_true_by_a_margin_is_supported_in_most_runs():
    assert chance(SUPPORTED, 0.99, 0.9, 200, ERROR) > 0.99
    assert chance(REFUTED, 0.99, 0.9, 200, ERROR) < 1e-12


def test_a_claim_about_many_cells_keeps_its_own_share_of_the_error():
    budget, cells = ErrorBudget(0.05, claims=4), 10
    error = budget.per_cell(cells)
    refuted_somewhere = 1 - (1 - chance(REFUTED, 0.9, 0.9, 200, error)) ** cells
    assert refuted_somewhere <= budget.per_claim


def test_an_adversary_who_leaves_trials_undecided_gains_no_error():
    """Seeded; 2 000 checks of a true claim: at most error·2000 refuted, plus 5 deviations."""
    generator, checks, error, claimed = np.random.default_rng(20260304), 2_000, 0.05, 0.9
    refuted = supported = 0
    for _ in range(checks):
        holds = int(generator.binomial(200, claimed))
        hidden_holds = int(generator.binomial(holds, 0.3))
        hidden_fails = int(generator.binomial(200 - holds, 0.3))
        against = tally(holds - hidden_holds, 200 - holds, hidden_holds)
        for_it = tally(holds, 200 - holds - hidden_fails, hidden_fails)
        refuted += conclude_probable(against, claimed, error) is REFUTED
        supported += conclude_probable(for_it, claimed + 1e-9, error) is SUPPORTED
    allowed = checks * error + 5 * math.sqrt(checks * error)
    assert refuted <= allowed
    assert supported <= allowed


@given(st.floats(0, 1))
@quickly
def test_a_bound_that_is_printed_is_true(bound):
    assert float(at_least(bound).removeprefix("P ≥ ")) <= bound
    assert float(at_most(bound).removeprefix("P ≤ ")) >= bound


# Slopes


def fit(low, high):
    return SlopeFit((low + high) / 2, low, high, 0.0, 0.0, 9.0, 0.0, 0.0, 2.0)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.46, 0.54, SUPPORTED),
        (0.4, 0.6, SUPPORTED),
        (0.39, 0.6, INCONCLUSIVE),
        (0.45, 0.65, INCONCLUSIVE),
        (0.3, 0.7, INCONCLUSIVE),
        (0.2, 0.39, REFUTED),
        (0.61, 0.8, REFUTED),
        (0.5, 0.5, SUPPORTED),
        (math.nan, math.nan, INCONCLUSIVE),
    ],
)
def test_a_slope_is_supported_only_if_its_whole_interval_is_within_tolerance(low, high, expected):
    assert conclude_slope(fit(low, high), 0.5, 0.1) is expected


@pytest.mark.parametrize(
    ("low", "high", "deviation", "expected"),
    [
        (0.46, 0.54, 0.1, SUPPORTED),
        (0.46, 0.54, 0.11, INCONCLUSIVE),
        (0.46, 0.54, math.inf, INCONCLUSIVE),
        (0.2, 0.39, 9.0, REFUTED),
        (0.39, 0.6, 0.0, INCONCLUSIVE),
    ],
)
def test_a_slope_is_supported_only_if_the_means_are_near_the_line(low, high, deviation, expected):
    """A slope of ±.1 moves the ends of a sweep of length 2 by ±.1 from its centre."""
    assert conclude_slope(replace(fit(low, high), deviation=deviation), 0.5, 0.1) is expected


def test_a_true_slope_is_refuted_and_a_false_one_supported_as_rarely_as_stated():
    """Seeded; 400 fits at error .05: at most 20, plus 5 deviations, go wrong."""
    generator, error = np.random.default_rng(20260304), 0.05
    x = np.log([10.0, 20.0, 40.0, 80.0])
    wrongly_refuted = wrongly_supported = 0
    for _ in range(400):
        samples = [0.5 * level + generator.normal(0, 0.3, size=30) for level in x]
        found = fit_slope(x, samples, error)
        wrongly_refuted += conclude_slope(found, 0.5, 1e-12) is REFUTED
        wrongly_supported += conclude_slope(found, 0.6, 0.1 - 1e-12) is SUPPORTED
    assert max(wrongly_refuted, wrongly_supported) <= 20 + 5 * math.sqrt(20)


# What is said of several


def test_the_gravest_conclusion_is_the_first_of_a_stated_order():
    order = [REFUTED, UNDECIDED, INCONCLUSIVE, VACUOUS, SUPPORTED, CERTIFIED]
    assert set(order) == set(Conclusion)
    for size in (1, 2, 3):
        for some in itertools.product(order, repeat=size):
            assert gravest(some) is order[min(map(order.index, some))]


def test_each_conclusion_has_a_meaning_of_its_own():
    assert len({conclusion.meaning for conclusion in Conclusion}) == len(Conclusion)


def verdict(conclusion, expected=SUPPORTED, **changes):
    given = {
        **{"theorem": "t", "claim": "c", "full_id": "t.c", "kind": "universal"},
        **{"verdict": conclusion, "expected": expected, "statement": "s", "status": "D"},
        **{"trials": 1, "in_scope": 1, "holds": 1, "violated": 0, "undecided": 0},
        **{"lower_bound": math.nan, "upper_bound": math.inf, "confidence": 0.95},
        **{"worst_margin": -math.inf, "detail": "d"},
    }
    return Verdict(**{**given, **changes})


@pytest.mark.parametrize("conclusion", Conclusion)
def test_only_support_or_more_is_expected_of_a_claim_and_refutation_of_a_control(conclusion):
    assert verdict(conclusion).as_expected == (conclusion in (SUPPORTED, CERTIFIED))
    assert verdict(conclusion, REFUTED).as_expected == (conclusion is REFUTED)


def test_verdicts_are_as_expected_if_every_one_is():
    good, bad = verdict(SUPPORTED), verdict(VACUOUS, claim="bad", full_id="t.bad")
    assert Verdicts((good,), 0.05).as_expected
    assert not Verdicts((good, bad), 0.05).as_expected


def test_verdicts_are_found_by_position_claim_or_full_id():
    verdicts = Verdicts((verdict(SUPPORTED), verdict(REFUTED, claim="b", full_id="t.b")), 0.05)
    assert verdicts["b"] is verdicts["t.b"] is verdicts[1] is verdicts[-1]
    assert len(verdicts) == 2
    with pytest.raises(UnknownName, match="no claim 'x' here, only c, b"):
        verdicts["x"]


def test_a_verdict_becomes_strict_json_with_null_for_what_is_no_number():
    text = json.dumps(verdict(UNDECIDED).to_json(), allow_nan=False)
    back = json.loads(text)
    assert back["verdict"] == "undecided"
    assert back["lower_bound"] is back["upper_bound"] is back["worst_margin"] is None
