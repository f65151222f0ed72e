"""Tables of sums that may be parts of one whole: what a reader of several of them works out. Confidential.

The turnover of all firms is that of the big ones and that of the small ones: who has two of the tables
subtracts. A whole, its parts and a rest that is nowhere published are one linear programme over all that is
shown: every table adds up by itself, and each cell of the whole is what the parts and the rest have there.
The rest is as good as published: its sums are judged by what is on record of who is in it. Of the table at
hand these are some of its contributors; of an earlier one nothing is on record.

Nobody has to know whether they are parts of one another: where they cannot be, no sums fit; where nothing
comes of it, it makes no difference. Only where it does is the house asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import AGAIN, InfeasibleError, RefusedError, SolverError
from tabprotect.engine.magnitudes.readers.attack_problem import AttackProblem, floors
from tabprotect.engine.magnitudes.tables.equations import Equations
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.people import People
from tabprotect.engine.protection.problem import MagnitudeProblem
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.sensitivity.magnitude_rules import judge, most_ranks
from tabprotect.engine.sensitivity.rule import CellContributions
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import joined, message, plural

NEAR = 1e-4
"""By how much a float may fall short of a whole number."""

MOST_GROUPS = 200
"""Wholes with their parts that are read."""

LISTED, FEW_OF_CELL = 100, 12
"""Sums of a whole whose contributors are tried for a part, and the most contributors that one may have."""

FEW_CHANGES = 4
"""Sums by one variable that differ, up to which a reader believes that all else is as it was."""

OWN = 0
"""The number of the release at hand among earlier ones."""

Tables = dict[int, PublishedMagnitudes]
"""Tables of sums by the numbers of their releases."""


@dataclass(frozen=True)
class SumsInCommon:
    """What a reader of a release of sums and of earlier ones works out where some are parts of others.

    Attributes
    ----------
    cells
        The hidden sums that are known, or too closely, and are not by one of the tables alone; the sums of a
        whole of which that of the rest is known and may be unsafe; and sums whose change is of few: the
        number of the release, 0 for the one at hand, and the cell.
    read
        The numbers of the earlier releases that tell them.
    asked
        The numbers of those of which the house has not said whether they are of the same.
    unread
        The numbers of those that could not be read with it.
    """

    cells: frozenset[tuple[int, int]] = frozenset()
    read: tuple[int, ...] = ()
    asked: tuple[int, ...] = ()
    unread: frozenset[int] = frozenset()

    @property
    def known(self) -> int:
        """The number of these."""
        return len(self.cells)

    @property
    def sentence(self) -> str:
        """Say what would be known; empty for nothing."""
        if not self.known:
            return ""
        return plural(
            self.known,
            "Together with no. {numbers}: {known:,} hidden sum or difference would be known or too closely.",
            "Together with no. {numbers}: {known:,} hidden sums or differences would be known or too closely.",
            joined(map(str, self.read), ", "),
            self.known,
        )

    def admit(self, rule: str, reason: str) -> None:
        """Refuse a release beside which hidden sums would be known.

        Parameters
        ----------
        rule
            What the policy says of releases that tell too much together: ``refuse``, ``reason`` or ``warn``.
        reason
            Why it is published all the same; empty for none.

        Raises
        ------
        RefusedError
        """
        reasons = rule == "reason" or bool(self.asked)
        if not self.known or rule == "warn" or (reason and reasons):
            return
        hint = message("where all of them are to leave, protect them as one table with a variable more")
        if self.asked:
            hint = message(
                "where they are of others, say so (people other:{numbers}); {hint}",
                joined(map(str, self.asked), ","),
                hint,
            )
        raise RefusedError(self.sentence.rstrip("."), hint=hint, answers=(AGAIN,) if reasons else ())


class Joint:
    """A whole and parts of it as one programme over all that is shown.

    Parameters
    ----------
    whole, parts
        Numbers of tables; no parts for the whole alone.
    least
        What no sum is below.

    Raises
    ------
    InfeasibleError
        If no sums fit: they are no parts of the whole.
    """

    def __init__(self, tables: Tables, whole: int, parts: Sequence[int], least: float = 0.0) -> None:
        from tabprotect.engine.solver import Entries, TableProgramme

        self.tables = {number: tables[number] for number in (whole, *parts)}
        self.equations = {n: Equations.of(t.variables, t.key, t.nodes) for n, t in self.tables.items()}
        sizes = [len(table.key) for table in self.tables.values()]
        self.start = dict(zip(self.tables, np.cumsum([0, *sizes]).tolist(), strict=False))
        rows: list[Ints] = []
        columns: list[Ints] = []
        signs: list[Floats] = []
        self._rows = 0

        def add(row: Ints, column: Ints, sign: Floats) -> None:
            rows.append(row + self._rows)
            columns.append(column)
            signs.append(sign)
            self._rows += int(row.max(initial=-1)) + 1

        low = np.full(sum(sizes), least)
        high = np.full(sum(sizes), np.inf)
        for number, table in self.tables.items():
            sums = self.equations[number]
            place = sums.same + self.start[number]
            shown = np.flatnonzero(~table.hidden)
            low[place[shown]] = high[place[shown]] = table.value[shown]
            each = np.arange(len(sums))
            row = np.concatenate([np.repeat(each, np.diff(sums.start)), each])
            sign = np.repeat([1.0, -1.0], [len(sums.child), len(sums.parent)])
            add(row, np.concatenate([place[sums.child], place[sums.parent]]), sign)
        if parts:
            found = self._held_together(whole, parts)
            rest = len(low) + np.arange(len(found))
            low, high = (
                np.append(end, np.full(len(found), to)) for end, to in ((low, least), (high, np.inf))
            )
            for column, members in zip(rest.tolist(), found, strict=True):
                own = [(self._column(n, cell), 1.0 if n == whole else -1.0) for n, cell in members]
                own.append((column, -1.0))
                at, signed = zip(*own, strict=True)
                add(np.zeros(len(at), dtype=np.int64), np.array(at), np.array(signed))
        self._ends = low, high
        zeros = np.zeros(self._rows)
        places = np.concatenate(rows), np.concatenate(columns), np.concatenate(signs)
        self.model = TableProgramme(Entries.at(*places, len(low)), sums=(zeros, zeros), cells=(low, high))
        self.model.optimise(np.zeros(0, dtype=np.int64), "max")

    def _column(self, number: int, cell: int) -> int:
        return int(self.start[number] + self.equations[number].same[cell])

    def _held_together(self, whole: int, parts: Sequence[int]) -> list[list[tuple[int, int]]]:
        """The cells of each combination of the categories that all have, by table; those without records
        are left out."""
        axes = shared_axes([self.tables[number] for number in (whole, *parts)])
        if axes is None:
            raise InfeasibleError(message("the tables have no categories in common"))
        self._inner = [list(dict.fromkeys(label for own in axis for label in own)) for axis in axes.values()]
        # Nodes of other levels besides: sums of the rest follow there, too.
        self._axes = {
            name: [
                {label: node for level in _levels(_variable(table, name)) for label, node in level.items()}
                | own
                for table, own in zip(self.tables.values(), axis, strict=True)
            ]
            for name, axis in axes.items()
        }
        return [list(own.items()) for own in self.inner()]

    def inner(self) -> Iterator[dict[int, int]]:
        """The cell of each table at each combination of the categories that all have."""
        yield from filter(None, map(self._cells_of, product(*self._inner)))

    def _cells_of(self, labels: Sequence[str | None]) -> dict[int, int]:
        """The cell of each table at some categories, ``None`` for all; of tables without records there none."""
        wanted = dict(zip(self._axes, labels, strict=True))
        found = {}
        for place, (number, table) in enumerate(self.tables.items()):
            nodes = [
                len(v.nodes) - 1
                if (label := wanted.get(v.name)) is None
                else self._axes[v.name][place].get(label)
                for v in table.variables
            ]
            cell = None if None in nodes else table.at_nodes([node for node in nodes if node is not None])
            if cell is not None:
                found[number] = cell
        return found

    def of_rest(self) -> Iterator[tuple[dict[int, int], float, float]]:
        """The sums and totals of who is in the whole and in none of its parts: the cell of each table, the least
        and the most that it may be."""
        whole = next(iter(self.tables))
        labels_of = [
            [None, *dict.fromkeys([*inner, *sorted(set(each[0]).intersection(*each))])]
            for inner, each in zip(self._inner, self._axes.values(), strict=True)
        ]
        for labels in product(*labels_of):
            cells = self._cells_of(labels)
            if whole not in cells:
                continue
            cost = np.zeros(self.model.columns)
            for number, cell in cells.items():
                cost[self._column(number, cell)] = 1.0 if number == whole else -1.0
            if any(self.tables[number].hidden[cell] for number, cell in cells.items()):
                ends = [self.model.weighted(cost, sense).value for sense in ("min", "max")]
                yield cells, float(ends[0] or 0.0), np.inf if ends[1] is None else float(ends[1])
            else:
                signed = ((1 if n == whole else -1) * int(self.tables[n].value[c]) for n, c in cells.items())
                shown = float(sum(signed))
                yield cells, shown, shown

    def most(self, number: int, cell: int, held: dict[int, tuple[float, float]], limit: float) -> float:
        """The largest that a sum may be, or enough of it.

        Parameters
        ----------
        held
            What is known besides of cells of the table: the least and the most.
        """
        column = self._column(number, cell)
        ends = {self._column(number, at): end for at, end in held.items()}
        ends.setdefault(column, (float(self._ends[0][column]), float(self._ends[1][column])))
        low, high = ends[column]
        ends[column] = low, min(high, limit)
        at = np.array(sorted(ends), dtype=np.int64)
        low_ends, high_ends = (np.array([ends[one][k] for one in at.tolist()]) for k in (0, 1))
        low_ends = np.maximum(low_ends, self._ends[0][at])
        high_ends = np.minimum(high_ends, self._ends[1][at])
        with self.model.held(at, low_ends, high_ends):
            found = self.model.optimise(np.array([column]), "max").value
        return 0.0 if found is None else float(found)

    def ends(self, number: int, cell: int, limit: float) -> tuple[float, float]:
        """The least and the most that a sum may be."""
        column = np.array([self._column(number, cell)])
        least = self.model.optimise(column, "min").value
        return float(least or 0.0), self.most(number, cell, {}, limit)


def shared_axes(tables: Sequence[PublishedMagnitudes]) -> dict[str, list[dict[str, int]]] | None:
    """The categories that tables share: by variable, for each table the node of each; ``None`` for none.

    The finest level of each at which those of the later tables are among those of the first, or the other way
    round.
    """
    found = {}
    for variable in tables[0].variables:
        if any(variable.name not in {v.name for v in table.variables} for table in tables):
            continue
        levels = [list(_levels(_variable(table, variable.name))) for table in tables]
        for chosen in sorted(product(*(range(len(one)) for one in levels)), key=sum):
            nodes = [one[depth] for one, depth in zip(levels, chosen, strict=True)]
            first = set(nodes[0])
            if all(first <= set(one) or set(one) <= first for one in nodes[1:]):
                found[variable.name] = nodes
                break
    return found or None


def _variable(table: PublishedMagnitudes, name: str) -> Variable:
    return next(variable for variable in table.variables if variable.name == name)


def _levels(variable: Variable) -> Iterator[dict[str, int]]:
    """The node of each category of a variable, and of each group of the levels above, level by level."""
    for row in variable.depths[:-1]:
        yield {variable.nodes[node][1]: int(node) for node in dict.fromkeys(row.tolist())}


@dataclass(frozen=True, eq=False)
class SumsReading:
    """A release of sums, and how earlier ones are read with it.

    Attributes
    ----------
    problem
        With the contributions and the rules.
    own
        What is published of it.
    people
        What the house has said of who is counted.
    """

    problem: MagnitudeProblem
    own: PublishedMagnitudes
    people: People
    progress: Progress = SILENT

    def of(self, earlier: Iterable[tuple[int, PublishedMagnitudes]]) -> SumsInCommon:
        """Read earlier tables of sums, by the numbers of their releases."""
        tables: Tables = {OWN: self.own} | {
            number: table
            for number, table in earlier
            if self.people.of(number) != "same"
            and (table.measure, table.decimals) == (self.own.measure, self.own.decimals)
        }
        apart = {number for number in tables if number != OWN and self.people.of(number) == "other"}
        moved_on = {number for number in tables if self.people.of(number) in ("corrected", "later")}
        # Wholes of which nobody is left over.
        complete: set[int] = set()
        known: set[tuple[int, int]] = set()
        read: set[int] = set()
        unread: set[int] = set()
        for number, table in tables.items():
            if number in {OWN, *apart} or self.people.of(number) == "part":
                continue
            if moved := self._placed(table):
                known |= {(OWN, cell) for cell in moved}
                read.add(number)
        for count, (whole, parts) in enumerate(_groups(tables, apart)):
            numbers = {whole, *parts} - {OWN}
            if count >= MOST_GROUPS:
                unread |= numbers
                continue
            try:
                joint = Joint(tables, whole, parts, self._least)
                found = self._known(tables, joint)
                if not numbers & moved_on and whole not in complete and self._may_hold(joint, whole, parts):
                    rests = list(joint.of_rest())
                    # The total comes first.
                    complete |= {whole} if rests[0][2] < 0.5 else set()
                    found |= {(whole, cell) for cell in self._of_rest(rests, whole)}
            except SolverError:
                unread |= numbers
                continue
            except InfeasibleError:
                # They are no parts of it.
                continue
            if found:
                known |= found
                read |= numbers
        asked = sorted(number for number in read if self.people.of(number) is None)
        return SumsInCommon(frozenset(known), tuple(sorted(read)), tuple(asked), frozenset(unread - read))

    def _may_hold(self, joint: Joint, whole: int, parts: Sequence[int]) -> bool:
        """Return False if a part whose people are not said shows a sum that some contributors of the whole do not
        add up to; of an earlier whole they are not on record."""
        table = self.problem.table
        own: dict[int, dict[int, int]] = {}
        if whole != OWN or not parts or table.weighted or table.largest is not None:
            return bool(parts)
        for cells in joint.inner():
            if OWN in cells and len(own) < LISTED:
                own[cells[OWN]] = cells
        places = np.array(sorted(own), dtype=np.int64)
        listing = table.listing_of(places)
        for number, cells in enumerate(own[place] for place in places.tolist()):
            values = listing.own[listing.of(number)]
            if len(values) > FEW_OF_CELL:
                continue
            sums = np.zeros(1, dtype=np.int64)
            for value in values.tolist():
                sums = np.concatenate([sums, sums + value])
            for part in parts:
                cell = cells.get(part)
                if self.people.of(part) is not None or cell is None or joint.tables[part].hidden[cell]:
                    continue
                if joint.tables[part].value[cell] not in sums:
                    return False
        return True

    def _of_rest(self, rests: Iterable[tuple[dict[int, int], float, float]], whole: int) -> Iterator[int]:
        """The sums of a whole of which that of the rest is known, or too closely, and may be unsafe."""
        for cells, least, most in rests:
            known = most >= 0.5 and most - least < max(0.5, self._share * most)
            if known and not (whole == OWN and self._safe_of_some(cells[OWN], int(most + 0.5))):
                yield cells[whole]

    @cached_property
    def _contributions(self) -> CellContributions:
        return self.problem.table.judged(most_ranks(self.problem.rules), self.problem.weights)

    def _safe_of_some(self, cell: int, total: int) -> bool:
        """Return True if every part of the contributors of a sum that has a total is safe: no contribution of it is
        larger than the largest of them all."""
        every = self._contributions
        top = every.top[cell : cell + 1]
        fewest = -(-total // max(int(top[0, 0]), 1))
        some = CellContributions(
            np.array([total]),
            top,
            np.array([fewest]),
            every.asked[cell : cell + 1],
            every.waived[cell : cell + 1],
        )
        return not self._least and not judge(self.problem.rules, some).unsafe[0]

    def _placed(self, earlier: PublishedMagnitudes) -> set[int]:
        """The sums by one variable that differ from earlier ones, where they are few and most are the same: who
        knows of whom one figure was mended, or who came or went, knows it by the difference."""
        axes = shared_axes([self.own, earlier]) or {}
        found: set[int] = set()
        for name, (mine, theirs) in axes.items():
            cells, same = set[int](), 0
            for label in mine.keys() & theirs.keys():
                at, before = (
                    _sum_of(table, name, nodes[label])
                    for table, nodes in ((self.own, mine), (earlier, theirs))
                )
                if at is None or before is None:
                    continue
                if self.own.value[at] == earlier.value[before]:
                    same += 1
                else:
                    cells.add(at)
            if len(cells) > min(FEW_CHANGES, same):
                return set()
            found |= cells
        return found

    @cached_property
    def _least(self) -> float:
        return -np.inf if self.problem.table.signed else 0.0

    @cached_property
    def _puzzle(self) -> AttackProblem:
        return AttackProblem(self.problem.table, self.problem.rules, self.problem.weights)

    @cached_property
    def _share(self) -> float:
        """How near another's contribution may not be known, as a share of it."""
        return max(
            (float(rule.numbers[0]) / 100 for rule in self.problem.rules if rule.name == "p"), default=0
        )

    def _known(self, tables: Tables, joint: Joint) -> set[tuple[int, int]]:
        """The hidden sums, by table and cell, that are known together and by no table alone."""
        found = set()
        for number, table in joint.tables.items():
            alone = Joint(tables, number, (), self._least)
            if number == OWN:
                found |= {(OWN, cell) for cell in self._too_near(joint, alone)}
                continue
            for cell in np.flatnonzero(table.hidden).tolist():
                if self._narrow(joint, number, cell) and not self._narrow(alone, number, cell):
                    found.add((number, cell))
        return found

    def _narrow(self, joint: Joint, number: int, cell: int) -> bool:
        """Return True if somebody who knows a part of a sum would know the rest too closely."""
        least, most = joint.ends(number, cell, 1e15)
        return most - least < max(0.5, self._share * most)

    def _too_near(self, joint: Joint, alone: Joint) -> set[int]:
        """The unsafe sums of the release at hand to which contributors, or others, come too near."""
        from tabprotect.engine.magnitudes.readers.audit import Audit

        hidden, puzzle = self.own.hidden, self._puzzle
        unsafe = self.problem.unsafe & hidden
        value = puzzle.value
        found = set()
        for item in Audit(puzzle, unsafe, every=False, most=int(unsafe.sum())).items(hidden):
            if item.cell in found:
                continue
            held = {
                cell: (float(own), float(value[cell]) if one else np.inf)
                for cell, (own, one) in floors(puzzle, item.reader, hidden).items()
            }
            limit = float(value[item.cell]) + max(1.0, 2.0 * item.need)
            wanted = float(value[item.cell]) + item.need - NEAR
            if joint.most(OWN, item.cell, held, limit) < wanted <= alone.most(OWN, item.cell, held, limit):
                found.add(item.cell)
        return found


