"""Proposition 4 of Frei, Vardi, Bartlett and Srebro (COLT 2023): leaky networks of most margin have
linear boundaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from properties.frei2023 import networks, setting
from properties.frei2023.critical import (
    Critical,
    describe,
    draw,
    elsewhere,
    most_margin,
    normal_of,
    stopped_early,
    trained,
)
from properties.frei2023.networks import apart
from verify.claims import Assumption, Control, Probable, Status, Universal
from verify.margin import Margin
from verify.measures import Quantiles
from verify.relu.dynamics.logistic import DirectionRun
from verify.relu.dynamics.margin import near_orthogonality
from verify.relu.dynamics.network import Network
from verify.space import Axis, Point
from verify.theorem import Theorem
from verify.tolerances import IDENTITY, KKT, summation
from verify.trial import Trial

Host = np.ndarray[Any, Any]

NEAR = 0.05
"""How far from the KKT point's direction the trained weights themselves may be."""

# Assumptions and claims.


def data_are_p_orthogonal_enough(trial: Trial) -> Margin:
    """The data are p-orthogonal with p ≥ 3/γ³, and γ > 0."""
    return networks.p_orthogonal_enough(trial.problem.network)


P_ORTHOGONAL = Assumption(
    data_are_p_orthogonal_enough, Status.READ, axes=("aspect", "d", "lengths", "leak")
)
GIVEN = (P_ORTHOGONAL,)


def _critical_only(margin: Margin, found: Critical) -> Margin:
    """Return the margin, undecided where the KKT conditions are not met."""
    return margin.undecided_where(~(found.residual <= KKT))


def boundary_is_linear(trial: Trial) -> Margin:
    """The decision boundary is linear: with w = Σ_k v_k w_k, f vanishes at 64 random points of the
    span on {w·x = 0}, to 1e-10, and has the sign of w·x at 64 others."""
    network, found = trial.problem.network, trial.run
    normal = normal_of(network, found.duals)
    toward = np.einsum("bij,bj->bi", network.gram, normal)
    square = np.einsum("bi,bi->b", toward, normal)
    side = np.einsum("bki,bi->bk", trial.problem.probes, toward)
    shift = side / np.where(square > 0, square, 1.0)[:, None]
    on = trial.problem.probes - shift[:, :, None] * normal[:, None, :]

    def output(points: Host) -> tuple[Host, Host]:
        """Return f, and the sum of its terms' sizes, (B, K)."""
        seen = found.duals @ network.gram @ points.swapaxes(1, 2)
        terms = network.output_weights[:, :, None] * network.activation.value(seen)
        reach = np.abs(network.output_weights[:, :, None] * seen).sum(axis=1)
        return terms.sum(axis=1), np.where(reach > 0, reach, 1.0)

    rounding = 4 * summation(network.neurons * network.examples, network.gram)
    value, size = output(trial.problem.probes)
    signed = np.sign(side) * value / size
    value, size = output(on)
    _, far = output(trial.problem.probes)
    off = np.abs(value) / np.maximum(size, far)
    margin = Margin.worst(
        Margin(0.0, signed.min(axis=-1), rounding=rounding),
        Margin(off.max(axis=-1), IDENTITY, rounding=rounding),
    )
    return _critical_only(margin, found)


def boundary_is_uniform(trial: Trial) -> Margin:
    """The boundary leans on every example alike: w = Σ_i s_i y_i x_i with every s_i > 0 and
    max s_i/min s_i ≤ (R²/γ²)(1 + 2/(γpR² − 2)), to 1e-10."""
    network: Network = trial.problem.network
    known = near_orthogonality(network.gram)
    return _ratio_at_most(trial, known.uniformity_bound(network.activation.slope_below))


def boundary_is_more_uniform(trial: Trial) -> Margin:
    """Even max s_i/min s_i ≤ (R²/γ)(1 + 2/(γpR² − 2)), to 1e-10, whatever the output weights."""
    return _ratio_at_most(trial, sharper_bound(trial.problem.network))


