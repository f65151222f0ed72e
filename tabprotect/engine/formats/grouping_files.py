"""Groupings: the text in which a person writes them, and the files that hold them."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tabprotect.engine.errors import InputError, in_file
from tabprotect.engine.formats.text.rows import TextRows
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping, check_groupings, declared
from tabprotect.engine.tables.groupings.squares import merged
from tabprotect.engine.tables.groupings.unlisted_codes import counted_as
from tabprotect.engine.tables.variable import Level, Variable
from tabprotect.languages.messages import joined, message, plural

FORM = message('write name:variable=category>group,category>group, for example "eu:geo=Spain>EU,Iceland>no"')
_PARTS = re.compile(r'(?:[^;"]|"[^"]*")+')
"""The parts between semicolons; quotation marks protect a semicolon inside a category."""
SUFFIXES = (".hrc", ".csv", ".tsv", ".txt", ".gz")


def _parts(text: str) -> list[str]:
    return [part for part in map(str.strip, _PARTS.findall(text)) if part]


def _names_file(part: str) -> bool:
    return Path(part).suffix.lower() in SUFFIXES and ">" not in part


def names_files(text: str) -> bool:
    """Return True if a part of the text would be read from a file."""
    return any(map(_names_file, _parts(text)))


def parse_groupings(text: str, domain: Domain) -> tuple[Grouping, ...]:
    """Parse groupings written out, or the files that hold them, separated by semicolons.

    A level that a variable has is named alone: ``region@nuts2``. A file of columns (CSV) has the
    variable's categories in its first column, under the variable's name, and one further column for
    each grouping. A hierarchy file (``.hrc``, as for tau-ARGUS) has one code a line, preceded by one
    ``@`` for each level; its variable is the one whose categories it holds, or the one the file is named
    after, and its levels are named ``geo_1``, ``geo_2``, ... from the coarsest.

    Parameters
    ----------
    text
        ``eu:geo=Spain>EU,Iceland>nonEU,Portugal>EU; half:year=...``, or paths.

    Raises
    ------
    InputError
        For wrong syntax, an unknown variable or category, or a category without a group.
    """
    found = unchecked_groupings(text, domain)
    check_groupings(domain, found)
    return found


def stated_groupings(text: str, domain: Domain) -> tuple[Grouping, ...]:
    """Parse groupings as :func:`parse_groupings`, from the text of a release, which may name no file.

    Raises
    ------
    InputError
        Also if a part is not a grouping written out.
    """
    for part in filter(None, map(str.strip, _PARTS.findall(text))):
        if ">" not in part and part not in {grouping.name for grouping in declared(domain)}:
            raise InputError(message("{part} is not a grouping", repr(part[:60])), hint=FORM)
    return parse_groupings(text, domain)


def unchecked_groupings(text: str, domain: Domain) -> tuple[Grouping, ...]:
    """Parse groupings as :func:`parse_groupings`, if they have columns of their own in the domain."""
    found: list[Grouping] = []
    known = {grouping.name: grouping for grouping in declared(domain)}
    for part in _parts(text):
        path = Path(part)
        if part in known:
            found.append(known[part])
        elif _names_file(part):
            found += _read_hrc(path, domain) if path.suffix.lower() == ".hrc" else _read_columns(path, domain)
        else:
            found.append(_inline(part, domain))
    return tuple(found)


def grouping_text(groupings: Sequence[Grouping], domain: Domain) -> str:
    """The text of groupings for :func:`parse_groupings`, without any file.

    Raises
    ------
    InputError
        For a name or category that cannot be written this way.
    """
    parts = []
    known = declared(domain)
    for grouping in groupings:
        if grouping in known:
            parts.append(grouping.name)
            continue
        pairs = zip(domain[grouping.of].categories, grouping.groups, strict=True)
        quoted = (f"{category}>{group}".replace('"', '""') for category, group in pairs)
        parts.append(f"{grouping.name}:{grouping.of}=" + ",".join(f'"{pair}"' for pair in quoted))
    text = joined(parts, "; ")
    try:
        same = parse_groupings(text, domain) == tuple(groupings)
    except InputError:
        same = False
    if not same:
        raise InputError(
            message("a name, category or group cannot be written down"),
            hint=message("rename it: no > in a group, no = or : in a name, no blanks around either"),
        )
    return text


def _inline(part: str, domain: Domain) -> Grouping:
    head, equals, body = part.partition("=")
    name, colon, of = head.partition(":")
    name, of = name.strip(), of.strip()
    if not equals or not colon or not name or not of:
        raise InputError(message("{part} is not a grouping", repr(part)), hint=FORM)
    # Quotation marks protect a comma inside a category.
    try:
        (pairs,) = csv.reader([body], skipinitialspace=True)
    except (csv.Error, ValueError):
        raise InputError(message("{body} is not one line of groups", repr(body[:60])), hint=FORM) from None
    given: dict[str, str] = {}
    for pair in pairs:
        category, arrow, group = pair.rpartition(">")
        if category not in domain[of].categories:
            category = category.strip()
        group = group.strip()
        if not arrow or not category or not group:
            raise InputError(
                message("{pair} in the grouping {name} names no group", repr(pair), repr(name)), hint=FORM
            )
        if given.setdefault(category, group) != group:
            raise InputError(
                message("the category {category} has two groups in {name}", repr(category), repr(name)),
                hint=FORM,
            )
    return _complete(name, domain[of], given)


def _complete(name: str, variable: Variable, given: Mapping[str, str]) -> Grouping:
    for category in given:
        variable.code(category)
    without = [category for category in variable.categories if category not in given]
    if without:
        raise InputError(
            plural(
                len(without),
                "{name}: {without} category has no group in {name2}, first {without2}",
                "{name}: {without} categories have no group in {name2}, first {without2}",
                variable.name,
                len(without),
                repr(name),
                repr(without[0]),
            ),
            hint=message("name the group of every category; a category may be a group of its own"),
        )
    return Grouping(name, variable.name, tuple(given[c] for c in variable.categories))


def code_list_levels(
    path: Path, variable: Variable, least: int | None = None
) -> tuple[tuple[Level, ...], dict[str, str]]:
    """The levels of a variable in a code list, and the labels of its categories.

    A code list is a file of columns, possibly with one ``label``, or a hierarchy (``.hrc``). Codes that
    the variable lacks are left unused; a category that the list lacks stands alone in every level.

    Parameters
    ----------
    least
        As of :func:`merged_squares`, where the list has public counts of squares.

    Raises
    ------
    InputError
        For a file that is neither, and a list that groups nothing.
    """
    levels, rows, labels = _code_list(path, variable, least)
    lines = [rows.get(category, (category,)) for category in variable.categories]
    found = [(name, tuple(line[min(n, len(line) - 1)] for line in lines)) for n, name in enumerate(levels)]
    merging = [Level(*level) for level in found if len(set(level[1])) < len(level[1])]
    if not merging and not labels:
        raise InputError(message("the code list groups nothing"), file=path)
    return tuple(merging), {c: text for c, text in labels.items() if c in variable.categories}


def codes_counted_as(
    path: Path, variable: Variable, mapping: Mapping[str, str], least: int | None = None
) -> dict[str, str]:
    """Category -> the code of a list that it is counted as; none for those that are left out.

    Raises
    ------
    UnlistedError
        For categories that the list lacks and ``mapping`` says nothing of.
    """
    _, rows, _ = _code_list(path, variable, least)
    return counted_as(variable.name, variable.categories, rows, mapping, path)


def _code_list(
    path: Path, variable: Variable, least: int | None
) -> tuple[list[str], Mapping[str, tuple[str, ...]], Mapping[str, str]]:
    """The names of the levels, the groups of each code, and the labels of codes."""
    if path.suffix.lower() != ".hrc":
        (header, given), labels = read_code_list(path, [variable.name])
        if least is None:
            return header[1:], given, labels
        into = merged_squares(given, variable.categories, least, path)
        return [MERGED], {code: (group,) for code, group in into.items()}, {}
    trails = read_hierarchy(path)
    depth = max((len(trails[c]) for c in variable.categories if c in trails), default=1)
    return depth_names(variable.name, depth - 1), trails, {}


def _read_columns(path: Path, domain: Domain) -> list[Grouping]:
    (header, given), _ = read_code_list(path, domain.names)
    with in_file(path):
        return [
            # Codes that the table lacks are usual in official lists.
            _complete(
                name, domain[header[0]], {c: given[c][at] for c in domain[header[0]].categories if c in given}
            )
            for at, name in enumerate(header[1:])
        ]


Columns = tuple[list[str], dict[str, tuple[str, ...]]]
"""The header of a code list, and the groups of each code."""

LABEL = "label"
"""The column of a code list with the labels of its codes."""


def read_code_list(path: Path, variables: Sequence[str]) -> tuple[Columns, dict[str, str]]:
    """Read a file of columns: its header, the groups of each code of its variable, and its labels.

    Raises
    ------
    InputError
        With the line; also if the first column is none of ``variables``.
    """
    records = TextRows(path)
    rows = list(records.rows())
    if not rows:
        raise InputError(message("the file has no rows"), file=path)
    header, width = rows[0], len(rows[0])
    if width < 2 or header[0] not in variables:
        raise InputError(
            message("the file does not say which variable it groups"),
            file=path,
            line=records.line(0),
            hint=message(
                "its first column is named for one of {variables}, every further column for a grouping",
                ", ".join(variables),
            ),
        )
    given: dict[str, tuple[str, ...]] = {}
    for number, row in enumerate(rows[1:], 1):
        if len(row) != width or row[0] in given:
            raise InputError(
                (
                    message("the row of {row} has the wrong number of fields", repr(row[0]))
                    if len(row) != width
                    else message("the row of {row} names it again", repr(row[0]))
                ),
                file=path,
                line=records.line(number),
                hint=message("give every category one row"),
            )
        given[row[0]] = tuple(row[1:])
    if LABEL not in header[1:]:
        return (header, given), {}
    at = header.index(LABEL, 1)
    labels = {code: row[at - 1] for code, row in given.items() if row[at - 1]}
    left = {code: (*row[: at - 1], *row[at:]) for code, row in given.items()}
    return ([*header[:at], *header[at + 1 :]], left), labels


MERGED = "merged"
"""The level of squares that are merged where few people live."""


def merged_squares(
    given: Mapping[str, Sequence[str]], codes: Sequence[str], least: int, path: Path
) -> dict[str, str]:
    """The larger square that each square is in, by the public counts that a list has beside its codes.

    Parameters
    ----------
    codes
        Those of the variable: where the list lacks one, nobody lived there.
    least
        The people that a square has, or four of them become one.

    Raises
    ------
    InputError
        For what is no square, and for a count that is none.
    """
    with in_file(path):
        try:
            last = {code: int(row[0]) for code, row in given.items()}
        except ValueError:
            raise InputError(
                message("the list has no whole number beside each square"),
                hint=message("its second column is how many people lived there by an earlier count"),
            ) from None
        return merged(dict.fromkeys(codes, 0) | last, least=least)


def read_hierarchy(path: Path, lead: str = "@") -> dict[str, tuple[str, ...]]:
    """Read a hierarchy file: each code with the codes above it, from the coarsest to itself.

    Raises
    ------
    InputError
        With the line.
    """
    records = TextRows(path, delimiter="\t")
    trail: list[str] = []
    parents: dict[str, tuple[str, ...]] = {}
    for number, row in enumerate(records.rows()):
        rest, depth = row[0].strip(), 0
        while lead and rest.startswith(lead):
            rest, depth = rest.removeprefix(lead), depth + 1
        code = rest.strip()
        if depth > len(trail) or not code or code in parents:
            raise InputError(
                (
                    message("the code {code} occurs twice", repr(code))
                    if code in parents
                    else message("the code {code} is more than one level below the last", repr(code))
                ),
                file=path,
                line=records.line(number),
                hint=message("one code a line, with one more @ for each level"),
            )
        trail[depth:] = [code]
        parents[code] = tuple(trail)
    return parents


def _read_hrc(path: Path, domain: Domain) -> list[Grouping]:
    parents = read_hierarchy(path)
    fits = [v for v in domain.variables if all(c in parents for c in v.categories)]
    named = [v for v in fits if v.name == path.stem]
    if len(named or fits) != 1:
        raise InputError(
            message("the file holds the categories of ")
            + (
                message("several variables ({join})", ", ".join(v.name for v in fits))
                if fits
                else message("no variable")
            ),
            file=path,
            hint=message("list every category of the variable; name the file for it"),
        )
    variable = (named or fits)[0]
    lines = [parents[category] for category in variable.categories]
    # A category above the deepest level is its own group in the levels below it.
    return [
        Grouping(name, variable.name, tuple(line[min(level, len(line) - 1)] for line in lines))
        for level, name in enumerate(depth_names(variable.name, max(map(len, lines)) - 1))
    ]  # fmt: skip


def depth_names(variable: str, depth: int) -> list[str]:
    """Names for the levels of a hierarchy, which has only codes, by their depth.

    ``geo_1`` is the coarsest, the lines without ``@`` in a ``.hrc`` file: the level that tau-ARGUS
    numbers 1, below the total, which it numbers 0.
    """
    return [f"{variable}_{level}" for level in range(1, depth + 1)]
