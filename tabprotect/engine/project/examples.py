"""Bundled examples, and opening whatever a person names: ``example:NAME`` or a file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.engine.cycles.files import read as read_cycles
from tabprotect.engine.errors import InputError, RecordsError
from tabprotect.engine.formats.files import read_table
from tabprotect.engine.formats.reading import Reading
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table

if TYPE_CHECKING:
    from tabprotect.engine.microdata.tabulate import Tabulated

PREFIX = "example:"


@dataclass(frozen=True)
class Example:
    """A bundled table or microdata file, with where it comes from.

    Attributes
    ----------
    name
        What stands after ``example:``.
    source, licence, terms
        The publication or data set, the licence's short name, and its terms in a sentence.
    file
        The table (long-form CSV) or the records.
    cycles
        The source's own cycle set, where it has one.
    comparison
        The margins, key and sensitive variable of the source's own comparison of methods.
    """

    name: str
    title: str
    description: str
    source: str
    licence: str
    terms: str
    file: Path
    cycles: Path | None
    comparison: Mapping[str, str] = field(default_factory=dict)

    @property
    def microdata(self) -> bool:
        """Whether it holds records that must be tabulated first."""
        return self.file.name != "table.csv"

    def as_json(self) -> dict[str, object]:
        """The example for ``examples --json``."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "kind": "microdata" if self.microdata else "table",
            "has_cycles": self.cycles is not None,
            "source": self.source,
            "licence": self.licence,
            "terms": self.terms,
        }


@dataclass(frozen=True)
class Opened:
    """A table with what came with it."""

    table: Table
    moves: MoveSet | None = None
    title: str = ""
    notes: tuple[str, ...] = ()


def _read_example(folder: Path) -> Example:
    about = tomllib.loads((folder / "example.toml").read_text(encoding="utf-8"))
    cycles, records = folder / "cycles.json", folder / "records.csv.gz"
    return Example(
        name=folder.name,
        **about,
        file=records if records.exists() else folder / "table.csv",
        cycles=cycles if cycles.exists() else None,
    )


@cache
def examples() -> tuple[Example, ...]:
    """All bundled examples: tables first, small ones before large ones."""
    root = Path(str(files("tabprotect.resources"))) / "examples"
    found = [_read_example(about.parent) for about in root.glob("*/example.toml")]
    return tuple(sorted(found, key=lambda e: (e.microdata, e.file.stat().st_size, e.name)))


def load_example(name: str) -> Example:
    """One example by its name.

    Raises
    ------
    InputError
        For an unknown one, naming those there are.
    """
    known = {example.name: example for example in examples()}
    if name not in known:
        close = get_close_matches(name, known, n=1)
        raise InputError(
            f"there is no example {name!r}",
            hint=f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}",
        )
    return known[name]


def open_table(
    source: str | Path, reading: Reading | None = None, *, progress: Progress = SILENT
) -> Opened:
    """Open ``example:NAME`` or a table file.

    Only examples have a title: a file's name could carry a person or a place into a release.

    Raises
    ------
    InputError
        For an unknown example or a faulty file.
    RecordsError
        For records that are no table yet.
    """
    if not str(source).startswith(PREFIX):
        read = read_table(source, reading, progress=progress)
        return Opened(read.table, notes=read.notes)
    example = load_example(str(source).removeprefix(PREFIX))
    if example.microdata:
        raise RecordsError(
            f"{source} holds records, not a table",
            hint=f"tabulate them first: tabprotect tabulate {source} --by A,B --out table.csv",
        )
    table = read_table(example.file, progress=progress).table
    moves = None
    if example.cycles is not None:
        moves = read_cycles(example.cycles, domain=table.domain)
    return Opened(table, moves, example.title)


def records_file(source: str | Path) -> Path:
    """The microdata file that ``example:NAME`` or a path means.

    Raises
    ------
    InputError
        For an example that is a table.
    """
    if not str(source).startswith(PREFIX):
        return Path(source)
    example = load_example(str(source).removeprefix(PREFIX))
    if not example.microdata:
        raise InputError(f"{source} is a table, not records", hint="open it as a table")
    return example.file


def tabulate_source(
    source: str | Path,
    by: Sequence[str],
    *,
    weight: str | None = None,
    record_key: str | None = None,
    design_weight: str | None = None,
    progress: Progress = SILENT,
) -> Tabulated:
    """Tabulate ``example:NAME`` or a microdata file (see ``microdata.tabulate``)."""
    # Late: DuckDB costs a tenth of the program's start.
    from tabprotect.engine.microdata.tabulate import tabulate_with_keys

    return tabulate_with_keys(
        records_file(source),
        by,
        weight=weight,
        record_key=record_key,
        design_weight=design_weight,
        progress=progress,
    )
