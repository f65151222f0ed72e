"""Designing cycles by the library's face."""

from __future__ import annotations

from pathlib import Path

import pytest

import tabprotect as tp


def test_a_release_gives_the_design_of_its_table(tmp_path: Path) -> None:
    table = tp.read_table("example:sparse-10x10")
    cycles = tp.design("row + column", table=table, cap=8)
    done = tp.protect(table, cycles=cycles, blocking="negative", seed=5, accept_weak=True)
    assert done.release.mechanism.parameters["cycles"] == cycles.moves
    again = tp.design("row + column", margins=done.release, cap=8)
    assert again.moves == cycles.moves and len(again) == 81
    again.write(tmp_path / "c.json")
    assert again.check().known_functionals == 0
    with pytest.raises(tp.InputError, match="a table or of a release"):
        tp.design("row + column")


def test_strips_by_name() -> None:
    table = tp.read_table("example:sparse-10x10")
    assert len(tp.design(table=table, kind="strips", height=4)) == 63


def test_sums_of_cells_that_must_be_empty_were_asked_for(tmp_path: Path) -> None:
    table = tp.read_table("example:adult-occupations")
    found = tp.design(table=table).check()
    assert (found.rank, found.dimension, found.known_functionals) == (1026, 1026, 0)
