"""Gram matrices of random features x_i = Λ^{1/2} z_i, drawn without more memory than they need.

Gaussian features of a spectrum with few levels need no features at all: a level whose
multiplicity reaches n contributes a scaled Wishart matrix (theory §10), at a cost that does
not depend on the dimension. Everything else is summed over blocks of columns of X. Columns
are drawn one after the other, so the block size changes a result by rounding only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from verify.errors import InputError, UnknownName
from verify.linear_algebra import blas
from verify.relu.spectra import Spectrum

Floats = NDArray[np.float64]
Entries = Callable[[Generator, tuple[int, ...]], Floats]
"""Draws independent entries of mean zero and variance one, of the given shape."""

ENTRIES = ("gaussian", "rademacher", "uniform", "student_t:NU")
"""The laws of one entry of z_i that `feature_gram` understands."""

BLOCK = 64
"""Columns are drawn by multiples of this, so that random bits are consumed word by word."""

BLOCK_ENTRIES = 1 << 15
"""Entries of a block of columns, over the whole batch: 256 KiB, which stays in the cache."""

MOST_BLOCK_ENTRIES = 1 << 22
"""Most entries of a block where n is large: 32 MiB."""

MOST_COLUMNS = 10**9
"""Most columns that are drawn explicitly; beyond, a spectrum of few Gaussian levels is free."""


def wishart_factor(generator: Generator, n: int, dimension: float, batch: int) -> Floats:
    """Draw L, (batch, n, n), such that LLᵀ is XXᵀ for X as in `wishart`; zero above the diagonal.

    Bartlett's decomposition: L_ii² ~ χ²(d − i), i from 0, and L_ij ~ N(0, 1) below the diagonal.

    Raises InputError for d ≤ n − 1.
    """
    if not dimension > n - 1:
        raise InputError(f"dimension={dimension:g}, expected d > n-1={n - 1} for a Wishart law")
    diagonal = np.arange(n)
    lower = np.zeros((batch, n, n))
    roots = np.sqrt(generator.chisquare(dimension - diagonal, (batch, n)))
    _fill_below(generator, lower)
    lower[:, diagonal, diagonal] = roots
    return lower


_TALL, _STRIP = 128, 48
"""Examples from which a triangle is drawn in strips of rows, and the rows of a strip."""


def _fill_below(generator: Generator, lower: Floats) -> None:
    """Draw N(0, 1) below the diagonals of (B, n, n).

    A strip of rows is a rectangle, copied as one, and the triangle at its end, whose entries
    have to be placed one by one.
    """
    batch, n, _ = lower.shape
    height = _STRIP if n >= _TALL else n
    flat, triangle = lower.reshape(batch, n * n), np.flatnonzero(np.tri(height, n, -1, dtype=bool))
    for top in range(0, n, height):
        rectangle = lower[:, top : top + height, :top]
        if top:
            rectangle[:] = generator.standard_normal(rectangle.shape)
        size = rectangle.shape[1]
        places = top * (n + 1) + triangle[: size * (size - 1) // 2]
        flat[:, places] = generator.standard_normal((batch, len(places)))


_WIDE = 96
"""Examples from which squares are added in place: faster there, the same up to rounding."""


def wishart(generator: Generator, n: int, dimension: float, batch: int) -> Floats:
    """Draw XXᵀ, (batch, n, n), for X of n rows and `dimension` independent N(0, 1) columns.

    G = LLᵀ, exact for every real d > n − 1.   Raises InputError for d ≤ n − 1.
    """
    lower = wishart_factor(generator, n, dimension, batch)
    return _symmetric(lower @ lower.swapaxes(-2, -1))


def gaussian_gram(generator: Generator, n: int, spectrum: Spectrum, batch: int) -> Floats:
    """Draw XXᵀ, (batch, n, n), for rows x_i ~ N(0, Λ), with Λ of the given spectrum.

    A sum over levels: value times a Wishart matrix where the multiplicity (any real) exceeds
    n − 1; the remaining levels together are explicit columns.

    Raises InputError for a multiplicity that is neither whole nor above n − 1.
    """
    explicit = explicit_levels(n, spectrum, "gaussian")
    levels = zip(spectrum.values[~explicit], spectrum.multiplicities[~explicit], strict=True)
    parts = [value * wishart(generator, n, float(count), batch) for value, count in levels]
    if explicit.any():
        parts.append(_streamed_gram(generator, n, spectrum, "gaussian", batch, explicit=explicit))
    return reduce(np.add, parts)


def feature_gram(
    generator: Generator, n: int, spectrum: Spectrum, entries: str, batch: int
) -> Floats:
    """Draw XXᵀ, (batch, n, n), for rows x_i = Λ^{1/2} z_i with independent entries in z_i.

    entries: one of `ENTRIES`, scaled to mean zero and variance one. ``student_t:NU`` needs
    ν > 2 for a variance; it is not sub-Gaussian, so it fails that assumption on purpose.

    Raises InputError for other entries, and for multiplicities that are not whole where the
    entries are not Gaussian.
    """
    if entries == "gaussian":
        return gaussian_gram(generator, n, spectrum, batch)
    explicit = explicit_levels(n, spectrum, entries)
    return _streamed_gram(generator, n, spectrum, entries, batch, explicit=explicit)


def entry_law(entries: str) -> Entries:
    """Return the function that draws the entries called `entries`.

    Raises UnknownName, an InputError, for a name that is not in `ENTRIES`.
    """
    kind, _, parameter = entries.partition(":")
    if not parameter and kind in _LAWS:
        return _LAWS[kind]
    try:
        freedom = float(parameter) if kind == "student_t" else np.nan
    except ValueError:
        freedom = np.nan
    if np.isnan(freedom):
        raise UnknownName(f"entries={entries!r} are unknown: use one of {', '.join(ENTRIES)}")
    if not 2.0 < freedom < np.inf:
        raise InputError(f"entries={entries!r}, expected 2 < NU < inf for a finite variance")
    scale = np.sqrt((freedom - 2.0) / freedom)
    return lambda generator, shape: scale * generator.standard_t(freedom, shape)


def explicit_levels(n: int, spectrum: Spectrum, entries: str) -> NDArray[np.bool_]:
    """Mask (L,) of the levels whose columns have to be drawn one by one.

    Raises InputError for unknown entries, multiplicities that must be whole and are not, and
    more columns than `MOST_COLUMNS`.
    """
    entry_law(entries)
    counts = spectrum.multiplicities
    explicit = counts <= n - 1 if entries == "gaussian" else np.full(counts.shape, True)
    broken = explicit & (counts != np.round(counts))
    if broken.any():
        raise InputError(
            f"spectrum={spectrum.name} at dimension={spectrum.dimension:g} has a level of "
            f"multiplicity {counts[broken][0]:g}, expected a whole number with entries="
            f"{entries!r} and n={n}; choose a dimension that the shares divide"
        )
    columns = float(np.sum(counts[explicit]))
    if columns > MOST_COLUMNS:
        raise InputError(
            f"dimension={spectrum.dimension:g} with entries={entries!r} means {columns:g} explicit "
            f"columns, expected at most {MOST_COLUMNS:g}; Gaussian entries are free of d"
        )
    return np.asarray(explicit)


def _streamed_gram(
    generator: Generator,
    n: int,
    spectrum: Spectrum,
    entries: str,
    batch: int,
    *,
    explicit: NDArray[np.bool_],
    block: int | None = None,
) -> Floats:
    """Sum λ_j z_j z_jᵀ over the columns z_j of the `explicit` levels, `block` columns at a time.

    A block has shape (block, batch, n), columns slowest. Memory is O(batch·n·(n + block)).
    Narrow blocks stay in the cache where n is small; where it is not, wide ones let the product
    run at full speed.
    """
    draw = entry_law(entries)
    roots, ends = np.sqrt(spectrum.values[explicit]), np.cumsum(spectrum.multiplicities[explicit])
    wide = 0 if n < _WIDE else min(n * n * batch, MOST_BLOCK_ENTRIES)
    entries_at_once = max(BLOCK_ENTRIES, wide)
    block = block or max(BLOCK, entries_at_once // (batch * n) // BLOCK * BLOCK)
    gram = np.zeros((batch, n, n))
    for scale in _blocks_of_columns(roots, ends, block):
        z = draw(generator, (len(scale), batch, n))
        z *= scale[:, None, None]
        if n < _WIDE:
            gram += z.transpose(1, 2, 0) @ z.transpose(1, 0, 2)
        else:
            _add_squares(gram, z)
    return _symmetric(gram) if n < _WIDE else _mirrored(gram)


def _blocks_of_columns(values: Floats, ends: Floats, block: int) -> Iterator[Floats]:
    """Yield the values of the columns, `block` of them at a time.

    values: (L,), those of the levels.   ends: (L,), the columns before which they end.
    """
    total = int(ends[-1]) if len(ends) else 0
    stretch = block * max(1, BLOCK_ENTRIES // block)
    for first in range(0, total, stretch):
        last = min(first + stretch, total)
        levels = slice(ends.searchsorted(first, "right"), ends.searchsorted(last) + 1)
        counts = np.diff(np.minimum(ends[levels], last), prepend=first)
        columns = np.repeat(values[levels], counts.astype(np.int64))
        for start in range(0, last - first, block):
            yield columns[start : start + block]


def _add_squares(gram: Floats, columns: Floats) -> None:
    """Add Σ z zᵀ over the columns z, (block, batch, n), to the upper triangles of `gram`."""
    for b, matrix in enumerate(gram):
        # In the order of memory that BLAS takes, the lower triangle of the transpose.
        blas().dsyrk(1.0, columns[:, b, :].T, beta=1.0, c=matrix.T, lower=1, overwrite_c=1)


def _mirrored(gram: Floats) -> Floats:
    """Copy the upper triangles to the lower ones, in place."""
    for matrix in gram:
        diagonal = np.diagonal(matrix).copy()
        np.add(matrix, np.triu(matrix, 1).T, out=matrix)
        np.fill_diagonal(matrix, diagonal)
    return gram


def _rademacher(generator: Generator, shape: tuple[int, ...]) -> Floats:
    """Fair signs, one random bit each."""
    size = int(np.prod(shape))
    octets = np.frombuffer(generator.bytes(-(-size // 8)), dtype=np.uint8)
    bits = np.unpackbits(octets, count=size).view(np.int8)
    return (2 * bits - 1).astype(np.float64).reshape(shape)


def _uniform(generator: Generator, shape: tuple[int, ...]) -> Floats:
    """Uniform on [−√3, √3]."""
    return generator.uniform(-np.sqrt(3.0), np.sqrt(3.0), shape)


_LAWS: dict[str, Entries] = {
    "gaussian": lambda generator, shape: generator.standard_normal(shape),
    "rademacher": _rademacher,
    "uniform": _uniform,
}


def _symmetric(gram: Floats) -> Floats:
    """Remove what rounding left of asymmetry."""
    gram = gram + gram.swapaxes(-2, -1)
    gram *= 0.5
    return gram
