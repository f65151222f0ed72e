"""Cycles as mechanisms state them: what is stated gives the same cycles, today and later."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest

from tabprotect.engine.cycles.constructions.triangular import TriangularSettings
from tabprotect.engine.cycles.cycle_files import build, digest, from_json, state
from tabprotect.engine.cycles.designs import DESIGNS, design, triangular
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.margins import all_margins
from tabprotect.engine.tables.moves import Designed, MoveSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

PUBLISHED = {
    ((4, 4), "bidiagonal"): "ea9e259024141ed50936c81f3f0ca5a6919e8abfbf0909560705c41b4267d01c",
    ((4, 4), "elementary"): "cee75ee3ea4deb8b00abf9913e0e9125fd2c489af92581799bd87b1835598d60",
    ((4, 4), "bands"): "d90c7e8172e800fbd6edcad13f485ae94ea5a580a75741e89a98ec63fae4757f",
    ((4, 4), "every"): "4405636a52d8104b0410b1fc3544ae9012c000c8fbefdc0317a740ddf3830407",
    ((3, 5), "balanced"): "2fda1f050ea4424a62296f99caf653ab2bac35901bcfadd4117c952bc652d9e8",
    ((3, 5), "strips-2"): "cfabe937778b6f9b352e33dc7eccc5752a1b5587526732fcda9cb14d9116c8aa",
    ((4, 4, 3), "default"): "959249da1ba9297659d8de6a939a87193c474b94f190edd81e636255cd6de877",
    ((2, 3, 4, 2), "order-2"): "91ecc2bdc11741846ea13a488eb039b0ab913f199b672e4571b57bb079672867",
}
"""Bundles that name a design rest on these."""


@pytest.mark.parametrize(("shape", "kind"), PUBLISHED)
def test_a_published_design_never_changes(shape: tuple[int, ...], kind: str) -> None:
    assert digest(design(Domain.of_shape(shape), kind)) == PUBLISHED[shape, kind]


def test_the_digest_is_that_of_three_arrays_in_a_row() -> None:
    moves = design(Domain.of_shape((2, 2)), "strips-2")
    raw = np.array([0, 4], "<i8").tobytes() + np.arange(4, dtype="<i8").tobytes()
    assert digest(moves) == hashlib.sha256(raw + bytes([1, 255, 255, 1])).hexdigest()


@pytest.mark.parametrize("kind", [*DESIGNS, "order-1", "order-2"])
@pytest.mark.parametrize("as_list", [False, True])
def test_what_is_stated_is_built_again(kind: str, as_list: bool) -> None:
    domain = Domain.of_shape((4, 6) if kind == "bidiagonal" else (4, 3, 2))
    if kind == "order-2" and domain.ndim == 2:
        return
    moves = design(domain, kind)
    if as_list:
        moves = replace(moves, design=None)
    stated = json.loads(json.dumps(state(moves)))
    again = build(stated["cycles"], domain)
    if "margins" in stated:
        again = again.keeping(tuple(tuple(m) for m in stated["margins"]))
    assert again == moves and again.design == moves.design
    assert ("margins" in stated) == (set(moves.margins) != set(all_margins(domain)))


def test_the_default_states_the_design_it_stands_for() -> None:
    for shape in ((4, 4), (7, 6), (3, 3, 3), (5, 5, 5)):
        domain = Domain.of_shape(shape)
        moves = design(domain, "default")
        assert moves.design is not None and moves.design.kind != "default"
        assert design(domain, moves.design.kind, moves.design.parameters) == moves


def test_other_cycles_do_not_claim_a_design() -> None:
    moves = design(Domain.of_shape((4, 4)), "strips-2")
    other = Domain.of({"x": list("abcd"), "y": list("efgh")})
    assert moves.on(other).design == moves.keeping(((),)).design == Designed("strips", {"height": 2})
    assert moves.take([1, 0]).design is None
    claimed = replace(moves.take([1, 0]), design=moves.design)
    with pytest.raises(InputError, match="SHA-256 differs"):
        build(state(claimed)["cycles"], moves.domain)  # type: ignore[arg-type]


def test_a_million_cells_are_stated_in_a_line() -> None:
    moves = design(Domain.of_shape((1000, 1000)), "default")
    assert len(moves) == 500_000 and len(json.dumps(state(moves))) < 200


@pytest.mark.parametrize("kind", ["elementary", "bands", "strips"])
def test_too_many_cycles_are_refused_before_they_are_made(kind: str) -> None:
    with pytest.raises(ParameterError, match="are too many"):
        design(Domain.of_shape((3,) * 14), kind)


def test_entries_are_sorted_however_they_come() -> None:
    domain = Domain.of_shape((3, 3))
    for lengths in ([4, 4], [4, 2]):
        cells, signs = [4, 3, 1, 0, 8, 7, 5, 4], [1, -1, -1, 1, 1, -1, -1, 1]
        total = sum(lengths)
        moves = MoveSet.of(domain, np.cumsum([0, *lengths]), cells[:total], signs[:total])
        for i, length in enumerate(lengths):
            span = slice(4 * i, 4 * i + length)
            order = np.argsort(cells[span])
            found, sign = moves.entries(i)
            assert found.tolist() == np.array(cells[span])[order].tolist()
            assert sign.tolist() == np.array(signs[span])[order].tolist()


def cube(shape: tuple[int, ...]) -> Table:
    """Counts of mean 3 without chance, some of them zero."""
    cells = np.arange(np.prod(shape)).reshape(shape)
    return Table.dense(Domain.of_shape(shape), cells * cells % 11 * (cells % 3 > 0))


def margins_of(table: Table) -> KeptMargins:
    return KeptMargins.of(Publication(table.domain, all_margins(table.domain)), table)


OF_MARGINS = "fbc4980b62c9d8f0b5313969c2742fe2ccc0b8f5e91b43af9aca6ea5d40fb611"
"""Bundles rest on this one too."""


def test_a_design_for_margins_is_stated_by_name_and_found_from_any_release() -> None:
    original = cube((5, 4, 3))
    for settings in (TriangularSettings(), TriangularSettings(cap=2, weight=1.5)):
        moves = triangular(margins_of(original), {"repeats": 2}, settings)
        stated = {"shape": [5, 4, 3], **json.loads(json.dumps(state(moves)))}
        assert stated["cycles"]["of"] == "margins" and len(json.dumps(stated)) < 250
        # What was published in place of the original has the same margins.
        released = original.counts.copy()
        released.reshape(-1)[moves.entries(0)[0]] += moves.entries(0)[1]
        table = Table.dense(original.domain, released)
        again = from_json(stated, domain=table.domain, table=table)
        assert again == moves and again.design == moves.design
        with pytest.raises(InputError, match="not at hand"):
            from_json(stated, domain=table.domain)
        with pytest.raises(InputError, match="SHA-256 differs"):
            from_json(stated, domain=table.domain, table=cube((5, 4, 3)).with_counts({(0, 0, 0): 9}))
    assert digest(triangular(margins_of(original))) == OF_MARGINS


def test_cycles_that_follow_from_more_than_margins_are_listed() -> None:
    original = cube((4, 4, 3))
    zeros = np.zeros(original.domain.size, dtype=np.bool_)
    zeros[0] = True
    assert triangular(margins_of(original), zeros=zeros).design is None
    moves = triangular(margins_of(original))
    # Another claim would be taken for the margins that the design follows from.
    assert moves.keeping((("A", "B"),)).design is None
    assert moves.keeping(moves.margins).design == moves.design
    assert moves.take(np.arange(len(moves))).design is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"of": "counts"},
        {"design": "strips"},
        {"parameters": {"cap": 0}},
        {"parameters": {"cup": 4}},
        {"parameters": {"cap": "4"}},
        {"parameters": {"repeats": 0}},
    ],
)
def test_a_design_for_margins_that_is_stated_wrongly_is_refused(wrong: dict[str, object]) -> None:
    table = cube((4, 4, 3))
    stated = {"shape": [4, 4, 3], **state(triangular(margins_of(table)))}
    stated["cycles"] = {**stated["cycles"], **wrong}  # type: ignore[dict-item]
    with pytest.raises((InputError, ParameterError)):
        from_json(stated, domain=table.domain, table=table)
