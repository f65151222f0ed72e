"""``restore``: published counts that add up again, and the inner cells to expect from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.engine.arrays import Floats
from tabprotect.engine.errors import InputError
from tabprotect.engine.fitting.additivity import restore
from tabprotect.engine.fitting.expected import Expected, fit
from tabprotect.engine.formats.published_rows import Missing, PublishedReading, PublishedRows, read_published
from tabprotect.engine.options import option_field, position
from tabprotect.languages.messages import joined, message, plural

EXPECTED = "expected"
SHOWN = 40
"""Rows that are printed for people; ``--json`` gives all."""


@dataclass(frozen=True, kw_only=True)
class Restore(PublishedReading):
    """Arguments of ``restore``."""

    published: str = position(
        metavar="PUBLISHED",
        help=message("a column for each variable and one of counts; the code Total marks what is summed"),
    )
    missing: Missing = option_field(
        "refuse", help=message("what a count is that a published margin leaves out (default: a fault)")
    )


@command("restore", example="tabprotect restore published.csv")
def run_restore(asked: Restore, console: Console) -> None:
    """Print the restored counts in the order of the rows, then every inner cell."""
    rows = read_published(asked.published, asked, missing=asked.missing, progress=console)
    if EXPECTED in rows.publication.domain.names:
        raise InputError(
            message("a variable is named {EXPECTED}, as the result is", repr(EXPECTED)),
            file=asked.published,
            hint=message("rename the column"),
        )
    restored = restore(rows.publication, rows.values, known=rows.known, progress=console)
    # Copies of one count are fitted as one: a count without a row may be known by its copy.
    inner = fit(rows.publication, np.nan_to_num(restored), known=np.isfinite(restored), progress=console)
    if not inner.reached:
        console.say(
            message(
                "no inner table without negative cells was found for the restored counts: the expected "
                "cells miss them by up to {deviation:.3g}",
                inner.deviation,
            )
        )
    names = (*rows.publication.domain.names, EXPECTED)
    console.result(
        lambda: {
            "cells": restored[rows.cells],
            "inner": [
                dict(zip(names, (*labels, value), strict=True)) for labels, value in _inner(rows, inner)
            ],
            "deviation": inner.deviation,
            "reached": inner.reached,
        },
        _lines(rows, restored, inner),
    )


def _inner(rows: PublishedRows, inner: Expected) -> Iterator[tuple[tuple[str, ...], float]]:
    domain = rows.publication.domain
    for index in np.ndindex(*domain.shape):
        yield domain.labels(index), float(inner.cells[index])


def _lines(rows: PublishedRows, restored: Floats, inner: Expected) -> Iterator[str]:
    published = restored[rows.cells]
    moved = float(np.abs(published - rows.counts).max(initial=0.0))
    yield plural(
        len(published),
        "{published:,} published count adds up again; the largest change is {moved:.15g}",
        "{published:,} published counts add up again; the largest change is {moved:.15g}",
        len(published),
        round(moved, 4),
    )
    for row in range(min(len(published), SHOWN)):
        yield f"({', '.join(rows.labels(row))}): {rows.counts[row]:,} -> {round(published[row], 4):.15g}"
    if len(published) > SHOWN:
        yield message("... and {published:,} more (--json gives all)", len(published) - SHOWN)
    yield plural(
        inner.cells.size,
        "{size:,} inner cell, expected:",
        "{size:,} inner cells, expected:",
        inner.cells.size,
    )
    for number, (labels, value) in enumerate(_inner(rows, inner)):
        if number == SHOWN:
            yield message("... and {size:,} more (--json gives all)", inner.cells.size - SHOWN)
            return
        yield message("({labels}): {value:.15g}", joined(labels, ", "), round(value, 4))
