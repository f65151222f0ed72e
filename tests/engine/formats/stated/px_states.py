"""PX files by the specification of AXIS-VERSION 2013 (Statistics Sweden), read by pyaxis too where it can."""

from __future__ import annotations

from pathlib import Path

from pyaxis import pyaxis
from stated import Said, opened, put, states

from tabprotect.engine.formats.reading_options import Reading

HEAD = 'CHARSET="ANSI";\nAXIS-VERSION="2013";\nCODEPAGE="utf-8";\nLANGUAGE="en";\nDECIMALS=0;\n'
SEX = 'VALUES("sex")="men","women";\n'
AXES = f'STUB="sex";\nHEADING="region";\n{SEX}VALUES("region")="North","South";\n'
CELLS = {("men", "North"): 5, ("men", "South"): 6, ("women", "North"): 7, ("women", "South"): 8}


def px(folder: Path, more: str = "", axes: str = AXES, data: str = "5 6\n7 8") -> Path:
    path = put(folder, "t.px", f"{HEAD}{axes}{more}DATA=\n{data};\n")
    # The public reader sees as many values.
    assert len(pyaxis.parse(uri=str(path), encoding="utf-8")["DATA"]) == len(data.split())
    return path


def text_of(said: Said, path: Path, name: str) -> str:
    from tabprotect.engine.formats.registered import format_of

    return str(getattr(format_of(path).about(path, Reading()), name))


@states("px", '`CONTVARIABLE="what"`')
def roles(folder: Path) -> Said:
    axes = f'STUB="sex";\nHEADING="what";\n{SEX}VALUES("what")="persons";\nCONTVARIABLE="what";\n'
    return opened(px(folder, axes=axes, data="5\n7"), {("men",): 5, ("women",): 7})


@states("px", '`ELIMINATION("sex")="both"`')
def totals(folder: Path) -> Said:
    axes = 'STUB="sex";\nHEADING="region";\nVALUES("sex")="men","women","both";\nVALUES("region")="North","South";\n'
    return opened(px(folder, 'ELIMINATION("sex")="both";\n', axes, "5 6\n7 8\n12 14"), CELLS)


@states("px", '`HIERARCHIES("region")="all","all":"N","N":"n1",...`')
def parents(folder: Path) -> Said:
    axes = 'STUB="region";\nHEADING="sex";\nVALUES("region")="all","N","n1","n2","S";\nVALUES("sex")="men","women";\n'
    tree = 'HIERARCHIES("region")="all","all":"N","N":"n1","N":"n2","all":"S";\n'
    said = opened(
        put(folder, "t.px", f"{HEAD}{axes}{tree}DATA=\n12 20\n7 11\n3 5\n4 6\n5 9;\n"),
        {
            ("n1", "men"): 3,
            ("n1", "women"): 5,
            ("n2", "men"): 4,
            ("n2", "women"): 6,
            ("S", "men"): 5,
            ("S", "women"): 9,
        },
    )
    assert said.file is not None and said.file.table.domain["region"].levels[0].groups == ("N", "N", "S")
    return said


@states("px", '`HIERARCHYNAMES("region")="all","district"`')
def levels(folder: Path) -> Said:
    return opened(px(folder, 'HIERARCHYNAMES("region")="all","district";\n'), CELLS)


@states("px", '`UNITS="persons"`')
def unit(folder: Path) -> Said:
    path = px(folder, 'UNITS="persons";\n')
    said = opened(path, CELLS)
    assert text_of(said, path, "unit") == "persons"
    return said


@states("px", '`UNITS="thousand persons"`')
def multiplier(folder: Path) -> Said:
    path = px(folder, 'UNITS="thousand persons";\n')
    opened(path, {cell: 1000 * count for cell, count in CELLS.items()}, scale=1000)
    opened(path, CELLS, scale=1)
    return opened(path)


@states("px", "`DECIMALS=1;` and 5.5")
def decimals(folder: Path) -> Said:
    return opened(put(folder, "t.px", f"{HEAD}{AXES}DATA=\n5.5 6\n7 8;\n"))


@states("px", '`".."` that `DATASYMBOL2` calls "Confidential"')
def status(folder: Path) -> Said:
    path = px(folder, 'DATASYMBOL2="Confidential";\n', data='".." 6\n7 8')
    return opened(path)


@states("px", '`DATANOTECELL("men","North")="b"`')
def flags(folder: Path) -> Said:
    return opened(px(folder, 'DATANOTECELL("men","North")="b";\n'), CELLS)


