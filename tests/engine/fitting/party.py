"""The worked example of Langsrud & Lupp (2021)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication

REFERENCE: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "reference" / "additivity.json").read_text()
)
DOMAIN = Domain.of({"party": ["A", "B", "C"], "age": ["young", "middle", "old"], "sex": ["male", "female"]})
PUBLICATION = Publication.of(DOMAIN, "party*(age + sex)")


def rows(part: str) -> list[tuple[str, str, str]]:
    """The labels of ``published`` or ``inner`` in the reference's order."""
    columns = REFERENCE[part]
    return list(zip(columns["party"], columns["age"], columns["sex"], strict=True))


def cells() -> list[int]:
    """The published cell of each row of the reference."""
    found = []
    for labels in rows("published"):
        named = {n: c for n, c in zip(DOMAIN.names, labels, strict=True) if c != "Total"}
        m = PUBLICATION.margins.index(tuple(named))
        domain = PUBLICATION.domains[m]
        found.append(int(PUBLICATION.starts[m]) + domain.flat(domain.index(list(named.values()))))
    return found
