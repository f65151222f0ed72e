"""SAS files: transport files (.xpt) and data sets (.sas7bdat), records or a table in long form.

Needs the extra `statistics` (pyreadstat). Of a data set the labels come from the catalog beside it
(the same name with .sas7bcat), where there is one; else categories are the values as they stand. An
empty text is missing. A file with a column `count` is a table, any other holds records. Written as
a transport file (version 8) with texts; suppressed counts are missing, with C (else F) in `CONF_STATUS`.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from tabprotect.engine.formats.agencies.labelled_files import LabelledFormat
from tabprotect.languages.messages import message

_DATASET = b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c\x18\x1f\x10\x11"


class Sas(LabelledFormat):
    label = message("SAS")
    suffixes = (".xpt", ".sas7bdat")
    only_read = (".sas7bdat",)
    media = "application/x-sas-xport"
    begins = re.compile(rb"HEADER RECORD\*{7}LIB|" + re.escape(bytes(12) + _DATASET))
    limits = (
        message(
            "Names other than at most 32 ASCII letters, digits and _ are written as the nearest, with themselves as label; categories have at most 200 bytes."
        ),
        message("Formats (and so labels of values) and notes are not written."),
        message("Counts from 2^53 on are written as texts."),
        message("A file is read as a whole."),
    )
    longest_name = 32
    longest_text = 200
    labelled = False
    reader, writer = "read_sas7bdat", "write_xport"
    version = MappingProxyType({"file_format_version": 8})
    stamp = (rb"\d\d[A-Z]{3}\d\d:\d\d:\d\d:\d\d", b"01JAN00:00:00:00", 800)


PLUGIN = Sas()
