"""PX (PC-Axis): what the Nordic and many other statistical offices publish tables in.

Variables of `STUB`, then of `HEADING`; categories are `CODES` where the file has them and
labels are not asked for, with `VALUES` as their labels, else `VALUES`.
Data are a matrix of all cells, or rows with `KEYS`, where a cell without a row is 0. A dash (or what
`DATASYMBOLNIL` shows) is 0; of dots it is asked what they mean, unless missing cells are taken as 0.
Of a variable of contents (`CONTVARIABLE`) one value is read, which `count` names where there are
several. Text in the `CODEPAGE` the
file names, else Windows-1252; of several languages the main one. Written in UTF-8; suppressed counts are
`".."`, which `DATASYMBOL2` and the notes of the cells (`CELLNOTE`) explain.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Bools, Codes, Ints
from tabprotect.engine.budgets import MOST_TEXT as MOST_BYTES
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.layouts.cell_list import CellList, check_categories
from tabprotect.engine.formats.layouts.code_labels import labelled
from tabprotect.engine.formats.layouts.count_marks import CountMarks, absent
from tabprotect.engine.formats.layouts.several_measures import chosen_measures
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.statuses import SHOWN
from tabprotect.engine.formats.text.numerals import NotACountError, parse_count
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

LINE = 200
"""Characters of a line that is written; readers may break off longer ones at 256."""

HIDDEN = "Not published, to protect respondents"
MOST_NOTES = 1000
"""Notes of cells that are written; what the symbol means holds for all."""

_KEYWORD = re.compile(
    r"""\s*([A-Z][A-Z0-9-]*)(\[[A-Za-z-]+\])?(?:\(((?:"[^"]*"|[^")])*)\))?\s*=""", re.ASCII
)
_STRING = re.compile(r'"([^"]*)"')
_VALUE = re.compile(r'(?:[^";]++|"[^"]*")*+;')
_WORD = re.compile(r'"[^"]*"|[^\s,;"]+')
_PAGE = re.compile(rb'CODEPAGE\s*=\s*"([^"]{1,40})"', re.IGNORECASE)
_HEAD = re.compile(rb'(\xef\xbb\xbf)?\s*(CHARSET|AXIS-VERSION|LANGUAGE|MATRIX|DECIMALS)="?[^\n]*;')
_MISSING = re.compile(r"\.{1,6}")
_HINT = "save the table again as PX, or as CSV"


@dataclass
class _File:
    """What a file says: keyword -> subject -> its strings; and its data as words."""

    said: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    data: list[str] = field(default_factory=list)

    def one(self, keyword: str, default: str = "") -> str:
        return next(iter(self.said.get(keyword, {}).get("", [])), default)

    def all(self, keyword: str, subject: str = "") -> list[str]:
        return self.said.get(keyword, {}).get(subject, [])


class Px(Format):
    label = "PX (PC-Axis)"
    suffixes = (".px",)
    begins = _HEAD
    limits = (
        "Notes and units are left out.",
        "Names and categories cannot hold quotation marks, line ends or tabs.",
        "A file has at most 512 MiB.",
    )
    options = frozenset({"count", "encoding", "labels", "marks"})
    labels = True

    def cells(
        self, path: Path, reading: Reading, progress: Progress = SILENT
    ) -> tuple[CellList, list[str]]:
        file = _read(path, reading.encoding)
        names = [*file.all("STUB"), *file.all("HEADING")]
        if not names or len(set(names)) < len(names):
            raise InputError("the file does not say its variables (STUB, HEADING)", hint=_HINT)
        categories = []
        labels: dict[str, dict[str, str]] = {}
        for name in names:
            texts = file.all("VALUES", name)
            codes = file.all("CODES", name)
            known = codes if len(codes) == len(texts) else texts
            if not known:
                raise InputError(f"the variable {name!r} has no VALUES", hint=_HINT)
            check_categories(name, len(known))
            categories.append(tuple(known))
            labels[name] = dict(zip(known, texts, strict=True)) if known is codes else {}
        keys, words = _cells(file, names, categories)
        contents = [names.index(n) for n in file.all("CONTVARIABLE") if n in names]
        chosen = chosen_measures(contents if len(names) > 1 else [], names, categories, reading)
        kept = [axis for axis in range(len(names)) if axis not in chosen]
        notes = [f"left out: {names[axis]}, of which {categories[axis][code]!r} was read"
                 for axis, code in chosen.items()]  # fmt: skip
        if any(len(categories[axis]) > 1 for axis in chosen):
            places = np.unravel_index(keys, tuple(map(len, categories)))
            here = np.flatnonzero(
                np.logical_and.reduce([places[axis] == code for axis, code in chosen.items()])
            )
            keys, words = keys[here], [words[at] for at in here.tolist()]
        said = {"." * n: file.one(f"DATASYMBOL{n}") for n in range(1, 7)}
        keys, counts, gaps = _counts(keys, words, categories, said, reading)
        if reading.labels:
            categories = [
                labelled(known, dict(zip(known, file.all("VALUES", name), strict=True)))
                for name, known in zip(names, categories, strict=True)
            ]
        found = np.unravel_index(keys, tuple(map(len, categories)))
        listed: tuple[Codes, ...] = tuple(found[axis].astype(np.int32) for axis in kept)
        cells = CellList(
            tuple(names[axis] for axis in kept),
            tuple(categories[axis] for axis in kept),
            listed,
            counts,
            lambda entry: None,
            labels={} if reading.labels else labels,
            gaps=gaps,
        )
        return cells, notes

    def write(self, table: Table) -> bytes:
        return _written(table, None, "Counts")

    def publish(self, table: Table, hidden: Bools | None, title: str) -> bytes:
        if not table.domain.ndim:
            # The grand total alone: PX has no table without a variable.
            alone = Domain.of({"Total": ["Total"]})
            table = Table.dense(alone, table.counts.reshape(1))
        return _written(table, hidden, re.sub(r'["\s]+', " ", title).strip()[:LINE] or "Counts")


def _written(table: Table, hidden: Bools | None, title: str) -> bytes:
    domain = table.domain
    for text in (t for v in domain.variables for t in (v.name, *v.categories, *v.labels)):
        if re.search(r'["\r\n\t]', text) or len(text) > LINE:
            raise InputError(
                f"PX cannot hold the text {text[:40]!r}", hint="rename it first, or write CSV"
            )
    if domain.ndim == 0:
        raise InputError("PX needs a variable", hint="write CSV")
    stub, heading = domain.names[:-1], domain.names[-1:]
    if not stub:
        stub, heading = heading, ()
    lines = [
            'CHARSET="ANSI";', 'AXIS-VERSION="2013";', 'CODEPAGE="utf-8";', 'LANGUAGE="en";',
            "DECIMALS=0;", "SHOWDECIMALS=0;", 'MATRIX="TABLE";', 'SUBJECT-CODE="";',
            'SUBJECT-AREA="";', f'TITLE="{title}";', 'CONTENTS="Counts";', 'UNITS="number";',
        ]  # fmt: skip
    lines += _listed("STUB", stub)
    lines += _listed("HEADING", heading) if heading else []
    for variable in domain.variables:
        lines += _listed(f'VALUES("{variable.name}")', variable.labels or variable.categories)
        if variable.labels:
            lines += _listed(f'CODES("{variable.name}")', variable.categories)
    if hidden is not None and hidden.any():
        lines.append(f'DATASYMBOL{len(SHOWN)}="{HIDDEN}";')
        for cell in np.argwhere(np.asarray(hidden))[:MOST_NOTES].tolist():
            named = zip(domain.variables, cell, strict=True)
            where = ",".join(f'"{variable.label(at)}"' for variable, at in named)
            lines.append(f'CELLNOTE({where})="{HIDDEN}";')
    width = domain.shape[-1] if heading else 1
    lines.append("DATA=")
    words = table.counts.reshape(-1).astype(str).astype(object)
    if hidden is not None:
        words[hidden.reshape(-1)] = f'"{SHOWN}"'
    lines += [" ".join(row) for row in words.reshape(-1, width).tolist()]
    return ("\n".join([*lines, ";"]) + "\n").encode("utf-8")


def _listed(keyword: str, texts: tuple[str, ...]) -> list[str]:
    """A keyword with its strings, in lines that are not too long."""
    lines = [f"{keyword}="]
    for number, text in enumerate(texts):
        quoted = f'"{text}"' + (";" if number == len(texts) - 1 else ",")
        if len(lines[-1]) + len(quoted) > LINE:
            lines.append("")
        lines[-1] += quoted
    return lines


def _read(path: Path, encoding: str | None) -> _File:
    if path.stat().st_size > MOST_BYTES:
        raise InputError("the file is too large for PX", hint="take the table as CSV or Parquet")
    data = path.read_bytes()
    if encoding is None:
        page = _PAGE.search(data[:65536])
        encoding = "utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "cp1252"
        encoding = page[1].decode("ascii", "replace") if page else encoding
    try:
        text = data.decode(encoding).lstrip("\ufeff")
    except LookupError:
        raise InputError(
            f"there is no encoding {encoding!r}", hint="for example utf-8, cp1252: --encoding"
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start + 1} is not {encoding.upper()}",
            line=data.count(b"\n", 0, error.start) + 1,
            hint="say which encoding it is: --encoding utf-8",
        ) from None
    return _parsed(text)


def _parsed(text: str) -> _File:
    file, at = _File(), 0
    while found := _KEYWORD.match(text, at):
        keyword, language, subject = found[1], found[2], found[3]
        if keyword == "DATA":
            # A semicolon may stand inside a quoted key: the last one ends the data.
            file.data = _WORD.findall(text, found.end())
            return file
        value = _VALUE.match(text, found.end())
        if value is None:
            break
        at = value.end()
        if language is None:
            # Neighbouring strings without a comma are one long one.
            joined = re.sub(r'"\s*"', "", value[0]) if '""' not in value[0] else value[0]
            strings = _STRING.findall(joined) or [value[0].rstrip("; \r\n").strip()]
            about = (_STRING.findall(subject) or [""])[0] if subject else ""
            file.said.setdefault(keyword, {}).setdefault(about, strings)
    if at and not text[at:].strip():
        raise InputError("the file has no DATA", hint=_HINT)
    raise _no_px(text, at)


def _no_px(text: str, at: int) -> InputError:
    return InputError(
        "this is no PX: a keyword with a value and a semicolon was expected",
        line=text.count("\n", 0, at) + 1,
        hint=_HINT,
    )


def _cells(
    file: _File, names: list[str], categories: list[tuple[str, ...]]
) -> tuple[Ints, list[str]]:
    """The cell and the word of each count."""
    sizes = tuple(map(len, categories))
    if "KEYS" not in file.said:
        if len(file.data) != math.prod(sizes):
            raise InputError(
                f"there are {len(file.data):,} counts for {math.prod(sizes):,} cells", hint=_HINT
            )
        return np.arange(len(file.data), dtype=np.int64), file.data
    keyed = len(file.all("STUB"))
    wide = math.prod(sizes[keyed:])
    numbers = []
    for name, known in zip(names[:keyed], categories, strict=False):
        by_text = file.all("KEYS", name) == ["VALUES"]
        listed = file.all("VALUES", name) if by_text else known
        numbers.append({f'"{text}"': number for number, text in enumerate(listed)})
    if len(file.data) % (keyed + wide):
        raise InputError("the rows of data are not of one length", hint=_HINT)
    keys: list[int] = []
    words: list[str] = []
    for at in range(0, len(file.data), keyed + wide):
        row = file.data[at : at + keyed + wide]
        place = 0
        for name, places, text in zip(names, numbers, row, strict=False):
            if text not in places:
                raise InputError(f"variable {name!r} has no category {text}", hint=_HINT)
            place = place * len(places) + places[text]
        keys += range(place * wide, (place + 1) * wide)
        words += row[keyed:]
    full = dict.fromkeys(range(math.prod(sizes)), "0") if math.prod(sizes) <= len(keys) * 8 else {}
    if len(set(keys)) < len(keys):
        raise InputError("a row of data stands there twice", hint=_HINT)
    full.update(zip(keys, words, strict=True))
    return np.array(list(full), dtype=np.int64), list(full.values())


def _counts(
    keys: Ints,
    words: list[str],
    categories: list[tuple[str, ...]],
    said: Mapping[str, str],
    reading: Reading,
) -> tuple[Ints, Ints, bool]:
    """The cells that have a count, their counts, and whether there are others."""
    joined = "".join(words)
    if joined.isascii() and joined.isdigit() and max(map(len, words)) < 19:
        return keys, np.array(words, dtype=np.int64), False
    marks = CountMarks.parse(reading.marks)
    kept, counts = [], []
    for key, word in zip(keys.tolist(), words, strict=True):
        text = word.strip('"')
        means = said.get(text, "")
        try:
            if text == "-" and marks.meaning(text) is None:
                count: int | None = 0
            elif marks.known(text) or _MISSING.fullmatch(text):
                withheld = means if means == HIDDEN else ""
                count = absent(text, marks, withheld=withheld, fill=reading.fill_missing)
            else:
                count = parse_count(text)
        except NotACountError as error:
            index = np.unravel_index(key, tuple(map(len, categories)))
            labels = ", ".join(c[int(i)] for c, i in zip(categories, index, strict=True))
            why = f"{text} means {means!r}: " if means and means not in str(error) else ""
            raise InputError(f"{why}{error}", cell=f"({labels})", hint=error.hint) from None
        if count is not None:
            kept.append(key)
            counts.append(count)
    missing = len(kept) < len(words)
    return np.array(kept, dtype=np.int64), np.array(counts, dtype=np.int64), missing


PLUGIN = Px()
