"""Remarks on a table and the summary of one run, for command line, window and dossier.

Confidential: every figure depends on the original.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.protection.problem import JudgedCells, Protected, RunEvidence
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.findings import Finding, in_words, said
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import all_margins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import capital, in_100, message


@dataclass(frozen=True)
class RunSummary(Encodable):
    """Figures of one run, about the main published table.

    Attributes
    ----------
    at_risk_cells
        True counts of that table which the small-count rule calls at risk.
    judged_cells
        The cells the shares are over: the at-risk ones, or all positive ones where none is.
    unchanged_cells
        How many of the judged cells are published with their true count.
    suppressed_cells
        Cells of all published tables that are published without a count.
    tables
        Number of published tables.
    changed_cells
        Cells of the main table whose count changed (suppressed ones apart).
    largest_change
        Largest |published - true count|.
    mean_absolute_deviation
        Mean |published - true count| over the judged cells that are published.
    blocked_share
        Share of the coins' moves that were blocked; ``None`` without cycles.
    margins_preserved
        Whether every margin that is to be kept is kept, compared on the two tables; for a method
        without cycles, every margin short of the table itself. ``None`` where inner cells are
        not published.
    finding
        The method's own finding, in a sentence.
    published_cells
        Cells of all published tables.
    hidden_small
        Cells without a count that are small themselves; ``None`` where the method hides none.
    """

    at_risk_cells: int
    judged_cells: int
    unchanged_cells: int
    suppressed_cells: int
    tables: int
    changed_cells: int
    largest_change: int
    mean_absolute_deviation: float
    blocked_share: float | None
    margins_preserved: bool | None
    finding: str = ""
    published_cells: int = 0
    hidden_small: int | None = None
    json_keys = (
        "unchanged_share blocked_share at_risk_cells judged_cells unchanged_cells suppressed_cells "
        "tables changed_cells largest_change mean_absolute_deviation margins_preserved finding "
        "sentence"
    )

    @property
    def unchanged_share(self) -> float:
        """Share of the judged cells that are published unchanged (1 where there is none)."""
        return self.unchanged_cells / self.judged_cells if self.judged_cells else 1.0

    @property
    def sentence(self) -> str:
        """The summary in words."""
        return in_words(self.findings())

    def findings(self, *, hard_to_tell: bool = False) -> Iterator[Finding]:
        """Say what the run did.

        Parameters
        ----------
        hard_to_tell
            Whether no reader would know any of the small counts: then nobody can tell which of them
            are published as they are.
        """
        cells, n = self.judged_cells, self.unchanged_cells
        if not self.at_risk_cells:
            yield Finding("unchanged", values={"n": cells, "unchanged": n})
        else:
            kind = "small_unchanged_unknown" if hard_to_tell and n else "small_unchanged"
            yield Finding(kind, values={"n": n, "cells": cells})
        if hidden := self.suppressed_cells:
            small = self.hidden_small
            values = {
                "n": hidden,
                "all": self.published_cells,
                "small": small,
                "others": hidden - (small or 0),
            }
            yield Finding("hidden_counts" if small is None else "hidden_cells", values=values)
        if self.changed_cells:
            yield Finding("largest_change", values={"largest": self.largest_change})
        elif self.blocked_share is None:
            yield Finding("all_exact" if self.tables == 1 else "main_exact")
        if self.blocked_share is not None:
            share = {"share": in_100(self.blocked_share)}
            yield Finding("moves_left_out" if self.blocked_share else "no_move_left_out", values=share)
            yield Finding("margins_kept") if self.margins_preserved else Finding("margins_broken", "failed")
        if self.finding:
            yield said(self.finding)


def summarise(protected: Protected) -> RunSummary:
    """Compare the original with what was published."""
    record, release = protected.record, protected.release
    main, domain = release.tables[0], record.problem.table.domain
    parameters = release.mechanism.values
    over_groups = any(one.table.domain != domain for one in release.tables)
    groupings = groupings_of(domain, parameters) if over_groups else ()
    weighted = methods()[release.mechanism.method].weighted(parameters)
    judged = JudgedCells.of(record.problem, main, groupings, weighted=weighted)
    shown = ~main.hidden
    hidden_small = None
    if any(p.hidden.any() for p in release.tables):
        every = [
            (p.hidden, record.problem.at_risk.mask(JudgedCells.of(record.problem, p, groupings).truth))
            for p in release.tables
        ]
        hidden_small = sum(int((hidden & small).sum()) for hidden, small in every)
    moved = np.where(shown, main.table.counts - judged.truth, 0)
    cells, seen = int(judged.cells.sum()), judged.cells & shown
    preserved = None
    if main.table.domain == domain and main.suppressed is None:
        moves = parameters.get("cycles")
        kept = Publication(domain, all_margins(domain))
        if isinstance(moves, MoveSet):
            kept = moves.publication
        elif "split" in parameters:
            kept = methods()[release.mechanism.method].kept(domain, release.mechanism.values) or kept
        truth = Table.dense(domain, judged.truth) if weighted else record.problem.table
        preserved = kept.sums(truth) == kept.sums(main.table)
    return RunSummary(
        at_risk_cells=judged.at_risk,
        judged_cells=cells,
        unchanged_cells=judged.changes(main)[0],
        suppressed_cells=sum(int(p.hidden.sum()) for p in release.tables),
        tables=len(release.tables),
        changed_cells=int((moved != 0).sum()),
        largest_change=int(np.abs(moved).max(initial=0)),
        mean_absolute_deviation=float(np.abs(moved[seen]).mean()) if seen.any() else 0.0,
        blocked_share=None if record.steps is None else record.blocked_share,
        margins_preserved=preserved,
        finding=record.sentence,
        published_cells=sum(p.hidden.size for p in release.tables),
        hidden_small=hidden_small,
    )


RUN_BY_SPREADSHEETS = "=+@"
"""First characters of a text that a spreadsheet takes for a formula. (Not the minus sign, which
begins many honest labels such as -5 to 0 degrees.)"""

FORMULA_BREAKS = "\t\r"
"""Leading characters that a spreadsheet drops before it looks for a formula."""

DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that turn the direction of what follows (Unicode UAX 9), and can show another text."""

