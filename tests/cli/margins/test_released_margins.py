"""``widths``, ``frontier``, ``optimal`` and ``serve-session``: JSON keys, exit codes, bad input."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Run = Callable[..., Any]

CZECH = "example:czech-autoworkers"
REFERENCE = Path(__file__).parents[2] / "reference" / "niss_query_space.json"


def table(path: Path, rows: str) -> Path:
    path.write_text("A,B,count\n" + rows)
    return path


def test_widths(run: Run) -> None:
    niss = json.loads(REFERENCE.read_text())
    letters = niss["table3_to_table2"]
    expected = {
        ",".join(sorted(letters[c] for c in name)): w for name, w in niss["widths_table3_letters"].items()
    }
    found = run("widths", CZECH, "--json")
    assert found.code == 0 and found.json == {"variables": list("ABCDEF"), "widths": expected}
    spoken = run("widths", CZECH).out.splitlines()
    assert len(spoken) == 65 and spoken[-1].startswith("most dangerous chain: [] [")
    assert run("widths", CZECH, "--at-risk", "1..3", "--json").json["widths"] != expected
    assert run("widths", CZECH, "--workers", "2", "--json").json["widths"] == expected


def test_frontier(run: Run) -> None:
    args = ("frontier", CZECH, "--release", "B,A", "--release", "C,D", "--release", "A")
    found = run(*args, "--beta", 10, "--json")
    assert found.code == 0
    shown = found.json
    assert shown["releasable"] is True and shown["exact"] is True
    assert shown["bounds"] == "decomposable" and shown["width"] == 339
    assert shown["released_frontier"] == [["A", "B"], ["C", "D"]] and shown["released"] == 7
    assert shown["unreleasable_frontier"] == [list(text) for text in ("ABCDE", "ABCDF", "ABCEF", "BCDEF")]
    assert shown["unreleasable"] == 5 and shown["undecided"] == 0
    ring = ("A,B", "B,C", "C,D", "A,D")
    words = [word for text in ring for word in ("--release", text)]
    assert run("frontier", CZECH, *words, "--json").json["exact"] is True
    closed = run("frontier", CZECH, *words, "--bounds", "decomposable", "--json").json
    assert closed["releasable"] is True and closed["exact"] is False
    assert closed["bounds"] == "decomposable cover"
    bad = run("frontier", CZECH, "--release", "A,C,D,E,F", "--beta", 11, "--json")
    assert bad.code == 0 and bad.json["releasable"] is False and bad.json["width"] == 10
    assert bad.json["unreleasable"] == 64 and bad.json["unreleasable_frontier"] == [[]]
    assert [c["count"] for c in bad.json["too_tight"]]
    assert "must not be released" in run(*args, "--beta", 340).out


def every_table(total: int, cells: int) -> np.ndarray:
    """All tables of a total, int64 (tables, cells), by stars and bars."""
    bars = np.array(list(combinations(range(total + cells - 1), cells - 1)))
    ends = np.full((len(bars), 1), total + cells - 1)
    return np.diff(np.hstack([bars, ends]), prepend=-1, axis=1) - 1


def listed_price(counts: np.ndarray, out: list[str], asked: list[str]) -> dict[str, float]:
    """What the refusal at beta 2 tells, from all tables of the total."""
    tables = every_table(int(counts.sum()), counts.size).reshape(-1, *counts.shape)

    def sums(among: np.ndarray, names: list[str]) -> np.ndarray:
        margins = [
            among.sum(axis=tuple(1 + v for v in range(counts.ndim) if "ABC"[v] not in name)) for name in names
        ]
        return np.hstack([margin.reshape(len(among), -1) for margin in margins])

    def refused(among: np.ndarray, names: list[str]) -> np.ndarray:
        classes = np.unique(sums(among, names), axis=0, return_inverse=True)[1].reshape(-1)
        least = np.full((classes.max() + 1, *counts.shape), counts.sum())
        most = np.zeros_like(least)
        np.minimum.at(least, classes, among)
        np.maximum.at(most, classes, among)
        risk = (among >= 1) & (among <= 2) & ((most - least)[classes] < 2)
        return np.asarray(risk.reshape(len(among), -1).any(axis=1))

    tables = tables[(sums(tables, out) == sums(counts[None], out)).all(axis=1)]
    tables = tables[~refused(tables, out)]
    risk = ((tables >= 1) & (tables <= 2)).reshape(len(tables), -1).any(axis=1)
    tables = tables[risk]
    left = tables[refused(tables, [*out, *asked])]
    before, after = (((t >= 1) & (t <= 2)).mean(axis=0) for t in (tables, left))
    own = (counts >= 1) & (counts <= 2)
    return {
        "bits": math.log2(len(tables) / len(left)),
        "largest_move": float(np.abs(after - before)[own].max()),
    }


def test_what_refusals_tell(run: Run, tmp_path: Path) -> None:
    counts = np.array([[[1, 1], [1, 1]], [[0, 2], [2, 0]]])
    path = tmp_path / "t.csv"
    cells = ("".join(f"{code}," for code in at) + f"{n}\n" for at, n in np.ndenumerate(counts))
    path.write_text("A,B,C,count\n" + "".join(cells))
    begun = ("--beta", 2, "--json")
    shown = run("frontier", path, "--release", "A,B", *begun).json
    assert shown["releasable"] is True and shown["price"] is None and shown["prices"]
    for names, told in zip(shown["unreleasable_frontier"], shown["prices"], strict=True):
        wanted = listed_price(counts, ["AB"], ["".join(names)])
        assert {key: told[key] for key in wanted} == pytest.approx(wanted)
    both = run("frontier", path, "--release", "A,B", "--release", "A,C", "--release", "B,C", *begun)
    wanted = listed_price(counts, [""], ["AB", "AC", "BC"])
    assert both.json["releasable"] is False and both.json["prices"] == []
    assert {key: both.json["price"][key] for key in wanted} == pytest.approx(wanted)
    words = ("serve-session", tmp_path / "log.db", "--table", path, *begun)
    first, second = run(*words, "--query", "A,B", "A,B,C").json["answers"]
    assert first["price"] is None
    wanted = listed_price(counts, ["AB"], ["ABC"])
    assert {key: second["price"][key] for key in wanted} == pytest.approx(wanted)
    assert f"{wanted['bits']:.2f} bits" in run(*words, "--replay").json["history"][1]["detail"]


def test_the_grand_total_alone(run: Run) -> None:
    shown = run("frontier", CZECH, "--release", "", "--beta", 11, "--json").json
    assert shown["releasable"] is True and shown["width"] == 1841
    assert shown["released_frontier"] == [[]] and shown["released"] == 1
    # As many have a count below 11 where a 1 or 2 falls into them.
    assert shown["unreleasable"] == 8 and shown["undecided"] == 0


def test_names_with_commas(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        '"age, sex",B,C ,count\na,p,1,3\na,p,2,1\na,q,1,2\na,q,2,7\nb,p,1,5\nb,p,2,4\nb,q,1,0\nb,q,2,1\n'
    )
    widths = run("widths", path, "--json").json["widths"]
    assert set(widths) >= {"", "B", '"age, sex"', '"age, sex",B'}
    words = ("--release", ' C , "age, sex"', "--release", "age, sex", "--json")
    assert run("frontier", path, *words, "--beta", 0).json["released_frontier"] == [["age, sex", "C "]]
    assert run("bounds", path, *words).json["exact"] is True
    refused = run("bounds", path, "--release", "age, sex,B")
    assert refused.code == 3 and '"age, sex", B' in refused.err


def test_other_criteria(run: Run) -> None:
    words = (CZECH, "--criterion", "smallest-margin", "--beta", 20, "--json")
    shown = run("frontier", *words, "--release", "A,B,C").json
    assert shown["releasable"] is True and shown["bounds"] == "counts"
    found = run("optimal", *words, "--method", "exhaustive").json
    assert found["width"] >= 20 and found["decomposable"] is True
    assert run("optimal", *words, "--seed", 3).json["released"] == found["released"]
    assert run("optimal", *words, "--method", "heuristic").json["releasable"] is True


def test_optimal(run: Run) -> None:
    found = run("optimal", CZECH, "--method", "heuristic", "--beta", 6, "--json").json
    assert found["released"] == 60 and found["width"] == 9 and found["decomposable"] is False
    for method in ("annealing", "exhaustive"):
        seed = ("--seed", 5) if method == "annealing" else ()
        words = ("--method", method, "--beta", 3, "--at-risk", "1..3", *seed, "--json")
        first = run("optimal", CZECH, *words)
        assert first.code == 0
        if method == "annealing":
            assert first.json == run("optimal", CZECH, *words).json
        assert first.json["released"] == 48 and first.json["decomposable"] is True
        assert sum(first.json["by_dimension"].values()) == 48
        assert first.json["by_dimension"]["0"] == 1
        assert sorted(map(len, first.json["released_frontier"])) == [5, 5]
    assert "60 tables" in run("optimal", CZECH, "--method", "heuristic", "--beta", 6).out


def test_whom_the_system_does_not_know_gives_a_name(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 4711")

    monkeypatch.setattr("getpass.getuser", nobody)
    table = "example:duncan-roehrig-4x4"
    words = ("serve-session", tmp_path / "log.db", "--table", table, "--beta", 1, "--json")
    refused = run(*words)
    assert refused.code == 4 and refused.json["error"]["hint"] == "give --user"
    assert run(*words, "--user", "ann").code == 0
    assert run(*words, "--replay").code == 0


def test_a_session(run: Run, tmp_path: Path) -> None:
    words = ("serve-session", tmp_path / "log.db", "--table", CZECH, "--beta", 10, "--json")
    first = run(*words, "--user", "ann", "--query", "A,B", "A,B,C,D,E", "--query", "C").json
    assert [a["answer"] for a in first["answers"]] == ["table", "projection", "table"]
    (shown,) = first["answers"][0]["tables"]
    assert shown["variables"] == ["A", "B"] and shown["categories"] == [["no", "yes"]] * 2
    assert sum(map(sum, shown["counts"])) == 1841
    assert first["answers"][1]["released"] == [["A", "B"]]
    assert first["released_frontier"] == [["A", "B"], ["C"]] and first["released"] == 5
    second = run(*words, "--rule", "one-step", "--query", "A,B", "D,E", "D").json
    assert [a["answer"] for a in second["answers"]] == ["table", "deferral", "table"]
    assert second["session"] != first["session"]
    by_demand = ("--rule", "by-demand", "--set", "requests=2", "--query", "E,F", "E,F")
    asked = run(*words, *by_demand).json["answers"]
    assert [a["answer"] for a in asked] == ["deferral", "table"]
    history = run(*words, "--replay").json["history"]
    assert [h["number"] for h in history] == list(range(1, 9))
    assert [h["newly_released"] for h in history] == [*(True, False, True, False, False, True, False, True)]
    assert len(run(*words, "--replay", 2).json["history"]) == 2
    assert not run(*words, "--replay", "2001-01-01").json["history"]
    assert "ann" in run(*words[:-1], "--replay").out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("frontier", CZECH), 3, "empty release"),
        (("frontier", CZECH, "--release", "A,,B"), 3, "no variable ''"),
        (("frontier", CZECH, "--release", "A", "--criterion", "luck"), 4, "criterion"),
        (("frontier", CZECH, "--release", "A,Z"), 3, "no variable 'Z'"),
        (("frontier", CZECH, "--release", "A,A"), 3, "twice"),
        (("frontier", CZECH, "--release", "A,B,C,D,E,F,G"), 3, "no variable 'G'"),
        (("frontier", CZECH, "--release", "A", "--beta", "-1"), 4, "beta"),
        (("frontier", CZECH, "--release", "A", "--beta", "5000"), 5, "one-way tables"),
        (("frontier", CZECH, "--release", "A", "--bounds", "guess"), 2, "bounds"),
        (("frontier", CZECH, "--release", "A", "--at-risk", "3..1"), 4, "at_risk"),
        (("widths", CZECH, "--at-risk", "100000"), 3, "no small counts"),
        (("widths", CZECH, "--workers", "none"), 4, "workers"),
        (("widths", "example:nothing"), 3, "no example"),
        (("optimal", CZECH, "--beta", "5000"), 5, "(no, yes, yes, <140, <3, pos)"),
        (("optimal", CZECH, "--seed", "-3"), 4, "seed"),
        (("optimal", CZECH, "--method", "luck"), 2, "method"),
        (("serve-session", "x.db", "--query", "A"), 2, "table"),
        (("serve-session", "x.db", "--table", CZECH, "--query", "A,Q"), 3, "no variable 'Q'"),
        (("serve-session", "x.db", "--table", CZECH, "--rule", "luck"), 4, "rule"),
        (("serve-session", "x.db", "--table", CZECH, "--set", "a=1"), 4, "unknown"),
        (("serve-session", "no/x.db", "--table", CZECH, "--query", "A"), 3, "unable to open"),
        (("serve-session", "x.db", "--table", CZECH, "--replay", "soon"), 4, "replay"),
    ],
)
def test_bad_input(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    found = run(*words, "--json")
    assert found.code == code
    assert found.json["error"]["exit_code"] == code
    assert message in found.err
    assert not list(tmp_path.iterdir())


def test_a_table_without_small_counts(run: Run, tmp_path: Path) -> None:
    safe = table(tmp_path / "t.csv", "a,x,5\na,y,6\nb,x,7\nb,y,8\n")
    for words in (("widths",), ("frontier", "--release", "A"), ("optimal",)):
        found = run(words[0], safe, *words[1:])
        assert found.code == 3 and "no small counts" in found.err and "--at-risk" not in found.out


@pytest.mark.parametrize(
    "words",
    [
        ["frontier", "{file}", "--release", "nace"],
        ["bounds", "{file}", "--release", "nace"],
        ["widths", "{file}"],
        ["optimal", "{file}"],
        ["serve-session", "sqlite:///{folder}/s.db", "--table", "{file}", "--query", "region"],
        ["serve", "{file}"],
    ],
    ids=lambda words: words[0],
)
def test_a_table_of_sums_is_refused_where_nobody_said_that_sums_are_meant(
    words: list[str], tmp_path: Path, run: Run
) -> None:
    file = tmp_path / "sums.parquet"
    made = ["tabulate", "example:fictitious-businesses", "--by", "nace,region", "--measure", "turnover"]
    assert run(*made, "--holding", "ent", "--out", file).code == 0
    said = [word.format(file=file, folder=tmp_path) for word in words]
    refused = run(*said)
    assert refused.code == 3
    assert "a table of sums" in refused.err and "--measure" in refused.err
    # No address before there is something to be asked for.
    assert "http://" not in refused.out + refused.err
    other = run(*said, "--measure", "wages")
    assert other.code == 3 and "'turnover', not 'wages'" in other.err
    counts = run(*(CZECH if word == str(file) else word for word in said), "--measure", "turnover")
    assert (counts.code == 3 and "no sums" in counts.err) or words[0] == "serve"


def test_a_session_answers_with_sums(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "sums.parquet"
    made = ["tabulate", "example:fictitious-businesses", "--by", "nace,region", "--measure", "turnover"]
    assert run(*made, "--holding", "ent", "--out", file).code == 0
    of_sums = ["--table", file, "--measure", "turnover", "--user", "a"]
    found = run("serve-session", tmp_path / "s.db", *of_sums, "--query", "region", "nace", "--json").json
    first, second = found["answers"]
    assert (first["answer"] == "table" and sum(first["tables"][0]["sums"]) == 6_100_000) or first["tables"]
    assert (second["answer"], second["price"]) == ("refusal", None)
    assert found["unreleasable_frontier"] == [["nace"]]
    widths = run("widths", file, "--measure", "turnover", "--criterion", "n", "--json").json["widths"]
    assert widths["nace"] == 1 and widths["region"] > 3
