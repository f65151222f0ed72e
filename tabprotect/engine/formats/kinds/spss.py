"""SPSS data files (.sav, .zsav): records, or a table in long form, with their labels.

Needs the extra `statistics` (pyreadstat). Categories are the labels of the values, in the order of
their numbers; a value without a label is its number. Values that are declared missing keep their
labels as categories of their own (`Refused`); system-missing values have none. A file with a
column `count` is a table, any other holds records. Written as numbers with labels; suppressed counts
are system-missing, with C (else F) in `CONF_STATUS`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Collection
from pathlib import Path

from tabprotect.engine.formats.agencies.labelled_files import LabelledFormat
from tabprotect.languages.messages import message


class Spss(LabelledFormat):
    label = message("SPSS")
    suffixes = (".sav", ".zsav")
    only_read = (".zsav",)
    media = "application/x-spss-sav"
    begins = re.compile(rb"\$FL[23]")
    limits = (
        message(
            "Names other than at most 64 ASCII letters, digits and _ are written as the nearest, with themselves as label; labels have at most 120 bytes."
        ),
        message("Notes and formats are left out."),
        message("Counts from 2^53 on are written as texts."),
        message("A file is read as a whole."),
    )
    longest_name = 64
    longest_text = 120
    reader, writer = "read_sav", "write_sav"
    stamp = (
        # Bytes 84 to 101 of the header: "22 Nov 26" and "02:15:16".
        rb"\d\d [A-Z][a-z]{2} \d\d\d\d:\d\d:\d\d",
        b"01 Jan 0000:00:00",
        176,
    )

    def weight(self, path: Path, columns: Collection[str]) -> str | None:
        with path.open("rb") as file:
            short, long = weight_name(file.read(MOST_HEADER))
        by_name = {name.casefold(): name for name in columns}
        return by_name.get(long.casefold()) or by_name.get(short.casefold())


MOST_HEADER = 2**22
"""Bytes within which the variables of a file are listed."""


def weight_name(data: bytes) -> tuple[str, str]:
    """The short and the long name of the variable that weights the cases, by the records of a file's head
    (GNU PSPP, System File Format); empty where there is none.
    """
    order = "<" if data[64:68] in (b"\2\0\0\0", b"\3\0\0\0") else ">"
    try:
        (wanted,), at, number = struct.unpack_from(f"{order}i", data, 76), 176, 0
        while wanted > 0:
            kind, _, labelled, missing = struct.unpack_from(f"{order}4i", data, at)
            if kind != 2:
                break
            number += 1
            short = data[at + 24 : at + 32].decode("ascii", "replace").strip()
            at += 32
            if labelled:
                at += 4 + -(-struct.unpack_from(f"{order}i", data, at)[0] // 4) * 4
            at += 8 * abs(missing)
            if number == wanted:
                found = re.search(
                    rb"[\x00-\x1f]" + re.escape(short.encode()) + rb"=([^\x00-\x1f]{1,64})", data
                )
                long = short if found is None else found[1].decode("utf-8", "replace")
                return short, long
    except struct.error:
        pass
    return "", ""


PLUGIN = Spss()
