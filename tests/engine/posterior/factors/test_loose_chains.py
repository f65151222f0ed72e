"""Chains over loose sums against the exact way, and their compiled steps against those in Python."""

from __future__ import annotations

import loose_steps_in_python
import numpy as np
import pytest
from factor_oracle import of_sums, sums_of

from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.factors import chain_posterior, loose_chains
from tabprotect.engine.posterior.factors.cell_laws import cell_laws
from tabprotect.engine.posterior.factors.components import FactorComponent, split_components
from tabprotect.engine.posterior.factors.loose_chains import LooseChains
from tabprotect.engine.posterior.factors.solved_parts import by_residuals
from tabprotect.engine.posterior.prior import Poisson, Prior, Uniform
from tabprotect.engine.progress import SILENT
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.tables.domain import Domain

Margins = list[tuple[int, ...]]

SHAPES: list[tuple[tuple[int, ...], Margins]] = [
    ((3, 3), [(0,), (1,), ()]),
    ((2, 3, 2), [(0, 1), (0, 2), (1, 2)]),
    ((6,), [()]),
    ((2, 2, 2, 2), [(0, 1, 2), (3,)]),
]


def drawn(shape: tuple[int, ...], margins: Margins, seed: int, *, base: int = 3) -> CellFactors:
    """Counts and sums each rounded at random, with the law of that; some counts are known."""
    rng = np.random.default_rng(seed)
    original = rng.poisson(2.0, shape).reshape(-1)
    sums = sums_of(shape, margins)
    kinds: list[tuple[int, int, np.ndarray | None]] = []
    cells = [np.array([c]) for c in range(original.size)]
    for one in [*sums, *cells]:
        true = int(original[one].sum())
        out = true - true % base + base * int(rng.integers(base) < true % base)
        low = max(out - base + 1, 0)
        values = np.arange(low, out + base)
        known = len(one) == 1 and rng.random() < 0.15
        kinds.append(
            (true, true, None) if known else (low, out + base - 1, np.log(1 - abs(values - out) / base))
        )
    return of_sums(Domain.of_shape(shape), sums + cells, kinds)


def largest(likelihood: CellFactors, prior: Prior) -> FactorComponent:
    pieces = split_components(cell_laws(likelihood, prior)).components
    return max(pieces, key=len)


@pytest.mark.parametrize(("shape", "margins"), SHAPES)
@pytest.mark.parametrize("prior", ["uniform", "poisson"])
def test_the_posterior_is_the_exact_one(shape: tuple[int, ...], margins: Margins, prior: str) -> None:
    size = int(np.prod(shape))
    believed: Prior = Uniform() if prior == "uniform" else Poisson(np.full(size, 2.0))
    component = largest(drawn(shape, margins, 3), believed)
    exact = by_residuals(component, most=10**8)
    found = chain_posterior._by_loose_chain(component, shape, Approach(), np.random.default_rng(4), SILENT)
    assert exact is not None and found is not None and found.errors is not None
    assert found.r_hat is not None and found.r_hat < 1.05
    for cell in range(len(component)):
        shift = int(found.first[cell] - exact.first[cell])
        believed_row = np.zeros(len(exact.rows[cell]) + len(found.rows[cell]))
        believed_row[shift : shift + len(found.rows[cell])] = found.rows[cell]
        believed_row[: len(exact.rows[cell])] -= exact.rows[cell]
        error = max(float(max(row.max() for row in found.errors)), 1e-3)
        assert np.abs(believed_row).max() < 5 * error < 0.08


@pytest.mark.parametrize(("shape", "margins"), SHAPES)
def test_compiled_steps_are_those_of_python(
    shape: tuple[int, ...], margins: Margins, monkeypatch: pytest.MonkeyPatch
) -> None:
    component = largest(drawn(shape, margins, 5), Poisson(np.full(int(np.prod(shape)), 2.0)))
    found = []
    for form in (loose_chains.loose_steps, loose_steps_in_python):
        monkeypatch.setattr(loose_chains, "loose_steps", form)
        walk = LooseChains.of(component, shape, np.random.default_rng(5), chains=3)
        assert walk is not None and walk.inside
        walk.steps(400)
        sums = [walk.tables[:, one.cells].sum(axis=1) for one in component.sums]
        assert np.array_equal(walk.sums, np.stack(sums, axis=1))
        assert (walk.tables >= component.low).all() and (walk.tables <= component.high).all()
        found.append((walk.tables, walk._states))
    assert np.array_equal(found[0][0], found[1][0]) and np.array_equal(found[0][1], found[1][1])
    assert np.ptp(found[0][0], axis=0).any()


def test_a_wrong_acceptance_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains that take every step have another posterior."""

    component = largest(drawn((2, 2), [(0,), (1,)], 2), Uniform())
    walk = LooseChains.of(component, (2, 2), np.random.default_rng(1), chains=16)
    exact = by_residuals(component, most=10**8)
    assert walk is not None and exact is not None
    monkeypatch.setattr(loose_steps_in_python, "logarithm", lambda _: -1e6)
    monkeypatch.setattr(loose_chains, "loose_steps", loose_steps_in_python)
    tables, _ = walk.run(200, 3)
    share = float((tables[:, 0] == exact.first[0]).mean())
    assert abs(share - float(exact.rows[0][0])) > 0.03


def test_exact_sums_are_left_to_other_chains() -> None:
    shape = (3, 3)
    likelihood = of_sums(Domain.of_shape(shape), sums_of(shape, [(0,)]), [(4, 4, None)] * 3)
    component = largest(likelihood, Uniform())
    assert LooseChains.of(component, shape, np.random.default_rng(1), chains=4) is None


def test_originals_to_start_from_have_the_exact_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the compiled way into them is that of Python."""
    shape = (3, 4, 3)
    original = np.random.default_rng(2).poisson(2.0, shape).reshape(-1)
    sums = sums_of(shape, [(0, 1), (0, 2), (1, 2)])
    kinds = [(int(original[one].sum()),) * 2 + (None,) for one in sums]
    component = largest(of_sums(Domain.of_shape(shape), sums, kinds), Uniform())
    found = []
    for form in (loose_chains.loose_steps, loose_steps_in_python):
        monkeypatch.setattr(loose_chains, "loose_steps", form)
        starts = LooseChains.starts(component, shape, 3, np.random.default_rng(6))
        assert starts is not None
        for one in component.sums:
            assert (starts[:, one.cells].sum(axis=1) == one.low).all()
        assert (starts >= component.low).all() and (starts <= component.high).all()
        found.append(starts)
    assert len(found[0]) > 1 and np.ptp(found[0], axis=0).any()
    assert np.array_equal(found[0], found[1])


def test_the_logarithm_is_one() -> None:
    for u in (1e-300, 1e-9, 0.1, 0.5, 0.70710678118654746, 0.999999, 1.0):
        assert loose_steps_in_python.logarithm(u) == pytest.approx(np.log(u), rel=1e-6, abs=1e-6)
    assert loose_steps_in_python.logarithm(0.0) == -1e9
