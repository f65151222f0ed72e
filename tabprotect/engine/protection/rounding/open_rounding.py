"""Rounding by open book: letters and totals are drawn by a public law, and the rest looks at these alone.

Every count of the finest published table gets a letter: with chance *gamma* it may go either way,
else it goes down or up like a count that is rounded at random. Every sum that is drawn is rounded
at random, too. Which way the counts go that may go either way is settled by an integer programme
that sees letters and drawn totals, never a count: what it does tells nothing. So the chance of a
release is a product, of each letter given its count and of each drawn total given its sum, however
the programme was solved.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.budgets import DENSE_LIMIT
from tabprotect.engine.equal_rows import equal_rows
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.published_margins import Support, counts_of
from tabprotect.engine.protection.subtables import publication_of
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.release import Release
from tabprotect.engine.solver import Entries, Limit, TableProgramme
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

OPEN, NEAREST = "open", "nearest"
"""Choices that several methods of rounding have."""

LETTERS, DRAWN_TOTALS = "letters", "drawn_totals"
"""Disclosed by the run: a letter for each count of the finest table, and the drawn totals in the
order in which the sums are published."""

FIXED, DOWN, UP = "f", "e", "E"
"""Letters: not between two ways; may have gone either way, and went down or up."""

THREE_WAYS, FEW, TWO_WAYS_FEW = 3, 13, 3
"""Variables from which on totals of few counts are not drawn, how many are not few, and of fewer variables."""

EITHER = 0.4
"""The chance that a count may be rounded either way, where none is given."""

BEYOND = 3
"""Cost of a unit by which a published total is further than the base from the drawn one."""

NODES, GAP = 100, 0.01
"""Branch-and-bound nodes, and the share of the cost, after which the best way so far is taken."""

MOST_LETTERS = 2**20
"""Most counts that are given letters."""

GAMMA: Parameter[float | None] = Parameter(
    "gamma",
    message("Either way"),
    message(
        "With choice=open, the chance that a count may be rounded either way, as totals need it ({EITHER} if "
        "not given). More keeps totals nearer, and tells of more counts that they are between multiples.",
        EITHER,
    ),
    "real",
    low=0,
    high=1,
    unit=message("probability"),
    may_be_unstated=True,
)

LEAST: Parameter[int | None] = Parameter(
    "least",
    message("Drawn totals from"),
    message(
        "With choice=open, totals of fewer counts than this are not drawn, so that they follow from "
        "their counts; if not given {TWO_WAYS_FEW} in tables of two variables, else {FEW}.",
        TWO_WAYS_FEW,
        FEW,
    ),
    "integer",
    low=1,
    high=1_000_000,
    may_be_unstated=True,
)


class Choosing(Method):
    """A method of rounding that may go by open book.

    Attributes
    ----------
    only_nearest
        Names of parameters that mean something to another choice alone.
    """

    only_nearest: ClassVar[tuple[str, ...]] = ()

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> Values:
        """Complete the choice, which is open where it can be; what a run states of its draw is let through.

        Raises
        ------
        ParameterError
            For a parameter of another choice, or an open one of tables that do not all follow from one.
        """
        given = {name: value for name, value in given.items() if name not in (LETTERS, DRAWN_TOTALS)}
        values = super().resolve(domain, given)
        defaults = {p.name: p.default for p in self.parameters}
        asked = [name for name in self.only_nearest if values[name] != defaults[name]]
        held = finest(publication_of(domain, values)) is not None
        if values["choice"] == OPEN and "choice" not in given and (asked or not held):
            values |= {"choice": NEAREST}
        if values["choice"] != OPEN:
            asked = [name for name in (GAMMA.name, LEAST.name) if values[name] != defaults[name]]
            hint = message("leave it out, or take choice=open")
        else:
            hint = message("leave it out, or take choice=nearest")
        wrong = {name: message("it is for another choice than {choice}", values["choice"]) for name in asked}
        if values["choice"] == OPEN:
            if not held:
                wrong["choice"] = message(
                    "open book publishes one table from which all others follow, of at most {most:,} cells",
                    MOST_LETTERS,
                )
                hint = message("name one such table in margins, or take choice=nearest")
            usual = {GAMMA.name: EITHER, LEAST.name: FEW if domain.ndim >= THREE_WAYS else TWO_WAYS_FEW}
            values |= {name: value for name, value in usual.items() if values[name] is None}
        if wrong:
            raise ParameterError(wrong, hint=hint)
        return values

    @abstractmethod
    def book(self, domain: Domain, values: Values) -> OpenBook:
        """The laws and the programme of resolved values whose choice is open."""

    def made_again(self, release: Release, progress: Progress = SILENT) -> bool | None:
        """By open book, settle again the counts that may go either way."""
        values = self.resolve(release.domain, {"choice": NEAREST, **release.mechanism.parameters})
        if values["choice"] != OPEN:
            return None
        return self.book(release.domain, values).settles_so(release, progress)

    def alternatives(self, domain: Domain, values: Values) -> tuple[tuple[str, Mapping[str, object]], ...]:
        """Fewer drawn totals by open book: each says a little of every count behind it."""
        least = values.get(LEAST.name)
        if values.get("choice") != OPEN or not isinstance(least, int) or least >= domain.size:
            return ()
        more = FEW if least < FEW < domain.size else domain.size
        return ((message("Draw only totals of {more:,} and more counts", more), {LEAST.name: more}),)


def finest(publication: Publication) -> int | None:
    """The number of the published table from which all others follow; ``None`` if there is none."""
    found = publication.maximal()
    if len(found.margins) > 1 or publication.domain.size > DENSE_LIMIT:
        return None
    number = publication.margins.index(found.margins[0])
    return number if publication.domains[number].size <= MOST_LETTERS else None


@dataclass(frozen=True, eq=False)
class OpenBook:
    """The laws of letters and drawn totals of one publication.

    Attributes
    ----------
    publication
        One of its tables, number ``finest``, holds all others.
    base
    most
        The largest count that is rounded; ``None`` for all.
    gamma
        The chance that a count between multiples may go either way.
    least
        The fewest counts behind a total that is drawn.
    nodes
        Branch-and-bound nodes after which the best way found to settle the counts is taken.
    """

    publication: Publication
    finest: int
    base: int
    most: int | None
    gamma: float
    least: int
    nodes: int = NODES

    @classmethod
    def of(cls, domain: Domain, values: Values, base: int, most: int | None, nodes: int = NODES) -> OpenBook:
        """Return that of a method's resolved values."""
        publication = publication_of(domain, values)
        number = finest(publication)
        assert number is not None
        gamma, least = values[GAMMA], values[LEAST]
        assert gamma is not None and least is not None
        return cls(publication, number, base, most, gamma, least, nodes)

    @cached_property
    def _place(self) -> slice:
        starts = self.publication.starts
        return slice(int(starts[self.finest]), int(starts[self.finest + 1]))

    @cached_property
    def keys(self) -> Ints:
        """The published number that each count of the finest table adds into, int64 (tables, counts)."""
        publication = self.publication
        every = publication.keys(self.finest)
        inner = np.zeros(publication.domains[self.finest].size, dtype=np.int64)
        inner[every] = np.arange(len(every))
        margins = range(len(publication.margins))
        return np.array([publication.keys(m, inner) + publication.starts[m] for m in margins])

    @cached_property
    def drawn(self) -> Ints:
        """The published numbers that are drawn totals, int64 (totals,): no two of the same counts."""
        cells, inverse = self.publication.distinct
        behind = np.bincount(self.keys.reshape(-1), minlength=self.publication.size)
        single = np.zeros(len(cells), dtype=np.bool_)
        single[inverse[self._place]] = True
        return cells[~single & (behind[cells] >= self.least)]

    def between(self, counts: Ints) -> Bools:
        """Return which counts are rounded."""
        small = True if self.most is None else counts <= self.most
        return (counts % self.base > 0) & small

    def letters(self, counts: Ints, generator: np.random.Generator) -> tuple[Ints, Bools]:
        """Draw letters for counts of the finest table.

        Returns
        -------
        int64 (counts,), bool (counts,)
            Each count as it is published if it goes down where it may go either way; which may.
        """
        between = self.between(counts)
        either = (generator.random(len(counts)) < self.gamma) & between
        rest = np.where(between, counts % self.base, 0)
        up = (generator.integers(0, self.base, len(counts)) < rest) & ~either
        return counts - rest + self.base * up, either

    def totals(self, sums: Ints, generator: np.random.Generator) -> Ints:
        """Round the drawn ones of all published numbers (size,) at random."""
        true = sums[self.drawn]
        rest = true % self.base
        return true - rest + self.base * (generator.integers(0, self.base, len(true)) < rest)

    def settled(self, letters: tuple[Ints, Bools], totals: Ints, progress: Progress = SILENT) -> Ints:
        """The counts of the finest table as published: a function of letters and drawn totals.

        The sum over the drawn totals of how far the published one is from it is kept small, and
        what is further than the base counts three times.
        """
        down, either = letters
        places = np.flatnonzero(either)
        if not len(places) or not len(totals):
            return down
        row = np.full(self.publication.size, -1, dtype=np.int64)
        row[self.drawn] = np.arange(len(totals))
        sums = np.bincount(self.keys.reshape(-1), np.tile(down, len(self.keys)), self.publication.size)
        missing = totals - np.rint(sums[self.drawn]).astype(np.int64)
        entries = row[self.keys[:, places]]
        start = _in_turn(entries, missing, self.base)
        kept = entries >= 0
        column = np.broadcast_to(np.arange(len(places)), entries.shape)
        each = np.arange(len(totals))
        slack = [(len(places) + k * len(totals) + each, sign) for k, sign in enumerate((-1, 1, -1, 1))]
        model = TableProgramme(
            Entries.at(
                np.concatenate([entries[kept], *([each] * 4)]),
                np.concatenate([column[kept], *(columns for columns, _ in slack)]),
                np.concatenate(
                    [np.full(int(kept.sum()), self.base), *(np.full(len(each), s) for _, s in slack)]
                ),
                len(places) + 4 * len(totals),
            ),
            sums=(missing, missing),
            cells=(
                np.zeros(len(places) + 4 * len(totals)),
                np.concatenate(
                    [
                        np.ones(len(places)),
                        np.full(2 * len(totals), self.base),
                        np.full(2 * len(totals), np.inf),
                    ]
                ),
            ),
            integral=True,
        )
        cost = np.repeat([0.0, 1.0, BEYOND], [len(places), 2 * len(totals), 2 * len(totals)])
        left = missing - self.base * np.bincount(
            entries[kept], np.broadcast_to(start, entries.shape)[kept], len(totals)
        ).astype(np.int64)
        near = np.minimum(np.abs(left), self.base)
        over, under = left < 0, left > 0
        far = np.abs(left) - near
        point = np.concatenate([start, near * over, near * under, far * over, far * under])
        found = model.weighted(
            cost,
            start=point,
            limit=Limit(self.nodes, gap=GAP),
            progress=progress,
            stage=message(
                "settling {places:,} counts by {totals:,} totals, at most {nodes:,} nodes",
                len(places),
                len(totals),
                self.nodes,
            ),
        )
        up = start if found.value is None else np.rint(found.point[: len(places)]).astype(np.int64)
        out = down.copy()
        out[places] += self.base * up
        return out

    def added_up(self, finest: Ints) -> tuple[Table, ...]:
        """All published tables, from the counts of the finest one."""
        numbers = np.bincount(self.keys.reshape(-1), np.tile(finest, len(self.keys)), self.publication.size)
        return self.publication.tables(np.rint(numbers).astype(np.int64))

    def draw(
        self, table: Table, generator: np.random.Generator, progress: Progress = SILENT
    ) -> tuple[tuple[Table, ...], dict[str, object]]:
        """Draw the published tables of an original, and what is disclosed of them."""
        sums = self.publication.added_up(table)
        down, either = self.letters(sums[self._place], generator)
        totals = self.totals(sums, generator)
        finest = self.settled((down, either), totals, progress)
        word = np.where(either, np.where(finest > down, UP, DOWN), FIXED)
        return self.added_up(finest), {LETTERS: "".join(word), DRAWN_TOTALS: totals.tolist()}

    def likelihood(self, release: Release) -> CellFactors:
        """The product of the laws of letters and drawn totals.

        Raises
        ------
        InputError
            If the release states none, or some that no original has.
        """
        publication = self.publication
        letters, totals = self._stated(release.mechanism.parameters)
        finest = counts_of(release, publication)[self._place]
        starts, inner = publication.behind(
            np.concatenate([np.arange(self._place.start, self._place.stop), self.drawn])
        )
        behind = np.diff(starts)
        drawn = np.repeat([0, 1], [len(finest), len(totals)])
        values = np.concatenate([finest, totals])
        codes = np.concatenate([letters, np.zeros(len(totals), dtype=np.int64)])
        there = behind > 0
        first, kind = equal_rows([values[there], codes[there], drawn[there]])
        at = np.flatnonzero(there)[first]
        kinds = [
            _total(int(values[k]), self.base) if drawn[k] else self._count(int(values[k]), chr(codes[k]))
            for k in at.tolist()
        ]
        starts = np.concatenate([[0], np.cumsum(behind[there])]).astype(np.int64)
        return CellFactors.of(publication.domain, release.tables, (starts, inner), kind, kinds)

    def settles_so(self, release: Release, progress: Progress = SILENT) -> bool:
        """Return whether the programme, given stated letters and totals, makes the published counts."""
        codes, totals = self._stated(release.mechanism.parameters)
        counts = counts_of(release, self.publication)[self._place]
        down = counts - self.base * (codes == ord(UP))
        return np.array_equal(self.settled((down, codes != ord(FIXED)), totals, progress), counts)

    def _stated(self, parameters: Mapping[str, object]) -> tuple[Ints, Ints]:
        """The codes of the letters and the drawn totals that a mechanism states."""
        for name in (GAMMA.name, LEAST.name):
            if name not in parameters:
                raise InputError(
                    message('the mechanism does not state "{name}"', name),
                    hint=message("take the mechanism that came with the tables"),
                )
        letters, totals = parameters.get(LETTERS), parameters.get(DRAWN_TOTALS)
        size = self._place.stop - self._place.start
        if not isinstance(letters, str) or len(letters) != size or set(letters) - {FIXED, DOWN, UP}:
            raise InputError(
                message('the mechanism does not state "{name}" for every count of the main table', LETTERS)
            )
        if (
            not isinstance(totals, list)
            or len(totals) != len(self.drawn)
            or not all(type(total) is int and total >= 0 and total % self.base == 0 for total in totals)
        ):
            raise InputError(
                message('the mechanism does not state "{name}" for every total that is drawn', DRAWN_TOTALS)
            )
        codes = np.frombuffer(letters.encode("ascii"), dtype=np.uint8).astype(np.int64)
        return codes, np.array(totals, dtype=np.int64)

    def _count(self, published: int, letter: str) -> Support:
        """What a count with a letter may be, with its log weights."""
        base = self.base
        true = np.arange(max(published - base + 1, 0), published + base)
        rest = np.where(self.between(true), true % base, 0)
        went = published - (true - rest)
        if letter == FIXED:
            share = rest / base
            chance = np.where(went == base, share, np.where(went == 0, 1 - share, 0.0))
            chance = np.where(rest > 0, (1 - self.gamma) * chance, went == 0)
        else:
            chance = self.gamma * ((rest > 0) & (went == (base if letter == UP else 0)))
        possible = np.flatnonzero(chance > 0)
        if not len(possible):
            raise InputError(
                message("no count is rounded to {published} to base {base} in this way", published, base),
                hint=message("take the mechanism that came with the tables"),
            )
        span = slice(int(possible[0]), int(possible[-1]) + 1)
        return int(true[possible[0]]), int(true[possible[-1]]), _logs(chance[span])


def _total(drawn: int, base: int) -> Support:
    """What the sum behind a drawn total may be, with its log weights."""
    low, high = max(drawn - base + 1, 0), drawn + base - 1
    return low, high, np.log(1 - np.abs(np.arange(low, high + 1) - drawn) / base)


def _logs(chances: Floats) -> Floats:
    return np.log(chances, where=chances > 0, out=np.full(len(chances), -np.inf))


def _in_turn(entries: Ints, missing: Ints, base: int) -> Ints:
    """Go through the counts that may go either way once, and let each go up where totals lack it."""
    left, up = missing.astype(np.int64).copy(), np.zeros(entries.shape[1], dtype=np.int64)
    for place, rows in enumerate(entries.T):
        mine = rows[rows >= 0]
        lack = left[mine]
        if int((np.abs(lack - base) - np.abs(lack)).sum()) < 0:
            up[place] = 1
            left[mine] -= base
    return up
