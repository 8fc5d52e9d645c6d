"""Spectra: their sizes, their names, and what they refuse."""

import pickle

import numpy as np
import pytest

from verify.errors import InputError, UnknownName
from verify.relu.spectra import FORMS, Spectrum

NAMES = [
    "isotropic",
    "isotropic:4",
    "levels:4x0.5,1x0.5",
    "levels:9x0.1,4x0.3,0.25x0.6",
    "power:1",
    "power:0.5:3",
    "spiked:30x2",
]


def test_an_isotropic_spectrum_has_both_effective_dimensions_equal_to_d() -> None:
    spectrum = Spectrum.isotropic(500, scale=3.0)
    assert spectrum.dimension == 500
    assert spectrum.trace == 1500
    np.testing.assert_allclose([spectrum.d_2, spectrum.d_inf], 500, rtol=1e-14)


def test_sizes_of_levels_follow_from_their_definition() -> None:
    spectrum = Spectrum.of_levels(100, ((4.0, 0.25), (1.0, 0.75)))
    sizes = spectrum.effective_dimensions
    assert (sizes.dimension, sizes.trace) == (100, 4 * 25 + 75)
    np.testing.assert_allclose(sizes.d_2, 175**2 / (16 * 25 + 75), rtol=1e-14)
    np.testing.assert_allclose(sizes.d_inf, 175 / 4, rtol=1e-14)


def test_sizes_of_a_spiked_spectrum_follow_from_their_definition() -> None:
    spectrum = Spectrum.spiked(1000, spike=30, count=2)
    assert spectrum.trace == 60 + 998
    np.testing.assert_allclose(spectrum.d_2, 1058**2 / (1800 + 998), rtol=1e-14)
    np.testing.assert_allclose(spectrum.d_inf, 1058 / 30, rtol=1e-14)


def test_a_power_law_is_scale_times_j_to_the_minus_exponent() -> None:
    spectrum = Spectrum.power_law(8000, 1, scale=2.0)
    expected = 2.0 / np.arange(1, 8001)
    np.testing.assert_allclose(np.repeat(spectrum.values, 1), expected, rtol=1e-14)
    np.testing.assert_allclose(spectrum.d_inf, np.sum(expected) / 2.0, rtol=1e-12)
    assert 9 < spectrum.d_inf < 10  # theory §7, failure regime 4: about 10


def test_a_dimension_of_a_million_million_costs_nothing() -> None:
    spectrum = Spectrum.of_levels(1e12, ((4.0, 0.5), (1.0, 0.5)))
    assert spectrum.values.size == 2
    np.testing.assert_allclose(spectrum.d_2, 1e12 * 2.5**2 / 8.5, rtol=1e-14)


def test_multiplicities_may_be_any_real_number() -> None:
    assert Spectrum.isotropic(10.5).dimension == 10.5


def test_rounding_of_share_times_dimension_is_undone() -> None:
    assert 0.29 * 100 != 29
    spectrum = Spectrum.of_levels(100, ((2.0, 0.29), (1.0, 0.71)))
    assert spectrum.multiplicities.tolist() == [29.0, 71.0]


def test_spectra_with_the_same_levels_are_equal_whatever_they_are_called() -> None:
    given = Spectrum.explicit([1.0, 4.0, 1.0, 4.0])
    named = Spectrum.of_levels(4, ((4.0, 0.5), (1.0, 0.5)))
    assert given == named
    assert hash(given) == hash(named)
    assert given != Spectrum.isotropic(4)
    assert Spectrum.explicit(np.ones(7)) == Spectrum.isotropic(7)
    assert Spectrum.power_law(7, 0) == Spectrum.isotropic(7)


def test_a_spectrum_cannot_be_changed_even_after_pickling() -> None:
    spectrum = Spectrum.power_law(10, 1)
    for each in (spectrum, pickle.loads(pickle.dumps(spectrum))):
        assert each == spectrum
        assert each.name == "power:1"
        with pytest.raises(ValueError, match="read-only"):
            each.values[0] = 2.0


def test_the_callers_array_stays_writable_and_apart() -> None:
    values = np.asarray([3.0, 2.0, 1.0])
    spectrum = Spectrum.explicit(values)
    values[0] = 7.0
    assert spectrum.values.tolist() == [3.0, 2.0, 1.0]


@pytest.mark.parametrize("text", NAMES)
def test_a_name_reads_back_as_itself(text: str) -> None:
    spectrum = Spectrum.named(text, 1000)
    assert spectrum.name == text
    assert spectrum.dimension == 1000
    assert Spectrum.named(spectrum.name, 1000) == spectrum
    assert repr(spectrum) == f"Spectrum.named({text!r}, 1000)"


def test_an_explicit_spectrum_of_few_levels_has_a_name_that_reads_back() -> None:
    for values in ([5.0, 1.0, 1.0], [2.0, 2.0], [1.0] * 3 + [0.1] * 4):
        spectrum = Spectrum.explicit(values)
        assert Spectrum.named(spectrum.name, len(values)) == spectrum
    assert Spectrum.explicit(np.arange(1.0, 20.0)).name == "explicit"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gaussian",
        "explicit",
        "power",
        "power:",
        "power:1:2:3",
        "levels",
        "levels:4",
        "levels:4x0.5;1x0.5",
        "isotropic:a",
        "isotropic4",
        "spiked:3",
        "spiked:3x2x1",
    ],
)
def test_an_unknown_name_is_refused_with_the_known_forms(text: str) -> None:
    with pytest.raises(UnknownName) as refused:
        Spectrum.named(text, 10)
    assert all(form in str(refused.value) for form in FORMS)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Spectrum.explicit([]), "at least one level"),
        (lambda: Spectrum.explicit([1.0, 0.0]), "value=0"),
        (lambda: Spectrum.explicit([1.0, -2.0]), "value=-2"),
        (lambda: Spectrum.explicit([np.nan]), "value=nan"),
        (lambda: Spectrum.explicit([[1.0, 2.0]]), "two vectors"),
        (lambda: Spectrum.isotropic(0.5), "dimension=0.5"),
        (lambda: Spectrum.isotropic(0), "dimension=0"),
        (lambda: Spectrum.isotropic(np.inf), "dimension=inf"),
        (lambda: Spectrum.isotropic(10, scale=0.0), "value=0"),
        (lambda: Spectrum.of_levels(10, ()), "sum to 0"),
        (lambda: Spectrum.of_levels(10, ((1.0, 0.5), (2.0, 0.6))), "sum to 1.1"),
        (lambda: Spectrum.of_levels(10, ((1.0, 1.5), (2.0, -0.5))), "multiplicity=-5"),
        (lambda: Spectrum.power_law(10.5, 1), "dimension=10.5"),
        (lambda: Spectrum.power_law(10**9, 1), "dimension=1000000000"),
        (lambda: Spectrum.power_law(10, -1), "exponent=-1"),
        (lambda: Spectrum.power_law(10, 1000), "value=0"),
        (lambda: Spectrum.spiked(10, 3, 10), "count=10"),
        (lambda: Spectrum.spiked(10, 3, 0), "count=0"),
        (lambda: Spectrum.named("spiked:3x1.5", 10), "count=1.5"),
        (lambda: Spectrum.named("levels:4x0.5,1x0.4", 10), "sum to 0.9"),
        (lambda: Spectrum(np.ones(1), np.asarray([0.5])), "dimension=0.5"),
    ],
)
def test_bad_input_is_refused_by_name(make, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError) as refused:
        make()
    assert said in str(refused.value)
