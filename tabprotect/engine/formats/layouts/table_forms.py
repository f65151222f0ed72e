"""The form of a table file: a list of cells (long form) or a rectangular grid."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from tabprotect.engine.errors import InputError, RecordsError, in_file
from tabprotect.engine.foreign.looks_numeric import looks_numeric, mostly_numeric
from tabprotect.engine.formats.statuses import COLUMNS, FLAGS
from tabprotect.engine.formats.text.rows import RowSource
from tabprotect.engine.plain_values.decoding import natural
from tabprotect.languages.messages import joined, message, plural

SURE_NAMES = frozenset({"count", "counts", "freq", "frequency", "frequencies"})
COUNT_NAMES = SURE_NAMES | {"n"}
SAMPLE_ROWS = 200


@dataclass(frozen=True)
class Form:
    """The recognised form of a file.

    Attributes
    ----------
    count_column
        In long form, the column of the counts.
    first_variable
        In long form, the first column that is a variable (row numbers come before it).
    note
        The form in words, if there was a choice.
    left_out
        In long form, further columns that are no variables.
    """

    kind: Literal["long", "grid", "matrix"]
    count_column: int = -1
    first_variable: int = 0
    note: str = ""
    left_out: frozenset[int] = frozenset()

    def notes(self, decimals: int) -> list[str]:
        """The form in words, and how many counts were written with decimals."""
        notes = [self.note] if self.note else []
        if decimals:
            notes.append(
                plural(
                    decimals,
                    "{decimals} count was written with decimals, all of them zeros",
                    "{decimals} counts were written with decimals, all of them zeros",
                    decimals,
                )
            )
        return notes


def count_columns(names: Iterable[str]) -> list[str]:
    """The columns that may hold the counts, by their names; ``count`` takes precedence."""
    named = [name for name in names if name.strip().casefold() in COUNT_NAMES]
    return ["count"] if "count" in named else named


def no_column(wanted: str, names: Iterable[str], *, file: str = "", line: int | None = None) -> InputError:
    """The error for a column that is not there."""
    return InputError(
        message("there is no column {wanted}", repr(wanted)),
        file=file or None,
        line=line,
        hint=message("the columns are {names}", ", ".join(names)),
    )


def count_column(names: Iterable[str], wanted: str | None, path: Path) -> str:
    """The column of the counts: the wanted one, else the one named like counts.

    Raises
    ------
    InputError
        If it does not exist.
    RecordsError
        If no column, or more than one, is named like counts: the file then holds records.
    """
    names = list(names)
    if wanted is not None:
        if wanted not in names:
            raise no_column(wanted, names)
        return wanted
    named = count_columns(names)
    if len(named) != 1:
        raise RecordsError(
            message("{name} holds records, not a table", path.name)
            if not named
            else message("several columns could hold the counts: {named}", ", ".join(named)),
            hint=message("tabulate records; in a table, name the column of the counts: --count COLUMN"),
        )
    return named[0]


def status_columns(names: Iterable[str]) -> frozenset[int]:
    """The columns of statuses, by their fixed names; or a last column of flags."""
    words = [name.strip() for name in names]
    found = {n for n, word in enumerate(words) if word.upper() in COLUMNS}
    return frozenset(found | ({len(words) - 1} if _flagged(words) else set()))


def _flagged(words: Sequence[str]) -> bool:
    return len(words) > 2 and words[-1].casefold() in FLAGS


def recognise(
    source: RowSource, *, count: str | None = None, drop: Collection[str] = (), variable: Collection[str] = ()
) -> Form:
    """Recognise long form, a grid with labels, or a bare matrix from the first rows.

    Parameters
    ----------
    count
        The name of the column of counts, which implies long form.
    drop
        The names of columns that are left out.
    variable
        The names of columns of numbers that are variables.

    Raises
    ------
    InputError
        When the form is unclear, or there is nothing to read.
    """
    sample = list(itertools.islice(source.rows(), SAMPLE_ROWS))
    if not sample:
        raise InputError(
            message("the file has no rows"), file=source.name, hint=message("export the table again")
        )
    header, body = sample[0], [row for row in sample[1:] if len(row) == len(sample[0])]
    gone = dropped_columns(header, drop)
    shares = percentages(header, body, {*drop, *variable, *([count] if count else ())})
    if shares:
        form = _recognised_without(source, gone | shares, (header, *body), len(sample), count)
        if form.kind == "long":
            return replace(form, note=joined(filter(None, (form.note, left_out(header, shares)))))
    return _recognised_without(source, gone, (header, *body), len(sample), count)


def _recognised_without(
    source: RowSource, gone: frozenset[int], sample: Sequence[list[str]], rows: int, count: str | None
) -> Form:
    """The form of a file without some of its columns."""
    if not gone:
        return _recognised(source, sample[0], [*sample[1:]], rows, count)
    kept = [n for n in range(len(sample[0])) if n not in gone]
    part = [[row[n] for n in kept] for row in sample]
    form = _recognised(source, part[0], part[1:], rows, count)
    return replace(
        form,
        count_column=kept[form.count_column],
        first_variable=kept[form.first_variable],
        left_out=gone | {kept[n] for n in form.left_out},
    )


LEFT_OUT = message("left out, as it holds percentages: {names}")
"""Note on columns that were left out."""

PERCENT = re.compile(r"%|\b(per ?cent|percentage|pct|prozent)\b", re.IGNORECASE)
"""Words in the name of a column of percentages."""


def percentages(
    header: Sequence[str], body: Sequence[Sequence[str]], stated: Collection[str]
) -> frozenset[int]:
    """The columns of percentages beside other numbers: named so, and not whole.

    What is ``stated`` of a column's name counts more than what it looks like.
    """
    if not body:
        return frozenset()
    columns = [*zip(*body, strict=True)]
    found = {
        n
        for n, of in enumerate(columns)
        if PERCENT.search(header[n]) and header[n].strip() not in {s.strip() for s in stated}
        if all(looks_numeric(t) or not re.search(r"\w", t) for t in of) and any(map(_has_decimals, of))
    }
    others = [n for n in range(len(columns)) if n not in found]
    numbers = found and any(mostly_numeric(columns[n]) for n in others)
    return frozenset(found) if numbers else frozenset()


def left_out(header: Sequence[str], shares: Collection[int]) -> str:
    """Say what was left out because it holds percentages."""
    names = joined((header[n].strip() for n in sorted(shares)), ", ")
    return message(LEFT_OUT, names=names)


def dropped_columns(header: Sequence[str], drop: Collection[str]) -> frozenset[int]:
    """The columns to be left out.

    Raises
    ------
    InputError
        For a name that is not in the header.
    """
    words = [name.strip() for name in header]
    for name in drop:
        if name.strip() not in words:
            raise no_column(name, words)
    wanted = {name.strip() for name in drop}
    return frozenset(n for n, word in enumerate(words) if word in wanted)


def _recognised(
    source: RowSource, header: list[str], body: list[list[str]], rows: int, count: str | None
) -> Form:
    """The form of a file with these columns; ``rows`` are those of the sample, whatever their width."""
    words = [name.strip().casefold() for name in header]
    aside = status_columns(header)
    if count is not None:
        named = [name.strip() for name in header]
        if count.strip() not in named:
            raise no_column(count, header, file=source.name, line=source.line(0))
        at = named.index(count.strip())
        return Form("long", at, left_out=aside - {at})
    if len(header) == 1 and not looks_numeric(header[0]):
        raise InputError(
            message("there is only one column"),
            file=source.name,
            line=source.line(0),
            hint=message(
                "a table has one column per variable and a column count; "
                "separate columns by comma, semicolon or tab"
            ),
        )
    if all(looks_numeric(field) for field in header):
        return Form("matrix", note=message("read as counts without headers"))
    if not body:
        if rows > 1:
            return Form("long")
        raise nothing_but_header(source)
    if _flagged(words) and count_columns(words) in ([], [words[-2]]):
        before = message(
            "the column {header}, whose flags stand beside it, was taken as the count", repr(header[-2])
        )
        return Form("long", len(header) - 2, note=before, left_out=aside)
    found = _by_content(source, _Sample(header, words, body))
    return replace(found, left_out=aside) if found.kind == "long" else found


def nothing_but_header(source: RowSource) -> InputError:
    """The error for a file with only a first row."""
    return InputError(
        message("there is a header but no row of counts"),
        file=source.name,
        line=source.line(0),
        hint=message("export the table again"),
    )


@dataclass(frozen=True)
class _Sample:
    """The first rows: the header, its names in lower case, and the rows of its width below it."""

    header: list[str]
    names: list[str]
    body: list[list[str]]

    @property
    def numbers_its_rows(self) -> bool:
        """True if the unnamed first column numbers the rows, as pandas writes them."""
        if self.names[0] or self.names[-1] not in COUNT_NAMES or len(self.header) < 3:
            return False
        return all(row[0] == str(number) for number, row in enumerate(self.body, 1))

    @property
    def has_corner(self) -> bool:
        """True if the first field names rows and columns, or is empty, as in a grid and not in numbered records."""
        return "\\" in self.header[0] or (not self.names[0] and not self.numbers_records)

    @property
    def looks_like_grid(self) -> bool:
        """True if most fields after the first are numbers, and no two rows have the same name."""
        fields = [field for row in self.body for field in row[1:]]
        numeric = mostly_numeric(fields)
        distinct = len({row[0] for row in self.body}) == len(self.body)
        enough = len(self.header) > 2 and len(self.body) > 1
        return numeric and distinct and enough and not self.numbers_records

    @property
    def numbers_records(self) -> bool:
        """True if the first column is a running number, and texts beside it repeat, as of records."""
        first, *others = zip(*self.body, strict=True)
        rows = len(self.body)
        return (
            rows >= MANY
            and _runs(first)
            and any(len(set(of)) < rows and not mostly_numeric(of) for of in others)
        )

    @property
    def ends_in_numbers(self) -> bool:
        """True if only the last column is mostly numbers, and it has a name."""
        most = [mostly_numeric(column) for column in zip(*self.body, strict=True)]
        return most[-1] and sum(most) == 1 and not looks_numeric(self.header[-1])

    @property
    def numeric(self) -> list[str]:
        """The names of the columns that are mostly numbers."""
        columns = zip(self.header, zip(*self.body, strict=True), strict=True)
        return [name for name, of in columns if mostly_numeric(of)]

    @property
    def lists_records(self) -> bool:
        """True if no column can be that of the counts: the others, without a running number, repeat.

        A table lists each of its cells once. Beside a running number amounts with decimals are
        neither counts nor categories.
        """
        columns = [*zip(*self.body, strict=True)]
        rows = len(self.body)
        running = {n for n, of in enumerate(columns) if _runs(of)}
        if running:
            running |= {n for n, of in enumerate(columns) if 2 * sum(map(_has_decimals, of)) > rows}
        numeric = {n for n, of in enumerate(columns) if mostly_numeric(of)}
        return rows >= MANY and all(
            len(set(zip(*(columns[n] for n in range(len(columns)) if n not in running | {count}))))  # noqa: B905
            < rows
            for count in numeric - running
        )

    @property
    def has_numbers(self) -> bool:
        return any(looks_numeric(field) for row in self.body for field in row)


MANY = 20
"""The rows from which on repeated ones are no accident."""


def _has_decimals(text: str) -> bool:
    return looks_numeric(text) and re.search(r"[.,](?!\d{3}$)\d+$", text.strip()) is not None


def _runs(column: Sequence[str]) -> bool:
    """Return True for a running number."""
    first = natural(column[0])
    return first is not None and all(natural(text) == number for number, text in enumerate(column, first))


def _by_names(sample: _Sample) -> Form | None:
    """The form, if the header determines it."""
    if sample.numbers_its_rows:
        return Form("long", first_variable=1, note=message("the first column numbers the rows"))
    if sample.names[-1] in SURE_NAMES:
        return Form("long")
    if sample.has_corner:
        return Form("grid")
    if any(all(name.partition("\\")[::2]) for name in sample.header[1:]):
        raise InputError(
            message("several columns hold labels"), hint=message("read it as a grid: --form grid")
        )
    named = [at for at, name in enumerate(sample.names) if name in SURE_NAMES]
    return Form("long", named[0]) if len(named) == 1 else None


def _by_numbers(sample: _Sample) -> Form | None:
    """The form, if the positions of numbers determine it."""
    if sample.looks_like_grid:
        rows = sample.header[0]
        return Form("grid", note=message("read as a grid of {rows} by the other columns", repr(rows)))
    if sample.names[-1] in COUNT_NAMES:
        return Form("long")
    if sample.ends_in_numbers:
        return Form(
            "long", note=message("the column {header} was taken as the count", repr(sample.header[-1]))
        )
    return None


def _by_content(source: RowSource, sample: _Sample) -> Form:
    with in_file(Path(source.name)):
        found = _by_names(sample) or _by_numbers(sample)
    if found is not None:
        return found
    if not sample.has_numbers or sample.lists_records:
        raise RecordsError(
            message("{name} holds records, not a table", Path(source.name).name),
            hint=message("tabulate them"),
        )
    numbers = sample.numeric
    raise InputError(
        message("it cannot be told which column holds the counts")
        + (message(": {names} hold numbers", ", ".join(map(repr, numbers))) if numbers else ""),
        file=source.name,
        line=source.line(0),
        hint=message(
            "is each row a person or a firm? count them: --holds records; or say which column holds "
            "the count: --count COLUMN, and leave the others out: --drop COLUMN; or that several "
            "columns do: --form grid"
        ),
    )
