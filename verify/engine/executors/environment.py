"""What a process computes with, as far as the numbers of a record depend on it."""

from __future__ import annotations

import hashlib
import importlib
import platform
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from verify.engine.executors.threads import one_thread
from verify.loading import package_digest

_PACKAGES = ("numpy", "scipy", "hypothesis", "python-flint")
"""Records and searches depend on their versions."""


@dataclass(frozen=True)
class Environment:
    """What a process computes with.

    versions: of Python and packages, by name.   sources: digests of packages of this project, by
    name.   rounding: digest of what a few kernels give, bit for bit.   kernels: of BLAS, in words.
    """

    versions: Mapping[str, str]
    sources: Mapping[str, str]
    rounding: str
    kernels: str

    def difference(self, other: Environment) -> str:
        """Say what another process has that would give other records; "" if nothing."""
        for name, mine in self.versions.items():
            if other.versions[name] != mine:
                theirs = other.versions[name] or "none"
                return f"has {name} {theirs} where {mine or 'none'} is expected: install that"
        for name, mine in self.sources.items():
            if other.sources[name] != mine:
                return (
                    f"has other sources of the package {name!r}, of another relu-verify or edited "
                    "meanwhile: install the same, and run it again"
                )
        if other.rounding != self.rounding:
            return (
                f"rounds differently ({other.kernels} where {self.kernels} is expected): start all "
                "with the same OPENBLAS_CORETYPE and NPY_DISABLE_CPU_FEATURES, or use machines of "
                "one kind"
            )
        return ""


def environment(packages: Collection[str]) -> Environment:
    """Return what this process computes with, and the sources of these packages."""
    sources = {name: _sources(name) for name in sorted(packages)}
    return Environment(_versions(), sources, *_rounding())


def _sources(name: str) -> str:
    importlib.import_module(name)
    return package_digest(name)


@cache
def _versions() -> dict[str, str]:
    python = ".".join(platform.python_version_tuple()[:2])
    return {"Python": python, **{name: _version(name) for name in _PACKAGES}}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


@cache
def _rounding() -> tuple[str, str]:
    """Return a digest of what kernels of NumPy, BLAS and LAPACK give here, and BLAS in words."""
    import scipy.linalg
    from threadpoolctl import threadpool_info

    with one_thread():
        generator = np.random.default_rng(0)
        rows = generator.normal(size=(3, 37, 211))
        gram = rows @ rows.mT
        results = [
            *(f(np.abs(rows)) for f in (np.exp, np.log, np.sin, np.tanh, np.sqrt)),
            generator.chisquare(np.arange(1.0, 200.0)),
            rows.sum(axis=-1),
            gram,
            np.linalg.cholesky(gram),
            np.linalg.eigvalsh(gram),
            scipy.linalg.blas.dsyrk(1.0, rows[0]),
            scipy.linalg.cho_solve(scipy.linalg.cho_factor(gram[0]), rows[0]),
        ]
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(one).tobytes() for one in results))
    kernels = {
        " ".join(filter(None, (one["internal_api"], one["version"], one.get("architecture"))))
        for one in threadpool_info()
        if one["user_api"] == "blas"
    }
    return digest.hexdigest()[:16], " and ".join(sorted(kernels)) or "no BLAS that tells its name"