MOST_NAMED = 3

_DIGITS = re.compile("([0-9]+)")


@dataclass(frozen=True)
class Remark(Encodable):
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


def remarks_on_table(table: Table) -> tuple[Remark, ...]:
    """Remarks on the labels of a table and on their order."""
    return (*remarks_on_labels(table.domain), *_ranked(table))


def remarks_on_run(record: RunEvidence) -> tuple[Remark, ...]:
    """Remarks on a run, to be read before its result is published."""
    advice = message("Take the coins of the house, or a random number of 40 digits.")
    seeds: tuple[Remark, ...] = ()
    if record.randomness.short:
        short = capital(short_seed_sentence(record.randomness))
        seeds = (Remark("short_seed", message("{sentence}. {advice}", short, advice)),)
    return (*seeds, *remarks_on_table(record.problem.table))


SEEDS_A_SECOND = 25_400
"""Generators that one core of a laptop makes from seeds, in Python."""

GUESSED_BITS = 64
"""Length below which all seeds are tried in practice, by many machines with compiled programs."""

_SPANS = (
    (60.0, 1.0, message("{n:.0f} seconds")),
    (3_600.0, 60.0, message("{n:.0f} minutes")),
    (86_400.0, 3_600.0, message("{n:.0f} hours")),
    (365.25 * 86_400.0, 86_400.0, message("{n:.0f} days")),
    (float("inf"), 365.25 * 86_400.0, message("{n:,.0f} years")),
)


def short_seed_sentence(randomness: Randomness) -> str:
    """Say how fast a given seed is guessed."""
    bits = randomness.seed.bit_length()
    if bits >= GUESSED_BITS:
        return message(
            "the given seed is short: of {bits} bits, where a drawn one has 256; a number that "
            "somebody thought of is among the first that are tried",
            bits,
        )
    seconds = 2.0**bits / SEEDS_A_SECOND
    if seconds < 1:
        time = message("less than a second")
    else:
        _, unit, words = next(span for span in _SPANS if seconds < span[0])
        time = words.format(n=seconds / unit)
    return message(
        "the given seed is short: who tries all seeds of its {bits} bits reads the original back. "
        "One core tries {rate:,} a second in Python and is done in {time}; compiled programs on many "
        "cores are thousands of times as fast",
        bits,
        SEEDS_A_SECOND,
        time,
    )


def remarks_on_labels(domain: Domain) -> tuple[Remark, ...]:
    """Remarks on names and categories that a program may run, or that look alike."""
    return tuple(Remark("label", text) for text in _labels(domain))


def _labels(domain: Domain) -> Iterator[str]:
    texts = list(domain.names)
    for variable in domain.variables:
        texts += variable.categories
    formulas = [t for t in texts if t.lstrip(FORMULA_BREAKS + " ")[:1] in set(RUN_BY_SPREADSHEETS)]
    if formulas:
        yield message("A spreadsheet would run {formulas} as a formula: rename it.", _named(formulas))
    turned = [t for t in texts if DIRECTIONS & set(t)]
    if turned:
        yield (
            message(
                "{turned} holds a mark that turns the direction of writing: it may read as another text.",
                _named(turned),
            )
        )
    groups = ((v.name, v.categories) for v in domain.variables)
    for where, group in ((message("the variables"), domain.names), *groups):
        first: dict[str, str] = {}
        for text in group:
            same = first.setdefault(unicodedata.normalize("NFKC", text), text)
            if same != text:
                yield (
                    message(
                        "{value} of {where} look alike: they are the same text "
                        "but for how its characters are coded.",
                        _named([same, text]),
                        ascii(where)[1:-1],
                    )
                )
                break


def _named(texts: list[str]) -> str:
    """The texts quoted, with every special character made visible."""
    shown = ", ".join(ascii(text[:40]) for text in texts[:MOST_NAMED])
    more = len(texts) - MOST_NAMED
    return message("{shown} and {more} more", shown, more) if more > 0 else shown


def _natural(text: str) -> list[tuple[int, str]]:
    """The sort key that puts 5-9 before 10-14."""
    # Numbers of any length, by how many digits they have, then digit by digit.
    return [
        (len(part.lstrip("0")), part.lstrip("0")) if part.isdecimal() else (-1, part)
        for part in _DIGITS.split(text)
    ]


def _ranked(table: Table) -> Iterator[Remark]:
    """Remarks on variables whose categories are in the order of their counts and in no other."""
    for variable in table.domain.variables:
        counts = table.margin([variable.name]).counts.tolist()
        natural = sorted(variable.categories, key=_natural)
        if len(set(counts)) < 3 or list(variable.categories) in (natural, natural[::-1]):
            continue
        if counts in (sorted(counts), sorted(counts, reverse=True)):
            yield Remark(
                "category_order",
                message(
                    "The categories of {name} stand in the order of their counts: the "
                    "release would publish that ranking. Sort them by name.",
                    repr(variable.name),
                ),
            )
