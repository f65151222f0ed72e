"""What is learned of whole groups of people: reference values, brute force, told and judged."""

from __future__ import annotations

import csv
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabprotect.engine.disclosure import groups
from tabprotect.engine.disclosure.gate import protect
from tabprotect.engine.disclosure.groups import group_beliefs
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import ParameterError, RefusedError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import SILENT
from tabprotect.engine.project.sources import open_table
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors, MoveSequence, product
from tabprotect.engine.release.mechanism import Gate, Mechanism
from tabprotect.engine.release.published_numbers import Law
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.roles import Roles
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.structural import StructuralZeros
from tabprotect.engine.tables.table import Table
from tabprotect.version import RESOURCES

REFERENCE: dict[str, Any] = json.loads((Path(__file__).parents[2] / "reference" / "groups.json").read_text())
CYCLIC = [name for name in REFERENCE if name.startswith("cyclic")]
GIVEN = {"cell_key": {"D": 5, "V": 3, "js": 2}, "random_rounding": {"base": 3, "margins": "area:ill - 1"}}
ILL = Domain.of({"area": ["r1", "r2", "r3"], "ill": ["a", "b", "c"]})
TRUE = Table.dense(ILL, np.array([[0, 0, 25], [10, 12, 9], [8, 14, 20]]))
SENSITIVE = Roles.parse(["ill"])

CHEAPEST: dict[str, object] = {"choice": "cheapest"}


def release_of(method: str, table: Table, given: dict[str, object]) -> Release:
    of = methods()[method]
    values = of.resolve(table.domain, given)
    stated = {
        p.name: values[p.name]
        for p in of.parameters
        if p.public and not (p.may_be_unstated and values[p.name] is None)
    }
    return Release.of(table, Mechanism(method, table.domain, stated))


def cyclic(case: dict[str, Any]) -> Release:
    given = {
        "cycles": MoveSet.from_arrays(ILL, [np.array(cycle) for cycle in case["cycles"]]),
        "alpha": case["alpha"],
        "beta": case["alpha"],
        "blocking": case["rule"],
        "passes": case["passes"],
    }
    return release_of("cyclic_perturbation", Table.dense(ILL, np.array(case["published"])), given)


def exact(table: Table) -> Release:
    """A table of which nothing is hidden."""
    return (
        methods()["suppression"].run(Problem(table, SmallCount(1, 1)), CHEAPEST, Randomness.seeded(1)).release
    )


def beliefs_of(posterior: Posterior, axis: int = 1, least: int = 3) -> groups.GroupBeliefs:
    keys = [other for other in range(posterior.domain.ndim) if other != axis]
    tables = groups.DrawnOnce(posterior, np.random.default_rng(1), SILENT)
    found = group_beliefs(tables, posterior.domain, None, axis, keys, least)
    assert found is not None
    return found


def by_definition(posterior: Posterior, least: int = 3) -> np.ndarray:
    """Of a table of two variables, the second sensitive: every original looked at, group by group."""
    listed = posterior.list_originals()
    assert listed is not None
    whole = np.zeros(posterior.domain.shape)
    for original, weight in zip(*listed, strict=True):
        for k, row in enumerate(original.reshape(posterior.domain.shape)):
            for c, x in enumerate(row):
                whole[k, c] += weight * (row.sum() == x >= least)
    return whole


@pytest.mark.parametrize("name", CYCLIC)
def test_chances_are_those_of_the_reference_from_its_originals(name: str) -> None:
    case = REFERENCE[name]
    release = cyclic(case)
    posterior = infer(likelihood_of(release))
    assert posterior.originals == case["originals"]
    found = beliefs_of(posterior)
    assert found.share is not None and found.insider is not None
    assert np.abs(found.whole - case["whole"]).max() < 1e-12
    assert np.abs(found.share - case["share"]).max() < 1e-12
    assert np.abs(found.insider - case["insider"]).max() < 1e-12
    judged = verdict(release, AgencyPolicy().limits(roles=SENSITIVE)).as_json()
    assert judged["groups"] == pytest.approx(case["expected"], abs=1e-12)
    assert judged["groups_mean_belief"] == pytest.approx(case["mean_belief"], abs=1e-12)
    assert judged["groups_known"] == 0


