"""What a theorem measures is counted as it fell out, with bounds that hold, and judges nothing."""

import math
from dataclasses import replace
from itertools import product
from math import comb

import numpy as np
import pytest

from tests.verify.engine.toys import (
    ALWAYS_MET,
    HERE,
    NEVER_MET,
    OFTEN_MET,
    UNKNOWN,
    at_least_zero,
    below_a_half,
    below_nine_tenths,
    below_zero,
    counting,
    n_of,
    never_decided,
    same_claims,
    theorem_of,
)
from verify.claims import Assumption, Control, Probable, Universal
from verify.engine.check import check
from verify.engine.evaluate import draw_trial, evaluate_block
from verify.engine.executors import ProcessPool
from verify.engine.measured import thresholds
from verify.engine.plan import Cell
from verify.engine.store import Store
from verify.errors import TheoremError
from verify.findings import FrequencyCell, Threshold
from verify.loading import load_file
from verify.margin import Margin
from verify.measures import Chain, Frequency, Quantiles
from verify.space import Point
from verify.statistics import binomial_lower_bound, binomial_upper_bound
from verify.verdict import Conclusion

CLAIM = Universal(at_least_zero)
SIZES = tuple(Point(n=n) for n in (1, 2, 4, 8))


def u_of(trial):
    """The number u that was drawn."""
    return trial.problem


def u_where_measured(trial):
    """u, where it is below 0.8: above, the instrument gives up."""
    return np.where(trial.problem < 0.8, trial.problem, np.nan)


def n_times_u_is_small(trial):
    """u is below 1 − 1/(n + 1)."""
    return Margin(trial.problem, 1 - 1 / (trial.point["n"] + 1))


def one_minus(trial):
    """1 − 1/(n + 1)."""
    return 1 - 1 / (trial.point["n"] + 1)


def measured(*measures, **changes):
    return theorem_of(CLAIM, **{"measures": measures, **changes})


def drawn(theorem, point, trials):
    """Return the numbers u of the first trials at a point."""
    cell = Cell(point, "", (), theorem.block)
    blocks = range(math.ceil(trials / theorem.block))
    return np.concatenate([draw_trial(theorem, cell, 0, b).problem for b in blocks])[:trials]


# Frequencies


def test_a_frequency_counts_holds_in_scope_with_exact_bounds():
    theorem = measured(Frequency(below_nine_tenths, given=(OFTEN_MET,), at=(HERE, Point(n=2))))
    (found,) = check(theorem, trials=33).measured
    u = drawn(theorem, HERE, 33)
    inside = int((u < 0.5).sum())
    assert found.confidence == pytest.approx(1 - 0.05 / 2 / 2 / 2)
    assert [cell.point for cell in found.cells] == [{"n": 1}, {"n": 2}]
    cell = found.cells[0]
    assert (cell.trials, cell.in_scope, cell.holds, cell.unknown) == (33, inside, inside, 0)
    assert (cell.frequency, cell.high, cell.line) == (1.0, 1.0, None)
    assert cell.low == pytest.approx(binomial_lower_bound(inside, inside, 0.05 / 2 / 2 / 2))
    assert math.isnan(cell.x)
    assert math.isnan(cell.prediction)


def test_undecided_trials_fail_in_the_lower_bound_and_hold_in_the_upper_one():
    def half_known(trial):
        """u is below 0.9, as far as numbers below one half can tell."""
        return Margin(trial.problem, 0.9).undecided_where(trial.problem >= 0.5)

    theorem = measured(Frequency(half_known))
    (cell,) = check(theorem, trials=40).measured[0].cells
    holds = int((drawn(theorem, HERE, 40) < 0.5).sum())
    assert (cell.in_scope, cell.holds, cell.unknown) == (40, holds, 40 - holds)
    assert cell.low == binomial_lower_bound(holds, 40, 0.05 / 2 / 2)
    assert cell.high == 1.0


