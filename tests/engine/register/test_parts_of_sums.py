"""Sums of all, of big and of small firms: what a reader works out of the three tables, by a programme of its own.

The oracle knows nothing of equations between totals: its unknowns are what big and small firms have in each
inner cell, and each number that is shown is one row.
"""

from __future__ import annotations

import json
import shlex
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


def recovered(problems: Problems, shown: Mapping[str, PublishedMagnitudes]) -> list[str]:
    """The tables of unsafe sums that are known exactly or so closely that the second knows the first: whether the
    table has left or not."""
    rows, ends = [], []
    for name, table in shown.items():
        there = {tuple(one): number for number, one in enumerate(table.nodes.T.tolist())}
        for nodes in np.ndindex(*(size + 1 for size in SHAPE)):
            number = there.get(nodes)
            if number is None or not table.hidden[number]:
                rows.append(row_of(name, nodes))
                ends.append(0 if number is None else int(table.value[number]))
    given = {"A_eq": np.array(rows), "b_eq": np.array(ends, dtype=float), "bounds": (0, None)}
    found = []
    for name, problem in problems.items():
        for cell in np.flatnonzero(problem.unsafe):
            aim = row_of(name, tuple(problem.table.cells.nodes[:, cell].tolist()))
            least, highest = linprog(aim, **given).fun, linprog(-aim, **given)
            most = np.inf if highest.status == 3 else -highest.fun
            own = np.sort(problem.table.listing_of(np.array([cell])).own)
            first, second = int(own[-1]), int(own[:-1].max(initial=0))
            if most - least < 0.5 or most - second < 1.1 * first - 1e-4:
                found.append(name)
    return found


def together(
    problems: Problems, shown: Mapping[str, PublishedMagnitudes], order: tuple[str, ...], people: str = ""
) -> SumsInCommon:
    """What the last of them tells together with the others."""
    *earlier, last = order
    reading = SumsReading(problems[last], shown[last], People.parse(people))
    return reading.of((number, shown[name]) for number, name in enumerate(earlier, 1))


def truth(order: tuple[str, ...]) -> str:
    """What the house would say at the last of them: small firms are others than big ones, and part of all."""
    said = ("part" if "all" in (name, order[-1]) else "other" for name in order[:-1])
    return " ".join(f"{kin}:{number}" for number, kin in enumerate(said, 1))


@pytest.mark.parametrize("told", [False, True], ids=["asked", "told"])
@pytest.mark.parametrize("seed", range(6))
def test_no_unsafe_sum_follows_from_the_tables_that_leave(seed: int, told: bool) -> None:
    problems, shown = drawn(seed)
    order = ORDERS[seed % 3]
    left: tuple[str, ...] = ()
    for name in order:
        if not together(problems, shown, (*left, name), truth((*left, name)) if told else "").known:
            left = (*left, name)
    assert left and recovered(problems, shown)
    assert not recovered(problems, {name: shown[name] for name in left})
    said = together(problems, shown, order, truth(order) if told else "")
    assert said.known >= 1 and "hidden sum" in said.sentence and not (told and said.asked)
    assert not together(problems, shown, order, "other:1,2").known


def test_small_firms_that_are_large_enough_may_be_left_over() -> None:
    """Of a whole with many firms of one size the rest is safe whoever is in it; of an earlier whole nobody knows."""
    whole = {(i, j, f"u{k}"): 100 for i, j in np.ndindex(SHAPE) for k in range(40)}
    part = {key: value for key, value in whole.items() if int(key[2][1:]) < 15}
    problems = {
        n: MagnitudeProblem(table=table_of(r, SHAPE), rules=RULES) for n, r in (("all", whole), ("big", part))
    }
    shown = {n: suppressed(one.table, RULES).release.magnitude_table for n, one in problems.items()}
    assert not together(problems, shown, ("big", "all"), "part:1").known
    assert together(problems, shown, ("all", "big"), "part:1").known


@pytest.mark.parametrize(("each", "asked"), [(30, (1,)), (31, ())])
def test_sums_that_no_firms_of_the_whole_have_are_of_no_part(each: int, asked: tuple[int, ...]) -> None:
    values = {"u0": 10, "u1": 20, "u2": 40, "u3": 15}
    whole = {(i, j, k): value for i, j in np.ndindex(SHAPE) for k, value in values.items()}
    part = {(i, j, f"v{k}"): each // 3 + (k < each % 3) for i, j in np.ndindex(SHAPE) for k in range(3)}
    problems = {
        n: MagnitudeProblem(table=table_of(r, SHAPE), rules=RULES) for n, r in (("all", whole), ("big", part))
    }
    shown = {n: suppressed(one.table, RULES).release.magnitude_table for n, one in problems.items()}
    assert not shown["big"].hidden.any()
    assert together(problems, shown, ("big", "all")).asked == asked


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


def test_a_part_is_refused_until_the_house_says_who_is_in_it(
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

    assert protect("all") == 0
    capsys.readouterr()
    assert protect("big") == 5
    error = json.loads(capsys.readouterr().out)["error"]
    assert "no. 1" in error["message"] and "people other:1" in error["hint"]
    told = "--people", "part:1"
    assert protect("big", *told, "--accept", "they are on every sign") == 5
    capsys.readouterr()
    assert protect("big", *told) == 5
    error = json.loads(capsys.readouterr().out)["error"]
    assert "people other" not in error["hint"]
    # What would hide nearly all is not offered; noise on the sums is.
    taken = shlex.split(error["suggestions"][0])[1:]
    assert "multiplicative_noise" in taken and not {"--again", "--accept"} & set(taken)
    assert main(taken) == 0
    assert protect("big", "--accept", "they are on every sign") == 0
    assert main(["verify", "big.zip"]) == 7
