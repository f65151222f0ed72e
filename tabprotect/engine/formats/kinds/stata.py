"""Stata data files (.dta): records, or a table in long form, with their labels.

Needs the extra `statistics` (pyreadstat). Categories are the labels of the values, in the order of
their numbers; a value without a label is its number. Extended missing values (.a to .z) are
categories of their own where they have a label; the plain `.` is missing. A file with a column
`count` is a table, any other holds records. Written as numbers with labels; suppressed counts are
missing, with C (else F) in `CONF_STATUS`.
"""

from __future__ import annotations

import re

from tabprotect.engine.formats.agencies.labelled_files import LabelledFormat
from tabprotect.languages.messages import message


class Stata(LabelledFormat):
    label = message("Stata")
    suffixes = (".dta",)
    media = "application/x-stata-dta"
    begins = re.compile(b"<stata_dta>")
    limits = (
        message(
            "Names other than at most 31 ASCII letters, digits and _ are written as the nearest, with themselves as label; labels have at most 2,000 bytes."
        ),
        message("Notes and formats are left out."),
        message("Counts from 2^53 on are written as texts."),
        message("A file is read as a whole."),
    )
    longest_name = 31
    longest_text = 2000
    reader, writer = "read_dta", "write_dta"
    stamp = (rb"<timestamp>\x11\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d", b"<timestamp>\x1101 Jan 2000 00:00", 400)


PLUGIN = Stata()
