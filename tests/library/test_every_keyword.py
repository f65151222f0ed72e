"""Every keyword of the library changes what comes out, or is refused by its name."""

from __future__ import annotations

import inspect
import pickle
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import tabprotect as tp
from tabprotect.engine.cycles.cycle_files import to_json
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import InputError, ParameterError, TabprotectError

COUNTS = "region,sex,count\nc,f,9\nc,m,11\nb,f,7\nb,m,2\na,f,5\na,m,1\n"
PEOPLE = "region,sex,age,w,key\n" + "".join(
    f"{'abc'[n % 3]},{'fm'[n // 3 % 2]},{20 + n},{1 + n % 2},{n / 40}\n" for n in range(40)
)
FIRMS = (
    "nace,region,ent,turnover,ask,waive,price,id,w\n24,n,a,660,0,0,1,1,1\n24,n,b,8,0,0,1,2,1\n"
    "24,s,c,49,1,0,1,3,2\n24,s,d,48,0,0,1,4,1\n24,s,e,45,0,0,1,5,1\n25,n,f,100,0,1,1,6,1\n"
    "25,n,g,90,0,0,1,7,1\n25,n,i,80,0,0,9,8,1\n25,s,j,70,0,0,1,9,1\n25,s,k,60,0,0,1,10,1\n"
)
FILES = {
    "counts.csv": COUNTS,
    "totals.csv": COUNTS + "a,Total,6\nb,Total,9\nc,Total,20\n",
    "off.csv": COUNTS + "a,Total,7\nb,Total,9\nc,Total,20\n",
    "gaps.csv": COUNTS.replace("a,m,1\n", ""),
    "grid.csv": "region,f,m\nc,9,11\nb,7,2\na,5,1\n",
    "points.csv": COUNTS.replace("c,m,11", "c,m,1.100"),
    "people.csv": PEOPLE,
    "firms.csv": FIRMS,
    "short.csv": "region,land\na,x\nb,x\n",
    "codes.csv": "region,land\na,z\nb,z\nc,y\n",
    "blank.csv": "region,sex,count\na,f,3\na,m,4\n,f,6\n,m,2\n",
    "zeros.csv": "region,sex\na,m\n",
    "reading.toml": "scale = 7\n",
    "published.csv": "region,sex,count\na,f,3\na,m,3\nb,f,6\nb,m,3\nTotal,f,9\nTotal,m,6\n",
    "cube.csv": "region,sex,half,count\n"
    + "".join(f"{'abc'[n // 4]},{'fm'[n // 2 % 2]},{'xy'[n % 2]},{1 + n * 5 % 7}\n" for n in range(12)),
    "quoted.csv": COUNTS.replace("b,", '"b""1""",'),
}

Given = Mapping[str, Any]

PARTNERS = (45, 0, 0, 1, 2, 43, 36, 4, 0, 1, 1, 3, 14, 2, 0, 1)
"""Counts of a table in which moves have partners that may be zero."""

