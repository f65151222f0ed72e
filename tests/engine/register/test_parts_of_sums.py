"""Sums of all, of big and of small firms: what a reader works out of the three tables, by a programme of its own.

The oracle knows nothing of equations between totals: its unknowns are what big and small firms have in each
inner cell, and each number that is shown is one row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from magnitude_cases import Rows, suppressed, table_of
from scipy.optimize import linprog

from tabprotect.cli.main import main
from tabprotect.engine.protection.people import People
from tabprotect.engine.protection.problem import MagnitudeProblem
from tabprotect.engine.register.people.parts_of_sums import SumsInCommon, SumsReading
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.sensitivity.magnitude_rules import rules_of

SHAPE = (4, 3)
RULES = tuple(rules_of(["p=10"]))
ORDERS = [("all", "big", "small"), ("big", "small", "all"), ("small", "all", "big")]
Problems = Mapping[str, MagnitudeProblem]


def firms(seed: int) -> dict[str, Rows]:
    """Two to eight firms in each cell, with a few large ones."""
    generator = np.random.default_rng(seed)
    found: dict[str, dict[tuple[int, int, str], int]] = {"big": {}, "small": {}}
    for i, j in np.ndindex(SHAPE):
        for k in range(int(generator.integers(2, 9))):
            size = "big" if generator.random() < 0.5 else "small"
            found[size][i, j, f"u{i}{j}{k}"] = max(1, int(generator.lognormal(5, 1.2)))
    return {"all": found["big"] | found["small"], **found}


def drawn(seed: int) -> tuple[Problems, dict[str, PublishedMagnitudes]]:
    """Each of the three tables protected by itself."""
    problems = {
        name: MagnitudeProblem(table=table_of(rows, SHAPE), rules=RULES) for name, rows in firms(seed).items()
    }
    return problems, {
        name: suppressed(problem.table, RULES).release.magnitude_table for name, problem in problems.items()
    }


def row_of(name: str, nodes: tuple[int, ...]) -> np.ndarray:
    """Which of the unknowns a sum is of: what big firms have in each cell, then what small ones have."""
    inside = np.zeros(SHAPE)
    inside[tuple(slice(None) if node == size else node for node, size in zip(nodes, SHAPE, strict=True))] = 1
    inside = inside.reshape(-1)
    return np.concatenate([inside * (name != "small"), inside * (name != "big")])


def recovered(problems: Problems, shown: Mapping[str, PublishedMagnitudes]) -> int:
    """Unsafe sums that are hidden, and known exactly or so closely that the second knows the first."""
    rows, ends = [], []
    for name, table in shown.items():
        there = {tuple(one): number for number, one in enumerate(table.nodes.T.tolist())}
        for nodes in np.ndindex(*(size + 1 for size in SHAPE)):
            number = there.get(nodes)
            if number is None or not table.hidden[number]:
                rows.append(row_of(name, nodes))
                ends.append(0 if number is None else int(table.value[number]))
    given = {"A_eq": np.array(rows), "b_eq": np.array(ends, dtype=float), "bounds": (0, None)}
    found = 0
    for name, table in shown.items():
        for cell in np.flatnonzero(problems[name].unsafe & table.hidden):
            aim = row_of(name, tuple(table.nodes[:, cell].tolist()))
            least, most = linprog(aim, **given).fun, -linprog(-aim, **given).fun
            own = np.sort(problems[name].table.listing_of(np.array([cell])).own)
            first, second = int(own[-1]), int(own[:-1].max(initial=0))
            found += most - least < 0.5 or most - second < 1.1 * first - 1e-4
    return found


def together(
    problems: Problems, shown: Mapping[str, PublishedMagnitudes], order: tuple[str, ...], people: str = ""
) -> SumsInCommon:
    """What the last of them tells together with the others."""
    *earlier, last = order
    reading = SumsReading(problems[last], shown[last], People.parse(people))
    return reading.of((number, shown[name]) for number, name in enumerate(earlier, 1))


@pytest.mark.parametrize("seed", range(6))
def test_no_unsafe_sum_follows_from_the_tables_that_leave(seed: int) -> None:
    problems, shown = drawn(seed)
    order = ORDERS[seed % 3]
    left: tuple[str, ...] = ()
    for name in order:
        if not together(problems, shown, (*left, name)).known:
            left = (*left, name)
    assert len(left) == 2 and recovered(problems, shown) > 0
    assert recovered(problems, {name: shown[name] for name in left}) == 0
    said = together(problems, shown, order)
    assert said.known >= 1 and "hidden sum" in said.sentence
    assert not together(problems, shown, order, "other:1,2").known
    # Small firms are others than big ones, and parts of the same whole.
    truth = ["part" if "all" in (name, order[-1]) else "other" for name in order[:-1]]
    answered = together(problems, shown, order, f"{truth[0]}:1 {truth[1]}:2")
    assert answered.known == said.known and not answered.asked


def test_tables_that_cannot_be_parts_tell_nothing() -> None:
    """One sum of the part is larger than that of the whole: no sums fit."""
    problems, shown = drawn(0)
    larger = {key: value * 3 if key[0] == 1 else value for key, value in firms(0)["big"].items()}
    smaller = {key: value // 3 + 1 if key[0] == 2 else value for key, value in larger.items()}
    other = suppressed(table_of(smaller, SHAPE), RULES).release.magnitude_table
    assert not together(problems, {**shown, "big": other}, ("big", "all")).known


@pytest.mark.parametrize("said", ["", "corrected:1", "later:1"])
def test_one_firm_fewer_is_placed(said: str) -> None:
    """The same table without one firm of some size: the difference of sums is its turnover."""
    rows = firms(0)["all"]
    gone = max(rows, key=lambda key: rows[key])
    fewer = {key: value for key, value in rows.items() if key != gone}
    problems = {
        n: MagnitudeProblem(table=table_of(r, SHAPE), rules=RULES)
        for n, r in (("all", rows), ("fewer", fewer))
    }
    shown = {n: suppressed(one.table, RULES).release.magnitude_table for n, one in problems.items()}
    found = together(problems, shown, ("all", "fewer"), said)
    assert found.known and found.read == (1,) and found.asked == (() if said else (1,))
    assert not together(problems, shown, ("all", "fewer"), "other:1").known


def test_sums_of_another_year_are_not_asked_about() -> None:
    problems, shown = drawn(0)
    factors = np.random.default_rng(1).uniform(0.7, 1.4, len(firms(0)["all"]))
    rows = firms(0)["all"].items()
    later = {key: int(value * factor) + 1 for (key, value), factor in zip(rows, factors, strict=True)}
    other = suppressed(table_of(later, SHAPE), RULES).release.magnitude_table
    assert not together(problems, {**shown, "big": other}, ("big", "all"), "later:1").known


def test_the_third_table_is_refused_until_the_house_says_who_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text('[standing]\npattern_choice = "the house hides by the cheapest pattern"\n')
    for name, rows in firms(0).items():
        lines = [f"{i},{j},{firm},{value}\n" for (i, j, firm), value in rows.items()]
        Path(f"{name}.csv").write_text("industry,region,firm,turnover\n" + "".join(lines))
        by = ["--by", "industry,region", "--measure", "turnover", "--holding", "firm"]
        assert main(["tabulate", f"{name}.csv", *by, "--out", f"{name}.parquet"]) == 0

    def protect(name: str, *more: str) -> int:
        asked = ["--method", "suppression", "--rule", "p=10", "--policy", "policy.toml", "--json"]
        return main(["protect", f"{name}.parquet", *asked, *more, "--out", f"{name}.zip"])

    assert protect("all") == protect("big") == 0
    capsys.readouterr()
    assert protect("small") == 5
    error = json.loads(capsys.readouterr().out)["error"]
    assert "no. 1, 2" in error["message"] and "people other:1,2" in error["hint"]
    told = "--people", "part:1,2"
    assert protect("small", *told, "--accept", "they are on every sign") == 5
    assert "people other" not in json.loads(capsys.readouterr().out)["error"]["hint"]
    assert protect("small", "--accept", "they are on every sign") == 0
    assert main(["verify", "small.zip"]) == 7
    Path("small.zip").unlink()
    assert protect("small", "--people", "other") == 0
