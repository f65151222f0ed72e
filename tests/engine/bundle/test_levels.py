"""Levels in release bundles: published, read again, refused where they are forged."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tabprotect.engine.bundle import archive, public
from tabprotect.engine.bundle.verify import KIND, MECHANISM, verify_bytes
from tabprotect.engine.errors import BundleError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.structural import StructuralZeros
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable

GEO = Variable(
    "geo", ("a1", "a2", "b1", "b2"),
    (Level("n1", ("a", "a", "b", "b")), Level("coast", ("sea", "land", "sea", "land"))), "n2",
)  # fmt: skip
TABLE = Table.dense(Domain((GEO, Variable("sex", ("f", "m")))), np.array([[3, 4], [2, 6], [5, 3], [4, 8]]))


def released(method: str, **given: object) -> Release:
    return methods()[method].run(Problem(TABLE), given, Randomness.seeded(2)).release


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("publish_margins", {"margins": "geo@n1:sex + geo@coast", "threshold": 2}),
        ("publish_margins", {"margins": "geo@coast:sex + geo@n2", "then": "cell_key D=3 V=2"}),
        ("random_rounding", {"margins": "geo@n1*sex + geo", "base": 3}),
        ("cell_key", {"margins": "geo@n1*sex + geo@coast", "D": 3, "V": 2}),
        ("coarsening", {"groupings": "geo@n1"}),
        ("cyclic_perturbation", {"keep": "geo@n1:sex + geo@coast"}),
        ("binomial_compensated", {"kept": "geo@n1:sex"}),
    ],
)
def test_what_is_published_at_a_level_is_read_again(method: str, given: dict[str, object]) -> None:
    release = released(method, **given)
    found = verify_bytes(public.to_bytes(release, page=False)).release
    assert found.tables == release.tables and found.domain == release.domain == TABLE.domain
    assert {p.table.domain for p in found.tables} == {p.table.domain for p in release.tables}


def test_the_posterior_of_margins_at_levels_is_that_of_all_tables() -> None:
    small = Table.dense(TABLE.domain, np.array([[1, 0], [1, 1], [0, 1], [1, 0]]))
    given = {"margins": "geo@n1:sex + geo@coast:sex", "threshold": 1}
    problem = Problem(small)
    release = methods()["publish_margins"].run(problem, given, Randomness.seeded(1)).release
    told = infer(likelihood_of(release))
    want = [small.margin(m).counts for m in (["geo@n1", "sex"], ["geo@coast", "sex"])]
    fits = []
    for cells in np.ndindex(*(3,) * 8):
        table = Table.dense(TABLE.domain, np.array(cells).reshape(4, 2))
        margins = [table.margin(m).counts for m in (["geo@n1", "sex"], ["geo@coast", "sex"])]
        if all((a == b).all() for a, b in zip(margins, want, strict=True)):
            fits.append(table.counts)
    assert told.originals == len(fits)
    assert np.allclose(told.mean, np.mean(fits, axis=0))


@pytest.mark.parametrize(
    "forged",
    [
        [],
        {"age": {"coarser": {}}},
        {"geo": {"coarser": {"n1": ["a", "b"]}}},
        {"geo": {"coarser": {"n1": ["a", "b", "b", 3]}}},
        {"geo": {"coarser": {"": ["a", "a", "b", "b"]}}},
        {"geo": {"coarser": {"other": ["a", "a", "b", "b"]}}},
    ],
)
def test_forged_levels_are_refused(forged: object) -> None:
    release = released("random_rounding", margins="geo@n1*sex + geo", base=3)
    files = archive.unpack(public.to_bytes(release, page=False), allowed=lambda name: True)
    stated = json.loads(files[MECHANISM])
    del files[archive.MANIFEST]
    files[MECHANISM] = json.dumps(stated | {"levels": forged}).encode()
    with pytest.raises(BundleError):
        verify_bytes(archive.pack(archive.sealed(files, KIND)))


ZEROS = (StructuralZeros((("geo", ("a1", "a2")), ("sex", ("m",)))),)
KNOWN = Table.dense(
    Domain((replace(GEO, labels=("A one", "A two", "B one", "B two")), TABLE.domain["sex"]), ZEROS),
    np.array([[3, 0], [2, 0], [5, 3], [4, 8]]),
)


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("small_count_rounding", {"base": 3, "zero_candidates": True}),
        ("suppression", {"margins": "geo@n1*sex", "zeros": "allowed", "level": 1}),
        ("cyclic_perturbation", {"keep": "geo@n1:sex + geo"}),
        ("random_rounding", {"base": 3}),
        ("discrete_laplace", {"epsilon": 0.5, "cap": 4, "margins": "geo:sex + sex"}),
        ("discrete_gaussian", {"rho": 0.1, "cap": 4, "margins": "geo:sex + geo@n1:sex"}),
        ("cyclic_perturbation", {"cycles": "every", "blocking": "negative"}),
    ],
)
def test_structural_zeros_and_labels_travel_and_nobody_believes_otherwise(
    method: str, given: dict[str, object]
) -> None:
    release = methods()[method].run(Problem(KNOWN), given, Randomness.seeded(3)).release
    found = verify_bytes(public.to_bytes(release, page=False)).release
    assert found.tables == release.tables and found.domain == KNOWN.domain
    assert found.domain["geo"].labels == ("A one", "A two", "B one", "B two")
    for published in found.tables:
        nobody = published.table.domain.structural_cells()
        assert nobody.any() or published.table.domain.ndim < 2
        assert not published.table.counts.reshape(-1)[nobody].any()
        if published.suppressed is not None:
            assert not published.suppressed.reshape(-1)[nobody].any()
    empty = infer(likelihood_of(found)).probability(np.zeros(KNOWN.domain.shape, dtype=np.int64))
    assert (empty[KNOWN.domain.structural_cells().reshape(KNOWN.domain.shape)] == 1.0).all()
