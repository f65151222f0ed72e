"""``tabulate --measure``, ``rules`` and ``protect`` of magnitude tables, and what the bundle says."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest

import tabprotect as tp
from tabprotect.cli.main import main
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.disclosure.gate import against
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.register.people.reading_together import ReadingTogether

SEED = "1234567890" * 4
LIMIT = AgencyPolicy().belief_limit


def made(folder: Path) -> Path:
    rows = ["nace,region,ent,turnover"]
    for i in range(4):
        for j in range(4):
            rows += [f"{24 + i},R{j},g{(i * j) % 5},{(7 * i + 11 * j) % 13 * 40 + 5}"]
            rows += [f"{24 + i},R{j},u{i}{j}{k},{(i + 3 * j + 5 * k) % 7 * 30 + 9}" for k in range(3)]
    (folder / "firms.csv").write_text("\n".join(rows) + "\n")
    path = folder / "T.parquet"
    by = ["--by", "nace,region", "--measure", "turnover", "--holding", "ent"]
    assert main(["tabulate", str(folder / "firms.csv"), *by, "--out", str(path)]) == 0
    return path


def test_from_records_to_a_bundle_without_rules(tmp_path: Path, capsys) -> None:
    path = made(tmp_path)
    capsys.readouterr()
    assert main(["rules", str(path), "--rule", "p=13", "--json"]) == 0
    judged = json.loads(capsys.readouterr().out)
    unsafe = [cell["index"] for cell in judged["cells"] if cell["unsafe"]]
    assert len(unsafe) == judged["unsafe"] > 0
    out, dossier = tmp_path / "o.zip", tmp_path / "d.zip"
    words = ["protect", str(path), "--set", "choice=cheapest", "--rule", "p=13", "--json"]
    # What the choice of the pattern tells was not judged, and takes a reason.
    assert main([*words, "--out", str(out)]) == 5 and not out.exists()
    capsys.readouterr()
    words += ["--accept", "looked at"]
    assert main([*words, "--out", str(out), "--dossier", str(dossier)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["broken"] == 0 and said["primary"] == len(unsafe)
    assert said["audit"]["exactly"] == said["audit"]["within"] == 0 < said["audit"]["readers"]
    with zipfile.ZipFile(out) as bundle:
        every = {name: bundle.read(name).decode() for name in bundle.namelist()}
    rows = list(csv.DictReader(io.StringIO(every["table.csv"])))
    assert list(rows[0]) == ["nace", "region", "value", "status"] and len(rows) == 25
    hidden = [row for row in rows if row["status"]]
    assert {row["status"] for row in hidden} == {"hidden"} and not any(r["value"] for r in hidden)
    assert len(hidden) == said["primary"] + said["secondary"]
    assert {(row["nace"], row["region"]) for row in hidden} >= {
        (index["nace"], index["region"]) for index in unsafe
    }
    for text in every.values():
        assert not any(secret in text.replace("primaryKey", "") for secret in ("p=13", "g1", "primary"))
    with zipfile.ZipFile(dossier) as kept:
        assert "p=13" in kept.read("CONFIDENTIAL/record.json").decode()
        assert kept.read("CONFIDENTIAL/release.zip") == out.read_bytes()
    # What the choice of the pattern tells is stated as left out, and is never a pass.
    assert said["verdict"]["passed"] is None and said["verdict"]["left_out"] == ["pattern_choice"]
    assert main(["verify", str(out), "--json"]) == 7
    assert json.loads(capsys.readouterr().out)["left_out"] == ["pattern_choice"]
    report(out, dossier, tmp_path)
    again = tmp_path / "again.zip"
    assert main([*words, "--out", str(again), "--like", str(out)]) == 0
    assert again.read_bytes() == out.read_bytes()


def report(out: Path, dossier: Path, folder: Path) -> None:
    """What readers and staff are told: the rules' numbers stay with staff."""
    pages = []
    for source, edition in ((out, "public"), (dossier, "public"), (dossier, "staff")):
        page = folder / f"{edition}.html"
        words = ["report", str(source), "--edition", edition, "--out", str(page)]
        assert main(words) == 0
        pages.append(page.read_text())
    assert pages[0] == pages[1] and "p=13" in pages[2]
    assert "p=13" not in pages[0] and "CONFIDENTIAL" not in pages[0] and "13 %" not in pages[0]
    assert main(["report", str(out), "--edition", "staff", "--out", str(folder / "no.html")]) == 3


