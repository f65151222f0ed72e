from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from pytauargus.engine import run_batch

import tabprotect as tp
from tabprotect.engine.errors import InputError, RecordsError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.formats.table_writing import write_table
from tabprotect.engine.microdata.tabulate import tabulate
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable

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


def test_a_description_of_another_name(tmp_path: Path) -> None:
    path = put(tmp_path)
    expected = read_table(path).table
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for file in tmp_path.glob("*.*"):
        if file != path:
            file.rename(elsewhere / file.name.replace("t.rda", "other.rda"))
    named = Reading(metadata=str(elsewhere / "other.rda"))
    assert read_table(path, named).table == expected
    # Whatever the table itself is called.
    plain = path.rename(tmp_path / "results.txt")
    assert read_table(plain, named).table == expected


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
    found = tabulate(tmp_path / "m.asc", ["Region", "Size"], weight="none")
    assert found.domain["Size"].categories == ("1", "2", "(missing)")
    assert found.counts.tolist() == [[1, 1, 0], [0, 0, 1]]
    assert tabulate(tmp_path / "m.asc", ["Letter"], weight="none").domain["Letter"].categories == ("a", "é")


def test_records_with_a_separator(tmp_path: Path) -> None:
    (tmp_path / "m.asc").write_text('"N";1;2\nS;2;4\nS;2;4\n')
    (tmp_path / "m.rda").write_text('<SEPARATOR> ";"\nRegion 2\nSize 2\nW 4\n<WEIGHT>\n')
    assert tabulate(tmp_path / "m.asc", ["Region"], weight="W").counts.tolist() == [2, 8]


def test_what_is_published_carries_its_marks(tmp_path: Path) -> None:
    table = Table.dense(Domain.of({"v": ["a", "b"], "w": ["x", "y"]}), [[0, 2], [3, 4]])
    hidden = np.array([[False, True], [False, False]])
    assert KIND.publish(Cube(table, hidden)).decode().splitlines() == [
        '"a";"x";0;E',
        '"a";"y";x;U',
        '"b";"x";3;S',
        '"b";"y";4;S',
    ]


def test_a_grand_total_alone(tmp_path: Path) -> None:
    total = Table.dense(Domain(()), np.array(7))
    path = tmp_path / "t.tab"
    path.write_bytes(KIND.publish(Cube(total)))
    (tmp_path / "t.rda").write_bytes(KIND.beside(Cube(total), path)["t.rda"])
    assert read_table(path).table.total == 7


def by_batch(folder: Path, table: str) -> dict[tuple[str, ...], int]:
    """The cells of t.tab as tau-ARGUS' own engine computes them."""
    batch = folder / "t.arb"
    batch.write_text(
        f'<OPENTABLEDATA> "{folder}/t.tab"\n<OPENMETADATA> "{folder}/t.rda"\n'
        f"<SPECIFYTABLE> {table}\n<SAFETYRULE> FREQ(3,30)\n<READTABLE> 1\n"
        f'<WRITETABLE> (1,3,AS+,"{folder}/out.csv")\n'
    )
    run_batch(str(batch))
    with (folder / "out.csv").open() as file:
        # It pads codes with blanks in front.
        return {tuple(c.strip() for c in codes): int(n) for *codes, n, _ in csv.reader(file)}


def test_tau_argus_reads_what_is_written(tmp_path: Path) -> None:
    # The oracle: the engine of tau-ARGUS itself, by its batch.
    draw = np.random.default_rng(3)
    domain = Domain.of({"region": ["n", "s", "w"], "sex": ["f", "m"], "age": ["0-14", "15+"]})
    table = Table.dense(domain, draw.integers(5, 90, domain.shape))
    write_table(table, tmp_path / "t.tab", KIND)
    seen = by_batch(tmp_path, '"region""sex""age"|"count"||')
    assert seen["Total", "Total", "Total"] == table.total
    for index in np.ndindex(*domain.shape):
        assert seen[domain.labels(index)] == table[index]


REGIONS = Variable(
    "region",
    ("n1", "n2", "s1", "s2", "w", "x1"),
    (
        Level("part", ("north", "north", "south", "south", "w", "x")),
        Level("land", ("main", "main", "main", "main", "main", "off")),
    ),
)
TREE = "main\n@north\n@@n1\n@@n2\n@south\n@@s1\n@@s2\n@w\nx1\n"
COUNTS = np.arange(12).reshape(6, 2) + 4


