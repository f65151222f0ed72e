"""Whether some original fits: by cooling, as by a programme in whole numbers."""

from __future__ import annotations

import numpy as np
import pytest
from factor_oracle import of_sums, sums_of

from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.factors import feasible
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.tables.domain import Domain

SHAPE = (4, 3, 3)
MARGINS = [(0, 1), (0, 2), (1, 2)]


def hidden(seed: int, *, more: int = 0) -> CellFactors:
    """Two-way sums of a table of three, known exactly; one is larger than the counts allow by so much."""
    counts = np.random.default_rng(seed).poisson(3.0, SHAPE).reshape(-1)
    sums = sums_of(SHAPE, MARGINS)
    exact = [int(counts[one].sum()) + more * (number == 0) for number, one in enumerate(sums)]
    most = [(0, int(counts.max()) + 2, None)] * counts.size
    cells = [np.array([c]) for c in range(counts.size)]
    return of_sums(Domain.of_shape(SHAPE), sums + cells, [(one, one, None) for one in exact] + most)


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_cooled_into_exact_sums(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feasible, "COOLED", 0)
    monkeypatch.setattr(feasible, "_solved", None)
    assert feasible.original_found(hidden(seed))


def test_what_cooling_does_not_find_is_asked_of_the_programme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feasible, "COOLED", 0)
    monkeypatch.setattr(feasible, "TOGETHER", 1)
    with pytest.raises(InfeasibleError):
        feasible.original_found(hidden(1, more=1))
    asked = []
    monkeypatch.setattr(feasible, "_solved", lambda *given: asked.append(given) or True)
    monkeypatch.setattr(feasible.LooseChains, "starts", lambda *given: None)
    assert feasible.original_found(hidden(1)) and asked
