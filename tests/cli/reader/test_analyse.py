"""What a reader computes from a release: sums, analyses over draws, the draws themselves."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tabprotect as tp

Run = Callable[..., Any]

HALF = "half:v=v1>a,v2>a,v3>b,v4>b"


@pytest.fixture
def release(tmp_path: Path) -> Path:
    path = tmp_path / "r.zip"
    table = tp.read_table("example:duncan-roehrig-4x4")
    tp.protect(table, seed=7).publish(path)
    return path


def test_sums_of_a_release(run: Run, release: Path, tmp_path: Path) -> None:
    told = run("infer", release, "--of", "half*w", "--groupings", HALF, "--json").json
    assert [t["variables"] for t in told["tables"]] == [[], ["half"], ["w"], ["half", "w"]]
    assert told["tables"][0]["cells"][0]["distribution"] == {"135": 1.0}
    half = told["tables"][3]
    assert half["way"] == "exact" and [c["codes"] for c in half["cells"]][:2] == [["a", "w1"], ["a", "w2"]]
    belief = tp.infer(release, of="half*w", groupings=HALF)
    for cell in half["cells"]:
        law = {int(k): p for k, p in cell["distribution"].items()}
        assert sum(law.values()) == pytest.approx(1)
        assert cell["expected"] == pytest.approx(sum(k * p for k, p in law.items()))
        assert belief.distribution(half=cell["codes"][0], w=cell["codes"][1]) == pytest.approx(law)
    assert "half, w (worked out exactly)" in run("infer", release, "--of", "half:w", "--groupings", HALF).out
    assert "no variable" in run("infer", release, "--of", "half:w").err
    with pytest.raises(tp.InputError, match="several tables"):
        belief.to_frame()


def test_groupings_that_a_release_states_are_known(run: Run, tmp_path: Path) -> None:
    path, groups = tmp_path / "t.csv", "reg:geo=g0>a,g1>a,g2>b,g3>b"
    rows = [f"g{i},{a},{3 + (5 * i + 3 * k) % 7}" for i in range(4) for k, a in enumerate("abc")]
    path.write_text("\n".join(["geo,age,count", *rows]) + "\n")
    made = ("--keep", "geo + reg*age", "--groupings", groups, "--set", "blocking=negative")
    bundle = tmp_path / "r.zip"
    run("protect", path, "--method", "cyclic_perturbation", *made, "--out", bundle, "--accept-weak")
    tables = run("infer", bundle, "--of", "reg:age + geo:age - 1", "--json").json["tables"]
    # What is kept is known; what is not has more than one possible count.
    assert all(len(cell["distribution"]) == 1 for cell in tables[0]["cells"])
    assert all(len(cell["distribution"]) > 1 for cell in tables[1]["cells"])


def test_analyses_over_draws(run: Run, release: Path) -> None:
    words = ("--statistic", "cramers_v", "--model", "v*w", "--draws", 200, "--seed", 1)
    found = run("analyse", release, *words, "--json").json
    assert set(found["statistics"]) == {"cramers_v"} and not found["confidential"]
    strength = found["statistics"]["cramers_v"]
    assert strength["standard_deviation"] > 0
    low, high = strength["interval"]
    assert 0 < low < strength["estimate"] < high < 1 and strength["level"] == 0.95
    assert 0 <= strength["test"]["p"] < 0.01 and len(strength["published_interval"]) == 2
    same = tp.infer(release).analyse("cramers_v", draws=50, seed=1).independence
    assert same is not None and same.strength is not None
    assert same.strength.interval == (low, high)
    model = found["model"]
    assert (model["degrees"], len(model["odds_ratios"])) == (0, 9)
    one = model["odds_ratios"][0]
    assert one["total"] == pytest.approx(one["within"] + (1 + 1 / one["draws"]) * one["between"])
    with_truth = run(
        *("analyse", release, "--original", "example:duncan-roehrig-4x4"),
        *("--seed", 1, "--draws", 200, "--json"),
    ).json
    assert with_truth["confidential"] and 0 < with_truth["statistics"]["chi_square"]["rank"] < 1
    assert "odds ratio" in run("analyse", release, "--model", "v*w", "--draws", 50).out
    belief = tp.infer(release)
    assert belief.fit("v*w", draws=50, seed=1).model.degrees == 0
    with pytest.raises(tp.ParameterError, match="must be one of"):
        belief.analyse("kappa")


def test_draws_in_files_and_frames(run: Run, release: Path, tmp_path: Path) -> None:
    text, columns = tmp_path / "d.csv", tmp_path / "d.parquet"
    run("draw", release, "--number", 5, "--seed", 3, "--out", text)
    run("draw", release, "--number", 5, "--seed", 3, "--out", columns)
    with text.open() as file:
        rows = [tuple(row) for row in csv.reader(file)]
    assert rows[0] == ("draw", "v", "w", "count") and len(rows) == 1 + 5 * 16
    parquet = duckdb.sql(f"SELECT * FROM '{columns}'").fetchall()
    assert [tuple(map(str, row)) for row in parquet] == rows[1:]
    # Every draw has the published margins.
    totals = dict.fromkeys("12345", 0)
    for draw, *_, count in rows[1:]:
        totals[draw] += int(count)
    assert set(totals.values()) == {135}
    frame = tp.infer(release).draws(5, seed=3)
    assert len(frame) == 80
    assert "--format" in run("draw", release, "--out", tmp_path / "d.xyz").err


def test_a_log_odds_ratio_has_an_interval(run: Run, release: Path) -> None:
    told = run("analyse", release, "--log-odds", "v,w", "--seed", "1", "--json").json
    low, high = told["interval"]
    assert low < told["estimate"] < high and told["level"] == 0.95 and told["note"] == ""
    again = tp.infer(release).log_odds("v", "w", seed=1)
    assert [again.estimate, *again.interval] == [told["estimate"], low, high]
    refused = run("analyse", release, "--log-odds", "v,v")
    assert "no odds ratio with itself" in refused.err
    assert "two variables with a comma" in run("analyse", release, "--log-odds", "v").err


def test_a_rate_has_an_interval(run: Run, release: Path) -> None:
    told = run("analyse", release, "--rate", "v=v1|w=w1,w2", "--seed", "1", "--json").json
    (found,) = told["rates"]
    low, high = found["interval"]
    assert low < found["estimate"] < high and low < found["published"] < high
    assert tp.infer(release).rate("v=v1 | w=w1, w2", seed=1).interval == (low, high)
    assert "v=v1 | w=w1" in run("analyse", release, "--rate", "v=v1|w=w1").out
    for wrong, why in (("v=v1", "cannot read"), ("v=x|w=w1", "x"), ("v=v1|v=v2", "among itself")):
        assert why in run("analyse", release, "--rate", wrong).err
    assert "takes no prior" in run("analyse", release, "--rate", "v=v1|w=w1", "--prior", "uniform").err


def test_a_model_and_last_year_are_priors(run: Run, release: Path) -> None:
    plain = run("infer", release, "--json").json
    for prior, knows in (
        ("model:v + w", "takes the counts to follow a model"),
        (f"last:{release}", "knows an earlier release"),
    ):
        told = run("infer", release, "--prior", prior, "--json").json
        assert told["prior"].startswith(knows) and told["cells"] != plain["cells"]
    assert "is in no term" in run("infer", release, "--prior", "model:v").err
    assert "last.zip" in run("infer", release, "--prior", "last:last.zip").err
