"""Letters: what the choice of a pattern may look at, drawn cell by cell by a public law.

Every inner count draws a letter: P, for which it is planned as one that is at risk; a class of size;
or O, for large. At-risk counts always draw P and others next to them sometimes, so that P says "small" and
no more; a class is the count's own or, sometimes, a neighbouring one. The pattern is chosen for the *plan*,
the table that has a number for each letter, and never for the counts. The letters of hidden cells are
published. Then P(release | original) is the product, over the hidden cells, of the chances of their
letters: what else was drawn has to do with published counts alone, and whatever the choice does with
letters, it needs no second run.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.protection.cell_chance import cell_uniforms
from tabprotect.engine.protection.published_margins import Support
from tabprotect.engine.release.likelihood import UNBOUNDED
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

HALF: Parameter[float | None] = Parameter(
    "half",
    message("Reach of the letter P"),
    message(
        "For the choice by letters: counts above the small ones are planned as small with a chance "
        "that halves over so many counts. More tells less and hides more. Without a number {two} in tables "
        "of two variables, and {more} in those of more.",
        two=0.7,
        more=1.5,
    ),
    "real",
    None,
    0.1,
    100.0,
    unit=message("counts"),
    may_be_unstated=True,
    of="choice",
)

LARGEST: Parameter[int | None] = Parameter(
    "largest_class",
    message("Largest count in a class"),
    message(
        "For the choice by letters: larger counts have one letter. Without a number that of an earlier release "
        "of the same people; else the mean of the counts that are not zero, where the grand total is published, "
        "and at least 8."
    ),
    "integer",
    None,
    1,
    2**16,
    may_be_unstated=True,
    of="choice",
)

NOT_INNER = message("letters belong to inner cells, and these are not published")

USUAL_HALF = 0.7, 1.5
"""In tables of two variables, and of more: there the sums tell more of each count, and little more is hidden."""

REACH = 5
"""Times the chance halves before it is nothing."""

NEXT = 0.9
"""Chance of the letter P for the count next above those at risk."""

SPREAD = 0.15
"""Chance of each neighbouring class; and of the letter P for a zero that may be hidden."""

OFTEN = 0.5
"""Chance of the letter P for a zero that is to be hidden often: of .15, .5 and .8 most tables with a group in
one category left so."""

LEAST_LARGEST = 8

SYMBOLS = string.digits + string.ascii_lowercase
"""A letter as it is published, the first for P; the last that is used is for O."""


def usual_half(domain: Domain) -> float:
    """The reach where none is asked for."""
    return USUAL_HALF[domain.ndim > 2]


def most_in_classes(rule: SmallCount, half: float, wanted: int | None, table: Table | None) -> int:
    """The largest count in a class, by what is wanted, and otherwise the mean of the counts.

    Parameters
    ----------
    table
        One whose grand total and zeros are published; ``None`` where they are not.
    """
    least = rule.high + int(REACH * half)
    if wanted is not None:
        return max(wanted, least)
    mean = 0 if table is None else int(table.total) // max(1, len(table.cells[0]))
    return max(LEAST_LARGEST, least, min(mean, int(LARGEST.high)))


@dataclass(frozen=True, eq=False)
class LetterLaw:
    """The chances of letters given a count. Public.

    Attributes
    ----------
    rule
        The at-risk counts. What is below them and not zero is treated as they are.
    half
        Over so many counts above them the chance of P halves.
    largest
        The largest count in a class.
    zeros
        The chance of P for a zero, where that is no small count; where it is 0 none is hidden.
    """

    rule: SmallCount
    half: float
    largest: int
    zeros: float = 0.0

    @cached_property
    def ends(self) -> Ints:
        """The largest count of P's at-risk ones and of each class."""
        ends, width = [self.rule.high], 4
        while ends[-1] < self.largest:
            ends.append(min(ends[-1] + width, self.largest))
            width *= 2
        # A last class that is narrower than the one before joins it.
        if len(ends) > 2 and ends[-1] - ends[-2] < ends[-2] - ends[-3]:
            del ends[-2]
        return np.array(ends, dtype=np.int64)

    @property
    def open_letter(self) -> int:
        """The letter O."""
        return len(self.ends)

    @cached_property
    def chances(self) -> Floats:
        """P(letter | count), float64 (largest + 2, letters); the last row is of all larger counts.

        The last letter is of a zero that is told; it is never hidden.
        """
        top, classes = self.rule.high, len(self.ends) - 1
        out = np.zeros((self.largest + 2, classes + 3))
        counts = np.arange(self.largest + 2)
        out[1 : top + 1, 0] = 1.0
        near = np.arange(top + 1, top + int(REACH * self.half) + 1)
        out[near, 0] = NEXT * 2.0 ** (-(near - top - 1) / self.half)
        own = np.searchsorted(self.ends, counts)
        for number in range(1, classes + 1):
            there = np.flatnonzero(own == number)
            left = 1.0 - out[there, 0]
            for beside in (number - 1, number + 1):
                if 1 <= beside <= classes:
                    out[there, beside] += SPREAD * left
            out[there, number] += left - out[there, 1:].sum(axis=1)
        out[self.largest + 1, self.open_letter] = 1.0
        out[0, 0] = 1.0 if self.zeros and self.rule.low == 0 else self.zeros
        out[0, -1] = 1.0 - out[0, 0]
        return out

    @cached_property
    def planned(self) -> Ints:
        """The count that each letter is planned as, int64 (letters,): that of a class is its middle."""
        middles = (self.ends[:-1] + 1 + self.ends[1:]) // 2
        return np.array([min(1, self.rule.high), *middles, 2 * self.largest + 10, 0], dtype=np.int64)

    @property
    def at_risk(self) -> SmallCount:
        """The rule for planned counts."""
        return SmallCount(min(1, self.rule.low), self.rule.high)

    def draw(self, table: Table, key: bytes) -> Ints:
        """The letter of each inner cell, int64 (inner cells,), each by chance of its own."""
        counts = np.asarray(table.counts.reshape(-1))
        letters = np.full(len(counts), len(self.planned) - 1, dtype=np.int64)
        drawn = np.arange(len(counts)) if self.zeros else np.flatnonzero(counts)
        if not len(drawn):
            return letters
        rows = np.minimum(counts[drawn], self.largest + 1)
        up_to = np.cumsum(self.chances, axis=1)
        uniforms = cell_uniforms(table.domain, drawn, key)
        letters[drawn] = sum(uniforms >= up_to[rows, letter] for letter in range(len(self.planned) - 1))
        return letters

    def plan(self, table: Table, letters: Ints) -> Table:
        """The planned counts."""
        return Table.dense(table.domain, self.planned[letters].reshape(table.domain.shape))

    def support(self, letter: int) -> Support:
        """The counts that may have a letter, with the log chances."""
        if letter == self.open_letter:
            return self.largest + 1, UNBOUNDED, None
        of_letter = self.chances[:, letter]
        counts = np.flatnonzero(of_letter)
        low, high = int(counts[0]), int(counts[-1])
        return low, high, np.log(of_letter[low : high + 1])


def as_text(letters: Ints) -> str:
    """Letters as they are published: a symbol for each."""
    return "".join(SYMBOLS[letter] for letter in letters.tolist())


def from_text(text: object, number: int, law: LetterLaw) -> Ints:
    """The published letters of so many hidden cells.

    Raises
    ------
    InputError
        If they are not of that form.
    """
    known = SYMBOLS[: law.open_letter + 1]
    if not isinstance(text, str) or len(text) != number or not set(text) <= set(known):
        raise InputError(
            message("the mechanism does not state a letter for each hidden cell"),
            hint=message("take the mechanism that came with the table"),
        )
    return np.array([known.index(one) for one in text], dtype=np.int64)
