"""A reader is begun beside the program's own start: for which files, and with what loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from foreign_files import sound_files

from tabprotect.cli.main import begin, questions
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.foreign import reader
from tabprotect.engine.foreign.limits import Limits
from tabprotect.engine.foreign.worker import READERS
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.microdata.tabulate import tabulate


def test_what_a_command_line_says_is_what_its_files_ask_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    class Died(Exception):  # noqa: N818 (it ends the reading)
        pass

    def ask(_: object, do: str, *__: object, **___: object) -> None:
        asked.append(do)
        raise Died

    for name, data in sound_files(tmp_path).items():
        (tmp_path / name).write_bytes(data)
    monkeypatch.setattr(reader.Reader, "ask", ask)
    for suffix in (one.suffixes[0] for one in formats().values()):
        path = tmp_path / f"t{suffix}"
        for command, read in (
            ("protect", lambda path=path: read_table(path)),
            ("tabulate", lambda path=path: tabulate(path, ["v"])),
        ):
            asked.clear()
            try:
                read()
            except Died:
                pass
            except TabprotectError:
                continue  # A format that holds no records.
            foreseen = [READERS[do] for do in questions([command, str(path)])]
            assert foreseen == [READERS[do] for do in asked[:1]], (command, suffix)


def test_what_is_no_file_begins_nothing(tmp_path: Path) -> None:
    assert not list(questions(["protect", str(tmp_path / "t.xlsx"), "--out", "t.sav", ".parquet"]))
    (tmp_path / "p.duckdb").write_bytes(b"")
    assert list(questions(["tabulate", f"{tmp_path / 'p.duckdb'}#people"])) == ["connect"]


def test_the_reader_that_was_begun_answers(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n1,3\n")
    reader.end_all()
    begin(["tabulate", str(path)])
    begin(["tabulate", str(path)])
    waiting = list(reader._waiting)
    assert len(waiting) == 1
    assert tabulate(path, ["a"]).total == 2
    assert reader._waiting == waiting
    with reader.lent(0) as one:
        assert one is waiting[0]
        value, _ = one.ask("close", {}, limits=Limits(memory=2**32, seconds=5))
        assert value is None
