"""Tables that others judged: largest contributions only, given statuses, zeros, unknown categories."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from magnitude_cases import drawn, suppressed, table_of

from tabprotect.cli.main import main
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.magnitudes.files.table_files import read_magnitudes, write_magnitudes
from tabprotect.engine.magnitudes.files.top_tables import names_largest, read_top_table
from tabprotect.engine.magnitudes.files.top_writing import top_table_files
from tabprotect.engine.magnitudes.patterns import pattern
from tabprotect.engine.magnitudes.readers.attack_problem import AttackProblem
from tabprotect.engine.magnitudes.readers.beliefs import hidden_ranges
from tabprotect.engine.magnitudes.tables.sensitive_cells import cell_rows, sensitive_cells
from tabprotect.engine.magnitudes.tables.tabulating import MeasuredColumns, tabulate_magnitudes
from tabprotect.engine.protection.suppressing import sums
from tabprotect.engine.protection.suppressing.given_statuses import given_sums, given_text
from tabprotect.engine.sensitivity.magnitude_rules import rules_of

P10 = rules_of(["p=10"])

REAL = """"Total";"Total";42,00;9;27,00;5,00;S;0,01;0,01
"Total";"Nr";22,00;6;17,00;5,00;S;0,01;0,01
"Total";"1";22,00;6;17,00;5,00;S;0,01;0,01
"Total";"Os";20,00;3;10,00;6,00;S;0,01;0,01
"Total";"3";8,00;2;7,00;1,00;S;0,01;0,01
"Total";"4";12,00;1;12,00;0,00;U;0,75;1,20
"a";"Total";42,00;9;27,00;5,00;P;0,01;0,01
"a";"1";22,00;6;17,00;5,00;S;0,01;0,01
"a";"3";8,00;2;7,00;1,00;S;0,01;0,01
"a";"4";12,00;1;12,00;0,00;U;0,75;1,20
"""
META = """<SEPARATOR> ";"
Size "99"
    <RECODEABLE>
    <TOTCODE> "Total"
Region "99"
    <RECODEABLE>
    <TOTCODE> "Total"
    <HIERARCHICAL>
    <HIERCODELIST> "r.hrc"
    <HIERLEADSTRING> "@"
Var2
    <NUMERIC>
    <DECIMALS> 2
FreqVar
    <FREQUENCY>
Top1
    <MAXSCORE>
Top2
    <MAXSCORE>
StatusVar
    <STATUS>
Low
    <NUMERIC> <LOWERPL>
Up
    <NUMERIC> <UPPERPL>
