"""Tall strips by trains: reference values, the sweeps state by state, stated errors, draws, planted faults."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from compiled_again import built

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.cycles.designs import design
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.moves import strips, trains
from tabprotect.engine.posterior.moves.elimination import Elimination
from tabprotect.engine.posterior.moves.signature_model import GroupModel, group_model
from tabprotect.engine.posterior.moves.trains import TrainSweeps
from tabprotect.engine.posterior.prior import Factorial, Poisson, Prior, Uniform
from tabprotect.engine.release.likelihood import BlockingRule, MoveSequence
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

REFERENCE = json.loads((Path(__file__).parents[3] / "reference" / "trains.json").read_text())
CASES = [case for case in REFERENCE["cases"] if case["kind"] in ("enumerated", "kernel")]
SOURCE = Path(trains.__file__).with_name("column_trains.c")


class Positive(Prior):
    """Every count is at least 1."""

    label = "positive"

    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        return np.where(values > 0, 0.0, -np.inf) + 0.0 * keys


def prior_of(name: str, size: int) -> Prior:
    if name.startswith("poisson"):
        return Poisson(np.full(size, float(name.split()[1])))
    return Positive() if name == "positive" else Uniform()


def model_of(
    counts: np.ndarray, rule: BlockingRule, coins: tuple[float, float], prior: Prior | None = None
) -> GroupModel:
    """One strip, theta is 1."""
    domain = Domain.of_shape(counts.shape)
    moves = design(domain, "bands")
    likelihood = MoveSequence(Table.dense(domain, counts), moves, *coins, 1, rule, 1.0)
    return group_model(likelihood, prior or Uniform())


def laws_of(model: GroupModel) -> tuple[np.ndarray, float, Elimination]:
    """Chances of the changes -4 to 4 of each cell, the stated error, and how they were found."""
    exact = Elimination.of(model)
    assert exact is not None
    laws = exact.changes()
    pad = 4 - model.span
    return np.pad(laws, ((0, 0), (pad, pad)))[model.signatures.group_of_cell], exact.error, exact


@pytest.fixture
def low(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trains at any height."""
    monkeypatch.setattr(strips, "LOW", 2)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['kind']}-{case['rule']}-{case['prior']}")
def test_the_reference_posteriors(case: dict[str, Any], low: None) -> None:
    counts = np.array(case["published"])
    model = model_of(
        counts, case["rule"], (case["alpha"], case["beta"]), prior_of(case["prior"], counts.size)
    )
    laws, error, exact = laws_of(model)
    assert exact.tall and error < 1e-9
    laws = laws.reshape(*counts.shape, 9)
    if case["kind"] == "enumerated":
        wanted = {(c, r): one for c, row in enumerate(case["chances"]) for r, one in enumerate(row)}
    else:
        wanted = {tuple(one["cell"]): one["chances"] for one in case["cells"]}
    for cell, chances in wanted.items():
        for change in range(-4, 5):
            assert abs(laws[cell][change + 4] - chances.get(str(change), 0.0)) < 1e-12


def sparse(shape: tuple[int, int], seed: int, mean: float = 3.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(0.5, mean / 0.5, size=shape))


def both(model: GroupModel, monkeypatch: pytest.MonkeyPatch) -> tuple[float, float]:
    """The largest difference from the sweeps state by state, in total variation, and the stated error."""
    monkeypatch.setattr(strips, "LOW", 8)
    wanted, _, exact = laws_of(model)
    assert not exact.tall
    monkeypatch.setattr(strips, "LOW", 2)
    found, error, _ = laws_of(model)
    return float(np.abs(found - wanted).sum(axis=1).max() / 2), error


KINDS: list[tuple[BlockingRule, tuple[float, float]]] = [
    ("any_zero", (0.25, 0.25)),
    ("negative", (0.3, 0.1)),
    ("negative", (0.25, 0.25)),
    ("negative", (0.45, 0.45)),
]


def shares(tables: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[float]:
    """The shares of the stated error that are met: where each step is a law, and elsewhere.

    Tolerances are coarse and strips low, so that now one split leaves out much, now another.
    """
    monkeypatch.setattr(trains, "MOST_ERROR", np.inf)
    rng = np.random.default_rng(1)
    for seed in range(tables):
        rows = int(rng.integers(3, 6))
        counts = sparse((int(rng.integers(rows, 8)), rows), seed, float(rng.choice([0.5, 1.0, 3.0])))
        monkeypatch.setattr(trains, "TOLERANCE", float(10.0 ** -rng.uniform(0.3, 4)))
        off, error = both(model_of(counts, "negative", (0.25, 0.25)), monkeypatch)
        if error < 0.5:
            yield (off - 1e-13) / max(error / (1 - error), 1e-16)
        means = rng.gamma(0.3, 3, counts.size) + 0.02
        prior = Uniform() if seed % 4 < 2 else Poisson(means)
        off, error = both(model_of(counts, *KINDS[seed % 4], prior), monkeypatch)
        if error < 0.5:
            yield (off - 1e-13) / max(error, 1e-16)


def test_no_error_is_above_the_one_that_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    assert max(shares(200, monkeypatch)) <= 1.0


def with_fault(old: str, new: str, folder: Path) -> ModuleType:
    """The compiled part with one line written otherwise."""
    text = SOURCE.read_text()
    assert text.count(old) == 1
    (folder / "a" / "b").mkdir(parents=True)
    shutil.copy(SOURCE.parents[2] / "extension.h", folder / "extension.h")
    source = folder / "a" / "b" / SOURCE.name
    source.write_text(text.replace(old, new))
    return built(source, "FAULT", folder)


HAS_COMPILER = pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("cc") is None, reason="needs a C compiler"
)


