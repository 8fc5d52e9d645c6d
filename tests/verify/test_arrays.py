"""Every array library is reached by name, and what is not there is refused by name."""

import sys

import array_api_compat
import numpy as np
import pytest

from verify.arrays import BACKENDS, array_namespace, backend, is_numpy, to_numpy
from verify.errors import BackendUnavailable, InputError, UnknownName

VALUES = np.array([[1.0, -2.5], [0.0, 3.0]])
NAMES = [*BACKENDS, "array-api-strict:CPU_DEVICE", "array-api-strict:device1"]


@pytest.fixture(params=NAMES)
def available(request):
    try:
        return backend(request.param)
    except BackendUnavailable as reason:
        pytest.skip(str(reason))


def test_values_survive_the_way_there_and_back(available):
    there = available.asarray(VALUES)
    back = to_numpy(there)
    assert type(back) is np.ndarray
    np.testing.assert_array_equal(back, VALUES)
    assert back.dtype == VALUES.dtype


@pytest.mark.parametrize("kind", [bool, np.int64, np.float64])
def test_types_survive_the_way_there_and_back(available, kind):
    assert to_numpy(available.asarray(VALUES.astype(kind))).dtype == np.dtype(kind)


def test_arrays_lead_to_their_namespace(available):
    there = available.asarray(VALUES)
    xp = array_namespace(there, there)
    np.testing.assert_array_equal(to_numpy(xp.abs(there)), np.abs(VALUES))
    assert is_numpy(there) == (available.name == "numpy")
    assert available.version[0].isdigit()


def test_arrays_of_two_libraries_do_not_mix():
    strict = backend("array-api-strict").asarray(VALUES)
    with pytest.raises(TypeError, match=r"[Mm]ultiple namespaces"):
        array_namespace(VALUES, strict)


@pytest.mark.parametrize("values", [[1, 2], 3.5, np.float64(2.0), True])
def test_what_is_no_array_becomes_one(values):
    np.testing.assert_array_equal(to_numpy(values), np.asarray(values))


@pytest.mark.parametrize("name", ["", "jax", "NUMPY", "numpy2", "cuda"])
def test_an_unknown_backend_is_refused_with_the_known_names(name):
    with pytest.raises(UnknownName, match="use one of numpy, array-api-strict, torch, cupy"):
        backend(name)


def test_an_unknown_name_is_an_input_error():
    assert issubclass(UnknownName, InputError)


@pytest.mark.parametrize("name", ["array-api-strict:moon", "torch:moon", "cupy"])
def test_a_backend_that_cannot_be_used_says_why_and_what_to_do(name):
    if name == "cupy":
        try:
            backend(name)
        except BackendUnavailable:
            pass
        else:
            pytest.skip("there is a GPU here")
    with pytest.raises(BackendUnavailable, match=f"backend='{name}' cannot be used here .*numpy"):
        backend(name)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("torch", r"pip install 'relu-verify\[torch\]' .*download.pytorch.org/whl/cpu"),
        ("array-api-strict", "pip install array-api-strict"),
    ],
)
def test_a_library_that_is_missing_is_named_with_what_installs_it(monkeypatch, name, hint):
    monkeypatch.setitem(sys.modules, name.replace("-", "_"), None)
    monkeypatch.delitem(sys.modules, f"array_api_compat.{name}", raising=False)
    monkeypatch.delattr(array_api_compat, name, raising=False)
    with pytest.raises(BackendUnavailable, match=f"{hint}.*, or use --backend numpy"):
        backend(name)


def test_what_is_installed_is_not_to_be_installed():
    with pytest.raises(BackendUnavailable, match="use another device of it") as told:
        backend("array-api-strict:moon")
    assert "pip" not in str(told.value)


@pytest.mark.parametrize("name", ["numpy:cpu", "numpy:moon", "cupy:1"])
def test_a_device_of_a_library_that_has_none_to_choose_is_refused(name):
    with pytest.raises(BackendUnavailable, match="has no device"):
        backend(name)
