"""What ``exchanges.c`` does, pair by pair and from the definition; takes the place of the module."""

from __future__ import annotations

from tabprotect.engine.arrays import Floats, Ints


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