def levelled() -> Table:
    return Table.dense(Domain((REGIONS, Variable("sex", ("f", "m")))), COUNTS)


def test_levels_are_written_as_a_hierarchy_and_read_again(tmp_path: Path) -> None:
    write_table(levelled(), tmp_path / "t.tab", KIND)
    assert (tmp_path / "t_region.hrc").read_text() == TREE
    found = read_table(tmp_path / "t.tab").table
    levels = found.domain["region"].levels
    assert [level.name for level in levels] == ["region_1", "region_2", "region"]
    assert levels[0].groups == ("main",) * 5 + ("x1",)
    assert levels[1].groups == ("north", "north", "south", "south", "w", "x1")
    assert (found.counts == COUNTS).all()


def test_tau_argus_adds_up_the_levels(tmp_path: Path) -> None:
    write_table(levelled(), tmp_path / "t.tab", KIND)
    seen = by_batch(tmp_path, '"region""sex"|"count"||')
    assert seen["north", "Total"] == COUNTS[:2].sum() and seen["main", "f"] == COUNTS[:5, 0].sum()
    assert seen["Total", "Total"] == COUNTS.sum() and len(seen) == 10 * 3
    # And the table with all its totals, as tau-ARGUS would have it, opens as it was.
    rows = [f'"{region}";"{sex}";{n};S' for (region, sex), n in seen.items()]
    (tmp_path / "t.tab").write_text("\n".join(rows) + "\n")
    found = read_table(tmp_path / "t.tab")
    assert found.table.total == COUNTS.sum() and found.table.domain.shape == (6, 2)
    assert "18 totals" in "".join(found.notes)
    (tmp_path / "t.tab").write_text("\n".join(rows).replace('"north";"f";10', '"north";"f";11'))
    with pytest.raises(InputError, match="do not add up") as caught:
        read_table(tmp_path / "t.tab")
    assert "(north, f): the total is 11" in caught.value.detail


def test_levels_by_the_digits_of_codes(tmp_path: Path) -> None:
    (tmp_path / "t.rda").write_text(
        '<SEPARATOR> ";"\nnace\n<TOTCODE> "Total"\n<HIERARCHICAL>\n<HIERLEVELS> 1 1 0\nn\n<NUMERIC>\n'
    )
    cells = {"Total": 30, "A": 12, "A1": 5, "A2": 7, "B": 18, "B1": 8, "B2": 10}
    (tmp_path / "t.tab").write_text("".join(f'"{code}";{n}\n' for code, n in cells.items()))
    found = read_table(tmp_path / "t.tab").table
    assert found.domain["nace"].categories == ("A1", "A2", "B1", "B2")
    assert found.domain["nace"].levels[0].groups == ("A", "A", "B", "B")


def test_a_hierarchy_leads_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    write_table(levelled(), tmp_path / "t" / "t.tab", KIND)
    (tmp_path / "t" / "t_region.hrc").rename(tmp_path / "t_region.hrc")
    rda = tmp_path / "t" / "t.rda"
    rda.write_text(rda.read_text().replace('"t_region.hrc"', '"../t_region.hrc"'))
    with pytest.raises(InputError, match="no such file"):
        read_table(tmp_path / "t" / "t.tab")


def test_groups_that_are_named_as_their_parts_are_refused() -> None:
    twice = Variable("v", ("a", "b", "c"), (Level("l", ("a", "a", "c")),))
    with pytest.raises(InputError, match="two codes 'a'"):
        KIND.beside(Cube(Table.dense(Domain((twice,)), [1, 2, 3])), Path("t.tab"))


def test_labels_of_codes(tmp_path: Path) -> None:
    path = put(tmp_path, rda=RDA.replace("Size\n", 'Size\n  <CODELIST> "C:\\x\\size.cdl"\n'))
    (tmp_path / "size.cdl").write_bytes(" 1,klein, f\xfcr sich\n 2,gro\xdf\n 3,leer\n".encode("latin-1"))
    assert read_table(path).table.domain["Size"].categories == ("1", "2")
    found = read_table(path, Reading(labels=True)).table
    assert found.domain["Size"].categories == ("klein, für sich", "groß")


