"""No certificate is ever contradicted: a pattern called frozen stays, at the distance promised."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from tests.verify.relu.oracle import far_ahead, follow_in_gram_space
from verify.relu.certificate import (
    certify_by_energy,
    certify_by_length,
    certify_by_limit,
    certify_by_rows,
    promising_by_length,
)
from verify.relu.descent import Run, descend, gradient_step, start
from verify.relu.problem import Problem

SEED = 20260305
REPEATS = 1
"""Times the sweep of about 10⁴ runs is drawn; raise by hand for a longer one."""

PLAIN_STEPS, DOUBLINGS = 300, 16
CHECKPOINTS = (1, 2, 4, 8, 16)
CELLS = {
    (n, m): runs
    for n, runs in {2: 600, 3: 600, 5: 500, 8: 400, 12: 300, 20: 150, 40: 70}.items()
    for m in (1, 2, 3, 5)
}
LEAKS = {0.5: 4, 0.1: 8, 0.01: 8}
"""Slopes below the kink that the sweep also draws: one run for so many of the ReLU."""

CERTIFICATES = {
    "length": certify_by_length,
    "energy": lambda problem, state: certify_by_energy(problem, state)[0],
    "rows": certify_by_rows,
    "limit": lambda problem, state: certify_by_limit(problem, state)[0],
}
ROUNDING = 1e-10
"""Of the oracle, relative to labels and start; its doublings lose up to 2^16 ulps."""


# The sweep: every kind of data that could fool a certificate


def hard_problem(rng, n, m):
    """Draw one problem as (gram, labels, starting predictions, signs, step, kind)."""
    kind = rng.choice(
        ["gauss", "singular", "repeated", "zero row", "integer", "nearly repeated", "scaled"],
        p=[0.45, 0.1, 0.1, 0.05, 0.15, 0.05, 0.1],
    )
    ratio = rng.choice([1.1, 1.5, 2, 5, 20, 100, 400] if kind == "gauss" else [1.1, 2, 10])
    d = max(1, n // 2) if kind == "singular" else min(int(np.ceil(n * ratio)), 800)
    integer = kind == "integer"
    features = rng.integers(-2, 3, (n, d)).astype(float) if integer else rng.normal(size=(n, d))
    i, j = rng.integers(n, size=2)
    if kind == "repeated":
        features[i] = features[j] * rng.choice([1, 1, -1, 0.5])
    elif kind == "nearly repeated":
        features[0] = features[-1] + rng.choice([1e-2, 1e-3]) * rng.normal(size=d)
    elif kind == "zero row":
        features[i] = 0
    elif kind == "scaled":
        features *= 10 ** rng.uniform(-1, 1, (n, 1))
    labels = rng.uniform(0.2, 1, n) * rng.choice([-1, 1], n)
    if integer:
        labels = rng.integers(-2, 3, n).astype(float)
    elif rng.random() < 0.1:
        labels[i] = 0
    elif rng.random() < 0.1:
        labels = abs(labels) * rng.choice([-1, 1])
    gram = features @ features.T
    if integer:
        weights = rng.integers(-1, 2, (m, d)) * rng.integers(2)
    else:
        weights = rng.normal(size=(m, d)) * rng.choice([0, 0.01, 0.1, 1]) / np.sqrt(d)
    predictions = weights @ features.T
    if kind in ("gauss", "nearly repeated", "scaled") and rng.random() < 0.5:
        predictions = rng.uniform(1e-3, 1e-2, (m, n)) * rng.choice([1, 10, 50])
    step = np.exp(rng.uniform(np.log(0.02), np.log(3))) / max(np.trace(gram) / n, 1e-9)
    highest = np.linalg.eigvalsh(gram)[-1]
    if integer:
        step = 2.0 ** np.round(np.log2(step))
    elif highest > 0 and rng.random() < 0.05:
        step = rng.choice([1, 2, 1.9999]) / highest
    signs = rng.choice([-1, 1], m, p=[0.3, 0.7])
    return gram, labels, predictions, signs, step, kind


@dataclass(frozen=True)
class Cell:
    """A batch of hard problems, their runs, and plain paths with what lies far ahead of them.

    slope_below: γ of φ(z) = max(z, γz).
    patterns: (T + 1, B, m, n).   distance, changed: (T + 1, B), see `Path`.
    side: (B,), the least distance that any prediction has kept on its side since step one.
    limit, still_moving, far_distance: see `far_ahead`.
    """

    problem: Problem
    slope_below: float
    run: Run
    kinds: np.ndarray
    patterns: np.ndarray
    distance: np.ndarray
    changed: np.ndarray
    side: np.ndarray
    limit: np.ndarray
    still_moving: np.ndarray
    far_distance: np.ndarray

    @property
    def certain(self):
        """Runs that are certified and whose path does not hang on a sign within rounding."""
        return self.run.certified & (self.run.near_ties == 0)

    @property
    def scale(self):
        """Size of labels and start, (B,)."""
        labels, predictions = self.problem.labels, self.problem.starting_predictions
        size = abs(labels).max(axis=-1) + abs(predictions).max(axis=(1, 2))
        return np.where(size > 0, size, 1.0)

    def pattern(self, step):
        """Return the plain path's pattern at each problem's own `step`, (B, m, n)."""
        return self.patterns[step, np.arange(self.problem.batch)]

    def changes_after(self, step):
        """Return whether the plain path, or what lies ahead of it, flips after `step`, (B,)."""
        later = np.arange(PLAIN_STEPS + 1)[:, None] > step
        beyond = self.far_distance < -ROUNDING * self.scale
        return (self.changed & later).any(axis=0) | beyond

    def distance_after(self, step):
        """Return the least distance from zero that any prediction has after `step`, (B,)."""
        later = np.arange(PLAIN_STEPS + 1)[:, None] > step
        least = np.where(later, self.distance, np.inf).min(axis=0)
        return np.minimum(least, self.far_distance)

    def excess(self, where, kept, promised):
        """Return (kept − promised)/scale on the mask `where`, ∞ elsewhere, (B,)."""
        found = np.full(where.shape, np.inf)
        found[where] = (kept[where] - promised[where]) / self.scale[where]
        return found


def observed(problem, kinds, slope_below):
    """Run the problems of a cell, plainly and with certificates."""
    fixed = problem.gram, problem.labels
    path = follow_in_gram_space(
        *fixed, problem.starting_predictions, problem.step_size, problem.signs,
        problem.slope_at_zero, PLAIN_STEPS, slope_below,
    )  # fmt: skip
    seen = path.predictions
    patterns = seen >= 0 if problem.slope_at_zero else seen > 0
    side = np.where(patterns[1], seen[1:], -seen[1:]).min(axis=(0, 2, 3))
    limit, moved, nearest = far_ahead(
        *fixed, seen[-1], problem.step_size, problem.signs, patterns[-1], DOUBLINGS, slope_below
    )
    run = descend(problem, max_steps=PLAIN_STEPS // 2, slope_below=slope_below)
    return Cell(
        problem,
        slope_below,
        run,
        kinds,
        patterns,
        path.distance,
        path.changed,
        side,
        limit,
        moved,
        nearest,
    )


@cache
def sweep():
    """Return the cells of the sweep, drawn once."""
    cells = []
    for repeat in range(REPEATS):
        for (n, m), runs in CELLS.items():
            cells.append(drawn([SEED, repeat, n, m], n, m, runs, 0.0))
            for slope_below, fewer in LEAKS.items():
                seed = [SEED, repeat, n, m, round(100 * slope_below)]
                cells.append(drawn(seed, n, m, runs // fewer, slope_below))
    return cells


def drawn(seed, n, m, runs, slope_below):
    """Draw a cell of so many runs."""
    rng = np.random.default_rng(seed)
    *fields, kinds = zip(*(hard_problem(rng, n, m) for _ in range(runs)), strict=True)
    gram, labels, predictions, signs, step = (np.stack(field) for field in fields)
    problem = Problem.from_gram(
        gram, labels, starting_predictions=predictions, signs=signs,
        step_size=step, slope_at_zero=int(rng.integers(2)),
    )  # fmt: skip
    with np.errstate(over="ignore", invalid="ignore"):
        return observed(problem, np.array(kinds), slope_below)


def told(cell, found, step, promised, kept):
    """Describe the problems `found` for a message."""
    problem = cell.problem
    return "; ".join(
        f"n={problem.examples} m={problem.neurons} gamma={cell.slope_below} "
        f"problem {b} ({cell.kinds[b]}, "
        f"phi'(0)={problem.slope_at_zero}, eta lambda_max="
        f"{problem.step_size[b] * problem.eigenvalues[b, -1]:.4g}): frozen at step {step[b]}, "
        f"promised {promised[b]:.3e}, kept {kept[b]:.3e}"
        for b in found[:5]
    )


def test_a_certified_pattern_never_changes_again():
    runs = certified = leaky = ties = 0
    for cell in sweep():
        run = cell.run
        wrong = (cell.pattern(run.steps) != run.final_pattern).any(axis=(1, 2))
        wrong |= cell.changes_after(run.steps)
        found = np.flatnonzero(cell.certain & wrong)
        kept = cell.distance_after(run.steps)
        assert not found.size, told(cell, found, run.steps, run.freeze_margin, kept)
        runs, certified = runs + run.certified.size, certified + run.certified.sum()
        leaky += run.certified.sum() if cell.slope_below else 0
        ties += (run.certified & ~cell.certain).sum()
    print(f"{runs} runs, {certified} certified, {ties} of them with near ties, 0 contradicted")
    assert runs >= 10_000
    assert certified - leaky >= 5_000
    assert leaky >= 1_800


def test_the_limit_of_a_certified_run_is_where_plain_descent_goes():
    compared, worst = 0, 0.0
    for cell in sweep():
        run = cell.run
        settled = cell.still_moving <= 1e-12 * cell.scale
        sure = cell.certain & settled
        size = (cell.scale + abs(cell.limit).max(axis=(1, 2)))[sure]
        error = abs(run.predictions - cell.limit)[sure].max(axis=(1, 2)) / size
        compared, worst = compared + sure.sum(), max(worst, error.max(initial=0.0))
    print(f"{compared} limits, worst error {worst:.1e}")
    assert compared >= 4_000
    assert worst <= 1e-8


def test_a_positive_freeze_margin_is_kept_from_step_one_for_ever():
    positive, worst = 0, np.inf
    for cell in sweep():
        run = cell.run
        kept = np.minimum(cell.side, cell.far_distance)
        promised = cell.certain & (run.freeze_margin > 0)
        excess = cell.excess(promised, kept, run.freeze_margin)
        found = np.flatnonzero((excess < -ROUNDING) | (promised & (run.last_flip > 1)))
        assert not found.size, told(cell, found, run.steps, run.freeze_margin, kept)
        positive, worst = positive + promised.sum(), min(worst, excess.min())
    print(f"{positive} positive margins, least (kept − promised) {worst:.1e}")
    assert positive >= 2_000


def test_a_negative_freeze_margin_means_that_the_pattern_changed_after_step_one():
    negative = 0
    for cell in sweep():
        run = cell.run
        crossed = cell.certain & (run.freeze_margin < 0)
        found = np.flatnonzero(crossed & ((run.last_flip <= 1) | (cell.side > 0)))
        assert not found.size, told(cell, found, run.steps, run.freeze_margin, cell.side)
        negative += crossed.sum()
    assert negative >= 500


@pytest.mark.parametrize("name", CERTIFICATES)
def test_each_certificate_alone_is_right_at_every_step_it_is_asked(name):
    asked = frozen = 0
    worst = np.inf
    for cell in sweep():
        state = start(cell.problem, cell.slope_below)
        for step in range(1, max(CHECKPOINTS) + 1):
            with np.errstate(over="ignore", invalid="ignore"):
                state = gradient_step(cell.problem, state)
            if step not in CHECKPOINTS:
                continue
            certificate = CERTIFICATES[name](cell.problem, state)
            same = (cell.pattern(step) == state.pattern).all(axis=(1, 2))
            claimed = certificate.frozen & same
            kept = cell.distance_after(step)
            slack = certificate.slack
            excess = cell.excess(claimed, kept, slack)
            found = np.flatnonzero(claimed & (cell.changes_after(step) | (excess < -ROUNDING)))
            steps = np.full(claimed.shape, step)
            assert not found.size, told(cell, found, steps, slack, kept)
            asked, frozen = asked + claimed.size, frozen + claimed.sum()
            worst = min(worst, excess.min())
            if name == "length":
                missed = certificate.frozen & ~promising_by_length(cell.problem, state)
                assert not missed.any(), "a certificate that was not thought to be worth its cost"
    print(f"{name}: {frozen} of {asked} frozen, least (kept − promised) {worst:.1e}")
    assert frozen >= 5_000


# The formulas of theory §4, written again


def slack_by_formula(name, gamma, gram, labels, predictions, signs, eta, smallest, largest):
    """Return the slack of one problem, −∞ where the bound does not apply, example by example.

    smallest, largest: the bounds on the eigenvalues of the Gram matrix that it knows.
    """
    slopes = np.where(predictions > 0, 1.0, gamma)
    residual = signs @ (slopes * predictions) - labels
    count = (slopes**2).sum(axis=0)
    on = np.flatnonzero(count)
    matrix = np.zeros((len(on), len(on)))
    for own in slopes:
        matrix += np.diag(own[on]) @ gram[np.ix_(on, on)] @ np.diag(own[on])
    if gamma:
        smallest = smallest * count.min()
    r, v = residual[on], abs(labels[on])
    if gamma and len(slopes) == 1:
        v = v * gamma / slopes[0]
    contraction = abs(np.eye(len(on)) - eta * matrix) @ v / v
    highest = np.linalg.eigvalsh(matrix)[-1]
    if name == "length" and eta * count.max() * largest < 2:
        highest = count.max() * largest
    kappa = max(1.0, eta * highest)
    if name == "limit":
        bounds = smallest, largest if len(slopes) == 1 else count.max() * largest
        if eta * count.max() * largest >= 2:
            bounds = smallest, highest
        return slack_by_limit(gamma, gram, labels, predictions, signs, eta, matrix, bounds)
    if (contraction.max() if name == "rows" else eta * highest / 2) >= 1:
        return -np.inf
    least = np.inf
    for k, i in np.ndindex(predictions.shape):
        reach = gram[i, on] * slopes[k, on]
        if name == "energy":
            drift = kappa * np.sqrt(reach @ np.linalg.solve(matrix, reach))
            drift *= np.sqrt(r @ np.linalg.solve(matrix, r))
        elif name == "length":
            drift = kappa * np.sqrt(min(gram[i, i], reach @ reach / smallest) * (r @ r) / smallest)
        else:
            drift = eta / (1 - contraction.max()) * (abs(reach) @ v) * (abs(r) / v).max()
        slack = abs(predictions[k, i]) - drift
        alone = (slopes[:, i] > 0).sum() == 1 and slopes[k, i] > 0
        if alone and signs[k] * labels[i] * predictions[k, i] > 0:
            later = v[np.searchsorted(on, i)] * (abs(r) / v).max()
            worst = later if name == "rows" else np.linalg.norm(r)
            slack = max(slack, (abs(labels[i]) - worst) / slopes[k, i])
        least = min(least, slack)
    return least


def slack_by_limit(gamma, gram, labels, predictions, signs, eta, matrix, bounds):
    """Return the least of the bound along the line to the limit, on a grid."""
    smallest, largest = bounds
    slopes = np.where(predictions > 0, 1.0, gamma)
    on = np.flatnonzero(slopes.any(axis=0))
    residual = (signs @ (slopes * predictions) - labels)[on]
    rayleigh = residual @ matrix @ residual / (residual @ residual) if on.size else 0.0
    middle = eta * max(rayleigh, (largest + smallest / 2) / 2)
    spread = max(middle - eta * smallest, eta * largest - middle)
    if middle >= 1:
        return -np.inf
    fraction = np.linspace(0, 1, 20_001) ** 3
    kappa = np.log1p(spread - middle) / np.log1p(-middle)
    away = fraction**kappa - fraction
    remainder, least = np.linalg.solve(matrix, residual), np.inf
    departure = middle * residual - eta * matrix @ residual
    energy = np.sqrt(residual @ remainder)
    strayed = np.sqrt(departure @ np.linalg.solve(matrix, departure)) / spread
    for k, i in np.ndindex(predictions.shape):
        row = gram[i, on] * slopes[k, on]
        side = 1 if predictions[k, i] > 0 else -1
        reach = np.sqrt(min(gram[i, i], row @ row / smallest))
        line = predictions[k, i] - (1 - fraction) * signs[k] * (row @ remainder)
        least = min(least, (side * line - away * min(energy, strayed) * reach).min())
    return least


@pytest.mark.parametrize("slope_below", [0.0, 0.4])
@pytest.mark.parametrize("neurons", [1, 2, 3])
@pytest.mark.parametrize("name", CERTIFICATES)
def test_the_slack_is_that_of_the_formula(name, neurons, slope_below):
    rng = np.random.default_rng([SEED, neurons])
    features = rng.normal(size=(200, 5, 40))
    gram = features @ features.swapaxes(1, 2)
    labels = rng.uniform(0.5, 1, (200, 5)) * rng.choice([-1, 1], (200, 5))
    predictions = rng.normal(size=(200, neurons, 5))
    predictions[:, 0, 0] = 0.5
    signs = rng.choice([-1, 1], (200, neurons))
    step = rng.uniform(0.2, 1.2, 200) / 40
    problem = Problem.from_gram(
        gram, labels, starting_predictions=predictions, signs=signs, step_size=step
    )
    found = CERTIFICATES[name](problem, start(problem, slope_below)).slack
    expected = [
        slack_by_formula(name, slope_below, *arguments)
        for arguments in zip(
            gram, labels, predictions, signs, step, *problem.inner_products.range, strict=True
        )
    ]
    close = 1e-4 if name == "limit" else 1e-9  # that of a grid
    np.testing.assert_allclose(found, expected, rtol=close, atol=close)
    assert np.isfinite(found).sum() >= 40


# Single cases, chosen to fool it


def one(gram, labels, predictions, step, signs=(1,), slope_at_zero=0):
    """Return a single small problem."""
    return Problem.from_gram(
        np.array(gram, dtype=float),
        np.array(labels, dtype=float),
        starting_predictions=np.array(predictions, dtype=float),
        step_size=step,
        signs=signs,
        slope_at_zero=slope_at_zero,
    )


def verdicts(problem, steps):
    """Return what each certificate says after each of the first `steps` steps."""
    state, found = start(problem), []
    for _ in range(steps):
        state = gradient_step(problem, state)
        found += [bool(certify(problem, state).frozen[0]) for certify in CERTIFICATES.values()]
    return found


@pytest.mark.parametrize(
    ("what", "problem"),
    [
        ("eta lambda = 2 swings for ever", one([[1]], [1], [[0.5]], 2.0)),
        ("eta lambda = 2.1 diverges", one([[1]], [1], [[0.99]], 2.1)),
        ("two neurons double lambda", one([[1]], [2], [[0.9], [0.9]], 1.0, signs=(1, 1))),
        ("three neurons triple it", one([[1]], [3], [[0.9]] * 3, 0.7, signs=(1, 1, 1))),
        ("one direction is too fast", one(np.diag([1, 2.0]), [1, 1], [[0.9, 0.9]], 1.0)),
    ],
)
def test_descent_that_does_not_contract_is_never_certified(what, problem):
    assert not any(verdicts(problem, 10)), what
    assert descend(problem, max_steps=10).status[0] == "undecided", what


@pytest.mark.parametrize("eta", [0.5, 1.0, 1.5, 1.9])
@pytest.mark.parametrize("name", ["length", "energy"])
def test_in_one_dimension_the_distance_promised_is_the_distance_kept(name, eta):
    """κ = max(1, ηλ) cannot be smaller: a step moves the prediction by ηλr."""
    problem = one([[1]], [1.0], [[1.2]], eta)
    certificate = CERTIFICATES[name](problem, start(problem))
    path = follow_in_gram_space(
        problem.gram, problem.labels, problem.starting_predictions, problem.step_size,
        problem.signs, 0, 500,
    )  # fmt: skip
    assert certificate.frozen[0]
    assert float(certificate.slack[0]) == pytest.approx(path.distance[1:].min(), abs=1e-12)


def repeated_rows(difference, n=20, d=60):
    """Return a regression problem whose first two examples differ by `difference`."""
    rng = np.random.default_rng(SEED)
    features = rng.normal(size=(n, d))
    features[1] = features[0] + difference * rng.normal(size=d)
    labels = rng.uniform(0.5, 1, n) * rng.choice([-1, 1], n)
    labels[:2] = 0.5, 1.0
    gram = features @ features.T
    weights = np.linalg.pinv(features) @ np.full(n, 0.01)
    predictions = (features @ weights)[None]
    return Problem.from_gram(gram, labels, starting_predictions=predictions, step_size=0.5 / d)


def test_equal_examples_with_different_labels_end_at_the_mean_label():
    run = descend(repeated_rows(0.0))
    assert run.status[0] == "certified"
    np.testing.assert_allclose(run.predictions[0, 0, :2], 0.75, rtol=1e-12)


@pytest.mark.parametrize("difference", [1e-6, 1e-5])
def test_examples_that_differ_by_a_millionth_are_not_taken_for_equal(difference):
    """In 10¹³ steps gradient descent would tell them apart, and go far to do so."""
    problem = repeated_rows(difference)
    run = descend(problem, max_steps=1_024)
    assert run.status[0] == "undecided", run.predictions[0, 0, :2]


@pytest.mark.parametrize("neurons", [1, 2])
def test_a_run_that_ends_with_no_active_example_is_certified(neurons):
    """It covers nothing, M = 0, and there is nothing left to solve."""
    predictions = np.full((neurons, 3), 0.01)
    labels = [-1.0, -0.5, -0.7]
    run = descend(one(np.eye(3), labels, predictions, 0.5 / neurons, signs=(1,) * neurons))
    assert run.status[0] == "certified"
    assert not run.final_pattern.any()


@pytest.mark.parametrize("slope_at_zero", [0, 1])
def test_a_gram_matrix_of_zeros_is_certified_at_once(slope_at_zero):
    run = descend(one(np.zeros((2, 2)), [1, -1], [[0, 0]], 0.1, slope_at_zero=slope_at_zero))
    assert run.status[0] == "certified"
    assert run.final_pattern.all() == bool(slope_at_zero)


def test_a_neuron_of_the_wrong_sign_does_not_pass_by_its_label():
    """It can only make the residual larger, and dies: the label test must not apply."""
    problem = one([[1]], [1], [[0.5]], 0.5, signs=(-1,))
    state = start(problem)
    assert not any(certify(problem, state).frozen[0] for certify in CERTIFICATES.values())


def test_an_example_that_two_neurons_share_does_not_pass_by_its_label():
    """Two neurons pull one example's output to y together; one of them may still die.

    The first fits x₁ and x₂, and is pushed over the edge on x₁ by x₂, whose label is negative.
    """
    problem = one([[1, 0.9], [0.9, 1]], [1.0, -3], [[0.2, 0.5], [0.81, -1]], 0.3, signs=(1, 1))
    state = start(problem)
    assert not any(certify(problem, state).frozen[0] for certify in CERTIFICATES.values())
    path = follow_in_gram_space(
        problem.gram, problem.labels, problem.starting_predictions, problem.step_size,
        problem.signs, 0, 50,
    )  # fmt: skip
    assert path.changed.any()


# The error bounds under the certificates


@pytest.mark.parametrize("relative_step", [0.1, 0.9, 2.2])
@pytest.mark.parametrize("neurons", [1, 3])
def test_the_uncertainty_bounds_the_true_error_of_the_path(neurons, relative_step):
    rng = np.random.default_rng([SEED, neurons])
    features = rng.normal(size=(100, 6, 9))
    labels = rng.uniform(0.2, 1, (100, 6)) * rng.choice([-1, 1], (100, 6))
    predictions = 0.1 * rng.normal(size=(100, neurons, 9)) @ features.swapaxes(1, 2)
    signs = rng.choice([-1, 1], (100, neurons))
    problem = Problem.from_gram(
        features @ features.swapaxes(1, 2), labels, starting_predictions=predictions,
        step_size=relative_step / 9, signs=signs,
    )  # fmt: skip
    longer = [
        array.astype(np.longdouble)
        for array in (problem.gram, labels, predictions, problem.step_size)
    ]
    path = follow_in_gram_space(*longer, signs, 0, 60)
    state, sure, checked = start(problem), np.full(100, True), 0
    for step in range(1, 61):
        state = gradient_step(problem, state)
        bound = state.uncertainty
        error = abs(path.predictions[step] - state.predictions).astype(float)
        sure &= (abs(state.predictions) > bound).all(axis=(1, 2))
        assert (error <= bound)[sure].all(), (step, (error / bound)[sure].max())
        pattern = path.predictions[step] > 0
        assert (pattern == state.pattern)[sure].all(), step
        checked += sure.sum()
    assert checked >= 3_000


def test_the_speed_bounds_the_largest_eigenvalue_of_the_step():
    for cell in sweep():
        state = start(cell.problem, cell.slope_below)
        for _ in range(3):
            exact = np.linalg.eigvalsh(state.slopes.interaction(cell.problem.gram))[:, -1]
            exact = exact * cell.problem.step_size
            assert (exact <= state.speed * (1 + 1e-12)).all()
            assert (state.speed < 2)[exact < 1.99].all(), "not sharpened where it matters"
            with np.errstate(over="ignore", invalid="ignore"):
                state = gradient_step(cell.problem, state)


@pytest.mark.parametrize(("n", "d", "trials"), [(10, 500, 200), (20, 2_000, 100)])
def test_the_row_bound_holds_after_step_one_in_95_percent_of_gaussian_draws(n, d, trials):
    """Theory §4: |y| ~ U[½, 1], c = ½, positive start."""
    rng = np.random.default_rng([SEED, n])
    features = rng.normal(size=(trials, n, d))
    labels = rng.uniform(0.5, 1, (trials, n)) * rng.choice([-1, 1], (trials, n))
    problem = Problem.from_gram(
        features @ features.swapaxes(1, 2), labels,
        starting_predictions=rng.uniform(1e-3, 1e-2, (trials, 1, n)), step_size=0.5 / d,
    )  # fmt: skip
    share = certify_by_rows(problem, gradient_step(problem, start(problem))).frozen.mean()
    assert share >= 0.95, share