def test_a_frequency_never_in_scope_is_unknown():
    (found,) = check(measured(Frequency(below_a_half, given=(NEVER_MET,))), trials=20).measured
    (cell,) = found.cells
    assert (cell.in_scope, cell.low, cell.high) == (0, 0.0, 1.0)
    told = found.to_json()["cells"][0]
    assert (told["frequency"], told["x"], told["low"]) == (None, None, 0.0)


def test_abscissa_and_prediction_are_means_in_scope_and_lines_are_told_apart():
    measure = Frequency(
        n_times_u_is_small,
        at=(Point(n=1, m=3), Point(n=2, m=3), Point(n=2, m=4)),
        against=u_of,
        prediction=one_minus,
        by="m",
        given=(OFTEN_MET,),
    )
    theorem = measured(measure)
    (found,) = check(theorem, trials=25).measured
    u = drawn(theorem, Point(n=1, m=3), 25)
    assert found.cells[0].x == pytest.approx(u[u < 0.5].mean(), rel=1e-12)
    assert [cell.prediction for cell in found.cells] == [0.5, 1 - 1 / 3, 1 - 1 / 3]
    assert [cell.line for cell in found.cells] == [3, 3, 4]
    assert (found.by, found.abscissa, found.axis, found.kind) == (
        "m",
        "The number u that was drawn",
        "n times u is small",
        "frequency",
    )


# Thresholds


def seen(x, low, high, line=None):
    return FrequencyCell({}, line, 0, 0, 0, x, math.nan, 0, math.nan, low, high)


def test_a_threshold_is_where_the_bounds_pass_the_level():
    cells = [seen(4, 0.7, 0.9), seen(1, 0.0, 0.3), seen(2, 0.2, 0.45), seen(3, 0.4, 0.6)]
    half, never, always = thresholds(cells, (0.5, 0.95, 0.1))
    assert half == Threshold(None, 0.5, 2, 4, True)
    assert (never.low, always.high) == (4, 2)
    assert math.isnan(never.high)
    assert math.isnan(always.low)
    assert never.monotone


@pytest.mark.parametrize(("later", "monotone"), [(3, False), (1, True)])
def test_bounds_that_fall_contradict_a_threshold_and_those_of_one_abscissa_show_none(
    later, monotone
):
    (found,) = thresholds([seen(1, 0.6, 0.9), seen(later, 0.1, 0.4)], (0.5,))
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.monotone is monotone


def test_cells_of_one_abscissa_are_no_falling_frequency():
    measure = Frequency(n_times_u_is_small, at=SIZES, against=lambda trial: 1.0, levels=(0.6,))
    (found,) = check(measured(measure), trials=400).measured
    (threshold,) = found.thresholds
    assert threshold.monotone
    assert math.isnan(threshold.low)
    assert math.isnan(threshold.high)


def test_one_trial_has_no_deviation():
    for trials, known in ((1, False), (2, True)):
        (found,) = check(measured(Quantiles(u_of)), trials=trials).measured
        assert math.isfinite(found.cells[0].deviation) is known


def test_each_line_has_thresholds_of_its_own_and_cells_without_abscissa_show_nothing():
    cells = [seen(1, 0.0, 0.4, "a"), seen(2, 0.6, 1.0, "a"), seen(math.nan, 0.6, 1.0, "b")]
    a, b = thresholds(cells, (0.5,))
    assert a == Threshold("a", 0.5, 1, 2, True)
    assert b.line == "b"
    assert math.isnan(b.high)


def test_thresholds_are_wrong_no_more_often_than_the_error_exactly():
    """Three points where the event has probability .3, .45 and .7, 12 trials each: over every
    outcome, the probability that the level .5 is said to be passed elsewhere than between the
    second and the third, or not to be passed at all, is at most the error of the six bounds."""
    trials, error, chances = 12, 0.3, (0.3, 0.45, 0.7)
    side = error / 6
    counts = range(trials + 1)
    bounds = [
        (binomial_lower_bound(k, trials, side), binomial_upper_bound(k, trials, side))
        for k in counts
    ]
    weight = [[comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in counts] for p in chances]
    wrong, total = 0.0, 0.0
    for outcome in product(counts, repeat=3):
        cells = [seen(x, *bounds[k]) for x, k in enumerate(outcome)]
        (found,) = thresholds(cells, (0.5,))
        probability = math.prod(weight[x][k] for x, k in enumerate(outcome))
        total += probability
        if found.low > 1 or found.high < 2 or not found.monotone:
            wrong += probability
    assert total == pytest.approx(1)
    assert 0 < wrong <= error


