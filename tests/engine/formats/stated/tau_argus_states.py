"""tau-ARGUS tables by the user's manual, section 4.3."""

from __future__ import annotations

from pathlib import Path

from stated import Said, opened, put, states

from tabprotect.engine.errors import InputError
from tabprotect.engine.microdata.tabulate import tabulate

CELLS = {("A", "X"): 5, ("A", "Y"): 6, ("B", "X"): 7, ("B", "Y"): 8}
INNER = '"A";"X";5{0}\n"A";"Y";6{1}\n"B";"X";7{2}\n"B";"Y";8{3}\n'


def table(folder: Path, rows: str, v: str = "", more: str = "", value: str = "  <FREQUENCY>\n") -> Path:
    rda = f'<SEPARATOR> ";"\n<SAFE> S\n<UNSAFE> U\n<PROTECT> P\nv\n  <RECODEABLE>\n{v}w\n  <RECODEABLE>\nn\n{value}{more}'
    put(folder, "t.rda", rda)
    return put(folder, "t.tab", rows)


def inner(*letters: str) -> str:
    return INNER.format(*(letters or ("",) * 4))


@states("tau-argus", "`<FREQUENCY>`, `<NUMERIC>`")
def roles(folder: Path) -> Said:
    return opened(table(folder, inner()), CELLS)


@states("tau-argus", '`<TOTCODE> "T"`')
def totals(folder: Path) -> Said:
    return opened(table(folder, inner() + '"T";"X";12\n"T";"Y";14\n', '  <TOTCODE> "T"\n'), CELLS)


@states("tau-argus", "codes `totalxy` without `<TOTCODE>`")
def totals_by_name(folder: Path) -> Said:
    return opened(table(folder, inner() + '"totalxy";"X";12\n"totalxy";"Y";14\n'))


@states("tau-argus", "`<HIERLEVELS> 1 1`")
def parents(folder: Path) -> Said:
    rows = '"1";"X";12\n"1";"Y";14\n"11";"X";5\n"11";"Y";6\n"12";"X";7\n"12";"Y";8\n"2";"X";1\n"2";"Y";3\n'
    cells = {("11", "X"): 5, ("11", "Y"): 6, ("12", "X"): 7, ("12", "Y"): 8, ("2", "X"): 1, ("2", "Y"): 3}
    said = opened(table(folder, rows, "  <HIERLEVELS> 1 1\n"), cells)
    assert said.file is not None and said.file.table.domain["v"].levels[0].groups == ("1", "1", "2")
    return said


@states("tau-argus", "`<HIERCODELIST> v.hrc`")
def levels(folder: Path) -> Said:
    put(folder, "v.hrc", "all\n@A\n@B\n")
    said = opened(table(folder, inner(), "  <HIERCODELIST> v.hrc\n  <HIERLEADSTRING> @\n"), CELLS)
    assert said.file is not None and said.file.table.domain["v"].levels[0].groups == ("all", "all")
    return said


@states("tau-argus", "`<DECIMALS> 1` and 5.5")
def decimals(folder: Path) -> Said:
    return opened(table(folder, inner().replace(";5", ";5.5")))


@states("tau-argus", "status `x` in place of the count")
def hidden(folder: Path) -> Said:
    rows = inner(";S", ";S", ";S", ";S").replace(";5;S", ";x;U")
    return opened(table(folder, rows, more="st\n  <STATUS>\n"))


@states("tau-argus", "statuses U, P and M")
def status(folder: Path) -> Said:
    said = opened(table(folder, inner(";U", ";P", ";S", ";M"), more="st\n  <STATUS>\n"), CELLS)
    assert said.file is not None and said.file.statuses == '"A";"X";u\n"A";"Y";p\n"B";"Y";m\n'
    return said


@states("tau-argus", "the order of the lines")
def order(folder: Path) -> Said:
    rows = "".join(reversed(inner().splitlines(keepends=True)))
    cells = {("B", "Y"): 8, ("B", "X"): 7, ("A", "Y"): 6, ("A", "X"): 5}
    return opened(table(folder, rows), cells)


@states("tau-argus", "`<CODELIST> v.cdl`")
def labels(folder: Path) -> Said:
    put(folder, "v.cdl", "A,Alpha\nB,Beta\n")
    said = opened(table(folder, inner(), "  <CODELIST> v.cdl\n"), CELLS)
    assert said.file is not None and said.file.table.domain["v"].labels == ("Alpha", "Beta")
    return said


@states("tau-argus", "`<SHADOW>`, `<COST>`, `<LOWERPL>`, `<UPPERPL>`")
def flags(folder: Path) -> Said:
    rows = inner(";1;2", ";1;2", ";1;2", ";1;2")
    return opened(table(folder, rows, more="lo\n  <LOWERPL>\nup\n  <UPPERPL>\n"), CELLS)


@states("tau-argus", "`<NUMERIC>` without `<FREQUENCY>`")
def perhaps_sums(folder: Path) -> Said:
    path = table(folder, inner(), value="  <NUMERIC>\n")
    rda = folder / "t.rda"
    rda.write_text(rda.read_text().replace("\nn\n", "\nturnover\n"))
    broken = put(folder, "u.tab", inner().replace(";5", ";5.5"))
    put(folder, "u.rda", rda.read_text())
    assert "tabulate u.tab --measure turnover" in opened(broken).text
    return opened(path, CELLS)


@states("tau-argus", "`<WEIGHT>`, in records")
def weights(folder: Path) -> Said:
    put(folder, "m.rda", '<SEPARATOR> ";"\nv 1\n  <RECODEABLE>\nx 2\n  <NUMERIC>\nw 1\n  <WEIGHT>\n')
    path = put(folder, "m.asc", "A;10;2\nA;10;2\nB;20;3\n")
    for weight, wanted in {"none": [2, 1], "w": [4, 3]}.items():
        assert tabulate(path, ["v"], weight=weight).counts.tolist() == wanted
    try:
        tabulate(path, ["v"])
    except InputError as error:
        return Said(f"{error.message} | {error.hint}", refused=True)
    return Said("")
