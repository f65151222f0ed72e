"""``--with intervals``: what readers believe of each number, in every format, as ``infer`` has it."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import openpyxl
import pandas
import pyarrow.parquet
import pytest
import sdmx
from pyaxis import pyaxis
from pyjstat import pyjstat
from python_calamine import CalamineWorkbook

from tabprotect.engine.belief.believing import believe
from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.tables import export as export_module
from tabprotect.engine.bundle.tables import intervals
from tabprotect.engine.bundle.tables.cube import cube_of
from tabprotect.engine.bundle.tables.export import Exporting, exported, files_of
from tabprotect.engine.bundle.tables.intervals import LEVEL, with_intervals
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.errors import InfeasibleError, ParameterError
from tabprotect.engine.formats.registered import named
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.version import RESOURCES
from tests.engine.bundle.tables.test_magnitude_export import hidden_square

ASKED = Exporting(add="intervals", total_code="T")
DOMAIN = Domain.of({"v": ["a", "b", "c"], "w": ["x", "y", "z"]})
TABLE = Table.dense(DOMAIN, np.array([[7, 2, 4], [3, 4, 9], [1, 8, 6]]))


def released(method: str, **parameters: object) -> Release:
    return methods()[method].run(Problem(TABLE), parameters, Randomness.seeded(5)).release


def rows(release: Release) -> dict[tuple[str, str], tuple[float, ...]]:
    """The figures of each cell in delimited text; an empty field is no number."""
    made = exported(release, Path("t.csv"), named("csv"), ASKED)
    frame = pandas.read_csv(io.BytesIO(made.content), dtype={"v": str, "w": str})
    return {(v, w): tuple(more[:4]) for v, w, *more in frame.itertuples(index=False)}


def believed(release: Release) -> dict[tuple[str, str], tuple[float, ...]]:
    """The same by the joint law of all cells: every original listed, its sums made by hand."""
    found = believe([release]).posterior.list_originals()
    assert found is not None
    tables, chances = found
    whole = np.zeros((len(tables), 4, 4), dtype=np.int64)
    whole[:, :3, :3] = tables.reshape(-1, 3, 3)
    whole[:, 3] = whole.sum(axis=1)
    whole[:, :, 3] = whole[:, :, :3].sum(axis=2)
    answer = {}
    for (i, v), (j, w) in itertools.product(enumerate("abcT"), enumerate("xyzT")):
        values = whole[:, i, j]
        runs = [
            (high - low, -sum(chances[(low <= values) & (values <= high)]), low, high)
            for low in range(values.min(), values.max() + 1)
            for high in range(low, values.max() + 1)
            if chances[(low <= values) & (values <= high)].sum() >= LEVEL - 1e-9
        ]
        _, _, low, high = min(runs)
        answer[v, w] = (low, high, round(float(chances @ values), 1))
    return answer


@pytest.mark.parametrize(
    ("method", "parameters"), [("cyclic_perturbation", {}), ("suppression", {"choice": "cheapest"})]
)
def test_intervals_hold_what_all_originals_say(method: str, parameters: dict[str, object]) -> None:
    release = released(method, **parameters)
    expected = believed(release)
    found = rows(release)
    assert {cell: figures[1:] for cell, figures in found.items()} == expected
    inner = release.tables[0]
    hidden = {cell for cell, figures in found.items() if np.isnan(figures[0])}
    assert len(hidden) == (0 if inner.suppressed is None else int(inner.suppressed.sum()))


def test_totals_with_noise_of_their_own_are_believed_as_infer_has_them() -> None:
    release = released("random_rounding", base=3, margins="v*w+v+w")
    # Each published total and each count: the base below and above it at most.
    for count, low, high, estimate in rows(release).values():
        assert count - 2 <= low <= estimate <= high <= count + 2
    with_totals = cube_of(release)
    again = [with_intervals(with_totals, release).table.counts.tolist() for _ in range(2)]
    assert again[0] == again[1]


Cells = dict[tuple[str, str, str], float]
"""Both categories and the figure; a total is T."""

FIGURES = ("count", "lower", "upper", "estimate")


def long(frame: pandas.DataFrame) -> Cells:
    """From a row for each figure."""
    rows = frame.itertuples(index=False)
    return {(coded(v), coded(w), str(figure)): float(value) for v, w, figure, value in rows}


def wide(rows: Iterable[Sequence[object]]) -> Cells:
    """From a column for each figure."""
    return {
        (coded(v), coded(w), figure): float(str(value))
        for v, w, *more in rows
        for figure, value in zip(FIGURES, more[:4], strict=True)
    }


def coded(label: object) -> str:
    return {"Total": "T"}.get(str(label), str(label))


def by_pandas(path: Path) -> Cells:
    if path.suffix == ".parquet":
        return wide(pandas.read_parquet(path).itertuples(index=False))
    if path.suffix == ".xlsx":
        sheet = pandas.read_excel(path, sheet_name="Table", header=None, engine="calamine")
        return wide(of_sheet(sheet.to_numpy().tolist()))
    frame = pandas.read_csv(path, dtype={"v": str, "w": str})
    if "OBS_VALUE" in frame:
        return long(frame[["v", "w", "figure", "OBS_VALUE"]])
    return wide(frame.itertuples(index=False))


def of_sheet(rows: Iterable[Sequence[object]]) -> Iterable[Sequence[object]]:
    """The rows of counts of a sheet, whatever stands above and below them."""
    return [row for row in rows if {coded(one) for one in row[:2]} <= {*"abcxyzT"}]


def by_pyarrow(path: Path) -> Cells:
    return wide([list(row.values()) for row in pyarrow.parquet.read_table(path).to_pylist()])


def by_openpyxl(path: Path) -> Cells:
    return wide(of_sheet(openpyxl.load_workbook(path)["Table"].iter_rows(values_only=True)))


def by_frictionless(path: Path) -> Cells:
    frictionless = pytest.importorskip("frictionless", exc_type=ImportError)
    package = frictionless.Package(str(path.with_suffix(".datapackage.json")))
    assert package.validate().valid
    return wide([list(row.values()) for row in package.resources[0].read_rows()])


def by_sdmx1(path: Path) -> Cells:
    return long(sdmx.to_pandas(sdmx.read_sdmx(io.BytesIO(path.read_bytes()))).reset_index())


CLIENTS: dict[tuple[str, str], Callable[[Path], Cells]] = {
    ("csv", "pandas"): by_pandas,
    ("csv", "frictionless"): by_frictionless,
    ("px", "pyaxis"): lambda path: long(pyaxis.parse(uri=str(path), encoding="utf-8")["DATA"]),
    ("jsonstat", "pyjstat"): lambda path: long(pyjstat.Dataset.read(path.read_text()).write("dataframe")),
    ("sdmx-ml", "sdmx1"): by_sdmx1,
    ("sdmx-json", "sdmx1"): by_sdmx1,
    ("sdmx-csv", "pandas"): by_pandas,
    ("parquet", "pandas"): by_pandas,
    ("parquet", "pyarrow"): by_pyarrow,
    ("xlsx", "pandas"): by_pandas,
    ("xlsx", "openpyxl"): by_openpyxl,
}
"""How each format is read by each program that shows the intervals."""


@pytest.mark.filterwarnings("ignore:Shouldn't use this function:DeprecationWarning")
@pytest.mark.parametrize("pair", CLIENTS, ids=" ".join)
def test_other_programs_read_them(pair: tuple[str, str], tmp_path: Path) -> None:
    release, kind = released("cyclic_perturbation"), named(pair[0])
    path = tmp_path / f"t{kind.suffixes[0]}"
    made = exported(release, path, kind, ASKED)
    for name, content in {path.name: made.content, **made.beside}.items():
        (tmp_path / name).write_bytes(content)
    expected = {
        (*cell, figure): value
        for cell, values in rows(release).items()
        for figure, value in zip(FIGURES, values, strict=True)
    }
    assert len(expected) == 64 and CLIENTS[pair](path) == expected


def test_the_documentation_lists_who_reads_them() -> None:
    text = (RESOURCES / "docs" / "formats.md").read_text("utf-8")
    _, _, table = text.partition("<!-- clients -->\n")
    lines = [line.split("|")[1:3] for line in table.partition("<!-- end -->")[0].splitlines()[2:]]
    listed = {(name.strip(" `"), one.strip()) for name, clients in lines for one in clients.split(",")}
    over_the_network = {("PxWebApi", "pxwebpy"), ("PxWebApi", "pyaxis")}
    assert listed == {*CLIENTS} | over_the_network


def test_a_workbook_has_them_by_itself_and_says_why_not() -> None:
    release = released("cyclic_perturbation")
    book = named("xlsx")
    by_itself, plain = (
        exported(release, Path("t.xlsx"), book, Exporting(add=add)) for add in (None, "nothing")
    )
    asked = exported(release, Path("t.xlsx"), book, Exporting(add="intervals"))
    assert by_itself.cube == plain.cube and len({each.content for each in (by_itself, asked, plain)}) == 3
    loaded = CalamineWorkbook.from_filelike(io.BytesIO(by_itself.content))
    assert loaded.sheet_names[:2] == ["Table", "Intervals"]
    figures = [
        row for row in loaded.get_sheet_by_name("Intervals").to_python() if row[0] in (*"abc", "Total")
    ]
    assert {(v[:1], w[:1]): tuple(more) for v, w, *more in figures} == rows(release)
    assert exported(release, Path("t.csv"), named("csv")).cube == plain.cube
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(export_module, "MOST_BY_ITSELF", 15)
        assert exported(release, Path("t.xlsx"), book).content == plain.content
        patch.undo()
        fault = InfeasibleError("nothing fits")
        patch.setattr(intervals, "believe", Mock(side_effect=fault))
        left = exported(release, Path("t.xlsx"), book)
        assert left.content == plain.content and left.notes[-1] == "Without intervals: nothing fits."


def test_the_file_is_a_function_of_the_bundle(tmp_path: Path) -> None:
    """What an original holds beyond its release makes no difference: two of them, one bundle, one file."""
    release = released("cyclic_perturbation")
    data = public.to_bytes(release, page=False)
    again = verify_bytes(data).release
    posterior = believe([release]).posterior.list_originals()
    assert posterior is not None and len(posterior[0]) > 1
    for name in ("csv", "px", "jsonstat", "xlsx", "parquet"):
        kind = named(name)
        path = Path(f"t{kind.suffixes[0]}")
        files = [exported(one, path, kind, ASKED) for one in (release, again)]
        assert files[0].content == files[1].content and files[0].beside == files[1].beside


def test_frictionless_fields_are_those_of_the_file() -> None:
    made = exported(
        released("suppression", choice="cheapest"),
        Path("t.csv"),
        named("csv"),
        replace(ASKED, unit="persons"),
    )
    said = json.loads(made.beside["t.datapackage.json"])
    (resource,) = said["resources"]
    frame = pandas.read_csv(io.BytesIO(made.content), dtype=str, keep_default_na=False)
    fields = resource["schema"]["fields"]
    assert (resource["path"], [one["name"] for one in fields]) == ("t.csv", list(frame))
    assert {one["name"]: one["type"] for one in fields} == {
        **dict.fromkeys(("v", "w", "CONF_STATUS"), "string"),
        **dict.fromkeys(("count", "lower", "upper"), "integer"),
        "estimate": "number",
    }
    assert [one.get("unit") for one in fields] == [None, None, *["persons"] * 4, None]
    assert "in 100" in said["description"]
    for one in fields:
        allowed = one.get("constraints", {}).get("enum")
        assert allowed is None or set(frame[one["name"]]) == set(allowed)
        missing = frame[one["name"]].isin(resource["schema"]["missingValues"])
        assert one["name"] == "count" or not missing.any()
    assert not frame.duplicated(resource["schema"]["primaryKey"]).any()


def test_what_cannot_carry_them_says_so() -> None:
    with pytest.raises(ParameterError, match="one number a cell"):
        exported(released("cyclic_perturbation"), Path("t.tab"), named("tau-argus"), ASKED)
    with pytest.raises(ParameterError, match="is a magnitude"):
        exported(Release.of_magnitudes(hidden_square(), "suppression"), Path("t.csv"), named("csv"), ASKED)
    with pytest.raises(ParameterError, match="one cube"):
        files_of(released("cyclic_perturbation"), Path("t.csv"), named("csv"), ASKED)
