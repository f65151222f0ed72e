"""Markov chains against the exact way; their moves reach every original; errors are honest."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import chain_steps_in_numpy
import numpy as np
import pytest
from factor_oracle import exactly, of_sums, sums_of

from tabprotect.engine.cycles.kernel_basis import kernel, shortened
from tabprotect.engine.errors import InfeasibleError, Interrupted, TooLargeError
from tabprotect.engine.posterior.agreement import mixing
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.factors import chain_posterior, chains, components, hidden_boxes
from tabprotect.engine.posterior.factors.cell_laws import cell_laws
from tabprotect.engine.posterior.factors.chains import Chains, SwapSweeps, chain_starts, within_bounds
from tabprotect.engine.posterior.factors.components import FactorComponent, split_components
from tabprotect.engine.posterior.factors.solved_parts import by_residuals
from tabprotect.engine.posterior.factors.sum_circuits import SumCircuits
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.prior import CellTable, Poisson, Prior, Uniform
from tabprotect.engine.progress import Cancellable
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.tables.domain import Domain

TWO_OF_THREE = [(0, 1), (0, 2), (1, 2)]
THREE_OF_FOUR = list(itertools.combinations(range(4), 3))

Margins = list[tuple[int, ...]]


@pytest.fixture(autouse=True)
def shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables need no long runs."""
    monkeypatch.setattr(chain_posterior, "DIRECTIONS", 4000)
    monkeypatch.setattr(chain_posterior, "SWEEPS", 400)


SHAPES: list[tuple[tuple[int, ...], Margins, float]] = [
    ((3, 3), [(0,), (1,)], 3.0),
    ((3, 3, 3), TWO_OF_THREE, 1.0),
    ((2, 2, 2, 2), THREE_OF_FOUR, 3.0),
    ((2, 2, 2, 2), [(0, 1), (2, 3)], 0.6),
    ((2, 3, 3), TWO_OF_THREE, 1.5),
]


def likelihood_of(
    shape: tuple[int, ...], margins: Margins, mean: float, *, kind: str = "exact", seed: int = 0
) -> CellFactors:
    """Margins as they are, or rounded together with every cell, or with noise of known law."""
    rng = np.random.default_rng(seed)
    original = rng.poisson(mean, shape)
    sums = sums_of(shape, margins)
    kinds: list[tuple[int, int, np.ndarray | None]] = list(exactly(original, sums))
    if kind == "rounded":
        sums = sums + [np.array([c]) for c in range(original.size)]
        kinds = [
            (max(0, 3 * round(total / 3) - 2), 3 * round(total / 3) + 2, None)
            for total, _, _ in exactly(original, sums)
        ]
    if kind == "noisy":
        kinds = [(t, t + 2, np.log([0.2, 0.5, 0.3])) for t, _, _ in kinds]
    return of_sums(Domain.of_shape(shape), sums, kinds)


def compare(likelihood: CellFactors, prior: Prior | None = None, seed: int = 7) -> None:
    """The simulated posterior is the exact one within its own error, and that error is honest."""
    exact = infer(likelihood, prior, Approach(way="exact"))
    found = infer(likelihood, prior, Approach(way="monte_carlo"), randomness=Randomness.seeded(seed))
    assert found.way == "monte_carlo" and found.error is not None and found.r_hat is not None
    assert found.standard_errors is not None and found.effective_sample_size is not None
    assert found.r_hat < 1.05 and 1000 < found.effective_sample_size <= (found.draws or 0)
    top = int(max((p.first + p.width).max() for p in (exact, found)))
    difference = np.stack([found.probability(v) - exact.probability(v) for v in range(top)])
    assert np.abs(difference).max() < 4.5 * found.error < 0.08
    ratio = np.sqrt((difference**2).sum() / (found.standard_errors**2).sum())
    # Of a handful of originals the differences are one number.
    assert (0.3 if (exact.originals or 0) > 30 else 0.0) < ratio < 2.0
    # Draws are whole originals: of those that can be, and jointly right.
    drawn = found.sample(2000, np.random.default_rng(1)).reshape(2000, -1).astype(float)
    true = exact.sample(2000, np.random.default_rng(2)).reshape(2000, -1).astype(float)
    centred = true - true.mean(axis=0)
    spread = (centred[:, :, None] * centred[:, None, :]).std(axis=0) / np.sqrt(2000)
    assert (np.abs(np.cov(drawn.T) - np.cov(true.T)) <= 8 * spread + 0.02).all()


@pytest.mark.parametrize(("shape", "margins", "mean"), SHAPES)
def test_margins_as_they_are(shape: tuple[int, ...], margins: Margins, mean: float) -> None:
    compare(likelihood_of(shape, margins, mean))


