"""Every argument of every verb changes what comes out, or is refused by its name."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import pytest

from tabprotect.cli.main import main
from tabprotect.engine.bundle.signature import new_key
from tabprotect.engine.cycles.cycle_files import to_json
from tabprotect.engine.cycles.designs import design
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.magnitudes.files.table_files import write_magnitudes
from tabprotect.engine.options import options_of
from tabprotect.engine.project.commands import COMMANDS, named
from tabprotect.engine.project.history import History
from tabprotect.engine.project.saving import storage
from tabprotect.engine.tables.domain import Domain
from tests.library.test_every_keyword import FILES, READING, names_it

Given = Mapping[str, Any]
Steps = Sequence[tuple[str, Given]]
NOTHING: Steps = ()

COUNTS = ("open_table", {"source": "cube.csv"})
SUMS = (
    "tabulate",
    {
        "source": "firms.csv",
        "by": ["nace", "region"],
        "measure": "turnover",
        "holding": "ent",
        "spellings": "apart",
    },
)
CYCLES = to_json(design(Domain.of({"region": "cba", "sex": "fm", "half": "xy"}), "default"))
ROUNDED = ("set_method", {"method": "random_rounding"})
NOISY = ("set_method", {"method": "multiplicative_noise"})
FAINT = ("set_parameters", {"alpha": 0.01, "beta": 0.01})
FAINT_NOISE = ("set_parameters", {"least": 0.001, "most": 0.01})
BARS = ("group_categories", {"variable": "region", "level": "land", "groups": {"x": ["a", "b"]}})


@dataclass(frozen=True)
class Tried:
    """A verb as it is tried.

    Attributes
    ----------
    base
        What it is given anyway.
    samples
        For each argument what goes before it, and a value.
    after
        The steps that lead to it on a table of counts; ``None`` where it goes with magnitudes only.
    of_sums
        The same on a table of magnitudes.
    base_of_sums
        What it is given besides on these.
    then_of_sums
        What is done after it with these.
    """

    base: Given = field(default_factory=dict)
    samples: Mapping[str, tuple[Given, Any]] = field(default_factory=dict)
    after: Steps | None = (COUNTS,)
    of_magnitudes: Steps | None = (SUMS,)
    base_of_sums: Given = field(default_factory=dict)
    then_of_sums: Steps = ()


def _plain(**samples: Any) -> dict[str, tuple[Given, Any]]:
    return {name: ({}, value) for name, value in samples.items()}


def _of_source(before: Given, value: Any) -> tuple[Given, Any]:
    return {"source" if name == "path" else name: one for name, one in before.items()}, value


READING_COUNTS = {name: one for name, one in READING.items() if name != "reading"}


def _added(variable: str, category: str) -> tuple[str, Given]:
    return "add_category", {"variable": variable, "category": category}


COUNTING = {"source": "people.csv", "by": ["region", "sex"]}
VERBS: dict[str, Tried] = {
    "open_table": Tried(
        {"source": "counts.csv"},
        {"source": ({}, "cube.csv"), **{name: _of_source(*one) for name, one in READING_COUNTS.items()}},
        (),
        (),
        {"source": "sums.parquet"},
    ),
    "new_table": Tried({"variables": {"a": ["x"]}}, _plain(variables={"a": ["y"]}), (), None),
    "tabulate": Tried(
        COUNTING,
        {
            **_plain(source="nofile.csv", by=["region"], weight="w", record_key="key", design_weight="w"),
            **_plain(bands={"age": 10}, cuts={"age": [0, 30]}, code_lists={"region": "short.csv"}),
            "mapping": ({"code_lists": {"region": "short.csv"}}, {"region:c": "a"}),
            **_plain(levels={"place": ["region", "sex"]}, level_names={"region": ["coarse", "fine"]}),
            **_plain(draw_keys=True),
            "house_keys": ({"draw_keys": True, "key_seed": None}, True),
            "key_seed": ({"draw_keys": True}, 5),
            **_plain(measure="w", holding="key", request="w", waiver="w", shadow="age", cost="w"),
            **_plain(unit="region", spellings="merge"),
            "order": ({"code_lists": {"region": "codes.csv"}}, "name"),
        },
        (),
        (),
        SUMS[1],
    ),
    "set_title": Tried({"title": "A"}, _plain(title="B")),
    "set_metadata": Tried({"said": {"unit": "persons"}}, _plain(said={"unit": "firms"})),
    "set_count": Tried({"index": [0, 0, 0], "count": 4}, _plain(index=[1, 0, 0], count=5)),
    "paste_block": Tried({"at": [0, 0, 0], "counts": [[4]]}, _plain(at=[1, 0, 0], counts=[[5]])),
    "set_people": Tried({"people": "other"}, _plain(people="same")),
    "set_at_risk": Tried({"rule": "1..2"}, _plain(rule="1..3")),
    "set_roles": Tried({"sensitive": ["sex"]}, _plain(sensitive=["region"], key_variables=["half"])),
    "place": Tried(
        {"rows": ["region"], "columns": ["sex", "half"]},
        {
            "rows": ({"columns": ["half"]}, ["region", "sex"]),
            "columns": ({"rows": ["region", "half"]}, ["sex"]),
            "layers": ({"columns": ["half"]}, ["sex"]),
        },
    ),
    "add_category": Tried({"variable": "sex", "category": "d"}, _plain(variable="half", category="e", at=0)),
    "remove_category": Tried(
        {"variable": "region", "category": "z"},
        _plain(variable="half", category="w"),
        [COUNTS, _added("region", "z"), _added("region", "w"), _added("half", "z")],
    ),
    "merge_categories": Tried(
        {"variable": "region", "categories": ["a", "b"], "into": "x"},
        {"variable": ({"categories": ["x", "y"]}, "half"), **_plain(categories=["a", "c"], into="y")},
    ),
    "rename_category": Tried(
        {"variable": "region", "category": "a", "to": "z"},
        {"variable": ({"category": "x"}, "half"), **_plain(category="b", to="w")},
    ),
    "reorder_categories": Tried(
        {"variable": "region", "categories": ["a", "b", "c"]},
        {"variable": ({"categories": ["y", "x"]}, "half"), **_plain(categories=["b", "a", "c"])},
    ),
    "rename_variable": Tried({"variable": "region", "to": "r"}, _plain(variable="sex", to="s")),
    "group_categories": Tried(
        {"variable": "region", "groups": {"x": ["a", "b"]}},
        {
            "variable": ({"groups": {"z": ["x"]}}, "half"),
            **_plain(level="land", groups={"x": ["b", "c"]}),
            "width": ({}, 1),
            "cuts": ({}, [0]),
            "digits": ({}, {"first": 1}),
            "files": ({"groups": None, "mapping": {"c": "a"}}, {"code list": "short.csv"}),
            "mapping": ({"groups": None, "files": {"code list": "short.csv"}}, {"c": "a"}),
            "least": ({"groups": None, "files": {"code list": "short.csv"}, "mapping": {"c": "a"}}, 20),
        },
    ),
    "map_categories": Tried(
        {"variable": "region", "mapping": {"a": "b"}},
        {"variable": ({"mapping": {"x": "z"}}, "half"), **_plain(mapping={"a": "z", "n": "z"})},
    ),
    "label_categories": Tried(
        {"variable": "region", "labels": {"a": "Aa"}},
        {"variable": ({"labels": {"x": "Xx"}}, "half"), **_plain(labels={"a": "Bb"})},
    ),
    "state_structural_zeros": Tried(
        {"zeros": [{"region": ["a"], "sex": ["m"]}]}, _plain(zeros=[{"region": ["b"], "sex": ["m"]}])
    ),
    "remove_level": Tried(
        {"variable": "region", "level": "land"}, _plain(variable="sex", level="other"), [COUNTS, BARS]
    ),
    "nest_variables": Tried(
        {"variables": ["land", "region"], "name": "place"},
        _plain(variables=["region", "land"], name="p"),
        [("open_table", {"source": "lands.csv"})],
    ),
    "take_level": Tried(
        {"variable": "region", "level": "land"}, _plain(variable="sex", level="other"), [COUNTS, BARS]
    ),
    "set_cycles": Tried(
        {},
        {
            **_plain(kind="triangular", file="cycles.json", cycles=CYCLES),
            "margins": ({"kind": "default"}, [["region"]]),
        },
    ),
    "flip_cycle_cell": Tried(
        {"cycle": 0, "index": [0, 0, 0], "sign": 0}, _plain(cycle=1, index=[1, 1, 0], sign=-1)
    ),
    "mend_cycle": Tried(
        {"cycle": 0},
        _plain(cycle=1),
        [COUNTS, *(("flip_cycle_cell", {"cycle": n, "index": [n, 0, 0], "sign": 0}) for n in (0, 1))],
    ),
    "add_cycle": Tried(
        {"plus": [[0, 0, 0], [1, 1, 0]], "minus": [[0, 1, 0], [1, 0, 0]]},
        _plain(plus=[[0, 0, 1], [1, 1, 1]], minus=[[0, 1, 1], [1, 0, 1]], at=0),
    ),
    "remove_cycle": Tried({"cycle": 0}, _plain(cycle=1)),
    "move_cycle": Tried({"cycle": 0, "to": 1}, _plain(cycle=1, to=2)),
    "split_cycles": Tried(),
    "set_method": Tried({"method": "coarsening"}, _plain(method="random_rounding")),
    "set_parameters": Tried({}, _plain(base=5), [COUNTS, ROUNDED]),
    "set_mechanism": Tried({}, {**_plain(cycles="triangular", alpha=0.25, method="random_rounding")}),
    "take_design": Tried({"kind": "default"}, _plain(kind="triangular", seen=True, alpha=0.25)),
    "set_seed": Tried({"seed": None}, _plain(seed=7, fresh=True)),
    "set_policy": Tried({}, _plain(signatures=2)),
    "protect": Tried(
        {},
        {
            "accept": ({}, "because"),
            "accept_weak": ({}, True),
            "kept_small": ({"accept": "because"}, "never"),
            "draft": ({}, True),
            "tune": ({"accept": "because"}, True),
            "tune_for": ({"accept": "because"}, "sums"),
            "seed": ({"accept": "because"}, 3),
            "fresh": ({"accept": "because"}, True),
        },
        [COUNTS, FAINT, ("set_at_risk", {"rule": "1..9"})],
        [SUMS, NOISY, FAINT_NOISE],
        then_of_sums=[("publish", {"release": "out/r.zip"})],
    ),
    "set_prior": Tried({"who": "user", "prior": "positive"}, _plain(who="intruder", prior="uniform")),
    "publish": Tried(
        {"release": "out/r.zip", "accept": "because"},
        {
            **_plain(release="out/s.zip", tables={"one": "region*sex"}, dossier="out/d.zip"),
            "overwrite": ({"release": "there.zip"}, True),
            "accept": ({"dossier": "out/d.zip"}, "otherwise"),
            "kept_small": ({}, "never"),
            "again": ({"dossier": "out/d.zip"}, "yearly"),
            "prepared_by": ({"dossier": "out/d.zip"}, "A"),
            "approved_by": ({"dossier": "out/d.zip"}, "A"),
            **_plain(no_page=True, sign="signing.key", replicates=3),
            "sign_too": ({"sign": "signing.key"}, "second.key"),
            "dossier_key": ({"dossier": "out/d.zip"}, "nofile.key"),
        },
        [COUNTS, FAINT, ("set_at_risk", {"rule": "1..9"}), ("protect", {"draft": True, "seed": 1})],
        [SUMS, NOISY, FAINT_NOISE, ("protect", {"seed": 1})],
    ),
    "open_bundle": Tried({"path": "counts.zip"}, _plain(path="again.zip"), (), (), {"path": "sums.zip"}),
    "join_tables": Tried(
        {"source": "sexes.csv", "beside": {"halves": "halves.csv"}},
        _plain(source="halves.csv", beside={"lands": "lands.csv"}, scale=7, count="zzz"),
        (),
        None,
    ),
    "stack_tables": Tried(
        {"source": "sexes.csv", "beside": {}, "by": "kind"},
        _plain(source="lands.csv", beside={"halves": "halves.csv"}, by="other", scale=7, count="zzz"),
        (),
        None,
    ),
    "set_release_criterion": Tried({}, _plain(threshold=5, criterion="smallest_margin", bounds="lp")),
    "release_margin": Tried({"variables": ["region"]}, _plain(variables=["half"])),
    "set_release_plan": Tried({"margins": [["region"]]}, _plain(margins=[["half"]])),
    "use_release_plan": Tried(
        {},
        _plain(then="random_rounding base=3"),
        [
            COUNTS,
            ("set_release_criterion", {"threshold": 1}),
            ("set_release_plan", {"margins": [["region"]]}),
        ],
    ),
    "perturb_beyond_plan": Tried(),
    "set_comparison": Tried(
        {},
        {
            **_plain(runs=["random_rounding"], runs_per_method=3, margins="region", key=["sex"]),
            **_plain(groupings="g:region=a>x,b>x,c>y", sensitive="region"),
        },
    ),
    "set_rules": Tried(
        {"rules": ["p=10"]}, _plain(rules=["p=20"], weights="replicate", like="sums.zip"), None
    ),
}

OPEN = {"set_parameters", "set_mechanism", "take_design", "set_policy", "join_tables", "stack_tables"}
"""They take parameters of methods, limits of the house, or all that ``open_table`` does."""


def test_every_argument_of_every_verb_is_tried() -> None:
    assert set(VERBS) == set(COMMANDS)
    for name, tried in VERBS.items():
        parameters = list(signature(named(name).run).parameters.values())[2:]
        taken = {one.name for one in parameters if one.kind is Parameter.KEYWORD_ONLY}
        if name == "open_table":
            taken |= {one.name for one in options_of(Reading)}
        assert taken == set(tried.samples) if name not in OPEN else taken <= set(tried.samples), name


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a file of every kind that an argument names."""
    folder = tmp_path_factory.mktemp("arguments")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("TABPROTECT_HOME", str(folder / "home"))
        for name, text in FILES.items():
            Path(name).write_text(text)
        Path("cycles.json").write_text(json.dumps(CYCLES))
        cells = itertools.product("cba", "fm", "xy")
        Path("cube.csv").write_text(
            "region,sex,half,count\n"
            + "".join(
                f"{','.join(cell)},{(cell[1] != 'm' or cell[0] == 'c') * (2 + n * 5 % 7)}\n"
                for n, cell in enumerate(cells)
            )
        )
        Path("firms.csv").write_text(FILES["firms.csv"] + "25,s,K,50,0,0,1,11,1\n")
        for key in ("signing.key", "second.key"):
            new_key(Path(key))
        Path("sexes.csv").write_text("region,sex,count\na,f,3\na,m,4\nb,f,5\nb,m,6\n")
        Path("halves.csv").write_text("region,half,count\na,x,2\na,y,5\nb,x,5\nb,y,6\n")
        Path("lands.csv").write_text("region,land,count\na,x,7\nb,y,11\n")
        assert main(["convert", "counts.csv", "--out", "odd.px"]) == 0
        odd = Path("odd.px")
        odd.write_text(odd.read_text().replace("DATA=", 'MY_OWN="x";\nDATA='))
        assert main(["register", "new", "kept.db"]) == 0
        # Of the counts nothing left before: what is faint alone would never leave beside it.
        for steps, releases, register in (
            ([COUNTS, ROUNDED], ["counts.zip", "again.zip", "there.zip"], "none"),
            ([SUMS, NOISY], ["sums.zip"], "kept.db"),
        ):
            made = _history([*steps, ("protect", {"accept": "x", "seed": 1})], register="none")
            for number, release in enumerate(releases):
                given = {"release": release, "no_page": number != 1, "accept": "x"}
                _done(made, "publish", given, register)
        assert made.project.magnitudes is not None
        write_magnitudes(made.project.magnitudes.table, Path("sums.parquet"))
        yield folder


