"""Printed tables and figures hold every cell once."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.report import svg_figures
from tabprotect.engine.report.printed_grids import ACROSS, MOST_CELLS, GridCell, grid, published_grid
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


def _domain(shape: tuple[int, ...]) -> Domain:
    return Domain.of({f"v{a}": [f"{a}.{i}" for i in range(n)] for a, n in enumerate(shape)})


@given(st.lists(st.integers(1, 11), max_size=3).map(tuple).filter(lambda s: np.prod(s) < 600))
@settings(max_examples=40, deadline=None)
def test_every_cell_stands_under_its_labels(shape: tuple[int, ...]) -> None:
    domain = _domain(shape)
    printed = grid(domain, lambda index: GridCell(",".join(domain.labels(index))))
    found = []
    for panel in printed.panels:
        assert len(panel.columns) <= ACROSS
        for labels, cells in panel.rows:
            assert len(labels) == len(printed.down) and len(cells) == len(panel.columns)
            for column, cell in zip(panel.columns, cells, strict=True):
                names = [*printed.down, panel.across] if panel.across else [*printed.down]
                values = [*labels, column] if panel.across else [*labels]
                at = dict(zip(names, values, strict=True))
                assert cell.text == ",".join(at[name] for name in domain.names)
                found.append(cell.text)
    assert len(found) == len(set(found)) == domain.size


def test_a_large_table_is_not_printed() -> None:
    domain = _domain((MOST_CELLS + 1,))
    printed = published_grid(PublishedTable(Table.dense(domain, np.ones(domain.shape, int))))
    assert printed.panels == () and printed.cells == str(MOST_CELLS + 1)


def test_a_suppressed_count_is_a_cross() -> None:
    domain = _domain((2, 2))
    mask = np.array([[True, False], [False, False]])
    published = PublishedTable.hiding(Table.dense(domain, [[9, 1], [1234, 0]]), mask)
    (panel,) = published_grid(published).panels
    assert [[c.text for c in cells] for _, cells in panel.rows] == [["×", "1"], ["1\u202f234", "0"]]


def _numbers(svg: str) -> list[int]:
    """The numbers on the bars, in order."""
    drawn = svg.split('<g fill="#1b2430">')[1].split("</g>")[0]
    return [int(n.replace("\u202f", "")) for n in re.findall(r">([^<>]+)</text>", drawn)]


@given(st.lists(st.integers(-3, 300), min_size=1, max_size=30), st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_figures_count_every_cell(counts: list[int], hide: int) -> None:
    domain = _domain((len(counts),))
    mask = np.arange(len(counts)) < hide
    published = PublishedTable.hiding(Table.dense(domain, np.array(counts)), mask)
    shown = [n for n, hidden in zip(counts, mask, strict=True) if not hidden]
    numbers = _numbers(svg_figures.size_bars(published))
    below = any(n < 0 for n in shown)
    assert sum(numbers) == len(shown)
    assert numbers[below] == shown.count(0) and numbers[below + 1] == shown.count(1)
    assert sum(_numbers(svg_figures.change_bars(np.array(counts)))) == len(counts)


def test_far_changes_are_pooled_under_a_label_no_wider_than_its_bar() -> None:
    drawn = svg_figures.change_bars(np.array([-9, -6, 0, 1, 30]))
    labels = re.findall(r'y="162.0">([^<]*)<', drawn)
    assert len(labels) == 13 and max(map(len, labels)) <= 4
    assert (labels[0], labels[-1]) == ("≤ \N{MINUS SIGN}6", "≥ +6")
