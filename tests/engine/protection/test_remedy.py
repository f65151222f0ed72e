"""What is offered instead of a weak mechanism: taken, it is not refused."""

from __future__ import annotations

import numpy as np
import pytest

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


def sparse(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return generator.integers(1, 4, shape) * (generator.random(shape) < 0.35)


def test_the_best_remedy_comes_first_and_is_one_step_to_take() -> None:
    history = weak()
    project = history.project
    remedies = project.protection.preview(project.problem, project.given).remedies
    shares = [remedy.unchanged_share for remedy in remedies]
    assert shares == sorted(shares)
    assert remedies[0].text == "swaps through positive cells"
    assert shares[0] == pytest.approx(0.08, abs=0.01)
    taken, changes = history.apply("set_mechanism", dict(remedies[0].parameters))
    assert {"cycles", "parameters"} <= changes
    assert taken.project.values["order"] == "positive"
    back, _ = taken.undo()
    assert back.project is project


@pytest.mark.parametrize(
    "counts", [None, sparse(1, (7, 7)), sparse(2, (6, 9)), sparse(3, (3, 4, 4))]
)
@pytest.mark.parametrize("kind", ["bidiagonal", "strips"])
def test_what_is_offered_is_not_refused_when_it_is_taken(
    counts: np.ndarray | None, kind: str
) -> None:
    if counts is not None and counts.ndim > 2:
        kind = "elementary"
    history = weak(counts, kind)
    project = history.project
    preview = project.protection.preview(project.problem, project.given)
    assert bool(preview.remedies) <= bool(preview.weak)
    for remedy in preview.remedies:
        other = history.apply("set_mechanism", dict(remedy.parameters))[0].project
        found = other.protection.preview(other.problem, other.given)
        assert not found.weak, str(remedy)
        assert found.unchanged_share == pytest.approx(remedy.unchanged_share, abs=0.05)
        other.protection.protect(other.problem, other.given, Randomness.seeded(1))


def test_where_nothing_helps_the_refusal_says_what_else_to_do() -> None:
    # One person alone in a 2 x 2 table: no cycle can move anybody.
    project = weak(np.array([[1, 0], [0, 0]]), "default").project
    assert not project.protection.preview(project.problem, project.given).remedies
    with pytest.raises(RefusedError) as caught:
        project.protection.protect(project.problem, project.given, Randomness.seeded(1))
    assert caught.value.hint == OTHERWISE