@states("px", '`NOTE="Without students"`')
def notes(folder: Path) -> Said:
    path = px(folder, 'NOTE="Without students";\n')
    said = opened(path, CELLS)
    assert "Without students" in text_of(said, path, "notes")
    return said


@states("px", '`VALUENOTE("sex","men")="..."`')
def notes_of_values(folder: Path) -> Said:
    return opened(px(folder, 'VALUENOTE("sex","men")="with conscripts";\n'), CELLS)


@states("px", "the order of `VALUES`")
def order(folder: Path) -> Said:
    axes = AXES.replace('"men","women"', '"women","men"')
    cells = {("women", "North"): 5, ("women", "South"): 6, ("men", "North"): 7, ("men", "South"): 8}
    return opened(px(folder, axes=axes), cells)


@states("px", '`CODES("sex")="1","2"`')
def labels(folder: Path) -> Said:
    path = px(folder, 'CODES("sex")="1","2";\n')
    opened(path, CELLS, labels=True)
    cells = {({"men": "1", "women": "2"}[sex], region): count for (sex, region), count in CELLS.items()}
    said = opened(path, cells)
    assert said.file is not None and said.file.table.domain["sex"].labels == ("men", "women")
    return said


@states("px", '`VALUES[sv]("sex")="män","kvinnor"`')
def languages(folder: Path) -> Said:
    more = 'LANGUAGES="en","sv";\nVALUES[sv]("sex")="män","kvinnor";\n'
    return opened(put(folder, "t.px", f"{HEAD}{AXES}{more}DATA=\n5 6\n7 8;\n"), CELLS)


@states("px", '`TITLE[sv]="Folkmängd"`, with `--texts-in sv`')
def other_language(folder: Path) -> Said:
    from tabprotect.engine.bundle.tables.about import Telling

    more = (
        'LANGUAGES="en","sv";\nTITLE="Population";\nTITLE[sv]="Folkmängd";\nNOTE[sv]="Utan studenter";\n'
        'STUB[sv]="kön";\nVALUES[sv]("kön")="män","kvinnor";\n'
    )
    path = put(folder, "t.px", f"{HEAD}{AXES}{more}DATA=\n5 6\n7 8;\n")
    told = Telling(texts_of=str(path), texts_in="sv").of("")
    assert (told.title, told.notes) == ("Folkmängd", ("Utan studenter",))
    assert Telling(texts_of=str(path)).of("").title == "Population"
    sexes = {"men": "män", "women": "kvinnor"}
    return opened(path, {(sexes[sex], region): n for (sex, region), n in CELLS.items()}, texts_in="sv")


@states("px", '`TIMEVAL("region")=TLIST(A1),...`')
def dates(folder: Path) -> Said:
    axes = AXES.replace('"North","South"', '"2023","2024"')
    cells = {(sex, {"North": "2023", "South": "2024"}[region]): n for (sex, region), n in CELLS.items()}
    return opened(
        put(folder, "t.px", f'{HEAD}{axes}TIMEVAL("region")=TLIST(A1),"2023","2024";\nDATA=\n5 6\n7 8;\n'),
        cells,
    )


@states("px", "`AGGREGALLOWED=NO`, `STOCKFA`, `CFPRICES`, `DAYADJ`")
def aggregation(folder: Path) -> Said:
    return opened(px(folder, "AGGREGALLOWED=NO;\n"), CELLS)


@states("px", '`SOURCE="Statistics"`')
def source(folder: Path) -> Said:
    path = px(folder, 'SOURCE="Statistics";\n')
    said = opened(path, CELLS)
    assert text_of(said, path, "source") == "Statistics"
    return said


@states("px", '`UNITS="per cent"`')
def shares(folder: Path) -> Said:
    path = px(folder, 'UNITS="per cent";\n')
    opened(path, CELLS, scale=1)
    return opened(path)


@states("px", "`KEYS` and no row for a cell")
def keyed(folder: Path) -> Said:
    head = 'STUB="a";\nHEADING="b";\nVALUES("a")="p","q";\nVALUES("b")="u","v";\nKEYS("a")=VALUES;\n'
    path = put(folder, "k.px", f'AXIS-VERSION="2013";\nTITLE="x";\n{head}DATA=\n"q",7 8;\n')
    return opened(path, {("p", "u"): 0, ("p", "v"): 0, ("q", "u"): 7, ("q", "v"): 8})
