"""What files state beside counts: the rows of the page, and a file for each that states it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import TableFile, read_table

PAGE = Path(__file__).parents[2] / "resources" / "docs" / "stated.md"

THINGS = (
    "roles", "totals", "parents", "levels", "unit", "multiplier", "decimals", "status", "flags", "notes",
    "order", "labels", "languages", "dates", "hidden", "merged", "aggregation", "weights", "source",
)  # fmt: skip
"""All that a format may state, each of which has a row, or stands among what the format has no word for."""

MEANING = frozenset({"totals", "unit", "multiplier", "status", "hidden"})
"""What changes the meaning of a number: taken or refused, never only told."""

FATES = frozenset({"taken", "told", "refused"})


@dataclass(frozen=True)
class Row:
    """A row of the page: what ``form`` states of a thing, in its own words, and what becomes of it."""

    form: str
    thing: str
    stated: str
    fate: str
    shows: str

    @property
    def words(self) -> list[str]:
        """What stands in quotation marks: the words that are said."""
        return re.findall(r'"([^"]+)"', self.shows)


def sections() -> dict[str, str]:
    """Format -> its section of the page."""
    parts = re.split(r"(?m)^## `([\w-]+)`$", PAGE.read_text(encoding="utf-8"))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def rows() -> Iterator[Row]:
    for form, text in sections().items():
        for line in text.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if line.startswith("| ") and cells[0] != "thing":
                yield Row(form, *cells)


def without_a_word(text: str) -> list[str]:
    """The things that a section says the format has no word for."""
    found = re.findall(r"No word for: ([\w, ]+)\.", text)
    return [thing for listed in found for thing in listed.split(", ")]


@dataclass(frozen=True)
class Said:
    """What came of reading a file: the notes, or the refusal with its hint; and the table as read."""

    text: str
    refused: bool = False
    file: TableFile | None = None


CASES: dict[tuple[str, str], Callable[[Path], Said]] = {}


def states(form: str, stated: str) -> Callable[[Callable[[Path], Said]], Callable[[Path], Said]]:
    """The fixture of a row: it writes files into a folder, reads them, and holds the counts to be right."""

    def kept(case: Callable[[Path], Said]) -> Callable[[Path], Said]:
        assert (form, stated) not in CASES
        CASES[form, stated] = case
        return case

    return kept


def opened(path: Path, counts: Mapping[tuple[str, ...], int] | None = None, **reading: object) -> Said:
    """Read a table whose cells must be ``counts``, in this order; without them it must be refused."""
    try:
        file = read_table(path, Reading.of(reading))
    except TabprotectError as error:
        if counts is not None:
            raise
        return Said(f"{error.message} | {error.hint}", refused=True)
    domain = file.table.domain
    found = {
        domain.labels(domain.unflat(at)): int(file.table.counts.reshape(-1)[at]) for at in range(domain.size)
    }
    assert counts is not None, found
    assert list(found.items()) == list(counts.items())
    return Said("\n".join(file.notes), file=file)


def put(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    """Write a file."""
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path