READING: dict[str, tuple[Given, Any]] = {
    "strip_totals": ({"path": "totals.csv"}, True),
    "fill_missing": ({"path": "gaps.csv"}, True),
    "totals": ({}, "nonsense"),
    "tolerance": ({"path": "off.csv", "totals": "Total"}, 1),
    "missing": ({"path": "gaps.csv"}, "zero"),
    "count": ({}, "zzz"),
    "drop": ({}, ["zzz"]),
    "variable": ({}, ["zzz"]),
    "label": ({}, {"zzz": "sex"}),
    "where": ({}, {"zzz": "1"}),
    "scale": ({}, 7),
    "labels": ({}, True),
    "texts_in": ({"path": "odd.px"}, "zz"),
    "form": ({}, "grid"),
    "columns": ({"path": "grid.csv"}, "zzz"),
    "sheet": ({}, "zzz"),
    "range": ({}, "B3:F20"),
    "hidden": ({}, "read"),
    "cells": ({}, "n/N"),
    "blank": ({"path": "blank.csv"}, "missing"),
    "order": ({}, "name"),
    "header_row": ({}, "4"),
    "footer": ({}, 2),
    "comment": ({}, "a,"),
    "marks": ({}, "11=suppressed"),
    "encoding": ({}, "zzz"),
    "delimiter": ({}, ";"),
    "decimal": ({"path": "points.csv"}, ","),
    "thousands": ({"path": "points.csv"}, "."),
    "holds": ({}, "records"),
    "metadata": ({}, "nofile"),
    "strict": ({"path": "odd.px"}, True),
    "reading": ({}, "reading.toml"),
}
TABULATING: dict[str, tuple[Given, Any]] = {
    "measure": ({}, "w"),
    "holding": ({}, "key"),
    "request": ({}, "ask"),
    "waiver": ({}, "waive"),
    "shadow": ({}, "price"),
    "cost": ({}, "price"),
    "unit": ({}, "region"),
    "spellings": ({}, "nonsense"),
    "weight": ({}, "w"),
    "record_key": ({}, "key"),
    "design_weight": ({}, "w"),
    "bands": ({}, {"age": 10}),
    "cuts": ({}, {"age": [0, 30]}),
    "code_lists": ({}, {"region": "short.csv"}),
    "mapping": ({"code_lists": {"region": "short.csv"}}, {"region:c": "a"}),
    "levels": ({}, {"place": ["region", "sex"]}),
    "level_names": ({}, {"region": ["coarse", "fine"]}),
    "draw_keys": ({}, True),
}
PROTECTING: dict[str, tuple[Given, Any]] = {
    "cycles": ({"method": "cyclic_perturbation"}, "strips"),
    "at_risk": ({}, "1..9"),
    "people": ({}, "other"),
    "sensitive": ({}, "region"),
    "key_variables": ({}, ["region"]),
    "rule": ({}, "p=30"),
    "weights": ({}, "replicate"),
    "like": ({}, "nofile.zip"),
    "publish": ({}, "n"),
    "title": ({}, "T"),
    "about": ({}, {"licence": "CC0"}),
    "policy": ({}, "nofile.toml"),
    "accept": ({"refused": True}, "otherwise"),
    "accept_weak": ({"refused": True}, True),
    "kept_small": ({"method": "cyclic_perturbation", "at_risk": "1..9"}, "never"),
    "draft": ({"refused": True}, True),
    "tune": ({}, True),
    "tune_for": ({}, "sums"),
    "seed": ({}, 3),
    "fresh": ({}, True),
    "parameters": ({}, "base"),
}
PUBLISHING: dict[str, tuple[Given, Any]] = {
    "tables": ({}, {"one": "region*sex"}),
    "dossier": ({}, "out/d.zip"),
    "overwrite": ({"release": "there.zip"}, True),
    "accept": ({"refused": True}, "because"),
    "kept_small": ({"small": True}, "never"),
    "again": ({"dossier": "out/d.zip"}, "yearly"),
    "prepared_by": ({"dossier": "out/d.zip"}, "A"),
    "approved_by": ({"dossier": "out/d.zip"}, "A"),
    "no_page": ({}, True),
    "replicates": ({}, 3),
    "sign": ({}, "nofile.key"),
    "sign_too": ({}, "nofile.key"),
    "dossier_key": ({"dossier": "out/d.zip"}, "nofile.key"),
}


def _protected(
    method: str = "random_rounding",
    *,
    on: str = "counts",
    refused: bool = False,
    leave: bool = True,
    **given: Any,
) -> Any:
    """A table protected; ``refused`` with settings that the gate refuses."""
    accept = {} if refused else {"accept": "because"}
    if refused and on == "counts":
        method, given = "cyclic_perturbation", {"alpha": 0.01, "beta": 0.01, **given}
    if on == "counts":
        return tp.protect(tp.read_table("counts.csv"), method, **{"seed": 1, **accept, **given})
    noise = {"least": 0.001, "most": 0.01} if refused else {"rule": "p=10"}
    method = "multiplicative_noise" if refused else "suppression"
    found = tp.protect(_firms(), method, **{**noise, **accept, **given})
    # Of magnitudes the gate is asked when they leave.
    return found.publish("out/r.zip") if refused and leave else found


