"""From a table to a posterior on the command line, against the known values."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.project.history import History
from tabprotect.engine.project.saving import storage

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "cyclic.json").read_text())
TWO_WAY = REFERENCE["two_way_4x4"]
POSTERIOR = TWO_WAY["posteriors"]["any|alpha=beta=1/4"]

SLIDE_SEED = 170141183460469231731687303715904167949
"""With this seed the coins fall as on Duncan and Roehrig's slides."""

SLIDE = ("protect", "example:duncan-roehrig-4x4")

Run = Callable[..., Any]


@pytest.fixture
def slide(run: Run, tmp_path: Path) -> Path:
    """The slides' published table as a release bundle."""
    out = tmp_path / "release.zip"
    found = run(
        *("protect", "example:duncan-roehrig-4x4", "--method", "cyclic_perturbation"),
        *("--set", "alpha=0.25", "--set", "beta=0.25", "--seed", SLIDE_SEED),
        *("--out", out, "--dossier", tmp_path / "dossier.zip", "--json"),
    )
    assert found.code == 0 and found.err == ""
    return out


def published(bundle: Path) -> list[list[int]]:
    with zipfile.ZipFile(bundle) as archive:
        rows = list(csv.DictReader(io.StringIO(archive.read("table.csv").decode())))
    counts = [int(row["count"]) for row in rows]
    return [counts[i : i + 4] for i in range(0, 16, 4)]


def test_protect_verify_infer(run: Run, slide: Path) -> None:
    assert published(slide) == TWO_WAY["published"]
    verified = run("verify", slide, "--json")
    assert verified.code == 0 and verified.json["ok"] is True
    found = run("infer", slide, "--json").json
    assert found["way"] == "exact" and found["error"] is None
    assert found["originals"] == POSTERIOR["n_originals"]
    assert isinstance(found["mode_is_published"], bool)
    cells = {tuple(cell["index"]): cell for cell in found["cells"]}
    assert len(cells) == 16
    for index in ((0, 1), (0, 3), (2, 3), (3, 3)):
        expected = POSTERIOR[str(index)]
        cell = cells[index]
        assert cell["published"] == TWO_WAY["published"][index[0]][index[1]]
        assert set(cell["distribution"]) == set(expected)
        for value, (_, probability) in expected.items():
            assert cell["distribution"][value] == pytest.approx(probability, abs=5e-7)
        mean = sum(int(v) * p for v, p in cell["distribution"].items())
        assert cell["mean"] == pytest.approx(mean)
    assert cells[0, 1]["labels"] == ["v1", "w2"]
    assert cells[0, 1]["distribution"]["0"] == pytest.approx(80 / 111, abs=1e-12)