def test_what_is_hidden_stays_hidden_in_the_next_table(tmp_path: Path) -> None:
    table = Table.dense(Domain.of({"v": ["a", "b", "c"], "w": ["x", "y", "z"]}),
                        [[2, 30, 14], [11, 25, 9], [20, 31, 40]])  # fmt: skip
    hidden = np.zeros((3, 3), dtype=np.bool_)
    hidden[np.ix_([0, 2], [1, 2])] = True
    text = KIND.beside(Cube(table, hidden), tmp_path / "t.tab")["t.hst"].decode()
    assert text == "a;y;m\na;z;m\nc;y;m\nc;z;m\n"
    (tmp_path / "t.hst").write_text(text)
    write_table(table, tmp_path / "t.csv", formats()["csv"])
    statuses = str(tmp_path / "t.hst")
    opened = tp.read_table(tmp_path / "t.csv")
    # What was given beforehand is told to no reader, so the choice is not judged.
    reason = "the cells of last year"
    release = tp.protect(opened, "suppression", statuses=statuses, seed=1, accept=reason).release
    assert release.inner is not None and release.inner.suppressed is not None
    assert (release.inner.suppressed >= hidden).all()


def test_a_suppressed_count_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"suppressed \(x\)") as caught:
        read_table(put(tmp_path, TABLE.replace(";2;U", ";x;U")))
    assert (caught.value.line, caught.value.cell) == (5, "(N, 1)")


def test_labels_are_written_and_tau_argus_takes_them(tmp_path: Path) -> None:
    sex = Variable("sex", ("f", "m"), labels=("Women; girls", "Men, ältere"))
    table = Table.dense(Domain((REGIONS, sex)), COUNTS)
    write_table(table, tmp_path / "t.tab", KIND)
    assert (tmp_path / "t_sex.cdl").read_text() == "f,Women; girls\nm,Men, ältere\n"
    assert read_table(tmp_path / "t.tab").table.domain["sex"].labels == sex.labels
    assert by_batch(tmp_path, '"region""sex"|"count"||')["north", "f"] == COUNTS[:2, 0].sum()


def test_any_name_and_code(tmp_path: Path) -> None:
    names = ("région", "size (m, w)", "2nd: code")
    size = Variable(names[1], ("1,5", "a; b"), labels=("one and a half", "both, or none"))
    place = Variable(names[0], ("é", "o", "z"), (Level("l", ("à, b", "à, b", "z")),))
    domain = Domain((place, size, Variable(names[2], ("x", "y"))))
    table = Table.dense(domain, np.arange(12).reshape(3, 2, 2) + 3)
    write_table(table, tmp_path / "t.tab", KIND)
    found = read_table(tmp_path / "t.tab").table
    assert found.domain.names == names and (found.counts == table.counts).all()
    assert found.domain[names[1]].labels == size.labels
    assert found.domain[names[0]].levels[0].groups == ("à, b", "à, b", "z")
    seen = by_batch(tmp_path, "".join(f'"{name}"' for name in names) + '|"count"||')
    assert seen["o", "a; b", "y"] == table[1, 1, 1] and seen["à, b", "Total", "Total"] == 3 * 8 + 28


@pytest.mark.parametrize("more", [' <HIERCODELIST> "a.hrc"\n <HIERLEADSTRING> "."\n', " <HIERLEVELS> 1 1\n"])
def test_the_tree_of_records_is_kept(tmp_path: Path, more: str) -> None:
    (tmp_path / "a.asc").write_text("n1m\nn2f\ns1m\nn1f\n")
    (tmp_path / "a.rda").write_text(f"grp 1 2\n <RECODABLE>\n <HIERARCHICAL>\n{more}sex 3 1\n <RECODABLE>\n")
    (tmp_path / "a.hrc").write_text("n\n.n1\n.n2\ns\n.s1\n.s2\n")
    found = tabulate(tmp_path / "a.asc", ["grp", "sex"])
    declared = ("n1", "n2", "s1", "s2") if "a.hrc" in more else ("n1", "n2", "s1")
    assert found.domain["grp"].categories == declared
    assert [level.name for level in found.domain["grp"].levels] == ["grp_1", "grp_2"]
    assert found.margin(["grp@grp_1"]).counts.tolist() == [3, 1]
    (tmp_path / "a.asc").write_text("n1m\nx9f\n")
    if "a.hrc" in more:
        with pytest.raises(InputError, match="x9"):
            tabulate(tmp_path / "a.asc", ["grp"])
