"""The implicit-bias gap is the distance between weights, and theory §6 describes it."""

from dataclasses import replace

import numpy as np
import pytest

from tests.verify.relu.oracle import descend_in_weights, draw
from verify.errors import InputError
from verify.relu.descent import descend
from verify.relu.dynamics import (
    SOFTPLUS,
    Activation,
    Network,
    descend_in_small_steps,
    flow,
    flow_both_layers,
    leaky_descent,
    smooth_flow,
)
from verify.relu.gap import (
    deductive_bounds,
    duals_after_first_step,
    implicit_bias_gap,
    leading_order,
    nearest_interpolant,
    norm_in_span,
    outside_span,
    schur_gap,
)
from verify.relu.minimum_norm import minimum_norm
from verify.relu.plain import descend_plainly
from verify.relu.problem import Problem

SEED = 20260307
IDENTITY = 1e-10


def wishart(rng, batch, n, d):
    """Draw Gram matrices of n standard Gaussian rows in dimension d, by Bartlett (theory §10)."""
    factor = np.tril(rng.normal(size=(batch, n, n)), -1)
    i = np.arange(n)
    factor[:, i, i] = np.sqrt(rng.chisquare(d - i, (batch, n)))
    return factor @ factor.swapaxes(1, 2)


def gaussian(rng, batch, n, d, c, *, start=(1e-3, 1e-2), zeros=0):
    """Draw problems with |y| ~ U[½, 1], `zeros` labels of zero, a positive start and τ = d."""
    labels = rng.uniform(0.5, 1, (batch, n)) * rng.choice([-1, 1], (batch, n))
    labels[:, :zeros] = 0.0
    labels[:, zeros], labels[:, zeros + 1] = 0.75, -0.75
    return Problem.from_gram(
        wishart(rng, batch, n, d),
        labels,
        starting_predictions=rng.uniform(*start, (batch, 1, n)),
        step_size=c / d,
    )


def positives_from_step_one(run):
    """Mask of the runs certified to keep the pattern S+ from step one on, (B,)."""
    first = (run.pattern_after_first_step[:, 0, :] == run.problem.positives).all(axis=-1)
    return run.certified & first & (run.freeze_margin > 0) & (run.near_ties == 0)


@pytest.mark.parametrize("outside", [False, True], ids=["in-the-span", "outside-the-span"])
@pytest.mark.parametrize("start", ["positive", "random"])
def test_gap_is_the_distance_in_weights(start, outside):
    """‖w_∞ − w⋆‖ with w_∞ from descent on the weights; the part outside the span counts."""
    rng = np.random.default_rng([SEED, start == "random", outside])
    sample = draw(rng, 60, 8, 60, start=start, outside=outside, relative_step=(0.3, 1.0))
    problem = Problem.from_features(**sample.arguments)
    run, best = descend(problem), minimum_norm(problem)
    reference = descend_in_weights(sample)
    compared = run.certified & (run.near_ties == 0) & reference.settled
    minimum = (best.duals @ sample.features)[:, 0, :]
    expected = np.linalg.norm(reference.weights[:, 0, :] - minimum, axis=-1)
    gap = implicit_bias_gap(run, best)
    np.testing.assert_allclose(gap[compared], expected[compared], rtol=1e-9)
    assert compared.sum() >= 50
    size = np.linalg.norm(sample.perpendicular, axis=(1, 2))
    np.testing.assert_allclose(outside_span(problem), size, rtol=1e-9, atol=1e-12)
    assert outside == bool((gap > size)[compared].all() and (size > 0).all())


def test_gap_of_a_flow_is_that_of_descent_in_small_steps():
    problem = gaussian(np.random.default_rng(SEED), 6, 5, 100, 0.5)
    best, small = minimum_norm(problem), replace(problem, step_size=1e-6 * problem.step_size)
    followed, stepped = flow(problem), descend_in_small_steps(small)
    known = followed.certified & stepped.certified  # the others chatter at kinks
    assert known.sum() >= 2
    of_flow, of_steps = implicit_bias_gap(followed, best), implicit_bias_gap(stepped, best)
    np.testing.assert_allclose(of_flow[known], of_steps[known], rtol=1e-3)
    assert (of_flow[known] > 1e-5).all()
    assert (implicit_bias_gap(descend(problem), best) > 10 * of_flow).all()


LEAKY = Activation(0.1)


def network_of(problem):
    return Network.from_gram(
        problem.gram, problem.labels, starting_predictions=problem.starting_predictions,
        output_weights=[1.0],
    )  # fmt: skip


