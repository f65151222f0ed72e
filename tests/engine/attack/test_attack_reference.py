"""Least squares, proofs and the joint chain against enumeration, and against independent sums."""

from __future__ import annotations

import itertools
import json
import math
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tempered_lattice_in_python

from tabprotect.engine.attack import attack as attacking
from tabprotect.engine.attack import chain
from tabprotect.engine.attack.attack import Attacked, attack
from tabprotect.engine.attack.least_squares import least_squares
from tabprotect.engine.attack.proofs import affordable, proved
from tabprotect.engine.errors import InputError
from tabprotect.engine.fitting.margin_variance import variance_left
from tabprotect.engine.progress import Progress
from tabprotect.engine.protection.cell_keys.perturbation_table import perturbation_table
from tabprotect.engine.protection.cell_keys.published_laws import of_count
from tabprotect.engine.release.published_numbers import PublishedNumbers
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.workers import threads

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "attack.json").read_text())
TINY = REFERENCE["tiny"]
KEYED = [case for case in TINY if case["method"].startswith("cell_key")]
ROUNDED = [case for case in TINY if case["method"].startswith("random")]
TABLE = perturbation_table(D=2, V=1, js=0)


def _rounded(published: int) -> tuple[int, int, Any]:
    low, high = max(published - 2, 0), published + 2
    with np.errstate(divide="ignore"):
        return low, high, np.log([1 - abs(published - t) / 3 for t in range(low, high + 1)])


def numbers_of(case: dict[str, Any], shared: bool) -> PublishedNumbers:
    domain = Domain.of({name: ["0", "1"] for name in "ABC"})
    publication = Publication.of(domain, [tuple(names) for names in case["published"]])
    counts = [case["published"]["".join(names)] for names in publication.margins]
    keyed = case["method"].startswith("cell_key")
    return PublishedNumbers.of(
        publication,
        np.concatenate(counts).astype(np.int64),
        (lambda count: of_count(TABLE, count)) if keyed else _rounded,
        variance=1.0,
        shared=shared,
    )


def farthest(found: Attacked, expected: list[dict[str, float]]) -> float:
    worst = 0.0
    for cell, truth in enumerate(expected):
        chances = found.cells.distribution(cell)
        for value in {*chances, *map(int, truth)}:
            worst = max(worst, abs(chances.get(value, 0.0) - truth.get(str(value), 0.0)))
    return worst


@pytest.mark.parametrize(("variables", "order", "cells"), [(6, 6, 200), (8, 1, 200), (8, 8, 3), (14, 1, 0)])
def test_programmes_of_large_tables_are_few(variables: int, order: int, cells: int) -> None:
    """Each takes seconds there, of 65,536 cells minutes: an attack comes to an end."""
    domain = Domain.of_shape((2,) * variables)
    margins = [domain.names]
    margins += [m for r in range(order + 1) for m in itertools.combinations(domain.names, r)]
    numbers = PublishedNumbers.of(
        publication := Publication.of(domain, list(dict.fromkeys(margins))),
        np.zeros(publication.size, dtype=np.int64),
        _rounded,
        variance=1.0,
    )
    assert affordable(numbers, 200) == cells


def test_no_more_programmes_are_solved_than_can_be_afforded(monkeypatch: pytest.MonkeyPatch) -> None:
    solved: list[int] = []

    def noted(numbers: PublishedNumbers, ends: object, cells: list[int], progress: object) -> object:
        solved.append(len(cells))
        return ends

    monkeypatch.setattr(attacking, "narrowed", noted)
    monkeypatch.setattr(attacking, "affordable", lambda numbers, asked: min(asked, 2))
    attack(numbers_of(TINY[0], False), programmes=4)
    assert solved == [2]


@pytest.mark.parametrize("case", TINY)
def test_least_squares_as_by_normal_equations(case: dict[str, Any]) -> None:
    found = least_squares(numbers_of(case, False))
    assert np.abs(found.cells - case["ls_unit_weights"]).max() < 1e-10
    assert found.variance[0] == pytest.approx(case["ls_var_inner"], abs=1e-12)


@pytest.mark.parametrize("case", TINY)
def test_proofs_are_the_supports_of_the_enumeration(case: dict[str, Any]) -> None:
    low, high = attack(numbers_of(case, False), plan=(), programmes=8).ends
    assert np.column_stack([low[:8], high[:8]]).tolist() == case["proved_bounds_of_the_cells"]


