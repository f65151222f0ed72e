"""Coding variables while records are counted: bands, cut points and code lists.

A coding says of each value of a variable which category it is counted in. The values are looked at
first (they are few beside the records), so that a value without a category is named with its line;
DuckDB then joins values with categories in the query that counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.groupings import read_columns, read_hierarchy

MISSING = "(missing)"
"""The category of records whose value is missing (an empty field, a Parquet null)."""

_WHOLE = re.compile("[+-]?[0-9]{1,18}([.]0*)?")

Fault = Callable[[str], InputError]
"""The error of a value that has no category, with its place."""


@dataclass(frozen=True)
class Codings:
    """How the variables of a tabulation are coded; those that are not named stay as they are.

    Attributes
    ----------
    bands
        Width of bands of whole numbers by variable: 5 for "0-4", "5-9", ...
    cuts
        Where bands begin: (0, 15, 65) for "0-14", "15-64", "65+".
    code_lists
        A file with the group of each code: columns, the first named for the variable, or a
        hierarchy (``.hrc``). ``geo.csv@half`` takes the column ``half`` (else the first one),
        ``geo.hrc@region_1`` the first level from above (else that next above each code).

    Raises
    ------
    InputError
        For a width or cut points that make no bands, and a variable that is coded twice.
    """

    bands: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    cuts: Mapping[str, Sequence[int]] = field(default_factory=lambda: MappingProxyType({}))
    code_lists: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        for name in self.variables:
            if sum(name in given for given in (self.bands, self.cuts, self.code_lists)) > 1:
                raise InputError(f"{name} is coded twice", hint="choose bands or a code list")
        for name, width in self.bands.items():
            if width < 1:
                raise InputError(f"{name}: a band has a width of at least 1, not {width}")
        for name, cuts in self.cuts.items():
            if not cuts or any(a >= b for a, b in pairwise(cuts)):
                raise InputError(
                    f"{name}: cut points stand in rising order", hint="for example 0,15,65"
                )

    @property
    def variables(self) -> tuple[str, ...]:
        """Those that are coded."""
        return tuple({**self.bands, **self.cuts, **self.code_lists})

    def coded(self, name: str, values: Sequence[str], fault: Fault) -> dict[str, str]:
        """The category of each value, in the order in which the categories are published.

        A missing value stays missing, unless a code list says more.
        """
        present = [value for value in values if value != MISSING]
        if name in self.code_lists:
            found = _listed(name, values, self.code_lists[name], fault)
        elif name in self.bands:
            found = _banded(present, self.bands[name], fault)
        else:
            found = _cut(present, self.cuts[name], fault)
        if MISSING in values:
            found.setdefault(MISSING, MISSING)
        return found


def _numbers(values: Sequence[str], fault: Fault) -> Iterator[tuple[int, str]]:
    """The values as numbers, rising."""
    found = []
    for value in values:
        if not _WHOLE.fullmatch(value.strip()):
            raise fault(value)
        found.append((int(value.strip().partition(".")[0]), value))
    return iter(sorted(found))


def _span(low: int, high: int) -> str:
    """``0-4``; a band of one number is that number."""
    if low == high:
        return str(low)
    return f"{low}-{high}" if low >= 0 else f"{low} to {high}"


def _banded(values: Sequence[str], width: int, fault: Fault) -> dict[str, str]:
    starts = {value: number // width * width for number, value in _numbers(values, fault)}
    return {value: _span(low, low + width - 1) for value, low in starts.items()}


def _cut(values: Sequence[str], cuts: Sequence[int], fault: Fault) -> dict[str, str]:
    names = [
        f"under {cuts[0]}", *(_span(a, b - 1) for a, b in pairwise(cuts)), f"{cuts[-1]}+",
    ]  # fmt: skip
    return {
        value: names[sum(number >= cut for cut in cuts)]
        for number, value in _numbers(values, fault)
    }


def _listed(name: str, values: Sequence[str], text: str, fault: Fault) -> dict[str, str]:
    path, level = _file_and_level(text)
    if path.suffix.lower() == ".hrc":
        trails = read_hierarchy(path)
        levels = [f"{name}_{n}" for n in range(1, max(map(len, trails.values())))]
        at = _level(level, levels, path) if level else None
        groups = {code: _above(trail, at) for code, trail in trails.items()}
    else:
        header, rows = read_columns(path, [name])
        at = _level(level, header[1:], path) if level else 0
        groups = {code: row[at] for code, row in rows.items()}
    for value in values:
        if value not in groups and value != MISSING:
            raise fault(value)
        if value in groups and not groups[value]:
            raise InputError(f"the code {value!r} has no group", file=path)
    # In the order of the file.
    there = set(values)
    return {code: group for code, group in groups.items() if code in there}


def _above(trail: tuple[str, ...], level: int | None) -> str:
    """The code of a level; without one, that next above."""
    return trail[max(len(trail) - 2, 0) if level is None else min(level, len(trail) - 1)]


def _level(level: str, levels: Sequence[str], path: Path) -> int:
    if level not in levels:
        raise InputError(
            f"the code list has no level {level!r}", file=path, hint=f"it has {', '.join(levels)}"
        )
    return levels.index(level)


def _file_and_level(text: str) -> tuple[Path, str]:
    if Path(text).exists():
        return Path(text), ""
    path, _, level = text.rpartition("@")
    return (Path(path), level) if path else (Path(text), "")
