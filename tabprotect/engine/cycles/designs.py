"""Cycle sets from the shape of a table alone, never from its counts.

Sources: bidiagonal, Lenz 2016 (with the table transposed so that rows <= columns, without which
his code breaks margins when rows = 1 mod columns); balanced, closed walks in a cyclic group on
two axes times balanced sign patterns on the others; elementary, products of differences.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.cycles import graphs
from tabprotect.engine.cycles.width import elimination_cost
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import MarginSet, margins_of_order
from tabprotect.engine.tables.moves import MoveSet

EXACT_WIDTH = 6
"""The default design stays at most this wide in one pass (the default number of passes)."""


MOST_SWAPS = 200_000
"""Swaps that are listed."""

MOST_CELLS = 20_000_000
"""Cells of a table that cycles are designed for: some gigabytes of cycles."""


@dataclass(frozen=True)
class Design:
    """A template: what it is, in words for a card, and when not to use it."""

    name: str
    label: str
    sentence: str
    avoid: str
    build: Callable[[Domain], MoveSet]


def _check(domain: Domain) -> None:
    if domain.ndim < 2:
        raise ParameterError({"shape": "a cycle needs at least two variables"})
    for variable in domain.variables:
        if len(variable.categories) < 2:
            raise ParameterError(
                {"shape": f"variable {variable.name!r} has one category: no cycle exists"},
                hint="drop the variable from the table",
            )
    if domain.size > MOST_CELLS:
        raise ParameterError(
            {"shape": f"{domain.size:,} cells are too many to design cycles for"},
            hint="leave out a variable or merge categories",
        )


def bidiagonal(domain: Domain) -> MoveSet:
    """Lenz's n cycles of an m x n table, m <= n (transposed otherwise).

    Cycle i has + at (k, k+i) and - at (k, k+1+i) (columns modulo n) in the rows k < m-1, and
    closes in the last row with + at m-1+i and - at i. Each cell is touched once with each sign;
    the cycles add up to zero.

    Raises
    ------
    ParameterError
        For a table that is not two-way, or has a variable with one category.
    """
    _check(domain)
    if domain.ndim != 2:
        raise ParameterError(
            {"kind": "bidiagonal cycles are two-way"}, hint="use balanced for more variables"
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
        # One odd size: the largest of the others (even) size.
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
        return [(1, x) for x in range(n)] + [
            (1 if x % 2 == 0 else -1, x // 2) for x in range(size - n)
        ]
    return None


def balanced(domain: Domain) -> MoveSet:
    """Cycles in which every cell is touched once with + and once with -, for any k >= 2.

    With base axis a (a closed walk p in Z_n whose steps give F[i, p_i] = +1, F[i, p_i+1] = -1)
    and a pattern of (sign, residue) on every other axis,
    ``M_r(x) = prod s_d(x_d) * F[x_a, (t_b(x_b) - sum t_d(x_d) - r) mod n]``.
    Contains Lenz's sets and Duncan and Roehrig's 4 x 4 x 3 set (in another order).
    """
    _check(domain)
    shape = domain.shape
    for n in dict.fromkeys((_modulus(shape), 3, *range(2, max(shape) + 1))):
        for base in np.argsort(shape, kind="stable"):
            moves = _balanced(domain, n, int(base))
            if moves is not None:
                return moves
    raise ParameterError({"shape": f"no balanced set was found for {shape}"})


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
        # With n = 2 a cycle and the next can be each other's negative: one is enough only when
        # they are the same; the negative one is kept, it balances the touches.
        if move.any() and move.tobytes() not in seen:
            seen.add(move.tobytes())
            arrays.append(move)
    moves = MoveSet.from_arrays(domain, arrays)
    plus, minus = moves.touches
    if moves.violations(most=1) or (plus != plus[0]).any() or (minus != minus[0]).any():
        return None
    return moves


def swaps(
    domain: Domain,
    steps: Sequence[Sequence[tuple[int, int]]],
    *,
    margins: MarginSet | None = None,
    fixed: Sequence[int] = (),
    along: int = 0,
) -> MoveSet:
    """Products of differences e_s - e_t: one cycle for every choice of a step on each axis.

    Parameters
    ----------
    along
        The axis that varies slowest in the order of the cycles.
    steps
        For each axis the (s, t) pairs of categories; an axis in ``fixed`` lists single
        categories as (s, s) and is not differenced.
    """
    shape = domain.shape
    strides = np.cumprod([1, *shape[::-1]])[:-1][::-1]
    free = [a for a in range(domain.ndim) if a not in fixed]
    count = int(np.prod([len(s) for s in steps]))
    counts = [len(s) for s in steps]
    number = np.moveaxis(np.arange(count).reshape(counts), along, 0).ravel()
    grid = np.stack(np.unravel_index(number, counts))
    cells = np.zeros((count, 2 ** len(free)), dtype=np.int64)
    signs = np.ones((count, 2 ** len(free)), dtype=np.int64)
    for axis, pairs in enumerate(steps):
        pair = np.array(pairs)[grid[axis]]
        if axis in fixed:
            cells += (pair[:, 0] * strides[axis])[:, None]
            continue
        bit = (np.arange(2 ** len(free)) >> free.index(axis)) & 1
        cells += np.where(bit[None, :], pair[:, 1:], pair[:, :1]) * strides[axis]
        signs *= np.where(bit, -1, 1)
    starts = np.arange(count + 1) * 2 ** len(free)
    return MoveSet.of(domain, starts, cells.ravel(), signs.ravel(), margins=margins)


def _ring(size: int) -> list[tuple[int, int]]:
    return [(0, 1)] if size == 2 else [(s, (s + 1) % size) for s in range(size)]


def _chain(size: int) -> list[tuple[int, int]]:
    return [(s, s + 1) for s in range(size - 1)]


def _pairs(size: int) -> list[tuple[int, int]]:
    """Disjoint neighbours; an odd size ends in a triple (two overlapping pairs)."""
    out = [(s, s + 1) for s in range(0, size - 1, 2)]
    return [*out, (size - 2, size - 1)] if size % 2 else out


def elementary(domain: Domain) -> MoveSet:
    """All products of neighbouring differences, closed to rings: 2^k cells each.

    They span every move that keeps the margins and block least.
    """
    _check(domain)
    return swaps(domain, [_ring(s) for s in domain.shape])


def bands(domain: Domain) -> MoveSet:
    """Swaps along the full lattice of neighbours on every axis, open at the ends."""
    _check(domain)
    return swaps(domain, [_chain(s) for s in domain.shape])


def strips(domain: Domain) -> MoveSet:
    """Swaps between disjoint pairs of categories, in a ring along the longest axis.

    Narrow at any size: the posterior stays exact. A pair of categories keeps its sums with
    every category of the long axis, and these are published exactly.
    """
    _check(domain)
    return _strips(domain, _ring)


def _strips(domain: Domain, along: Callable[[int], list[tuple[int, int]]]) -> MoveSet:
    # The long axis varies slowest: overlapping strips of an odd axis advance side by side,
    # which keeps the later neighbours of a cycle, and so the width, few.
    long = int(np.argmax(domain.shape))
    steps = [along(s) if a == long else _pairs(s) for a, s in enumerate(domain.shape)]
    return swaps(domain, steps, along=long)


def _miniature(domain: Domain) -> Domain:
    """The smallest shape whose strips are as wide: disjoint strips repeat, rings saturate."""
    long = int(np.argmax(domain.shape))
    shape = [min(s, 12) if a == long else 2 + s % 2 for a, s in enumerate(domain.shape)]
    return Domain.of_shape([max(s, 2) for s in shape])


def every(domain: Domain) -> MoveSet:
    """Every swap: each pair of categories of each variable, 2^k cells each.

    To draw from, more than to run through: their number grows with the square of the cells.

    Raises
    ------
    ParameterError
        Where they would be more than ``MOST_SWAPS``.
    """
    _check(domain)
    number = math.prod(math.comb(s, 2) for s in domain.shape)
    if number > MOST_SWAPS:
        raise ParameterError(
            {"shape": f"{number:,} swaps are too many"}, hint="take elementary swaps"
        )
    return swaps(domain, [list(itertools.combinations(range(s), 2)) for s in domain.shape])


def default_design(domain: Domain) -> MoveSet:
    """Short cycles whose posterior stays exact, from the shape alone.

    Strips closed to rings where that is narrow enough, else open strips, else balanced cycles.
    """
    _check(domain)
    small = _miniature(domain)
    for along in (_ring, _chain):
        if elimination_cost(_strips(small, along), limit=EXACT_WIDTH) is not None:
            return _strips(domain, along)
    return balanced(domain)


def order_design(domain: Domain, order: int) -> MoveSet:
    """Short cycles that keep the margins over ``order`` variables only.

    Products of differences on ``order + 1`` axes (the longest ones, in strips) at each category
    of the others: 2^(order + 1) cells each instead of 2^k.
    """
    _check(domain)
    margins = margins_of_order(domain, order)
    by_size = sorted(range(domain.ndim), key=lambda a: (-domain.shape[a], a))
    free = sorted(by_size[: order + 1])
    long = max(free, key=lambda a: domain.shape[a])
    steps = [
        [(s, s) for s in range(size)]
        if a not in free
        else (_ring(size) if a == long else _pairs(size))
        for a, size in enumerate(domain.shape)
    ]
    fixed = [a for a in range(domain.ndim) if a not in free]
    return swaps(domain, steps, margins=margins, fixed=fixed, along=long)


def split(moves: MoveSet) -> MoveSet:
    """Each cycle cut into its connected parts (each a cycle of its own, if it keeps margins).

    Two cells of a cycle hang together when some kept margin adds them into the same cell.
    """
    starts, cells, signs = [0], [], []
    for i in range(len(moves)):
        cell, sign = moves.entries(i)
        part = _connected(moves.domain, cell, moves.margins)
        for number in range(int(part.max()) + 1):
            chosen = part == number
            cells.append(cell[chosen])
            signs.append(sign[chosen])
            starts.append(starts[-1] + int(chosen.sum()))
    return MoveSet.of(
        moves.domain, starts, np.concatenate(cells), np.concatenate(signs), margins=moves.margins
    )


def _connected(domain: Domain, cells: Ints, margins: MarginSet) -> Ints:
    left: list[int] = []
    right: list[int] = []
    offset = len(cells)
    for names in margins:
        _, key = np.unique(domain.project_keys(cells, names), return_inverse=True)
        left.extend(range(len(cells)))
        right.extend((key + offset).tolist())
        offset += int(key.max()) + 1
    label = graphs.components(left, right, offset)
    _, part = np.unique(label[: len(cells)], return_inverse=True)
    return part.astype(np.int64)


DESIGNS: dict[str, Design] = {
    d.name: d
    for d in (
        Design(
            "default",
            "Default for this shape",
            "Short swaps in strips; the posterior stays exact at any size.",
            "when pair sums of neighbouring categories must not be published exactly",
            default_design,
        ),
        Design(
            "bidiagonal",
            "Bidiagonal (Lenz)",
            "n long cycles; every cell is touched once with + and once with -.",
            "on tables with zeros: a cycle that touches one zero never moves",
            bidiagonal,
        ),
        Design(
            "balanced",
            "Balanced, any dimension",
            "Few long cycles that touch every cell equally often with + and -.",
            "on tables with zeros, and where one known row or column must not reveal others",
            balanced,
        ),
        Design(
            "elementary",
            "Elementary swaps",
            "All 2 x 2 swaps of neighbours: blocks least, leaves nothing exactly known.",
            "on large tables when the posterior must be exact: it becomes Monte Carlo",
            elementary,
        ),
        Design(
            "strips",
            "Strips of swaps",
            "Swaps between disjoint pairs of rows, in a ring: exact at any size.",
            "when the sums of row pairs must not be published exactly",
            strips,
        ),
        Design(
            "bands",
            "Bands of swaps",
            "Swaps of all neighbouring rows and columns, open at the ends.",
            "on tables wider than about 6 in both directions when the posterior must be exact",
            bands,
        ),
        Design(
            "every",
            "Every swap",
            "Swaps of any two rows with any two columns: for the order that takes each step a "
            "cycle through positive cells.",
            "as a list to run through on large tables: their number grows with the square of "
            "the cells",
            every,
        ),
    )
}


def design(domain: Domain, kind: str) -> MoveSet:
    """A cycle set by the name of its template, or ``order-R`` for :func:`order_design`.

    Raises
    ------
    ParameterError
        For an unknown template, or one that this shape does not allow.
    """
    if kind.startswith("order-") and kind[6:].isdigit():
        return order_design(domain, int(kind[6:]))
    if kind not in DESIGNS:
        raise ParameterError({"kind": f"unknown: {kind!r}; there are {', '.join(DESIGNS)}"})
    return DESIGNS[kind].build(domain)
