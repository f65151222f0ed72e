"""What holds for every registered method, whatever it does: a new file runs through all of it."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.errors import InfeasibleError, ParameterError, TabprotectError
from tabprotect.engine.posterior.factors import reweighing
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.project.codec import Decoder, Encoder
from tabprotect.engine.protection.guarantees import GUARANTEES, verify
from tabprotect.engine.protection.needs import NEEDS
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.protection.summary import summarise
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.published import PublishedTable
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))

from factor_weight import weight
from round_trip import round_trip

NAMES = sorted(methods())
SHAPES = ((3, 4), (4, 3), (2, 3, 2), (5, 5))
SEED = 8128


def problem_of(shape: tuple[int, ...], seed: int) -> Problem:
    """A random table with many small counts and some zeros."""
    generator = np.random.default_rng(seed)
    counts = generator.negative_binomial(1, 0.12, shape) * (generator.random(shape) > 0.15)
    table = Table.dense(Domain.of_shape(shape), counts)
    return Problem(table, title="a table")


def run(name: str, problem: Problem, seed: int) -> Protected:
    method = methods()[name]
    given = method.trial_parameters(problem.table.domain)
    return method.run(problem, given, Randomness.seeded(seed))


@pytest.mark.parametrize("name", NAMES)
def test_the_declarations_are_complete(name: str) -> None:
    method = methods()[name]
    assert method.name == name and method.label
    first, second, *rest = method.help.split("\n\n")
    assert first.endswith(".") and "\n" not in first and len(first) < 100
    assert second.endswith(".") and rest
    assert "xample" in method.help and "Source" in method.help
    assert set(method.guarantees) <= set(GUARANTEES) and set(method.needs) <= set(NEEDS)
    assert all(sentence.endswith(".") for sentence in method.guarantees.values())
    for parameter in method.parameters:
        assert parameter.label and parameter.help.endswith(".")
        if parameter.kind in ("real", "integer"):
            assert parameter.low < parameter.high
        if parameter.kind == "choice":
            assert parameter.choices and parameter.default in parameter.choices
    json.dumps(method.as_json(), allow_nan=False)


@pytest.mark.parametrize("name", NAMES)
def test_huge_counts_end_in_a_posterior_or_a_reason(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reweighing, "BUDGET", 1e6)
    counts = [[10**11, 5], [2, 3 * 10**11]]
    method, table = methods()[name], Table.dense(Domain.of_shape((2, 2)), counts)
    given = method.trial_parameters(table.domain)
    try:
        protected = method.run(Problem(table), given, Randomness.seeded(SEED))
        found = infer(likelihood_of(protected.release), randomness=Randomness.seeded(1), draws=200)
    except TabprotectError:
        return
    for cell, count in np.ndenumerate(table.counts):
        values, chances = found.distribution(cell)
        assert values[0] <= count <= values[-1] or found.way == "monte_carlo"
        assert chances.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", NAMES)
def test_every_wrong_field_is_reported_at_once(name: str) -> None:
    method = methods()[name]
    domain = Domain.of_shape((3, 4))
    wrong: dict[str, object] = {"no such parameter": 1}
    for parameter in method.parameters:
        if parameter.kind in ("real", "integer"):
            wrong[parameter.name] = "many"
        elif parameter.kind in ("choice", "flag"):
            wrong[parameter.name] = "no such choice"
    with pytest.raises(ParameterError) as caught:
        method.resolve(domain, method.trial_parameters(domain) | wrong)
    assert set(caught.value.fields) == set(wrong)


@pytest.mark.parametrize("name", NAMES)
def test_promises_hold_runs_repeat_and_the_truth_stays_possible(name: str) -> None:
    method, runs, differing = methods()[name], 0, 0
    excuses: list[str] = []
    for number, shape in enumerate(SHAPES * 3):
        problem = problem_of(shape, SEED + number)
        if method.unmet(problem):
            continue
        try:
            first = run(name, problem, number)
        except InfeasibleError as error:
            # It may be impossible on this table, never for a broken promise.
            excuses.append(error.message)
            continue
        runs += 1
        values = method.resolve(problem.table.domain, method.trial_parameters(problem.table.domain))
        assert set(method.promised(values)) <= set(method.guarantees)
        assert run(name, problem, number).release.tables == first.release.tables
        differing += run(name, problem, number + 1).release.tables != first.release.tables
        likelihood = likelihood_of(first.release)
        if isinstance(likelihood, CellFactors) and likelihood.domain == problem.table.domain:
            if likelihood.rerun is not None and not likelihood.rerun.exact:
                likelihood = replace(likelihood, rerun=None)
            assert weight(likelihood, problem.table) > 0
    assert runs >= len(SHAPES) and not any("promise" in excuse for excuse in excuses)
    problem = problem_of((3, 4), 1)
    values = method.resolve(problem.table.domain, method.trial_parameters(problem.table.domain))
    assert (differing > 0) == method.is_random(values)


@pytest.mark.parametrize("name", NAMES)
def test_the_main_table_is_not_one_of_groups(name: str) -> None:
    """The release is judged by its main table, and groups hide small counts of their members."""
    method, problem = methods()[name], problem_of((4, 4), SEED)
    domain = problem.table.domain
    if not {"margins", "groupings"} <= {p.name for p in method.parameters}:
        return
    groups = ",".join(f"{label}>{i // 2}" for i, label in enumerate(domain.variables[0].categories))
    given = {"margins": "(g + A) * B", "groupings": f"g:A={groups}"}
    draft = method.draw(problem, method.resolve(domain, given), np.random.default_rng(1))
    ordered = [published.table.domain.names for published in draft.tables]
    assert ordered[:2] == [("A", "B"), ("g", "B")] and ordered[-1] == ()


@pytest.mark.parametrize("name", NAMES)
def test_bundle_dossier_and_project_file_give_it_again(name: str, tmp_path: Path) -> None:
    protected = run(name, problem_of((4, 4), SEED), 7)
    read = round_trip(protected, tmp_path)
    # Nothing that is not public is stated, and the bundle states all that is.
    method = methods()[name]
    stated = set(read.mechanism.parameters)
    assert {p.name for p in method.parameters if p.public} <= stated
    assert not {p.name for p in method.parameters if not p.public} & stated
    text = read.mechanism.to_text(categories=True)
    assert str(protected.record.seed) not in text or protected.record.seed < 10
    summary = summarise(protected)
    assert json.dumps(summary.as_json()) and summary.sentence.endswith(".")
    encoder = Encoder()
    number = encoder.put(protected)
    again = Decoder(json.loads(json.dumps(encoder.shared)), encoder.arrays).get(number)
    assert isinstance(again, Protected)
    assert again.release.tables == protected.release.tables
    assert again.record.sentence == protected.record.sentence
    assert [a.tolist() for a in again.record.statuses] == [
        a.tolist() for a in protected.record.statuses
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_promise_raises(name: str) -> None:
    """A published count that no promise allows is caught, where a promise can be seen at all."""
    method, problem = methods()[name], problem_of((4, 4), SEED)
    values = method.resolve(problem.table.domain, method.trial_parameters(problem.table.domain))
    draft = method.draw(problem, values, np.random.default_rng(3))
    names = method.promised(values)
    verify(names, problem, values, draft)
    main = draft.tables[0]
    broken = main.table.counts.copy()
    broken.reshape(-1)[np.flatnonzero(~main.hidden.reshape(-1))[0]] -= 1_000_003
    table = PublishedTable(Table.dense(main.table.domain, broken), main.suppressed)
    with pytest.raises(InfeasibleError, match="promise"):
        verify(names, problem, values, replace(draft, tables=(table, *draft.tables[1:])))
