"""Dynamics beside gradient descent on a ReLU model: other steps, activations, losses, layers.

Problems of fixed output signs, square loss (`Problem`); a limit is certified, or undecided:

- `activation`: the ReLU, leaky and smooth activations.
- `flow`: gradient flow of ReLU and leaky ReLU neurons, exact from event to event.
- `stepping`: gradient descent in steps of any smallness, exact from flip to flip.
- `leaky`: gradient descent with a leaky ReLU.
- `smooth`: gradient flow of one neuron with a smooth, strictly monotone activation.

Networks of any output weights (`Network`), integrated numerically; what is certified is where they
go from the state that was reached:

- `network`: the networks and their start.
- `two_layers`: both layers on the square loss, flow and descent.
- `logistic`: the first layer on the logistic loss, flow and descent in rescaled steps.
- `margin`: nearly orthogonal data, the linear maximum margin, stable rank.
- `margin_points`: critical points of the networks' margin problem.

The other files are what these are made of: `regime`, `exponentials`, `watched`, `departures`,
`spreading` and `rest` of the exact flow, `kinks`, `sides`, `network_flow` and `zero_loss` of the
integrated one, `filippov` of both, `direction` of limits in direction. How each is called:
docs/dynamics.md.
"""

from verify.relu.dynamics.activation import (
    BENT_LINE,
    RELU,
    SOFTPLUS,
    TANH,
    Activation,
    SmoothActivation,
)
from verify.relu.dynamics.flow import FlowRun, Path, flow
from verify.relu.dynamics.leaky import leaky_descent
from verify.relu.dynamics.logistic import DirectionRun, descend_logistic, flow_logistic
from verify.relu.dynamics.margin import (
    LinearMargin,
    NearOrthogonality,
    linear_margin,
    near_orthogonality,
    stable_rank,
)
from verify.relu.dynamics.margin_points import MarginPoint, margin_point
from verify.relu.dynamics.network import Network
from verify.relu.dynamics.smooth import SmoothRun, smooth_flow
from verify.relu.dynamics.stepping import SteppingRun, descend_in_small_steps
from verify.relu.dynamics.two_layers import TwoLayerRun, descend_both_layers, flow_both_layers

__all__ = [
    "BENT_LINE",
    "RELU",
    "SOFTPLUS",
    "TANH",
    "Activation",
    "DirectionRun",
    "FlowRun",
    "LinearMargin",
    "MarginPoint",
    "NearOrthogonality",
    "Network",
    "Path",
    "SmoothActivation",
    "SmoothRun",
    "SteppingRun",
    "TwoLayerRun",
    "descend_both_layers",
    "descend_in_small_steps",
    "descend_logistic",
    "flow",
    "flow_both_layers",
    "flow_logistic",
    "leaky_descent",
    "linear_margin",
    "margin_point",
    "near_orthogonality",
    "smooth_flow",
    "stable_rank",
]
