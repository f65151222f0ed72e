"""Coding variables while records are counted: bands, cut points and code lists.

A coding assigns each value of a variable to the category it is counted in. The values are examined
first (they are few compared with the records), so that a value without a category is reported with
its line; DuckDB then joins values with categories in the query that counts. If a variable has several
codings, the finest gives its categories; the others, and the coarser groups of a code list, are its
levels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import pairwise
from os.path import exists
from pathlib import Path
from types import MappingProxyType

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.formats.grouping_files import (
    depth_names,
    merged_squares,
    read_code_list,
    read_hierarchy,
)
from tabprotect.engine.plain_values.decoding import natural
from tabprotect.engine.tables.category_order import in_order
from tabprotect.engine.tables.groupings.bands import cut_names, span_text, whole
from tabprotect.engine.tables.groupings.unlisted_codes import counted_as
from tabprotect.engine.tables.variable import MISSING, Level, Variable
from tabprotect.languages.messages import message

Fault = Callable[[str], InputError]
"""The error of a value that has no category, with its place."""


@dataclass(frozen=True)
class AddedUp:
    """The columns to be added up besides the number of records, if any.

    Attributes
    ----------
    weight
        A column of weights of at least 0, added up instead of counting records. The sum of every
        cell must be a whole number (summed exactly, to nine decimals).
    record_key
        A column of record keys: fractions from 0 up to below 1, or whole numbers below 10^8.
    design_weight
        A column with the number of people each record stands for, at least 0, taken to six
        decimals; its sums are kept beside the counts.
    """

    weight: str | None = None
    record_key: str | None = None
    design_weight: str | None = None

    @property
    def names(self) -> list[str]:
        """The names of the columns given."""
        every = self.weight, self.record_key, self.design_weight
        return [name for name in every if name is not None]


ONLY_COUNTED = AddedUp()

UNWEIGHTED = "none"
"""In place of a column of weights: each row counts once, whatever the file says."""


@dataclass(frozen=True)
class Codings:
    """The codings of the variables of a tabulation; variables not named stay as they are.

    Attributes
    ----------
    bands
        Width of bands of whole numbers by variable: 5 for "0-4", "5-9", ...; several widths are
        levels (``band5``, ``band20``).
    cuts
        The starts of bands: (0, 15, 65) for "0-14", "15-64", "65+"; a level (``cut``) if there are
        ``bands`` too.
    code_lists
        A file with the group of each code: columns, the first named like the variable, or a
        hierarchy (``.hrc``). ``geo.csv@half`` takes the column ``half`` (by default the first one),
        ``geo.hrc@region_1`` the first level from above (by default the one next above each code;
        the deepest is that of the codes themselves). ``census.csv@20`` merges squares of a grid until each
        has 20 people by the counts of the file. Coarser groups in the file become the
        variable's levels.
    mapping
        ``variable:code`` -> the listed code that a code of the data is counted as, itself for a group
        of its own, or nothing where its records are left out.
    level_names
        The names of a hierarchy's levels, the coarsest first, optionally ending with that of the
        codes themselves: a ``.hrc`` file has only codes.
    nested
        Nested columns, the coarsest first, by the variable whose levels they are.
    order
        One of :data:`~tabprotect.engine.tables.category_order.ORDERS`, for variables that are not in
        bands; ``None`` as the file declares, else by their names.

    Raises
    ------
    InputError
        For a variable coded twice.
    ParameterError
        For widths or cut points that make no bands, and for levels that are none.
    """

    bands: Mapping[str, int | Sequence[int]] = field(default_factory=lambda: MappingProxyType({}))
    cuts: Mapping[str, Sequence[int]] = field(default_factory=lambda: MappingProxyType({}))
    code_lists: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    nested: Mapping[str, Sequence[str]] = field(default_factory=lambda: MappingProxyType({}))
    level_names: Mapping[str, Sequence[str]] = field(default_factory=lambda: MappingProxyType({}))
    mapping: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    order: str | None = None

    def __post_init__(self) -> None:
        for name in self.variables:
            if name in self.code_lists and (name in self.bands or name in self.cuts):
                raise InputError(
                    message("{name} is coded twice", name), hint=message("choose bands or a code list")
                )
        for name in self.bands:
            widths = self.widths(name)
            if not widths or min(widths) < 1:
                said = message(
                    "{name}: a band has a width of at least 1, not {widths}", name, min(widths, default=0)
                )
                raise ParameterError({"bands": said})
        for name, cuts in self.cuts.items():
            if not cuts or any(a >= b for a, b in pairwise(cuts)):
                raise ParameterError(
                    {"cuts": message("{name}: cut points stand in rising order", name)},
                    hint=message("for example 0,15,65"),
                )
        for name in self.level_names:
            if not _file_and_level(self.code_lists.get(name, ""))[0].suffix.lower() == ".hrc":
                raise ParameterError(
                    {"level_names": message("{name}: levels are named for a hierarchy (.hrc)", name)},
                    hint=message("the columns of a code list, and of records that nest, have their names"),
                )
        for name, columns in self.nested.items():
            if len(columns) < 2 or len(set(columns)) < len(columns):
                said = message("{name}: levels are two columns or more, each once, the coarsest first", name)
                raise ParameterError({"levels": said}, hint=message("for example nuts1,nuts2,nuts3=nuts"))

    @property
    def variables(self) -> tuple[str, ...]:
        """The coded variables."""
        return tuple({**self.bands, **self.cuts, **self.code_lists})

    def widths(self, name: str) -> tuple[int, ...]:
        """The widths of a variable's bands, the finest first."""
        given = self.bands.get(name, ())
        return (given,) if isinstance(given, int) else tuple(sorted(set(given)))

    def columns(self, by: Sequence[str]) -> list[str]:
        """The columns to count by, including those of coded variables and of levels.

        The columns of a nested variable take its place, or that of one of them.
        """
        out: list[str] = []
        waiting = dict(self.nested)
        for name in by:
            found = [n for n, columns in waiting.items() if name == n or name in columns]
            if not found and any(name in columns for columns in self.nested.values()):
                continue
            out += waiting.pop(found[0]) if found else [name]
        out += [column for columns in waiting.values() for column in columns]
        return [*out, *(name for name in self.variables if name not in out)]

    def coded(self, name: str, values: Sequence[str], fault: Fault) -> Coded:
        """Code the values of a variable, with the categories in the order of publication.

        Missing values stay missing, unless a code list gives them a group.

        Raises
        ------
        InputError
            For a value without a category, or codings that do not nest.
        """
        present = [value for value in values if value != MISSING]
        if name in self.code_lists:
            called = self.level_names.get(name, ())
            said = {
                code: to
                for (variable, _, code), to in ((k.partition(":"), v) for k, v in self.mapping.items())
                if variable == name
            }
            found = _listed(name, values, self.code_lists[name], said, called)
        else:
            ways = {f"band{w}": _banded(present, w, fault) for w in self.widths(name)}
            if name in self.cuts:
                ways["cut"] = _cut(present, self.cuts[name], fault)
            found = _levelled(name, ways)
        if MISSING in values:
            found = found.with_missing()
        return found


