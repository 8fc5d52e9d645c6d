"""Definiteness and consistency of symmetric rational matrices, decided exactly."""

from __future__ import annotations

from flint import fmpq, fmpq_mat


def pivots(matrix: fmpq_mat) -> list[fmpq]:
    """Return the pivots of the LDLᵀ factorisation of a symmetric matrix, largest diagonal first.

    At each step the largest remaining diagonal entry (the first, of equal ones) is the pivot. Where
    none is positive the factorisation ends: with zeros if nothing but zeros remains; else with
    one negative number, the diagonal entry if that is negative, −max|entry| where the diagonal is
    zero and the rest is not. So the last pivot is positive exactly where the matrix is positive
    definite, and not negative exactly where it is positive semi-definite [D].
    """
    rest = [[matrix[i, j] for j in range(matrix.ncols())] for i in range(matrix.nrows())]
    found: list[fmpq] = []
    while rest:
        size = len(rest)
        largest = max(range(size), key=lambda i: (rest[i][i], -i))
        pivot = rest[largest][largest]
        if pivot <= 0:
            least = min(rest[i][i] for i in range(size))
            apart = max(abs(entry) for row in rest for entry in row)
            if least < 0:
                return [*found, least]
            return [*found, -apart] if apart else [*found, *[fmpq(0)] * size]
        found.append(pivot)
        kept = [i for i in range(size) if i != largest]
        across = [rest[largest][j] for j in kept]
        rest = [
            [
                rest[i][j] - rest[i][largest] * entry / pivot
                for j, entry in zip(kept, across, strict=True)
            ]
            for i in kept
        ]
    return found


def smallest_pivot(matrix: fmpq_mat) -> fmpq:
    """Return the last of the `pivots`: > 0 if positive definite, ≥ 0 if positive semi-definite."""
    return pivots(matrix)[-1]


def solve_consistent(matrix: fmpq_mat, right: fmpq_mat) -> fmpq_mat | None:
    """Return one solution Z of AZ = B, or None where there is none.   A: (n, n).   B: (n, k)."""
    n, k = matrix.nrows(), right.ncols()
    augmented = fmpq_mat(
        [[matrix[i, j] for j in range(n)] + [right[i, j] for j in range(k)] for i in range(n)]
    )
    reduced, rank = augmented.rref()
    solution = fmpq_mat(n, k)
    for i in range(rank):
        lead = next(j for j in range(n + k) if reduced[i, j] != 0)
        if lead >= n:
            return None
        for j in range(k):
            solution[lead, j] = reduced[i, n + j]
    return solution


def coefficients(gram: fmpq_mat, predictions: fmpq_mat) -> fmpq_mat | None:
    """Return the minimum-norm coefficients G⁺β of predictions (m, n), or None outside G's range.

    They are α = Gz with G²z = β: in the range of G, and Gα = β.
    """
    columns = predictions.transpose()
    halfway = solve_consistent(gram * gram, columns)
    return None if halfway is None else (gram * halfway).transpose()