def test_thresholds_go_through_a_check():
    measure = Frequency(n_times_u_is_small, at=SIZES, against=n_of, levels=(0.6,))
    (found,) = check(measured(measure), trials=400).measured
    assert [cell.x for cell in found.cells] == [1, 2, 4, 8]
    assert found.thresholds == (Threshold(None, 0.6, 1, 4, True),)


# Quantiles


def test_quantiles_are_order_statistics_of_what_was_measured():
    theorem = measured(Quantiles(u_where_measured, levels=(0.5,), given=(ALWAYS_MET,)))
    (found,) = check(theorem, trials=200).measured
    (cell,) = found.cells
    u = drawn(theorem, HERE, 200)
    known = np.sort(u[u < 0.8])
    assert (cell.in_scope, cell.unknown) == (200, 200 - known.size)
    assert (cell.mean, cell.deviation) == pytest.approx((known.mean(), known.std()), rel=1e-12)
    (median,) = cell.quantiles
    assert median.value == known[math.ceil(known.size / 2) - 1]
    assert {median.low, median.high} <= set(known)
    assert median.low < 0.5 < median.high
    assert found.confidence == pytest.approx(1 - 0.05 / 2 / 2)


def test_quantiles_share_the_error_over_cells_sides_and_levels():
    (found,) = check(measured(Quantiles(u_of, at=SIZES, levels=(0.25, 0.5, 0.75)))).measured
    assert found.confidence == pytest.approx(1 - 0.05 / 2 / (4 * 2 * 3))
    (found,) = check(measured(Quantiles(u_of, levels=()))).measured
    assert found.confidence == pytest.approx(1 - 0.05 / 2 / 2)
    assert found.cells[0].quantiles == ()


def test_too_few_trials_for_the_confidence_give_no_bound():
    (found,) = check(measured(Quantiles(u_of, levels=(0.05, 0.5))), trials=30).measured
    low, median = found.to_json()["cells"][0]["quantiles"]
    assert low["low"] is None
    assert None not in (low["value"], low["high"], median["low"], median["high"])


def test_trials_of_unknown_scope_are_unknown_and_those_out_of_it_are_not_there():
    given = (UNKNOWN, OFTEN_MET)
    (found,) = check(measured(Quantiles(u_of, given=given)), trials=60).measured
    (cell,) = found.cells
    assert 0 < cell.in_scope == cell.unknown < 60
    told = found.to_json()["cells"][0]
    assert (told["mean"], told["deviation"], told["quantiles"][1]["value"]) == (None, None, None)


def test_infinite_quantities_do_no_harm_to_quantiles():
    def inverse(trial):
        """1/u, infinite where u is below 0.1."""
        return np.where(trial.problem < 0.1, np.inf, 1 / trial.problem)

    (found,) = check(measured(Quantiles(inverse, levels=(0.5, 0.999)))).measured
    told = found.to_json()["cells"][0]
    assert told["mean"] is None
    assert told["quantiles"][0]["low"] < 2 < told["quantiles"][0]["high"]
    assert told["quantiles"][1]["value"] is None


# The chain


def proof(**changes):
    controls = (
        Control(Universal(below_a_half, at=(Point(n=2),)), because="it is not"),
        Control(
            Universal(below_a_half, name="doubled", at=(HERE,)),
            because="all are doubled",
            simulate=lambda problem: 2 * problem,
        ),
    )
    links = (at_least_zero, below_nine_tenths, below_a_half)
    return measured(controls=controls, chain=Chain(links=links), **changes)


