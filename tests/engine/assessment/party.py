"""The party table of Langsrud & Lupp (2021), and releases of it with given counts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.intruder_key import Key
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

REFERENCE: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "reference" / "fair_comparison.json").read_text()
)
FORMULA = "party*(age + sex)"
DOMAIN = Domain.of({"party": ["A", "B", "C"], "age": ["young", "middle", "old"], "sex": ["male", "female"]})
PUBLICATION = Publication.of(DOMAIN, FORMULA)
KEY = Key(("age", "sex"), "party")


def inner(name: str = "original", part: str = "inner") -> np.ndarray:
    """A column of the reference's inner cells, shape of the table."""
    places = REFERENCE["inner"]
    out = np.zeros(DOMAIN.shape)
    labels = zip(places["party"], places["age"], places["sex"], strict=True)
    for row, value in zip(labels, REFERENCE[part][name], strict=True):
        out[DOMAIN.index(row)] = value
    return out


PROBLEM = Problem(Table.dense(DOMAIN, inner().astype(np.int64)))


def published(name: str) -> np.ndarray:
    """A column of the reference's published cells, in the publication's order."""
    places = REFERENCE["published"]
    out = np.zeros(PUBLICATION.size)
    labels = zip(places["party"], places["age"], places["sex"], strict=True)
    for row, value in zip(labels, places[name], strict=True):
        codes = {n: c for n, c in zip(DOMAIN.names, row, strict=True) if c != "Total"}
        m = PUBLICATION.margins.index(tuple(codes))
        domain = PUBLICATION.domains[m]
        out[int(PUBLICATION.starts[m]) + domain.flat(domain.index(list(codes.values())))] = value
    return out


def released(
    counts: Sequence[int] | np.ndarray,
    publication: Publication = PUBLICATION,
    *,
    method: str = "cell_key",
    given: Mapping[str, object] | None = None,
    hidden: Sequence[int] = (),
) -> Release:
    """A release with these published counts; some perhaps suppressed."""
    mask = np.zeros(publication.size, dtype=bool)
    mask[list(hidden)] = True
    counts = np.where(mask, 0, np.asarray(counts, dtype=np.int64))
    tables = tuple(
        PublishedTable(table, lost)
        for table, lost in zip(publication.tables(counts), publication.split(mask), strict=True)
    )
    values = methods()[method].resolve(publication.domain, given or {})
    return Release(tables, Mechanism(method, publication.domain, values))


def case(
    counts: Sequence[int] | np.ndarray,
    publication: Publication = PUBLICATION,
    *,
    problem: Problem = PROBLEM,
    compared: Publication | None = None,
    key: Key = KEY,
    hidden: Sequence[int] = (),
    **others: Any,
) -> AssessedRelease:
    """A release with these published counts beside its original."""
    return AssessedRelease(
        problem=problem,
        release=released(counts, publication, hidden=hidden, **others),
        compared=compared or publication,
        key=key,
    )