def of_sum(domain: Domain, cells: list[int], law: Law) -> CellFactors:
    """What is known of one sum of cells."""
    starts = np.array([0, len(cells)])
    return CellFactors.of(domain, (), (starts, np.array(cells)), np.zeros(1, dtype=np.int64), [law])


@pytest.mark.parametrize("name", [name for name in REFERENCE if name not in CYCLIC])
def test_chances_are_those_of_the_reference_cell_by_cell(name: str) -> None:
    method = name.split(" ")[0]
    found = re.search(r"\((\d+), ?(\d+), ?(\d+)\)", name)
    assert found is not None
    counts = [int(count) for count in found.groups()]
    domain = Domain.of({"area": ["r1"], "ill": ["a", "b", "c"]})
    if method == "small_count_rounding":
        # 1 and 2 become 0 with chances of 2 and 1 in 3.
        zero = 0, 2, np.log([1, 2 / 3, 1 / 3])
        known = [of_sum(domain, [c], (n, n, None) if n else zero) for c, n in enumerate(counts)]
    else:
        release = release_of(method, Table.dense(domain, np.array([counts])), {**GIVEN[method]})
        likelihood = likelihood_of(release)
        assert isinstance(likelihood, CellFactors)
        known = [likelihood]
    if name.endswith("total 25"):
        known.append(of_sum(domain, [0, 1, 2], (25, 25, None)))
    if "(.5^x)" in name:
        known += [of_sum(domain, [c], (0, 40, np.arange(41) * np.log(0.5))) for c in (0, 1)]
    belief, right = beliefs_of(infer(product(known))), REFERENCE[name]
    assert belief.share is not None and belief.insider is not None
    for one, other in ((belief.whole, "whole"), (belief.share, "share"), (belief.insider, "insider")):
        assert np.abs(one[0] - right[other]).max() < 1e-12


def test_ways_agree_where_no_total_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = Domain.of({"k": ["a", "b"], "s": ["x", "y", "z"]})
    generator = np.random.default_rng(7)
    seen = 0
    for _ in range(12):
        published = Table.dense(domain, generator.integers(0, 4, (2, 3)))
        # Moves down the columns: people change their group.
        cycles = [np.eye(3, dtype=int)[c] * np.array([[1], [-1]]) for c in range(3)]
        cycles.append(np.array([[1, -1, 0], [-1, 1, 0]]))
        moves = MoveSet.from_arrays(domain, cycles)
        for rule in ("negative", "any_zero"):
            posterior = infer(MoveSequence(published, moves, 0.3, 0.2, 2, rule))
            true = by_definition(posterior)
            with monkeypatch.context() as patch:
                patch.setattr(groups, "LISTED_CELLS", 0)
                laws = beliefs_of(posterior)
            listed = beliefs_of(posterior)
            assert laws.share is None and listed.share is not None
            assert np.abs(listed.whole - true).max() < 1e-12
            assert np.abs(laws.whole - true).max() < 1e-12
            assert np.abs(laws.enough - listed.enough).max() < 1e-12
            unlisted = replace(
                posterior, exact_sums=None, list_originals=lambda: None, count_originals=lambda: None
            )
            drawn = beliefs_of(unlisted)
            assert drawn.draws == groups.DRAWN and np.abs(drawn.whole - true).max() < 0.06
            seen += int((true > 0.01).sum())
    assert seen > 20


