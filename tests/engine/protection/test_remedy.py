"""What is offered instead of a mechanism whose releases are refused."""

from __future__ import annotations

import os

import numpy as np
import pytest

from tabprotect.engine.disclosure import gate
from tabprotect.engine.disclosure.choosing import acceptance_probability
from tabprotect.engine.disclosure.choosing.acceptance_probability import remedies
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import RefusedError
from tabprotect.engine.project.history import History
from tabprotect.engine.protection import registered
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.remedy import OTHERWISE
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

SPARSE = "example:sparse-10x10"


def weak(counts: np.ndarray | None = None, kind: str = "bidiagonal") -> History:
    """A project whose cycles are too long for its table."""
    history, _ = History().apply("open_table", {"source": SPARSE})
    if counts is not None:
        sizes = dict(zip("abc", counts.shape, strict=False))
        variables = {name: [f"{name}{i}" for i in range(n)] for name, n in sizes.items()}
        history, _ = history.apply("new_table", {"variables": variables})
        for index in np.argwhere(counts):
            cell = {"index": index.tolist(), "count": int(counts[tuple(index)])}
            history, _ = history.apply("set_count", cell)
    return history.apply("set_cycles", {"kind": kind})[0]


def test_the_best_remedy_comes_first_and_is_one_step_to_take() -> None:
    history = weak()
    project = history.project
    method, limits = project.protection, AgencyPolicy().limits()
    values = method.resolve(project.domain, project.given)
    offered = remedies(method, project.problem, values, limits)
    scores = [(-remedy.chance, remedy.known) for remedy in offered]
    assert scores == sorted(scores) and offered[0].known < 0.2
    assert all("synthetic tables" in str(remedy) for remedy in offered)
    for remedy in offered:
        taken, changes = history.apply("set_mechanism", dict(remedy.parameters))
        # Each that is offered is not refused when it is taken.
        after = taken.project
        assert gate.protect(after.protection, after.problem, after.given, Randomness.seeded(1))
    taken, changes = history.apply("set_mechanism", dict(offered[0].parameters))
    assert "parameters" in changes and taken.project.values["blocking"] == "negative"
    back, _ = taken.undo()
    assert back.project is project


def test_where_nothing_helps_the_refusal_says_what_else_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    # One person alone in a 2 x 2 table: no cycle can move anybody.
    project = weak(np.array([[1, 0], [0, 0]]), "default").project
    with pytest.raises(RefusedError) as caught:
        gate.protect(project.protection, project.problem, project.given, Randomness.seeded(1))
    (other,) = caught.value.suggestions
    assert dict(other.parameters) == {"method": "cell_key"} and str(other) == caught.value.hint
    monkeypatch.setattr(acceptance_probability, "other_methods", lambda *_: ())
    with pytest.raises(RefusedError) as caught:
        gate.protect(project.protection, project.problem, project.given, Randomness.seeded(1))
    assert caught.value.hint == OTHERWISE and not caught.value.suggestions


def test_of_a_large_table_only_what_the_budget_allows_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    method = weak().project.protection
    tried = []
    monkeypatch.setattr(
        acceptance_probability,
        "chance",
        lambda *of, **_: tried.append(of) or acceptance_probability.Chance(0, 0, 1),
    )
    for size, most in ((3, 99), (1500, 1), (2000, 0)):
        table = Table.dense(Domain.of_shape((size, size)), np.ones((size, size), dtype=np.int64))
        problem = Problem(table, at_risk=SmallCount())
        values = method.resolve(table.domain, {})
        ideas = [text for text, _ in method.alternatives(table.domain, values)]
        tried.clear()
        remedies(method, problem, values, AgencyPolicy().limits())
        # A small table is tried as it is, too.
        assert len(tried) == (len(ideas) + 1 if size == 3 else most)
        said = acceptance_probability.untried(method, table.domain, values)
        assert [text in said for text in ideas[most:3]] == [True] * len(ideas[most:3])
        assert bool(said) is (size > 3)


SHAPES = [(4, 3, 5), (2, 3, 4, 3), (6, 5, 4), (3, 3, 3, 3), (2, 2, 6, 5), (8, 4, 3)]


TABLES = int(os.environ.get("REMEDY_TABLES", "3"))
"""Sparse tables of three and four variables of which what is offered is run; 60 take minutes."""


def test_what_is_offered_passes_as_it_is_offered() -> None:
    """The first table is one that is refused."""
    method, taken = registered.methods()["cyclic_perturbation"], 0
    for seed in range(3, 3 + TABLES):
        rng = np.random.default_rng(seed)
        shape = SHAPES[seed % len(SHAPES)]
        counts = rng.poisson(rng.gamma(0.36, 3 / 0.36, size=shape))
        problem = Problem(Table.dense(Domain.of_shape(shape), counts), SmallCount())
        try:
            gate.protect(method, problem, {}, Randomness.seeded(seed))
        except RefusedError as error:
            for offered in error.suggestions:
                change = dict(offered.parameters)
                other = registered.methods()[str(change.pop("method", method.name))]
                done = gate.protect(other, problem, change, Randomness.seeded(seed))
                assert done.verdict.passed
                taken += 1
    assert taken


def test_the_sums_left_out_are_those_of_the_longest_variables() -> None:
    method = registered.methods()["cyclic_perturbation"]
    domain = Domain.of_shape((2, 6, 20, 5))
    values = method.resolve(domain, {})
    kept = [change["keep"] for _, change in method.alternatives(domain, values) if "keep" in change]
    a, b, c, d = domain.names
    assert kept == [
        f"{a}:{c}:{d} + {a}:{b}:{d} + {a}:{b}:{c}",
        f"{a}:{c}:{d} + {a}:{b}:{d}",
        f"{a} + {b} + {c} + {d}",
    ]
