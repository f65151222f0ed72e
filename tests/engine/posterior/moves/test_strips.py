"""Open strips in one pass: reference values, elimination in general, draws; compiled and in numpy."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import strip_sweeps_in_numpy
from compiled_again import built

from tabprotect.engine.cycles.designs import design
from tabprotect.engine.posterior.moves import elimination, strips
from tabprotect.engine.posterior.moves.elimination import Elimination
from tabprotect.engine.posterior.moves.signature_model import GroupModel, group_model
from tabprotect.engine.posterior.moves.strips import StripPlan
from tabprotect.engine.posterior.prior import Factorial, Prior, Uniform
from tabprotect.engine.release.likelihood import BlockingRule, MoveSequence
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

REFERENCE = json.loads((Path(__file__).parents[3] / "reference" / "kernel.json").read_text())
SOURCE = Path(strips.__file__).with_name("strip_sweeps.c")


@pytest.fixture(params=["compiled", "numpy"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both forms of the sweeps."""
    if request.param == "numpy":
        monkeypatch.setattr(strips, "strip_sweeps", strip_sweeps_in_numpy)
    return str(request.param)


def model_of(
    counts: np.ndarray, rule: BlockingRule, coins: tuple[float, float], prior: Prior | None = None
) -> GroupModel:
    """One strip of all rows, along the first variable, or strips of eight; theta is .6."""
    domain = Domain.of_shape(counts.shape)
    height = min(8, min(counts.shape))
    given = {"height": height} if height > 2 else {"height": 2, "closed": False}
    moves = design(domain, "strips", given)
    table = Table.dense(domain, counts)
    return group_model(MoveSequence(table, moves, *coins, 1, rule, 0.6), prior or Uniform())


def found_by(model: GroupModel) -> tuple[Elimination, np.ndarray]:
    """The elimination, and its laws cell by cell as chances of the changes -4 to 4."""
    exact = Elimination.of(model)
    assert exact is not None and all(isinstance(one, StripPlan) for one in exact.plans)
    laws = exact.changes()
    pad = 4 - model.span
    return exact, np.pad(laws, ((0, 0), (pad, pad)))[model.signatures.group_of_cell]


