"""What holds for every rule that says which cells are sensitive."""

from __future__ import annotations

import json

import numpy as np

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.sensitivity.magnitude_rules import rules_of, sensitivity_rules
from tabprotect.engine.sensitivity.rule import CellContributions, ContributorRule, CountRule, SensitivityRule
from tabprotect.testing.failure import CheckFailed, require

CELLS, RANKS = 200, 6


def contributions(seed: int) -> CellContributions:
    """Cells of up to six contributors, the first of none; some asked for protection."""
    generator = np.random.default_rng(seed)
    top = np.sort(generator.integers(0, 10 ** generator.integers(1, 6, CELLS), (RANKS, CELLS)).T)[:, ::-1]
    top[np.arange(RANKS) >= generator.integers(0, RANKS + 1, CELLS)[:, None]] = 0
    top[0] = 0
    asked = (generator.random(top.shape) < 0.2) & (top > 0)
    return CellContributions(top.sum(axis=1), top, (top > 0).sum(axis=1), asked, np.zeros_like(asked))


def _taken(cells: CellContributions, which: slice, ranks: int = RANKS) -> CellContributions:
    """Some of the cells, with their largest contributions."""
    rows = (array[which, :ranks] for array in (cells.asked, cells.waived))
    return CellContributions(cells.total[which], cells.top[which, :ranks], cells.nonzero[which], *rows)


def _of_counts(rule: CountRule, written: str) -> None:
    counts = np.random.default_rng(8128).integers(0, 6, (4, 5))
    # One category holds a whole row.
    counts[0] = 3, 0, 0, 0, 0
    before = counts.copy()
    found = rule.sensitive(counts, written)
    require(found.dtype == bool and found.shape == counts.shape, "sensitive must give a mask of the counts")
    require(np.array_equal(counts, before), "sensitive must not change the counts")
    again = rule.sensitive(counts[::-1, ::-1], written)[::-1, ::-1]
    require(np.array_equal(found, again), "the order of categories must not matter")
    require(bool(found.any() and not found.all()), f"{written!r} names all of 20 counts from 0 to 5, or none")
    try:
        rule.sensitive(counts, "no such rule")
    except ParameterError:
        return
    raise CheckFailed("what is no rule must be refused by a ParameterError")


def _of_contributors(rule: ContributorRule, written: str) -> None:
    (given,) = rules_of([written])
    require(given.written == written, f"{written!r} is read as {given.written!r}")
    require(given.ranks >= 1 and bool(given.letter), "ranks and letter must be stated")
    named = 0
    for seed in range(4):
        cells = contributions(seed)
        excess, unit = given.excess(cells)
        require(unit >= 1 and excess.shape == (CELLS,), "excess must give a number for each cell, and a unit")
        require(all(int(one) == one for one in excess.tolist()), "excess must be whole numbers")
        unsafe = given.unsafe(cells)
        require(not bool(unsafe[0]), "a cell without contributors must be safe")
        backwards = given.unsafe(_taken(cells, slice(None, None, -1)))[::-1]
        require(np.array_equal(unsafe, backwards), "each cell must be judged by itself")
        nobody = CellContributions.ranked(cells.total, cells.top, cells.nonzero)
        few = given.unsafe(_taken(nobody, slice(None), given.ranks))
        require(
            np.array_equal(given.unsafe(nobody), few),
            f"it looks at more than the {given.ranks} largest contributions that ranks says",
        )
        named += int(unsafe.sum())
    require(0 < named < 4 * CELLS, f"{written!r} finds all of {4 * CELLS} cells unsafe, or none")


def check_sensitivity_rule(rule: SensitivityRule | type[SensitivityRule]) -> None:
    """Run every check on a rule for sensitive cells of one's own; it need not be registered.

    Raises
    ------
    CheckFailed
        With what the first check that fails found.
    """
    made = rule() if isinstance(rule, type) else rule
    try:
        require(bool(made.label and made.help and made.examples), "label, help and examples are needed")
        json.dumps(made.as_json(), allow_nan=False)
        with sensitivity_rules().including(made):
            for written in made.examples:
                if isinstance(made, CountRule):
                    _of_counts(made, written)
                else:
                    require(isinstance(made, ContributorRule), "it must be a CountRule or a ContributorRule")
                    assert isinstance(made, ContributorRule)
                    _of_contributors(made, written)
    except (CheckFailed, ParameterError) as error:
        raise CheckFailed(f"{made.name}: {error}") from None
