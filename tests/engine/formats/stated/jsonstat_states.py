"""JSON-stat 2.0 by its specification (json-stat.org/full), and as pyjstat writes it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pandas as pd
from pyjstat import pyjstat
from stated import Said, opened, put, states

from tabprotect.engine.formats.reading_options import Reading

CELLS = {("M", "N"): 5, ("M", "S"): 6, ("F", "N"): 7, ("F", "S"): 8}


def dataset(folder: Path, sex: object = None, what: object = None, **more: object) -> Path:
    region = {"category": {"index": ["N", "S"]}}
    first = sex or {"index": ["M", "F"]}
    said = {
        "version": "2.0", "class": "dataset", "id": ["sex", "region"], "size": [len(first["index"]), 2],  # type: ignore[index]
        "dimension": {"sex": {"category": first}, "region": what or region}, "value": [5, 6, 7, 8],
    }  # fmt: skip
    return put(folder, "t.json", json.dumps({**said, **more}))


def about(path: Path, name: str) -> str:
    from tabprotect.engine.formats.registered import format_of

    return str(getattr(format_of(path).about(path, Reading()), name))


METRIC = {"role": {"metric": ["region"]}, "size": [2, 1], "value": [5, 7]}
ALONE = {("M",): 5, ("F",): 7}


@states("jsonstat", '`role.metric: ["what"]`')
def roles(folder: Path) -> Said:
    return opened(dataset(folder, what={"category": {"index": ["persons"]}}, **METRIC), ALONE)


@states("jsonstat", '`child: {"T": ["M", "F"]}`')
def totals(folder: Path) -> Said:
    sex = {"index": ["T", "M", "F"], "child": {"T": ["M", "F"]}}
    return opened(dataset(folder, sex, value=[12, 14, 5, 6, 7, 8]), CELLS)


@states("jsonstat", '`extension: {"eliminationValueCode": "T"}` of a dimension')
def eliminated(folder: Path) -> Said:
    path = dataset(folder, {"index": ["T", "M", "F"]}, value=[12, 14, 5, 6, 7, 8])
    whole = json.loads(path.read_text())
    whole["dimension"]["sex"]["extension"] = {"elimination": True, "eliminationValueCode": "T"}
    path.write_text(json.dumps(whole))
    return opened(path, CELLS)


@states("jsonstat", '`label: {"9": "Total"}`')
def named_totals(folder: Path) -> Said:
    sex = {"index": ["9", "M", "F"], "label": {"9": "Total", "M": "men", "F": "women"}}
    path = dataset(folder, sex, value=[12, 14, 5, 6, 7, 8])
    opened(path, CELLS, totals="auto")
    return opened(path)


@states("jsonstat", '`child: {"A": ["M"], ...}` below no total')
def parents(folder: Path) -> Said:
    sex = {"index": ["A", "M", "F", "X"], "child": {"A": ["M", "F"]}}
    said = opened(
        dataset(folder, sex, value=[12, 14, 5, 6, 7, 8, 1, 2]), {**CELLS, ("X", "N"): 1, ("X", "S"): 2}
    )
    assert said.file is not None and said.file.table.domain["sex"].levels[0].groups == ("A", "A", "X")
    return said


@states("jsonstat", "levels in `extension`, as this program writes them")
def levels(folder: Path) -> Said:
    stated = {"levels": {"sex": {"coarser": {"all": ["one", "one"]}}}}
    said = opened(dataset(folder, extension=stated), CELLS)
    assert said.file is not None and said.file.table.domain["sex"].levels[0].name == "all"
    return said


@states("jsonstat", '`unit: {"persons": {"label": "persons"}}`')
def unit(folder: Path) -> Said:
    what = {"category": {"index": ["persons"], "unit": {"persons": {"label": "persons"}}}}
    path = dataset(folder, what=what, **METRIC)
    assert about(path, "unit") == "persons"
    return opened(path, ALONE)


@states("jsonstat", '`unit: {"persons": {"multiplier": 3}}`')
def multiplier(folder: Path) -> Said:
    what = {"category": {"index": ["persons"], "unit": {"persons": {"multiplier": 3}}}}
    return opened(dataset(folder, what=what, **METRIC), {("M",): 5000, ("F",): 7000})


@states("jsonstat", '`unit: {"persons": {"label": "thousand persons"}}`')
def multiplier_in_words(folder: Path) -> Said:
    what = {"category": {"index": ["persons"], "unit": {"persons": {"label": "thousand persons"}}}}
    return opened(dataset(folder, what=what, **METRIC))


@states("jsonstat", "a value of 5.5")
def decimals(folder: Path) -> Said:
    return opened(dataset(folder, value=[5.5, 6, 7, 8]))


@states("jsonstat", '`status: {"0": "c"}` beside null')
def status(folder: Path) -> Said:
    return opened(dataset(folder, value=[None, 6, 7, 8], status={"0": "c"}))


@states("jsonstat", '`status: {"0": "e"}` beside a value')
def flags(folder: Path) -> Said:
    return opened(
        dataset(folder, status={"0": "e"}, extension={"status": {"label": {"e": "estimated"}}}), CELLS
    )


@states("jsonstat", '`note: ["Without students"]`')
def notes(folder: Path) -> Said:
    path = dataset(folder, note=["Without students"])
    assert "Without students" in about(path, "notes")
    return opened(path, CELLS)


@states("jsonstat", '`index: {"M": 1, "F": 0}`')
def order(folder: Path) -> Said:
    sex = {"index": {"M": 1, "F": 0}}
    return opened(dataset(folder, sex), {("F", "N"): 5, ("F", "S"): 6, ("M", "N"): 7, ("M", "S"): 8})


@states("jsonstat", "a dataset as pyjstat writes it")
def labels(folder: Path) -> Said:
    frame = pd.DataFrame({"sex": ["M", "M", "F", "F"], "region": ["N", "S", "N", "S"], "value": [5, 6, 7, 8]})
    with warnings.catch_warnings():
        # It warns of its own older functions.
        warnings.simplefilter("ignore", DeprecationWarning)
        text = pyjstat.Dataset.read(frame).write()
    found = json.loads(text)
    for category in found["dimension"].values():
        assert category["category"]["label"]
    order = [list(found["dimension"][name]["category"]["index"]) for name in ("sex", "region")]
    cells = {(a, b): CELLS[a, b] for a in order[0] for b in order[1]}
    return opened(put(folder, "t.json", text), cells)


@states("jsonstat", "`role.time`, `role.geo`")
def dates(folder: Path) -> Said:
    return opened(dataset(folder, role={"time": ["region"], "geo": ["sex"]}), CELLS)


@states("jsonstat", '`source: "Statistics"`, `updated`')
def source(folder: Path) -> Said:
    path = dataset(folder, source="Statistics", updated="2024-05-06T10:00:00Z")
    assert (about(path, "source"), about(path, "date")) == ("Statistics", "2024-05-06")
    return opened(path, CELLS)


@states("jsonstat", '`unit: {"share": {"label": "per cent"}}`')
def shares(folder: Path) -> Said:
    what = {"category": {"index": ["share"], "unit": {"share": {"label": "per cent"}}}}
    return opened(dataset(folder, what=what, **METRIC))
