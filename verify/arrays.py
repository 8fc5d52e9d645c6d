"""Array namespaces: the only file that knows which array libraries and devices exist.

Kernels run on the namespace of their input (`array_namespace`); everything random or
statistical happens on the host, in numpy, and is moved with `Backend.asarray`.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import array_api_compat
import array_api_compat.numpy as numpy_namespace
import numpy as np

from verify.errors import BackendUnavailable, InputError, UnknownName

Array = Any
"""An array of any namespace. Shapes stand in docstrings: B problems, m neurons, n examples."""

Namespace = Any

BACKENDS = ("numpy", "array-api-strict", "torch", "cupy")


def array_namespace(*arrays: Array) -> Namespace:
    """Return the array-API namespace that all of `arrays` share."""
    if {*map(type, arrays)} == {np.ndarray}:  # a fraction of the time
        return numpy_namespace
    return array_api_compat.array_namespace(*arrays)


def as_array(name: str, values: Any) -> Array:
    """Return `values` as an array of real numbers: arrays of any library stay where they are.

    Raises InputError for text, objects, complex numbers and masked arrays.
    """
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(f"{name} is a masked array, expected numbers; fill or drop what is masked")
    if not array_api_compat.is_array_api_obj(values):
        try:
            values = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError) as reason:
            raise InputError(f"{name} cannot be read as numbers ({reason})") from reason
    if is_numpy(values):
        real = values.dtype.kind in "biuf"
    else:
        real = array_namespace(values).isdtype(values.dtype, ("bool", "integral", "real floating"))
    if not real:
        raise InputError(f"{name} has dtype {values.dtype}, expected real numbers")
    return values


def is_numpy(array: Array) -> bool:
    """Say whether `array` lives on the host as a numpy array."""
    return isinstance(array, np.ndarray | np.generic)


def device(array: Array) -> Any:
    """Return the device that `array` lives on."""
    return array_api_compat.device(array)


def to_numpy(array: Array) -> np.ndarray[Any, Any]:
    """Return `array` as a numpy array on the host, copying from a device where it must."""
    if is_numpy(array) or not array_api_compat.is_array_api_obj(array):
        return np.asarray(array)
    if array_api_compat.is_cupy_array(array):
        return np.asarray(array.get())
    if array_api_compat.is_torch_array(array):
        return np.asarray(array.detach().cpu().numpy())
    return np.asarray(array_api_compat.to_device(array, _host_of(array)))


def _host_of(array: Array) -> Any:
    """Return the host device of array-api-strict, whose second device refuses conversion."""
    import array_api_strict

    return array_api_strict.Device("CPU_DEVICE")


def flatnonzero(mask: Array) -> Array:
    """Return the positions at which `mask`, (B,), is set, as integers beside it."""
    return array_namespace(mask).nonzero(mask)[0]


def placed(mask: Array, values: Array, others: Array) -> Array:
    """Return `others`, (B, …), with the rows of `values`, (K, …), where `mask`, (B,), is set.

    K is how many are set; the rows keep their order.
    """
    xp = array_namespace(mask, values, others)
    before = xp.cumulative_sum(xp.astype(mask, xp.int64)) - 1
    spread = xp.take(values, xp.where(before < 0, xp.zeros_like(before), before), axis=0)
    shape = (-1, *(1 for _ in range(others.ndim - 1)))
    return xp.where(xp.reshape(mask, shape), spread, others)


@dataclass(frozen=True)
class Backend:
    """An array library and a device of it, asked for by name.

    name: one of `BACKENDS`, for torch optionally with a device (``torch:cuda``).
    """

    name: str
    namespace: Namespace
    device: Any = None

    def asarray(self, host: Any) -> Array:
        """Return a copy or view of the numpy array `host` on this backend."""
        # A view of a read-only array would be writable where the library knows no such thing.
        writable = host if getattr(getattr(host, "flags", None), "writeable", True) else host.copy()
        return self.namespace.asarray(writable, device=self.device)

    @property
    def version(self) -> str:
        """The array library's version."""
        library = self.name.partition(":")[0].replace("-", "_")
        return str(importlib.import_module(library).__version__)


_INSTALLED_BY = {
    "cupy": "pip install 'relu-verify[cuda12]' or 'relu-verify[cuda13]'",
    "torch": "pip install 'relu-verify[torch]' (PyTorch's build for CPUs alone has an index of its "
    "own: first pip install torch --index-url https://download.pytorch.org/whl/cpu)",
    "array-api-strict": "pip install array-api-strict",
}
_OTHERWISE = "use another device of it, or --backend numpy"


def backend(name: str = "numpy") -> Backend:
    """Return the backend called `name`.

    Raises UnknownName for a name that is not in `BACKENDS`, BackendUnavailable when the
    library is not installed or a trial allocation on its device fails.
    """
    library, _, device = name.partition(":")
    if library not in BACKENDS:
        raise UnknownName(f"backend={name!r} is unknown: use one of {', '.join(BACKENDS)}")
    if device and library in ("numpy", "cupy"):
        raise BackendUnavailable(
            f"backend={name!r} has no device to choose: use {library!r} "
            "(the environment variable CUDA_VISIBLE_DEVICES chooses a GPU)"
        )
    try:
        found = _open(library, device, name)
        found.asarray(np.zeros(1))
    except Exception as reason:  # drivers fail with exceptions of their own making
        missing = library == "cupy" or isinstance(reason, ImportError)
        hint = f"{_INSTALLED_BY[library]}, or use --backend numpy" if missing else _OTHERWISE
        raise BackendUnavailable(
            f"backend={name!r} cannot be used here ({type(reason).__name__}: {reason}); {hint}"
        ) from reason
    return found


def _open(library: str, device: str, name: str) -> Backend:
    if library == "cupy":
        from array_api_compat import cupy

        return Backend(name, cupy)
    if library == "torch":
        from array_api_compat import torch

        return Backend(name, torch, device or "cpu")
    if library == "array-api-strict":
        import array_api_strict

        return Backend(name, array_api_strict, array_api_strict.Device(device) if device else None)
    return Backend(name, numpy_namespace)
