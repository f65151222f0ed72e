"""What of a table or a run deserves a word before it is published, though nothing is wrong."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from tabprotect.engine.protection.problem import RunEvidence
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

RUN_BY_SPREADSHEETS = "=+@"
"""First characters of a text that a spreadsheet takes for a formula. (A leading minus stands
before many honest labels, such as -5 to 0 degrees.)"""

FORMULA_BREAKS = "\t\r"
"""First characters that a spreadsheet drops before it looks."""

DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that turn the direction of what follows (Unicode UAX 9), and can show another text."""

MOST_NAMED = 3

_DIGITS = re.compile("([0-9]+)")


@dataclass(frozen=True)
class Remark:
    """A word of warning.

    Attributes
    ----------
    kind
        ``short_seed``, ``label`` or ``category_order``.
    message
        A sentence. One about the order of categories tells something of the original.
    """

    kind: str
    message: str

    def as_json(self) -> dict[str, str]:
        """For the command line."""
        return {"kind": self.kind, "message": self.message}


def remarks_on_table(table: Table) -> tuple[Remark, ...]:
    """What the labels and their order would do, or give away."""
    return (*remarks_on_labels(table.domain), *_ranked(table))


def remarks_on_run(record: RunEvidence) -> tuple[Remark, ...]:
    """What is to be said before a result is published."""
    short = Remark(
        "short_seed",
        "The given seed is short: who tries all seeds of its length reads the original back. Take "
        "the coins of the house, or a random number of 40 digits.",
    )
    seeds = (short,) if record.randomness.short else ()
    return (*seeds, *remarks_on_table(record.problem.table))


def remarks_on_labels(domain: Domain) -> tuple[Remark, ...]:
    """Labels that do something, or that look alike; names and categories alike."""
    return tuple(Remark("label", text) for text in _labels(domain))


def _labels(domain: Domain) -> Iterator[str]:
    texts = list(domain.names)
    for variable in domain.variables:
        texts += variable.categories
    formulas = [t for t in texts if t.lstrip(FORMULA_BREAKS + " ")[:1] in set(RUN_BY_SPREADSHEETS)]
    if formulas:
        yield f"A spreadsheet would run {_named(formulas)} as a formula: rename it."
    turned = [t for t in texts if DIRECTIONS & set(t)]
    if turned:
        yield (
            f"{_named(turned)} holds a mark that turns the direction of writing: it may read as "
            "another text."
        )
    groups = ((v.name, v.categories) for v in domain.variables)
    for where, group in (("the variables", domain.names), *groups):
        first: dict[str, str] = {}
        for text in group:
            same = first.setdefault(unicodedata.normalize("NFKC", text), text)
            if same != text:
                yield (
                    f"{_named([same, text])} of {ascii(where)[1:-1]} look alike: they are the same text "
                    "but for how its characters are coded."
                )
                break


def _named(texts: list[str]) -> str:
    """Texts that show what is in them, whatever that is."""
    shown = ", ".join(ascii(text[:40]) for text in texts[:MOST_NAMED])
    more = len(texts) - MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _natural(text: str) -> list[tuple[int, str]]:
    """A key by which 5-9 stands before 10-14."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(text)]


def _ranked(table: Table) -> Iterator[Remark]:
    """Variables whose categories stand in the order of their counts, and in no other."""
    for variable in table.domain.variables:
        counts = table.margin([variable.name]).counts.tolist()
        natural = sorted(variable.categories, key=_natural)
        if len(set(counts)) < 3 or list(variable.categories) in (natural, natural[::-1]):
            continue
        if counts in (sorted(counts), sorted(counts, reverse=True)):
            yield Remark(
                "category_order",
                f"The categories of {variable.name!r} stand in the order of their counts: the "
                "release would publish that ranking. Sort them by name.",
            )
