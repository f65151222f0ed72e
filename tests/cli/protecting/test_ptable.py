"""``ptable`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.protection.cell_keys import perturbation_files as files
from tests.cli.conftest import Command

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "cell_key.json").read_text())


@pytest.mark.parametrize("name", sorted(REFERENCE["tables"]))
def test_json(run: Command, name: str) -> None:
    case = REFERENCE["tables"][name]
    options = [word for key, value in case["params"].items() for word in (f"--{key}", value)]
    found = run("ptable", *options, "--json").json
    assert found["j"] == case["j"]
    assert found["i"] == list(range(len(case["matrix"])))
    assert np.abs(np.array(found["matrix"]) - np.array(case["matrix"])).max() < 1e-9
    assert np.allclose(found["mean"], 0, atol=1e-12)


def test_unreached_rows_are_said(run: Command) -> None:
    outcome = run("ptable", "--D", 8, "--V", 3, "--json")
    assert [row["row"] for row in outcome.json["unreached"]] == [1]
    assert "not reached: count 1: variance 1.402" in outcome.err


def test_formats(run: Command, tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.json"
    assert run("ptable", "--D", 5, "--V", 3, "--js", 2, "--out", first).code == 0
    assert run("ptable", "--read", first, "--out", second, "--format", "json").code == 0
    a, b = files.read(first), files.read(second)
    assert np.array_equal(a.upper, b.upper) and np.array_equal(a.noise, b.noise)
    outcome = run("ptable", "--read", first, "--out", tmp_path / "o.csv", "--format", "ons")
    assert "256 cell keys round the probabilities" in outcome.err
    assert files.read(tmp_path / "o.csv").period == 250


def test_faults(run: Command, tmp_path: Path) -> None:
    assert run("ptable", "--D", 5).code == 2
    assert run("ptable", "--D", 5, "--V", 1, "--js", 2).code == 5
    outcome = run("ptable", "--D", 0, "--V", -1, "--json")
    assert outcome.code == 4 and set(outcome.json["error"]["fields"]) == {"D", "V"}
    same = tmp_path / "t.txt"
    run("ptable", "--D", 5, "--V", 3, "--out", same)
    assert run("ptable", "--read", same, "--out", same).code == 2


def test_from_records_to_a_release_with_their_keys(run: Command, tmp_path: Path) -> None:
    records, keyed = tmp_path / "records.csv", tmp_path / "keyed.csv"
    generator = np.random.default_rng(1)
    cells = generator.integers(0, 4, (300, 2))
    records.write_text("a,b\n" + "".join(f"a{x},b{y}\n" for x, y in cells.tolist()))
    assert run("record-keys", records, "--out", keyed, "--json").json["records"] == 300
    assert run("record-keys", records, "--out", records).code == 2
    project = tmp_path / "table.tabprotect"
    words = ("tabulate", keyed, "--by", "a,b", "--record-key", "record_key", "--out")
    assert run(*words, tmp_path / "table.csv").code == 2
    assert run(*words, project, "--json").json["record_keys"] is True
    outs = [tmp_path / "one.zip", tmp_path / "two.zip"]
    for out in outs:
        words = ("protect", project, "--method", "cell_key", "--set", "keys=records", "--out", out)
        outcome = run(*words, "--accept", "keys of records", "--json")
        assert outcome.code == 0, outcome.err
        assert outcome.json["findings"]["keys"] == "stored with the table"
    # The same records, the same noise: no seed, and yet the same bytes.
    assert outs[0].read_bytes() == outs[1].read_bytes()
    posterior = run("infer", outs[0], "--json")
    assert posterior.code == 0
    outcome = run("protect", records, "--method", "cell_key", "--out", outs[0])
    assert outcome.code != 0


def test_record_keys_drawn_at_tabulation(run: Command, tmp_path: Path) -> None:
    records = tmp_path / "records.csv"
    cells = np.random.default_rng(1).integers(0, 4, (300, 2))
    records.write_text("a,b,k\n" + "".join(f"a{x},b{y},0.{x}{y}\n" for x, y in cells.tolist()))
    words = ("tabulate", records, "--by", "a,b", "--draw-record-keys", "--out")
    projects = [tmp_path / "one.tabprotect", tmp_path / "two.tabprotect"]
    assert run(*words, tmp_path / "table.csv").code == 2
    assert run(*words, projects[0], "--record-key", "k").code == 2
    assert run(*words, projects[0], "--weight", "k").code == 4
    assert list(tmp_path.iterdir()) == [records]
    made = run(*words, projects[0], "--json").json
    assert made["record_keys"] is True and made["record_keys_drawn"] is True
    outcome = run(*words, projects[1])
    assert outcome.code == 0
    assert "other tabulations of the same file will not agree" in outcome.out
    outs = [tmp_path / f"{n}.zip" for n in range(3)]
    for project, out in zip([projects[0], projects[0], projects[1]], outs, strict=True):
        words = ("protect", project, "--method", "cell_key", "--set", "keys=records", "--out", out)
        assert run(*words, "--accept", "a trial").code == 0
    # One set of keys, one noise; the other tabulation has other keys.
    assert outs[0].read_bytes() == outs[1].read_bytes() != outs[2].read_bytes()


def test_from_records_with_weights_to_estimates(run: Command, tmp_path: Path) -> None:
    records, project = tmp_path / "records.csv", tmp_path / "table.tabprotect"
    generator = np.random.default_rng(2)
    cells, weights = generator.integers(0, 3, (300, 2)), generator.integers(4, 37, 300) / 4
    rows = zip(cells.tolist(), weights.tolist(), strict=True)
    records.write_text("a,b,w\n" + "".join(f"a{x},b{y},{w}\n" for (x, y), w in rows))
    words = ("tabulate", records, "--by", "a,b", "--design-weight", "w", "--out")
    assert run(*words, tmp_path / "table.csv").code == 2
    assert run(*words, project, "--weight", "w").code == 3
    found = run(*words, project, "--json").json
    assert found["design_weights"] is True and found["total"] == 300
    out, dossier = tmp_path / "r.zip", tmp_path / "CONFIDENTIAL-d.zip"
    words = ("protect", project, "--method", "cell_key", "--out", out, "--dossier", dossier)
    words += ("--accept", "estimates", "--json", "--set", "weighted=yes", "--set")
    assert run(*words, "weight_low=1").json["error"]["fields"] == {"weight_high": "must be stated"}
    words += ("weight_low=1", "--set")
    assert run(*words, "weight_high=8").json["error"]["fields"] == {
        "weight_high": "a record has a larger weight"
    }
    outcome = run(*words, "weight_high=9")
    assert outcome.code == 0, outcome.err
    assert outcome.json["mean_absolute_deviation"] > 1
    # What the joint posterior of all tables says depends on the draw, which is the house key's.
    whole = not outcome.json["verdict"]["left_out"]
    assert run("verify", out).code == (0 if whole else 7)
    posterior = run("infer", out, "--json")
    assert posterior.code == 0 and "counts of records" in posterior.out
    measures = "hellinger_published,mean_absolute_deviation,tcap,posterior_true,exact_disclosure"
    runs = "cell_key weighted=yes weight_low=1 weight_high=9"
    compared = run("compare", project, "--run", runs, "--measures", measures, "--json").json
    figures = compared["runs"][0]["measures"]
    assert figures["hellinger_published"] > 0.98 and figures["mean_absolute_deviation"] < 30
    assert figures["tcap"] is None and figures["exact_disclosure"] is None