def sharper_bound(network: Network) -> Host:
    """Return (R²/γ)(1 + 2/(γpR² − 2)), (B,): γ times the published bound (theory §9) [D]."""
    leak = network.activation.slope_below
    published = near_orthogonality(network.gram).uniformity_bound(leak)
    return np.asarray(published * leak if leak else published)


def coefficient_ratio(trial: Trial) -> Host:
    """max s_i/min s_i; infinite where some s_i is not positive."""
    network: Network = trial.problem.network
    s = network.labels * normal_of(network, trial.run.duals)
    least = s.min(axis=-1)
    return np.where(least > 0, s.max(axis=-1) / np.where(least > 0, least, 1.0), np.inf)


def _ratio_at_most(trial: Trial, bound: Host) -> Margin:
    ratio = coefficient_ratio(trial)
    network: Network = trial.problem.network
    exact = 4 * summation(network.neurons * network.examples, network.gram)
    margin = setting.ratio_at_most(ratio, bound, exact)
    return _critical_only(margin, trial.run).unstated_where(margin.unstated)


def no_other_sides_are_critical(trial: Trial) -> Margin:
    """There is one KKT point of the margin problem, with every neuron active on the examples of
    its own sign alone: neither the sides with one pair changed nor random ones have another."""
    # Without a solution, ∞, no weights have the margins on these sides: an example is on all kinks.
    residual = np.minimum(trial.reference("elsewhere").min(axis=-1), 1.0)
    return _critical_only(Margin(KKT, residual), trial.run)


def training_ends_there(trial: Trial) -> Margin:
    """Gradient descent on the logistic loss ends in the direction of that KKT point, to 1e-10, and
    the trained weights themselves are within 5% of it: with probability at least .95 over data and
    start (the probability is ours)."""
    network: Network = trial.problem.network
    run: DirectionRun = trial.reference("trained")
    known = run.status == "certified"
    limit = np.where(known[:, None, None], run.duals, trial.run.duals)
    margin = Margin.worst(
        Margin(apart(network, limit, trial.run.duals), IDENTITY, IDENTITY),
        Margin(apart(network, network.starting_duals + run.change, trial.run.duals), NEAR, NEAR),
    )
    return _critical_only(margin.undecided_where(~known), trial.run)


# Measures.


def ratio_over_the_published_bound(trial: Trial) -> Host:
    """max s_i/min s_i over (R²/γ²)(1 + 2/(γpR² − 2)); no number where there is no bound."""
    network: Network = trial.problem.network
    known = near_orthogonality(network.gram)
    bound = known.uniformity_bound(network.activation.slope_below)
    return setting.ratio_over(coefficient_ratio(trial), bound)


def ratio_over_the_sharper_bound(trial: Trial) -> Host:
    """max s_i/min s_i over (R²/γ)(1 + 2/(γpR² − 2)); no number where there is no bound."""
    return setting.ratio_over(coefficient_ratio(trial), sharper_bound(trial.problem.network))


# False statements, for the controls.


def boundary_is_as_uniform_as_the_maximum_margin(trial: Trial) -> Margin:
    """The boundary is as uniform as that of the linear maximum margin: max s_i/min s_i ≤
    R²(1 + 2/(pR² − 2))."""
    return _ratio_at_most(trial, near_orthogonality(trial.problem.network.gram).ratio_bound)


CELLS = (
    Point(n=4, aspect=1e5),
    Point(n=4, aspect=1e5, outputs="random", lengths=1.2),
    Point(n=6, aspect=1e7, leak=0.2, outputs="random"),
    Point(n=4, aspect=1e4, leak=0.7, outputs="one_sign"),
)

SMALL = Point(n=3, m=4, aspect=1e5, outputs="random")
"""Where networks are trained too."""