@pytest.mark.parametrize(("case", "shared"), [(KEYED[0], True), (KEYED[2], False), (ROUNDED[0], False)])
def test_the_enumeration(case: dict[str, Any], shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few tables are listed; the chain, for more of them, is near."""
    named = "posterior_with_equal_record_sets" if shared else "posterior_independent"
    exact = attack(numbers_of(case, shared))
    assert exact.joint is not None and exact.joint.listed is not None and exact.error == 0.0
    assert farthest(exact, case[named]) < 2e-8
    monkeypatch.setattr(chain, "listed", lambda *_: None)
    name = "posterior_with_equal_record_sets" if shared else "posterior_independent"
    found = attack(numbers_of(case, shared), plan=(24_000,))
    assert found.way == "joint" and not found.left_out
    assert farthest(found, case[name]) < 0.01
    # Without the records that sums share the posterior is another one.
    if shared:
        assert farthest(found, case["posterior_independent"]) > 0.1


def beside(shared: bool) -> PublishedNumbers:
    """Two releases with noise of their own, and something believed beforehand."""
    whole = PublishedNumbers.together([numbers_of(KEYED[1], shared), numbers_of(KEYED[1], True)])
    prior = -0.3 * np.arange(31)
    return whole.believing([(0, 30, prior)], np.where(np.arange(8) < 3, 0, -1 - len(whole.laws)))


@pytest.mark.parametrize(
    "numbers",
    [
        numbers_of(KEYED[1], True),
        numbers_of(KEYED[1], False),
        beside(True),
        beside(False),
        replace(numbers_of(KEYED[1], False), variance=np.full(27, 100.0)),
    ],
    ids=["shared", "own", "two that share", "own beside shared", "wide"],
)
def test_both_forms_of_the_steps_give_the_same_bits(
    numbers: PublishedNumbers, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for form in (chain.tempered_lattice, tempered_lattice_in_python):
        monkeypatch.setattr(chain, "tempered_lattice", form)
        start = np.zeros(8, dtype=np.int64)
        found.append(chain.joint_shares(numbers, start, proved(numbers), plan=(60,)))
    compiled, slow = found
    assert compiled is not None and slow is not None and slow.tables > 0
    assert compiled.shares.tobytes() == slow.shares.tobytes()
    assert np.array_equal(compiled.kept, slow.kept) and len(compiled.kept)
    assert (compiled.r_hat, compiled.spread) == (slow.r_hat, slow.spread)


@pytest.mark.parametrize("least", [0, 10**9])
def test_chains_are_the_same_on_any_number_of_cores(least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the first chain meets no table, those after it are as if they had not run."""
    numbers = numbers_of(KEYED[1], False)
    start = np.maximum(np.rint(least_squares(numbers).cells), 0).astype(np.int64)
    met = property(lambda one: sum(n for _, n in one.batches) * (least == 0))
    monkeypatch.setattr(chain._Chain, "met", met)
    monkeypatch.setattr(chain, "listed", lambda *_: None)
    found, settle = [], chain._Chain.settle
    for cores in (1, 3):
        together = threading.Barrier(cores)

        def begun(one: Any, count: int, progress: Progress, together: threading.Barrier = together) -> None:
            together.wait(20)
            settle(one, count, progress)

        monkeypatch.setattr(chain._Chain, "settle", begun)
        with threads.at_most(cores):
            joint = chain.joint_shares(numbers, start, proved(numbers), plan=(120,))
        assert joint is not None
        found.append((joint.shares.tobytes(), joint.kept.tobytes(), joint.tables))
    assert found[0] == found[1] and (found[0][2] > 0)


def test_what_has_not_settled_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "listed", lambda *_: None)
    found = attack(numbers_of(KEYED[0], True), plan=(30,))
    assert found.joint is not None and not found.joint.settled
    assert found.way == "least_squares" and found.left_out == ("joint_noise",) and found.notes
    assert attack(numbers_of(KEYED[0], True), work=10).joint is None


@pytest.mark.parametrize("case", REFERENCE["precheck"])
def test_the_variance_before_any_draw(case: dict[str, Any]) -> None:
    axes = tuple(range(len(case["shape"])))
    every = [s for r in range(len(axes) + 1) for s in itertools.combinations(axes, r)]
    few = [axes, (), *((axis,) for axis in axes)]
    margins = [(one, float(case["V"])) for one in (every if case["published"] == "all" else few)]
    assert variance_left(case["shape"], margins) == pytest.approx(case["var_inner"], abs=1e-12)


def test_a_cell_that_two_way_tables_leave_open() -> None:
    margins = [(pair, 1.0) for pair in itertools.combinations(range(3), 2)]
    assert variance_left((4, 4, 4), margins) == math.inf
    assert math.sqrt(variance_left((4, 4, 4), margins, (0, 1))) == pytest.approx(0.878, abs=5e-4)


def test_levels_go_through_the_normal_equations() -> None:
    domain = Domain.of({"A": list("abcdefg"), "B": list("wxyz")})
    group = Grouping("G", "A", tuple("1112233"))
    publication = Publication.of(domain, [("A", "B"), ("G", "B"), ("A",), ("G",), ()], [group])
    numbers = PublishedNumbers.of(
        publication,
        np.zeros(publication.size, dtype=np.int64),
        lambda count: (count, count + 1, None),
        variance=1.0,
    )
    variance = least_squares(numbers).variance.reshape(7, 4)[:, 0]
    assert variance == pytest.approx(REFERENCE["levels"]["var_cell_by_category"], abs=1e-6)


def test_numbers_that_no_table_has_are_refused() -> None:
    numbers = numbers_of(KEYED[0], False)
    numbers.published[-1] = 100
    wrong = replace(numbers, laws=(*numbers.laws[:-1], (98, 102, None)))
    with pytest.raises(InputError, match="no original fits"):
        attack(wrong)