@dataclass(frozen=True)
class Coded:
    """A coded variable.

    Attributes
    ----------
    categories
        The category of each value, in the order of the categories.
    above
        The group of each category, by level.
    finest
        The name of the categories' own level, if there are others.
    banded
        True if they are bands of numbers, which have one order.
    """

    categories: Mapping[str, str]
    above: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    finest: str = ""
    banded: bool = False

    def with_missing(self) -> Coded:
        """Add the category of missing values."""
        categories = {**self.categories}
        missing = categories.setdefault(MISSING, MISSING)
        above = {name: {missing: MISSING, **groups} for name, groups in self.above.items()}
        return replace(self, categories=categories, above=above)

    def variable(self, name: str, order: str | None) -> Variable:
        """The variable with all its categories."""
        categories = tuple(dict.fromkeys(self.categories.values()))
        if order in ("name", "code") and not self.banded:
            categories = tuple(in_order(categories))
        levels = (Level(level, tuple(groups[c] for c in categories)) for level, groups in self.above.items())
        return Variable(name, categories, tuple(levels), self.finest)


def _levelled(name: str, ways: Mapping[str, Mapping[str, str]]) -> Coded:
    """Combine several codings of the same values: the finest, with the others as levels above it."""
    finest = max(ways, key=lambda way: len(set(ways[way].values())))
    above: dict[str, dict[str, str]] = {}
    for way, groups in ways.items():
        found: dict[str, str] = {}
        for value, category in ways[finest].items():
            if found.setdefault(category, groups[value]) != groups[value]:
                raise InputError(
                    message(
                        "{name}: {category} lies in both {found} and {groups}",
                        name,
                        category,
                        found[category],
                        groups[value],
                    ),
                    hint=message("let the wider bands begin where narrower ones do"),
                )
        if way != finest and len(set(found.values())) < len(found):
            above[way] = found
    return Coded(ways[finest], above, finest if above else "", banded=True)