@pytest.mark.parametrize("kind", ["rounded", "noisy"])
@pytest.mark.parametrize("which", [0, 4])
def test_sums_that_may_vary(kind: str, which: int) -> None:
    shape, margins, mean = SHAPES[which]
    if kind == "noisy":
        mean = 0.5
    compare(likelihood_of(shape, margins, mean, kind=kind))


@pytest.mark.parametrize("which", [0, 1])
def test_informed(which: int) -> None:
    shape, margins, mean = SHAPES[which]
    means = np.random.default_rng(4).gamma(3.0, 0.5, int(np.prod(shape)))
    compare(likelihood_of(shape, margins, mean), Poisson(means))


def test_holes_of_a_prior_are_passed_through() -> None:
    original = np.array([[3, 0, 2], [0, 3, 2], [1, 1, 1]])
    sums = sums_of((3, 3), [(0,), (1,)])
    likelihood = of_sums(Domain.of_shape((3, 3)), sums, exactly(original, sums))
    holed = CellTable(np.array([0, 0]), np.array([0, 3]), np.array([1.0, 2.0]))
    compare(likelihood, holed, seed=8)


def component_of(likelihood: CellFactors) -> FactorComponent:
    return max(split_components(cell_laws(likelihood, Uniform())).components, key=len)


