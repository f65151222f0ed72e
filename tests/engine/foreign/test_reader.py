"""The reader's process: what ends it, what it may take, and what is believed of its answers."""

from __future__ import annotations

import io
import itertools
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
import xlsxwriter

from tabprotect.engine.errors import InputError, Interrupted
from tabprotect.engine.foreign import answers, reader
from tabprotect.engine.foreign.limits import Limits
from tabprotect.engine.foreign.queries import FEW
from tabprotect.engine.foreign.reader import RefusedFileError, lent, limits_for
from tabprotect.engine.foreign.wire import Buffer, WireError, WireMessage, receive, send
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.formats.rows.sql import QueryError, connected
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.microdata.tabulate import tabulate
from tabprotect.engine.progress import Cancellable
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

TABLE = Table.dense(Domain.of({"v": ["a", "b"], "w": ["x", "y"]}), np.arange(4, dtype=np.int64).reshape(2, 2))
ROOMY = Limits(memory=2**32, seconds=20)
HELD = sys.platform == "linux"


def test_a_file_that_ends_its_reader_is_refused_and_the_next_one_is_read(tmp_path: Path) -> None:
    sound = formats()["spss"].write(TABLE)
    good, bad = tmp_path / "good.sav", tmp_path / "bad.sav"
    good.write_bytes(sound)
    for place, byte in ((183, 61), (559, 171), (321, 228)):
        bad.write_bytes(sound[:place] + bytes([byte]) + sound[place + 1 :])
        # A later version of the library may refuse it in words, or read it.
        try:
            read_table(bad)
        except InputError as error:
            assert error.file == str(bad)  # noqa: PT017
        assert read_table(good).table == TABLE


def test_a_reader_that_dies_says_so(tmp_path: Path) -> None:
    path = tmp_path / "t.sav"
    path.write_bytes(formats()["spss"].write(TABLE))
    with lent(0) as one:
        assert one.alive
    one.end()
    assert not one.alive
    # Whoever waits is looked at before it is asked.
    assert read_table(path).table == TABLE
    with lent(0) as other:
        other.end()
        with pytest.raises(WireError):
            other.ask("close", {}, limits=ROOMY)
    assert reader.stopped(path).exit_code == 3
    assert "made its reader stop" in reader.stopped(path).message


@pytest.mark.skipif(not HELD, reason="the platform has no such limit")
def test_processor_time_and_memory_and_written_bytes_are_limited(tmp_path: Path) -> None:
    many = "SELECT count(*) FROM range(100000000000) WHERE hash(range) = 1"
    with lent(0) as one:
        of = {"paths": [], "ordered": False, "database": None, "memory": 2**30}
        one.ask("connect", of, limits=ROOMY)
        asked = {"sql": many, "parameters": None, "register": ""}
        with pytest.raises(WireError):
            one.ask("execute", asked, limits=Limits(memory=2**32, seconds=1))
        assert not one.alive
    # A list of numbers as long as it says, in a file that does not hold them.
    path = tmp_path / "t.rds"
    path.write_bytes(b"X\n\x00\x00\x00\x03\x00\x04\x00\x00\x00\x03\x05\x00" + b"\x00\x00\x00\x05UTF-8"
                     b"\x00\x00\x00\x0e\x7f\xff\xff\xff")  # fmt: skip
    with lent(0) as one, pytest.raises((WireError, RefusedFileError)):
        one.ask("r", {"path": str(path), "most": 2**29}, limits=Limits(memory=2**28, seconds=1))
    out = tmp_path / "written"
    with connected(written=out) as connection:
        connection.execute("SELECT 1").fetchall()
        connection._limits = Limits(memory=2**32, seconds=8, written=0)
        with pytest.raises((QueryError, InputError)):
            connection.execute(f"COPY (SELECT range FROM range(100000)) TO '{out}' (FORMAT csv)")
    assert not out.exists() or not out.stat().st_size


def test_limits_grow_with_the_file() -> None:
    small, large = limits_for(1000), limits_for(2**30)
    assert small.seconds <= 10
    assert small.memory <= large.memory
    assert large.seconds > 1000
    assert small.written == 0