@pytest.mark.parametrize(
    "train",
    [
        lambda problem: leaky_descent(problem, LEAKY),
        lambda problem: flow(problem, LEAKY),
        lambda problem: descend_in_small_steps(problem, LEAKY),
        lambda problem: smooth_flow(problem, SOFTPLUS),
        lambda problem: flow_both_layers(network_of(problem)),
        descend_plainly,
    ],
    ids=["leaky", "leaky flow", "leaky steps", "smooth", "both layers", "plain"],
)
def test_gap_of_what_has_other_global_minima_is_refused(train):
    problem = gaussian(np.random.default_rng(SEED), 1, 3, 100, 0.5)
    best = minimum_norm(problem)
    with pytest.raises(InputError, match=r"run=.*expected a run of the ReLU"):
        implicit_bias_gap(train(problem), best)


def test_a_gap_to_the_minimum_of_other_data_is_refused():
    rng = np.random.default_rng(SEED)
    problem, other = (gaussian(rng, 2, 3, 100, 0.5) for _ in range(2))
    swapped = problem.select(np.array([1, 0]))
    for wrong in (other, replace(problem, labels=other.labels), swapped):
        with pytest.raises(InputError, match=r"of other data .* minimum_norm\(run.problem\)"):
            implicit_bias_gap(descend(problem), minimum_norm(wrong))
    moved = replace(problem, step_size=problem.step_size / 2)
    assert implicit_bias_gap(descend(moved), minimum_norm(problem)).shape == (2,)


def test_norms_are_those_of_the_weights():
    rng = np.random.default_rng(SEED)
    features, duals = rng.normal(size=(5, 4, 7)), rng.normal(size=(5, 3, 4))
    gram = features @ features.swapaxes(1, 2)
    expected = np.linalg.norm(duals @ features, axis=-1)
    np.testing.assert_allclose(norm_in_span(gram, duals), expected, rtol=1e-12)


# Identities where the pattern is S+ from step one on


@pytest.mark.parametrize("outside", [False, True], ids=["in-the-span", "outside-the-span"])
@pytest.mark.parametrize(("n", "d"), [(2, 40), (10, 1_000), (30, 3_000)])
def test_the_limit_is_the_interpolant_of_the_positives_nearest_to_step_one(n, d, outside):
    """And gap² = ‖w^⊥‖² + ΔᵀSΔ."""
    rng = np.random.default_rng([SEED, n, outside])
    sample = draw(rng, 20, n, d, outside=outside, relative_step=(0.4, 1.2))
    problem = Problem.from_features(**sample.arguments)
    run, best = descend(problem), minimum_norm(problem)
    in_scope = positives_from_step_one(run)
    assert in_scope.sum() >= 10, in_scope.sum()

    first = (duals_after_first_step(problem) @ sample.features)[:, 0]
    for b in np.flatnonzero(in_scope):
        above = problem.positives[b]
        rows = sample.features[b, above]
        start = first[b] + sample.perpendicular[b, 0]
        limit = start + np.linalg.pinv(rows) @ (sample.labels[b, above] - rows @ start)
        nearest = nearest_interpolant(problem)[b, 0] @ sample.features[b]
        weights = nearest + sample.perpendicular[b, 0]
        np.testing.assert_allclose(weights, limit, atol=IDENTITY * np.linalg.norm(limit))

    limit, size = run.duals[:, 0], np.abs(run.duals[:, 0]).max(axis=-1)
    error = np.abs(nearest_interpolant(problem)[:, 0] - limit).max(axis=-1) / size
    assert (error <= IDENTITY)[in_scope].all(), error[in_scope].max()
    gap = implicit_bias_gap(run, best)
    error = np.abs(schur_gap(problem, best) - gap) / np.maximum(gap, 1e-12)
    assert (error <= IDENTITY)[in_scope & (gap > 1e-12)].all(), error[in_scope].max()


def test_the_identities_fail_where_the_pattern_is_another():
    """A step of a fiftieth of 1/τ leaves negatives active after step one."""
    rng = np.random.default_rng(SEED)
    problem = gaussian(rng, 20, 20, 400, 0.01)
    run, best = descend(problem), minimum_norm(problem)
    late = run.certified & ~positives_from_step_one(run)
    assert late.sum() >= 10
    gap = implicit_bias_gap(run, best)
    assert (abs(schur_gap(problem, best) / gap - 1) > 1e-3)[late].all()
    error = np.abs(nearest_interpolant(problem) - run.duals)[:, 0].max(axis=-1)
    assert (error > 1e-3 * np.abs(run.duals[:, 0]).max(axis=-1))[late].all()


# The size of the gap


