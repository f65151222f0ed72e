"""The library's face: what it promises, frames of every kind, the command line's bytes."""

from __future__ import annotations

import ast
import inspect
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tabprotect as tp
from tabprotect.cli.main import main
from tabprotect.engine import agency
from tabprotect.engine.bundle.signature import new_key
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.options import Options, options_of
from tabprotect.engine.project.options import MagnitudeTabulation, Protecting, Publishing

PROMISED = {
    *("MagnitudeTable", "rules"),
    *("Table", "examples", "read_table", "tabulate"),
    *("Protection", "methods", "describe", "protect", "protect_set", "protect_all", "ProtectedTables"),
    *("compare", "Comparison", "QuerySpace"),
    *("design", "Cycles"),
    *("new_register", "rotate_key"),
    *("convert", "export"),
    *("verify", "open_release", "page", "infer", "Belief", "SumBelief", "attack", "Attack", "__version__"),
    *("TabprotectError", "InputError", "ParameterError", "InfeasibleError", "RefusedError"),
    *("BundleError", "Interrupted"),
}

ROWS = {"region": ["north", "north", "south", "south"], "sex": ["f", "m", "f", "m"], "count": [4, 2, 1, 7]}


def test_the_promise_is_kept() -> None:
    assert set(tp.__all__) == PROMISED
    for name in tp.__all__:
        assert getattr(tp, name) is not None
    assert set(dir(tp)) >= PROMISED
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        tp.nothing  # noqa: B018


def test_type_checkers_read_the_names_that_there_are() -> None:
    body = ast.parse(Path(tp.__file__).read_text()).body
    (typed,) = (node for node in body if isinstance(node, ast.If))
    imported = {
        (str(node.module), alias.name, alias.asname)
        for node in typed.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    homes = {(f"tabprotect.{tp._HOME[name]}", name, name) for name in tp._HOME}
    assert imported == homes


def test_the_keywords_for_editors_are_those_there_are() -> None:
    script = Path(__file__).resolve().parents[2] / "packaging" / "library_keywords.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("function", "asked"),
    [
        (tp.read_table, Reading),
        (tp.tabulate, MagnitudeTabulation),
        (tp.protect, Protecting),
        (tp.Protection.publish, Publishing),
    ],
)
def test_signature_and_help_name_every_option(function: Any, asked: type[Options]) -> None:
    taken = inspect.signature(function).parameters
    text = inspect.getdoc(function) or ""
    for option in options_of(asked):
        if option.library:
            assert option.name in taken
            assert f"\n{option.name}\n    {option.sentence}\n" in text
    assert "**asked" not in text
    with pytest.raises(TypeError, match="unexpected keyword 'nobody'"):
        tp.tabulate("people.csv", nobody=1)  # type: ignore[call-arg]


def test_two_people_answer_for_a_release_where_the_policy_says_so(tmp_path: Path) -> None:
    table = tp.read_table("example:duncan-roehrig-4x4")
    protection = tp.protect(table, alpha=0.25, seed=7, policy=AgencyPolicy(two_signatures=True))
    keys = [tmp_path / name for name in ("first.key", "second.key")]
    for key in keys:
        new_key(key)
    for names in ({}, {"prepared_by": "Karin"}, {"prepared_by": "Karin", "approved_by": " karin"}):
        with pytest.raises(tp.RefusedError) as refused:
            protection.publish(tmp_path / "r.zip", **names)
        hinted = {name for name in inspect.signature(protection.publish).parameters
                  if f"({name})" in refused.value.hint}  # fmt: skip
        assert hinted == {"prepared_by", "approved_by"}
        assert not (tmp_path / "r.zip").exists()
    done = protection.publish(
        tmp_path / "r.zip", prepared_by="Karin", approved_by="Erik", sign=keys[0], sign_too=keys[1]
    )
    record = done.protected.record
    assert (record.prepared_by, record.approved_by) == ("Karin", "Erik")
    assert len(tp.verify(tmp_path / "r.zip").signers) == 2