def test_a_chain_counts_the_first_link_that_breaks():
    theorem = proof()
    chain = check(theorem, trials=44).chain
    assert [(link.id, link.statement) for link in chain.links][1] == (
        "below_nine_tenths",
        "u is below 0.9.",
    )
    first, second = chain.cells
    assert (first.point, first.controls) == ({"n": 1}, ())
    assert (second.point, second.controls) == ({"n": 2}, ("below_a_half",))
    u = drawn(theorem, Point(n=2), 44)
    above, between = int((u >= 0.9).sum()), int(((u >= 0.5) & (u < 0.9)).sum())
    assert above > 0
    assert second.first == (0, above, between)
    assert (second.undecided, second.holds) == (0, 44 - above - between)


def test_an_undecided_link_hides_those_behind_it_but_not_those_before():
    links = (below_nine_tenths, never_decided, below_a_half)
    theorem = measured(chain=Chain(links=links))
    (cell,) = check(theorem, trials=50).chain.cells
    above = int((drawn(theorem, HERE, 50) >= 0.9).sum())
    assert above > 0
    assert cell.first == (above, 0, 0)
    assert (cell.undecided, cell.holds) == (50 - above, 0)


# Assumptions, margins, closest


def test_realised_assumptions_are_pooled_over_the_claims_cells_only():
    theorem = theorem_of(
        Universal(at_least_zero, given=(OFTEN_MET,), at=(HERE, Point(n=2))),
        Universal(below_nine_tenths, given=(OFTEN_MET, UNKNOWN), at=(HERE,)),
        controls=(
            Control(Universal(below_zero, given=(OFTEN_MET,), at=(Point(n=3),)), because="no"),
        ),
        measures=(Frequency(n_times_u_is_small, given=(NEVER_MET,)),),
    )
    often, unknown = check(theorem, trials=30).realised
    u = np.concatenate([drawn(theorem, point, 30) for point in (HERE, Point(n=2))])
    assert (often.assumption, often.trials) == ("below_a_half", 60)
    assert (often.met, often.violated, often.unknown) == (
        int((u < 0.5).sum()),
        int((u >= 0.5).sum()),
        0,
    )
    assert often.margins[0] == (0.5 - u).min()
    assert often.margins[-1] == (0.5 - u).max()
    assert (unknown.assumption, unknown.trials, unknown.unknown) == ("never_decided", 30, 30)


def test_the_closest_instance_is_there_without_a_violation_and_is_the_worst_with_one():
    theorem = theorem_of(
        Universal(at_least_zero, at=(HERE, Point(n=2))),
        Universal(below_a_half),
        Universal(never_decided, name="nothing"),
    )
    close, broken, undecided = check(theorem, trials=30)
    found = close.closest
    assert close.instance is None
    assert found.margin == close.worst_margin
    trial = draw_trial(theorem, Cell(Point(**found.point), "", (), 10), 0, found.block)
    assert trial.problem[found.trial] == found.margin
    assert broken.closest == broken.instance
    assert broken.instance.margin < 0
    assert undecided.closest is None
    assert undecided.to_json()["closest"] is None


def test_margins_of_a_cell_are_told_by_seven_numbers():
    theorem = theorem_of(
        Probable(below_nine_tenths, probability=0.5, given=(OFTEN_MET,)),
        Universal(never_decided, name="nothing"),
    )
    found, undecided = check(theorem, trials=100)
    u = drawn(theorem, HERE, 100)
    margins = np.sort(0.9 - u[u < 0.5])
    told = found.to_json()["cells"][0]["margins"]
    assert len(told) == 7
    assert (told[0], told[-1]) == (margins[0], margins[-1])
    assert told[3] == margins[math.ceil(margins.size / 2) - 1]
    assert undecided.to_json()["cells"][0]["margins"] is None


# What holds for all of them


def everything():
    return proof(
        cells=(HERE, Point(n=2)),
        measures=(
            Frequency(below_nine_tenths, given=(OFTEN_MET,), against=n_of, levels=(0.5,)),
            Quantiles(u_of, at=SIZES),
        ),
    )


def same_findings(one, other):
    def told(verdicts):
        chain = verdicts.chain and verdicts.chain.to_json()
        parts = (*verdicts.measured, *verdicts.realised)
        return [part.to_json() for part in parts], chain

    return told(one) == told(other)