def _sum_of(table: PublishedMagnitudes, name: str, node: int) -> int | None:
    """The cell of a sum by one variable; ``None`` where it is hidden, or has no records."""
    cell = table.at_nodes([node if v.name == name else len(v.nodes) - 1 for v in table.variables])
    return None if cell is None or table.hidden[cell] else int(cell)


def _groups(tables: Tables, apart: Collection[int]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Wholes with one or two parts, the release at hand in each: those that add up first.

    Tables of other people may be parts of a whole beside it.
    """
    others = [number for number in tables if number != OWN]
    near = [number for number in others if number not in apart]
    found: list[tuple[int, tuple[int, ...]]] = [(OWN, some) for some in combinations(near, 2)]
    for number in near:
        found += [(OWN, (number,)), (number, (OWN,))]
        found += [(number, (OWN, other)) for other in others if other != number]
    total = {number: _total(table) for number, table in tables.items()}

    def rest(group: tuple[int, tuple[int, ...]]) -> float:
        whole, parts = group
        ends = total[whole], *(total[part] for part in parts)
        return 0.0 if None in ends else float(ends[0] or 0) - sum(float(end or 0) for end in ends[1:])

    yield from sorted((one for one in found if rest(one) >= 0), key=rest)


def _total(table: PublishedMagnitudes) -> int | None:
    """The grand total; ``None`` where it is hidden."""
    last = int(table.key.argmax())
    return None if table.hidden[last] else int(table.value[last])