def test_cancelling_ends_the_reader_and_the_next_one_begins(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{n},{n % 7}\n" for n in range(200_000)))
    cancelled = Cancellable()
    threading.Timer(0.05, cancelled.cancel).start()
    with pytest.raises(Interrupted):
        all(tabulate(path, ["b"], progress=cancelled) for _ in itertools.count())
    assert tabulate(path, ["b"]).total == 200_000


def test_a_row_number_beyond_all_sheets_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for row, line in enumerate((("v", "count"), ("a", 1), ("b", 2))):
            sheet.write_row(row, 0, line)
    with zipfile.ZipFile(path) as book_in:
        parts = {name: book_in.read(name) for name in book_in.namelist()}
    name = "xl/worksheets/sheet1.xml"
    for reference in (b"C192233720368547758083", b"C" + b"9" * 60, b"A" * 30 + b"3"):
        far = parts[name].replace(b'r="A3"', b'r="%s"' % reference)
        assert far != parts[name]
        with zipfile.ZipFile(path, "w") as book_out:
            for part, data in (parts | {name: far}).items():
                book_out.writestr(part, data)
        with pytest.raises(InputError) as caught:
            read_table(path)
        assert caught.value.exit_code == 3


def test_what_is_no_message_is_refused() -> None:
    for said in (
        b"", b"\x05", b"\xff" * 8, b"\x02\0\0\0\0\0\0\0[]", b"\x02\0\0\0\0\0\0\0{}",
        b"\x13\0\0\0\0\0\0\0" + b'{"buffers":[["O",8]]}'[:19],
        b"\x17\0\0\0\0\0\0\0" + b'{"buffers":[["i4",-16]]}'[:23],
    ):  # fmt: skip
        with pytest.raises(WireError):
            receive(io.BytesIO(said), 2**20)
    out = io.BytesIO()
    send(out, WireMessage({"value": "é"}, [Buffer("i4", np.arange(5, dtype=np.int32).tobytes())]))
    found = receive(io.BytesIO(out.getvalue()), 2**20)
    assert found.said == {"value": "é"}
    assert np.frombuffer(found.buffers[0].data, np.int32).tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(WireError):
        receive(io.BytesIO(out.getvalue()), 20)


def test_columns_are_the_same_with_few_rows_and_with_many() -> None:
    kinds = ("TINYINT", "USMALLINT", "INTEGER", "UINTEGER", "BIGINT", "DOUBLE", "HUGEINT")
    values = ", ".join(
        f"CAST(CASE WHEN range % 7 = {number} THEN NULL ELSE range % 100 END AS {kind}) AS c{number}"
        for number, kind in enumerate(kinds)
    )
    for whole in (True, False):
        said = values.rpartition(", CAST")[0].rpartition(", CAST")[0] if whole else values
        with connected() as connection:
            for rows in (0, 1, 8, FEW - 1, FEW, FEW + 1, 2 * FEW + 5):
                found = connection.execute(f"SELECT {said} FROM range({rows})").fetchnumpy()
                of = np.arange(rows)
                for number, (name, column) in enumerate(found.items()):
                    assert name == f"c{number}" and len(column) == rows
                    gone = np.ma.getmaskarray(column)
                    assert (gone == (of % 7 == number)).all()
                    assert (np.ma.getdata(column)[~gone] == of[~gone] % 100).all()


def test_answers_are_checked_like_a_foreign_file() -> None:
    path = Path("t.sav")
    numbers = Buffer("i4", np.array([0, -1, 2], dtype=np.int32).tobytes())
    assert answers.codes(numbers, 3, path).tolist() == [0, -1, 2]
    for wrong in (
        lambda: answers.codes(numbers, 2, path),
        lambda: answers.codes(Buffer("i8", b"\0" * 8), 2, path),
        lambda: answers.text(b"a", path),
        lambda: answers.text("\ud800", path),
        lambda: answers.texts(["a", 1], path),
        lambda: answers.texts(["a", "\udfff"], path),
        lambda: answers.number(-1, path),
        lambda: answers.number(True, path),
        lambda: answers.rows_of([["a"]], 0, 2, path),
        lambda: answers.rows_of([], 1, 2, path),
        lambda: answers.columns_of([["a"]], [], 1, path),
    ):
        with pytest.raises(InputError, match="made its reader stop"):
            wrong()
