"""Results as ACRO 1.0.2 finalises them: which outputs hold counts, and which cells it suppressed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.file_preview import preview
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import read_table

MEANS = "year,G,N,R\n2010,3,2,\n2011,3,,1\n2012,2,1,1\n2013,,,\n"
COUNTS = "year,G,N,R\n2010,10,11,7\n2011,12,4,11\n2012,11,12,12\n2013,3,0,0\n"
GONE = "year,G,N,R\n2010,10.0,11.0,\n2011,12.0,,11.0\n2012,11.0,12.0,12.0\n2013,,,\n"
TOTALS = "year,G,N,R,All\n2010,10,11.0,7.0,28\n2011,12,4.0,11.0,27\n2012,11,12.0,12.0,35\n2013,3,,,3\nAll,36,27.0,30.0,93\n"
WANTED = [[10, 11, 7], [12, 4, 11], [11, 12, 12], [3, 0, 0]]
LOW = [[0, 2], [1, 1], [3, 0], [3, 1], [3, 2]]

MEAN = 't=a.crosstab(df.year,df.grant,values=df.kids,aggfunc="mean")'
COUNT = "t=a.crosstab(df.year,df.grant)"


def results(folder: Path, *outputs: tuple[str, str], method: str = "crosstab") -> Path:
    """A ``results.json`` with an output for each command and CSV file."""
    found = {}
    for number, (command, text) in enumerate(outputs):
        uid = f"output_{number}"
        (folder / f"{uid}_0.csv").write_text(text)
        head, *rows = (line.split(",") for line in text.splitlines())
        cells = {"MinimumThresholdCheck": LOW, "PresenceOfZeroCheck": [[3, 1], [3, 2]]}
        found[uid] = {
            "uid": uid,
            "status": "review",
            "type": "table",
            "properties": {"method": method, "mitigation": "none"},
            "files": [{"name": f"{uid}_0.csv", "sdc": {"summary": {}, "cells": cells}}],
            "outcome": {name: {row[0]: "ok" for row in rows} for name in head[1:]},
            "command": command,
        }
    path = folder / "results.json"
    path.write_text(json.dumps({"version": "1.0.2", "results": found}))
    return path


@pytest.mark.parametrize(
    ("command", "holds"),
    [
        (MEAN, "mean"),
        ("acro.crosstab(a, b, values=c, aggfunc=np.mean)", "np.mean"),
        ('acro.crosstab(a, b, values=c, aggfunc=["count", "std"])', "std"),
        ("acro.crosstab(a, b, values=c, aggfunc='sum', margins=True)", "sum"),
        ("acro.crosstab(a, b, normalize='index')", "shares"),
        ('acro.pivot_table(df, index=["a"], values=["c"])', "mean"),
        ("acro.pivot_table(df, index=['a'], aggfunc={'c': 'median'})", "median"),
        ("acro.crosstab(a, b, values=c, aggfunc=chosen)", "chosen"),
    ],
)
def test_outputs_that_hold_no_counts_are_passed_over(tmp_path: Path, command: str, holds: str) -> None:
    found = read_table(results(tmp_path, (command, MEANS), (COUNT, COUNTS)))
    assert found.table.counts.tolist() == WANTED
    assert found.notes == (f"passed over, as they hold no counts: output_0 ({holds})",)
    for reading in (Reading(sheet="output_0"), Reading(sheet="output_0", scale=10, missing="zero")):
        with pytest.raises(InputError, match="holds no counts") as caught:
            read_table(results(tmp_path, (command, MEANS), (COUNT, COUNTS)), reading)
        assert "--" not in caught.value.hint
    with pytest.raises(InputError, match="no output holds counts"):
        read_table(results(tmp_path, (command, MEANS)))


@pytest.mark.parametrize(
    "command",
    [
        COUNT,
        "acro.crosstab(a, b, values=c, aggfunc='count', normalize=False)",
        "acro.pivot_table(d, aggfunc=['size'])",
    ],
)
def test_counts_are_counts_by_any_command(tmp_path: Path, command: str) -> None:
    assert read_table(results(tmp_path, (command, COUNTS))).table.counts.tolist() == WANTED


@pytest.mark.parametrize("wanted", ["output_1", "output_1_0.csv", "2"])
def test_an_output_is_chosen(tmp_path: Path, wanted: str) -> None:
    path = results(tmp_path, (COUNT, COUNTS), (COUNT, COUNTS.replace("10,11", "20,21")))
    assert read_table(path, Reading(sheet=wanted)).table.counts.tolist()[0] == [20, 21, 7]
    assert read_table(path).notes == ("read from output_0_0.csv (output_0), the first of 2 tables",)
    assert preview(path, Reading()).sheets == ("output_0", "output_1")
    with pytest.raises(InputError, match="no output 'output_7'") as caught:
        read_table(path, Reading(sheet="output_7"))
    assert "output_0, output_1" in caught.value.hint


def test_cells_that_it_lists_and_leaves_empty_are_suppressed(tmp_path: Path) -> None:
    path = results(tmp_path, (COUNT, GONE))
    for reading in (Reading(), Reading(missing="zero")):
        with pytest.raises(InputError, match="the count is suppressed"):
            read_table(path, reading)
    with pytest.raises(InputError, match="5 cells have no count, and the totals do not tell them"):
        read_table(path, Reading(missing="suppressed"))
    found = read_table(results(tmp_path, (COUNT, TOTALS)), Reading(missing="suppressed", totals="auto"))
    assert found.table.counts.tolist() == WANTED
