"""What sums that are released together give away, against every reader's own programme."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
import pytest
from magnitude_cases import Rows, drawn, table_of
from scipy.optimize import linprog

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.optimal.best_release import optimal
from tabprotect.engine.query_space.registered import criteria, gathered_sums, standard
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.sums.sum_criterion import SumCriterion
from tabprotect.engine.query_space.sums.sum_evidence import SumEvidence
from tabprotect.engine.sensitivity.rule import CellContributions

SHAPE = (3, 3)
RELEASES = [(0,), (1,), (2,), (1, 2), (3,)]
"""The grand total, rows, columns, both, and the table: bit 0 is the row."""


class Reader(NamedTuple):
    """A reader of one release: the sums he sees, and what each has put in."""

    rows: Rows
    released: tuple[int, ...]
    who: str | None

    def most(self, cells: list[tuple[int, int]]) -> float:
        """The largest sum that some cells can have for him."""
        held = sorted({(i, j) for i, j, _ in self.rows})
        value = {cell: sum(v for (i, j, _), v in self.rows.items() if (i, j) == cell) for cell in held}
        groups = {frozenset(held)}
        for query in self.released:
            for i, j in held:
                same = [c for c in held if (not query & 1 or c[0] == i) and (not query & 2 or c[1] == j)]
                groups.add(frozenset(same))
        sums = [[float(cell in group) for cell in held] for group in groups]
        ends = []
        for cell in held:
            mine = self.rows.get((*cell, self.who or ""), 0)
            others = {h for i, j, h in self.rows if (i, j) == cell} - {self.who}
            ends.append((mine, None if others else mine))
        right = [sum(value[cell] for cell in group) for group in groups]
        found = linprog([-float(cell in cells) for cell in held], A_eq=sums, b_eq=right, bounds=ends)
        assert found.status == 0
        return float(-found.fun)

    def learns(self, p: int) -> bool:
        """Whether he comes within p % of what another put into any sum of the table."""
        held = sorted({(i, j) for i, j, _ in self.rows})
        groups = [held, *([c for c in held if c[axis] == n] for axis in (0, 1) for n in range(3))]
        for cells in [*groups, *([cell] for cell in held)]:
            inside: dict[str, int] = {}
            for (i, j, holding), value in self.rows.items():
                if (i, j) in cells:
                    inside[holding] = inside.get(holding, 0) + value
            mine = inside.pop(self.who or "", 0)
            if not inside:
                continue
            if (self.most(cells) - mine) * 100 < (100 + p) * max(inside.values()) - 1e-6:
                return True
        return False


def evidence(rows: Rows, name: str = "p") -> SumEvidence:
    """The sums of rows by a criterion."""
    found = gathered_sums(table_of(rows, SHAPE), name)
    assert isinstance(found, SumEvidence)
    return found


def small(seed: int) -> Rows:
    """Some contributions to a table of nine cells."""
    rows = drawn(seed, SHAPE)
    kept = np.random.default_rng(seed).permutation(len(rows))[:14].tolist()
    return {key: value for at, (key, value) in enumerate(rows.items()) if at in kept}


@pytest.mark.parametrize(("seed", "insiders"), [(0, False), (1, True)])
def test_the_p_rule_of_a_release_is_that_of_every_reader(seed: int, insiders: bool) -> None:
    rows = small(seed)
    names = {holding for _, _, holding in rows}
    differs = False
    for released in RELEASES:
        for p in (5, 40):
            judged = standard(evidence(rows), p).judge(released, decide_only=True)
            outside = Reader(rows, released, None).learns(p)
            learns = outside or any(Reader(rows, released, one).learns(p) for one in names)
            assert (judged.verdict == "bad") == learns, (released, p)
            differs |= learns != outside
    # Outsiders alone would have found less.
    assert differs == insiders


@pytest.mark.parametrize("name", ["p", "dominance", "n"])
@pytest.mark.parametrize("seed", range(3))
def test_the_figure_is_the_largest_number_with_which_the_rule_holds(name: str, seed: int) -> None:
    found = evidence(small(seed), name)
    for released in RELEASES:
        figure = standard(found, 3, name).judge(released).width
        if figure == 100:
            continue
        verdicts = [standard(found, t, name).judge(released).verdict for t in (figure, figure + 1)]
        assert verdicts == ["safe", "bad"]
        # Monotone: whoever has more sees no less.
        assert figure <= standard(found, 3, name).judge((0,)).width


@pytest.mark.parametrize("name", ["p", "dominance", "n"])
def test_figures_of_sums_by_themselves_are_those_of_the_rules(name: str) -> None:
    generator = np.random.default_rng(1)
    top = np.sort(generator.integers(0, 50, size=(400, 3)), axis=1)[:, ::-1]
    total = top.sum(axis=1) + generator.integers(0, 40, size=400) * (top[:, 2] > 0)
    cells = CellContributions.ranked(total, top, (top > 0).sum(axis=1))
    criterion = criteria()[name]
    assert isinstance(criterion, SumCriterion)
    figures = np.where(cells.nonzero > 0, criterion.figures(cells), 100)
    for threshold in (1, 2, 3, 10, 25, 60, 100):
        assert np.array_equal(figures < threshold, criterion.rule(threshold).unsafe(cells)), threshold


def test_the_difference_of_two_margins_is_found() -> None:
    # Rows alone are safe, and so are columns; together they give the cell that is alone in both.
    rows: Rows = {(0, 0, "a"): 50, (1, 1, "b"): 30, (1, 1, "c"): 28, (1, 1, "d"): 20, (1, 1, "e"): 22}
    rows = {**rows, (0, 1, "f"): 40, (0, 1, "g"): 42, (0, 1, "h"): 44}
    rows = {**rows, (1, 0, "k"): 61, (1, 0, "l"): 60, (1, 0, "m"): 62}
    state = ReleaseSet.begin(standard(evidence(rows), 10), released=[1])
    assert state.judgement.verdict == "safe"
    tight = standard(evidence(rows), 10).judge((3,)).tight
    assert [cell.text for cell in tight] == ["r=0, c=0"]
    assert tight[0].as_json() == {"cell": "r=0, c=0", "value": 50, "lower": 50, "upper": 50}


def test_searches_find_releases_of_sums() -> None:
    rows = drawn(4, (4, 4))
    found = gathered_sums(table_of(rows, (4, 4)), "n")
    whole = [
        released
        for released in chain(combinations((1, 2), 1), [(1, 2)], [(3,)])
        if standard(found, 3, "n").judge(released).verdict == "safe"
    ]
    largest = max(whole, key=lambda one: len({q & m for q in one for m in range(4)}))
    plan = optimal(standard(found, 3, "n"), "exhaustive")
    assert tuple(plan.released.members) == largest
    assert optimal(standard(found, 3, "n"), "heuristic").judgement.verdict == "safe"


def test_what_does_not_fit_is_refused_by_name() -> None:
    found = evidence(small(1))
    with pytest.raises(ParameterError, match="judges counts, and the table holds sums"):
        standard(found, 3, "width")
    with pytest.raises(ParameterError, match="programmes alone"):
        standard(found, 3, bounds="shuttle")
    with pytest.raises(ParameterError, match="at most 100"):
        standard(found, 101)
    with pytest.raises(InputError, match="the criterion judges sums"):
        criteria()["p"].judge(Evidence(found.cells, found.widths), (0,), 3)


def test_bounds_of_an_outsider_are_the_programmes_own() -> None:
    rows = small(2)
    found = evidence(rows)
    held = sorted({(i, j) for i, j, _ in rows})
    cells = np.flatnonzero(found.queries == 3)
    nodes = found.sums.cells.nodes[:, cells].T.tolist()
    _, high = found.bounds((1, 2), cells)
    for (i, j), most in zip(nodes, high.tolist(), strict=True):
        assert (i, j) in held
        assert most == pytest.approx(Reader(rows, (1, 2), None).most([(i, j)]))
    assert Fraction(int(found.bounds((3,), cells)[0][0])) == int(found.sums.cells.value[cells[0]])
