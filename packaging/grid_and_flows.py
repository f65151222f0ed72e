"""The examples ``grid-squares``, ``commuting-flows`` and ``small-areas``: ``python packaging/grid_and_flows.py``.

Nobody's figures: where people live falls off with the distance from two towns, and how many commute between two
places goes by their sizes and the distance, drawn with a fixed seed. Who does not leave a place is in no flow, and
the island's ferry goes to two places alone: nobody can be in the other cells, which are structural zeros.
The small areas are those of the benchmark of record swapping.
"""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import numpy as np

from tabprotect.engine.formats.registered import named
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.squares import Square
from tabprotect.engine.tables.structural import stated
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "resources" / "examples"
SEED, SIDE = 2031, 1000
AGES = {"0-19": 0.22, "20-64": 0.58, "65+": 0.2}
TOWNS = ((2.2, 2.6, 130.0), (5.8, 5.1, 60.0))
"""North and east in km, and the people of the square in which a town lies."""
PLACES = {
    "Ashby": (0, 0, 9000),
    "Bray": (4, 1, 4200),
    "Corby": (2, 6, 2600),
    "Dale": (8, 5, 1300),
    "Elmsea": (9, 9, 800),
    "Fenwick": (5, 9, 500),
    "Garth": (1, 9, 420),
    "Hythe": (11, 3, 350),
    "Holm (island)": (11, 11, 300),
}
"""Km to the north and to the east, and people."""
FERRY = ("Elmsea", "Fenwick")


def grid() -> Table:
    """People by square of 1 km and age: 8 x 8 squares, with those of 2 and 4 km as levels."""
    chance = np.random.default_rng(SEED)
    squares = [Square(SIDE, (4200 + n) * SIDE, (3200 + e) * SIDE) for n in range(8) for e in range(8)]
    where = np.array([(one.north / SIDE - 4199.5, one.east / SIDE - 3199.5) for one in squares])
    far = [np.hypot(*(where - town[:2]).T) for town in TOWNS]
    mean = sum(people * np.exp(-1.1 * km) for (_, _, people), km in zip(TOWNS, far, strict=True)) + 0.6
    counts = chance.poisson(np.outer(mean, list(AGES.values())))
    levels = [Level(f"km{n}", tuple(str(one.within(n * SIDE)) for one in squares)) for n in (4, 2)]
    cells = Variable("cell", tuple(map(str, squares)), tuple(levels), "km1")
    return Table.dense(Domain((cells, Variable("age", tuple(AGES)))), counts)


def flows() -> Table:
    """Who commutes from where to where; nobody within a place, nor where no ferry goes."""
    chance = np.random.default_rng(SEED)
    at = np.array(list(PLACES.values()), dtype=float)
    far = np.hypot(*(at[:, None, :2] - at[None, :, :2]).transpose(2, 0, 1))
    mean = 0.0025 * np.outer(at[:, 2], at[:, 2]) ** 0.75 / np.maximum(far, 1) ** 1.5
    island = list(PLACES)[-1]
    none = [{"from": [one], "to": [one]} for one in PLACES]
    cut = [one for one in PLACES if one not in (*FERRY, island)]
    none += [{"from": [island], "to": cut}, {"from": cut, "to": [island]}]
    domain = Domain.of({"from": list(PLACES), "to": list(PLACES)})
    domain = domain.with_structural([stated(one, domain.categories) for one in none])
    nobody = domain.structural_cells().reshape(domain.shape)
    return Table.dense(domain, np.where(nobody, 0, chance.poisson(mean)))


def main() -> None:
    """Write the tables; the same bytes every time."""
    areas = run_path(str(ROOT / "tests" / "benchmarks" / "bench_swapping.py"))["census"]()
    for name, table in (("grid-squares", grid()), ("commuting-flows", flows()), ("small-areas", areas)):
        (EXAMPLES / name / "table.json").write_bytes(named("jsonstat").write(table))


if __name__ == "__main__":
    main()
