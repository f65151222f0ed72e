"""The example ``fictitious-businesses``: ``python packaging/fictitious_businesses.py``.

Nobody's figures: sections and divisions of industry, regions, groups of enterprises and turnovers
are drawn with a fixed seed. A group has units in several industries and regions.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

TARGET = Path(__file__).resolve().parents[1] / "resources" / "examples" / "fictitious-businesses"

DIVISIONS = {
    "C": ("10", "13", "16", "20", "24", "25", "28"),
    "F": ("41", "42", "43"),
    "G": ("45", "46", "47"),
    "H": ("49", "52", "53"),
    "J": ("58", "62", "63"),
}
REGIONS = {"North": ("N1", "N2", "N3"), "South": ("S1", "S2", "S3", "S4"), "West": ("W1", "W2")}
UNITS, GROUPS, SEED = 2_400, 90, 2026


def records() -> str:
    """All units, as CSV."""
    generator = np.random.default_rng(SEED)
    places = [(section, code) for section, codes in DIVISIONS.items() for code in codes]
    regions = [(land, code) for land, codes in REGIONS.items() for code in codes]
    industry = generator.dirichlet(np.full(len(places), 1.2))
    region = generator.dirichlet(np.full(len(regions), 3.0))
    size = generator.normal(0, 0.5, len(places))
    lines = ["unit,section,nace,land,region,ent,turnover,employees,waiver"]
    for number in range(UNITS):
        i, r = generator.choice(len(places), p=industry), generator.choice(len(regions), p=region)
        grouped = generator.random() < 0.12
        holding = f"Group {generator.integers(GROUPS):02d}" if grouped else f"Firm {number:04d}"
        employees = 1 + int(generator.lognormal(1.6 + grouped, 1.1))
        turnover = max(1, int(employees * 110 * np.exp(generator.normal(size[i], 0.6))))
        waiver = "x" if generator.random() < 0.01 else ""
        cells = (*places[i], *regions[r], holding, turnover, employees, waiver)
        lines.append(",".join(map(str, (f"U{number:04d}", *cells))))
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the records; the same bytes every time."""
    data = records().encode()
    (TARGET / "records.csv.gz").write_bytes(gzip.compress(data, mtime=0))


if __name__ == "__main__":
    main()