def test_the_same_posterior_from_table_and_mechanism(run: Run, slide: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(slide) as archive:
        archive.extractall(tmp_path / "unpacked")
    whole = run("infer", slide, "--json").json
    apart = run(
        *("infer", "--published", tmp_path / "unpacked" / "table.csv"),
        *("--mechanism", tmp_path / "unpacked" / "mechanism.json", "--json"),
    )
    assert apart.json == whole
    # A bare grid without names takes those of the mechanism.
    grid = tmp_path / "grid.csv"
    grid.write_text("\n".join(",".join(map(str, row)) for row in TWO_WAY["published"]) + "\n")
    bare = run(
        *("infer", "--published", grid, "--json"), *("--mechanism", tmp_path / "unpacked" / "mechanism.json")
    ).json
    for one, two in zip(bare["cells"], whole["cells"], strict=True):
        assert one["distribution"] == two["distribution"]


@pytest.mark.parametrize(
    "mechanism",
    [
        ("--method", "cyclic_perturbation", "--set", "blocking=none"),
        ("--method", "discrete_laplace", "--set", "margins=v:w - 1", "--set", "epsilon=0.3"),
    ],
)
def test_published_counts_may_be_negative_where_the_mechanism_makes_them(
    run: Run, tmp_path: Path, mechanism: tuple[str, ...]
) -> None:
    out, folder = tmp_path / "r.zip", tmp_path / "unpacked"
    words = ("protect", "example:duncan-roehrig-4x4", *mechanism, "--accept", "a test")
    assert run(*words, "--register", "none", "--seed", SLIDE_SEED, "--out", out).code == 0
    with zipfile.ZipFile(out) as archive:
        archive.extractall(folder)
    assert ",-" in (folder / "table.csv").read_text()
    apart = ("--published", folder / "table.csv", "--mechanism", folder / "mechanism.json")
    assert run("infer", *apart, "--json").json["cells"] == run("infer", out, "--json").json["cells"]


def test_a_negative_count_is_refused_where_the_mechanism_makes_none(
    run: Run, slide: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(slide) as archive:
        archive.extractall(tmp_path)
    table, mechanism = tmp_path / "table.csv", tmp_path / "mechanism.json"
    head, first, *rest = table.read_text().splitlines()
    table.write_text("\n".join([head, f"{first.rpartition(',')[0]},-1", *rest]) + "\n")
    refused = run("infer", "--published", table, "--mechanism", mechanism)
    assert refused.code == 3 and "negative" in refused.err
    stated = {"method": "random_rounding", "variables": ["v", "w"], "shape": [4, 4]}
    mechanism.write_text(json.dumps(stated | {"base": 3, "margins": "v:w - 1", "groupings": ""}))
    refused = run("infer", "--published", table, "--mechanism", mechanism)
    assert refused.code == 3 and "negative" in refused.err
    # Nor can an original have one.
    assert run("show", table).code != 0


def test_priors_and_chosen_cells(run: Run, slide: Path, tmp_path: Path) -> None:
    found = run("infer", slide, "--prior", "positive", "--cells", "0,1;2,3", "--json").json
    assert [cell["index"] for cell in found["cells"]] == [[0, 1], [2, 3]]
    assert "0" not in found["cells"][0]["distribution"]
    weights = tmp_path / "weights.csv"
    weights.write_text("v,w,count,weight\nv1,w2,0,1\nv1,w2,2,3\n")
    found = run("infer", slide, "--prior", f"table:{weights}", "--cells", "0,1", "--json").json
    # 80/111 once against 11/333 three times.
    assert found["cells"][0]["distribution"]["0"] == pytest.approx(240 / (240 + 33))
    people = run("infer", slide)
    assert "22 originals are possible" in people.out and "(v1, w2)" in people.out


def test_monte_carlo_agrees_within_its_error(run: Run, slide: Path) -> None:
    found = run(
        *("infer", slide, "--way", "monte_carlo", "--draws", 20000, "--seed", 3, "--json"),
        *("--cells", "0,1"),
    ).json
    assert found["way"] == "monte_carlo" and 0 < found["error"] < 0.05
    chance = found["cells"][0]["distribution"]["0"]
    assert chance == pytest.approx(80 / 111, abs=6 * found["error"])


def test_protect_says_the_summary(run: Run, tmp_path: Path) -> None:
    found = run(
        *("protect", "example:duncan-roehrig-4x4", "--seed", SLIDE_SEED, "--json"),
        *("--out", tmp_path / "r.zip", "--title", "Ours", "--at-risk", "1..3"),
        *("--dossier", tmp_path / "d.zip"),
    ).json
    original = [c for row in TWO_WAY["original"] for c in row]
    shown = [c for row in published(tmp_path / "r.zip") for c in row]
    pairs = [(o, p) for o, p in zip(original, shown, strict=True) if 1 <= o <= 3]
    assert found["at_risk_cells"] == len(pairs) == 6
    assert found["unchanged_share"] == sum(o == p for o, p in pairs) / len(pairs)
    with zipfile.ZipFile(tmp_path / "d.zip") as archive:
        coins = csv.DictReader(io.StringIO(archive.read("CONFIDENTIAL/coins.csv").decode()))
        asked = [row for row in coins if row["coin"] != "0"]
    blocked = [row for row in asked if row["effective"] == "0"]
    assert found["blocked_share"] == pytest.approx(len(blocked) / len(asked)) and blocked
    assert found["margins_preserved"] is True and found["method"] == "cyclic_perturbation"
    assert 0 < found["expected"]["unchanged_share"] < 1
    assert str(SLIDE_SEED) not in {str(v) for v in found.values()} and "seed" not in found
    assert run("verify", tmp_path / "r.zip", "--json").json["title"] == "Ours"
    checked = run("verify", tmp_path / "r.zip", "--fingerprint", found["fingerprint"])
    assert checked.code == 0 and "announced" in checked.out


def test_a_click_and_a_command_give_the_same_bytes(run: Run, slide: Path, tmp_path: Path) -> None:
    history = History()
    for name, given in (
        ("open_table", {"source": "example:duncan-roehrig-4x4"}),
        ("set_parameters", {"alpha": 0.25, "beta": 0.25}),
        ("protect", {"seed": SLIDE_SEED}),
        ("publish", {"release": str(tmp_path / "clicked.zip")}),
    ):
        history, _ = history.apply(name, given)
    assert (tmp_path / "clicked.zip").read_bytes() == slide.read_bytes()
    # From the saved project too, and from the dossier's recipe.
    storage.save(history, tmp_path / "p.tabprotect")
    again = run(
        *("protect", tmp_path / "p.tabprotect", "--seed", SLIDE_SEED), *("--out", tmp_path / "saved.zip")
    )
    assert again.code == 0
    assert (tmp_path / "saved.zip").read_bytes() == slide.read_bytes()
    with zipfile.ZipFile(tmp_path / "dossier.zip") as archive:
        archive.extractall(tmp_path)
    recipe = tmp_path / "CONFIDENTIAL" / "recipe.toml"
    ran = run("run", recipe, "--out", tmp_path / "ran", "--json").json
    assert (tmp_path / "ran" / "release.zip").read_bytes() == slide.read_bytes()
    assert len(ran["written"]) == 2 and "CONFIDENTIAL" in ran["written"][1]


def test_the_dossier_replays(slide: Path, tmp_path: Path) -> None:
    found = confidential.read(tmp_path / "dossier.zip")
    assert found.record.problem.table.counts.tolist() == TWO_WAY["original"]
    assert found.record.seed == SLIDE_SEED


def test_without_a_seed_the_coins_are_the_houses(run: Run, tmp_path: Path) -> None:
    seeds, releases = [], []
    for number, more in enumerate([(), (), ("--fresh",), ("--fresh",)]):
        dossier, out = tmp_path / f"{number}.zip", tmp_path / "r.zip"
        words = (*SLIDE, "--out", out, "--dossier", dossier, "--register", "none", *more)
        found = run(*words, "--json").json
        assert len(found["decisions"]) == 1 + len(more) and found["warnings"] == []
        assert found["decisions"][-1].startswith("no register")
        seeds.append(confidential.read(dossier).record.seed)
        releases.append(out.read_bytes())
    assert seeds[0] == seeds[1] and len(set(seeds)) == 3 and releases[0] == releases[1]
    assert run(*words, "--seed", 1).code == 2


def test_a_short_seed_warns_and_is_recorded(
    run: Run, tmp_path: Path, house_folder: Path, short_seeds: int
) -> None:
    (house_folder / "policy.toml").write_text('short_seed = "warn"\n')
    for seed, kinds in ((20261121, ["short_seed"]), (SLIDE_SEED, [])):
        words = (*SLIDE, "--register", "none", "--seed", seed, "--out", tmp_path / "r.zip")
        found = run(*words, "--json").json
        assert [w["kind"] for w in found["warnings"]] == kinds
        assert "fixed seed" in found["decisions"][0]
        assert str(seed) not in json.dumps(found)
        assert ("Warning: " in run(*words).out) == bool(kinds)


def test_the_three_way_example(run: Run, tmp_path: Path) -> None:
    reference = REFERENCE["three_way_4x4x3"]
    mechanism, table = tmp_path / "m.json", tmp_path / "t.csv"
    words = ("--seed", 1, "--accept", "an example", "--out", tmp_path / "r.zip")
    run("protect", "example:duncan-roehrig-4x4x3", "--set", "alpha=0.25", "--set", "beta=0.25", *words)
    with zipfile.ZipFile(tmp_path / "r.zip") as archive:
        mechanism.write_bytes(archive.read("mechanism.json"))
        lines = archive.read("table.csv").decode().splitlines()
    counts = [reference["published"][i][j][k] for i in range(4) for j in range(4) for k in range(3)]
    rows = [f"{line.rpartition(',')[0]},{c}" for line, c in zip(lines[1:], counts, strict=True)]
    table.write_text("\n".join([lines[0], *rows]) + "\n")
    found = run("infer", "--published", table, "--mechanism", mechanism, "--json").json
    assert found["originals"] == 3
    assert found["cells"][0]["distribution"] == pytest.approx({"1": 5 / 7, "2": 2 / 7})


def test_a_posterior_as_a_file(run: Run, slide: Path, tmp_path: Path) -> None:
    whole = run("infer", slide, "--json").json
    printed = run("infer", slide, "--format", "csv").out
    rows = [line.split(",") for line in printed.splitlines()]
    assert rows[0] == ["v", "w", "published", "mean", "mode", "count", "probability"]
    assert len(rows) - 1 == sum(len(cell["distribution"]) for cell in whole["cells"])
    path = tmp_path / "posterior.csv"
    told = run("infer", slide, "--format", "csv", "--out", path, "--json").json
    assert told["out"] == str(path) and told["way"] == whole["way"] and "cells" not in told
    assert path.read_text() == printed
    assert run("infer", slide, "--format", "parquet", "--out", tmp_path / "p.parquet").code == 0
    assert (tmp_path / "p.parquet").read_bytes()[:4] == b"PAR1"
    few = run("infer", slide, "--format", "csv", "--cells", "0,1").out
    assert {line.split(",")[1] for line in few.splitlines()[1:]} == {"w2"}


def test_a_posterior_file_needs_a_place_and_keeps_what_is_there(
    run: Run, slide: Path, tmp_path: Path
) -> None:
    assert run("infer", slide, "--format", "parquet").code == 2
    assert run("infer", slide, "--format", "csv", "--json").code == 2
    assert run("infer", slide, "--out", tmp_path / "a.csv").code == 2
    before = slide.read_bytes()
    assert run("infer", slide, "--format", "csv", "--out", slide).code == 2
    assert slide.read_bytes() == before
    assert run("infer", slide, "--format", "csv", "--out", tmp_path / "no" / "a.csv").code == 3
