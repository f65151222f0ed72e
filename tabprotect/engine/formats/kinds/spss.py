"""SPSS data files (.sav, .zsav): records, or a table in long form, with their labels.

Needs the extra `statistics` (pyreadstat). Categories are the labels of the values, in the order of
their numbers; a value without a label is its number. Values that are declared missing keep their
labels as categories of their own (`Refused`); system-missing values have none. A file with a
column `count` is a table, any other holds records. Written as numbers with labels; suppressed counts
are system-missing, with C (else F) in `CONF_STATUS`.
"""

from __future__ import annotations

import re

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


PLUGIN = Spss()
