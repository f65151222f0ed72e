"""Published numbers with a law each: all that is known of sums over the inner cells of one table.

The numbers may stand in several tables over some of the variables, over levels and groupings, with
noise of their own. A law weighs what the true sum may be; a range and an exact number are laws too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.equal_rows import equal_rows
from tabprotect.engine.release.likelihood import UNBOUNDED, CellFactors
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import joined

Law = tuple[int, int, Floats | None]
"""The lowest and the highest true sum, and log P(published | true) of those between (``None``: all
alike)."""


@dataclass(frozen=True)
class NumbersOfTable:
    """The place of one table among the numbers.

    Attributes
    ----------
    domain
        The table's variables.
    first
        Its first number; the others follow in the order of the domain.
    axes
        The axes of the inner table that it is over; ``None`` if it is over a level or a grouping.
    variance
        The variance of the noise of its numbers; infinite where it is unknown or not the same.
    """

    domain: Domain
    first: int
    axes: tuple[int, ...] | None
    variance: float

    @property
    def rows(self) -> slice:
        """Its numbers."""
        return slice(self.first, self.first + self.domain.size)


def tables_of(publication: Publication, variance: float) -> tuple[NumbersOfTable, ...]:
    """The places of the tables of a publication, whose numbers all have noise of one variance."""
    axis = publication.domain.axis
    return tuple(
        NumbersOfTable(
            domain,
            int(publication.starts[m]),
            tuple(map(axis, publication.margins[m])) if publication.is_plain(m) else None,
            variance,
        )
        for m, domain in enumerate(publication.domains)
    )


@dataclass(frozen=True, eq=False)
class PublishedNumbers:
    """Sums over inner cells, each with what was published of it.

    Attributes
    ----------
    domain
        The variables of the inner cells.
    tables
    starts, cells : int64 (numbers + 1,), (entries,)
        The flat inner cells of each sum.
    published : int64 (numbers,)
        0 where nothing was published.
    laws
    law : int64 (numbers,)
        The place among the laws, which are sorted by published number; -1 where nothing is known
        of a sum, or it is the same sum as one before.
    variance : float64 (numbers,)
        The variance of the noise; infinite where the number is no estimate of the sum.
    noise : int64 (numbers,)
        Of two sums over the same records with one number here, 0 or more, the noise is the same:
        an empty sum then is 0, and one law counts once for all of them. -1: by itself.
    believed : int64 (cells,)
        The place among the laws of what is believed of each inner cell beforehand; -1 for every
        count being as likely as any other.
    note
        What is assumed of the laws, in words; empty for nothing.
    """

    domain: Domain
    tables: tuple[NumbersOfTable, ...]
    starts: Ints
    cells: Ints
    published: Ints
    laws: tuple[Law, ...]
    law: Ints
    variance: Floats
    noise: Ints
    believed: Ints
    note: str = ""

    @classmethod
    def of(
        cls,
        publication: Publication,
        published: Ints,
        law: Callable[[int], Law],
        *,
        variance: float,
        shared: bool = False,
        hidden: Bools | None = None,
    ) -> PublishedNumbers:
        """Make one from published tables whose numbers have laws of one kind.

        Parameters
        ----------
        published
            int64 (size of the publication,).
        law
            Published number -> what its true sum may be.
        variance
            The variance of the noise; infinite for none that is known.
        shared
            Whether sums over the same records carry the same noise.
        hidden
            The numbers that were not published, bool (size of the publication,).
        """
        first, kind = equal_rows([published])
        order = np.argsort(published[first], kind="stable")
        place = np.argsort(order)
        starts, cells = publication.behind(np.arange(publication.size))
        nothing = np.diff(starts) == 0
        if hidden is not None:
            nothing = nothing | hidden
        silent = np.ones(publication.size, dtype=np.bool_)
        # A sum that stands twice says something once.
        silent[publication.distinct[0]] = False
        silent |= nothing
        # Only laws of numbers that say something are asked for.
        used = np.bincount(kind[~silent], minlength=len(first)) > 0
        return cls(
            domain=publication.domain,
            tables=tables_of(publication, np.inf if silent.any() else variance),
            starts=starts,
            cells=cells,
            published=np.where(nothing, 0, published),
            laws=tuple(
                law(int(published[first[k]])) if used[k] else (0, UNBOUNDED, None) for k in order.tolist()
            ),
            law=np.where(silent, -1, place[kind]).astype(np.int64),
            variance=np.where(silent, np.inf, variance),
            noise=np.full(publication.size, 0 if shared else -1, dtype=np.int64),
            believed=np.full(publication.domain.size, -1, dtype=np.int64),
        )

    @classmethod
    def of_factors(cls, factors: CellFactors) -> PublishedNumbers:
        """The factors of a likelihood, each by itself."""
        starts = factors.log_starts.tolist()
        low, high = factors.low.tolist(), factors.high.tolist()
        laws: list[Law] = []
        for kind, (a, b) in enumerate(itertools.pairwise(starts)):
            laws.append((low[kind], high[kind], factors.logs[a:b] if b > a else None))
        return cls(
            domain=factors.domain,
            tables=(),
            starts=factors.starts,
            cells=factors.cells,
            published=np.zeros(factors.factors, dtype=np.int64),
            laws=tuple(laws),
            law=factors.kind,
            variance=np.full(factors.factors, np.inf),
            noise=np.full(factors.factors, -1, dtype=np.int64),
            believed=np.full(factors.domain.size, -1, dtype=np.int64),
        )

    @property
    def shared(self) -> bool:
        """Return True if some sums over the same records carry the same noise."""
        return bool((self.noise >= 0).any())

    @property
    def compound(self) -> bool:
        """Return True if there is more than one source of noise, or something is believed beforehand."""
        return bool((self.noise != self.noise[:1]).any() or (self.believed >= 0).any())

    @cached_property
    def of_entry(self) -> Ints:
        """The number that each entry of ``cells`` is part of."""
        return np.repeat(np.arange(self.numbers), np.diff(self.starts))

    @property
    def numbers(self) -> int:
        """Return how many there are."""
        return len(self.law)

    def support(self) -> tuple[Ints, Ints]:
        """The lowest and the highest true sum of each number, ``UNBOUNDED`` for no highest."""
        low = np.array([0, *(law[0] for law in self.laws)], dtype=np.int64)
        high = np.array([UNBOUNDED, *(law[1] for law in self.laws)], dtype=np.int64)
        return low[self.law + 1], high[self.law + 1]

    @classmethod
    def together(cls, parts: Sequence[PublishedNumbers]) -> PublishedNumbers:
        """All numbers of several publications of one original, each with noise of its own."""
        if len(parts) == 1:
            return parts[0]
        numbers = np.cumsum([0, *(part.numbers for part in parts)])
        entries = np.cumsum([0, *(len(part.cells) for part in parts)])
        laws = np.cumsum([0, *(len(part.laws) for part in parts)])
        starts = [part.starts[:-1] + entries[k] for k, part in enumerate(parts)]
        return cls(
            domain=parts[0].domain,
            tables=tuple(
                replace(table, first=table.first + int(numbers[k]))
                for k, part in enumerate(parts)
                for table in part.tables
            ),
            starts=np.concatenate([*starts, entries[-1:]]).astype(np.int64),
            cells=np.concatenate([part.cells for part in parts]),
            published=np.concatenate([part.published for part in parts]),
            laws=tuple(law for part in parts for law in part.laws),
            law=np.concatenate(
                [np.where(part.law < 0, -1, part.law + laws[k]) for k, part in enumerate(parts)]
            ),
            variance=np.concatenate([part.variance for part in parts]),
            noise=np.concatenate(
                [np.where(part.noise < 0, -1, part.noise + k) for k, part in enumerate(parts)]
            ),
            believed=parts[0].believed,
            note=joined(dict.fromkeys(part.note for part in parts if part.note), " "),
        )

    def believing(self, laws: Sequence[Law], of_cells: Ints) -> PublishedNumbers:
        """The same for somebody who believes something of inner cells beforehand.

        Parameters
        ----------
        of_cells : int64 (cells,)
            The law of each inner cell, a place among ``laws``.
        """
        return replace(self, laws=(*self.laws, *laws), believed=of_cells + len(self.laws))

    def by_themselves(self, low: Ints) -> PublishedNumbers:
        """The same without a word of shared noise, where no two sums can be over the same records.

        Two sums differ where one has a cell that the other has not and that holds somebody. Of two that
        share no cell both would have to be empty, and what is published of nobody says so.

        Parameters
        ----------
        low : int64 (cells + ...,)
            What each inner cell holds at least.
        """
        if not self.shared:
            return self
        from scipy.sparse import csr_array

        of = self.of_entry
        kept = ((self.noise >= 0) & (self.law >= 0))[of]
        shape = (self.numbers, self.domain.size)
        every, sure = (
            csr_array((np.ones(int(one.sum())), (of[one], self.cells[one])), shape)
            for one in (kept, kept & (low[self.cells] > 0))
        )
        number: Floats = np.asarray(sure.sum(axis=1)).reshape(-1)
        within, overlap = (sure @ every.T).tocsr(), (every @ every.T).tocoo()
        left, right = overlap.coords
        apart = left != right
        left, right = left[apart], right[apart]
        common = np.asarray(within[left, right]).reshape(-1)
        # Both directions stand among the pairs.
        inside = common == number[left]
        held = csr_array((inside.astype(np.int64), (left, right)), (self.numbers, self.numbers))
        if (held + held.T).max() > 1:
            return self
        return replace(self, noise=np.full(self.numbers, -1, dtype=np.int64))

    def factors(self, tables: tuple[PublishedTable, ...]) -> CellFactors:
        """Each number with a law as a factor of its sum."""
        told = self.law >= 0
        lengths = np.diff(self.starts)[told]
        sums = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), self.cells[told[self.of_entry]]
        return CellFactors.of(self.domain, tables, sums, self.law[told], list(self.laws))
