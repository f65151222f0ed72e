"""What ``exchanges.c`` does, pair by pair and from the definition; takes the place of the module."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints


def exchange(
    sizes: tuple[int, int, int, int, int, int],
    chances: tuple[float, float],
    pairs: Ints,
    drawn: Floats,
    kind: Ints,
    unit: Ints,
    targets: Ints,
    starts: Ints,
    categories: Ints,
    place: Ints,
    counts: Ints,
) -> None:
    """Exchange where what was drawn is below the chance, by the counts before and after."""
    _, records, units, _, tables, most = sizes
    for (i, j), chance in zip(pairs.tolist(), drawn.tolist(), strict=True):
        g, h = (int(unit[place[r]]) + r // records * units for r in (i, j))
        if g == h:
            continue
        small = False
        then = counts.copy()
        for t in range(tables):
            a, b = (int(targets[t, kind[r]]) for r in (i, j))
            at = {(u, c): int(starts[t]) + u * int(categories[t]) + c for u in (g, h) for c in (a, b)}
            for (u, c), by in (((g, a), -1), ((h, b), -1), ((h, a), 1), ((g, b), 1)):
                then[at[u, c]] += by
            small |= any(1 <= table[cell] <= most for table in (counts, then) for cell in at.values())
        if chance < chances[0 if small else 1]:
            place[i], place[j] = place[j], place[i]
            counts[:] = then


def steps(
    sizes: tuple[int, int, int, int],
    theta: float,
    closed: Bools,
    starts: Ints,
    drawn: Floats,
    counts: Ints,
    cells: Ints,
    at: Ints,
    touched: Ints,
    changed: Ints,
    by: Ints,
    whose: Ints,
    number: Ints,
) -> None:
    """Step by step from the definition; the order of the cells that are not empty is kept as in C."""
    copies, strata, rows, columns = sizes
    of_copy, size, out = drawn.reshape(copies, -1, 3), rows * columns, 0
    for w in range(strata):
        for c in range(copies):
            before = counts[w * size : (w + 1) * size]
            now, filled, met = before.copy(), np.flatnonzero(before).tolist(), []
            for one, two, chance in of_copy[c, starts[w] : starts[w + 1]].tolist():
                if not (m := len(filled)):
                    break
                p, q = filled[int(one * m)], filled[int(two * m)]
                r, s = p // columns * columns + q % columns, q // columns * columns + p % columns
                if p // columns == q // columns or p % columns == q % columns:
                    continue
                if closed[w * size + r] or closed[w * size + s]:
                    continue
                then = now.copy()
                then[[p, q]] -= 1
                then[[r, s]] += 1
                odds = float(now[p] * now[q]) / float((now[r] + 1) * (now[s] + 1))
                if chance >= (m / np.count_nonzero(then)) ** 2 * odds**theta:
                    continue
                for cell in (p, q):
                    if not then[cell]:
                        k = filled.index(cell)
                        filled[k] = filled[-1]
                        filled.pop()
                filled += [cell for cell in (r, s) if not now[cell]]
                now, met = then, [*met, p, q, r, s]
            for cell in dict.fromkeys(met):
                if now[cell] != before[cell]:
                    changed[out], by[out], whose[out] = w * size + cell, now[cell] - before[cell], c
                    out += 1
    number[0] = out


def tally(number: int, places: Ints, seen: Ints) -> None:
    """How often each place is met."""
    seen += np.bincount(places[:number], minlength=len(seen)).astype(seen.dtype)
