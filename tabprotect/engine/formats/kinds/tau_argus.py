"""tau-ARGUS: tables (.tab) and records (.asc), each with its description (.rda) beside it.

A table has a line for each cell: its codes, its numbers, its status, apart by `;` (where a code has
one, by another sign). Counts are the
variable marked `<FREQUENCY>`, else the first `<NUMERIC>` one, of which it is told, with decimal points or commas. Cells
with a total code (`<TOTCODE>`), or with a code that others lie below (`<HIERCODELIST>` in a file .hrc,
`<HIERLEVELS>`), are checked and left out; the hierarchy's levels are kept. Statuses are S (safe), U
(unsafe), P (protected: must be published), M (unsafe, secondary), E (empty); they are told, and suppression takes U, P and M as given. Labels
(`<CODELIST>` in a file .cdl) are kept, or taken in place of codes if they are asked for. Records have fixed columns or a separator;
codes declared missing are missing. Written with the description, a hierarchy for each variable that
has levels, a list of labels for each that has them; suppressed counts are `x` with the status U, and stand with M in an a priori file
(.hst), which suppression takes as given statuses: what is hidden stays hidden in the next table.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, islice
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.budgets import MOST_TEXT
from tabprotect.engine.errors import InputError, RecordsError
from tabprotect.engine.formats.agencies.rda_metadata import (
    TauMetadata,
    TauVariable,
    decoded,
    description,
    read_labels,
    read_metadata,
)
from tabprotect.engine.formats.format import Format, RecordsFile
from tabprotect.engine.formats.grouping_files import read_hierarchy
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.layouts.count_marks import CountMarks
from tabprotect.engine.formats.layouts.long_form import read_long
from tabprotect.engine.formats.layouts.observations import cells_shown, refuse_texts, with_a_variable
from tabprotect.engine.formats.layouts.stated_trees import StatedTree, Trails
from tabprotect.engine.formats.layouts.table_forms import COUNT_NAMES, Form
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.rows.sql_text import file_literal, literal, quoted
from tabprotect.engine.formats.statuses import (
    COUNT,
    EMPTY,
    PROTECTED,
    SAFE,
    SECONDARY,
    UNPUBLISHED,
    UNSAFE,
    statuses_told,
)
from tabprotect.engine.formats.text.numerals import NO_COUNT
from tabprotect.engine.formats.text.rows import SheetRows
from tabprotect.engine.paths import is_file
from tabprotect.engine.plain_values.decoding import natural
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import joined, message

LEAD = "@"


def trails(variable: TauVariable, codes: Sequence[str], folder: Path) -> Trails:
    """The tree of a variable as stated in its description; empty if it has none.

    Raises
    ------
    InputError
        For a file that does not exist, or is no hierarchy.
    """
    named = variable.options.get("HIERCODELIST", ())
    if named:
        # Only the file name is used: the description is not to be trusted.
        path = folder / Path(named[0].replace("\\", "/")).name
        lead = next(iter(variable.options.get("HIERLEADSTRING", ())), LEAD)
        return read_hierarchy(path, lead)
    widths = [
        width for word in variable.options.get("HIERLEVELS", ()) if (width := natural(word)) is not None
    ]
    ends = [end for end, width in zip(accumulate(widths), widths, strict=True) if width]
    if len(ends) < 2:
        return {}
    return {code: (*(code[:end] for end in ends if end < len(code)), code) for code in codes if code}


def hierarchy_text(variable: Variable, total: str) -> str:
    """The tree of a variable as a file (.hrc); empty if it has no levels.

    Raises
    ------
    InputError
        For a group named like another code.
    """
    lines = list(_lines(variable, range(len(variable.categories)), 0, 0))
    codes = [line.lstrip(LEAD) for line in lines]
    twice = next((c for c in codes if codes.count(c) > 1 or c == total), None)
    if twice is not None or any(c.startswith(LEAD) or not c.strip() for c in variable.categories):
        raise InputError(
            message(
                "tau-ARGUS cannot tell two codes {twice} of {name} apart", repr(twice), repr(variable.name)
            )
            if twice
            else message("a code of {name} begins with {LEAD}", repr(variable.name), LEAD),
            hint=message("name every group otherwise than its parts, or write CSV"),
        )
    return joined(lines, "\n") + "\n" if len(lines) > len(variable.categories) else ""


def label_text(variable: Variable) -> str:
    """The labels of a variable's categories as a file (.cdl); empty if it has none.

    Raises
    ------
    InputError
        For labels that could not be read back.
    """
    lines = []
    for code, label in zip(variable.categories, variable.labels, strict=False):
        if not label.isprintable() or '"' in label or label != label.strip():
            raise InputError(
                message("tau-ARGUS has no place for the label of {code}", repr(code[:40])),
                hint=message("labels have no quotation mark"),
            )
        # The first comma separates code and label.
        lines.append((f'"{code}"' if "," in code else code) + f",{label}\n")
    return "".join(lines)


def _lines(variable: Variable, members: Sequence[int], level: int, depth: int) -> Iterator[str]:
    if level == len(variable.levels) - 1:
        yield from (LEAD * depth + variable.categories[member] for member in members)
        return
    groups: dict[str, list[int]] = {}
    for member in members:
        groups.setdefault(variable.levels[level].groups[member], []).append(member)
    for group, parts in groups.items():
        if len(parts) == 1:
            yield LEAD * depth + variable.categories[parts[0]]
        elif len(groups) == 1:
            yield from _lines(variable, parts, level + 1, depth)
        else:
            yield LEAD * depth + group
            yield from _lines(variable, parts, level + 1, depth + 1)


STATUS = "status"
TOTAL = "Total"
GIVEN = frozenset({UNSAFE, PROTECTED, SECONDARY})
"""Statuses that suppression takes as given."""
ALL = "everybody"
"""The name of the variable and of its code in a table without variables."""
_UNHELD = re.compile(r'["\r\n\t\0]')
_LINE = re.compile(
    rb'(\xef\xbb\xbf)?\s*("[^"\r\n]*"\s*;\s*)+([-+0-9.,]+;)+"?[SUPMEZsupmezv]"?(;[-+0-9.,]*)*\r?\n'
)


class TauArgus(Format):
    label = message("tau-ARGUS")
    suffixes = (".tab", ".asc")
    only_read = (".asc",)
    begins = _LINE
    quotes = False
    holds = frozenset({"table", "records"})
    side_by_side = False
    options = frozenset({"count", "decimal", "delimiter", "encoding", "labels", "marks", "metadata"})
    described_by = (".rda",)
    without_levels = message("The names of the levels are left out.")
    labels = True
    needs_beside = True
    limits = (
        message("Names and codes cannot hold quotation marks or line ends, names no <, nor a code be Total."),
        message(
            "Shadow and cost variables, largest contributions and protection levels are left out of counts; "
            "tables of sums are read with them: tabulate T.tab --measure NAME."
        ),
        message("Names of levels are not written, nor groupings that cross the levels."),
        message("A table is read as a whole, at most 512 MiB."),
    )

    def accepts(self, path: Path, head: bytes) -> bool:
        # Tab-separated text is named .tab too.
        return self.sniff(head) or is_file(path.with_suffix(".rda"))

    def cells(self, path: Path, reading: Reading, progress: Progress = SILENT) -> tuple[CellList, list[str]]:
        beside = path.with_suffix(".rda") if reading.metadata is None else Path(reading.metadata)
        meta = read_metadata(path, beside)
        if path.suffix.lower() == ".asc" or any("RECORDKEY" in v.options for v in meta.variables):
            raise RecordsError(
                message("{name} holds records, not a table", path.name), hint=message("tabulate them first")
            )
        separator = reading.delimiter or meta.separator or ";"
        source = lines_of(path, meta, separator, reading.encoding)
        value = _response(meta, reading.count)
        axes = [at for at, v in enumerate(meta.variables) if v.classifies]
        left_out = frozenset(range(len(meta.variables))) - {value, *axes}
        sums = _of_sums(meta, value, path)
        try:
            cells, notes = read_long(
                source,
                Form("long", value, left_out=left_out),
                reading,
                marks=CountMarks.parse(reading.marks, own={UNPUBLISHED: "suppressed"}),
                progress=progress,
            )
        except InputError as error:
            if sums and error.hint == NO_COUNT:
                error.hint = sums
            raise
        notes += [sums] if sums else []
        trees = {
            name: StatedTree(trails(variable, codes, beside.parent), variable.total)
            for name, codes, variable in zip(
                cells.names, cells.categories, (meta.variables[at] for at in axes), strict=True
            )
        }
        labels = {
            name: read_labels(meta.variables[at], beside) for name, at in zip(cells.names, axes, strict=True)
        }
        letters = _letters(meta, source)
        given = [letters.get(cells.line(entry), "") for entry in range(len(cells.counts))]
        known = np.array([letter if letter in GIVEN else "" for letter in given], dtype="<U1")
        cells = replace(cells, trees=trees, labels=labels, letters=known if known.any() else None)
        told = statuses_told(STATUS, letters.values()) + message(", totals included")
        beside_counts = [
            v.name for at, v in enumerate(meta.variables) if at in left_out and "STATUS" not in v.options
        ]
        unread = message("left out: {names}", ", ".join(beside_counts))
        remarks = [*notes, *([told] if letters else []), *([unread] if beside_counts else [])]
        return cells.called(instead=reading.labels), remarks

    def records(self, path: Path, progress: Progress = SILENT) -> RecordsFile:
        meta = read_metadata(path, path.with_suffix(".rda"))
        fixed = not meta.separator
        columns = []
        for number, variable in enumerate(meta.variables):
            value = f"c{number}"
            if fixed:
                if len(variable.place) < 2:
                    raise InputError(
                        message("the description gives no place of {name}", repr(variable.name)),
                        file=path,
                        hint=message("Name start width"),
                    )
                start, width = variable.place[:2]
                value = f"substr(line, {start}, {width})"
            columns.append(f"{_value(variable, value)} AS {quoted(variable.name)}")
        names = ["line"] if fixed else [f"c{n}" for n in range(len(meta.variables))]
        types = ", ".join(f"'{name}': 'VARCHAR'" for name in names)
        with path.open("rb") as file:
            text = decoded(file.read(2**20)).isascii()
        encoding = "utf-8" if text or _is_utf8(path) else "latin-1"
        # With fixed columns a line is one field: no character may split it.
        parted = literal(meta.separator) if meta.separator else "chr(1)"
        quote = "quote='', escape=''" if fixed else "quote='\"', escape='\"'"
        if fixed:
            parted = "'\x01'"
        return RecordsFile(
            f"(SELECT {', '.join(columns)} FROM read_csv({file_literal(path)}, auto_detect=false, "
            f"header=false, columns={{{types}}}, delim={parted}, {quote}, strict_mode=true, "
            f"encoding='{encoding}'))",
            trees={
                variable.name: partial(trails, variable, folder=path.parent)
                for variable in meta.variables
                if {"HIERCODELIST", "HIERLEVELS"} & variable.options.keys()
            },
            weight=next((variable.name for variable in meta.variables if "WEIGHT" in variable.options), None),
        )

    def write(self, table: Table) -> bytes:
        return self._written(table, None)

    def publish(self, cube: Cube) -> bytes:
        return self._written(*with_a_variable(cube.table, cube.hidden, ALL, ALL))

    def beside(self, cube: Cube, path: Path, *, published: bool = False) -> dict[str, bytes]:
        table, hidden = cube.table, cube.hidden
        files: dict[str, str] = {}
        lists: dict[str, dict[str, str]] = {}
        for number, variable in enumerate(table.domain.variables, 1):
            of = lists[variable.name] = {}
            safe = re.sub(r"[^\w.-]", "_", variable.name)
            called = variable.name if safe == variable.name else f"{safe}_{number}"
            texts = {".hrc": hierarchy_text(variable, TOTAL), ".cdl": label_text(variable)}
            for suffix, text in texts.items():
                if text:
                    of[suffix] = f"{path.stem}_{called}{suffix}"
                    files[of[suffix]] = text
        names = table.domain.names or (ALL,)
        files[path.with_suffix(".rda").name] = description(
            names, lists, separator=separator_of(table.domain), count=COUNT, status=STATUS, total=TOTAL
        )
        if hidden is not None and hidden.any() and table.domain.ndim:
            files[path.with_suffix(".hst").name] = "".join(
                ";".join(
                    [
                        *(f'"{code}"' if ";" in code else code for code in table.domain.labels(cell)),
                        SECONDARY.lower(),
                    ]
                )
                + "\n"
                for cell in np.argwhere(np.asarray(hidden)).tolist()
            )
        return {name: text.encode("utf-8") for name, text in files.items()}

    def _written(self, table: Table, hidden: Bools | None) -> bytes:
        domain = table.domain
        check_names(domain)
        parted = separator_of(domain)
        lines = [
            parted.join([*(f'"{label}"' for label in labels), *_marked(count)])
            for _, labels, count in cells_shown(table, hidden)
        ]
        return ("\n".join(lines) + "\n").encode("utf-8")


def _marked(count: int | None) -> tuple[str, str]:
    """A count with its status."""
    if count is None:
        return UNPUBLISHED, UNSAFE
    return str(count), SAFE if count else EMPTY


def check_names(domain: Domain) -> None:
    for name in domain.names:
        if not name.isprintable() or set('<"') & set(name) or name in (COUNT, STATUS):
            raise InputError(
                message("tau-ARGUS has no place for a variable named {name}", repr(name[:40])),
                hint=message("rename it first"),
            )
    refuse_texts(
        (code for v in domain.variables for code in v.categories),
        lambda code: code == code.strip() and code not in ("", TOTAL) and not _UNHELD.search(code),
        "tau-ARGUS",
    )
    if not domain.ndim:
        raise InputError(message("tau-ARGUS needs a variable"), hint=message("write CSV"))


def separator_of(domain: Domain) -> str:
    """The first character that no code has, because tau-ARGUS splits fields at it even inside quotation marks."""
    codes = "".join(code for v in domain.variables for code in v.categories)
    return next((sign for sign in ";|#!" if sign not in codes), ";")


def _is_utf8(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            while file.read(2**20):
                pass
    except UnicodeDecodeError:
        return False
    return True


def _value(variable: TauVariable, value: str) -> str:
    """A value as SQL: blanks around it are ignored, missing codes are missing."""
    text = f"trim({value})"
    if {"NUMERIC", "WEIGHT"} & set(variable.options):
        text = f"replace({text}, ',', '.')"
    gone = ", ".join(literal(code.strip()) for code in ("", *variable.missing))
    return f"CASE WHEN {text} IN ({gone}) THEN NULL ELSE {text} END"


def _response(meta: TauMetadata, wanted: str | None) -> int:
    names = [v.name for v in meta.variables]
    if wanted is not None:
        if wanted not in names:
            raise InputError(
                message("there is no variable {wanted}", repr(wanted)),
                hint=message("there are {names}", ", ".join(names)),
            )
        return names.index(wanted)
    for option in ("FREQUENCY", "NUMERIC"):
        for at, variable in enumerate(meta.variables):
            if option in variable.options:
                return at
    raise InputError(
        message("the description names no counts (FREQUENCY or NUMERIC)"),
        hint=message("say which: --count NAME"),
    )


def _of_sums(meta: TauMetadata, value: int, path: Path) -> str:
    """What is said of a column taken as the count that the description does not call one; else empty."""
    taken = meta.variables[value]
    if "FREQUENCY" in taken.options or taken.name.casefold() in COUNT_NAMES | {COUNT.casefold()}:
        return ""
    return message(
        "{name} is not marked <FREQUENCY>: if it holds sums, read them by tabulate {file} --measure {name} "
        "--out SUMS.parquet",
        name=taken.name,
        file=path.name,
    )


def lines_of(path: Path, meta: TauMetadata, separator: str, encoding: str | None) -> SheetRows:
    if path.stat().st_size > MOST_TEXT:
        raise InputError(
            message("the table is too large to be held"), hint=message("take it as CSV or Parquet")
        )
    data = path.read_bytes()
    try:
        text = decoded(data) if encoding is None else data.decode(encoding)
    except (LookupError, UnicodeDecodeError):
        raise InputError(
            message("the file is not {encoding}", encoding), hint=message("leave the encoding out")
        ) from None
    rows, lines = [[v.name for v in meta.variables]], [0]
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    try:
        for row in reader:
            if any(row):
                rows.append([field.strip() for field in row])
                lines.append(reader.line_num)
    except csv.Error as error:
        raise InputError(
            message("the quotation marks are wrong: {error}", error), line=reader.line_num
        ) from None
    return SheetRows(str(path), rows, lines)


def _letters(meta: TauMetadata, source: SheetRows) -> dict[int | None, str]:
    """The status of each line, in this program's letters; empty without statuses."""
    at = next((n for n, v in enumerate(meta.variables) if "STATUS" in v.options), None)
    if at is None:
        return {}
    meant = {letter: {"SAFE": SAFE, "UNSAFE": UNSAFE, "PROTECT": PROTECTED}[kind]
             for letter, kind in meta.statuses.items()}  # fmt: skip
    rows = islice(enumerate(source.rows()), 1, None)
    return {source.line(number): meant.get(row[at].upper(), row[at].upper()) for number, row in rows}


PLUGIN = TauArgus()