@HAS_COMPILER
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("*error += rest * before_sum * beyond / fabs(total);", ""),
        ("*error += rest * before * (beyond < 1.0 ? beyond : 1.0) / fabs(total);", ""),
        ("*error += total > 0.0 ? one->rest * size * before * lap.beyond[bond] / total : INFINITY;", ""),
        ("*error += total > 0.0 ? rest * before * lap.beyond[bond] / total : INFINITY;", ""),
        ("(left_out[i] + w->left_out[c * k + i])", "left_out[i]"),
        ("(left_out[i] + w->left_out[c * k + i])", "w->left_out[c * k + i]"),
        ("#define NEVER 1e-60", "#define NEVER 1e-3"),
    ],
    ids=[
        "an error that forgets the splits of a column",
        "an error that forgets the sweeps between columns",
        "an error that forgets the splits of a message where it is read",
        "an error that forgets the splits of what is outside",
        "an error that forgets the sweeps of messages",
        "an error that forgets the sweeps of what is outside",
        "states that are dropped for being rare",
    ],
)
def test_planted_faults_are_found(
    old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trains, "column_trains", with_fault(old, new, tmp_path))
    assert any(share > 1.0 for share in shares(600, monkeypatch))


@HAS_COMPILER
def test_nothing_is_read_before_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, low: None
) -> None:
    models = [model_of(sparse((9, 8), seed), "negative", (0.25, 0.3 - 0.05 * seed)) for seed in (0, 1)]
    clean = [laws_of(model)[0] for model in models]
    monkeypatch.setattr(trains, "column_trains", built(SOURCE, "POISONED", tmp_path))
    for model, laws in zip(models, clean, strict=True):
        assert np.array_equal(laws_of(model)[0], laws)


@pytest.mark.parametrize(
    ("rule", "prior"), [("negative", Uniform()), ("any_zero", Factorial(0.7)), ("reversible", Uniform())]
)
def test_draws_have_the_laws_of_the_cells(rule: BlockingRule, prior: Prior, low: None) -> None:
    counts = sparse((11, 5), 4) + (rule == "any_zero")
    model = model_of(counts, rule, (0.3, 0.3 if rule == "reversible" else 0.2), prior)
    laws, _, exact = laws_of(model)
    number = 8_000
    drawn = exact.draw(number, np.random.default_rng(1))[:, model.signatures.group_of_cell]
    shares = np.stack([(drawn == change).mean(axis=0) for change in range(-4, 5)], axis=1)
    assert shares[laws < 1e-13].sum() == 0
    often = (laws > 0.01) & (laws < 0.99)
    z = (shares - laws)[often] / np.sqrt((laws * (1 - laws))[often] / number)
    assert 0.7 < (z**2).mean() < 1.4 and np.abs(z).max() < 5
    grid = drawn.reshape(number, 11, 5)
    assert not grid.sum(axis=1).any() and not grid.sum(axis=2).any()


def test_a_table_of_many_rows_is_one_strip() -> None:
    counts = sparse((60, 50), 3)
    domain = Domain.of_shape(counts.shape)
    likelihood = MoveSequence(Table.dense(domain, counts), design(domain, "bands"), 0.25, 0.25, 1, "negative")
    found = infer(likelihood, None, Approach())
    assert found.way == "exact" and found.error is not None and found.error < 1e-7
    drawn = found.draw_originals(400, np.random.default_rng(2), trains.SILENT)
    assert (drawn >= 0).all()
    unchanged = (drawn == counts.reshape(-1)).mean(axis=0)
    chances = found.probability(counts).reshape(-1)
    z = (unchanged - chances) / np.sqrt(np.maximum(chances * (1 - chances), 1e-3) / 400)
    assert 0.6 < (z**2).mean() < 1.5


def test_what_is_left_out_too_much_is_not_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trains, "WIDEST", 1)
    counts = sparse((20, 15), 3)
    model = model_of(counts, "negative", (0.25, 0.25))
    exact = Elimination.of(model)
    assert exact is not None and exact.tall
    with pytest.raises(trains.TooWideError):
        exact.changes()
    assert isinstance(
        exact._sweeps(exact.plans[0], exact.plans[0].structure.members, 0.0, trains.SILENT), TrainSweeps
    )  # type: ignore[arg-type]
    domain = Domain.of_shape(counts.shape)
    likelihood = MoveSequence(Table.dense(domain, counts), design(domain, "bands"), 0.25, 0.25, 1, "negative")
    found = infer(likelihood, None, Approach(draws=200))
    assert found.way == "monte_carlo" and found.independent
