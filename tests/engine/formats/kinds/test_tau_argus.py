from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from pytauargus.engine import run_batch

from tabprotect.engine.errors import InputError, RecordsError
from tabprotect.engine.formats.files import read_table
from tabprotect.engine.formats.reading import Reading
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.formats.writing import write_table
from tabprotect.engine.microdata.tabulate import tabulate
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

KIND = formats()["tau_argus"]

TABLE = """"Tot";"Tot"; 65,00;9;S;0,01
"Tot";" 1";25,00;4;S;0,01
"Tot";" 2";40,00;5;M;0,01
"N";"Tot";20,00;6;S;0,01
"N";" 1";5,00;2;U;0,01
"N";" 2";15,00;4;S;0,01
"S";"Tot";45,00;3;S;0,01
"S";" 1";20,00;2;P;0,01
"S";" 2";25,00;1;S;0,01
"""
RDA = """<SEPARATOR> ";"
<SAFE> "S"
<UNSAFE> "U"
<PROTECT> "P"
Region "Miss"
  <RECODABLE>
  <TOTCODE> "Tot"
  <HIERARCHICAL>
  <HIERLEVELS> 1 1
Size
  <RECODEABLE>
  <TOTCODE> Tot
Turnover
  <NUMERIC>
  <DECIMALS> 2
Freq
  <FREQUENCY>
Status
  <STATUS>
Lower
  <LOWERPL>
"""


def put(folder: Path, table: str = TABLE, rda: str = RDA) -> Path:
    (folder / "t.tab").write_text(table)
    (folder / "t.rda").write_text(rda)
    return folder / "t.tab"


def test_counts_are_the_frequencies_and_totals_are_left_out(tmp_path: Path) -> None:
    found = read_table(put(tmp_path))
    assert found.table.domain.names == ("Region", "Size")
    assert found.table.domain["Size"].categories == ("1", "2")
    assert found.table.counts.tolist() == [[2, 4], [2, 1]]
    said = "; ".join(found.notes)
    assert "5 totals" in said and "1 M (hidden to protect others)" in said


def test_another_response_by_its_name_with_decimal_commas(tmp_path: Path) -> None:
    found = read_table(put(tmp_path), Reading(count="Turnover"))
    assert found.table.counts.tolist() == [[5, 15], [20, 25]]


def test_totals_that_do_not_hold_are_listed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="do not add up") as caught:
        read_table(put(tmp_path, TABLE.replace(";9;S", ";10;S")))
    assert caught.value.line == 1 and "is 10" in caught.value.detail


def test_without_its_description_it_says_so(tmp_path: Path) -> None:
    path = put(tmp_path)
    (tmp_path / "t.rda").unlink()
    with pytest.raises(InputError, match=r"t.rda is not beside it"):
        read_table(path)
    (tmp_path / "u.tab").write_text("v\tw\tcount\na\tx\t3\n")
    assert read_table(tmp_path / "u.tab").table.total == 3


def test_records_in_fixed_columns(tmp_path: Path) -> None:
    (tmp_path / "m.asc").write_bytes("N  1 2,5é\nN  2 1,0a\nS  9 3,5a\n".encode("latin-1"))
    (tmp_path / "m.rda").write_text(
        'Region 1 2\n<RECODEABLE>\nSize 3 2 "9"\n<RECODEABLE>\nW 5 4\n<WEIGHT>\n<DECIMALS> 1\n'
        "Letter 9 1\n<RECODEABLE>\n"
    )
    with pytest.raises(RecordsError):
        read_table(tmp_path / "m.asc")
    found = tabulate(tmp_path / "m.asc", ["Region", "Size"])
    assert found.domain["Size"].categories == ("1", "2", "(missing)")
    assert found.counts.tolist() == [[1, 1, 0], [0, 0, 1]]
    assert tabulate(tmp_path / "m.asc", ["Letter"]).domain["Letter"].categories == ("a", "é")


def test_records_with_a_separator(tmp_path: Path) -> None:
    (tmp_path / "m.asc").write_text('"N";1;2\nS;2;4\nS;2;4\n')
    (tmp_path / "m.rda").write_text('<SEPARATOR> ";"\nRegion 2\nSize 2\nW 4\n<WEIGHT>\n')
    assert tabulate(tmp_path / "m.asc", ["Region"], weight="W").counts.tolist() == [2, 8]


def test_what_is_published_carries_its_marks(tmp_path: Path) -> None:
    table = Table.dense(Domain.of({"v": ["a", "b"], "w": ["x", "y"]}), [[0, 2], [3, 4]])
    hidden = np.array([[False, True], [False, False]])
    assert KIND.publish(table, hidden, "").decode().splitlines() == [
        '"a";"x";0;E',
        '"a";"y";x;U',
        '"b";"x";3;S',
        '"b";"y";4;S',
    ]


def test_a_grand_total_alone(tmp_path: Path) -> None:
    total = Table.dense(Domain(()), np.array(7))
    path = tmp_path / "t.tab"
    path.write_bytes(KIND.publish(total, None, ""))
    (tmp_path / "t.rda").write_bytes(KIND.beside(total, path)["t.rda"])
    assert read_table(path).table.total == 7


def test_tau_argus_reads_what_is_written(tmp_path: Path) -> None:
    # The oracle: the engine of tau-ARGUS itself, by its batch.
    draw = np.random.default_rng(3)
    domain = Domain.of({"region": ["n", "s", "w"], "sex": ["f", "m"], "age": ["0-14", "15+"]})
    table = Table.dense(domain, draw.integers(5, 90, domain.shape))
    write_table(table, tmp_path / "t.tab", KIND)
    batch = tmp_path / "t.arb"
    batch.write_text(
        f'<OPENTABLEDATA> "{tmp_path}/t.tab"\n<OPENMETADATA> "{tmp_path}/t.rda"\n'
        '<SPECIFYTABLE> "region""sex""age"|"count"||\n<SAFETYRULE> FREQ(3,30)\n<READTABLE> 1\n'
        f'<WRITETABLE> (1,3,AS+,"{tmp_path}/out.csv")\n'
    )
    run_batch(str(batch))
    seen = {}
    with (tmp_path / "out.csv").open() as file:
        for *codes, value, _ in csv.reader(file):
            # It pads codes with blanks in front.
            seen[tuple(code.strip() for code in codes)] = int(value)
    assert seen["Total", "Total", "Total"] == table.total
    for index in np.ndindex(*domain.shape):
        assert seen[domain.labels(index)] == table[index]
