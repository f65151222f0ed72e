"""Make the 14-variable table of ``tests/reference`` from the census microdata.

``python tests/benchmarks/census_table.py CODED.csv.gz OUT.csv.gz``, where the first is
Census-Income (KDD) of the UCI Machine Learning Repository with a header and nominal columns coded
by falling frequency. The result lists non-zero cells: coded columns, the last one the count.
"""

from __future__ import annotations

import csv
import gzip
import sys
from pathlib import Path

import numpy as np

RECIPE: dict[str, int | list[int]] = {
    "age": [15, 25, 35, 45, 55, 65],
    "class_of_worker": 5,
    "education": 8,
    "enroll_edu_last_wk": 3,
    "marital_status": 4,
    "major_occupation": 8,
    "race": 5,
    "hispanic_origin": 3,
    "sex": 2,
    "full_part_time": 4,
    "tax_filer": 3,
    "household_summary": 5,
    "num_employer": [1, 5],
    "citizenship": 3,
}
"""By column: where a number is cut, or how many categories are kept, the rest being one of them.

299,285 records in 435,456,000 cells, 73,729 of them not zero.
"""

MORE: dict[str, int | list[int]] = {
    "income": 2,
    "year": [95],
    "mig_same_house": 2,
    "own_business": 2,
    "labor_union": 2,
    "parents_under18": 2,
}
"""Two categories each, for growth with variables."""


def recoded(values: np.ndarray, rule: int | list[int]) -> tuple[np.ndarray, int]:
    """A column's new codes, and how many there are."""
    if isinstance(rule, int):
        return np.minimum(values, rule - 1), rule
    return np.searchsorted(rule, values, side="right"), len(rule) + 1


def counted(source: Path, recipe: dict[str, int | list[int]]) -> tuple[list[int], np.ndarray, np.ndarray]:
    """The shape of the recipe's table, the keys of its cells that are not zero, their counts."""
    with gzip.open(source, "rt", newline="") as file:
        rows = csv.reader(file)
        header = next(rows)
        places = [header.index(name) for name in recipe]
        records = np.array([[row[place] for place in places] for row in rows], dtype=np.int64)
    columns, shape = zip(*map(recoded, records.T, recipe.values()), strict=True)
    keys, counts = np.unique(np.ravel_multi_index(columns, shape), return_counts=True)
    return list(shape), keys, counts


def main(source: Path, target: Path) -> None:
    """Read, recode, count, write."""
    shape, keys, counts = counted(source, RECIPE)
    cells = np.stack([*np.unravel_index(keys, shape), counts], axis=1)
    lines = [",".join([*RECIPE, "n"]), *(",".join(map(str, cell)) for cell in cells.tolist())]
    with gzip.GzipFile(target, "wb", mtime=0) as out:
        out.write(("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
