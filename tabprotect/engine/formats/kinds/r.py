"""R data frames (.rds, .rdata): records, or a table in long form.

Needs the extra `statistics` (rdata). Of a file with several objects the first data frame is read, or
where there is none the first table: its dimensions are variables, by the names of its `dimnames`.
Categories are the levels of a factor in their order, else the values in order of first
appearance; NA is missing. A data frame with a column `count` is a table, any other holds records.
Written as one data frame (.rds) of factors and a number; suppressed counts are NA, with C (else F) in
`CONF_STATUS`. What tau-ARGUS calls .rda is text, and no R file.
"""

from __future__ import annotations

import gzip
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tabprotect.engine.budgets import MOST_TEXT
from tabprotect.engine.errors import InputError
from tabprotect.engine.foreign.answers import columns_of, text, texts
from tabprotect.engine.foreign.reader import RefusedFileError
from tabprotect.engine.formats.agencies.column_files import ColumnFormat, TypedColumn, in_rows
from tabprotect.engine.formats.layouts.observations import refuse_texts
from tabprotect.engine.formats.statuses import COUNT, SHOWN
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message

_BEGINS = (b"RDX3\n", b"RDX2\n", b"RDA3\n", b"X\n\x00\x00\x00\x02", b"X\n\x00\x00\x00\x03")


class R(ColumnFormat):
    label = message("R")
    suffixes = (".rds", ".rdata", ".rda")
    only_read = (".rdata", ".rda")
    media = "application/x-r-data"
    library = "rdata"
    begins = re.compile(b"|".join(_BEGINS))
    limits = (
        message("Data frames and tables alone; attributes other than factors' levels are left out."),
        message("Counts from 2^53 on are written as texts."),
        message("A file is read as a whole, at most 512 MiB: keep large data as Parquet."),
    )

    def accepts(self, path: Path, head: bytes) -> bool:
        # A text file is a tau-ARGUS description, also named .rda.
        packed = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", *_BEGINS)
        return not head or path.suffix.lower() != ".rda" or head.startswith(packed)

    def columns(self, path: Path, progress: Progress = SILENT) -> dict[str, TypedColumn]:
        if path.stat().st_size > MOST_TEXT:
            raise InputError(message("the file is too large for R"), hint=message("save it as Parquet"))
        try:
            found, buffers = self.asked("r", {"most": MOST_TEXT}, path, progress)
        except RefusedFileError as refused:
            if refused.reason == "cut off":
                raise InputError(
                    message("the file is cut off, or too large for R"), hint=message("save it as Parquet")
                ) from None
            raise InputError(
                message("the file holds no data frame and no table with names of its categories"),
                hint=message("save one: saveRDS(frame, file)"),
            ) from None
        return {
            text(name, path): TypedColumn(
                in_rows(texts(different, path), buffer, path),
                tuple(texts(order, path)),
                tuple(str(code) for code, _ in enumerate(texts(order, path), 1)),
            )
            for (name, different, order), buffer in zip(
                columns_of(found, buffers, 3, path), buffers, strict=True
            )
        }

    def pack(self, columns: Mapping[str, TypedColumn]) -> bytes:
        library = self.module()
        # Late: it comes with the library's own extra.
        import pandas as pd

        texts = (text for name, column in columns.items() for text in (name, *column.order))
        refuse_texts(texts, lambda text: text and text.isprintable(), "R")
        data = {
            name: [float("nan") if v is None else float(v) for v in column.values]
            if name == COUNT and not column.order
            else pd.Categorical(
                [SHOWN if v is None else v for v in column.values],
                categories=[*column.order, *([SHOWN] if None in column.values else [])],
            )
            for name, column in columns.items()
        }
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.rds"
            library.write_rds(path, pd.DataFrame(data), compression=None)
            # Without the time: the same bytes for the same table.
            return gzip.compress(path.read_bytes(), mtime=0)


PLUGIN = R()
