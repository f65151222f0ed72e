"""The counts of a laid-out table, with thousands signs and marks, as a list of cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.blank_labels import fill_down
from tabprotect.engine.formats.layouts.cell_list import CellList, check_categories
from tabprotect.engine.formats.layouts.column_roles import wanted_cells
from tabprotect.engine.formats.layouts.count_marks import AS_IT_WAS, CountMarks, hides, unknown_mark
from tabprotect.engine.formats.layouts.laid_out_columns import LaidOut, LaidOutPart, LaidOutRow
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.text.fields import LabelCodes
from tabprotect.engine.formats.text.numerals import NotACountError, parse_count
from tabprotect.languages.messages import message, plural

_BLANKS = " \u00a0\u202f\u2009"
_GROUPED = re.compile(r"[+-]?[0-9]{1,3}(?:([ .,'\u2019\u00a0\u202f\u2009])[0-9]{3})+(?:[.,][0-9]+)?")
_BOTH = re.compile(r"[+-]?[0-9]{1,3}(?:([.,])[0-9]{3})+(?!\1)[.,][0-9]+")
_TWICE = re.compile(r"[+-]?[0-9]{1,3}(?:([.,])[0-9]{3}){2,}")


def marked_cells(
    layout: LaidOut, reading: Reading, marks: CountMarks, name: str
) -> tuple[CellList, list[LaidOutPart]]:
    """The cells of a table laid out by hand.

    Raises
    ------
    InputError
        With the line and the cell of an invalid count, or of a mark that nobody explained.
    """
    parts: list[LaidOutPart] = []
    thousands = _thousands(layout, reading, name, parts)
    counts_of = _Counts(thousands, reading, name)
    lines: list[int] = []
    counts: list[int] = []
    here: list[bool] = []
    nobody: list[bool] = []
    labels: list[list[str]] = [[] for _ in layout.names]
    meanings: Counter[str] = Counter()
    wanted = wanted_cells(layout.names, reading.where or {})
    for row, cell, text in _entries(_filled(layout, reading, parts), name):
        if any(cell[axis].strip() != value for axis, value in wanted.items()):
            continue
        meaning = marks.meaning(text)
        worked_out = reading.without_count == "suppressed"
        if meaning is None and reading.without_count is not None and marks.in_count(text):
            meaning = None if hides(text) and not worked_out else "missing"
        if meaning == "suppressed" and worked_out:
            meaning = "missing"
        meanings[meaning or ""] += 1
        count = counts_of.count(row, cell, text, meaning)
        # The categories of a missing count stay.
        for listed, label in zip(labels, cell, strict=True):
            listed.append(label)
        here.append(meaning != "missing")
        if meaning == "missing":
            continue
        lines.append(row.line)
        counts.append(count)
        nobody.append(meaning == "structural")
    parts += _marks_told(meanings)
    numbered = [LabelCodes() for _ in labels]
    counted = np.array(here, dtype=np.bool_)
    codes = tuple(k.of_texts(listed)[counted] for k, listed in zip(numbered, labels, strict=True))
    for variable, k in zip(layout.names, numbered, strict=True):
        check_categories(variable, len(k.numbers))
    _check_header(layout, name)
    found = CellList(
        layout.names,
        tuple(tuple(k.numbers) for k in numbered),
        codes,
        np.array(counts, dtype=np.int64),
        lambda entry: lines[entry],
        nobody=np.array(nobody),
        gaps=meanings["missing"] > 0,
        counted=layout.header[-1].fields[layout.count] if layout.count >= 0 and layout.header else "count",
    )
    return found, parts


def _filled(layout: LaidOut, reading: Reading, parts: list[LaidOutPart]) -> LaidOut:
    """The layout, in long form with labels in place of blanks."""
    if layout.count < 0:
        return layout
    axes = [n for n in range(len(layout.body[0].fields)) if n not in {layout.count, *layout.left_out}]
    numbered = [LabelCodes() for _ in axes]
    columns = [[row.fields[n] for row in layout.body] for n in axes]
    listed = tuple(k.of_texts(column) for k, column in zip(numbered, columns, strict=True))
    categories, codes, told = fill_down(
        layout.names, tuple(tuple(k.numbers) for k in numbered), listed, reading
    )
    if not told or codes is None:
        return layout
    body = []
    for at, row in enumerate(layout.body):
        fields = [*row.fields]
        for n, known, code in zip(axes, categories, codes, strict=True):
            fields[n] = known[int(code[at])]
        body.append(replace(row, fields=fields))
    parts += [LaidOutPart("blank", "above", text) for text in told]
    return replace(layout, body=body)


def signs_in(layout: LaidOut, marks: CountMarks) -> dict[str, int]:
    """Sign in place of a count -> the number of cells that have it."""
    texts = Counter(text.strip() for _, _, text in _entries(layout, ""))
    return {text: number for text, number in texts.items() if marks.stands(text)}


def hidden_in(layout: LaidOut, marks: CountMarks) -> Iterator[tuple[str, dict[str, str]]]:
    """Each sign of which nobody says what it means, and the labels of its cell by variable."""
    for _, cell, text in _entries(layout, ""):
        if marks.stands(text) and marks.meaning(text) in (None, "suppressed"):
            yield text.strip(), dict(zip(layout.names, map(str.strip, cell), strict=True))


def _marks_told(by_meaning: Counter[str]) -> Iterator[LaidOutPart]:
    """Return how many cells have each mark, by its meaning."""
    for meaning, cells in by_meaning.items():
        if meaning:
            said = plural(cells, "{told:,} cell is marked so", "{told:,} cells are marked so", cells)
            yield LaidOutPart("marks", meaning, said)


def _check_header(layout: LaidOut, name: str) -> None:
    line = layout.header[-1].line if layout.header else None
    if not all(layout.names) or len(set(layout.names)) < len(layout.names):
        raise InputError(
            message("the columns are not named, each in its own way"),
            file=name,
            line=line,
            hint=message("name every variable in the header, or say which rows it is: --header-row LINE"),
        )
    if len(set(layout.columns)) < len(layout.columns):
        raise InputError(
            message("two columns have the same header"),
            file=name,
            line=line,
            hint=message("rename or merge one of them"),
        )


def _entries(layout: LaidOut, name: str) -> Iterator[tuple[LaidOutRow, list[str], str]]:
    """The row, categories and text of every count."""
    before: list[str] = []
    seen: set[tuple[str, ...]] = set()
    aside = {layout.count, *layout.left_out}
    for row in layout.body:
        fields = row.fields
        if layout.count >= 0:
            cell = [field for n, field in enumerate(fields) if n not in aside]
            yield row, cell, fields[layout.count]
            continue
        own = [field.strip() for field in fields[: layout.labels]]
        # A blank is the rest of a merged cell: the category above it holds here too.
        for n in range(layout.labels - 1):
            if own[n] or not before:
                break
            own[n] = before[n]
        before = own
        if tuple(own) in seen:
            raise InputError(
                message("the row ({own}) is there twice", ", ".join(own)),
                file=name,
                line=row.line,
                hint=message("rename or merge one of them"),
            )
        seen.add(tuple(own))
        for column, text in zip(layout.columns, fields[layout.labels :], strict=True):
            yield row, [*own, *column], text


def _thousands(layout: LaidOut, reading: Reading, name: str, parts: list[LaidOutPart]) -> str:
    """The signs between groups of three digits; empty if there are none, or it is unclear."""
    if reading.thousands is not None:
        return _BLANKS if reading.thousands.isspace() else reading.thousands
    texts = [text.strip() for _, _, text in _entries(layout, name)]
    found = Counter(m[1] for text in texts if (m := _GROUPED.fullmatch(text)))
    if not found:
        return ""
    sign = max(found, key=lambda s: found[s])
    sure = sign not in ".," or any(
        (m := _TWICE.fullmatch(text) or _BOTH.fullmatch(text)) and m[1] == sign for text in texts
    ) or (reading.decimal is not None and reading.decimal != sign)  # fmt: skip
    if not sure or len({s if s not in _BLANKS else " " for s in found}) > 1:
        return ""
    shown = message("a blank") if sign in _BLANKS else sign
    parts.append(LaidOutPart("thousands", shown, message("{found:,} counts are written so", found[sign])))
    return _BLANKS if sign in _BLANKS else sign


@dataclass(frozen=True)
class _Counts:
    """The counts that texts stand for."""

    thousands: str
    reading: Reading
    name: str

    def count(self, row: LaidOutRow, cell: list[str], text: str, meaning: str | None) -> int:
        """The count of a cell, from its text or the meaning of its mark."""
        where = f"({', '.join(cell)})"
        if meaning == "suppressed":
            raise InputError(
                message("the count is suppressed ({value})", text.strip() or "blank"),
                file=self.name,
                line=row.line,
                cell=where,
                hint=AS_IT_WAS,
            )
        if meaning:
            return 0
        plain, signs = text.strip(), re.escape(self.thousands)
        if signs and re.fullmatch(rf"[+-]?[0-9]{{1,3}}([{signs}][0-9]{{3}})+([.,][0-9]*)?", plain):
            plain = re.sub(f"[{signs}]", "", plain)
        try:
            return parse_count(plain, decimal=self.reading.decimal, scale=self.reading.scale)
        except NotACountError as error:
            raise InputError(
                error.why, file=self.name, line=row.line, cell=where, hint=_hint(plain) or error.hint
            ) from None


def _hint(plain: str) -> str:
    """Say what to say of a text that is no count; empty if nothing is known of it."""
    if CountMarks().in_count(plain):
        return unknown_mark(plain)
    found = _GROUPED.fullmatch(plain)
    if found is None:
        return ""
    sign = f'"{found[1]}"' if found[1].isspace() else found[1]
    return message("say what the sign between its digits is: --thousands {sign} or --decimal {sign}", sign)