def test_a_register_is_made_and_finds_a_table_again_under_another_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, table = tmp_path / "r.sqlite", tp.read_table("example:duncan-roehrig-4x4")
    made = tp.new_register(place)
    assert made.name.endswith("r.sqlite")
    with pytest.raises(tp.InputError, match="already"):
        tp.new_register(place)
    monkeypatch.setenv(agency.REGISTER, str(place))
    asked = {"base": 3, "seed": 2**127 + 5, "accept": "a test"}
    # Of the first there is a dossier, of the second nothing.
    dossier = tmp_path / "CONFIDENTIAL-a.zip"
    first = tp.protect(table, "random_rounding", **asked)
    first.publish(tmp_path / "a.zip", dossier=dossier, no_page=True)
    other = tp.protect(tp.Table.from_frame(pd.DataFrame(ROWS)), "random_rounding", **asked)
    other.publish(tmp_path / "b.zip", no_page=True)
    done = tp.rotate_key()
    assert (done.marked, done.unmarked) == ((1,), (2,))
    assert done.mark != made.mark and done.kept.is_file()
    assert main(["register", "check", "example:duncan-roehrig-4x4"]) == 0
    # Another key than its own is refused.
    agency.key_file().write_bytes(done.kept.read_bytes())
    with pytest.raises(tp.ParameterError):
        tp.rotate_key(place)


@pytest.mark.usefixtures("few_draws")
def test_a_draft_is_published_with_a_reason_and_a_second_release_too(tmp_path: Path) -> None:
    table = tp.read_table("example:langsrud-lupp")
    strict = AgencyPolicy(
        belief_limit=0.5, share=0.0, attempts_at_most=2, second_release="reason", together="reason"
    )
    given = {"policy": strict, "seed": 7, "base": 3}
    with pytest.raises(tp.RefusedError):
        tp.protect(table, "random_rounding", **given)
    held = tp.protect(table, "random_rounding", draft=True, **given)
    with pytest.raises(tp.RefusedError):
        held.publish(tmp_path / "r.zip")
    done = held.publish(tmp_path / "r.zip", accept="agreed with the ministry")
    assert any("agreed with the ministry" in text for text in done.protected.record.decisions)
    other = tp.protect(table, "random_rounding", draft=True, **{**given, "seed": 8})
    with pytest.raises(tp.RefusedError):
        other.publish(tmp_path / "again.zip", accept="agreed")
    other.publish(tmp_path / "again.zip", accept="agreed", again="the first had a fault")


def test_importing_it_loads_no_numbers() -> None:
    code = "import sys, tabprotect; print(sorted({'numpy', 'duckdb', 'narwhals'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("source", "method", "settings"),
    [
        ("example:duncan-roehrig-4x4", "cyclic_perturbation", {"alpha": 0.25}),
        ("example:duncan-roehrig-4x4", "random_rounding", {"base": 5, "margins": "v:w - 1"}),
    ],
)
def test_the_same_seed_gives_the_command_lines_bytes(
    tmp_path: Path, source: str, method: str, settings: dict[str, object]
) -> None:
    protection = tp.protect(tp.read_table(source), method, seed=7, **settings)
    protection.publish(tmp_path / "library.zip", dossier=tmp_path / "CONFIDENTIAL-dossier.zip")
    given = [part for n, v in settings.items() for part in ("--set", f"{n}={v}")]
    out = tmp_path / "shell.zip"
    command = ["protect", source, "--method", method, *given, "--seed", "7", "--out", str(out)]
    assert main(command) == 0
    assert (tmp_path / "library.zip").read_bytes() == out.read_bytes()
    assert (tmp_path / "CONFIDENTIAL-dossier.zip").exists()
    assert tp.open_release(out).mechanism.method == method
    assert tp.verify(str(out)).release == protection.release


