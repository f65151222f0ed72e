"""The Czech workers and the published pitfalls, from the reference values."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.bounds.bounding import Search, bounds, width
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import margins_of_order
from tabprotect.engine.tables.table import Table
from tests.engine.bounds.enumeration import tables

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = json.loads((ROOT / "tests/reference/niss_bounds.json").read_text())
CZECH = read_table(ROOT / "resources/examples/czech-autoworkers/table.csv").table
PREFIXES = REFERENCE["prefixes"]


def laid_out(printed: list[list[int]]) -> list[int]:
    """The 16 x 4 lay-out of the report as cells A..F."""
    return np.array(printed).reshape((2,) * 6).transpose(5, 4, 3, 2, 1, 0).reshape(-1).tolist()


def renamed(frontier: list[str]) -> list[tuple[str, ...]]:
    """Sub-tables in the letters of the report's Table 3."""
    letters = REFERENCE["table3_to_table2"]
    return [tuple(letters[letter] for letter in margin) for margin in frontier]


def prefix_cells() -> np.ndarray:
    """The three at-risk cells in the order of the reference."""
    return np.array([CZECH.domain.flat(cell[::-1]) for cell in REFERENCE["prefix_cells"]])


@pytest.mark.parametrize("order", [2, 3, 4, 5])
def test_all_margins_of_one_order(order: int) -> None:
    printed = REFERENCE["czech_bounds"][f"all_{order}way"]
    release = margins_of_order(CZECH.domain, order)
    exact = bounds(CZECH, release)
    assert exact.exact
    assert exact.lower.tolist() == laid_out(printed["int_lb"])
    assert exact.upper.tolist() == laid_out(printed["int_ub"])
    shuttle = bounds(CZECH, release, method="shuttle")
    assert shuttle.lower.tolist() == laid_out(printed["shuttle_lb"])
    assert shuttle.upper.tolist() == laid_out(printed["shuttle_ub"])
    looser = (shuttle.lower < exact.lower) | (shuttle.upper > exact.upper)
    assert int(looser.sum()) == printed["cells_where_shuttle_not_sharp"]
    rounded = bounds(CZECH, release, method="lp")
    assert rounded.lower.tolist() == exact.lower.tolist()
    assert rounded.upper.tolist() == exact.upper.tolist()


def test_the_release_of_the_slides_is_decomposable() -> None:
    printed = REFERENCE["czech_bounds"]["published_BF_ABCE_ADE"]
    release = [("B", "F"), ("A", "B", "C", "E"), ("A", "D", "E")]
    for way in ("decomposable", "auto", "shuttle", "lp", "integer"):
        found = bounds(CZECH, release, method=way)
        assert found.lower.tolist() == laid_out(printed["lb"])
        assert found.upper.tolist() == laid_out(printed["ub"])
    assert bounds(CZECH, release).method == "decomposable"


def test_the_second_release_of_the_reference() -> None:
    printed = REFERENCE["czech_bounds"]["R2_ACDEF_ABDEF_ABCDE_BCDF_ABCF_BCEF"]
    release = [tuple(m) for m in ("ACDEF", "ABDEF", "ABCDE", "BCDF", "ABCF", "BCEF")]
    found = bounds(CZECH, release)
    assert found.exact
    assert found.lower.tolist() == laid_out(printed["int_lb"])
    assert found.upper.tolist() == laid_out(printed["int_ub"])


def test_prefixes_of_the_heuristic_list() -> None:
    cells = prefix_cells()
    for prefix in PREFIXES[1::2]:
        release = renamed(prefix["frontier"])
        exact = bounds(CZECH, release, cells=cells)
        assert exact.exact
        assert list(zip(exact.lower, exact.upper, strict=True)) == [tuple(ends) for ends in prefix["integer"]]
        shuttle = bounds(CZECH, release, cells=cells, method="shuttle")
        assert list(zip(shuttle.lower, shuttle.upper, strict=True)) == [
            tuple(ends) for ends in prefix["shuttle"]
        ]
        result = width(CZECH, release)
        assert result.exact and result.width == prefix["min_width_integer"]


def test_the_shuttle_would_release_too_much() -> None:
    """At w = 17 the shuttle's own widths exceed w for 54 prefixes, the true ones for 47."""
    (row,) = [row for row in REFERENCE["l0_by_w"] if row["w"] == 17]
    assert (row["l0_integer"], row["l0_shuttle"]) == (47, 54)
    for length in range(45, 57):
        release = renamed(PREFIXES[length - 1]["frontier"])
        loose = width(CZECH, release, search=Search("shuttle"))
        assert (loose.width > 17) == (length <= 54)
        # Asked for a verdict, it never says safe.
        verdict = width(CZECH, release, beta=18, search=Search("shuttle")).verdict
        assert verdict == ("unknown" if length <= 54 else "bad")
        assert width(CZECH, release, beta=18).verdict == ("safe" if length <= 47 else "bad")


def test_where_the_shuttle_is_not_sharp() -> None:
    example = REFERENCE["shuttle_not_sharp_example"]
    table = Table.dense(Domain.of_shape((2,) * 4), example["table_2x2x2x2"])
    release = margins_of_order(table.domain, 2)
    for way, printed in (("shuttle", example["shuttle"]), ("auto", example["integer"])):
        found = bounds(table, release, cells=np.array([0]), method=way)
        assert [found.lower[0], found.upper[0]] == printed
    # The linear programme's 2/3 is rounded down: no table has it.
    assert bounds(table, release, cells=np.array([0]), method="lp").upper[0] == 0


@pytest.mark.parametrize("example", REFERENCE["lp_integer_gap_examples"])
def test_an_integral_optimum_that_no_table_attains(example: dict[str, object]) -> None:
    table = Table.dense(Domain.of_shape((2,) * 5), example["table_2x2x2x2x2"])
    release = margins_of_order(table.domain, 3)
    cells = np.array([table.domain.flat(example["cell"])])  # type: ignore[arg-type]
    loose = bounds(table, release, cells=cells, method="lp")
    assert [loose.lower[0], loose.upper[0]] == example["lp"]
    assert not loose.exact
    for way in ("auto", "integer"):
        found = bounds(table, release, cells=cells, method=way)
        assert found.exact and [found.lower[0], found.upper[0]] == example["integer"]
    true = example["integer"][1] - example["integer"][0]  # type: ignore[index]
    assert width(table, release, cells=cells, beta=true + 1, search=Search("lp")).verdict == "unknown"
    assert width(table, release, cells=cells, beta=true + 1).verdict == "bad"
    every = tables(table, release)[:, cells[0]]
    assert [every.min(), every.max()] == example["integer"]