def test_verdicts_and_exit_do_not_hear_of_measures():
    with_measures = everything()
    without = replace(with_measures, measures=(), chain=None)
    one, other = check(with_measures), check(without)
    assert [v.verdict for v in one] == [v.verdict for v in other]
    assert one.as_expected == other.as_expected
    assert other.measured == ()
    assert other.chain is None
    never = replace(with_measures, measures=(Frequency(below_zero, name="hopeless"),))
    assert [v.verdict for v in check(never)] == [v.verdict for v in other]


@pytest.mark.parametrize("names", [["below_nine_tenths"], "u_of", ["chain"], ["at_least_zero"]])
def test_a_measure_comes_out_alone_as_among_all(names):
    everyone, some = check(everything()), check(everything(), claims=names)
    ids = [names] if isinstance(names, str) else names
    expected = replace(
        everyone,
        measured=tuple(m for m in everyone.measured if m.measure in ids),
        chain=everyone.chain if "chain" in ids else None,
        realised=some.realised,
    )
    assert same_findings(some, expected)
    assert same_claims(some, [v for v in everyone if v.claim in ids])


def test_measures_keep_to_their_points_and_are_left_out_where_cells_are_replaced():
    elsewhere = [Point(n=7)]
    moved = check(everything(), cells=elsewhere)
    assert (moved.measured, moved.chain) == ((), None)
    asked = check(everything(), cells=elsewhere, claims=["u_of", "chain"])
    assert same_findings(asked, check(everything(), claims=["u_of", "chain"]))


def test_workers_and_a_store_find_the_same(tmp_path):
    path = tmp_path / "measured.py"
    path.write_text(FILE, encoding="utf-8")
    theorem = load_file(path)
    plain = check(theorem, trials=40)
    assert len(plain.measured) == 2
    with Store(tmp_path / "s.sqlite") as store, ProcessPool(2) as pool:
        first = check(theorem, trials=40, store=store, executor=pool)
        progress, told = counting()
        again = check(theorem, trials=40, store=store, progress=progress)
        assert told == []
        recalled = check(theorem, trials=40, store=store, compute=False)
    assert same_findings(plain, first)
    assert same_findings(plain, again)
    assert same_findings(plain, recalled)


FILE = '''
import numpy as np
from verify import Chain, Frequency, Margin, Point, Quantiles, Status, Theorem, Universal

def draw(point, generator, trials):
    return generator.random((trials, point["n"])).max(axis=1)

def simulate(problem):
    return problem

def below_one(trial):
    """The greatest of n uniform numbers is below 1."""
    return Margin(trial.problem, 1.0)

def above_a_half(trial):
    """The greatest of n uniform numbers is at least one half."""
    return Margin(0.5, trial.problem)

def greatest(trial):
    """The greatest of n uniform numbers."""
    return trial.problem

def size(trial):
    """The number n of uniform numbers."""
    return trial.point["n"]

theorem = Theorem(
    id="greatest",
    title="The greatest of n uniform numbers",
    citation="none",
    status=Status.DERIVED,
    draw=draw,
    simulate=simulate,
    cells=(Point(n=1), Point(n=2), Point(n=8)),
    block=10,
    claims=(Universal(below_one),),
    measures=(
        Frequency(above_a_half, against=size, levels=(0.8,)),
        Quantiles(greatest, against=size, levels=(0.5,)),
    ),
    chain=Chain(links=(below_one, above_a_half)),
)
'''


def fails(trial):
    """It fails."""
    raise ValueError("no")


def scalar(trial):
    """One number for all."""
    return np.mean(trial.problem)


def random_of_its_own(trial):
    """A number that nobody can draw again."""
    return np.random.default_rng().random(trial.trials)


