"""SDMX-CSV 2.0 by its field guide; names and codes with labels as the OECD and Eurostat answer."""

from __future__ import annotations

from pathlib import Path

from stated import Said, opened, put, states

CELLS = {("M", "N"): 5, ("M", "S"): 6, ("F", "N"): 7, ("F", "S"): 8}


def table(
    folder: Path, more: str = "", *values: str, head: str = "SEX,GEO", counts: str = "5678", rows: str = ""
) -> Path:
    keys = rows.split() or ["M,N", "M,S", "F,N", "F,S"]
    said = [*values, *[""] * (len(keys) - len(values))] if len(values) != 1 else [*values] * len(keys)
    lines = [f"STRUCTURE,STRUCTURE_ID,ACTION,{head},OBS_VALUE" + (f",{more}" if more else "")]
    for key, n, one in zip(keys, counts if isinstance(counts, list) else list(counts), said, strict=False):
        lines.append(f"dataflow,X:Y(1.0),I,{key},{n}" + (f",{one}" if more else ""))
    return put(folder, "t.sdmx.csv", "\n".join(lines) + "\n")


@states("sdmx-csv", "`SEX` before `OBS_VALUE`")
def roles(folder: Path) -> Said:
    return opened(table(folder), CELLS)


@states("sdmx-csv", "code `_T`")
def totals(folder: Path) -> Said:
    path = table(folder, rows="M,N M,S F,N F,S _T,N _T,S", counts=["5", "6", "7", "8", "12", "14"])  # type: ignore[arg-type]
    opened(path, CELLS, totals="auto")
    return opened(path)


@states("sdmx-csv", "`UNIT_MEASURE` PS and PC")
def units(folder: Path) -> Said:
    return opened(table(folder, "UNIT_MEASURE", "PS", "PS", "PS", "PC"))


@states("sdmx-csv", "`UNIT_MULT` 3")
def multiplier(folder: Path) -> Said:
    return opened(table(folder, "UNIT_MULT", "3"), {cell: 1000 * n for cell, n in CELLS.items()})


@states("sdmx-csv", "`UNIT_MULT` 3 and 0, by row")
def mixed_multipliers(folder: Path) -> Said:
    cells = {("M", "N"): 5000, ("M", "S"): 6, ("F", "N"): 7, ("F", "S"): 8}
    return opened(table(folder, "UNIT_MULT", "3", "0", "0", "0"), cells)


@states("sdmx-csv", "`UNIT_MULT` 0 and 5.5")
def multiplier_of_one(folder: Path) -> Said:
    path = table(folder, "UNIT_MULT", "0")
    path.write_text(path.read_text().replace(",5,", ",5.5,", 1))
    said = opened(path)
    assert "--scale" not in said.text
    return said


@states("sdmx-csv", "`UNIT_MEASURE` THS_PER")
def multiplier_in_words(folder: Path) -> Said:
    return opened(table(folder, "UNIT_MEASURE", "THS_PER"))


@states("sdmx-csv", "`DECIMALS` 1")
def decimals(folder: Path) -> Said:
    return opened(table(folder, "DECIMALS", "1"), CELLS)


@states("sdmx-csv", "`CONF_STATUS` C without a value")
def status(folder: Path) -> Said:
    path = table(folder, "CONF_STATUS", "C", "F", "F", "F", counts=["", "6", "7", "8"])  # type: ignore[arg-type]
    return opened(path)


@states("sdmx-csv", "`OBS_STATUS` E beside a value")
def flags(folder: Path) -> Said:
    return opened(table(folder, "OBS_STATUS", "E", "A", "A", "A"), CELLS)


@states("sdmx-csv", "`COMMENT_OBS`")
def notes(folder: Path) -> Said:
    return opened(table(folder, "COMMENT_OBS", "without students"), CELLS)


@states("sdmx-csv", "the order of the lines")
def order(folder: Path) -> Said:
    cells = {("F", "N"): 5, ("F", "S"): 6, ("M", "N"): 7, ("M", "S"): 8}
    return opened(table(folder, rows="F,N F,S M,N M,S"), cells)


@states("sdmx-csv", "`SEX: Sex` and `M: Male`")
def labels(folder: Path) -> Said:
    said = opened(table(folder, head="SEX: Sex,GEO", rows="M:Male,N M:Male,S F:Female,N F:Female,S"), CELLS)
    assert said.file is not None and said.file.table.domain["SEX"].labels == ("Male", "Female")
    return said


@states("sdmx-csv", "`TIME_PERIOD`")
def dates(folder: Path) -> Said:
    cells = {("M", "2023"): 5, ("M", "2024"): 6, ("F", "2023"): 7, ("F", "2024"): 8}
    return opened(table(folder, head="SEX,TIME_PERIOD", rows="M,2023 M,2024 F,2023 F,2024"), cells)


@states("sdmx-csv", "`COLLECTION`, `ADJUSTMENT` and other attributes")
def aggregation(folder: Path) -> Said:
    return opened(table(folder, "ADJUSTMENT", "Y"), CELLS)


@states("sdmx-csv", "`ACTION` D")
def hidden(folder: Path) -> Said:
    path = table(folder)
    return opened(put(folder, "d.sdmx.csv", path.read_text().replace(",I,F,S", ",D,F,S")))


@states("sdmx-csv", "`UNIT_MEASURE` PC")
def shares(folder: Path) -> Said:
    return opened(table(folder, "UNIT_MEASURE", "PC"))


@states("sdmx-csv", "a dimension `unit` with THS_PER and 5.5")
def unit_of_a_dimension(folder: Path) -> Said:
    path = table(folder, head="unit,SEX", rows="THS_PER,M THS_PER,F", counts=["5.5", "6"])  # type: ignore[arg-type]
    opened(path, {("THS_PER", "M"): 5500, ("THS_PER", "F"): 6000}, scale=1000)
    return opened(path)


@states("sdmx-csv", "a dimension `unit` with NR and PC")
def units_of_a_dimension(folder: Path) -> Said:
    return opened(table(folder, head="unit,SEX", rows="NR,M NR,F PC,M PC,F"))