@pytest.mark.parametrize(
    ("n", "d", "c"),
    [(5, 400, 0.5), (10, 4_000, 0.5), (10, 4_000, 0.9), (20, 20_000, 1.1), (50, 10**6, 0.2)],
)
def test_deductive_bounds_are_never_violated(n, d, c):
    rng = np.random.default_rng([SEED, n, int(10 * c)])
    problem = gaussian(rng, 100, n, d, c)
    run, best = descend(problem), minimum_norm(problem)
    in_scope = positives_from_step_one(run)
    assert in_scope.sum() >= 50, in_scope.sum()
    gap = implicit_bias_gap(run, best)
    for trace in (float(d), 0.9 * d, 1.2 * d):
        low, high = deductive_bounds(problem, np.full(problem.batch, trace))
        wrong = in_scope & ((low > gap * (1 + 1e-9)) | (gap > high * (1 + 1e-9)))
        assert not wrong.any(), (trace, low[wrong], gap[wrong], high[wrong])


def test_deductive_bounds_count_a_label_of_zero_among_the_negatives():
    """With c > 1 such an example is left behind at (1 − c)β⁰ < 0, and the gap feels it."""
    rng = np.random.default_rng(SEED)
    problem = gaussian(rng, 100, 12, 10**6, 1.3, start=(0.5, 1.0), zeros=6)
    run, best = descend(problem), minimum_norm(problem)
    in_scope = positives_from_step_one(run)
    assert in_scope.sum() >= 90
    gap, trace = implicit_bias_gap(run, best), np.full(problem.batch, 1e6)
    low, high = deductive_bounds(problem, trace)
    wrong = in_scope & ((low > gap) | (gap > high))
    assert not wrong.any(), f"low={low[wrong][:3]}, gap={gap[wrong][:3]}, high={high[wrong][:3]}"
    np.testing.assert_allclose((gap / leading_order(problem, trace))[in_scope], 1, atol=0.05)


def test_deductive_bounds_are_informative_where_d_is_large():
    """Medians of bound/gap are about .83 and 1.22 (theory §6)."""
    ratios = []
    for n, d in [(10, 4_000), (20, 20_000), (50, 25_000)]:
        for c in (0.5, 0.9):
            problem = gaussian(np.random.default_rng([SEED, n, int(10 * c)]), 50, n, d, c)
            run, best = descend(problem), minimum_norm(problem)
            gap = implicit_bias_gap(run, best)
            bounds = np.stack(deductive_bounds(problem, np.full(50, float(d))))
            ratios.append((bounds / gap)[:, positives_from_step_one(run)])
    low, high = np.median(np.concatenate(ratios, axis=1), axis=1)
    print(f"median bound/gap {low:.3f}, {high:.3f}")
    assert low == pytest.approx(0.83, abs=0.06)
    assert high == pytest.approx(1.22, abs=0.08)


def test_deductive_bounds_say_nothing_where_the_gram_matrix_is_far_from_the_identity():
    problem = gaussian(np.random.default_rng(SEED), 5, 10, 15, 0.5)
    low, high = deductive_bounds(problem, np.full(5, 15.0))
    assert (low == 0).all()
    assert np.isinf(high).all()


def mean_ratio(rng, batch, d):
    """Return the mean of gap/(c‖y₋‖/√d) where the pattern is S+ from step one on, and how often.

    n = 50, |y| ~ U[½, 1], start U[.001, .01], c = ½.
    """
    problem = gaussian(rng, batch, 50, d, 0.5)
    run, best = descend(problem), minimum_norm(problem)
    in_scope = positives_from_step_one(run)
    negative = np.where(problem.labels < 0, problem.labels, 0.0)
    plain = 0.5 * np.linalg.norm(negative, axis=-1) / np.sqrt(d)
    ratio = (implicit_bias_gap(run, best) / plain)[in_scope]
    return ratio.mean(), in_scope.sum()


def test_mean_gap_at_n_50_and_d_5000_is_94_percent_of_the_leading_order():
    ratio, draws = mean_ratio(np.random.default_rng(SEED), 200, 5_000)
    print(f"{draws} draws, mean ratio {ratio:.4f}")
    assert draws >= 100
    assert ratio == pytest.approx(0.94, abs=0.03)


@pytest.mark.parametrize(
    ("d", "expected"), [(10_000, 0.953), (10**5, 0.980), (10**6, 0.989), (10**9, 0.993)]
)
def test_gap_tends_to_its_leading_order(d, expected):
    """Measured ratios of theory §6; .993 in the limit is the term of the start."""
    ratio, draws = mean_ratio(np.random.default_rng([SEED, d]), 60, d)
    assert draws >= 50
    assert ratio == pytest.approx(expected, abs=0.006)


def test_leading_order_accounts_for_the_start():
    problem = gaussian(np.random.default_rng(SEED), 50, 20, 10**9, 0.5, start=(0.1, 0.4))
    run, best = descend(problem), minimum_norm(problem)
    ratio = implicit_bias_gap(run, best) / leading_order(problem, np.full(50, 1e9))
    np.testing.assert_allclose(ratio[positives_from_step_one(run)], 1, atol=2e-3)