_N = Axis("n", 1, 6, "integer", meaning="examples")
_M = Axis("m", 1, 8, "integer", simplest=2, meaning="neurons")
_LEAK = Axis("leak", 0.2, 0.9, simplest=0.5, meaning="slope γ below zero")

DEFAULTS: Mapping[str, Any] = {**networks.DEFAULTS, "aspect": 1e5}

theorem = Theorem(
    id="frei2023.proposition4",
    title="Leaky networks of most margin on nearly orthogonal data have linear boundaries",
    citation=f"{setting.CITATION}; Proposition 4.",
    status=Status.READ,
    statement=(
        "A leaky ReLU network of slope γ, first layer trained, on p-orthogonal data with p ≥ "
        "3/γ³: any KKT point of the margin problem min ‖W‖² with y_i f(x_i) ≥ 1 has the decision "
        "boundary of a linear classifier w = Σ_i s_i y_i x_i with every s_i > 0 and max s_i/min "
        "s_i ≤ (R²/γ²)(1 + 2/(γpR² − 2))."
    ),
    method=(
        "That the KKT point is unique, and that (R²/γ) can stand in place of (R²/γ²), is derived "
        "in theory §9 for any output weights, balanced or not, and checked here. The KKT point "
        "is one program on given sides of the kinks; descent on the logistic loss, whose limit "
        "is certified on its own, must end there."
    ),
    symbols=networks.SYMBOLS,
    defaults=DEFAULTS,
    axes=(
        _N,
        _M,
        _LEAK,
        Axis("aspect", 1e3, 1e8, "log", simplest=1e5, meaning="d/n²"),
        Axis("lengths", 1.0, 1.5, meaning=setting.LENGTHS.meaning),
        networks.OUTPUTS,
    ),
    wide_axes=(
        Axis("n", 1, 20, "integer", inside=(1, 6), meaning="examples"),
        Axis("m", 1, 32, "integer", simplest=2, inside=(1, 8), meaning="neurons"),
        Axis("leak", 0.01, 0.95, simplest=0.5, inside=(0.2, 0.9), meaning="slope γ below zero"),
        Axis("aspect", 0.5, 1e10, "log", simplest=1e5, inside=(1e3, 1e8), meaning="d/n²"),
        Axis("d", 32, 1e12, "log", instead_of="aspect", meaning="features"),
        Axis("lengths", 1.0, 10.0, inside=(1.0, 1.5), meaning=setting.LENGTHS.meaning),
        networks.OUTPUTS,
        setting.POSITIVES,
    ),
    hypotheses=GIVEN,
    cells=CELLS,
    draw=draw,
    simulate=most_margin,
    references={"trained": trained, "elsewhere": elsewhere},
    describe=describe,
    claims=(
        Universal(boundary_is_linear, given=GIVEN),
        Universal(boundary_is_uniform, given=GIVEN),
        Universal(boundary_is_more_uniform, given=GIVEN, status=Status.DERIVED),
        Universal(no_other_sides_are_critical, given=GIVEN, at=CELLS[1:3], status=Status.DERIVED),
        Probable(training_ends_there, given=GIVEN, at=(SMALL,), status=Status.HEURISTIC),
    ),
    controls=(
        Control(
            Universal(
                boundary_is_as_uniform_as_the_maximum_margin,
                given=GIVEN,
                at=(CELLS[3],),
                status=Status.FALSE,
            ),
            because="where all output weights have one sign, examples of the other sign are seen "
            "through the slope γ alone, and need 1/γ times the coefficient",
        ),
        Control(
            Universal(
                boundary_is_linear,
                given=GIVEN,
                at=(CELLS[0],),
                status=Status.FALSE,
                name="broken_dynamics_stopped_early",
            ),
            because="after 3 steps the neurons of one sign have not yet forgotten their starts",
            simulate=stopped_early,
        ),
    ),
    measures=(
        Quantiles(ratio_over_the_published_bound, given=GIVEN),
        Quantiles(ratio_over_the_sharper_bound, given=GIVEN, status=Status.DERIVED),
    ),
)
