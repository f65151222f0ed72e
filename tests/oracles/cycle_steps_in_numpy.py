"""What ``cycle_steps.c`` does, in numpy and from the definitions; takes the place of the module."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints, Shorts, Signs
from tabprotect.engine.cycles.signatures import Signatures
from tabprotect.engine.tables.moves import MoveSet


def signatures_of(moves: MoveSet) -> Signatures:
    """Groups of cells with the same touches, in the order of their first cells."""
    touches: dict[int, list[tuple[int, int]]] = {}
    for cycle in range(len(moves)):
        for cell, sign in zip(*(part.tolist() for part in moves.entries(cycle)), strict=True):
            touches.setdefault(cell, []).append((cycle, sign))
    group_of_cell = np.full(moves.domain.size, -1, dtype=np.int64)
    known: dict[tuple[tuple[int, int], ...], int] = {}
    first: list[int] = []
    for cell in sorted(touches):
        group_of_cell[cell] = known.setdefault(tuple(touches[cell]), len(known))
        if len(known) > len(first):
            first.append(cell)
    entries = [touch for touching in known for touch in touching]
    return Signatures(
        group_of_cell,
        np.array(first, dtype=np.int64),
        np.cumsum([0, *map(len, known)], dtype=np.int64),
        np.array([cycle for cycle, _ in entries], dtype=np.int64),
        np.array([sign for _, sign in entries], dtype=np.int8),
    )


def layer_numbers(cycles: int, starts: Ints, cells: Ints, last: Ints, to: Ints) -> None:
    """One more than the highest layer of an earlier cycle on the same cells."""
    for cycle in range(cycles):
        mine = cells[starts[cycle] : starts[cycle + 1]]
        to[cycle] = last[mine].max()
        last[mine] = to[cycle] + 1


def reached(cycles: int, starts: Ints, cells: Ints, signs: Signs, positive: Bools, taken: Bools) -> None:
    """One pass: the cycles that some coins can take, and the cells that can be positive then."""
    for cycle in range(cycles):
        mine = slice(int(starts[cycle]), int(starts[cycle + 1]))
        empty = ~positive[cells[mine]]
        up, down = not (empty & (signs[mine] < 0)).any(), not (empty & (signs[mine] > 0)).any()
        taken[cycle] |= up or down
        positive[cells[mine]] |= np.where(signs[mine] > 0, up, down)


def undoable(
    cycles: int,
    adds: bool,
    subtracts: bool,
    leaves: bool,
    starts: Ints,
    cells: Ints,
    signs: Signs,
    least: Ints,
    most: Ints,
    found: Bools,
) -> None:
    """One pass backwards: any_zero takes a cycle from counts that are 1 at least."""
    for cycle in reversed(range(cycles)):
        mine = slice(int(starts[cycle]), int(starts[cycle + 1]))
        here, plus = cells[mine], signs[mine] > 0
        up = adds and bool((most[here[plus]] >= 2).all())
        down = subtracts and bool((most[here[~plus]] >= 2).all())
        sure = (most[here] <= 0).any() or (leaves and (least[here] >= 1).all())
        found[cycle] |= up or down or not sure
        most[here] += np.where(plus, down, up)
        least[here] -= np.where(plus, up, down) * (least[here] > 1)


def walk(
    cycles: int,
    copies: int,
    rule: int,
    starts: Ints,
    cells: Ints,
    signs: Signs,
    state: Ints,
    coins: Signs,
    effective: Signs,
    blocked: Bools,
) -> None:
    """One pass of the forward mechanism, cycle by cycle: rules any_zero, negative and none."""
    counts, coin = state.reshape(-1, copies), coins.reshape(-1, copies)
    for cycle in range(cycles):
        mine = slice(int(starts[cycle]), int(starts[cycle + 1]))
        here, sign = counts[cells[mine]], signs[mine, None].astype(np.int64)
        after = here + sign * coin[cycle]
        stuck = [(here < 1).any(axis=0), (after < 0).any(axis=0), np.zeros(copies, dtype=np.bool_)][rule]
        take = np.where(stuck, 0, coin[cycle])
        blocked.reshape(-1, copies)[cycle], effective.reshape(-1, copies)[cycle] = stuck, take
        counts[cells[mine]] = here + sign * take


def undo(
    cycles: int,
    entries: int,
    draws: int,
    numbers: Ints,
    starts: Ints,
    groups: Ints,
    signs: Shorts,
    masses: Floats,
    random: Floats,
    walk: Shorts,
    counts: Shorts,
) -> None:
    """Draw the coefficient of each cycle backwards, by masses of -1, 0 and 1."""
    for k, end in enumerate([*starts[1:cycles].tolist(), entries]):
        mine = slice(int(starts[k]), end)
        here, sign = counts[groups[mine]].astype(np.int64), signs[mine, None].astype(np.int64)
        low = (np.where(side, here, 2).min(axis=0, initial=2) for side in (sign > 0, sign < 0))
        up, down = (np.clip(one, -1, 2) + 1 for one in low)
        minus, stay, plus = masses[:, 4 * up + down]
        u = random[k] * (minus + stay + plus)
        coefficient = ((u >= minus + stay) & (plus > 0)).astype(np.int64) - (u < minus)
        walk[numbers[k]] += coefficient.astype(np.int16)
        counts[groups[mine]] = here - sign * coefficient


def added(
    number: int,
    draws: int,
    groups: Ints,
    starts: Ints,
    cycles: Ints,
    signs: Signs,
    total: Shorts,
    out: Shorts,
) -> None:
    """The changes of groups from how often each cycle was taken."""
    for g in range(number):
        mine = slice(int(starts[g]), int(starts[g + 1]))
        out[groups[g]] = -(total[cycles[mine]] * signs[mine, None].astype(np.int16)).sum(axis=0)


def tallied(groups: int, draws: int, span: int, changes: Shorts, found: Ints) -> None:
    """Add up how often each group had each change."""
    for g in range(groups):
        found[g] += np.bincount(changes[g].astype(np.int64) + span, minlength=2 * span + 1)
