"""Text with a description beside it: CSVW by its recommendation, Frictionless as its packages are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from stated import Said, opened, put, states

from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import format_of

CELLS = {("m", "North"): 5, ("m", "South"): 6, ("f", "North"): 7, ("f", "South"): 8}
TEXT = "sex,region,n,w\nm,North,5,2\nm,South,6,2\nf,North,7,3\nf,South,8,3\n"
COUNT = "number"


def csvw(
    folder: Path, text: str = TEXT, names: str = "sex,region,n,w", more: dict | None = None, **n: object
) -> Path:
    columns = [{"titles": name, "name": name, "datatype": "string"} for name in names.split(",")]
    columns[2] |= {"datatype": "integer", **n}
    if len(columns) > 3:
        columns[3] |= {"datatype": "string", "suppressOutput": True}
    said = {"@context": "http://www.w3.org/ns/csvw", "url": "t.csv", "tableSchema": {"columns": columns}}
    put(folder, "t.csv-metadata.json", json.dumps(said | (more or {})))
    return put(folder, "t.csv", text)


def package(
    folder: Path, text: str = TEXT, more: dict | None = None, schema: dict | None = None, **n: object
) -> Path:
    fields = [{"name": name, "type": "string"} for name in text.splitlines()[0].replace(";", ",").split(",")]
    fields[2] |= {"type": "integer", **n}
    resource = {"name": "t", "path": "t.csv", "schema": {"fields": fields, **(schema or {})}, **(more or {})}
    said = {
        "title": "People",
        "created": "2024-01-31",
        "sources": [{"title": "The office"}],
        "resources": [resource],
    }
    put(folder, "datapackage.json", json.dumps(said))
    return put(folder, "t.csv", text)


PLAIN = "\n".join(line.rpartition(",")[0] for line in TEXT.splitlines()) + "\n"


def both(stated: str, of_csvw: Callable[[Path], Said], of_package: Callable[[Path], Said]) -> None:
    states("csvw", stated)(of_csvw)
    states("frictionless", stated)(of_package)


def about(path: Path, name: str, text: object) -> Said:
    assert getattr(format_of(path).about(path, Reading()), name) == text
    return opened(path, CELLS)


states("csvw", "`suppressOutput` of a column")(lambda folder: opened(csvw(folder), CELLS))
both(
    "one column of numbers, or all but the key",
    lambda folder: opened(csvw(folder, PLAIN, "sex,region,n"), CELLS),
    lambda folder: opened(package(folder, PLAIN), CELLS),
)
both(
    "the unit `persons` of a column",
    lambda folder: about(csvw(folder, **{"schema:unitText": "persons"}), "unit", "persons"),
    lambda folder: about(package(folder, PLAIN, unit="persons"), "unit", "persons"),
)
both(
    "the unit `thousand persons` of a column",
    lambda folder: opened(csvw(folder, **{"schema:unitText": "thousand persons"})),
    lambda folder: opened(package(folder, PLAIN, unit="thousand persons")),
)
SIGNS = {"decimalChar": ",", "groupChar": "."}
GROUPED = "sex;region;n\nm;North;1.005\nm;South;6\nf;North;7\nf;South;8\n"
both(
    "signs of decimals and thousands",
    lambda folder: opened(
        csvw(
            folder, GROUPED, "sex,region,n", {"dialect": {"delimiter": ";"}},
            datatype={"base": "integer", "format": SIGNS},
        ),
        CELLS | {("m", "North"): 1005},
    ),
    lambda folder: opened(
        package(folder, GROUPED, {"dialect": {"delimiter": ";"}}, **SIGNS), CELLS | {("m", "North"): 1005}
    ),
)  # fmt: skip
HOLE = PLAIN.replace("f,South,8", "f,South,gone")
both(
    "the sign of a missing number",
    lambda folder: opened(csvw(folder, HOLE, "sex,region,n", null="gone")),
    lambda folder: opened(package(folder, HOLE, schema={"missingValues": ["", "gone"]})),
)
TOLD = {
    "dc:title": "People",
    "dc:description": "Without students",
    "dc:source": "The office",
    "dc:date": "2024-01-31",
}
both(
    "a description",
    lambda folder: about(csvw(folder, more=TOLD), "notes", ("Without students",)),
    lambda folder: about(
        package(folder, PLAIN, {"description": "Without students"}), "notes", ("Without students",)
    ),
)
both(
    "a source",
    lambda folder: about(csvw(folder, more=TOLD), "source", "The office"),
    lambda folder: about(package(folder, PLAIN), "source", "The office"),
)
both(
    "a date",
    lambda folder: about(csvw(folder, more=TOLD), "date", "2024-01-31"),
    lambda folder: about(package(folder, PLAIN), "date", "2024-01-31"),
)
both(
    "the order of the lines",
    lambda folder: opened(csvw(folder), CELLS),
    lambda folder: opened(package(folder, PLAIN), CELLS),
)


@states("csvw", "`titles` in two languages")
def languages(folder: Path) -> Said:
    path = csvw(folder)
    beside = folder / "t.csv-metadata.json"
    whole = json.loads(beside.read_text())
    for column in whole["tableSchema"]["columns"]:
        column["titles"] = {"de": f"{column['name']} (deutsch)", "en": column["name"]}
    beside.write_text(json.dumps(whole))
    return opened(path, CELLS)


@states("frictionless", "a package that does not name the file")
def another(folder: Path) -> Said:
    path = package(folder, PLAIN, unit="thousand persons")
    beside = folder / "datapackage.json"
    beside.write_text(beside.read_text().replace("t.csv", "u.csv"))
    return opened(path, CELLS)