def sparse(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Counts of mean 3 with many zeros, as they stand after swaps that fit them."""
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(0.6, 5.0, size=shape))


@pytest.mark.parametrize("case", [c for c in REFERENCE["cases"] if c["h"] <= c["n"]])
def test_the_reference_posteriors(case: dict[str, Any], way: str) -> None:
    counts = np.array(case["published"])
    _, laws = found_by(model_of(counts, case["rule"], (case["alpha"], case["beta"])))
    chances = np.array(case["chances"]).reshape(-1, 9)
    assert np.abs(laws - chances).max() < 1e-13


CASES: list[tuple[tuple[int, int], BlockingRule, tuple[float, float], int]] = [
    ((12, 6), "negative", (0.25, 0.25), 1),
    ((9, 4), "any_zero", (0.3, 0.2), 0),
    ((4, 15), "negative", (0.1, 0.3), 2),
    ((3, 6), "none", (0.2, 0.25), 3),
    ((10, 2), "any_zero", (0.25, 0.25), 0),
    ((13, 14), "negative", (0.4, 0.2), 5),
    ((11, 5), "reversible", (0.3, 0.2), 6),
    ((70, 3), "reversible", (0.25, 0.25), 7),
    ((9, 2), "reversible", (0.5, 0.5), 8),
]


@pytest.mark.parametrize("prior", [Uniform(), Factorial(0.7), Factorial(0.6)])
@pytest.mark.parametrize("case", CASES)
def test_strips_are_the_elimination_in_general(
    case: tuple[tuple[int, int], BlockingRule, tuple[float, float], int],
    prior: Prior,
    way: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shape, rule, coins, seed = case
    if rule == "none" and prior == Uniform():
        prior = Factorial(0.2)
    counts = sparse(shape, seed)
    if rule == "any_zero":
        counts += 1
    model = model_of(counts, rule, coins, prior)
    _, laws = found_by(model)
    monkeypatch.setattr(StripPlan, "of", classmethod(lambda *_: None))
    general = Elimination.of(model)
    assert general is not None
    assert all(isinstance(one, elimination.EliminationPlan) for one in general.plans)
    expected = general.changes()[model.signatures.group_of_cell]
    pad = 4 - model.span
    assert np.abs(laws[:, pad : 9 - pad] - expected).max() < 3e-15


def test_draws_have_the_laws_of_the_cells(way: str) -> None:
    said: list[tuple[BlockingRule, Prior]] = [
        ("negative", Uniform()),
        ("negative", Factorial(0.7)),
        ("reversible", Uniform()),
    ]
    for rule, prior in said:
        model = model_of(sparse((11, 5), 4), rule, (0.3, 0.2), prior)
        exact, laws = found_by(model)
        number = 8_000
        drawn = exact.draw(number, np.random.default_rng(1))[:, model.signatures.group_of_cell]
        shares = np.stack([(drawn == change).mean(axis=0) for change in range(-4, 5)], axis=1)
        assert shares[laws < 1e-14].sum() == 0
        often = (laws > 0.01) & (laws < 0.99)
        z = (shares - laws)[often] / np.sqrt((laws * (1 - laws))[often] / number)
        assert 0.7 < (z**2).mean() < 1.4 and np.abs(z).max() < 5
        # Joint draws: every one is an original that the mechanism can turn into the release.
        few = drawn[:300].reshape(300, 11, 5) @ np.ones(5, dtype=np.int64)
        assert not few.any() and not drawn[:300].reshape(300, 11, 5).sum(axis=1).any()


def test_one_strip_fills_the_lanes(way: str) -> None:
    """Every copy of a strip makes its own part of the draws, whatever their number."""
    model = model_of(sparse((7, 4), 1), "negative", (0.3, 0.2))
    exact, laws = found_by(model)
    number = 4 * 1_001 + 3
    drawn = exact.draw(number, np.random.default_rng(1))[:, model.signatures.group_of_cell]
    quarters = [drawn[part::4] for part in range(4)] + np.array_split(drawn, 4)
    for part in quarters:
        shares = np.stack([(part == change).mean(axis=0) for change in range(-4, 5)], axis=1)
        assert np.abs(shares - laws).max() < 5 * np.sqrt(0.25 / len(part))
    assert len(np.unique(drawn[-50:], axis=0)) > 10


def test_joint_draws_have_the_law_of_all_originals(way: str) -> None:
    model = model_of(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]), "negative", (0.25, 0.25))
    exact, _ = found_by(model)
    drawn = exact.draw(8_000, np.random.default_rng(3))[:, model.signatures.group_of_cell]
    tables, number = np.unique(drawn, axis=0, return_counts=True)
    assert len(tables) == 41
    from tabprotect.engine.posterior.moves.enumeration import enumerated_originals

    listed = enumerated_originals(model)
    assert listed is not None
    groups, changes, log_weights = listed
    column = np.argsort(groups)[model.signatures.group_of_cell]
    chance = {changes[i, column].tobytes(): w for i, w in enumerate(np.exp(log_weights - log_weights.max()))}
    weights = np.array([chance[np.ascontiguousarray(t, changes.dtype).tobytes()] for t in tables])
    expected = weights / weights.sum() * 8_000
    assert ((number - expected) ** 2 / expected).sum() < 40 + 4 * np.sqrt(80)


@pytest.mark.parametrize("rule", ["negative", "reversible"])
def test_both_forms_draw_the_same_tables(rule: BlockingRule, monkeypatch: pytest.MonkeyPatch) -> None:
    exact, laws = found_by(model_of(sparse((30, 14), 6), rule, (0.25, 0.25)))
    compiled = exact.draw(50, np.random.default_rng(2))
    monkeypatch.setattr(strips, "strip_sweeps", strip_sweeps_in_numpy)
    assert np.array_equal(exact.draw(50, np.random.default_rng(2)), compiled)
    again = found_by(exact.model)[1]
    assert np.abs(again - laws).max() < 3e-15


def test_nothing_is_read_before_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Built anew with all memory filled with NaN, the sweeps give the same numbers."""
    if shutil.which("cc") is None:
        pytest.skip("no compiler here")
    monkeypatch.chdir(tmp_path)
    exact, laws = found_by(model_of(sparse((12, 8), 7), "negative", (0.3, 0.25)))
    drawn = exact.draw(20, np.random.default_rng(5))
    poisoned = built(SOURCE, "POISONED", tmp_path)
    assert "strip_sweeps" not in sys.modules
    monkeypatch.setattr(strips, "strip_sweeps", poisoned)
    assert np.abs(found_by(exact.model)[1] - laws).max() < 1e-14
    assert np.array_equal(exact.draw(20, np.random.default_rng(5)), drawn)
