"""Query spaces too large to list, on small ones that are taken for large."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.query_space import lattice as lattice_module
from tabprotect.engine.query_space.criterion import Standard
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.critical_widths.widths import critical_widths
from tabprotect.engine.query_space.registered import criteria
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.release_set_on_demand import AskedReleaseSet
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


def table_of(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(1.0, 6.0, (2, 3, 2, 2)))
    counts.reshape(-1)[:2] = [1, 2]
    return Table.dense(Domain.of_shape(counts.shape), counts)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["width", "smallest_margin"])
def test_what_is_allowed_is_allowed_where_all_is_listed(
    seed: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, rule, criterion, threshold = table_of(seed), SmallCount(1, 2), criteria()[name], 4
    full = Evidence.gather(table, rule)
    every = full.lattice.every.tolist()
    listed = ReleaseSet.begin(Standard(full, criterion, threshold, "decomposable"))
    monkeypatch.setattr(lattice_module, "MAX_LISTED", 2)
    few = Evidence.gather(table, rule, asked=True)
    asked = AskedReleaseSet.begin(Standard(few, criterion, threshold))
    assert few.widths.smallest_at(every).tolist() == full.widths.smallest.tolist()
    assert [few.widths[q] for q in every] == full.widths.values.tolist()
    rng = np.random.default_rng(seed)
    released = 0
    for query in rng.permutation(every).tolist():
        if asked.allows(query):
            # Looked at by itself no more is proved than where what lies above helps.
            assert listed.allows(query)
            asked, listed = asked.release(query), listed.release(query)
            released += 1
            assert asked.status(query) == "released"
            assert asked.judgement.verdict == "safe"
        else:
            asked = asked.refuse(query)
            assert not any(asked.allows(q) for q in every if q & query == query)
            assert asked.status(query) in ("unreleasable", "unknown")
            if asked.status(query) == "unreleasable":
                assert listed.status(query) == "unreleasable"
    assert 0 < released < len(every)
    assert asked.undecided <= asked.refused == len(asked.unreleasable)
    again = AskedReleaseSet.begin(Standard(few, criterion, threshold)).resumed(
        asked.released, asked.unreleasable, asked.proved
    )
    assert [again.allows(q) for q in every] == [asked.allows(q) for q in every]


def test_what_would_need_all_sub_tables_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice_module, "MAX_LISTED", 2)
    evidence = Evidence.gather(table_of(1), SmallCount(1, 2), asked=True)
    state = AskedReleaseSet.begin(Standard(evidence, criteria()["width"], 4))
    with pytest.raises(InputError, match="too many"):
        state.preview(1)
    with pytest.raises(InputError, match="too many to list"):
        critical_widths(evidence.cells)
    with pytest.raises(InputError, match="too many"):
        AskedReleaseSet.begin(Standard(evidence, criteria()["width"], 4, "linear"))  # type: ignore[arg-type]
    # Too much is out already: nothing is allowed, whatever it is.
    full = evidence.lattice.full
    state = AskedReleaseSet.begin(Standard(evidence, criteria()["width"], 4), released=[full])
    assert not state.allows(1) or 1 in state.released
    assert state.unreleasable.members == (0,)