def _table_on(on: str) -> Any:
    return tp.read_table("counts.csv") if on == "counts" else _firms()


def _uneven(measure: str | None = None) -> Any:
    """A table in which moves have partners that may be zero."""
    cells = [(n // 4, n % 4, 1) for n, count in enumerate(PARTNERS) for _ in range(count)]
    records = dict(zip(("v", "w", "amount"), map(list, zip(*cells, strict=True)), strict=True))
    return tp.tabulate(records, by=["v", "w"], measure=measure)


def _query_space(*, on: str = "counts", **given: Any) -> Any:
    """The frontiers of a query space, and what a judgement of all single variables says."""
    rows = {"nace": "aabbaa", "region": "nsnsnn", "turnover": range(6)}
    firms = tp.tabulate(
        {name: list(values) for name, values in rows.items()}, measure="turnover", by=["nace", "region"]
    )
    table = tp.read_table("cube.csv") if on == "counts" else firms
    space = tp.QuerySpace(table, **given)
    return space.frontier(), space.judge(*table.domain.names)


def _drawn(ax: Any) -> Any:
    """All that a figure says."""
    return (
        [text.get_text() for text in ax.findobj(lambda one: hasattr(one, "get_text"))],
        [image.get_array().tolist() for image in ax.images],
        [drawn.get_offsets().tolist() for drawn in ax.collections],
        [line.get_xydata().tolist() for line in ax.lines],
    )


def _firms() -> Any:
    return tp.tabulate("firms.csv", by=["nace", "region"], measure="turnover", holding="ent")


def _published(
    release: str = "out/r.zip",
    *,
    on: str = "counts",
    refused: bool = False,
    small: bool = False,
    **given: Any,
) -> Any:
    if small:
        keeps = AgencyPolicy(kept_small="keep")
        draft = tp.protect(
            tp.read_table("example:langsrud-lupp"),
            "cyclic_perturbation",
            blocking="negative",
            draft=True,
            policy=keeps,
        )
        return draft.publish(release, **given)
    if not refused:
        return _protected(on=on).publish(release, **given)
    draft = {"draft": True} if on == "counts" else {}
    with pytest.MonkeyPatch.context() as patch:
        # No reason lets out what tells too much together with what left before.
        patch.setenv("TABPROTECT_HOME", "first_house")
        return _protected(on=on, refused=True, leave=False, **draft).publish(release, **given)


def _tabulated(*, on: str = "counts", **given: Any) -> Any:
    firms = {"records": "firms.csv", "by": ["nace", "region"], "measure": "turnover"}
    people = {"records": "people.csv", "by": ["region", "sex"]}
    return tp.tabulate(**{**(people if on == "counts" else firms), **given})


def _of_files(name: str, first: str, magnitudes: str) -> Callable[..., Any]:
    """A function of a file, which another takes the place of on magnitudes."""

    def called(*, on: str = "counts", sums: str = magnitudes, **given: Any) -> Any:
        return getattr(tp, name)(**(given if on == "counts" else {**given, first: sums}))

    return called


CALLS: dict[str, tuple[Callable[..., Any], Given, bool, dict[str, tuple[Given, Any]]]] = {
    "read_table": (_of_files("read_table", "path", "sums.parquet"), {"path": "counts.csv"}, True, READING),
    "tabulate": (_tabulated, {}, True, TABULATING),
    "protect": (_protected, {}, True, PROTECTING),
    "Protection.publish": (_published, {}, True, PUBLISHING),
    "infer": (
        _of_files("infer", "release", "sums.zip"),
        {"release": "counts.zip"},
        True,
        {
            "of": ({}, "region"),
            "groupings": ({"of": "g"}, "g:region=a>x,b>x,c>y"),
            "prior": ({}, "positive"),
            "way": ({"seed": 1}, "monte_carlo"),
            "draws": ({"seed": 1, "way": "monte_carlo"}, 50),
            "seed": ({"way": "monte_carlo", "draws": 50}, 2),
            "weigh_attempts": ({"release": "cycles.zip"}, True),
        },
    ),
    "design": (
        lambda on="counts", **given: tp.design(
            **{"table": tp.read_table("counts.csv") if on == "counts" else _uneven("amount"), **given}
        ),
        {},
        True,
        {
            "keep": ({}, "region"),
            "table": ({}, None),
            "margins": ({}, "release"),
            "groupings": ({"keep": "g*sex"}, "g:region=a>x,b>x,c>y"),
            "kind": ({}, "nonsense"),
            "height": ({"kind": "strips"}, 3),
            "repeats": ({}, 2),
            "cap": ({"table": _uneven()}, 1),
            "weight": ({"table": _uneven()}, 0),
            "theta": ({"table": _uneven()}, 1000),
            "zeros": ({}, "zeros.csv"),
        },
    ),
    "compare": (
        lambda on="counts", **given: tp.compare(
            **{
                "table": tp.read_table("counts.csv") if on == "counts" else _firms(),
                "configurations": ["random_rounding"],
                "runs": 2,
                "seed": 1,
                "measures": ["tcap"],
                **given,
            }
        ),
        {},
        True,
        {
            "runs": ({}, 3),
            "seed": ({}, 2),
            "measures": ({}, ["nonsense"]),
            "margins": ({}, "region"),
            "groupings": ({}, "g:region=a>x,b>x,c>y"),
            "key": ({"sensitive": "region"}, ["zzz"]),
            "sensitive": ({"key": ["sex"]}, "region"),
        },
    ),
    "convert": (
        lambda on="counts", **given: tp.convert(
            **{"table": "counts.csv" if on == "counts" else _firms(), "out": "out/x.csv", **given}
        ),
        {},
        True,
        {"format": ({}, "json-stat")},
    ),
    "export": (
        _of_files("export", "release", "sums.zip"),
        {"release": "counts.zip", "out": "out/x.csv"},
        True,
        {
            "format": ({}, "json-stat"),
            "unit": ({}, "persons"),
            "source": ({}, "S"),
            "notes": ({}, ["N"]),
            "date": ({}, "2026-11-28"),
            "texts_of": ({}, "nofile.px"),
            "texts_in": ({"texts_of": "odd.px"}, "zz"),
            **{
                one: ({}, "A text")
                for one in ("licence", "publisher", "contact", "period", "language", "concept")
            },
            "apart": ({}, True),
            "total_code": ({}, "ALL"),
            "add": ({}, "intervals"),
            "strict": ({"release": "quoted.zip", "sums": "quoted_sums.zip", "out": "out/x.px"}, True),
        },
    ),
    "attack": (
        lambda on="counts", **given: tp.attack(
            **{
                "tables": ["published.csv" if on == "counts" else "sums.zip"],
                "method": "rounded:base=3",
                **given,
            }
        ),
        {},
        True,
        {
            "method": ({}, "exact"),
            "reading": ({}, {"marks": "6=suppressed"}),
            "count": ({}, "zzz"),
            "total": ({}, "zzz"),
            "groupings": ({}, "zzz"),
        },
    ),
    "verify": (
        lambda on="counts", **given: tp.verify("counts.zip" if on == "counts" else "sums.zip", **given),
        {},
        True,
        {"fingerprint": ({}, "abc"), "signer": ({}, "nofile.pub"), "signed": ({}, True), "quick": ({}, True)},
    ),
    "page": (
        lambda on="counts", **given: tp.page("counts.zip" if on == "counts" else "sums.zip", **given),
        {},
        True,
        {"out": ({}, "out/p.html")},
    ),
    "rules": (lambda on, **given: tp.rules(_firms(), "p=10", **given), {}, False, {"weights": ({}, "known")}),
}
TABLE = {"region": ["a", "a", "b"], "sex": ["f", "m", "f"], "count": [4, 2, 1]}


def _of_belief(name: str, *args: Any) -> Callable[..., Any]:
    """A method of what a reader believes; of sums of cells where the table is one of magnitudes."""

    def called(*, on: str = "counts", **given: Any) -> Any:
        belief = tp.infer("counts.zip" if on == "counts" else "sums.zip")
        return getattr(belief, name)(*args, **given)

    return called


def _compared() -> Any:
    measures = ["tcap", "unchanged_small", "mean_absolute_deviation", "hellinger_published"]
    specs = ["random_rounding base=3", "random_rounding base=5"]
    return tp.compare(tp.read_table("counts.csv"), specs, runs=2, seed=1, measures=measures)


def _rotated(*, on: str = "counts", **given: Any) -> Any:
    """The key of a house of its own rotated: the register is no longer the one that is tried next."""
    shutil.copytree("home", "out/home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TABPROTECT_HOME", str(Path("out/home").absolute()))
        done = tp.rotate_key(**given)
    shutil.rmtree("out/home")
    return done.marked, done.unmarked


def _all_protected(*, on: str = "counts", **given: Any) -> Any:
    method = "random_rounding" if on == "counts" else "multiplicative_noise"
    found = tp.protect_all({"one": _table_on(on)}, method, workers=1, **{"accept": "x", **given})
    return [*map(_shown, found.protections.values()), *map(str, found.errors.values())]


CALLS |= {
    "protect_set": (
        lambda on="counts", **given: tp.protect_set(
            _table_on(on),
            **{"tables": {"one": "region"}, "method": "random_rounding", "accept": "x", **given},
        ),
        {},
        True,
        {"tables": ({}, {"two": "sex"}), "by": ({}, "sex"), "given": ({}, 1)},
    ),
    "protect_all": (_all_protected, {}, True, {"given": ({}, 1)}),
    "rotate_key": (_rotated, {}, True, {"register": ({}, "nofile.db"), "originals": ({}, ["nofile"])}),
    "Table.from_frame": (
        lambda on, **given: tp.Table.from_frame(TABLE, **{"fill_missing": True, **given}),
        {},
        True,
        {"count": ({}, "zzz"), "variables": ({}, ["zzz"]), "title": ({}, "T"), "fill_missing": ({}, False)},
    ),
    "Table.to_frame": (lambda on, **given: _table_on(on).to_frame(**given), {}, True, {"kind": ({}, "dict")}),
    "Cycles.check": (
        lambda on, **given: tp.design(table=tp.read_table("counts.csv"), zeros="zeros.csv").check(**given),
        {},
        True,
        {
            "rule": ({}, "none"),
            "passes": ({}, 3),
            "table": ({}, tp.Table.from_frame(TABLE, fill_missing=True)),
        },
    ),
    "Comparison.to_frame": (
        lambda on, **given: _compared().to_frame(**{"kind": "dict", **given}),
        {},
        True,
        {"kind": ({}, "pandas"), "runs": ({}, False)},
    ),
    "Comparison.plot": (
        lambda on, **given: _drawn(_compared().plot(**given)),
        {},
        True,
        {"risk": ({}, "unchanged_small"), "utility": ({}, "mean_absolute_deviation")},
    ),
    "QuerySpace": (
        _query_space,
        {},
        True,
        {
            "measure": ({}, "nonsense"),
            "criterion": ({}, "smallest_margin"),
            "threshold": ({}, 30),
            "at_risk": ({}, "3..3"),
            "cells": ({"at_risk": "3..3"}, "all"),
        },
    ),
    "Belief.to_frame": (
        _of_belief("to_frame"),
        {"kind": "dict"},
        True,
        {"kind": ({}, "pandas"), "distributions": ({}, True)},
    ),
    "Belief.plot": (
        lambda on, **given: _drawn(_of_belief("plot")(on=on, **given)),
        {},
        True,
        {"of": ({}, "mean"), "at_risk": ({"of": "small"}, "1..5"), "cell": ({}, {"region": "a", "sex": "m"})},
    ),
    "Belief.sample": (_of_belief("sample", 9), {"seed": 1}, True, {"seed": ({}, 2)}),
    "Belief.draws": (
        lambda on, **given: list(_of_belief("draws", 9)(on=on, **given)["count"]),
        {"seed": 1},
        True,
        {"seed": ({}, 2)},
    ),
    "Belief.analyse": (
        _of_belief("analyse"),
        {"seed": 1, "draws": 100},
        True,
        {"statistic": ({}, "cramers_v"), "draws": ({}, 50), "level": ({}, 0.5), "seed": ({}, 2)},
    ),
    "Belief.fit": (
        _of_belief("fit", "region + sex"),
        {"seed": 1, "draws": 50},
        True,
        {"draws": ({}, 20), "seed": ({}, 2)},
    ),
    "Belief.rate": (
        _of_belief("rate", "region=a | sex=f"),
        {"seed": 1},
        True,
        {"level": ({}, 0.5), "seed": ({}, 2)},
    ),
    "Belief.log_odds": (
        _of_belief("log_odds", "region", "sex"),
        {"seed": 1},
        True,
        {"level": ({}, 0.5), "seed": ({}, 2)},
    ),
    "methods": (lambda on, **given: tp.methods(**given), {}, True, {"measure": ({}, "magnitudes")}),
}
TOGETHER = ("protect", "Protection.publish", "export", "QuerySpace")
"""What goes before a keyword goes before it for both measures."""

ELSEWHERE = {
    "tabulate": {"order"},  # of what is declared: by the commands, and where records are read
    "compare": {"workers"},  # how it is done, not what comes out
    "protect_all": {"workers"},
    "Belief.plot": {"ax"},  # where it is drawn
    "Comparison.plot": {"ax"},
}


HOUSE = "house"
"""The house as each call finds it."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a file of every kind that a keyword names."""
    folder = tmp_path_factory.mktemp("keywords")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("TABPROTECT_HOME", str(folder / "home"))
        for name, text in FILES.items():
            Path(name).write_text(text)
        _protected().publish("counts.zip", no_page=True)
        shutil.copy("counts.zip", "there.zip")
        tp.protect(tp.read_table("counts.csv"), accept="x", alpha=0.25).publish("cycles.zip", no_page=True)
        _protected(on="magnitudes").publish("sums.zip", no_page=True)
        tp.protect(tp.read_table("quoted.csv"), "random_rounding", accept="x").publish("quoted.zip")
        _firms().write("sums.parquet")
        quoted = tp.tabulate({"nace": ['2"4"', "25"], "turnover": [600, 400]}, ["nace"], measure="turnover")
        tp.protect(quoted, "multiplicative_noise", accept="x").publish("quoted_sums.zip")
        tp.convert("counts.csv", "odd.px")
        odd = Path("odd.px")
        odd.write_text(odd.read_text().replace("DATA=", 'MY_OWN="x";\nDATA='))
        shutil.copytree("home", HOUSE)
        yield folder


def _shown(value: object) -> str:
    """All that a result says, without places in memory."""
    if isinstance(value, tp.Protection):
        project = value.history.project
        done = project.protected_magnitudes or project.protected
        assert done is not None
        record = getattr(done, "record", done)
        published = value.release.tables or value.release.magnitude_table.value.tolist()
        said = value.parameters, project.title, value.verdict, value.release.mechanism.gate, published
        return f"{said} {value.release.mechanism.parameters} {record.decisions} {vars(record)}"
    if isinstance(value, tp.MagnitudeTable):
        return repr((value.to_frame("dict"), value.magnitudes.rows, value.magnitudes.names))
    if isinstance(value, tp.Table):
        project = value.history.project
        return f"{project.title} {value.counts.tolist()} {value.domain} {value.notes} {project.record_keys} {project.weights}"
    if isinstance(value, tp.Cycles):
        return repr(to_json(value.moves, value.zeros))
    if hasattr(value, "to_frame"):
        return repr(pickle.dumps(value))
    return repr(value.__dict__ if hasattr(value, "__dict__") else value)


def names_it(error: Exception, name: str, value: object) -> bool:
    """Return True if a refusal names an argument, or what it says of a file: who reads it knows which it is."""
    said = f"{error} {getattr(error, 'hint', '')}"
    if isinstance(error, InputError):
        words = (name, *re.findall(r"\w+", str(value)))
        return bool(error.place) or any(word in said for word in words)
    # What the rules, the gate or the solver refuse is what came of it.
    return name in said or not isinstance(error, ParameterError | TypeError)


def _tried(call: Callable[..., Any], given: Given) -> tuple[str, Exception | None]:
    """What comes of a call: all that it says, with the files that it writes; and why it was refused.

    Nothing that another call left in the houses bears on it.
    """
    for folder in ("out", "home", "first_house"):
        shutil.rmtree(folder, ignore_errors=True)
    Path("out").mkdir()
    shutil.copytree(HOUSE, "home")
    refused: Exception | None = None
    try:
        said = _shown(call(**given))
    except (TabprotectError, TypeError) as error:
        said, refused = f"{type(error).__name__}: {error}", error
    files = {str(path): path.read_bytes() for path in sorted(Path("out").rglob("*")) if path.is_file()}
    return re.sub(r"0x[0-9a-f]+", "", f"{said} {files}"), refused


def test_every_keyword_is_tried() -> None:
    for name, (_, _, _, samples) in CALLS.items():
        function: Any = tp
        for part in name.split("."):
            function = getattr(function, part)
        taken = {
            p.name
            for p in inspect.signature(function).parameters.values()
            if p.kind in (p.KEYWORD_ONLY, p.VAR_KEYWORD) or p.default is not p.empty
        }
        tried = set(samples) | ELSEWHERE.get(name, set())
        assert taken - {"progress", "by", "method"} == tried - {"method", "by"}, name


@pytest.mark.usefixtures("noon")
@pytest.mark.parametrize("on", ["counts", "magnitudes"])
@pytest.mark.parametrize("name", CALLS)
def test_a_keyword_changes_what_comes_out_or_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch, name: str, on: str
) -> None:
    call, base, counts, samples = CALLS[name]
    if on == "counts" and not counts:
        return
    monkeypatch.setenv("TABPROTECT_HOME", str(place / "home"))
    ignored, unnamed = [], []
    without: dict[str, tuple[str, Exception | None]] = {}
    for keyword, (before, value) in samples.items():
        first = {"on": on, **base, **(before if on == "counts" or name in TOGETHER else {})}
        if value == "release":
            value = tp.open_release("counts.zip")
        if repr(first) not in without:
            without[repr(first)] = _tried(call, first)
        plain, plain_refused = without[repr(first)]
        tried, refused = _tried(call, {**first, keyword: value})
        if on == "counts":
            # What is refused either way would show nothing.
            assert not (plain_refused and refused), (keyword, plain, tried)
        if tried == plain and not refused:
            ignored.append(keyword)
        # A file of options is refused by the option in it.
        told = "scale" if keyword == "reading" else keyword
        if refused and tried != plain and not names_it(refused, told, value):
            unnamed.append((keyword, refused))
    assert not ignored and not unnamed
