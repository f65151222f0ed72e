"""The common part of SPSS, Stata and SAS files: numbers with labels, read by pyreadstat.

A variable name that these programs cannot hold (``région``, ``age group``) is written as the nearest
possible one (``region``, ``age_group``), with the name itself as the variable's label, from which it is
read back.
"""

from __future__ import annotations

import re
import tempfile
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import ClassVar, Protocol

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.agencies.column_files import ColumnFormat, TypedColumn, as_text
from tabprotect.engine.formats.format import COUNT
from tabprotect.engine.formats.layouts.observations import refuse_texts


class Metadata(Protocol):
    """What pyreadstat says about the columns of a file."""

    variable_value_labels: Mapping[str, Mapping[object, str]]
    column_names_to_labels: Mapping[str, str | None]


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

    def parse(
        self, library: ModuleType, path: Path
    ) -> tuple[Mapping[str, Sequence[object]], Metadata]:
        """Columns and metadata, as the library reads them."""
        found: tuple[Mapping[str, Sequence[object]], Metadata] = getattr(library, self.reader)(
            path, user_missing=True, output_format="dict"
        )
        return found

    def columns(self, path: Path) -> dict[str, TypedColumn]:
        library = self.module()
        try:
            found, said = self.parse(library, path)
        except (library.PyreadstatError, library.ReadstatError, ValueError) as error:
            raise self.damaged(error) from None
        labels, names = said.variable_value_labels, said.column_names_to_labels
        read = {
            name: label if (label := names.get(name)) and self._nearest(label) == name else name
            for name in found
        }
        if len(set(read.values())) < len(read):
            read = {name: name for name in found}
        return {read[name]: _texts(values, labels.get(name, {})) for name, values in found.items()}

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


def _texts(values: Sequence[object], labels: Mapping[object, str]) -> TypedColumn:
    """Values by their labels; values that share a label are told apart by their numbers."""
    text_of: dict[str, str] = {}
    every = list(labels.values())
    for value, label in labels.items():
        text = as_text(value) or ""
        text_of[text] = label if every.count(label) == 1 else f"{label} ({text})"
    texts = [as_text(value) for value in values]
    # These programs store a missing text as an empty string.
    out = [None if text in (None, "") else text_of.get(text, text) for text in texts]
    return TypedColumn(out, tuple(text_of.values()))