def test_belief_is_what_the_command_line_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tp.read_table("example:duncan-roehrig-4x4")
    tp.protect(table, alpha=0.25, seed=7).publish(tmp_path / "r.zip")
    assert main(["infer", str(tmp_path / "r.zip"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    belief = tp.infer(tmp_path / "r.zip", prior="uniform")
    for cell in printed["cells"]:
        found = belief.distribution(**dict(zip(("v", "w"), cell["labels"], strict=True)))
        assert {str(k): p for k, p in found.items()} == cell["distribution"]
    assert belief.distribution(V="v1", W="w2") == belief.distribution(v="v1", w="w2")
    with pytest.raises(tp.InputError, match="no category is given for w"):
        belief.distribution(v="v1")
    with pytest.raises(tp.InputError, match="no variable"):
        belief.distribution(v="v1", w="w2", x="x1")
    draws = belief.sample(500, seed=1)
    assert draws.shape == (500, 4, 4)
    both = tp.infer([tmp_path / "r.zip", tp.protect(table, fresh=True, alpha=0.25)])
    assert (belief.releases, both.releases) == (1, 2)
    assert (draws.sum(axis=2) == table.counts.sum(axis=1)).all()


def _duck() -> Any:
    frame = pd.DataFrame(ROWS)  # noqa: F841  (read by its name)
    return duckdb.sql("select * from frame")


@pytest.mark.parametrize(
    ("frame", "back"),
    [
        (pd.DataFrame(ROWS), pd.DataFrame),
        (pl.DataFrame(ROWS), pl.DataFrame),
        (pl.LazyFrame(ROWS), pl.DataFrame),
        (pa.table(ROWS), pa.Table),
        (None, duckdb.DuckDBPyRelation),
    ],
    ids=["pandas", "polars", "polars lazy", "arrow", "duckdb"],
)
def test_frames_come_back_as_they_went_in(frame: Any, back: type) -> None:
    table = tp.Table.from_frame(_duck() if frame is None else frame, count="count")
    assert table.counts.tolist() == [[4, 2], [1, 7]]
    assert table.domain["region"].categories == ("north", "south")
    out = table.to_frame()
    assert isinstance(out, back)
    assert tp.Table.from_frame(out, count="count") == table
    protection = tp.protect(table, "random_rounding", base=3, seed=1)
    assert isinstance(protection.to_frame(), back)
    assert isinstance(tp.infer(protection).to_frame(), back)


def test_frames_and_files_make_the_same_table(tmp_path: Path) -> None:
    pd.DataFrame(ROWS).to_csv(tmp_path / "t.csv", index=False)
    assert tp.read_table(tmp_path / "t.csv") == tp.Table.from_frame(pd.DataFrame(ROWS))


def test_the_order_of_an_ordered_type_is_kept() -> None:
    sex = pd.Categorical(ROWS["sex"], categories=["m", "f", "x"])
    table = tp.Table.from_frame(pd.DataFrame(ROWS | {"sex": sex}))
    assert table.domain["sex"].categories == ("m", "f")
    assert table.counts.tolist() == [[2, 4], [7, 1]]


@pytest.mark.parametrize(
    ("column", "values", "says"),
    [
        ("count", [4, 2, 1, 7.5], "row 4: the count is no whole number"),
        ("count", [4, None, 1, 7], "row 2: the count is no whole number"),
        ("count", ["4", "2", "x", "7"], "row 1: the count is no whole number"),
        ("sex", ["f", "m", None, "m"], "row 3 has no sex"),
        ("region", ["n", "n", "n", "n"], "occurs twice"),
    ],
)
def test_faulty_frames_are_refused(column: str, values: list[object], says: str) -> None:
    with pytest.raises(tp.InputError, match=says):
        tp.Table.from_frame(pd.DataFrame(ROWS | {column: values}))


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(tp.InputError, match="no data frame"):
        tp.Table.from_frame([1, 2, 3])
    with pytest.raises(tp.InputError, match="no column 'n'"):
        tp.Table.from_frame(pd.DataFrame(ROWS), count="n")


def test_records_are_counted_like_a_file(tmp_path: Path) -> None:
    people = pd.DataFrame({"a": ["x", "y", "x", "x"], "b": ["p", "q", "q", "p"], "w": [1, 2, 3, 4]})
    people.to_csv(tmp_path / "people.csv", index=False)
    for weight in (None, "w"):
        by_file = tp.tabulate(tmp_path / "people.csv", by=["a", "b"], weight=weight)
        by_frame = tp.tabulate(people, by=["a", "b"], weight=weight)
        assert by_file == by_frame
    assert by_frame.counts.tolist() == [[5, 3], [0, 2]]


def test_suppressed_cells_have_no_count_in_a_frame() -> None:
    table = tp.read_table("example:langsrud-lupp")
    protection = tp.protect(table, "suppression", level=1, seed=1)
    hidden = protection.release.inner.suppressed
    shown = protection.to_frame("pyarrow")["count"].to_pylist()
    assert [value is None for value in shown] == hidden.reshape(-1).tolist()


def test_a_comparison_as_a_frame() -> None:
    table = tp.Table.from_frame(pl.DataFrame(ROWS))
    found = tp.compare(
        table,
        ["random_rounding base=3", "cell_key D=2 V=1"],
        runs=3,
        seed=1,
        measures=["mean_absolute_deviation", "unchanged_small"],
    )
    every, means = found.to_frame(), found.to_frame(runs=False)
    assert every.shape[0] == 6
    assert means["configuration"].to_list() == list(found.configurations)
    assert [bool(why) for why in means["error"]] == [False, True]
    first = every.filter(pl.col("configuration") == found.configurations[0])
    assert first["mean_absolute_deviation"].mean() == pytest.approx(means["mean_absolute_deviation"][0])


def test_distributions_add_up_in_a_frame() -> None:
    belief = tp.infer(tp.protect(tp.Table.from_frame(pl.DataFrame(ROWS)), cycles="strips", seed=3))
    rows = belief.to_frame(distributions=True)
    frame = rows if isinstance(rows, pl.DataFrame) else pl.from_arrow(rows)
    sums = frame.group_by("region", "sex").agg(pl.col("probability").sum())["probability"]
    assert np.allclose(sums.to_numpy(), 1.0)


def test_a_query_space_is_released_step_by_step() -> None:
    space = tp.QuerySpace(tp.read_table("example:czech-autoworkers"), threshold=3)
    assert space.frontier().released == ((),)
    out = space.release("A,B", ["C", "D"])
    assert set(out.frontier().released) == {("A", "B"), ("C", "D")}
    assert out.frontier().releasable
    assert out.allowed("A")
    assert space.frontier().released == ((),)


def test_errors_are_the_program_s() -> None:
    with pytest.raises(tp.ParameterError, match="alpha"):
        tp.protect(tp.read_table("example:duncan-roehrig-4x4"), alpha=2.0)
    with pytest.raises(tp.InputError, match="there is no example"):
        tp.read_table("example:nothing")
    with pytest.raises(tp.TabprotectError):
        tp.describe("nothing")
    assert "cycles of +1" in tp.describe("cyclic_perturbation")


def test_a_table_never_prints_its_counts() -> None:
    table = tp.Table.from_frame(pd.DataFrame(ROWS | {"count": [4111, 2222, 1333, 7444]}))
    protection = tp.protect(table, "random_rounding", base=3, seed=424242)
    for text in (repr(table), repr(protection), repr(tp.infer(protection))):
        for secret in ("4111", "2222", "1333", "7444", "424242"):
            assert secret not in text


def test_a_set_and_levels_give_the_command_lines_bytes(tmp_path: Path) -> None:
    records = tmp_path / "people.csv"
    key = random.Random(1).random
    rows = [f"{n[0]},{n},{s},{a},{key():.9f}" for n in ("a1", "a2", "b1") for s in "fm" for a in range(30)]
    records.write_text("n1,n2,sex,age,k\n" + "\n".join(rows) + "\n")
    table = tp.tabulate(
        records,
        by=["geo", "sex", "age"],
        levels={"geo": ["n1", "n2"]},
        bands={"age": [5, 15]},
        record_key="k",
    )
    assert [[level.name for level in v.levels] for v in table.domain.variables] == [
        ["n1", "n2"], ["sex"], ["band15", "band5"],
    ]  # fmt: skip
    assert table.margin("geo@n1", "age@band15").counts.tolist() == [[60, 60], [30, 30]]
    formulas = {"places": "geo*sex", "ages": "geo@n1*age@band15"}
    found = tp.protect_set(table, formulas, "cell_key", D=3, V=2, accept="a trial")
    found.publish_set(tmp_path / "ours", tables=formulas)
    line = ["protect-set", str(records), "--levels", "n1,n2=geo", "--band", "age:5", "--band", "age:15",
            "--table", "places=geo*sex", "--table", "ages=geo@n1*age@band15", "--record-key", "k", "--method", "cell_key", "--set", "D=3", "--set", "V=2", "--accept", "a trial", "--out", str(tmp_path / "theirs")]  # fmt: skip
    assert main(line) == 0
    ours, theirs = (
        {p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("ours", "theirs")
    )
    assert ours == theirs and set(ours) == {"places.zip", "ages.zip", "set.json", "manifest.json"}


def test_a_set_with_a_small_kept_sum_takes_a_decision(tmp_path: Path) -> None:
    cells = [(a, b, c) for a in range(4) for b in range(4) for c in range(3)]
    counts = [int(c == 0) if (a, b) == (0, 0) else 3 + (a + b + c) % 4 for a, b, c in cells]
    rows = (f"a{a},b{b},c{c},{n}" for (a, b, c), n in zip(cells, counts, strict=True))
    source, out = tmp_path / "t.csv", tmp_path / "out"
    source.write_text("\n".join(["a,b,c,count", *rows]))
    tables = {"one": "a*b", "two": "b*c"}
    whole = tp.read_table(source)
    with pytest.raises(tp.RefusedError, match="1 of 1 small counts"):
        tp.protect_set(whole, tables, "cyclic_perturbation", seed=1)
    found = tp.protect_set(whole, tables, "cyclic_perturbation", kept_small="keep", seed=1)
    found.publish_set(out, tables=tables)
    assert out.exists()


def test_what_a_format_leaves_out_is_a_warning_before_anything_is_written(tmp_path: Path) -> None:
    source, out = tmp_path / "t.csv", tmp_path / "out.csv"
    source.write_text("a,b,count\nx,u,9\nx,v,7\ny,u,8\ny,v,..\n")
    table = tp.read_table(source, marks="..=structural")
    with pytest.warns(UserWarning, match="structural zeros are written as zeros") as told:
        tp.convert(table, out)
    assert len(told) == 1 and Path(told[0].filename) == Path(__file__) and out.exists()
    release = tp.protect(table, "discrete_laplace", seed=7, accept="a test").release
    assert len(release.tables) > 1
    with pytest.warns(UserWarning, match="structural zeros are written as zeros") as told:
        tp.export(release, tmp_path / "public.csv")
    assert len({str(warning.message) for warning in told}) == len(told)
    # Warnings are errors here: nothing is written then, and nothing is said where nothing is lost.
    with pytest.raises(UserWarning, match="structural"):
        tp.export(release, tmp_path / "none.csv")
    assert not list(tmp_path.glob("none*"))
    tp.convert(table, tmp_path / "whole.parquet")
    tp.export(release, tmp_path / "public.parquet")


def firms() -> tp.MagnitudeTable:
    rows = [("24", "n", "a", 660), ("24", "n", "b", 8), ("24", "s", "c", 49), ("24", "s", "d", 48)]
    rows += [("25", "n", "f", 100), ("25", "n", "g", 90), ("25", "s", "j", 70), ("25", "s", "k", 60)]
    names = ("nace", "region", "ent", "turnover")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return tp.tabulate(columns, by=["nace", "region"], measure="turnover", holding="ent")


def test_magnitudes_are_protected_and_published_as_counts_are(tmp_path: Path) -> None:
    """Two people answer for them where the policy says so; title, rules and page as asked for."""
    table = firms()
    policy = AgencyPolicy(two_signatures=True)
    cheapest = {"rule": "p=10", "choice": "cheapest"}
    found = tp.protect(table, "suppression", policy=policy, title="Turnover", accept="looked at", **cheapest)
    assert repr(found) == "Protection(suppression, 2 x 2)" and found.figures["primary"]
    shown = found.to_frame("dict")
    assert set(shown) == {"nace", "region", "value", "status"} and "hidden" in shown["status"]
    keys = [tmp_path / name for name in ("first.key", "second.key")]
    for key in keys:
        new_key(key)
    out, dossier = tmp_path / "r.zip", tmp_path / "d.zip"
    signed = {"sign": keys[0], "sign_too": keys[1], "no_page": True}
    for names in ({}, {"prepared_by": "Karin", "approved_by": "karin"}):
        with pytest.raises(tp.RefusedError, match="two people answer"):
            found.publish(out, dossier=dossier, **signed, **names)
    found.publish(out, dossier=dossier, **signed, prepared_by="Karin", approved_by="Emil")
    assert main(["verify", str(out)]) == 7 and dossier.exists()
    with pytest.raises(tp.InputError, match="a file of that name"):
        found.publish(out, **signed, prepared_by="Karin", approved_by="Emil")
    with pytest.raises(tp.RefusedError):
        tp.protect(table, rule=["p=10", "n=3"], choice="cheapest").publish(
            tmp_path / "no.zip", again="every year"
        )
    assert not (tmp_path / "no.zip").exists()


@pytest.mark.parametrize(
    "given", [{"fresh": True}, {"tune": True}, {"at_risk": "1..5"}, {"cycles": "strips"}, {"alpha": 0.2}]
)
def test_what_magnitudes_do_not_take_is_named(given: dict[str, Any]) -> None:
    with pytest.raises(tp.ParameterError, match=next(iter(given))):
        tp.protect(firms(), rule="p=10", **given)
    counts = tp.Table.from_magnitudes(firms())
    for other in ({"rule": "p=10"}, {"weights": "known"}, {"like": "l.zip"}, {"publish": "n"}):
        with pytest.raises(tp.ParameterError, match=next(iter(other))):
            tp.protect(counts, **other)


def test_a_part_that_is_not_compiled_is_missed_by_name_before_anything_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tabprotect.version.KERNELS", ("engine/posterior/cell_texts", "engine/none"))
    monkeypatch.delitem(vars(tp), "infer", raising=False)
    with pytest.raises(tp.TabprotectError, match=r"not here: engine/none$") as caught:
        _ = tp.infer
    assert "install a wheel" in caught.value.hint


def test_every_class_and_every_act_of_one_has_an_example() -> None:
    classes = [one for one in [getattr(tp, name) for name in tp.__all__] if inspect.isclass(one)]
    shown = [one for one in classes if not issubclass(one, Exception)]
    acts = [
        act
        for one in shown
        for name, member in vars(one).items()
        if not name.startswith("_") and inspect.isroutine(act := getattr(member, "__func__", member))
    ]
    told = {one.__qualname__: inspect.getdoc(one) or "" for one in (*shown, *acts)}
    assert [name for name, text in told.items() if "Examples\n--------\n>>> " not in text] == []
    assert [one.__name__ for one in shown if "See Also\n--------\n" not in told[one.__name__]] == []
    assert len(acts) > 25


@pytest.mark.parametrize("name", [name for name in tp.__all__ if inspect.isfunction(getattr(tp, name))])
def test_every_function_has_an_example_and_says_what_is_near(name: str) -> None:
    """Its options have types in the signature; what it names beside itself is there."""
    function = getattr(tp, name)
    told = inspect.getdoc(function) or ""
    assert "Examples\n--------\n>>> " in told
    near = told.partition("See Also\n--------\n")[2].partition("\n")[0].split(", ")
    for other in near:
        found: Any = tp
        for part in other.split("."):
            found = getattr(found, part)
    every = inspect.signature(function).parameters.values()
    assert all(one.annotation is not one.empty for one in every if one.kind is not one.VAR_KEYWORD)