def test_a_rule_that_hides_nothing_is_refused(tmp_path: Path, capsys) -> None:
    path = made(tmp_path)
    assert main(["rules", str(path), "--rule", "p=0"]) == 4
    assert "give n" in capsys.readouterr().err


def test_noise_is_read_by_a_contributor(tmp_path: Path, capsys) -> None:
    path, out = made(tmp_path), tmp_path / "o.zip"
    words = ["--set", "least=.1", "--set", "most=.25", "--json", "--out", str(out), "--seed", SEED]
    assert main(["protect", str(path), "--method", "multiplicative_noise", *words]) == 0
    capsys.readouterr()
    assert main(["infer", str(out), "--as-contributor", "outsider", "--within", "10", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {cell["belief"] for cell in said["cells"]} == {0.5}
    reader = ["--as-contributor", "45@nace=24,region=R0", "--rest", "50", "--json"]
    assert main(["infer", str(out), *reader]) == 0
    found = json.loads(capsys.readouterr().out)["cells"]
    (own,) = (c["belief"] for c in found if c["index"] == {"nace": "24", "region": "R0"})
    assert 0 < own < 0.5
    assert main(["verify", str(out), "--json"]) == 0


def test_noise_that_leaves_somebody_certain_stays(tmp_path: Path, capsys) -> None:
    path, out = made(tmp_path), tmp_path / "o.zip"
    little = ["--set", "least=.01", "--set", "most=.05", "--rule", "p=13", "--out", str(out)]
    words = ["protect", str(path), "--method", "multiplicative_noise", "--json"]
    assert main([*words, *little]) == 5 and not out.exists()
    assert main([*words, "--rule", "p=13", "--out", str(out)]) == 0
    # The same sums by another method: what both tell together is not judged.
    cheapest = ["--set", "choice=cheapest"]
    other = ["protect", str(path), "--rule", "p=13", "--json", "--out", str(tmp_path / "s.zip"), *cheapest]
    capsys.readouterr()
    assert main(other) == 5
    said = json.loads(capsys.readouterr().out)
    assert said["error"]["kind"] == "refused" and said["primary"] > 0
    remedies = said["error"]["suggestions"]
    assert all("--method multiplicative_noise" in line for line in remedies) and remedies
    assert said["verdict"]["accepted"] is False and said["verdict"]["complete"] is False
    assert main([*other, "--accept", "looked at"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["verdict"]["left_out"] == ["pattern_choice", "other_releases"]
    assert said["warnings"] and main(["register", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["releases"]
    assert [one["method"] for one in listed] == ["multiplicative_noise", "suppression"]


def test_a_reason_for_publishing_again_accepts_nothing(tmp_path: Path, capsys) -> None:
    path, out = made(tmp_path), tmp_path / "o.zip"
    words = ["protect", str(path), "--rule", "p=13", "--no-page", "--out", str(out)]
    noise = [*words, "--method", "multiplicative_noise"]
    little = ["--set", "least=.001", "--set", "most=.01"]
    cheapest = [*words, "--set", "choice=cheapest"]
    for refused in (cheapest, [*noise, *little], [*words, "--method", "cell_key"]):
        assert main([*refused, "--again", "every year"]) == 5 and not out.exists()
    # It answers for what left before: other noise on the same sums takes a reason, and this is one.
    assert main(noise) == 0
    assert main([*noise, "--set", "least=.1"]) == 5
    assert main([*noise, "--set", "least=.1", "--again", "every year"]) == 0
    assert main([*noise, *little, "--again", "every year"]) == 5


def test_cell_keys_are_not_judged_whole(tmp_path: Path, capsys) -> None:
    path, out = made(tmp_path), tmp_path / "o.zip"
    words = ["protect", str(path), "--method", "cell_key", "--json", "--out", str(out)]
    assert main(words) == 5
    assert main([*words, "--accept", "looked at", "--register", "none"]) == 0
    assert main(["verify", str(out)]) == 7


def test_the_rules_of_the_house_apply_and_are_nowhere_public(tmp_path: Path, capsys) -> None:
    path, out = made(tmp_path), tmp_path / "o.zip"
    standing = '[standing]\npattern_choice = "the readers are few"\n'
    (tmp_path / "policy.toml").write_text('rules = ["p=13"]\n' + standing)
    words = ["protect", str(path), "--policy", str(tmp_path / "policy.toml"), "--json"]
    words += ["--set", "choice=cheapest"]
    capsys.readouterr()
    assert main([*words, "--out", str(out)]) == 0
    assert json.loads(capsys.readouterr().out)["primary"] > 0
    assert b"p=13" not in out.read_bytes() and main(["verify", str(out), "--quick"]) == 7


def test_the_everyday_release_of_sums_leaves_without_a_reason(tmp_path: Path, capsys) -> None:
    path, out = made(tmp_path), tmp_path / "o.zip"
    capsys.readouterr()
    assert main(["protect", str(path), "--rule", "p=13", "--json", "--out", str(out)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["verdict"]["left_out"] == [] == said["decisions"] and said["broken"] == 0
    assert said["audit"]["narrow"] == 0
    with zipfile.ZipFile(out) as bundle:
        stated = json.loads(bundle.read("mechanism.json"))
    assert stated["choice"] == "letters" and len(stated["letters"].split()) > 0
    assert main(["verify", str(out), "--json"]) == 0
    # What is left to the staff is left: a choice by the sums themselves takes a reason.
    words = ["protect", str(path), "--rule", "p=13", "--set", "choice=cheapest", "--register", "none"]
    assert main([*words, "--out", str(tmp_path / "c.zip")]) == 5


def test_the_sums_as_csv(tmp_path: Path) -> None:
    path = made(tmp_path)
    assert main(["convert", str(path), "--out", str(tmp_path / "sums.csv")]) == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "sums.csv").read_text())))
    assert list(rows[0]) == ["nace", "region", "value", "status", "n", "holdings"]
    inner = [r for r in rows if "Total" not in (r["nace"], r["region"])]
    (total,) = (r for r in rows if r["nace"] == r["region"] == "Total")
    assert sum(int(r["value"]) for r in inner) == int(total["value"])
    counted = tmp_path / "counts.csv"
    assert main(["convert", str(path), "--counts", "--out", str(counted)]) == 0
    units = {(r["nace"], r["region"]): r["n"] for r in inner}
    found = list(csv.DictReader(io.StringIO(counted.read_text())))
    assert {(r["nace"], r["region"]): r["count"] for r in found} == units
    again = ["convert", str(counted), "--counts", "--out", str(tmp_path / "c.csv")]
    assert main(again) == 2


def test_methods_stand_side_by_side(tmp_path: Path, capsys) -> None:
    path = made(tmp_path)
    capsys.readouterr()
    assert main(["compare", str(path), "--rule", "p=10", "--json"]) == 0
    rows = {row["method"]: row for row in json.loads(capsys.readouterr().out)["methods"]}
    assert list(rows) == ["rules", "suppression", "multiplicative_noise", "cell_key", "rounding"]
    # What the rules name can be computed where nothing is hidden beside it; rounding is as its base.
    assert rows["rules"]["worst"] == 1 and rows["rounding"]["unsafe_worst"] <= LIMIT
    assert rows["multiplicative_noise"]["worst"] == 0.545455
    assert rows["suppression"]["hidden"] > 0 == rows["suppression"]["mean_deviation"]
    # One scale and one loss for all: what is hidden is lost whole.
    assert all(0 <= row["unsafe_worst"] <= row["worst"] for row in rows.values())
    assert rows["suppression"]["loss"] > rows["rules"]["loss"] > 0
    assert rows["rounding"]["loss"] == rows["rounding"]["mean_deviation"]


def test_a_table_that_is_not_there_is_named(tmp_path: Path, capsys) -> None:
    gone = str(tmp_path / "gone.parquet")
    for words in (["protect", gone, "--out", str(tmp_path / "o.zip")], ["compare", gone]):
        assert main([*words, "--rule", "p=10"]) == 3
        assert "there is no such file" in capsys.readouterr().err
    (tmp_path / "counts.csv").write_text("a,count\nx,1\ny,2\n")
    assert main(["compare", str(tmp_path / "counts.csv"), "--rule", "p=10"]) == 2
    assert "--rule: goes with tables of magnitudes" in capsys.readouterr().err


IN_VAIN = [
    *(["--where", "nace=24"], ["--drop", "nace"], ["--count", "n"], ["--scale", "7"], ["--totals", "all"]),
    *(["--tolerance", "3"], ["--missing", "zero"], ["--fill-missing"], ["--strip-totals"], ["--sheet", "2"]),
    *(["--encoding", "latin-1"], ["--strict"], ["--tune"], ["--tune-for", "sums"], ["--fresh"]),
    *(["--at-risk", "1..5"], ["--keep", "nace"], ["--groupings", "x"]),
    *(["--like", "last.zip"], ["--set", "cycles=strips"]),
]
"""Options that a table of magnitudes, or noise on it, does not take."""


def test_an_option_without_an_effect_is_refused_by_its_name(tmp_path: Path, capsys) -> None:
    path, out = str(made(tmp_path)), tmp_path / "o.zip"
    words = ["--method", "multiplicative_noise", "--out", str(out)]
    for given in IN_VAIN:
        assert main(["protect", path, *words, *given]) == 4, given
        name = given[1].partition("=")[0] if given[0] == "--set" else given[0][2:].replace("-", "_")
        error = capsys.readouterr().err
        assert name in error and not out.exists()
    assert main(["protect", path, *words, "--reading", str(tmp_path / "no.toml")]) == 3
    counts = str(tmp_path / "counts.csv")
    assert main(["convert", path, "--counts", "--out", counts]) == 0
    for given in (
        ["--rule", "p=10"],
        ["--weights", "known", "--rule", "p=10"],
        ["--like", "l.zip"],
        ["--publish", "n"],
    ):
        assert main(["protect", counts, *given, "--out", str(out)]) == 4
        assert f"{given[0][2:]}: goes with tables of magnitudes" in capsys.readouterr().err
    assert main(["protect", counts, "--tune-for", "noise", "--out", str(out)]) == 2
    for given in (["--measures", "x"], ["--run", "cell_key D=5"], ["--at-risk", "1..5"], ["--seed", "1"]):
        assert main(["compare", path, "--rule", "p=10", *given]) == 2
        assert f"{given[0]}: goes with tables of counts" in capsys.readouterr().err
    assert main(["compare", counts, "--run", "cell_key D=5", "--weights", "known"]) == 2


def test_options_of_infer_go_with_what_was_released(tmp_path: Path, capsys) -> None:
    path, out = str(made(tmp_path)), str(tmp_path / "o.zip")
    assert main(["protect", path, "--method", "multiplicative_noise", "--out", out]) == 0
    for given in (["--prior", "positive"], ["--of", "nace"], ["--way", "exact"], ["--where", "nace=24"]):
        assert main(["infer", out, *given]) == 2
        assert f"{given[0]}: goes with tables of counts" in capsys.readouterr().err
    counted = str(tmp_path / "c.zip")
    assert main(["protect", "example:duncan-roehrig-4x4", "--out", counted]) == 0
    for given in (["--within", "5"], ["--rest", "5"], ["--as-contributor", "outsider"]):
        assert main(["infer", counted, *given]) == 2
        assert f"{given[0]}: goes with tables of magnitudes" in capsys.readouterr().err


def test_a_refusal_is_overruled_without_a_reason_too(tmp_path: Path, capsys) -> None:
    path, out = made(tmp_path), tmp_path / "o.zip"
    capsys.readouterr()
    words = ["protect", str(path), "--rule", "p=13", "--set", "choice=cheapest"]
    assert main([*words, "--accept-weak", "--json", "--out", str(out)]) == 0
    (decision,) = json.loads(capsys.readouterr().out)["decisions"]
    assert "no reason was given" in decision


def test_next_year_goes_by_the_recipe_of_the_dossier(tmp_path: Path) -> None:
    path, dossier = made(tmp_path), tmp_path / "d.zip"
    words = ["protect", str(path), "--rule", "p=13", "--accept", "looked at", "--title", "Turnover"]
    assert main([*words, "--out", str(tmp_path / "o.zip"), "--dossier", str(dossier)]) == 0
    with zipfile.ZipFile(dossier) as kept:
        recipe = kept.read("CONFIDENTIAL/recipe.toml")
        trail = json.loads(kept.read("CONFIDENTIAL/audit_trail.json"))
    steps = ["open_table", "set_title", "set_rules", "protect", "publish"]
    assert [step["command"] for step in trail] == steps
    (tmp_path / "recipe.toml").write_bytes(recipe)
    (tmp_path / "next").mkdir()
    assert main(["run", str(tmp_path / "recipe.toml"), "--out", str(tmp_path / "next")]) == 0


def test_a_guess_that_comes_near_is_said_beside_what_nobody_can_prove(tmp_path: Path, capsys) -> None:
    rows = ["nace,region,ent,turnover"]
    given = {"10,N": (900, 60, 40, 10), "10,S": (30, 25, 35), "20,N": (70, 66, 64), "20,S": (12, 11, 14)}
    rows += [f"{at},{at.replace(',', '')}{n},{x}" for at, xs in given.items() for n, x in enumerate(xs)]
    (tmp_path / "firms.csv").write_text("\n".join(rows) + "\n")
    path = tmp_path / "T.parquet"
    by = ["--by", "nace,region", "--measure", "turnover", "--holding", "ent"]
    assert main(["tabulate", str(tmp_path / "firms.csv"), *by, "--out", str(path)]) == 0
    capsys.readouterr()
    words = ["protect", str(path), "--rule", "p=10", "--json", "--accept", "weighed"]
    words += ["--set", "choice=cheapest"]
    assert main([*words, "--out", str(tmp_path / "o.zip")]) == 0
    said = json.loads(capsys.readouterr().out)
    # 60 taken off 973 to 1,100, and the others unknown to 100: 813 to 1,040 about a truth of 900.
    assert said["broken"] == 0 and said["audit"]["narrow"] == 1
    (decision,) = said["decisions"]
    assert "could come within 10 % of another's value by an upper bound; by the best guess" in decision
    assert main(["verify", str(tmp_path / "o.zip")]) == 7
    told = capsys.readouterr().out
    assert "1 hidden sum can be guessed to within 10 %" in told and "Nobody among" not in told


def unreadable(*_: object) -> None:
    raise InfeasibleError("these cannot be read together")


def test_other_sums_of_the_same_records_are_not_judged_alone(
    tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another measure, another table, other factors: what they tell together takes a reason."""
    rows = ["nace,region,size,ent,turnover,wages"]
    rows += [f"{n % 4},{n % 3},{n % 2},e{n},{50 + 13 * n % 97},{5 + 7 * n % 31}" for n in range(60)]
    (tmp_path / "f.csv").write_text("\n".join(rows) + "\n")

    def left(by: str, measure: str, *more: str) -> tuple[int, list[str], list[str]]:
        table, out = tmp_path / "t.parquet", tmp_path / "o.zip"
        asked = ["--by", by, "--measure", measure, "--holding", "ent", "--out", str(table)]
        assert main(["tabulate", str(tmp_path / "f.csv"), *asked]) == 0
        capsys.readouterr()
        words = ["protect", str(table), "--rule", "p=10", "--no-page", "--json", "--out", str(out)]
        code = main([*words, "--method", "multiplicative_noise", *more])
        said = json.loads(capsys.readouterr().out)
        helps = [] if code == 0 else said["error"]["suggestions"]
        return code, said["verdict"]["left_out"], helps

    assert left("nace,region", "turnover") == (0, [], [])
    # The same factors in another table of the measure add up: nothing more is told.
    assert left("nace,size", "turnover") == (0, [], [])
    # No other noise helps against what left before: there is a reason, or nothing.
    code, left_out, helps = left("nace,region", "wages")
    assert (code, left_out) == (5, ["other_releases"])
    assert [one[-15:] for one in helps] == ["--accept REASON"]
    code, left_out, helps = left("region,size", "turnover", "--set", "least=.1")
    assert (code, left_out) == (5, ["other_releases"])
    # The factors of before do help.
    assert len(helps) == 1 and "least=0.05" in helps[0]
    # With counts beside them these are read with what left before, too: no factors help where that fails.
    counted = ("region,size", "turnover", "--set", "least=.1", "--publish", "n")
    assert [one for one in left(*counted)[2] if "least=0.05" in one]
    with monkeypatch.context() as broken:
        broken.setattr(ReadingTogether, "opened", unreadable)
        assert [one[-15:] for one in left(*counted)[2]] == ["--accept REASON"]
    assert left("region,size", "turnover", "--set", "least=.1", "--accept", "weighed")[0] == 0


def test_counts_are_a_measure_of_a_release_of_magnitudes(tmp_path: Path, capsys) -> None:
    """One release of both: the gate states both, and each reader's command says what is believed."""
    path, out = made(tmp_path), tmp_path / "o.zip"
    words = ["protect", str(path), "--rule", "p=13", "--register", "none", "--accept", "seen", "--no-page"]
    assert main([*words, "--at-risk", "1..3", "--out", str(out)]) == 4
    assert "goes with publish" in capsys.readouterr().err
    words += ["--publish", "n,mean", "--at-risk", "1..3"]
    assert main([*words, "--out", str(out), "--dossier", str(tmp_path / "d.zip"), "--json"]) == 0
    judged = json.loads(capsys.readouterr().out)["verdict"]
    assert judged["counts"]["tables"][0]["table"] == ["nace", "region"]
    with zipfile.ZipFile(out) as bundle:
        gate = json.loads(bundle.read("mechanism.json"))["gate"]
        readme = bundle.read("README.md").decode()
    assert (gate["within"], gate["at_risk"]) == (10.0, "1..3")
    assert "A contribution is known" in readme and "A count of " in readme
    assert main(["verify", str(out), "--json"]) == 7
    again = json.loads(capsys.readouterr().out)["verdict"]
    assert again["counts"]["at_risk"] == judged["counts"]["at_risk"] > 0
    kept = confidential.read(tmp_path / "d.zip")
    assert kept.record.problem.at_risk.words == "1 to 3" and not against(kept, AgencyPolicy())
    assert main(["infer", str(out), "--json"]) == 0
    both = json.loads(capsys.readouterr().out)
    assert main(["infer", str(out), "--json", "--prior", "positive", "--cells", "0,0"]) == 0
    counts = json.loads(capsys.readouterr().out)
    assert both["reader"] == "outsider" and len(both["counts"]["cells"]) == 16
    assert counts["variables"] == ["nace", "region"] and len(counts["cells"]) == 1
    assert main(["infer", str(out), "--json", "--as-contributor", "outsider"]) == 0
    assert "counts" not in json.loads(capsys.readouterr().out)
    belief = tp.infer(out)
    assert belief.distribution(nace="24", region="R0") == {
        int(value): chance for value, chance in both["counts"]["cells"][0]["distribution"].items()
    }
