"""Activations: values, slopes and what is said of them."""

import array_api_strict
import numpy as np
import pytest

from verify.errors import InputError
from verify.relu.dynamics.activation import BENT_LINE, RELU, SOFTPLUS, TANH, Activation

SMOOTH = pytest.mark.parametrize("activation", [SOFTPLUS, TANH, BENT_LINE], ids=lambda a: a.name)


@pytest.mark.parametrize("xp", [np, array_api_strict])
def test_leaky_values_and_slopes(xp):
    leaky, at = Activation(0.25), xp.asarray([-2.0, 0.0, 3.0])
    assert np.asarray(leaky.value(at)).tolist() == [-0.5, 0.0, 3.0]
    assert np.asarray(leaky.slope(at, 0)).tolist() == [0.25, 0.25, 1.0]
    assert np.asarray(leaky.slope(at, 1)).tolist() == [0.25, 1.0, 1.0]
    assert np.asarray(RELU.value(at)).tolist() == [0.0, 0.0, 3.0]


@pytest.mark.parametrize("slope", [-0.1, 1.0, np.nan])
def test_other_slopes_are_refused(slope):
    with pytest.raises(InputError, match="slope_below"):
        Activation(slope)


@SMOOTH
def test_derivatives_are_those_of_the_values(activation):
    z, h = np.linspace(-8, 8, 401), 1e-5
    slope = (activation.value(z + h) - activation.value(z - h)) / (2 * h)
    np.testing.assert_allclose(activation.derivative(z), slope, rtol=1e-6, atol=1e-10)
    assert (activation.derivative(z) > 0).all()


@SMOOTH
def test_inverses_invert(activation):
    z = np.linspace(-6, 6, 201)
    np.testing.assert_allclose(activation.inverse(activation.value(z)), z, atol=1e-9)


def test_labels_out_of_range_have_no_inverse():
    assert np.isnan(SOFTPLUS.inverse(np.asarray([-1.0, 0.0]))).all()
    assert np.isnan(TANH.inverse(np.asarray([-1.0, 1.0, 2.0]))).all()


@SMOOTH
def test_least_slopes_are_the_least(activation):
    rng = np.random.default_rng(0)
    low = rng.normal(scale=3, size=200)
    high = low + rng.exponential(3, size=200)
    inside = low + np.linspace(0, 1, 301)[:, None] * (high - low)
    least = activation.derivative(inside).min(axis=0)
    np.testing.assert_allclose(activation.least_slope(low, high), least, rtol=1e-12)
