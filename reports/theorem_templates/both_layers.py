"""A small ReLU network, both layers trained by gradient flow: a theorem to start from.

relu-verify run my_theorem.py
"""

import numpy as np

from verify import Assumption, Axis, Control, Margin, Point, Probable, Status, Theorem, Universal
from verify.explicit import Explicit, Field
from verify.relu.dynamics import Network, descend_both_layers, flow_both_layers


# 1. Problems: n examples of d Gaussian features, labels of random sign, and a small random start
#    of m neurons with |v_k| = ‖w_k‖ (balanced).
def draw(point, generator, trials):
    """Draw a batch of networks f(x) = Σ_k v_k max(w_k·x, 0) and the data that they learn."""
    n, m, d = (int(point[name]) for name in ("n", "m", "d"))
    signs = np.resize([1.0, -1.0], m)
    network = Network.from_features(
        generator.normal(size=(trials, n, d)) / d**0.5,
        generator.uniform(0.5, 1, (trials, n)) * generator.choice([-1, 1], (trials, n)),
        starting_weights=0.01 * generator.normal(size=(trials, m, d)) / d**0.5,
        output_weights=signs,
    )
    return network.balanced(signs)


def small(values):
    """Build one network of small whole numbers, to shrink to."""
    signs = np.resize([1.0, -1.0], values["m"])
    network = Network.from_features(
        values["features"],
        values["labels"],
        starting_weights=values["start"],
        output_weights=signs,
    )
    return network.balanced(signs)


# 2. What happens on them is `flow_both_layers`: gradient flow, integrated until a certificate says
#    what the loss tends to. In the run, B trials: `limit_loss`, `half_squared_norm`,
#    `imbalance_gained` (B, m), `output_weights` (B, m), `predictions` w_k·x_i (B, m, n).
def descend_in_long_steps(network):
    largest = np.maximum(network.eigenvalues[:, -1], 1e-3)  # of data that are zero it is 0
    return descend_both_layers(network, step_size=0.2 / largest)


# 3. Statements: the docstring is what reports print, Margin(left, right) says left <= right.
#    A run that found no certain end decides nothing: undecided_where.
def examples_are_independent(trial):
    """The examples are linearly independent: λ_min(G) is at least 1e-3 λ_max(G)."""
    return Margin(1e-3 * trial.problem.eigenvalues[:, -1], trial.problem.eigenvalues[:, 0])


def balance_is_kept(trial):
    """Training keeps every v_k² − ‖w_k‖² to within 1e-6 of the start's or the end's ‖θ‖²/2."""
    moved, end = trial.run.imbalance_gained.max(axis=-1), trial.run.half_squared_norm
    size = np.maximum(end, np.sum(trial.problem.output_weights**2, axis=-1))  # a balanced start
    return Margin(moved / size, 1e-6, scale=1e-6)


def loss_tends_to_zero(trial):
    """The loss tends to zero, within 1e-12 of ½‖y‖²."""
    size = np.sum(trial.problem.labels**2, axis=-1) / 2
    found = np.where(trial.run.certified, trial.run.limit_loss, 0.0)
    return Margin(found / size, 1e-12).undecided_where(~trial.run.certified)


# 4. The theorem. A Universal claim holds always; a Probable one with a probability, in every cell.
theorem = Theorem(
    id="my_theorem",
    title="Gradient flow of both layers keeps them balanced, and fits the data",
    citation="unpublished",
    status=Status.FOLKLORE,
    draw=draw,
    simulate=flow_both_layers,
    cells=(Point(n=2, m=12, d=20), Point(n=3, m=16, d=100)),
    axes=(
        Axis("n", 1, 3, "integer", meaning="examples"),
        Axis("m", 1, 6, "integer", meaning="neurons, of output signs + and − in turn"),
        Axis("d", 8, 100, "integer", meaning="features"),
    ),
    small=Explicit(
        sizes={"n": (1, 2), "m": (1, 2), "d": (1, 2)},
        fields={
            "features": Field(-3, 3, ("n", "d"), symbol="X"),
            "labels": Field(-3, 3, ("n",), nonzero=True, symbol="y"),
            "start": Field(-4, 4, ("m", "d"), denominator=64, nonzero=True, symbol="W_0"),
        },
        build=small,
    ),
    claims=(
        Universal(balance_is_kept),
        Probable(
            loss_tends_to_zero, given=(Assumption(examples_are_independent),), probability=0.9
        ),
    ),
    controls=(
        Control(
            Universal(balance_is_kept, status=Status.FALSE, name="descent_keeps_the_balance"),
            because="a step of length η changes v_k² − ‖w_k‖² by terms of order η²",
            simulate=descend_in_long_steps,
        ),
    ),
)
