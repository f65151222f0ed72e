"""What is offered instead of a mechanism whose releases are refused."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.disclosure import gate
from tabprotect.engine.disclosure.before import remedies
from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.errors import RefusedError
from tabprotect.engine.project.history import History
from tabprotect.engine.protection.remedy import OTHERWISE
from tabprotect.engine.randomness import Randomness

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
    method, limits = project.protection, HousePolicy().limits()
    values = method.resolve(project.domain, project.given)
    offered = remedies(method, project.problem, values, limits)
    scores = [(-remedy.chance, remedy.known) for remedy in offered]
    assert scores == sorted(scores) and offered[0].known < 0.2
    assert all("synthetic tables" in str(remedy) for remedy in offered)
    taken, changes = history.apply("set_mechanism", dict(offered[0].parameters))
    assert "parameters" in changes and taken.project.values["blocking"] == "negative"
    back, _ = taken.undo()
    assert back.project is project


def test_where_nothing_helps_the_refusal_says_what_else_to_do() -> None:
    # One person alone in a 2 x 2 table: no cycle can move anybody.
    project = weak(np.array([[1, 0], [0, 0]]), "default").project
    with pytest.raises(RefusedError) as caught:
        gate.protect(project.protection, project.problem, project.given, Randomness.seeded(1))
    assert caught.value.hint == OTHERWISE and not caught.value.suggestions