def test_parts_that_hang_together_and_totals_that_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table.dense(Domain.of({"k": ["a", "b"], "s": ["x", "y"]}), np.array([[0, 4], [3, 0]]))
    monkeypatch.setattr(groups, "LISTED_CELLS", 0)
    seen = set()
    for margins in ("k:s - 1", "k:s + k - 1", "k:s + s - 1", "k*s"):
        given = {"base": 3, "margins": margins}
        release = methods()["random_rounding"].run(Problem(table), given, Randomness.seeded(1)).release
        posterior = infer(likelihood_of(release))
        if posterior.way != "exact" or posterior.list_originals() is None:
            continue
        found = beliefs_of(posterior)
        seen.add(margins)
        assert np.abs(found.whole - by_definition(posterior)).max() < 1e-12
    assert len(seen) > 1


def test_structural_zeros_and_categories_that_do_not_matter_are_skipped() -> None:
    def judged(table: Table, roles: Roles) -> tuple[float, int]:
        found = verdict(exact(table), limits_of(roles)).as_json()
        return found["groups"], found["groups_known"]

    assert judged(TRUE, SENSITIVE) == (1, 1)
    assert judged(TRUE, Roles.parse(["ill=a,b"])) == (0, 0)
    alone = ILL.with_structural([StructuralZeros((("area", ("r1",)), ("ill", ("a", "b"))))])
    assert judged(TRUE.on(alone), SENSITIVE) == (0, 0)


def limits_of(roles: Roles) -> Gate:
    return AgencyPolicy().limits(roles=roles)


def test_a_sensitive_variable_is_judged_and_others_are_told() -> None:
    problem = Problem(TRUE)
    done = protect(methods()["suppression"], problem, CHEAPEST, Randomness.seeded(1))
    assert done.record.verdict is not None and done.record.verdict.passed
    assert "1 is believed to share one category" in done.record.verdict.sentence
    assert "groups" not in json.dumps(done.release.mechanism.as_json())
    with pytest.raises(RefusedError, match="all share one category of ill") as refused:
        protect(methods()["suppression"], replace(problem, roles=SENSITIVE), CHEAPEST, Randomness.seeded(1))
    assert refused.value.suggestions
    told = protect(
        methods()["suppression"],
        replace(problem, roles=SENSITIVE),
        CHEAPEST,
        Randomness.seeded(1),
        policy=AgencyPolicy(groups="tell"),
    )
    assert told.record.verdict is not None and told.record.verdict.passed
    with pytest.raises(RefusedError, match="all share one"):
        protect(
            methods()["suppression"],
            problem,
            CHEAPEST,
            Randomness.seeded(1),
            policy=AgencyPolicy(groups="judge_all"),
        )
    policy = AgencyPolicy(sensitive=("ill", "income"))
    with pytest.raises(RefusedError, match="all share one category of ill"):
        protect(methods()["suppression"], problem, CHEAPEST, Randomness.seeded(1), policy=policy)


def test_a_gate_states_what_it_judges_and_reads_it_again() -> None:
    roles = Roles.parse(["ill=a,b", "age"], ["area"])
    stated = AgencyPolicy().limits(roles=roles)
    assert stated.groups and Gate.from_json(stated.as_json()) == stated
    plain = AgencyPolicy().limits()
    assert "groups" not in plain.as_json()["gate"]  # type: ignore[operator]
    assert roles.words == ["ill=a,b", "age"] and roles.checked is not None


def test_roles_are_of_the_table() -> None:
    with pytest.raises(ParameterError) as wrong:
        Roles.parse(["income"], ["x"]).checked(ILL)
    assert set(wrong.value.fields) == {"sensitive", "key_variables"}
    with pytest.raises(ParameterError, match="no category"):
        Roles.parse(["ill=z"]).checked(ILL)
    with pytest.raises(ParameterError, match="is sensitive"):
        Roles.parse(["ill"], ["ill"]).checked(ILL)


def test_groups_are_told_by_key_variables_alone() -> None:
    domain = Domain.of({"k": ["a", "b"], "l": ["p", "q"], "s": ["x", "y"]})
    table = Table.dense(domain, np.array([[[2, 0], [2, 0]], [[2, 3], [4, 0]]]))
    release = exact(table)
    found = {
        keys: verdict(release, limits_of(Roles.parse(["s"], keys))).as_json()["groups"]
        for keys in ((), ("k",), ("l",), ("k", "l"))
    }
    # b and q alone are four people by both; a holds four by one.
    assert found == {(): 1, ("k",): 1, ("l",): 1, ("k", "l"): 1}


