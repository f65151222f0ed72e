"""Cuts on a hiding set from single equations "total = parts", before any programme.

A sensitive number can move only if the others of its equation make up for it: what they can
contribute must reach the need. And a hidden number is of use only if another one of each of its
equations is hidden, too: alone it would be known.

Source: Fischetti and Salazar 2001 (capacity and bridgeless inequalities).
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.protection.suppressing.hiding_sets.attackers import Cut
from tabprotect.engine.protection.suppressing.published_numbers import Equations

Bridge = tuple[int, Ints]
"""A number, and the numbers of which one must be hidden if it is."""


def equation_cuts(
    equations: Equations, room: Ints, needs: dict[int, Ints], always: Bools, may_move: Bools
) -> list[Cut]:
    """The cuts of the equations with a sensitive number.

    Parameters
    ----------
    room : int64 (numbers,)
    needs
        By sign, int64 (numbers,); 0 where nothing is asked for.
    always, may_move : bool (numbers,)
        Numbers hidden in any case; numbers that are or may be hidden.
    """
    cuts = []
    asked = (needs[1] > 0) | (needs[-1] > 0)
    for total, cells in _each(equations, may_move):
        turn = np.where(cells == total, -1, 1)
        for at in np.flatnonzero(asked[cells]):
            for sign in (1, -1):
                need = int(needs[sign][cells[at]])
                if not need:
                    continue
                # The others of its side go the other way, those across the same way.
                falls = turn * turn[at] * sign > 0
                share = np.where(falls, np.minimum(room[cells], need), need).astype(np.float64)
                share[at] = 0.0
                cut = Cut.of(share, always[cells], need)
                if cut is not None:
                    cuts.append(Cut(cells[cut.numbers], cut.share))
    return cuts


def bridges(equations: Equations, always: Bools, may_move: Bools) -> list[Bridge]:
    """Bridges from the equations in which nothing is hidden in any case."""
    return [
        (int(cell), np.delete(cells, at))
        for _, cells in _each(equations, may_move)
        if not always[cells].any()
        for at, cell in enumerate(cells)
    ]


def _each(equations: Equations, may_move: Bools) -> list[tuple[int, Ints]]:
    out = []
    for k, total in enumerate(equations.total.tolist()):
        parts = equations.parts[equations.starts[k] : equations.starts[k + 1]]
        cells = np.append(parts, total)
        # A total of one part is the same number.
        if len(parts) > 1:
            out.append((total, cells[may_move[cells]]))
    return out
