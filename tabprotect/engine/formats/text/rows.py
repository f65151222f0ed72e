"""Rows of text with their line numbers, whatever file they come from."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol, cast

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.foreign.looks_numeric import looks_numeric
from tabprotect.engine.formats.text.fields import WORD, Fields, split_fields
from tabprotect.engine.paths import check_file, unreadable
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message

TEXT_BLOCK_FIELDS = 400_000
"""The number of fields in the rows that are read at once."""


DELIMITERS = "\t;|,"
"""Tried in this order: a file with the same number of tabs in every row is not split at commas."""

BLOCK = 1 << 20

LONGEST_LINE = 1 << 26
"""The most bytes of a line; an endless line would fill the memory."""

_PLAIN = re.compile("utf-8(-sig)?|ascii|iso8859-[0-9]+|cp125[0-9]")
"""Encodings (as ``codecs`` names them) in which a byte below 128 is always that character."""

_SAID = re.compile('"?sep=(.)"?\r?\n')
SAMPLE_ROWS = 60

_QUOTED = re.compile(r'(?<![^\t;|,\r\n])"(?:[^"]|"")*+"(?=[\t;|,\r\n]|\Z)')


def without_quoted(text: str) -> str:
    """A text with a letter in place of each field in quotation marks, whatever the delimiter is."""
    return _QUOTED.sub("q", text)


class _Rows(Protocol):
    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...
    def __next__(self) -> list[str]: ...


@dataclass(frozen=True)
class Block:
    """A block of rows of a file.

    Attributes
    ----------
    rows
        Reads them, without the blank ones.
    fields
        The same rows for whole arrays, if they are clear-cut (none of them blank, if they hold a
        number).
    """

    rows: Callable[[], list[list[str]]]
    fields: Fields | None = None


class RowSource(Protocol):
    """The rows of a file that are not blank; can be read repeatedly."""

    name: str

    @property
    def fraction(self) -> float:
        """The fraction of the file that the last :meth:`rows` has read, in 0..1."""

    def rows(self) -> Iterator[list[str]]:
        """The rows, each a list of fields as in the file."""

    def blocks(self, width: int) -> Iterator[Block]:
        """All rows after the first, most of them ``width`` fields wide."""

    def line(self, row: int) -> int:
        """The line of the file (1-based) where row number ``row`` (0-based) begins."""


def check_width(source: RowSource, rows: list[list[str]], *, at: int, width: int) -> None:
    """Refuse rows (the first is number ``at``) that are not as wide as the first row of the file.

    Raises
    ------
    InputError
        With the line of the first such row.
    """
    for number, row in enumerate(rows, at):
        if len(row) != width:
            raise InputError(
                message("the row has {row} fields, the first row has {width}", len(row), width),
                file=source.name,
                line=source.line(number),
                hint=message("a label or number with a separator in it must stand in quotation marks"),
            )


class SheetRows:
    """Rows held in memory, with the line of each."""

    def __init__(self, name: str, rows: Sequence[list[str]], lines: Sequence[int]) -> None:
        self.name = name
        self._rows = rows
        self._lines = lines
        self.fraction = 0.0

    def rows(self) -> Iterator[list[str]]:
        return iter(self._rows)

    def blocks(self, width: int) -> Iterator[Block]:
        yield from _in_blocks(self.rows(), width)

    def line(self, row: int) -> int:
        return self._lines[row]


def _in_blocks(rows: Iterator[list[str]], width: int) -> Iterator[Block]:
    next(rows)
    while some := list(itertools.islice(rows, max(TEXT_BLOCK_FIELDS // width, 1))):
        yield Block(some.copy)


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    try:
        return codecs.getincrementaldecoder(encoding)()
    except LookupError:
        raise InputError(
            message("there is no encoding {encoding}", repr(encoding)),
            hint=message("for example utf-8, cp1252, latin-1"),
        ) from None


class TextRows:
    """A delimited text file, plain or gzip, read as a stream: never held in memory.

    Parameters
    ----------
    encoding
        ``None`` is UTF-8, or UTF-16 if the file begins with its byte order mark.
    delimiter
        ``None`` chooses among tab, semicolon, bar and comma, or obeys a first line ``sep=;``.

    Raises
    ------
    InputError
        For a wrong encoding (with the byte), NUL bytes, an empty file, one that cannot be read.
    """

    def __init__(
        self,
        path: Path,
        *,
        encoding: str | None = None,
        delimiter: str | None = None,
        progress: Progress = SILENT,
    ) -> None:
        self.path = path
        self.name = str(path)
        self._gzip = path.suffix.lower() == ".gz"
        self._file: BinaryIO | None = None
        self._newlines = True
        self.encoding = self._check(encoding, progress)
        said = self._said_delimiter()
        self.skipped = said is not None
        self.delimiter = delimiter or said or self._sniff()

    @property
    def fraction(self) -> float:
        if self._file is None:
            return 0.0
        if self._file.closed:
            return 1.0
        return min(self._file.tell() / max(self.path.stat().st_size, 1), 1.0)

    @contextmanager
    def _bytes(self) -> Iterator[BinaryIO]:
        check_file(self.path)
        try:
            with self.path.open("rb") as file:
                self._file = file
                if self._gzip:
                    with gzip.open(file) as packed:
                        yield cast(BinaryIO, packed)
                else:
                    yield file
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise InputError(
                message("the compressed file is damaged or cut off"),
                file=self.path,
                hint=message("copy or download it again"),
            ) from None
        except OSError as error:
            raise unreadable(self.path, error) from None

    def _check(self, encoding: str | None, progress: Progress) -> str:
        """Decode the whole file once, so that no later step meets a broken byte."""
        with self._bytes() as file:
            head = file.read(4)
            if not head:
                raise InputError(
                    message("the file is empty"), file=self.path, hint=message("export the table again")
                )
            if encoding is None:
                wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
                encoding = "utf-16" if wide else "utf-8-sig"
            decoder = _decoder(encoding)
            said = encoding.removesuffix("-sig").upper()
            position, line, since = 0, 1, 0
            for block in itertools.chain([head], iter(lambda: file.read(BLOCK), b""), [b""]):
                progress.report(message("checking the file"), self.fraction)
                pending = len(decoder.getstate()[0])
                try:
                    text = decoder.decode(block, final=not block)
                except UnicodeDecodeError as error:
                    at = position - pending + error.start
                    line += block[: max(error.start - pending, 0)].count(b"\n")
                    raise InputError(
                        message(
                            "byte {at} (0x{object:02x}) is not {said}",
                            at + 1,
                            error.object[error.start],
                            said,
                        ),
                        file=self.path,
                        line=line,
                        hint=message(
                            "save the file as UTF-8; a table can also be read with the "
                            "encoding cp1252 (Western European Windows) or latin-1"
                        ),
                    ) from None
                nul = text.find("\0")
                if nul >= 0:
                    raise InputError(
                        message("the file contains a NUL byte: it is not a text file, or damaged"),
                        file=self.path,
                        line=line + text.count("\n", 0, nul),
                        hint=message("export the table as CSV in UTF-8"),
                    )
                line += text.count("\n")
                position += len(block)
                last = max(text.rfind("\n"), text.rfind("\r"))
                since = len(text) - last if last >= 0 else since + len(text)
                if since > LONGEST_LINE:
                    raise InputError(
                        message("the line is absurdly long: this is no table"),
                        file=self.path,
                        line=line,
                        hint=message("export the table with one line for each row"),
                    )
                self._newlines = self._newlines and ("\n" in text or len(block) < BLOCK)
            return encoding

    def text(self) -> str:
        """The whole text, without a first line that states the delimiter."""
        with self._bytes() as file, io.TextIOWrapper(file, self.encoding, newline="") as text:
            if self.skipped:
                text.readline()
            return text.read()

    def _said_delimiter(self) -> str | None:
        """The delimiter stated by a spreadsheet program in a first line ``sep=;``."""
        with self._bytes() as file, io.TextIOWrapper(file, self.encoding, newline="") as text:
            found = _SAID.match(text.readline(20))
        return found[1] if found else None

    def _sniff(self) -> str:
        with self._bytes() as file:
            reader = io.TextIOWrapper(file, self.encoding, newline="")
            whole = "".join(itertools.islice(iter(lambda: reader.readline(BLOCK), ""), SAMPLE_ROWS))
            reader.detach()
        lines = without_quoted(whole).splitlines(keepends=True)
        uniform: list[str] = []
        most = (0, 0)
        best = ","
        for delimiter in DELIMITERS:
            found: list[list[str]] = []
            sound = True
            try:
                found.extend(filter(any, csv.reader(lines, delimiter=delimiter, strict=True)))
            except csv.Error as error:
                # The sample may end inside a quoted field; other faults speak against it.
                sound = "end of data" in str(error)
            widths = [len(row) for row in found]
            if sound and widths and widths[0] > 1 and len(set(widths)) == 1:
                if any(all(map(looks_numeric, column)) for column in zip(*found[1:], strict=True)):
                    return delimiter
                uniform.append(delimiter)
            # Lines of a title or a note are split in other ways than the table: what splits most
            # lines alike counts, then what splits the first one more often.
            alike = max((widths.count(width) for width in set(widths) if width > 1), default=0)
            if alike and (alike, widths[0]) > most:
                most, best = (alike, widths[0]), delimiter
        return uniform[0] if uniform else best

    @contextmanager
    def _csv(self) -> Iterator[_Rows]:
        with self._bytes() as file, io.TextIOWrapper(file, self.encoding, newline="") as text:
            if self.skipped:
                text.readline()
            yield csv.reader(text, delimiter=self.delimiter, strict=True)

    def _begins(self) -> Iterator[int]:
        """The first line of each row that is not blank; a faulty row comes last."""
        with self._csv() as reader:
            before = int(self.skipped)
            while True:
                try:
                    row = next(reader, None)
                except csv.Error:
                    row = ["?"]
                if row is None:
                    return
                if any(row):
                    yield before + 1
                before = reader.line_num + int(self.skipped)

    def rows(self) -> Iterator[list[str]]:
        seen = 0
        with self._csv() as reader:
            try:
                for row in filter(any, reader):
                    yield row
                    seen += 1
            except csv.Error as error:
                unclosed = "end of data" in str(error) or "field limit" in str(error)
                raise InputError(
                    message("a quotation mark that opens in this row is not closed")
                    if unclosed
                    else message("the quotation marks are wrong: {error}", error),
                    file=self.path,
                    line=self.line(seen),
                    hint=message('a label with a quotation mark is written "so ""quoted"" it is"'),
                ) from None

    def blocks(self, width: int) -> Iterator[Block]:
        plain = _PLAIN.fullmatch(codecs.lookup(self.encoding).name) and self._newlines
        if not plain or not self.delimiter.isascii() or width < 2:
            yield from _in_blocks(self.rows(), width)
            return
        begun = 0
        with self._bytes() as file:
            if self.encoding != "utf-8-sig" or file.read(3) != codecs.BOM_UTF8:
                file.seek(0)
            if self.skipped:
                file.readline()
            while data := file.read(BLOCK) + file.readline():
                block = self._block(data, file, width)
                if begun:
                    yield block
                elif block.fields is not None and block.fields.any_text(0):
                    begun = 1
                    yield Block(lambda b=block: b.rows()[1:], block.fields.after(1))  # type: ignore[misc]
                elif rows := block.rows():
                    begun = 1
                    yield Block(rows[1:].copy)

    @property
    def _behind_its_mark(self) -> str:
        """The encoding of all but the beginning: a byte order mark further on is a character."""
        return self.encoding.removesuffix("-sig")

    def _block(self, data: bytes, file: BinaryIO, width: int) -> Block:
        """The rows of whole lines, and of the lines that follow up to the end of a row."""
        ended = data if data.endswith(b"\n") else data + b"\n"
        padded = np.frombuffer(ended + bytes(WORD), dtype=np.uint8)
        fields = split_fields(
            padded, len(ended), delimiter=self.delimiter, width=width, encoding=self._behind_its_mark
        )
        if fields is not None or b'"' not in data:
            return Block(lambda: self._parsed(data), fields)
        # Only after reading the last line is it known whether it ends a row.
        rows = self._parsed(data, file)
        return Block(rows.copy)

    def _parsed(self, data: bytes, file: BinaryIO | None = None) -> list[list[str]]:
        left = 0

        def each() -> Iterator[str]:
            nonlocal left
            more = data
            while more:
                lines = io.StringIO(more.decode(self._behind_its_mark), newline="").readlines()
                left += len(lines)
                for line in lines:
                    left -= 1
                    yield line
                more = b"" if file is None else file.readline()

        rows = []
        try:
            for row in csv.reader(each(), delimiter=self.delimiter, strict=True):
                if any(row):
                    rows.append(row)
                if not left:
                    break
        except csv.Error:
            # Raise the same fault again, with its line.
            for _ in self.rows():
                pass
            raise
        return rows

    def line(self, row: int) -> int:
        for line in itertools.islice(self._begins(), row, row + 1):
            return line
        raise IndexError(row)
