"""The nearest safe table: its promises, against brute force, its refusals, its posterior."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.methods.controlled_tabular_adjustment import PLUGIN
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.suppressing.nearest_table import (
    AdjustmentTarget,
    Rivals,
    nearest_safe,
    search_cost,
)
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.testing.calibration import LIMIT, calibrate_method

RULE = SmallCount(1, 2)
NEAREST: dict[str, object] = {"choice": "nearest"}

SLIDE = [[15, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]]


def _table(counts: object) -> Table:
    array = np.array(counts)
    return Table.dense(Domain.of_shape(array.shape), array)


def _everything(table: Table) -> Publication:
    return Publication.of(table.domain, "*".join(table.domain.names))


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from([(2, 3), (3, 4), (2, 2, 3)]),
    st.integers(0, 10**6),
    st.sampled_from(["l1", "l2"]),
    st.sampled_from(["spared", "kept", "moved"]),
)
def test_promises(shape: tuple[int, ...], seed: int, distance: str, totals: str) -> None:
    counts = np.random.default_rng(seed).poisson(3, shape)
    table = _table(counts)
    publication = _everything(table)
    try:
        found = nearest_safe(
            publication,
            table,
            RULE,
            AdjustmentTarget(distance, totals),  # type: ignore[arg-type]
        )
    except InfeasibleError:
        # Totals that may move always leave a table.
        assert totals == "kept"
        return
    true = publication.stack(publication.sums(table))
    after = publication.stack(publication.sums(found))
    assert not RULE.mask(after).any() and (after >= 0).all() and (after[true == 0] == 0).all()
    assert (after[true >= 3] >= 3).all()
    assert set(after[RULE.mask(true)].tolist()) <= {0, 3}
    if totals == "kept":
        whole = np.diff(publication.incidence.indptr) > 1
        safe = whole & ~RULE.mask(true)
        np.testing.assert_array_equal(after[safe], true[safe])


def _cost(publication: Publication, counts: np.ndarray, moved: np.ndarray) -> int:
    return int(np.abs(publication.incidence @ (moved - counts).reshape(-1)).sum())


def test_no_table_with_the_nearest_choices_is_nearer() -> None:
    """Every table of the same choices that keeps the promises, listed."""
    for seed in range(2):
        counts = np.random.default_rng(seed).poisson(5, (2, 3))
        table = _table(counts)
        publication = _everything(table)
        found = nearest_safe(publication, table, RULE, AdjustmentTarget(totals="moved")).counts
        true = publication.incidence @ counts.reshape(-1)
        least = _cost(publication, counts, found)
        ranges = [
            [int(f)] if c <= 2 else range(max(3, c - 3), c + 4)
            for c, f in zip(counts.reshape(-1), found.reshape(-1), strict=True)
        ]
        for cells in product(*ranges):
            after = publication.incidence @ np.array(cells)
            if (after[true >= 3] >= 3).all() and not RULE.mask(after).any():
                assert _cost(publication, counts, np.array(cells).reshape(2, 3)) >= least


def test_the_worked_example() -> None:
    done = PLUGIN.run(Problem(_table(SLIDE)), NEAREST, Randomness.seeded(1))
    np.testing.assert_array_equal(
        done.release.table.counts, [[16, 0, 4, 0], [20, 11, 10, 14], [3, 10, 9, 3], [11, 14, 7, 3]]
    )
    assert done.release.mechanism.parameters["largest_change"] == 1
    assert done.record.findings["sensitive counts"] == 4
    again = PLUGIN.run(Problem(_table(SLIDE)), NEAREST, Randomness.seeded(2))
    assert again.release == done.release


def test_totals_in_conflict_are_named() -> None:
    table = _table([[1, 1], [1, 1]])
    with pytest.raises(InfeasibleError) as refused:
        nearest_safe(_everything(table), table, RULE, AdjustmentTarget(totals="kept"))
    assert "grand total" in refused.value.message and "totals move" in refused.value.hint
    moved = nearest_safe(_everything(table), table, RULE, AdjustmentTarget(totals="moved"))
    assert not RULE.mask(moved.counts).any()


def test_empty_cells_at_risk_are_refused() -> None:
    with pytest.raises(ParameterError, match="nobody"):
        PLUGIN.run(Problem(_table(SLIDE), at_risk=SmallCount(0, 2)), {}, Randomness.seeded(1))


def test_hidden_inner_cells_stay_inside() -> None:
    counts = np.random.default_rng(0).poisson(4, (3, 3, 2))
    given = {"margins": "A*B", "totals": "moved"}
    done = PLUGIN.run(Problem(_table(counts)), given, Randomness.seeded(1))
    assert all("C" not in p.table.domain.names for p in done.release.tables)
    assert done.record.hidden is not None


def test_mechanisms_that_cannot_be_are_refused() -> None:
    release = PLUGIN.run(Problem(_table(SLIDE)), NEAREST, Randomness.seeded(1)).release
    stated = release.mechanism
    for change in ({"largest_change": None}, {"largest_change": -1}, {"at_risk": None}):
        broken = Mechanism(stated.method, stated.domain, dict(stated.parameters) | change)
        with pytest.raises(InputError, match="state"):
            PLUGIN.likelihood(replace(release, mechanism=broken))
    wider = dict(stated.parameters) | {"at_risk": "1..5"}
    with pytest.raises(InputError, match="no small count"):
        PLUGIN.likelihood(replace(release, mechanism=Mechanism(stated.method, stated.domain, wider)))


SMALL = Domain.of_shape((3,))
MEANS = np.array([1.5, 3.0, 0.8])


def _release_of(original: Table, generator: np.random.Generator) -> Release:
    values = PLUGIN.resolve(SMALL, {"totals": "moved"})
    return PLUGIN.perform(Problem(original, at_risk=RULE), values, generator)[0]


def test_an_original_is_possible_when_it_gives_this_release() -> None:
    generator = np.random.default_rng(7)
    originals = [Table.dense(SMALL, generator.poisson(MEANS)) for _ in range(20)]
    release = _release_of(originals[0], generator)
    rerun = PLUGIN.likelihood(release).rerun
    assert rerun is not None and rerun.exact
    found = [rerun.estimate(original, generator) for original in originals]
    assert found == [float(_release_of(o, generator) == release) for o in originals]
    assert found[0] == 1.0 and 0.0 in found


@pytest.mark.parametrize("distance", ["l1", "l2"])
@pytest.mark.parametrize("totals", ["spared", "kept", "moved"])
def test_what_rivals_rule_out_is_never_adjusted_to_the_table(distance: str, totals: str) -> None:
    generator = np.random.default_rng(7)
    wanted = AdjustmentTarget(distance, totals)  # type: ignore[arg-type]
    originals = [_table(generator.poisson(1.5, (3, 3))) for _ in range(40)]
    publication, adjusted = _everything(originals[0]), {}
    for original in originals:
        try:
            found = nearest_safe(publication, original, RULE, wanted)
        except InfeasibleError:
            continue
        adjusted[original.counts.tobytes()] = found
    ruled_out = compared = 0
    for published in adjusted.values():
        rivals = Rivals(publication, published, RULE, wanted)
        assert rivals.usable
        for other in adjusted.values():
            rivals.add(other)
        for original in originals:
            became = adjusted.get(original.counts.tobytes())
            out, compared = rivals.rule_out(original), compared + 1
            ruled_out += out
            assert not (out and became is not None and became == published)
    assert compared and ruled_out > compared / 2
    # Where inner cells are not published, several tables give one release.
    margins = Publication.of(originals[0].domain, "A + B")
    assert not Rivals(margins, originals[0], RULE, wanted).usable


def test_what_a_search_costs_is_stated_where_it_is_long() -> None:
    few, many = np.full(32, 5), np.full(33, 5)
    assert search_cost(few, "l1") is None
    assert search_cost(many, "l1") == 66_000.0 and search_cost(few, "l2") == 320_000.0
    assert search_cost(np.append(few, [0, 0]), "l1") is None


def test_limits_alone_mislead() -> None:
    def blind(release: Release) -> CellFactors:
        return replace(PLUGIN.likelihood(release), rerun=None)

    plan = CalibrationPlan({"totals": "moved"}, tuple(MEANS), runs=120, at_risk=RULE)
    assert calibrate_method(PLUGIN, plan, likelihood_of=blind)[0].worst_z > LIMIT
