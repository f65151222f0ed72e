"""What numbers and means beside magnitudes tell of counts: against a list of all originals."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from magnitude_cases import table_of
from small_tables import every_table

from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.counts_among import counts_among
from tabprotect.engine.bundle.public import to_bytes
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.magnitudes.readers.beliefs import hidden_ranges
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.mechanism import UNSTATED, Gate
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.variable import Level, Variable

SHAPE = (2, 3)

Original = tuple[tuple[int, ...], tuple[int, ...]]
"""The number of records of every inner cell, and their sum."""


def published(seed: int, beside: str) -> PublishedMagnitudes:
    """A random table with its inner cells hidden in a rectangle, one of them perhaps without records."""
    generator = np.random.default_rng(seed)
    rows = {
        (i, j, f"u{i}{j}{k}"): int(generator.integers(1, 4))
        for i, j in product(*map(range, SHAPE))
        for k in range(int(generator.integers(0 if (i, j) == (1, 2) else 1, 4)))
    }
    cells, table = table_of(rows, SHAPE).cells, table_of(rows, SHAPE)
    hidden = (cells.nodes[0] < 2) & (cells.nodes[1] < 2)
    value = np.where(hidden, 0, cells.value)
    means = (2 * value + cells.units) // (2 * cells.units)
    numbers = np.where(hidden, 0, cells.units)
    return PublishedMagnitudes(
        table.variables,
        "turnover",
        0,
        cells.key,
        value,
        hidden,
        units=numbers if "n" in beside.split(",") else None,
        means=means if "mean" in beside else None,
    )


def with_totals(inner: np.ndarray) -> np.ndarray:
    """Tables (originals, cells) with their totals behind them, (originals, rows, columns)."""
    inner = inner.reshape(-1, *SHAPE)
    wide = np.concatenate([inner, inner.sum(axis=2, keepdims=True)], axis=2)
    return np.concatenate([wide, wide.sum(axis=1, keepdims=True)], axis=1)


def originals(table: PublishedMagnitudes) -> set[Original]:
    """Every original from which exactly this would have been published."""
    shape = tuple(size + 1 for size in SHAPE)

    def laid_out(column: np.ndarray) -> np.ndarray:
        whole = np.zeros(shape, dtype=column.dtype)
        whole.reshape(-1)[table.key] = column
        return whole

    there, shown = laid_out(np.ones(len(table.key), dtype=bool)), laid_out(~table.hidden)

    def agree(every: np.ndarray, given: np.ndarray | None) -> np.ndarray:
        """Those of which the shown figures are the published ones, and no empty cell has any."""
        kept = every[~every[:, ~there].any(axis=1)]
        return kept if given is None else kept[(kept == laid_out(given))[:, shown].all(axis=1)]

    ends = [int(number[-1]) for number in table.numbers]
    counts = np.concatenate([with_totals(every_table(6, n)) for n in range(ends[0], ends[1] + 1)])
    counts = agree(counts[(counts[:, there] > 0).all(axis=1)], table.units)
    sums = agree(with_totals(every_table(6, int(table.value[-1]))), table.value)
    found = set()
    for number, value in product(counts, sums):
        mean = (2 * value + number) // np.maximum(2 * number, 1)
        if table.means is None or len(agree(mean[None], table.means)):
            inner = [tuple(one[:2, :3].reshape(-1).tolist()) for one in (number, value)]
            found.add((inner[0], inner[1]))
    return found


@pytest.mark.parametrize("beside", ["n", "mean", "n,mean"])
@pytest.mark.parametrize("seed", range(4))
def test_a_reader_of_counts_sums_and_means_believes_what_the_originals_say(seed: int, beside: str) -> None:
    """One reader of all measures: of counts the posterior, of sums where each lies."""
    table = published(seed, beside)
    release = Release.of_magnitudes(table, "suppression")
    every = originals(table)
    assert len(every) > 1
    evidence = counts_among(release)
    assert evidence is not None
    # The hidden cells were chosen by a rule about magnitudes: no rule about counts is tried again.
    assert isinstance(evidence.likelihood, CellFactors) and evidence.likelihood.rerun is None
    found = believe([evidence], "uniform", inner=True).posterior
    assert found.way == "exact"
    numbers = sorted({number for number, _ in every})
    for cell in range(6):
        values, chances = found.distribution(found.domain.unflat(cell))
        listed, often = np.unique([number[cell] for number in numbers], return_counts=True)
        assert listed.tolist() == values.tolist()
        assert chances == pytest.approx(often / len(numbers))
    # What is known of counts says nothing further of sums.
    assert len(every) == len(numbers) * len({value for _, value in every})
    shape = tuple(size + 1 for size in SHAPE)
    ends = hidden_ranges(table)
    for cell, (low, high) in zip(np.flatnonzero(table.hidden).tolist(), ends.tolist(), strict=True):
        i, j = np.unravel_index(int(table.key[cell]), shape)
        inside = [value[int(i) * 3 + int(j)] for _, value in every]
        assert (min(inside), max(inside)) == (low, high)
    limits = Gate(within=10.0)
    judged = verdict(release, limits)
    # The same by who reads the bundle, in which what has no records is listed.
    assert verdict(verify_bytes(to_bytes(release, page=False)).release, limits) == judged
    small = [np.mean([[1 <= n <= 2 for n in number] for number in numbers], axis=0)]
    assert judged.at_risk == pytest.approx(float(np.sum(small)))
    known = [
        max(np.mean([number[cell] == n for number in numbers]) for n in (1, 2)) > limits.belief_limit
        for cell in range(6)
    ]
    assert judged.known == sum(known)


@pytest.mark.parametrize("stated", [True, False])
def test_the_gate_of_the_magnitudes_lets_the_counts_out(stated: bool) -> None:
    """Nothing of it is left out, but it judges no counts: who judges them says the limits."""
    gate = Gate(within=10.0, attempts_at_most=1)
    release = Release.of_magnitudes(published(0, "n"), "suppression")
    if stated:
        release = replace(release, mechanism=replace(release.mechanism, gate=gate))
    evidence = counts_among(release)
    assert evidence is not None and evidence.release.mechanism.gate is None
    found = believe([evidence], "uniform").posterior
    assert (UNSTATED in found.note) is ("attempts" in found.left_out) is (not stated)


def test_counts_that_are_shown_are_judged_as_a_table_of_counts_is() -> None:
    """Noise on the sums protects no number that is published beside them."""
    rows = {(i, j, f"u{i}{j}{k}"): 100 + k for i in range(2) for j in range(3) for k in range(1 + i + j)}
    cells, table = table_of(rows, SHAPE).cells, table_of(rows, SHAPE)
    shown = np.zeros(len(cells), dtype=bool)
    noisy = PublishedMagnitudes(
        table.variables, "turnover", 0, cells.key, cells.value + 7, shown, units=cells.units
    )
    parameters = {"least": 0.1, "most": 0.25}
    judged = verdict(Release.of_magnitudes(noisy, "multiplicative_noise", parameters), Gate(within=10.0))
    # The numbers 1, 2 and 2.
    assert (judged.at_risk, judged.known, judged.passed) == (3, 3, False)
    assert "3 of about 3 small counts" in judged.sentence
    alone = replace(noisy, units=None)
    judged = verdict(Release.of_magnitudes(alone, "multiplicative_noise", parameters))
    assert not judged.counted and "counts" not in judged.as_json()


def test_numbers_of_every_level_are_read() -> None:
    levels = Variable("a", ("x", "y", "z"), (Level("group", ("g", "g", "h")),))
    axes = (levels, Variable("b", ("m", "n")))
    counts = np.array([[1, 2], [3, 4], [5, 6]])
    nodes = {"x": [0], "y": [1], "z": [2], "g": [0, 1], "h": [2], "Total": [0, 1, 2]}
    empty = np.zeros(0, dtype=np.int64)
    known = PublishedMagnitudes(axes, "v", 0, empty, empty, empty.astype(bool))
    numbers = np.array(
        [
            counts[nodes[known.variables[0].nodes[i][1]]][:, [j] if j < 2 else [0, 1]].sum()
            for i, j in product(*map(range, known.shape))
        ]
    )
    every = np.arange(len(numbers))
    hidden = every == 0
    table = replace(known, key=every, value=10 * numbers * ~hidden, hidden=hidden, units=numbers * ~hidden)
    evidence = counts_among(Release.of_magnitudes(table, "suppression"))
    assert evidence is not None
    by_names = {one.table.domain.names: one for one in evidence.release.tables}
    assert by_names["a@group", "b"].table.counts.tolist() == [[4, 6], [5, 6]]
    assert by_names["a@group",].table.counts.tolist() == [10, 11]
    assert by_names["a", "b"].hidden.sum() == 1
    # The group adds up to 4, and 3 of it are shown.
    found = believe([evidence], "uniform", inner=True).posterior
    assert dict(zip(*map(np.ndarray.tolist, found.distribution((0, 0))), strict=True)) == {1: 1.0}
