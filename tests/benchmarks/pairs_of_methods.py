"""Every method beside every other one: the verdict on both is that of who lists all originals.

    python tests/benchmarks/pairs_of_methods.py [TABLES]

What is left out or refused is counted: the verdict has to say so. A difference ends the run with 1.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))

from pairs_of_methods import GIVEN, compared, read

from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


def main() -> int:
    """Run all pairs."""
    tables, bad = int(sys.argv[1]) if len(sys.argv) > 1 else 3, 0
    every: Counter[str] = Counter()
    for number, (first, second) in enumerate((one, two) for one in GIVEN for two in GIVEN):
        begun, ways = time.process_time(), Counter[str]()
        for seed in range(tables):
            generator = np.random.default_rng([number, seed])
            counts = generator.poisson(1.5, (2, 2)) if seed % 2 else generator.integers(0, 5, (2, 2))
            try:
                table = Table.dense(Domain.of_shape((2, 2)), counts)
                one, two = (read(name, table, generator) for name in (first, second))
                how = None if one is None or two is None else compared(one, two)
            except AssertionError as wrong:
                bad += 1
                print(f"FAULT {first} {second} {counts.tolist()} seed {seed}: {wrong}", flush=True)
                how = "fault"
            ways[how or "not listed"] += 1
        every += ways
        print(f"{first} {second}: {dict(ways)} {time.process_time() - begun:.1f} s", flush=True)
    print(dict(every))
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
