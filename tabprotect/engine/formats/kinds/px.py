"""PX (PC-Axis): what the Nordic and many other statistical offices publish tables in.

Variables of `STUB`, then of `HEADING`; categories are `CODES` where the file has them and
labels are not asked for, with `VALUES` as their labels, else `VALUES`.
Data are a matrix of all cells, or rows with `KEYS`, where a cell without a row is 0. A dash (or what
`DATASYMBOLNIL` shows) is 0; of dots it is asked what they mean, unless missing cells are taken as 0.
Of a variable of contents (`CONTVARIABLE`) one value is read, which `count` names where there are
several. Text in the `CODEPAGE` the
file names, else Windows-1252; of several languages the main one, or that of `texts-in`. Written in UTF-8; suppressed counts are
`".."`, which `DATASYMBOL2` and the notes of the cells (`CELLNOTE`) explain.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Codes
from tabprotect.engine.budgets import MOST_TEXT
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.layouts.cell_list import CellList, check_categories
from tabprotect.engine.formats.layouts.observations import (
    Observations,
    refuse_texts,
    texts_shown,
    with_a_variable,
)
from tabprotect.engine.formats.layouts.stated_multipliers import multiplier_in, refuse_units
from tabprotect.engine.formats.layouts.stated_trees import StatedTree
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.statuses import SHOWN
from tabprotect.engine.plain_values.decoding import natural
from tabprotect.engine.plain_values.metadata import METADATA
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.cube import About, Cube
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message

LINE = 200
"""The most characters of a line written; readers may cut off lines at 256."""

COUNTS, NUMBER = "Counts", "number"
"""Title and unit of a table of which none is known."""

HIDDEN = message("Not published, to protect respondents")
_HIDES = re.compile(
    r"fewer than|less than (?!half|0)|under \w+|confidential|suppress|disclos|not published", re.IGNORECASE
)
"""What explains a symbol that stands for a hidden count."""
ABOUT_NUMBERS = frozenset(
    {"AGGREGALLOWED", "BASEPERIOD", "CFPRICES", "CONFIDENTIAL", "DATANOTE", "DATANOTECELL", "DATANOTESUM",
     "DAYADJ", "HIERARCHYLEVELS", "HIERARCHYNAMES", "REFPERIOD", "SEASADJ", "STOCKFA", "TIMEVAL",
     "VALUENOTE", "VALUENOTEX"}
)  # fmt: skip
"""Keywords that say something of the numbers that no table of counts holds."""

MOST_NOTES = 1000
"""The most cell notes that are written; the explanation of the symbol holds for all."""

_KEYWORD = re.compile(
    r"""\s*([A-Z][A-Z0-9._-]*)(\[[A-Za-z-]+\])?(?:\(((?:"[^"]*"|[^")])*)\))?\s*=""", re.ASCII
)
_STRING = re.compile(r'"([^"]*)"')
_VALUE = re.compile(r'(?:[^";]++|"[^"]*")*+;')
_OVERRUN = re.compile(r";[ \t]*\r?\n[A-Z][A-Z0-9._-]*(?:\[[A-Za-z-]+\])?(?:\([^)\n]*\))?\s*=")
"""A further keyword within a value."""
_LINES = re.compile(r"[\s\S]*?;(?=[ \t]*\r?\n)")
_USED = frozenset(
    {"STUB", "HEADING", "VALUES", "CODES", "KEYS", "CONTVARIABLE", "ELIMINATION", "HIERARCHIES", "UNITS",
     "DECIMALS", "PRECISION", "LANGUAGE", "LANGUAGES", "CODEPAGE", "DATASYMBOLNIL", "DATANOTECELL",
     *(f"DATASYMBOL{n}" for n in range(1, 7))}
)  # fmt: skip
"""Keywords that say what the counts are."""
_WORD = re.compile(r'"[^"]*"|[^\s,;"]+')
_PAGE = re.compile(rb'CODEPAGE\s*=\s*"([^"]{1,40})"', re.IGNORECASE)
_HEAD = re.compile(rb'(\xef\xbb\xbf)?\s*(CHARSET|AXIS-VERSION|LANGUAGE|MATRIX|DECIMALS)="?[^\n]*;')
_HELD = re.compile(rf'[^"\r\n\t]{{0,{LINE}}}')
_HINT = message("save the table again as PX, or as CSV")


@dataclass
class _File:
    """The contents of a file: keyword -> subject -> its strings; and its data as words.

    ``others`` are the strings in further languages, by language; ``mended`` the keywords without a word on
    counts whose quotation marks are wrong.
    """

    said: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    data: list[str] = field(default_factory=list)
    others: dict[str, dict[str, dict[str, list[str]]]] = field(default_factory=dict)
    mended: list[str] = field(default_factory=list)

    @property
    def odd(self) -> dict[str, str]:
        """Return what keywords say that are written as no keyword of PX is: with dots or underscores."""
        return {
            name: "; ".join(text for texts in of.values() for text in texts)[:LINE]
            for name, of in self.said.items()
            if set("._") & set(name)
        }

    def one(self, keyword: str, default: str = "") -> str:
        return next(iter(self.said.get(keyword, {}).get("", [])), default)

    def all(self, keyword: str, subject: str = "") -> list[str]:
        return self.said.get(keyword, {}).get(subject, [])


KEYWORDS = {"contact": "CONTACT", "period": "REFPERIOD"}
"""The keywords of what a table says of itself; the rest are notes."""


class Px(Format):
    label = message("PX (PC-Axis)")
    suffixes = (".px",)
    media = "text/x-pcaxis"
    begins = _HEAD
    quotes = False
    decimals = True
    limits = (
        message("Notes and units are left out."),
        message("Names and categories cannot hold quotation marks, line ends or tabs."),
        message("A file has at most 512 MiB."),
    )
    options = frozenset({"count", "encoding", "labels", "marks", "texts_in"})
    labels = True

    def cells(self, path: Path, reading: Reading, progress: Progress = SILENT) -> tuple[CellList, list[str]]:
        file = _in_language(_read(path, reading.encoding), reading.texts_in)
        names = [*file.all("STUB"), *file.all("HEADING")]
        if not names or len(set(names)) < len(names):
            raise InputError(message("the file does not say its variables (STUB, HEADING)"), hint=_HINT)
        categories = []
        labels: dict[str, dict[str, str]] = {}
        for name in names:
            texts = file.all("VALUES", name)
            codes = file.all("CODES", name)
            known = codes if len(codes) == len(texts) else texts
            if not known:
                raise InputError(message("the variable {name} has no VALUES", repr(name)), hint=_HINT)
            check_categories(name, len(known))
            categories.append(tuple(known))
            labels[name] = dict(zip(known, texts, strict=True)) if known is codes else {}
        places, words, listed = _cells(file, names, categories)
        symbols = {"." * n: file.one(f"DATASYMBOL{n}") for n in range(1, 7)}
        observations = Observations(
            tuple(names),
            tuple(categories),
            places,
            words,
            lambda _, text: (text, means if _HIDES.search(means := symbols.get(text) or "") else ""),
            marks={"-": "zero"},
            explained=symbols,
            labels=labels,
            trees={
                name: tree
                for name, codes in zip(names, categories, strict=True)
                if (tree := _tree(file, name, codes, labels[name])) is not None
            },
        )
        contents = [names.index(name) for name in file.all("CONTVARIABLE") if name in names]
        units = file.said.get("UNITS", {})
        refuse_units(units.get(reading.count or "") or units.get("", []), reading)
        cells, notes = observations.cells(reading, contents)
        if file.mended and reading.strict:
            raise InputError(
                message("the quotation marks of {keywords} are wrong", joined(file.mended, ", ")),
                hint=message("mend them, or leave the option out (--strict): they say nothing about counts"),
            )
        if listed < len(words):
            notes.append(
                message(
                    "{n:,} of {m:,} cells have no row: 0, as KEYS has it", len(words) - listed, len(words)
                )
            )
        notes += [
            message("the quotation marks of {keyword} are wrong; it says nothing about counts", name)
            for name in file.mended
        ]
        if file.odd and reading.strict:
            raise InputError(
                message("keywords that PX does not have: {odd}", ", ".join(file.odd)),
                hint=message("keep them as notes (--strict refuses them)"),
            )
        notes += [message("{keyword}: {said}", name, text) for name, text in file.odd.items()]
        if file.others and reading.texts_in is None:
            notes.append(
                message(
                    "names and texts in {languages} were left out (--texts-in)", joined(file.others, ", ")
                )
            )
        unused = [keyword for keyword in file.said if keyword in ABOUT_NUMBERS]
        notes += (
            [message("said of the numbers and left out: {keywords}", ", ".join(unused))] if unused else []
        )
        return cells, notes

    def about(self, path: Path, reading: Reading) -> About:
        file = _in_language(_read(path, reading.encoding), reading.texts_in)
        told = {name: file.one(keyword) for name, keyword in KEYWORDS.items()}
        notes = (text for keyword in ("NOTEX", "NOTE") for text in file.all(keyword))
        unit, day = file.one("UNITS"), file.one("LAST-UPDATED") or file.one("CREATION-DATE")
        return About(
            file.one("TITLE") or file.one("CONTENTS"),
            # A hash parts the lines of a text.
            notes=tuple(text.replace("#", " ") for text in notes),
            # Figures that were thousands of persons are persons.
            unit="" if unit == NUMBER or multiplier_in(unit) > 1 else unit,
            source=file.one("SOURCE"),
            date=f"{day[:4]}-{day[4:6]}-{day[6:8]}" if natural(day[:8]) is not None else "",
            metadata={name: text.replace("#", " ") for name, text in told.items() if text},
        )

    def write(self, table: Table) -> bytes:
        return _written(Cube(table), (COUNTS, COUNTS, NUMBER))

    def publish(self, cube: Cube) -> bytes:
        table, hidden = with_a_variable(cube.table, cube.hidden, "Total", "Total")
        named = _line(cube.about.title) or _line(cube.content) or COUNTS
        contents = _listed("CONTVARIABLE", (cube.figures,)) if cube.figures else ()
        titles = (named, _line(cube.content) or COUNTS, _line(cube.about.unit) or NUMBER)
        lines = [*contents, *_notes(cube), *_totals(cube)]
        return _written(replace(cube, table=table, hidden=hidden), titles, lines)


def _tree(file: _File, name: str, codes: Sequence[str], labels: Mapping[str, str]) -> StatedTree | None:
    """What HIERARCHIES and ELIMINATION state of a variable."""
    coded = {label: code for code, label in labels.items()} | {code: code for code in codes}
    # YES and NO say only whether tables may be made without the variable.
    total = coded.get(next(iter(file.all("ELIMINATION", name)), ""))
    # The root, then a parent and a part each: "T","T":"A","T":"B".
    listed = file.all("HIERARCHIES", name)[1:]
    pairs = zip(listed[::2], listed[1::2], strict=False)
    parents = {coded.get(child, child): coded.get(parent, parent) for parent, child in pairs}
    if total is None and not parents:
        return None
    return StatedTree.of_parents(codes, parents, total)


def _line(text: str) -> str:
    """A text as PX holds it in one line."""
    return re.sub(r'["\s]+', " ", text).strip()[:LINE]


def _notes(cube: Cube) -> list[str]:
    """Write notes that are shown with the table, the source and the date."""
    about = cube.about
    lines = [line for text in about.sentences for line in _text("NOTEX", text)]
    lines += _text("SOURCE", about.source) if about.source else []
    for name, text in about.metadata.items():
        if name in KEYWORDS:
            lines += _text(KEYWORDS[name], text)
        elif name != "confidentiality" or not about.changed or about.changed not in text:
            # The sentence on changes is a note of its own already, the house's own sentence is not.
            lines += _text("NOTE", message("{name}: {why}", METADATA[name], text))
    return [*lines, f'LAST-UPDATED="{about.date.replace("-", "")} 00:00";'] if about.date else lines


def _text(keyword: str, text: str) -> list[str]:
    """A keyword with one text, over as many lines as it takes."""
    plain = re.sub(r'["\s]+', " ", text).strip()
    parts = textwrap.wrap(plain, LINE - len(keyword) - 4, drop_whitespace=False)
    return [f"{keyword}=", *(f'"{part}"' for part in parts[:-1]), f'"{parts[-1]}";']


def _totals(cube: Cube) -> list[str]:
    """The groups of each variable with their parts, and the value that stands for all."""
    lines = []
    for variable in cube.table.domain.variables:
        total, above = cube.totals.get(variable.name), cube.parents.get(variable.name, {})
        # A colon parts the codes of a hierarchy.
        if cube.has_levels(variable.name) and not any(":" in c for c in variable.categories):
            parts = tuple(f'{above[c]}":"{c}' for c in variable.categories if c in above)
            lines += _listed(f'HIERARCHIES("{variable.name}")', (f"{total}", *parts))
        if total is not None:
            label = variable.label(variable.categories.index(total))
            lines += _listed(f'ELIMINATION("{variable.name}")', (label,))
    return lines


def _written(cube: Cube, named: tuple[str, str, str], further: Sequence[str] = ()) -> bytes:
    """The file of a table; ``named`` are its title, what its numbers are, and their unit."""
    domain, hidden, across = cube.table.domain, cube.hidden, cube.decimals_across
    texts = (t for v in domain.variables for t in (v.name, *v.categories, *v.labels))
    refuse_texts(texts, _HELD.fullmatch, "PX")
    if domain.ndim == 0:
        raise InputError(message("PX needs a variable"), hint=message("write CSV"))
    stub, heading = domain.names[:-1], domain.names[-1:]
    if not stub:
        stub, heading = heading, ()
    lines = [
            'CHARSET="ANSI";', 'AXIS-VERSION="2013";', 'CODEPAGE="utf-8";', 'LANGUAGE="en";',
            f"DECIMALS={max(across)};", f"SHOWDECIMALS={min(across)};", 'MATRIX="TABLE";', 'SUBJECT-CODE="";',
            'SUBJECT-AREA="";', f'TITLE="{named[0]}";', f'CONTENTS="{named[1]}";', f'UNITS="{named[2]}";',
        ]  # fmt: skip
    lines += _listed("STUB", stub)
    lines += _listed("HEADING", heading) if heading else []
    for variable in domain.variables:
        lines += _listed(f'VALUES("{variable.name}")', variable.labels or variable.categories)
        if variable.labels:
            lines += _listed(f'CODES("{variable.name}")', variable.categories)
    lines += further
    for code, decimals in enumerate(across):
        if decimals > min(across):
            lines.append(f'PRECISION("{cube.figures}","{domain.variables[-1].label(code)}")={decimals};')
    if hidden is not None and hidden.any():
        lines.append(f'DATASYMBOL{len(SHOWN)}="{HIDDEN}";')
        for cell in np.argwhere(np.asarray(hidden))[:MOST_NOTES].tolist():
            places = zip(domain.variables, cell, strict=True)
            where = ",".join(f'"{variable.label(at)}"' for variable, at in places)
            lines.append(f'CELLNOTE({where})="{HIDDEN}";')
    width = domain.shape[-1] if heading else 1
    lines.append("DATA=")
    words = texts_shown(cube, f'"{SHOWN}"')
    lines += [" ".join(words[at : at + width]) for at in range(0, len(words), width)]
    return ("\n".join([*lines, ";"]) + "\n").encode("utf-8")


def _listed(keyword: str, texts: tuple[str, ...]) -> list[str]:
    """A keyword with its strings, broken into lines."""
    lines = [f"{keyword}="]
    for number, text in enumerate(texts):
        quoted = f'"{text}"' + (";" if number == len(texts) - 1 else ",")
        if len(lines[-1]) + len(quoted) > LINE:
            lines.append("")
        lines[-1] += quoted
    return lines


def _read(path: Path, encoding: str | None) -> _File:
    if path.stat().st_size > MOST_TEXT:
        raise InputError(
            message("the file is too large for PX"), hint=message("take the table as CSV or Parquet")
        )
    data = path.read_bytes()
    if encoding is None:
        page = _PAGE.search(data[:65536])
        encoding = "utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "cp1252"
        encoding = page[1].decode("ascii", "replace") if page else encoding
    try:
        text = data.decode(encoding).lstrip("\ufeff")
    except UnicodeDecodeError as error:
        raise InputError(
            message("byte {start} is not {upper}", error.start + 1, encoding.upper()),
            line=data.count(b"\n", 0, error.start) + 1,
            hint=message("say which encoding it is: --encoding utf-8"),
        ) from None
    # Encodings that are none of texts, or a name with a NUL in it.
    except (LookupError, ValueError):
        raise InputError(
            message("there is no encoding {encoding}", repr(encoding)),
            hint=message("for example utf-8, cp1252: --encoding"),
        ) from None
    return _parsed(text)


def _parsed(text: str) -> _File:
    file, at = _File(), 0
    while found := _KEYWORD.match(text, at):
        keyword, language, subject = found[1], found[2], found[3]
        if keyword == "DATA":
            # A semicolon may stand inside a quoted key: the last one ends the data.
            file.data = _WORD.findall(text, found.end())
            return _by_main_language(file)
        value = _VALUE.match(text, found.end())
        if value is None or _OVERRUN.search(value[0]):
            # A quotation mark too many: the next keywords would be part of a text.
            value = _LINES.match(text, found.end())
            if value is None or keyword in _USED:
                raise _no_px(text, at, keyword)
            file.mended.append(found[0].strip(" =\r\n"))
        at = value.end()
        # Adjacent strings without a comma form one long string.
        whole = re.sub(r'"\s*"', "", value[0]) if '""' not in value[0] else value[0]
        strings = _STRING.findall(whole) or [value[0].rstrip("; \r\n").strip()]
        about = (_STRING.findall(subject) or [""])[0] if subject else ""
        said = file.said if language is None else file.others.setdefault(language.strip("[]"), {})
        said.setdefault(keyword, {}).setdefault(about, strings)
    if at and not text[at:].strip():
        raise InputError(message("the file has no DATA"), hint=_HINT)
    raise _no_px(text, at)


def _by_main_language(file: _File) -> _File:
    """The file with keywords that name the main language as those that name none."""
    for keyword, of in file.others.pop(file.one("LANGUAGE") or file.one("LANGUAGES"), {}).items():
        for about, strings in of.items():
            file.said.setdefault(keyword, {}).setdefault(about, strings)
    return file


def _in_language(file: _File, wanted: str | None) -> _File:
    """The file with names and texts in another of its languages.

    Raises
    ------
    InputError
        For a language that it does not have.
    """
    if wanted is None or wanted == file.one("LANGUAGE"):
        return file
    other = file.others.get(wanted)
    if other is None:
        there = [file.one("LANGUAGE") or message("one without a name"), *file.others]
        raise InputError(
            message("the file has no texts in {language}", repr(wanted)),
            hint=message("it has {languages}", joined(there, ", ")),
        )
    if "KEYS" in file.said:
        raise InputError(
            message("the rows of data are named in the main language"),
            hint=message("leave the option texts-in out"),
        )
    named = {
        name: new
        for keyword in ("STUB", "HEADING")
        for name, new in zip(file.all(keyword), other.get(keyword, {}).get("", []), strict=False)
    }
    said: dict[str, dict[str, list[str]]] = {}
    for keyword, of in file.said.items():
        for about, strings in of.items():
            if keyword in ("STUB", "HEADING", "CONTVARIABLE"):
                strings = [named.get(text, text) for text in strings]
            new = named.get(about, about)
            said.setdefault(keyword, {})[new] = other.get(keyword, {}).get(new, strings)
    for keyword, of in other.items():
        for about, strings in of.items():
            said.setdefault(keyword, {}).setdefault(about, strings)
    return replace(file, said=said)


def _no_px(text: str, at: int, keyword: str = "") -> InputError:
    at += len(text[at:]) - len(text[at:].lstrip())
    return InputError(
        message("this is no PX: a keyword with a value and a semicolon was expected")
        if not keyword
        else message("this is no PX: the quotation marks or the semicolon of {keyword} are wrong", keyword),
        line=text.count("\n", 0, at) + 1,
        hint=_HINT,
    )


def _cells(
    file: _File, names: list[str], categories: list[tuple[str, ...]]
) -> tuple[tuple[Codes, ...] | None, list[str], int]:
    """The codes of the cells that have a word, the words, and the number of those that the file lists."""
    sizes = tuple(map(len, categories))
    if "KEYS" not in file.said:
        if len(file.data) != math.prod(sizes):
            raise InputError(
                message("there are {data:,} counts for {sizes:,} cells", len(file.data), math.prod(sizes)),
                hint=_HINT,
            )
        return None, [word.strip('"') for word in file.data], len(file.data)
    keyed = len(file.all("STUB"))
    wide = math.prod(sizes[keyed:])
    numbers = []
    for name, known in zip(names[:keyed], categories, strict=False):
        by_text = file.all("KEYS", name) == ["VALUES"]
        listed = file.all("VALUES", name) if by_text else known
        numbers.append({f'"{text}"': number for number, text in enumerate(listed)})
    if len(file.data) % (keyed + wide):
        raise InputError(message("the rows of data are not of one length"), hint=_HINT)
    keys: list[int] = []
    words: list[str] = []
    for at in range(0, len(file.data), keyed + wide):
        row = file.data[at : at + keyed + wide]
        place = 0
        for name, places, text in zip(names, numbers, row, strict=False):
            if text not in places:
                raise InputError(
                    message("variable {name} has no category {text}", repr(name), text), hint=_HINT
                )
            place = place * len(places) + places[text]
        keys += range(place * wide, (place + 1) * wide)
        words += row[keyed:]
    if len(set(keys)) < len(keys):
        raise InputError(message("a row of data stands there twice"), hint=_HINT)
    cells = math.prod(sizes)
    full = dict.fromkeys(range(cells), "0") if cells <= len(keys) * 8 else {}
    full.update(zip(keys, words, strict=True))
    found = np.unravel_index(np.array(list(full), dtype=np.int64), sizes)
    codes = tuple(code.astype(np.int32) for code in found)
    return codes, [word.strip('"') for word in full.values()], len(keys)


PLUGIN = Px()
