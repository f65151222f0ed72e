"""The common part of SPSS, Stata and SAS files: numbers with labels, read by pyreadstat.

A variable name that these programs cannot hold (``région``, ``age group``) is written as the nearest
possible one (``region``, ``age_group``), with the name itself as the variable's label, from which it is
read back.
"""

from __future__ import annotations

import re
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

from tabprotect.engine.errors import InputError
from tabprotect.engine.foreign.answers import columns_of, rows_of, text, texts
from tabprotect.engine.formats.agencies.column_files import ColumnFormat, TypedColumn, in_rows
from tabprotect.engine.formats.layouts.observations import refuse_texts
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.statuses import COUNT
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.cube import About


class LabelledFormat(ColumnFormat):
    """A format read by pyreadstat.

    Attributes
    ----------
    longest_name
        The most characters of a variable name.
    longest_text
        The most bytes of a category.
    labelled
        True if numbers have labels in the file itself.
    reader, writer, version
        The library's functions to read and write it, and further arguments of the writer.
    stamp
        The pattern of the time at which a file was written, its replacement, and the number of
        first bytes in which it stands.
    """

    library = "pyreadstat"
    longest_name: ClassVar[int]
    longest_text: ClassVar[int]
    labelled: ClassVar[bool] = True
    reader: ClassVar[str]
    writer: ClassVar[str]
    version: ClassVar[Mapping[str, object]] = MappingProxyType({})
    stamp: ClassVar[tuple[bytes, bytes, int]]

    def columns(self, path: Path, progress: Progress = SILENT) -> dict[str, TypedColumn]:
        found, buffers = self.asked("labelled", {"reader": self.reader}, path, progress)
        columns = columns_of(found, buffers, 4, path)
        names = [text(name, path) for name, *_ in columns]
        own = [None if label is None else text(label, path) for *_, label in columns]
        read = [
            label if label and self._nearest(label) == name else name
            for name, label in zip(names, own, strict=True)
        ]
        if len(set(read)) < len(read):
            read = names
        return {
            name: _texts(in_rows(texts(different, path), buffer, path), labels, path)
            for name, (_, different, labels, _), buffer in zip(read, columns, buffers, strict=True)
        }

    def about(self, path: Path, reading: Reading) -> About:
        try:
            found, _ = self.asked("labelled_texts", {"reader": self.reader}, path, SILENT)
        except InputError:
            # What is wrong with it is said where its columns are read.
            return About()
        title, notes = rows_of([found], 1, 2, path)[0]
        lines = [line.strip() for line in texts(notes, path)]
        # The library that writes leaves a date beside each note.
        return About(text(title, path).strip(), notes=tuple(filter(None, lines)))

    def pack(self, columns: Mapping[str, TypedColumn]) -> bytes:
        library = self.module()
        # Imported late: it comes with the library's own extra.
        import pandas as pd

        written = {name: self._nearest(name) for name in columns}
        self._check(columns, written)
        names = {near: name for name, near in written.items() if near != name}
        data: dict[str, object] = {}
        labels: dict[str, dict[int, str]] = {}
        for full, column in columns.items():
            name = written[full]
            if full == COUNT and not column.order:
                data[name] = [float("nan") if v is None else float(v) for v in column.values]
            elif self.labelled:
                numbers = {text: code for code, text in enumerate(column.order, 1)}
                data[name] = [float(numbers.get(text or "", "nan")) for text in column.values]
                labels[name] = {code: text for text, code in numbers.items()}
            else:
                data[name] = pd.Series([text or "" for text in column.values], dtype=object)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"table{self.suffixes[0]}"
            try:
                further = {"variable_value_labels": labels} if self.labelled else {}
                getattr(library, self.writer)(
                    pd.DataFrame(data), path, column_labels=names, **self.version, **further
                )
            except (library.PyreadstatError, library.ReadstatError) as error:
                raise InputError(
                    f"{self.label} cannot hold this table",
                    hint="shorten names and categories, or write CSV or Parquet",
                    detail=str(error),
                ) from None
            form, instead, head = self.stamp
            written_bytes = path.read_bytes()
            return re.sub(form, instead, written_bytes[:head]) + written_bytes[head:]

    def _nearest(self, name: str) -> str:
        """The valid name nearest to a variable's: the name itself if it is valid."""
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        words = re.sub(r"[^A-Za-z0-9]+", "_", plain if plain.strip() else "v").strip("_")
        sound = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name)
        near = name if sound else words if words[:1].isalpha() else f"v_{words}"
        return near[: self.longest_name]

    def _check(self, columns: Mapping[str, TypedColumn], written: Mapping[str, str]) -> None:
        near = [name.casefold() for name in written.values()]
        for name in columns:
            if near.count(written[name].casefold()) > 1 or not name.isprintable():
                raise InputError(
                    f"{self.label} has no place for a variable named {name[:40]!r}",
                    hint="rename it: another one's name is too near",
                )
            refuse_texts(columns[name].order, self._holds, self.label)

    def _holds(self, text: str) -> bool:
        sound = text and text.isprintable() and text == text.strip()
        return bool(sound) and len(text.encode("utf-8")) <= self.longest_text


def _texts(values: Sequence[str | None], labels: object, path: Path) -> TypedColumn:
    """Values by their labels; values that share a label are told apart by their numbers."""
    pairs = [texts(pair, path) for pair in rows_of(labels, 0, 2, path)]
    times = Counter(label for _, label in pairs)
    text_of = {value: label if times[label] == 1 else f"{label} ({value})" for value, label in pairs}
    # These programs store a missing text as an empty string.
    out = [None if value in (None, "") else text_of.get(value, value) for value in values]
    return TypedColumn(out, tuple(text_of.values()), tuple(text_of))