def _numbers(values: Sequence[str], fault: Fault) -> Iterator[tuple[int, str]]:
    """The values as increasing numbers."""
    found = []
    for value in values:
        number = whole(value)
        if number is None:
            raise fault(value)
        found.append((number, value))
    return iter(sorted(found))


def _banded(values: Sequence[str], width: int, fault: Fault) -> dict[str, str]:
    starts = {value: number // width * width for number, value in _numbers(values, fault)}
    return {value: span_text(low, low + width - 1) for value, low in starts.items()}


def _cut(values: Sequence[str], cuts: Sequence[int], fault: Fault) -> dict[str, str]:
    names = cut_names(cuts)
    return {value: names[sum(number >= cut for cut in cuts)] for number, value in _numbers(values, fault)}


@dataclass(frozen=True)
class _Listed:
    """What a list says of codes: the group of each, the groups above by level, the name of the groups' level.

    ``inner`` are codes that only others lie below.
    """

    groups: Mapping[str, str]
    above: Mapping[str, Mapping[str, str]]
    finest: str
    inner: Set[str] = frozenset()


def _listed(
    name: str, values: Sequence[str], text: str, mapping: Mapping[str, str], called: Sequence[str]
) -> Coded:
    path, level = _file_and_level(text)
    if path.suffix.lower() == ".hrc":
        return _counted(
            name, values, _in_tree(name, read_hierarchy(path), level, called, path), mapping, path
        )
    (header, rows), _ = read_code_list(path, [name])
    if len(header) < 2:
        raise InputError(message("the code list groups nothing"), file=path)
    people = natural(level)
    if people is not None and level not in header[1:]:
        into = merged_squares(rows, [value for value in values if value != MISSING], people, path)
        return _counted(name, values, _Listed(into, {}, ""), mapping, path)
    at = _level(level, header[1:], path) if level else 0
    groups = {code: row[at] for code, row in rows.items()}
    above = {
        other: found
        for n, other in enumerate(header[1:])
        if n != at and (found := _above(groups, rows, n)) is not None
    }
    listed = _Listed(groups, above, header[1 + at] if above else "")
    return _counted(name, values, listed, mapping, path)


def counted_by_codes(name: str, text: str, called: Sequence[str]) -> str:
    """The entry that counts by the codes of a hierarchy with all levels, where ``text`` counts by its coarsest groups.

    Empty where it counts by a chosen level, by the only one, or by no hierarchy.
    """
    path, level = _file_and_level(text)
    if level or path.suffix.lower() != ".hrc":
        return ""
    levels = _called(depth_names(name, max(map(len, read_hierarchy(path).values()))), called, path)
    return f"{name}={text}@{levels[-1]}" if len(levels) > 1 else ""


def in_their_tree(name: str, values: Sequence[str], trails: Mapping[str, Sequence[str]], path: Path) -> Coded:
    """The codes of a variable with the levels that their own file's description names.

    Raises
    ------
    InputError
        For codes that the tree lacks.
    """
    deepest = depth_names(name, max(map(len, trails.values())))[-1]
    return _counted(name, values, _in_tree(name, trails, deepest, (), path), {}, path)


def _in_tree(
    name: str, trails: Mapping[str, Sequence[str]], level: str, called: Sequence[str], path: Path
) -> _Listed:
    levels = _called(depth_names(name, max(map(len, trails.values()))), called, path)
    at = _level(level, levels, path) if level else None
    cut = {code: trail[: _depth(trail, at)] for code, trail in trails.items()}
    depth = max(map(len, cut.values()))
    above = {
        levels[n]: {trail[-1]: trail[min(n, len(trail) - 1)] for trail in cut.values()}
        for n in range(depth - 1)
    }
    inner = {upper for trail in trails.values() for upper in trail[:-1]}
    groups = {code: trail[-1] for code, trail in cut.items()}
    return _Listed(groups, above, levels[depth - 1] if above else "", inner)


def _counted(
    name: str, values: Sequence[str], listed: _Listed, mapping: Mapping[str, str], path: Path
) -> Coded:
    groups, above, finest, inner = listed.groups, listed.above, listed.finest, listed.inner
    present = [value for value in values if value in groups or value != MISSING]
    counted = counted_as(name, present, groups, mapping, path)
    for code in counted.values():
        if not groups.get(code, code):
            raise InputError(message("the code {value} has no group", repr(code)), file=path)
    # In the order of the file, whether there is a record or not, then what it lacks.
    declared = ((code, code) for code in groups if groups[code] and code not in inner)
    pairs = [*declared, *counted.items()]
    own = [code for _, code in pairs if code not in groups]
    above = {level: {**of, **{code: code for code in own}} for level, of in above.items()}
    return Coded({value: groups.get(code, code) for value, code in dict(pairs).items()}, above, finest)


def _called(levels: list[str], called: Sequence[str], path: Path) -> list[str]:
    """The names of a hierarchy's levels: as given, or by depth."""
    if not called:
        return levels
    short = len(levels) - len(called)
    if short not in (0, 1) or len({*called, *levels[len(called) :]}) < len(levels):
        raise InputError(
            message(
                "{called} names for a hierarchy of {levels} levels, the codes' own among them",
                len(called),
                len(levels),
            ),
            file=path,
            hint=message("name each level once, the coarsest first; the codes' own may be left out"),
        )
    return [*called, *levels[len(called) :]]


def _above(
    groups: Mapping[str, str], rows: Mapping[str, Sequence[str]], column: int
) -> dict[str, str] | None:
    """A column of a code list as groups of another one; ``None`` if it is not coarser."""
    found: dict[str, str] = {}
    for code, group in groups.items():
        if not rows[code][column] or found.setdefault(group, rows[code][column]) != rows[code][column]:
            return None
    return found if len(set(found.values())) < len(found) else None


def _depth(trail: Sequence[str], level: int | None) -> int:
    """The depth of a level in the trail of a code; without a level, that next above the code."""
    return max(len(trail) - 1, 1) if level is None else min(level + 1, len(trail))


def _level(level: str, levels: Sequence[str], path: Path) -> int:
    if level not in levels:
        raise InputError(
            message("the code list has no level {level}", repr(level)),
            file=path,
            hint=message("it has {levels}", ", ".join(levels)),
        )
    return levels.index(level)


def _file_and_level(text: str) -> tuple[Path, str]:
    if exists(text):
        return Path(text), ""
    path, _, level = text.rpartition("@")
    return (Path(path), level) if path else (Path(text), "")
