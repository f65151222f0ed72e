"""Long cycles from the shape of a table alone: every cell is touched equally often by + and by -.

Sources: bidiagonal, Lenz 2016 (with the table transposed so that rows <= columns, without which
his code breaks margins when rows = 1 mod columns); balanced, closed walks in a cyclic group on
two axes times balanced sign patterns on the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tabprotect.engine.budgets import DESIGNED_CELLS
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.languages.messages import message


def check_shape(domain: Domain) -> None:
    """Refuse a table that has no cycle, or that is too large.

    Raises
    ------
    ParameterError
        If there are fewer than two variables, one with a single category, or too many cells.
    """
    if domain.ndim < 2:
        raise ParameterError({"shape": message("a cycle needs at least two variables")})
    for variable in domain.variables:
        if len(variable.categories) < 2:
            raise ParameterError(
                {"shape": message("variable {name} has one category: no cycle exists", repr(variable.name))},
                hint=message("drop the variable from the table"),
            )
    check_size(domain)


def check_size(domain: Domain) -> None:
    """Refuse tables too large for any design: some gigabytes of cycles.

    Raises
    ------
    ParameterError
        Before anything is computed.
    """
    if domain.size > DESIGNED_CELLS:
        raise ParameterError(
            {"shape": message("{size:,} cells are too many to design cycles for", domain.size)},
            hint=message("leave out a variable or merge categories"),
        )


def bidiagonal(domain: Domain) -> MoveSet:
    """Lenz's n cycles of an m x n table, m <= n (transposed otherwise).

    Cycle i has + at (k, k+i) and - at (k, k+1+i) (columns modulo n) in the rows k < m-1, and
    closes in the last row with + at m-1+i and - at i. Each cell is touched once with each sign;
    the cycles add up to zero.

    Raises
    ------
    ParameterError
        If the table is not two-way, or has a variable with one category.
    """
    check_shape(domain)
    if domain.ndim != 2:
        raise ParameterError(
            {"kind": message("bidiagonal cycles are two-way")},
            hint=message("use balanced for more variables"),
        )
    (m, n), swapped = domain.shape, domain.shape[0] > domain.shape[1]
    if swapped:
        m, n = n, m
    i = np.arange(n)[:, None]
    k = np.broadcast_to(np.arange(m), (n, m))
    plus = (k + i) % n
    minus = np.where(k < m - 1, (k + 1 + i) % n, np.broadcast_to(i, (n, m)))
    row_stride, column_stride = (1, m) if swapped else (n, 1)
    cells = (
        k * row_stride
        + np.concatenate([plus, minus], axis=1).reshape(n, 2, m).transpose(1, 0, 2) * column_stride
    )
    cells = np.concatenate(list(cells), axis=1)
    signs = np.broadcast_to(np.repeat([1, -1], m), cells.shape)
    return MoveSet.of(domain, np.arange(n + 1) * 2 * m, cells.ravel(), signs.ravel())


def _modulus(shape: Sequence[int]) -> int:
    odd = sorted(s for s in shape if s % 2)
    if not odd:
        return max(shape)
    if len(odd) == 1:
        # One odd size: then n is the largest of the other (even) sizes.
        others = list(shape)
        others.remove(odd[0])
        return max(others)
    return odd[1]


def _axis_pattern(size: int, n: int) -> list[tuple[int, int]] | None:
    """(sign, residue) per category of a non-base axis, balanced over the residues mod n."""
    if size % n == 0:
        return [(1, x % n) for x in range(size)]
    if size % 2 == 0:
        return [(1 if x % 2 == 0 else -1, x // 2) for x in range(size)]
    if n % 2 and size > n:
        return [(1, x) for x in range(n)] + [(1 if x % 2 == 0 else -1, x // 2) for x in range(size - n)]
    return None


def balanced(domain: Domain) -> MoveSet:
    """Cycles in which every cell is touched once with + and once with -, for any k >= 2.

    With base axis a (a closed walk p in Z_n whose steps give F[i, p_i] = +1, F[i, p_i+1] = -1)
    and a pattern of (sign, residue) on every other axis,
    ``M_r(x) = prod s_d(x_d) * F[x_a, (t_b(x_b) - sum t_d(x_d) - r) mod n]``.
    Contains Lenz's sets and Duncan and Roehrig's 4 x 4 x 3 set (in another order).
    """
    check_shape(domain)
    shape = domain.shape
    for n in dict.fromkeys((_modulus(shape), 3, *range(2, max(shape) + 1))):
        for base in np.argsort(shape, kind="stable"):
            moves = _balanced(domain, n, int(base))
            if moves is not None:
                return moves
    raise ParameterError({"shape": message("no balanced set was found for {shape}", shape)})


def _closed_walk(size: int, n: int) -> list[int] | None:
    """p_0 .. p_size = p_0 in Z_n, consecutive ones different, steps +1 as long as possible."""
    walk = [i % n for i in range(size)]
    if size == 1 or n < 2:
        return None
    if walk[-1] == 0:
        # The last step would stay in place: end on a neighbour instead.
        if n < 3:
            return None
        walk[-1] = 2 if walk[-2] == 1 else (walk[-2] + 1) % n
        if walk[-1] in (0, walk[-2]):
            walk[-1] = next(x for x in range(n) if x not in (0, walk[-2]))
    return [*walk, 0]


def _balanced(domain: Domain, n: int, base: int) -> MoveSet | None:
    shape = domain.shape
    walk = _closed_walk(shape[base], n)
    if walk is None:
        return None
    others = [a for a in range(domain.ndim) if a != base]
    patterns = [_axis_pattern(shape[a], n) for a in others]
    if any(p is None for p in patterns):
        return None
    sign = np.ones(shape, dtype=np.int64)
    residue = np.zeros(shape, dtype=np.int64)
    for position, (axis, pattern) in enumerate(zip(others, patterns, strict=True)):
        assert pattern is not None
        along = [1] * domain.ndim
        along[axis] = shape[axis]
        sign = sign * np.array([s for s, _ in pattern]).reshape(along)
        t = np.array([t for _, t in pattern]).reshape(along)
        residue = residue + (t if position == len(others) - 1 else -t)
    frame = np.zeros((shape[base], n), dtype=np.int64)
    for i in range(shape[base]):
        frame[i, walk[i]] += 1
        frame[i, walk[i + 1]] -= 1
    along = [1] * domain.ndim
    along[base] = shape[base]
    row = np.broadcast_to(np.arange(shape[base]).reshape(along), shape)
    seen: set[bytes] = set()
    arrays = []
    for r in range(n):
        move = (sign * frame[row, (residue - r) % n]).astype(np.int8)
        # With n = 2 a cycle can be the next one or its negative: if it is the same, one is
        # enough; the negative is kept, since it balances the touches.
        if move.any() and move.tobytes() not in seen:
            seen.add(move.tobytes())
            arrays.append(move)
    moves = MoveSet.from_arrays(domain, arrays)
    plus, minus = moves.touches
    if moves.violations(most=1) or (plus != plus[0]).any() or (minus != minus[0]).any():
        return None
    return moves
