"""Stata data files (.dta): records, or a table in long form, with their labels.

Needs the extra `statistics` (pyreadstat). Categories are the labels of the values, in the order of
their numbers; a value without a label is its number. Extended missing values (.a to .z) are
categories of their own where they have a label; the plain `.` is missing. A file with a column
`count` is a table, any other holds records. Written as numbers with labels; suppressed counts are
missing, with C (else F) in `CONF_STATUS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tabprotect.engine.formats.statistics.labelled_files import LabelledFormat


class Stata(LabelledFormat):
    label = "Stata"
    suffixes = (".dta",)
    begins = re.compile(b"<stata_dta>")
    options = frozenset({"count", "decimal"})
    limits = (
        "Names other than at most 31 ASCII letters, digits and _ are written as the nearest, with themselves as label; labels have at most 2,000 bytes.",
        "Notes and formats are left out.",
        "Counts from 2^53 on are written as texts.",
        "A file is read as a whole.",
    )
    longest_name = 31
    longest_text = 2000

    def parse(self, library: Any, path: Path) -> tuple[Mapping[str, Any], Any]:
        found: tuple[Mapping[str, Any], Any] = library.read_dta(
            path, user_missing=True, output_format="dict"
        )
        return found

    def save(
        self,
        library: Any,
        frame: Any,
        path: Path,
        *,
        names: Mapping[str, str],
        labels: Mapping[str, Mapping[int, str]],
    ) -> None:
        library.write_dta(frame, path, variable_value_labels=labels, column_labels=names)

    def timeless(self, data: bytes) -> bytes:
        date = re.compile(rb"<timestamp>\x11\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d")
        fixed = b"<timestamp>\x1101 Jan 2000 00:00"
        return date.sub(fixed, data[:400], count=1) + data[400:]


PLUGIN = Stata()
