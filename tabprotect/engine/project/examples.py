"""Bundled examples: tables and records with their sources and terms."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tabprotect.engine.errors import InputError
from tabprotect.engine.paths import is_there
from tabprotect.languages.messages import message
from tabprotect.languages.nearest import closest_match
from tabprotect.version import RESOURCES

PREFIX = "example:"


@dataclass(frozen=True)
class Example:
    """A bundled table or microdata file, with where it comes from.

    Attributes
    ----------
    name
        The name after ``example:``.
    size, learn
        How large it is, and what one learns from it, in a few words each.
    source, licence, terms
        The publication or data set, the licence's short name, and its terms in a sentence.
    file
        The table (long-form CSV; JSON-stat where it has levels or structural zeros) or the records.
    cycles
        The source's own cycle set, if it has one.
    comparison
        The margins, key and sensitive variable of the source's own comparison of methods.
    tabulated
        Keywords of ``tp.tabulate`` for a first table of the records.
    """

    name: str
    title: str
    description: str
    size: str
    learn: str
    source: str
    licence: str
    terms: str
    file: Path
    cycles: Path | None
    comparison: Mapping[str, str] = field(default_factory=dict)
    tabulated: Mapping[str, object] = field(default_factory=dict)

    @property
    def microdata(self) -> bool:
        """True if it holds records, which must be tabulated first."""
        return self.file.stem != "table"

    def as_json(self) -> dict[str, object]:
        """The example as ``examples --json`` prints it."""
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


def _read_example(folder: Path) -> Example:
    about = tomllib.loads((folder / "example.toml").read_text(encoding="utf-8"))
    cycles = folder / "cycles.json"
    return Example(
        name=folder.name,
        **about,
        file=next(path for path in folder.iterdir() if path.stem in ("table", "records.csv")),
        cycles=cycles if is_there(cycles) else None,
    )


@cache
def examples() -> tuple[Example, ...]:
    """All bundled examples: tables first, small ones before large ones."""
    root = RESOURCES / "examples"
    found = [_read_example(about.parent) for about in root.glob("*/example.toml")]
    return tuple(sorted(found, key=lambda e: (e.microdata, e.file.stat().st_size, e.name)))


def load_example(name: str) -> Example:
    """One example by its name.

    Raises
    ------
    InputError
        For an unknown name, listing the known ones.
    """
    known = {example.name: example for example in examples()}
    if name not in known:
        raise InputError(
            message("there is no example {name}", repr(name)),
            hint=closest_match(name, known) or message("there are {known}", ", ".join(known)),
        )
    return known[name]
