"""Comparisons: repeatable on any number of processes, to be cancelled, robust to failing methods."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

import numpy as np
import pytest

from tabprotect.engine.assessment.comparing.compare import compare
from tabprotect.engine.assessment.comparing.comparison import Comparison
from tabprotect.engine.assessment.comparing.one_run import run_seed
from tabprotect.engine.assessment.comparing.run_spec import Comparing, RunSpec, parse_spec
from tabprotect.engine.assessment.registered import measures
from tabprotect.engine.errors import InputError, Interrupted, ParameterError
from tabprotect.engine.progress import Cancellable, Progress
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.workers import spreading

FAST = ("hellinger_published", "hellinger_expected", "risk_fbeta", "posterior_true", "differencing")


def problem(shape: tuple[int, ...] = (4, 3, 2), seed: int = 5) -> Problem:
    counts = np.random.default_rng(seed).poisson(4, shape)
    return Problem(Table.dense(Domain.of_shape(shape), counts))


def specs(*texts: str) -> list[RunSpec]:
    return [spec for text in texts for spec in parse_spec(text)]


def test_a_comparison_depends_on_the_seed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = specs("cell_key D=3,5 js=1", "random_rounding base=3 margins=A:B:C-1")
    here = compare(problem(), wanted, Comparing(seed=8, measures=FAST, workers=1), runs_per_method=3)
    # Whatever is left is worth two processes, one run at a time.
    monkeypatch.setattr(spreading, "WORTHWHILE", -1.0)
    monkeypatch.setattr(spreading, "PATIENCE", 0.0)
    there = compare(problem(), wanted, Comparing(seed=8, measures=FAST, workers=2), runs_per_method=3)
    assert here.as_json() == there.as_json() and here.as_csv() == there.as_csv()
    assert len(here.runs) == 9 and len({r.seed for r in here.runs}) == 9
    assert any(a.values != b.values for a, b in zip(here.runs[:3], here.runs[1:3], strict=False))


def test_a_run_does_not_change_when_others_are_added() -> None:
    few = compare(
        problem(), specs("cell_key D=5"), Comparing(seed=1, measures=FAST, margins="A*B*C"), runs_per_method=2
    )
    many = compare(
        problem(),
        specs("cyclic_perturbation", "cell_key D=4,5"),
        Comparing(seed=1, measures=FAST, margins="A*B*C"),
        runs_per_method=3,
    )
    again = [
        r for r in many.runs if many.configurations[r.configuration].label == few.configurations[0].label
    ]
    assert [r.values for r in few.runs] == [r.values for r in again[:2]]


def test_without_a_seed_chances_are_fresh() -> None:
    made = [
        compare(problem(), specs("cell_key"), Comparing(measures=["hellinger_published"]), runs_per_method=1)
        for _ in range(2)
    ]
    assert made[0].seed != made[1].seed and not made[0].seed_given
    assert made[0].runs[0].seed != made[1].runs[0].seed
    assert str(made[0].runs[0].seed) not in repr(made[0])


def test_a_run_s_seed_replays_its_release() -> None:
    found = compare(
        problem(), specs("cell_key D=4 js=1"), Comparing(seed=3, measures=FAST), runs_per_method=2
    )
    run = found.runs[1]
    protected = methods()["cell_key"].run(problem(), {"D": 4, "js": 1}, Randomness.seeded(run.seed))
    again = found.release(run)
    assert again.tables == protected.release.tables
    assert again.mechanism.parameters == protected.release.mechanism.parameters
    figure = found.figure(run, "hellinger_published")
    assert figure.value == pytest.approx(run.values["hellinger_published"], rel=1e-11)
    assert figure.per_cell is not None and len(figure.per_cell) == found.plan.compared.size


def test_seeds_of_runs_are_large_and_apart() -> None:
    seeds = {run_seed(0, "a", n) for n in range(50)} | {run_seed(1, "a", 0)}
    assert len(seeds) == 51 and max(seeds).bit_length() > 100


def test_every_release_is_judged_on_the_same_cells() -> None:
    found = compare(
        problem(),
        specs("cyclic_perturbation", "cell_key"),
        Comparing(seed=1, measures=["published_share"]),
        runs_per_method=1,
    )
    assert found.plan.compared.size == 5 * 4 * 3
    assert [r.values["published_share"] for r in found.runs] == [1.0, 1.0]


def test_the_margins_are_for_all_that_take_them() -> None:
    found = compare(
        problem(),
        specs("cell_key", "cell_key margins=A", "cyclic_perturbation"),
        Comparing(margins="A*B", measures=["published_share"]),
        runs_per_method=1,
    )
    assert [c.parameters.get("margins") for c in found.configurations] == ["A*B", "A", None]
    share = [r.values["published_share"] for r in found.runs]
    # Of the 20 cells of A*B the second publishes the total and A.
    assert share == pytest.approx([1.0, 5 / 20, 1.0])


def test_faults_are_told_all_at_once() -> None:
    with pytest.raises(ParameterError) as caught:
        compare(problem(), specs("cell_key D=0 V=x", "random_rounding base=1"), Comparing())
    assert len(caught.value.fields) == 3
    with pytest.raises(ParameterError, match="two variables"):
        compare(
            Problem(Table.dense(Domain.of_shape((3,)), [1, 2, 3])), specs("cyclic_perturbation"), Comparing()
        )
    with pytest.raises(ParameterError, match="nothing"):
        compare(problem(), [], Comparing())
    with pytest.raises(InputError, match="Z"):
        compare(problem(), specs("cell_key"), Comparing(margins="A*Z"))


def test_a_method_without_chance_runs_once_and_counts_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    method = methods()["random_rounding"]
    drawn = 0

    def draw(
        problem: Problem, values: Mapping[str, object], generator: object, progress: object = None
    ) -> Draft:
        nonlocal drawn
        drawn += 1
        return type(method).draw(method, problem, values, np.random.default_rng(0))

    monkeypatch.setattr(method, "draw", draw, raising=False)
    monkeypatch.setattr(method, "is_random", lambda values: False, raising=False)
    found = compare(
        problem(),
        specs("random_rounding"),
        Comparing(seed=2, workers=1, measures=FAST[:3]),
        runs_per_method=4,
    )
    assert drawn == 1 and len(found.runs) == 4
    assert len({r.seed for r in found.runs}) == 4
    assert all(r.values == found.runs[0].values for r in found.runs)
    summary = found.summaries[0]["hellinger_published"]
    assert summary is not None and summary.deviation == 0


@pytest.mark.parametrize("fault", [InputError("too odd"), ValueError("12 secret counts")])
def test_a_method_that_fails_is_a_run_that_says_so(monkeypatch: pytest.MonkeyPatch, fault: Exception) -> None:
    def draw(*args: object) -> Draft:
        raise fault

    monkeypatch.setattr(methods()["random_rounding"], "draw", draw, raising=False)
    found = compare(
        problem(),
        specs("random_rounding", "cell_key"),
        Comparing(seed=2, workers=1, measures=("hellinger_published", "risk_fbeta")),
        runs_per_method=2,
    )
    bad, good = found.runs[:2], found.runs[2:]
    assert all(r.error and set(r.values.values()) == {None} for r in bad)
    assert "secret" not in bad[0].error and ("too odd" in bad[0].error) == isinstance(fault, InputError)
    assert all(not r.error and r.values["hellinger_published"] for r in good)
    assert found.front("risk_fbeta", "hellinger_published") == [1]


def test_a_need_that_is_missing_is_an_error_of_the_run() -> None:
    found = compare(
        Problem(Table.dense(Domain.of_shape((3,)), [1, 2, 3])),
        specs("cyclic_perturbation", "cell_key"),
        Comparing(measures=["hellinger_published"]),
        runs_per_method=2,
    )
    assert [bool(r.error) for r in found.runs] == [True, True, False, False]


class _Slow(Cancellable):
    """Notes when the work begins in earnest."""

    def __init__(self) -> None:
        super().__init__()
        self.fractions: list[float] = []

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        self.fractions.append(fraction)
        super().report(stage, fraction, partial)


def test_cancel_ends_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreading, "WORTHWHILE", -1.0)

    def sleepy(piece: int, progress: Progress) -> int:
        # A worker that is not ended outlasts the test's time limit.
        time.sleep(3600 if piece > 1 else 0.05)
        return piece

    progress = _Slow()
    timer = threading.Timer(2.0, progress.cancel)
    timer.start()
    with pytest.raises(Interrupted):
        spreading.spread(sleepy, [1] * 4 + [2] * 400, workers=2, progress=progress, stage="sleeping")
    timer.join()


def test_cancel_in_one_process() -> None:
    progress = Cancellable()
    progress.cancel()
    with pytest.raises(Interrupted):
        compare(problem(), specs("cell_key"), Comparing(workers=1), progress=progress)


def test_results_come_in_the_order_of_the_pieces() -> None:
    progress = _Slow()

    def square(piece: int, progress: Progress) -> int:
        return piece**2

    found = spreading.spread(square, range(37), workers=1, progress=progress, stage="")
    assert found == [k**2 for k in range(37)]
    assert progress.fractions == sorted(progress.fractions) and progress.fractions[-1] == 1.0


def test_the_export_has_every_run_and_measure() -> None:
    found: Comparison = compare(
        problem(), specs("cell_key margins='A*B + C'"), Comparing(seed=1, workers=1), runs_per_method=2
    )
    rows = found.as_csv().splitlines()
    assert len(rows) == 3
    assert rows[0].split(",") == ["run", "method", "seed", *measures(), "error"]
    data = found.as_json()
    assert data["confidential"] is True
    assert set(data["runs"][0]["measures"]) == set(measures())  # type: ignore[index]


def test_a_setting_without_a_solution_fails_alone() -> None:
    found = compare(
        problem(),
        specs("cell_key D=3 V=1", "random_rounding"),
        Comparing(seed=1, workers=1),
        runs_per_method=1,
    )
    assert found.runs[0].error and not found.runs[1].error