"""


def test_a_table_as_tau_argus_writes_it(tmp_path: Path) -> None:
    (tmp_path / "t.tab").write_text(REAL)
    (tmp_path / "t.rda").write_text(META)
    (tmp_path / "r.hrc").write_text("Nr\n@1\nOs\n@3\n@4\n")
    table, notes = read_top_table(tmp_path / "t.tab")
    assert (table.measure, table.decimals, notes) == ("Var2", 0, [])
    cell = table.number({"Size": "a", "Region": "4"})
    assert table.largest is not None and table.largest.top[cell].tolist() == [12, 0]
    given = given_sums(table.given, table)
    assert given.sensitive[cell] and given.above[cell] == 2
    assert given.published[table.number({"Size": "a"})]
    # The total of the region is not listed by size: as if the largest of its parts were one.
    whole = table.number({"Size": "a", "Region@Region_1": "Os"})
    assert table.largest.top[whole].tolist() == [19, 1]
    (tmp_path / "t.tab").write_text(REAL.replace('"a";"3";8,00', '"a";"3";80,00'))
    with pytest.raises(InputError, match="line 1"):
        read_top_table(tmp_path / "t.tab")
    for wrong in ("x", "nan", "-inf", "1e999999"):
        (tmp_path / "t.tab").write_text(REAL.replace('"a";"3";8,00', f'"a";"3";{wrong}'))
        with pytest.raises(InputError, match="line 9"):
            read_top_table(tmp_path / "t.tab")


def written(folder: Path, seed: int = 3):
    """A table of records, and the same as tau-ARGUS has it."""
    table = table_of(drawn(seed), (4, 4))
    found = sensitive_cells(table, P10)
    for name, data in top_table_files(table, "t", found).items():
        (folder / name).write_bytes(data)
    again, notes = read_top_table(folder / "t.tab")
    assert not notes
    write_magnitudes(again, folder / "t.parquet")
    return table, read_magnitudes(folder / "t.parquet")


def test_contributions_of_a_shadow_variable_are_no_sums(tmp_path: Path) -> None:
    """Written with the variable that they are of; read only where that is the sum."""
    (tmp_path / "f.csv").write_text("a,x,s\nu,10,1\nu,20,9\nv,7,7\nv,5,2\n")
    columns = MeasuredColumns(measure="x", shadow="s")
    table = tabulate_magnitudes(tmp_path / "f.csv", ["a"], columns)
    for name, data in top_table_files(table, "t").items():
        (tmp_path / name).write_bytes(data)
    lines = (tmp_path / "t.tab").read_text().splitlines()
    assert '"u",30,2,10,9,1,0' in [line.replace(";", ",") for line in lines]
    with pytest.raises(InputError, match="shadow variable"):
        read_top_table(tmp_path / "t.tab")
    (tmp_path / "f.csv").write_text("a,x,s\nu,10,10\nu,20,20\nv,7,7\nv,5,5\n")
    same = tabulate_magnitudes(tmp_path / "f.csv", ["a"], columns)
    for name, data in top_table_files(same, "t").items():
        (tmp_path / name).write_bytes(data)
    again, notes = read_top_table(tmp_path / "t.tab")
    assert not notes and again.cells.value.tolist() == same.cells.value.tolist()


def test_what_is_written_is_read_and_judged_alike(tmp_path: Path) -> None:
    table, again = written(tmp_path)
    rows = [list(cell_rows(one, P10, sensitive_cells(one, P10))) for one in (table, again)]
    keep = ("index", "value", "holdings", "unsafe", "upper_level")
    assert [[row[k] for k in keep] for row in rows[0]] == [[row[k] for k in keep] for row in rows[1]]
    found = sensitive_cells(table, P10)
    given = given_sums(given_text(table, found.unsafe, found.upper), table)
    assert np.array_equal(given.sensitive, found.unsafe)
    assert np.array_equal(given.above[found.unsafe], found.upper[found.unsafe])
    assert np.array_equal(given_sums(again.given, again).sensitive, found.unsafe)
    with pytest.raises(ParameterError, match="names 3"):
        sensitive_cells(again, rules_of(["dominance=4,90"]))


def test_unions_of_largest_contributions_are_never_judged_safer(tmp_path: Path) -> None:
    """Whoever the largest are: the level of a union is at least that by the true contributors."""
    less = 0
    for seed in range(3):
        table, again = written(tmp_path, seed)
        true, stated = AttackProblem(table, P10), AttackProblem(again, P10)
        generator = np.random.default_rng(seed)
        inner = np.flatnonzero((table.cells.nodes < 4).all(axis=0))
        groups = [generator.choice(inner, 2, replace=False) for _ in range(150)]
        start, cells = np.arange(0, 300, 2), np.concatenate(groups)
        levels = true.levels(start, cells), stated.levels(start, cells)
        assert np.all(levels[1] >= levels[0])
        less += int((levels[1] > levels[0]).sum())
    assert less > 0


def test_what_is_not_proved_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sums, "MOST_HIDDEN", 0)
    monkeypatch.setattr(pattern, "MOST_CELLS", 0)
    written(tmp_path)
    words = ["protect", str(tmp_path / "t.parquet"), "--rule", "p=10", "--no-page", "--json"]
    assert main([*words, "--out", str(tmp_path / "o.zip"), "--accept", "looked at"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert "not proved" in said["not_proved"][0] and said["primary"] > 0
    assert "contributors" in said["verdict"]["left_out"] and said["verdict"]["passed"] is None
    noise = [*words, "--method", "multiplicative_noise", "--out", str(tmp_path / "n.zip")]
    assert main(noise) == 3


def test_commands_convert_and_tabulate_both_ways(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(sums, "MOST_HIDDEN", 0)
    table = table_of(drawn(3), (4, 4))
    path = tmp_path / "T.parquet"
    write_magnitudes(table, path)
    for name in ("u.tab", "u.hst", "u.csv", "u.px"):
        rule = [] if name == "u.px" else ["--rule", "p=10"]
        assert main(["convert", str(path), *rule, "--out", str(tmp_path / name)]) == 0
    assert ",M," in (tmp_path / "u.csv").read_text()
    words = ["tabulate", str(tmp_path / "u.tab"), "--measure", "turnover"]
    assert main([*words, "--out", str(tmp_path / "U.parquet")]) == 0
    given = ["protect", str(path), "--rule", "n=2", "--set", f"statuses={tmp_path / 'u.hst'}"]
    capsys.readouterr()
    more = ["--out", str(tmp_path / "o.zip"), "--accept", "x", "--no-page", "--json"]
    assert main([*given, *more]) == 0
    primary = json.loads(capsys.readouterr().out)["primary"]
    unsafe = sensitive_cells(table, (*P10, *rules_of(["n=2"]))).unsafe
    assert primary == int(unsafe.sum())
    assert main(["convert", str(path), "--out", str(tmp_path / "v.hst")]) == 3


def test_zeros_that_are_sensitive_are_hidden_and_uncertain() -> None:
    rows = {(i, j, f"u{i}{j}{k}"): 100 for i in range(3) for j in range(3) for k in range(4)}
    for k in range(4):
        rows[0, 0, f"u00{k}"] = 0
    table = table_of(rows, (3, 3))
    plain = suppressed(table, P10)
    assert not plain.release.magnitude_table.hidden.any()
    done = suppressed(table, P10, zeros="30")
    zero = table.number({"r": "0", "c": "0"})
    assert done.record.findings["primary"] == 1 and done.record.findings["broken"] == 0
    assert done.release.magnitude_table.hidden[zero]
    ranges = hidden_ranges(done.release.magnitude_table)
    assert ranges[np.flatnonzero(done.release.magnitude_table.hidden).tolist().index(zero), 1] >= 30
    # Without a range the same is published: nobody has anything.
    known = replace(table, given='"0";"0";z\n')
    assert not suppressed(known, P10, zeros="30").release.magnitude_table.hidden.any()


def test_unknown_categories_are_declared_safe_and_never_silently() -> None:
    rows = {(i, j, f"u{i}{j}{k}"): 100 for i in range(3) for j in range(3) for k in range(4)}
    for k in range(1, 4):
        del rows[2, 1, f"u21{k}"]
    table = table_of(rows, (3, 3))
    missing = replace(table.variables[0], categories=("0", "1", "(missing)"))
    table = replace(table, variables=(missing, table.variables[1]))
    judged = suppressed(table, P10, choice="cheapest")
    assert judged.record.findings["primary"] == 1 and judged.release.magnitude_table.hidden.any()
    safe = suppressed(table, P10, missing="safe", choice="cheapest")
    assert not safe.release.magnitude_table.hidden.any() and safe.record.findings["declared_safe"] == 1
    assert safe.verdict.passed is None and "contributors" in safe.verdict.left_out


def test_a_table_of_sums_with_statuses_alone_opens(tmp_path: Path) -> None:
    """The usual file of tau-ARGUS' users: statuses and protection levels, and no largest contributions."""
    (tmp_path / "t.tab").write_text(
        '"A";"X";40;5;S;0;0\n"A";"Y";70.5;4;U;7;9\n"A";"Total";110.5;9;S;0;0\n'
        '"B";"X";25;5;S;0;0\n"B";"Y";33;6;P;0;0\n"B";"Total";58;11;S;0;0\n'
        '"Total";"X";65;10;S;0;0\n"Total";"Y";103.5;10;S;0;0\n"Total";"Total";168.5;20;S;0;0\n'
    )
    of = "  <RECODABLE>\n  <TOTCODE> Total\n"
    rda = (
        f"<SEPARATOR> ;\n<SAFE> S\n<UNSAFE> U\n<PROTECT> P\nv\n{of}w\n{of}val\n  <NUMERIC>\n  <DECIMALS> 1\n"
    )
    (tmp_path / "t.rda").write_text(
        f"{rda}f\n  <FREQUENCY>\nst\n  <STATUS>\nlo\n  <LOWERPL>\nup\n  <UPPERPL>\n"
    )
    table, notes = read_top_table(tmp_path / "t.tab", "val")
    assert names_largest(tmp_path / "t.tab") and notes == []
    assert table.given == '"A";"Y";pl;7;9\n"B";"Y";p\n'
    assert sorted(table.cells.value.tolist())[-1] == 1685 and table.decimals == 1
    # Hidden by the statuses alone, with the protection level that they state: no rule is needed.
    wanted = pattern.SuppressionRequest(rules=(), decided=given_sums(table.given, table))
    hidden = pattern.suppress(table, wanted).hidden
    unsafe, kept = (table.number({"v": v, "w": "Y"}) for v in "AB")
    assert hidden[unsafe] and not hidden[kept] and hidden.sum() == 4