def above_something(trial):
    """Nobody knows above what."""
    return Margin(random_of_its_own(trial), trial.problem)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"measures": (Frequency(fails),)}, r"test_measured.py:\d+ in measure fails raised Value"),
        ({"measures": (Frequency(u_of),)}, r"in measure u_of returned ndarray, expected a Margin"),
        ({"measures": (Quantiles(scalar),)}, r"in quantity scalar: its quantity has shape \(\)"),
        ({"measures": (Quantiles(u_of, against=fails),)}, r"in quantity fails raised ValueError"),
        ({"chain": Chain(links=(at_least_zero, fails))}, r"in link fails raised ValueError: no"),
        ({"measures": (Quantiles(u_of, given=(Assumption(fails),)),)}, r"in assumption fails rais"),
        ({"measures": (Quantiles(random_of_its_own),)}, r"computed twice \(random_of_its_own.qu"),
        (
            {"measures": (Quantiles(random_of_its_own),)},
            r"test_measured.py:\d+ in measure random_of_its_own gives different answers",
        ),
        (
            {"measures": (Quantiles(u_of, against=random_of_its_own),)},
            r"in against random_of_its_own gives different answers",
        ),
        (
            {"chain": Chain(links=(at_least_zero, above_something))},
            r"in link above_something gives different answers",
        ),
    ],
)
def test_a_measure_that_misbehaves_is_named_with_its_line(changes, message):
    with pytest.raises(TheoremError, match=message):
        check(theorem_of(CLAIM, **changes))


def test_a_measure_of_exactly_the_profiles_trials_beside_a_claim_that_needs_more():
    theorem = theorem_of(
        Probable(at_least_zero, probability=0.99), measures=(Frequency(below_a_half),)
    )
    verdicts = check(theorem)
    assert verdicts[0].trials > 200
    assert verdicts[0].verdict is Conclusion.SUPPORTED
    assert verdicts.measured[0].cells[0].trials == 200


def test_a_block_holds_the_series_of_all_that_is_evaluated_there():
    theorem = everything()
    cell = Cell(HERE, "", ("at_least_zero",), 10, ("below_nine_tenths", "u_of", "chain"))
    record = evaluate_block(theorem, cell, 0, 0)
    assert record.series == (
        "given.below_a_half.value",
        "given.below_a_half.rounding",
        "at_least_zero.scope",
        "at_least_zero.value",
        "at_least_zero.rounding",
        "below_nine_tenths.scope",
        "below_nine_tenths.value",
        "below_nine_tenths.rounding",
        "below_nine_tenths.against",
        "u_of.scope",
        "u_of.quantity",
        "chain.at_least_zero.value",
        "chain.at_least_zero.rounding",
        "chain.below_nine_tenths.value",
        "chain.below_nine_tenths.rounding",
        "chain.below_a_half.value",
        "chain.below_a_half.rounding",
    )
    assert record.data.shape == (17, 10)
    np.testing.assert_array_equal(record["u_of.quantity"], drawn(theorem, HERE, 10))


def test_records_without_a_measure_are_not_taken_for_those_with_it(tmp_path):
    bare = measured(source="named")
    with Store(tmp_path / "s.sqlite") as store:
        check(bare, trials=20, store=store)
        more = replace(bare, measures=(Quantiles(u_of),), chain=Chain(links=(at_least_zero,)))
        found = check(more, trials=20, store=store)
    assert same_findings(found, check(more, trials=20))


def test_all_printed_bounds_of_measures_hold_together_as_often_as_the_confidence_says():
    """With 80 % confidence, at most 20 in 100 checks state a bound that is wrong, plus 4
    deviations. Seeds are 0 to 99; quantile and probability of u are its own."""
    theorem = measured(
        Frequency(below_nine_tenths, at=SIZES[:2]),
        Frequency(below_a_half),
        Quantiles(u_of, at=SIZES[:2], levels=(0.25, 0.5)),
    )
    wrong = 0
    for seed in range(100):
        often, half, numbers = check(theorem, trials=60, confidence=0.8, root_seed=seed).measured
        bounds = [(cell.low, 0.9, cell.high) for cell in often.cells]
        bounds += [(cell.low, 0.5, cell.high) for cell in half.cells]
        bounds += [(q.low, q.level, q.high) for cell in numbers.cells for q in cell.quantiles]
        assert len(bounds) == 7
        wrong += not all(low <= true <= high for low, true, high in bounds)
    assert 0 < wrong <= 20 + 4 * math.sqrt(20 * 0.8)