def _done(history: History, name: str, given: Given, register: str) -> History:
    stated = {argument: value for argument, value in given.items() if value is not None or argument == "seed"}
    return history.do(named(name).order(stated), register=register)[0]


def _history(steps: Steps, register: str = "left.db") -> History:
    shutil.copy("kept.db", "left.db")
    return reduce(lambda history, step: _done(history, *step, register), steps, History())


def _outcome(before: History, steps: Steps) -> tuple[object, TabprotectError | None]:
    """What comes of verbs: the project with the files that they wrote; or why they were refused."""
    shutil.rmtree("out", ignore_errors=True)
    Path("out").mkdir()
    shutil.copy("kept.db", "left.db")
    try:
        after = reduce(lambda history, step: _done(history, *step, "left.db"), steps, before)
    except TabprotectError as error:
        return None, error
    files = {path: path.read_bytes() for path in sorted(Path("out").rglob("*")) if path.is_file()}
    return (storage.to_bytes(History(after.project)), files), None


@pytest.mark.usefixtures("noon")
@pytest.mark.parametrize("measure", ["counts", "magnitudes"])
@pytest.mark.parametrize("name", [name for name, tried in VERBS.items() if tried.samples])
def test_an_argument_changes_what_comes_out_or_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch, name: str, measure: str
) -> None:
    monkeypatch.setenv("TABPROTECT_HOME", str(place / "home"))
    tried = VERBS[name]
    steps, base, then = tried.after, tried.base, NOTHING
    if measure == "magnitudes":
        steps, base, then = tried.of_magnitudes, {**tried.base, **tried.base_of_sums}, tried.then_of_sums
    if steps is None:
        return
    before, ignored, unnamed = _history(steps), [], []
    without: dict[str, tuple[object, TabprotectError | None]] = {}
    for argument, (besides, value) in tried.samples.items():
        given = {**base, **besides}
        if repr(given) not in without:
            without[repr(given)] = _outcome(before, [(name, given), *then])
        plain, refused = without[repr(given)]
        outcome, why = _outcome(before, [(name, {**given, argument: value}), *then])
        # What is refused either way would show nothing.
        if (refused and why and measure == "counts") or (not refused and outcome == plain):
            ignored.append((argument, refused, why))
        if why and not refused and not names_it(why, argument, value):
            unnamed.append((argument, why))
    assert not ignored and not unnamed
