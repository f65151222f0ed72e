"""SDMX-JSON 1.0 by its field guide, as the ECB and the OECD answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stated import Said, opened, put, states

from tabprotect.engine.formats.reading_options import Reading

CELLS = {("M", "N"): 5, ("M", "S"): 6, ("F", "N"): 7, ("F", "S"): 8}


def message(
    folder: Path,
    sex: object = None,
    values: list[object] | None = None,
    attribute: str = "",
    code: str = "",
    **at: object,
) -> Path:
    codes = sex or [{"id": "M", "name": "men"}, {"id": "F", "name": "women"}]
    dimensions = [
        {"id": "SEX", "keyPosition": 0, "values": codes},
        {"id": "GEO", "keyPosition": 1, "values": [{"id": "N"}, {"id": "S"}]},
    ]
    attributes = [{"id": attribute, "values": [{"id": code}]}] if attribute else []
    found = values or [5, 6, 7, 8]
    said = {
        "header": {"id": "x", "prepared": "2024-01-01", "sender": {"id": "ECB"}},
        "structure": {
            "name": "Table",
            "dimensions": {"dataSet": [], "series": [], "observation": dimensions},
            "attributes": {"dataSet": [], "series": [], "observation": attributes},
        },
        "dataSets": [
            {
                "observations": {
                    f"{n // 2}:{n % 2}": [value, *([0] if attributes and (n == 0 or "every" in at) else [])]
                    for n, value in enumerate(found)
                }
            }
        ],
    }
    return put(folder, "t.sdmx.json", json.dumps(said))


@states("sdmx-json", "dimensions by `keyPosition`")
def roles(folder: Path) -> Said:
    return opened(message(folder), CELLS)


@states("sdmx-json", '`{"id": "M", "parent": "T"}`')
def totals(folder: Path) -> Said:
    sex = [{"id": "M", "parent": "T"}, {"id": "F", "parent": "T"}, {"id": "T"}]
    return opened(message(folder, sex, [5, 6, 7, 8, 12, 14]), CELLS)


@states("sdmx-json", "code `_T`")
def named_totals(folder: Path) -> Said:
    return opened(message(folder, [{"id": "M"}, {"id": "F"}, {"id": "_T"}], [5, 6, 7, 8, 12, 14]))


@states("sdmx-json", '`{"id": "M", "parent": "G"}` below no total')
def parents(folder: Path) -> Said:
    sex = [{"id": "M", "parent": "G"}, {"id": "F", "parent": "G"}, {"id": "G"}, {"id": "X"}]
    said = opened(message(folder, sex, [5, 6, 7, 8, 12, 14, 1, 2]), {**CELLS, ("X", "N"): 1, ("X", "S"): 2})
    assert said.file is not None and said.file.table.domain["SEX"].levels[0].groups == ("G", "G", "X")
    return said


@states("sdmx-json", "`UNIT_MEASURE` THS_PER")
def unit(folder: Path) -> Said:
    return opened(message(folder, attribute="UNIT_MEASURE", code="THS_PER", every=True))


@states("sdmx-json", "`UNIT_MULT` 3")
def multiplier(folder: Path) -> Said:
    cells = {cell: 1000 * n for cell, n in CELLS.items()}
    return opened(message(folder, attribute="UNIT_MULT", code="3", every=True), cells)


@states("sdmx-json", "a value of 5.5")
def decimals(folder: Path) -> Said:
    return opened(message(folder, values=[5.5, 6, 7, 8]))


@states("sdmx-json", "`CONF_STATUS` C beside null")
def status(folder: Path) -> Said:
    return opened(message(folder, values=[None, 6, 7, 8], attribute="CONF_STATUS", code="C"))


@states("sdmx-json", "`OBS_STATUS` E beside a value")
def flags(folder: Path) -> Said:
    return opened(message(folder, attribute="OBS_STATUS", code="E"), CELLS)


@states("sdmx-json", "the order of the observations")
def order(folder: Path) -> Said:
    cells = {("F", "N"): 5, ("F", "S"): 6, ("M", "N"): 7, ("M", "S"): 8}
    return opened(message(folder, [{"id": "F"}, {"id": "M"}]), cells)


@states("sdmx-json", "`prepared`")
def dates(folder: Path) -> Said:
    from tabprotect.engine.formats.registered import format_of

    path = message(folder)
    assert format_of(path).about(path, Reading()).date == "2024-01-01"
    return opened(path, CELLS)


def also(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    said = json.loads(path.read_text())
    change(said)
    path.write_text(json.dumps(said))
    return path


@states("sdmx-json", '`{"id": "M", "name": "men"}`')
def labels(folder: Path) -> Said:
    said = opened(message(folder), CELLS)
    assert said.file is not None and said.file.table.domain["SEX"].labels == ("men", "women")
    opened(
        message(folder),
        {(("men" if s == "M" else "women"), g): n for (s, g), n in CELLS.items()},
        labels=True,
    )
    return said


@states("sdmx-json", '`"names": {"en": "men", "fr": "hommes"}`')
def languages(folder: Path) -> Said:
    sex = [{"id": "M", "names": {"en": "men", "fr": "hommes"}}, {"id": "F", "names": {"en": "women"}}]
    said = opened(message(folder, sex), CELLS)
    assert said.file is not None and said.file.table.domain["SEX"].labels == ("men", "women")
    return said


@states("sdmx-json", "`COMMENT_OBS` of an observation")
def notes(folder: Path) -> Said:
    return opened(message(folder, attribute="COMMENT_OBS", code="Without students"), CELLS)


@states("sdmx-json", "annotations of the data set, by type")
def texts(folder: Path) -> Said:
    from tabprotect.engine.formats.registered import format_of

    def annotate(said: dict[str, Any]) -> None:
        said["structure"]["annotations"] = [{"type": "COMMENT_DSET", "text": "Without students"}]
        said["dataSets"][0]["annotations"] = [0]

    path = also(message(folder), annotate)
    assert format_of(path).about(path, Reading()).notes == ("Without students",)
    return opened(path, CELLS)


@states("sdmx-json", "`COLLECTION`, `AGG_METHOD` and other attributes")
def aggregation(folder: Path) -> Said:
    return opened(message(folder, attribute="AGG_METHOD", code="SUM", every=True), CELLS)


@states("sdmx-json", "an attribute `SOURCE`")
def source(folder: Path) -> Said:
    from tabprotect.engine.formats.registered import format_of

    path = message(folder, attribute="SOURCE", code="Statistics", every=True)
    assert format_of(path).about(path, Reading()).source == "Statistics"
    return opened(path, CELLS)


@states("sdmx-json", "`action` Delete")
def deleted(folder: Path) -> Said:
    return opened(also(message(folder), lambda said: said["dataSets"][0].update(action="Delete")))


@states("sdmx-json", "a second data set")
def second_set(folder: Path) -> Said:
    assert opened(also(message(folder), lambda s: s["dataSets"].append({"action": "Delete"}))).refused
    path = also(message(folder), lambda said: said["dataSets"].append(said["dataSets"][0]))
    return opened(path, CELLS)