@pytest.mark.parametrize(("shape", "margins", "mean"), SHAPES[1:])
@pytest.mark.parametrize("sweeping", [False, True])
def test_every_original_is_visited(
    shape: tuple[int, ...], margins: Margins, mean: float, sweeping: bool
) -> None:
    component = component_of(likelihood_of(shape, margins, mean))
    part = by_residuals(component, most=10**6)
    assert part is not None and part.listed is not None
    every, _ = part.listed()
    found = Chains(component, shape, np.random.default_rng(5), chains=32)
    between = (4, 1) if sweeping else (20, 0)
    records = max(200, len(every) // 2)
    tables, counts = found.run(records, between, Cancellable(), "")
    seen = {tuple(t) for t in np.moveaxis(tables, 1, 2).reshape(-1, len(component)).tolist()}
    assert seen == {tuple(t) for t in every.tolist()} and counts.all()


@pytest.mark.parametrize(("shape", "margins", "mean"), SHAPES)
def test_the_basis_spans_all_moves(shape: tuple[int, ...], margins: Margins, mean: float) -> None:
    sums, size = sums_of(shape, margins), int(np.prod(shape))
    basis = shortened(kernel(sums, size), size)
    rows = np.zeros((len(basis), size))
    for row, move in zip(rows, basis, strict=True):
        row[list(move)] = list(move.values())
    matrix = np.zeros((len(sums), size))
    for row, cells in zip(matrix, sums, strict=True):
        row[cells] = 1
    assert not (matrix @ rows.T).any()
    assert len(basis) == size - np.linalg.matrix_rank(matrix) == np.linalg.matrix_rank(rows)
    # Differences of tables with the same margins are whole combinations.
    part = by_residuals(component_of(likelihood_of(shape, margins, mean)), most=10**6)
    component = component_of(likelihood_of(shape, margins, mean))
    assert part is not None and part.listed is not None
    tables = np.zeros((len(part.listed()[0]), size))
    tables[:, component.cells] = part.listed()[0]
    times, *_ = np.linalg.lstsq(rows.T, (tables - tables[0]).T, rcond=None)
    assert np.abs(times - np.rint(times)).max(initial=0.0) < 1e-6


def test_short_vectors() -> None:
    """Reduction finds the 2 x 2 swaps of neighbours again behind a wild basis of theirs."""
    rng = np.random.default_rng(6)
    basis = kernel(sums_of((3, 4), [(0,), (1,)]), 12)
    wild = [dict(move) for move in basis]
    for _ in range(30):
        a, b = rng.choice(len(wild), 2, replace=False)
        for cell, value in list(wild[b].items()):
            wild[a][cell] = wild[a].get(cell, 0) + value
    short = shortened(wild, 12)
    assert sum(v * v for move in wild for v in move.values()) > 200
    assert max(sum(v * v for v in move.values()) for move in short) <= 6


def moves_of(component: FactorComponent, number: int) -> Iterator[np.ndarray]:
    """The directions of so many steps, by what they change in eight chains."""
    found = Chains(component, (4, 5), np.random.default_rng(7), chains=8)
    for _ in range(number):
        before = found.tables.copy()
        assert found.steps(1) == 1
        yield from np.sign(found.tables - before).T


@pytest.mark.parametrize("prior", ["uniform", "poisson"])
@pytest.mark.parametrize(("shape", "margins", "mean"), [*SHAPES, ((5, 4, 3), TWO_OF_THREE, 4.0)])
@pytest.mark.parametrize("kind", ["exact", "rounded", "noisy"])
def test_compiled_steps_are_those_of_numpy(
    shape: tuple[int, ...],
    margins: Margins,
    mean: float,
    kind: str,
    prior: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bit for bit, also where priors and noise weigh the counts."""
    likelihood = likelihood_of(shape, margins, mean, kind=kind)
    size = likelihood.domain.size
    believed: Prior = Uniform() if prior == "uniform" else Poisson(np.full(size, mean))
    pieces = split_components(cell_laws(likelihood, believed)).components
    found = []
    for form in (chains.chain_steps, chain_steps_in_numpy):
        monkeypatch.setattr(chains, "chain_steps", form)
        walk = Chains(pieces[0], shape, np.random.default_rng(5), chains=16)
        for left in (200, 50, 1):
            while left:
                left -= walk.steps(left)
            if walk.sweeps is not None:
                walk.sweep()
        found.append(walk.tables)
    assert np.array_equal(*found)
    assert np.ptp(found[0], axis=1).any()


def test_circuits_keep_sums_and_find_patterns() -> None:
    likelihood = likelihood_of((4, 5), [(0,), (1,), ()], 2.0)
    component = component_of(likelihood)
    circuits = SumCircuits.of(component)
    assert circuits is not None and not circuits.rest
    lengths = set()
    for moved in moves_of(component, 300):
        assert set(moved[moved != 0].tolist()) <= {-1, 1}
        assert not any(moved[one.cells].sum() for one in component.sums)
        lengths.add(int(np.abs(moved).sum()))
    assert lengths - {0} == {4, 6, 8}
    # Three sums over a cell are no graph.
    assert SumCircuits.of(component_of(likelihood_of((2, 3, 3), TWO_OF_THREE, 1.5))) is None


def test_sweeps_keep_sums() -> None:
    for shape, margins, mean in SHAPES:
        component = component_of(likelihood_of(shape, margins, mean))
        sweeps = SwapSweeps.of(component, shape)
        assert sweeps is not None
        rng = np.random.default_rng(8)
        for _ in range(20):
            corners, signs = sweeps.draw(rng)
            for swap in range(len(corners[0])):
                move = np.zeros(len(component), dtype=int)
                for cells, sign in zip(corners, signs, strict=True):
                    move[cells[swap]] += sign
                assert not any(move[one.cells].sum() for one in component.sums)


def test_starts_fit_and_differ() -> None:
    component = component_of(likelihood_of((5, 5), [(0,), (1,)], 4.0, kind="rounded"))
    found = chain_starts(component, 6, np.random.default_rng(9))
    assert all(within_bounds(component, table) for table in found)
    assert len(np.unique(found, axis=0)) > 3


def test_disagreement_is_seen() -> None:
    rng = np.random.default_rng(10)
    mixed, every = rng.integers(0, 5, (200, 3, 8)), np.ones((200, 8), dtype=np.bool_)
    together, worth = mixing(mixed, every)
    assert together < 1.05 and worth.min() > 0.2
    apart = mixed.copy()
    apart[:, 1, :4] += 4
    assert mixing(apart, every)[0] > 1.5 and mixing(apart, every)[1][1] < 0.01
    # Records that do not count, and chains without any, change nothing.
    apart = mixed.copy()
    apart[1::2] += 7
    apart[:, :, 4:] += 9
    fine = every.copy()
    fine[1::2] = fine[:, 4:] = False
    alone = mixing(mixed[::2, :, :4], every[::2, :4])
    assert mixing(apart, fine)[0] == pytest.approx(alone[0])
    assert mixing(apart, fine)[1] == pytest.approx(alone[1])
    fine[:, 1:] = False
    assert mixing(apart, fine)[0] == np.inf
    still = np.zeros((10, 1, 4), dtype=np.int64)
    assert mixing(still, every[:10, :4])[0] == 1.0
    still[:, 0, 1] = 1
    assert mixing(still, every[:10, :4])[0] == np.inf


def test_larger_tables_agree_with_their_margins() -> None:
    likelihood = likelihood_of((8, 8), [(0,), (1,)], 5.0)
    found = infer(likelihood, randomness=Randomness.seeded(7))
    assert found.way == "monte_carlo" and found.r_hat is not None and found.r_hat < 1.05
    assert "too many originals" in found.reason
    rows = [int(likelihood.low[likelihood.kind[f]]) for f in range(8)]
    assert np.abs(found.mean.sum(axis=1) - rows).max() < 1e-9
    assert found.originals is None
    estimate = found.count_estimate
    assert estimate is not None and not estimate.exact and estimate.error is not None
    assert 0 < estimate.error < estimate.count / 5
    assert infer(likelihood, randomness=Randomness.seeded(7)).count_estimate == estimate
    with pytest.raises(InfeasibleError):
        infer(likelihood, approach=Approach(way="exact"))


@pytest.mark.parametrize("limit", ["MOST_CELLS", "MOST_ENTRIES"])
def test_too_large_is_refused_with_a_remedy(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(chain_posterior, limit, 8)
    with pytest.raises(TooLargeError) as error:
        infer(likelihood_of(*SHAPES[0]), approach=Approach(way="monte_carlo"))
    assert "bounds" in error.value.hint


RING = [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 0)]
"""Hidden in two layers, these have no box."""


def hidden_in_layers(
    where: list[tuple[int, int]], seed: int, *, together: int = 0
) -> tuple[CellFactors, tuple[int, ...]]:
    """A 4 x 4 x 2 table whose cells at these places are hidden in both layers, all lines published.

    The sum of so many of its hidden cells, every third, is published, too.
    """
    shape = (4, 4, 2)
    original = np.random.default_rng(seed).integers(0, 3, shape)
    hidden = np.zeros(shape, dtype=bool)
    for row, column in where:
        hidden[row, column] = True
    sums = sums_of(shape, TWO_OF_THREE) + [np.array([c]) for c in np.flatnonzero(~hidden)]
    sums += [np.flatnonzero(hidden)[::3][:together]] if together else []
    kinds = exactly(original, sums)
    return of_sums(Domain.of_shape(shape), sums, kinds), shape


def test_many_cells_in_three_ways_move_by_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "MOST_TANGLED", 4)
    monkeypatch.setattr(chain_posterior, "BOXED", 64)
    compare(likelihood_of(*SHAPES[1]))
    # A ring beside a box moves only by what boxes do not reach.
    likelihood, shape = hidden_in_layers([*RING, (2, 3), (3, 2), (3, 3)], 4)
    component = split_components(cell_laws(likelihood, Uniform())).components[0]
    boxes = hidden_boxes.drawn_boxes(component, shape, np.random.default_rng(1))
    assert boxes is not None and len(np.unique(np.sort(boxes, axis=1), axis=0)) == 1
    assert [len(move) for move in hidden_boxes.unreached(component, boxes)] == [16]
    compare(likelihood)


def test_without_a_box_many_cells_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "MOST_TANGLED", 4)
    likelihood, _ = hidden_in_layers(RING, 4)
    with pytest.raises(TooLargeError) as error:
        infer(likelihood, approach=Approach(way="monte_carlo"))
    assert "bounds" in error.value.hint
    # Two-way tables have their own, larger limit.
    infer(likelihood_of(*SHAPES[0]), approach=Approach(way="monte_carlo", draws=100))


def test_boxes_and_what_they_do_not_reach_are_all_moves() -> None:
    rng = np.random.default_rng(3)
    for together in (0, 2, 3, 0, 2, 3):
        where = [(int(a), int(b)) for a, b in np.argwhere(rng.random((4, 4)) < 0.8)]
        likelihood, shape = hidden_in_layers(where, int(rng.integers(99)), together=together)
        for component in split_components(cell_laws(likelihood, Uniform())).components:
            boxes = hidden_boxes.drawn_boxes(component, shape, rng)
            if boxes is None:
                continue
            moves = np.zeros((len(boxes), len(component)))
            moves[np.arange(len(boxes))[:, None], boxes] = hidden_boxes.SIGNS
            further = hidden_boxes.unreached(component, boxes)
            rows = [[move.get(cell, 0) for cell in range(len(component))] for move in further]
            every = np.vstack([moves, np.array(rows).reshape(-1, len(component))])
            members = np.array([np.isin(np.arange(len(component)), s.cells) for s in component.sums])
            assert not (members @ every.T).any()
            free = len(component) - np.linalg.matrix_rank(members)
            assert np.linalg.matrix_rank(every) == free


def test_weights_of_all_counts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    original = np.full((3, 3), 3)
    sums = sums_of((3, 3), [(0,), (1,)])
    likelihood = of_sums(Domain.of_shape((3, 3)), sums, exactly(original, sums))
    # Counts 0 to 9: of cells that are believed alike, once.
    monkeypatch.setattr(components, "MOST_WEIGHTS", 10)
    infer(likelihood)
    with pytest.raises(TooLargeError):
        infer(likelihood, Poisson(np.arange(1.0, 10.0)))


def test_cancelled_in_the_chain() -> None:
    class Later(Cancellable):
        def report(self, stage: str, fraction: float, partial: object = None) -> None:
            if stage.startswith("drawing originals"):
                self.cancel()
            super().report(stage, fraction, partial)

    with pytest.raises(Interrupted):
        infer(likelihood_of((12, 12), [(0,), (1,)], 5.0), progress=Later())
