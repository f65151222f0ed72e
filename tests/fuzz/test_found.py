"""What mutants found once: errors that nobody foresaw, each refused in words since."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from foreign_files import DOMAIN, RECIPE, SUMS_RELEASE, TABLE, TEXTS

from tabprotect.engine.bundle import archive, public
from tabprotect.engine.bundle.verify import KIND
from tabprotect.engine.cycles.designs import design, is_named
from tabprotect.engine.disclosure import policy
from tabprotect.engine.errors import BundleError, InputError, ParameterError, TabprotectError
from tabprotect.engine.foreign import reader, worker
from tabprotect.engine.foreign.wire import Buffer, WireMessage
from tabprotect.engine.formats.grouping_files import parse_groupings
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.formats.structural_zeros import zeros_of
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.output_checking.decision_files import read_decisions
from tabprotect.engine.project.recipes import batch_jobs, replay
from tabprotect.engine.project.saving import storage
from tabprotect.engine.protection.descriptions.run_summary import remarks_on_table
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.formula import terms
from tabprotect.engine.tables.table import Table
from tabprotect.server import service

LONG = "7" * 5000
"""More digits than Python makes a number of."""


def test_a_workbook_whose_parts_lie_outside_of_it(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    data = bytearray(formats()["xlsx"].write(TABLE))
    at = -1
    while (at := data.find(b"PK\x01\x02", at + 1)) >= 0:
        data[at + 42 : at + 46] = b"\xff\xff\xff\x7f"
    path.write_bytes(data)
    with pytest.raises(InputError):
        read_table(path)


@pytest.mark.parametrize(
    ("member", "there", "forged"),
    [
        ("datapackage.json", b'"decimals": 1', b'"decimals": 999999999'),
        ("datapackage.json", b'"decimals": 1', b'"decimals": -1'),
        ("table.csv", b"a,x,1.0", b"a,x," + b"9" * 30),
        ("table.csv", b"a,x,1.0", b"a,\xff,1.0"),
        ("table.csv", b"a,x,1.0", b'a,x,1.0\r"\r'),
        ("table.csv", b"a,x,1.0", b"b,x,4.0"),
        ("table.csv", b"Total,Total,7.5,\n", b""),
    ],
)
def test_a_bundle_of_sums_that_somebody_made(
    tmp_path: Path, member: str, there: bytes, forged: bytes
) -> None:
    files = archive.unpack(public.to_bytes(SUMS_RELEASE), allowed=lambda _: True)
    assert there in files[member]
    changed = files | {member: files[member].replace(there, forged)}
    del changed[archive.MANIFEST]
    path = tmp_path / "sums.zip"
    path.write_bytes(archive.pack(archive.sealed(changed, KIND)))
    with pytest.raises(BundleError):
        public.read(path)


def test_a_column_that_begins_with_a_number_of_many_digits(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"a,b,c\n{LONG},5,x\n1,6,y\n2,7,x\n")
    with pytest.raises(InputError):
        read_table(path)


@pytest.mark.parametrize("text", ["A,B\n1,2\rx\n", "A,B\r1,2\n", 'A,B\n"1,2\n', "A,B\n\x00,2\n"])
def test_structural_zeros_with_a_stray_line_end(tmp_path: Path, text: str) -> None:
    path = tmp_path / "z.csv"
    path.write_bytes(text.encode())
    with pytest.raises(InputError):
        zeros_of(str(path), DOMAIN)


@pytest.mark.parametrize("fault", [IndexError("list"), MemoryError(), RecursionError(), KeyError(3)])
def test_a_library_that_stumbles_over_a_file_is_an_answer(
    monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def stumble(*_: object) -> None:
        raise fault

    monkeypatch.setattr(worker, "loaded", lambda do, of: stumble)
    monkeypatch.setattr(worker, "hold", lambda limits: None)
    asked = WireMessage({"do": "labelled", "of": {}, "limits": [2**32, 8, 0]})
    found = worker.answer(asked, lambda done: None).said
    stops = isinstance(fault, MemoryError | RecursionError)
    assert found["refused"] == ("stopped" if stops else "error")


@pytest.mark.parametrize("suffix", [".dta", ".xpt", ".sav"])
def test_columns_without_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_bytes(b"\x00" * 100)
    codes = Buffer("i4", np.zeros(2, np.int32).tobytes())

    def nameless(*_: object, **__: object) -> object:
        return [[None, ["a"], [], None]], [codes]

    monkeypatch.setattr(reader.Reader, "ask", nameless)
    with pytest.raises(InputError, match="made its reader stop"):
        read_table(path)


def test_a_message_in_an_encoding_that_nobody_knows(tmp_path: Path) -> None:
    path = tmp_path / "t.sdmx.xml"
    path.write_bytes(b'<?xml version="1.0" encoding="x-nobody"?>' + b"<a/>")
    with pytest.raises(InputError):
        read_table(path)


@pytest.mark.parametrize("head", ["{'descr': '<i8'", "((((", "{'a': \\", "'''", "{\n  1\n }"])
def test_an_array_whose_head_is_no_python(tmp_path: Path, head: str) -> None:
    text = (head + " " * 60).encode()
    array = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
    path = tmp_path / "p.tabprotect"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("project.json", json.dumps({"format": "tabprotect project"}))
        packed.writestr("counts.npy", array)
    with pytest.raises(InputError):
        storage.load(path)


@pytest.mark.parametrize("text", ["", "\n", "\n\n", ",\n", "A\n", "A,half\n\n", "A,half\n0\n", '"', '""\n'])
def test_groupings_without_rows_or_names(tmp_path: Path, text: str) -> None:
    path = tmp_path / "g.csv"
    path.write_text(text)
    with pytest.raises(InputError):
        parse_groupings(str(path), DOMAIN)


def test_labels_with_more_digits_than_a_number_has() -> None:
    labels = [f"a{LONG}", "a9", "a10", f"a{LONG}1", "a010"]
    counts = np.arange(10, dtype=np.int64).reshape(5, 2)
    table = Table.dense(Domain.of({"v": labels, "w": ["x", "y"]}), counts)
    assert all(remark.message for remark in remarks_on_table(table))


@pytest.mark.parametrize("read", [service.read, policy.read, replay.read, batch_jobs.jobs_of])
def test_settings_with_more_digits_than_a_number_has(tmp_path: Path, read: Callable[[Path], object]) -> None:
    path = tmp_path / "s.toml"
    path.write_text(f"recipe = {LONG}\n")
    with pytest.raises(TabprotectError):
        read(path)


def test_a_decision_on_a_count_of_too_many_digits(tmp_path: Path) -> None:
    path = tmp_path / "decisions.csv"
    head = "v,w,count,rules,reasons,decision,to,who,when,why\n"
    when = "2026-11-22T10:00:00+00:00"
    path.write_text("\n\n")
    with pytest.raises(InputError, match="no decisions"):
        read_decisions(path, TABLE.domain.names)
    for to in (LONG, "\u0663", "\u00b2", "-1"):
        path.write_text(f"{head}a,x,3,threshold,few,change,{to},ann,{when},known\n", encoding="utf-8")
        with pytest.raises(InputError, match="is no count"):
            read_decisions(path, TABLE.domain.names)


@pytest.mark.parametrize("number", [LONG, "\u00b2", "\u0663", "-1", ""])
def test_numbers_in_names_and_formulas(tmp_path: Path, number: str) -> None:
    for kind in ("order", "strips"):
        assert not is_named(f"{kind}-{number}")
        with pytest.raises(ParameterError, match="unknown"):
            design(DOMAIN, f"{kind}-{number}")
    with pytest.raises(InputError):
        terms(f"(A + B)^{number}", ["A", "B"])
    path = tmp_path / "s.toml"
    path.write_text(RECIPE + f'[[step]]\ndo = "protect"\nseed = "{number}"\n', encoding="utf-8")
    if number != "\u0663":
        with pytest.raises(InputError, match="no whole number"):
            replay.read(path)


def test_levels_of_a_code_with_too_many_digits(tmp_path: Path) -> None:
    said = TEXTS["m.rda"].split("n 4 6")[0] + f"  <HIERARCHICAL>\n  <HIERLEVELS> {LONG} 1 1\n"
    (tmp_path / "t.rda").write_text(said + "n 4 6\n  <NUMERIC>\n")
    (tmp_path / "t.tab").write_text("a1,3\na2,4\nb1,5\n")
    try:
        read_table(tmp_path / "t.tab")
    except TabprotectError as error:
        assert error.message  # noqa: PT017 (what is left of the levels may be enough)