def test_beyond_the_work_nothing_is_told_silently(monkeypatch: pytest.MonkeyPatch) -> None:
    release = cyclic(REFERENCE[CYCLIC[0]])
    monkeypatch.setattr(groups, "MOST_CELLS", 8)
    told = verdict(release, AgencyPolicy().limits())
    assert told.passed and told.as_json()["groups"] is None
    assert "share a category was not worked out" in told.sentence
    judged = verdict(release, limits_of(SENSITIVE))
    assert judged.passed is None and judged.left_out == ("simulation",)


SWAPPING: dict[str, Any] = json.loads((Path(__file__).parents[2] / "reference" / "swapping.json").read_text())


@pytest.mark.parametrize("setting", SWAPPING["group_help"])
def test_more_passes_and_other_coins_hide_a_group_as_in_the_reference(setting: str) -> None:
    """The mean over a few runs: a group without others is published as one under any_zero."""
    rule, coin, passes = setting.split()
    chance = 1 / 3 if coin == "0.33" else float(coin)
    given = {"alpha": chance, "beta": chance, "blocking": rule, "passes": int(passes)}
    given["cycles"] = MoveSet.from_arrays(ILL, [np.array(cycle) for cycle in REFERENCE[CYCLIC[0]]["cycles"]])
    whole, expected = [], SWAPPING["group_help"][setting]
    for seed in range(2):
        release = methods()["cyclic_perturbation"].run(Problem(TRUE), given, Randomness.seeded(seed)).release
        assert release.table.counts[0].tolist() == [0, 0, 25]
        found = beliefs_of(infer(likelihood_of(release)))
        whole.append(found.whole[0, 2])
        if found.share is not None:
            assert found.share[0, 2] == pytest.approx(expected["share"], abs=0.005)
    # Several passes are drawn: a standard error of .01.
    assert np.mean(whole) == pytest.approx(expected["whole"], abs=0.05)


def surveyed(name: str) -> Table:
    """A table of the reference's survey."""
    if name.startswith("example "):
        return open_table(name.replace("example ", "example:")).table
    with gzip.open(RESOURCES / "examples" / "adult-census" / "records.csv.gz", "rt") as file:
        read = list(csv.DictReader(file))
    columns = {"occ": "occupation", "work": "workclass", "edu": "education", "race": "race"}
    one, other = (columns[word] for word in name.removeprefix("adult48842 ").split(" x "))
    domain = Domain.of({column: sorted({row[column] for row in read}) for column in (one, other)})
    codes = [[domain[column].categories.index(row[column]) for row in read] for column in (one, other)]
    counts = np.bincount(np.ravel_multi_index(codes, domain.shape), minlength=domain.size)
    return Table.dense(domain, counts.reshape(domain.shape))


@pytest.mark.parametrize("case", SWAPPING["group_survey"])
def test_ordinary_tables_with_hidden_counts_are_those_of_the_survey(case: str) -> None:
    """By the cheapest pattern; its choice is not read back, as in the survey."""
    table = surveyed(case.split(" | ")[0])
    release = methods()["suppression"].run(Problem(table), CHEAPEST, Randomness.seeded(1)).release
    posterior = infer(likelihood_of(release))
    for axis in range(2):
        found, expected = beliefs_of(posterior, axis), SWAPPING["group_survey"][case][str(axis)]
        assert found.whole.sum() == pytest.approx(expected["expected"], abs=1)
        assert (found.whole.max(axis=1) > 0.95).sum() == expected["known"]
        counts = np.moveaxis(table.counts, axis, 1)
        whole = (counts == counts.sum(axis=1, keepdims=True)) & (counts >= 3)
        assert whole.sum() == expected["true"]
