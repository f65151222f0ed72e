"""Trying a method: the stream, its seeds, its budget and its errors, and that all folds read it."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from tabprotect.engine.assessment.comparing.compare import compare
from tabprotect.engine.assessment.comparing.run_spec import Comparing, RunSpec
from tabprotect.engine.belief.effort import TRIAL
from tabprotect.engine.disclosure.choosing import acceptance_probability, method_trials
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import InfeasibleError, Interrupted, attempted
from tabprotect.engine.fitting.synthetic_tables import expected_counts, synthetic_counts
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Cancellable, Progress
from tabprotect.engine.protection.cycle_runs.trial_runs import preview_cycles
from tabprotect.engine.protection.method import FEWEST_TRIALS
from tabprotect.engine.protection.methods.cyclic_perturbation import CyclicPerturbation
from tabprotect.engine.protection.methods.random_rounding import RandomRounding
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.simulate import (
    Runs,
    Trial,
    simulate,
    trial_coins,
    trial_generator,
    trial_seed,
)
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.margins import all_margins
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.structural import StructuralZeros
from tabprotect.engine.tables.table import Table

DOMAIN = Domain.of_shape((3, 4))
TABLE = Table.dense(DOMAIN, np.array([[1, 0, 7, 4], [2, 9, 3, 12], [5, 1, 8, 6]]))
PROBLEM = Problem(TABLE)
ROUNDING = RandomRounding()
NOBODY = StructuralZeros((("A", ("a1",)), ("B", ("b2",))))
PUBLISHED = 20  # cells of the table and its margins
BASE_3 = ROUNDING.resolve(DOMAIN, {"base": 3})


def generator() -> np.random.Generator:
    return np.random.default_rng(4)


def published(trials: list[Trial]) -> list[bytes]:
    return [trial.release.tables[0].table.counts.tobytes() for trial in trials]


class Picky(RandomRounding):
    """Refuses tables whose first count is odd, and breaks on one whose first count is 100."""

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        first = int(problem.table.counts.reshape(-1)[0])
        if first == 100:
            raise ZeroDivisionError("of a count of 100")
        if first % 2:
            raise InfeasibleError("the first count is odd")
        return super().draw(problem, values, generator, progress)


def with_first(count: int) -> Problem:
    counts = TABLE.counts.copy()
    counts[0, 0] = count
    return Problem(Table.dense(DOMAIN, counts))


def test_the_same_seed_gives_the_same_stream() -> None:
    first, again = (list(simulate(ROUNDING, PROBLEM, BASE_3, Runs(4), generator=generator())) for _ in "12")
    assert published(first) == published(again) and len(set(published(first))) > 1
    # It is that of the method drawing again and again.
    coins = generator()
    drawn = [ROUNDING.perform(PROBLEM, BASE_3, coins)[0] for _ in range(4)]
    assert [trial.release for trial in first] == drawn


def test_seeds_follow_from_what_is_tried() -> None:
    assert trial_seed("a", 1, "b") == trial_seed("a", 1, "b") != trial_seed("a", "b", 1)
    assert trial_seed("a", b"1") == trial_seed("a", "1") and trial_seed("a").bit_length() <= 128
    one, other = (trial_generator("a", stream=stream).random() for stream in (0, 1))
    assert one != other and trial_generator("a").random() == one
    assert trial_coins(DOMAIN).random() != trial_coins(Domain.of_shape((3,))).random()
    assert trial_coins(DOMAIN, "chance").random() != trial_coins(DOMAIN).random()


def test_a_refusal_is_in_the_stream_and_does_not_end_it() -> None:
    problems = [with_first(count) for count in (2, 3, 4)]
    trials = list(simulate(Picky(), problems, BASE_3, generator=generator()))
    assert [trial.refusal is None for trial in trials] == [True, False, True]
    assert [trial.problem for trial in trials] == problems
    refused = trials[1]
    assert str(refused.refusal) == "the first count is odd"
    with pytest.raises(InfeasibleError, match="first count is odd"):
        _ = refused.release
    assert refused.judged(lambda release: release) is refused.refusal
    assert trials[0].judged(lambda release: release) is trials[0].release


def test_an_interrupt_ends_it_at_once() -> None:
    progress = Cancellable()
    trials = simulate(ROUNDING, PROBLEM, BASE_3, Runs(5), generator=generator(), progress=progress)
    next(trials)
    progress.cancel()
    with pytest.raises(Interrupted):
        next(trials)

    def cancelled() -> int:
        raise Interrupted()

    with pytest.raises(Interrupted):
        attempted(cancelled, faults=True)


def test_a_fault_of_the_program_ends_it_but_in_a_long_series() -> None:
    problems = [with_first(100), with_first(2)]
    with pytest.raises(ZeroDivisionError):
        list(simulate(Picky(), problems, BASE_3, generator=generator()))
    first, second = simulate(Picky(), problems, BASE_3, Runs(1, faults=True), generator=generator())
    assert "ZeroDivisionError in test_simulate.py" in str(first.refusal)
    assert "100" not in str(first.refusal) and second.refusal is None


@pytest.mark.parametrize(
    ("runs", "number"),
    [
        (Runs(7), 7),
        (Runs(7, work=5.5 * PUBLISHED), 5),
        (Runs(7, 3, PUBLISHED), 3),
        (Runs(7, work=1000 * PUBLISHED), 7),
    ],
)
def test_the_budget_is_counted_work(runs: Runs, number: int) -> None:
    trials = list(simulate(ROUNDING, PROBLEM, BASE_3, runs, generator=generator()))
    assert trials[0].cost == PUBLISHED
    assert len(trials) == number == runs.of_cost(PUBLISHED)
    problems = [PROBLEM, PROBLEM]
    trials = list(simulate(ROUNDING, problems, BASE_3, runs, generator=generator()))
    assert len(trials) == 2 * number


def test_a_method_without_chance_is_tried_once_on_each_table() -> None:
    method = methods()["publish_margins"]
    values = method.resolve_for(PROBLEM, method.trial_parameters(DOMAIN))
    assert len(list(simulate(method, [PROBLEM] * 2, values, Runs(9), generator=generator()))) == 2


def test_who_watches_sees_the_share_that_is_done() -> None:
    seen: list[float] = []

    class Watched:
        def report(self, stage: str, fraction: float, partial: object = None) -> None:
            seen.append(fraction)

    list(simulate(ROUNDING, [PROBLEM] * 3, BASE_3, Runs(4), generator=generator(), progress=Watched()))
    assert seen == sorted(seen) and seen[0] == 0.0 and 0.9 < seen[-1] <= 1.0
    # Of an endless stream of tables nobody asks for more than is read.
    endless = (PROBLEM for _ in iter(int, 1))
    assert len(list(islice(simulate(ROUNDING, endless, BASE_3, generator=generator()), 5))) == 5


def test_the_preview_folds_the_stream() -> None:
    preview = ROUNDING.foresee(PROBLEM, BASE_3)
    trials = list(
        simulate(
            ROUNDING,
            PROBLEM,
            BASE_3,
            Runs(ROUNDING.most_trials, FEWEST_TRIALS),
            generator=trial_coins(DOMAIN),
        )
    )
    small = PROBLEM.at_risk.mask(TABLE.counts)
    moved = np.stack([t.release.tables[0].table.counts - TABLE.counts for t in trials])[:, small]
    assert preview.runs == len(trials) and preview.judged_cells == int(small.sum())
    assert preview.unchanged_share == pytest.approx((moved == 0).mean())
    assert preview.mean_absolute_deviation == pytest.approx(np.abs(moved).mean())
    assert preview.change[1] == pytest.approx((moved == 1).mean())


def test_copies_of_cycles_side_by_side_say_what_single_runs_say() -> None:
    method = CyclicPerturbation()
    values = method.resolve_for(PROBLEM, {"cycles": "elementary"})
    preview = preview_cycles(PROBLEM, values)
    trials = simulate(method, PROBLEM, values, Runs(400), generator=generator())
    small = PROBLEM.at_risk.mask(TABLE.counts)
    same = [(t.release.table.counts == TABLE.counts)[small].mean() for t in trials]
    assert np.mean(same) == pytest.approx(preview.unchanged_share, abs=0.06)
    assert 0.05 < preview.unchanged_share < 0.95


def test_the_chance_of_the_gate_and_the_trial_of_a_method_fold_it() -> None:
    method, limits = methods()["cyclic_perturbation"], Gate()
    values = method.resolve_for(PROBLEM, {})
    found = acceptance_probability.chance(
        acceptance_probability.Setting(method, values, limits), PROBLEM, most=3
    )
    coins = trial_coins(DOMAIN, "chance", method.name)
    kept = KeptMargins.of(Publication(DOMAIN, all_margins(DOMAIN)), TABLE)
    counts = synthetic_counts(expected_counts(kept), 3, coins)
    for whose, problems in (
        (found.synthetic, [Problem(Table.dense(DOMAIN, c.reshape(3, 4))) for c in counts.T]),
        (found.here, [PROBLEM] * 3),
    ):
        trials = list(simulate(method, problems, values, generator=coins))
        accepted = [verdict(t.release, limits, effort=TRIAL).accepted for t in trials]
        assert whose == pytest.approx(np.mean(accepted))

    trial = method_trials._drawn(
        method, PROBLEM, (method_trials.MethodTrial(method.name), values), limits, SILENT
    )
    runs = Runs(method_trials.RUNS)
    stream = simulate(method, PROBLEM, values, runs, generator=trial_coins(DOMAIN))
    moved = [np.abs(t.release.table.counts - TABLE.counts).mean() for t in stream]
    assert trial.moved == pytest.approx(np.mean(moved))


def test_a_run_of_a_comparison_is_a_trial_that_its_seed_replays() -> None:
    spec = RunSpec("random_rounding", {"base": 3})
    found = compare(PROBLEM, [spec], Comparing(seed=5, measures=["hellinger_published"]), runs_per_method=2)
    assert len({run.seed for run in found.runs}) == 2
    again = compare(PROBLEM, [spec], Comparing(seed=5, measures=["hellinger_published"]), runs_per_method=3)
    assert found.runs == again.runs[:2]


def test_synthetic_tables_have_the_expected_counts_and_the_public_zeros() -> None:
    structural = Domain(DOMAIN.variables, (NOBODY,))
    table = Table.dense(structural, TABLE.counts)
    kept = KeptMargins.of(Publication(structural, all_margins(structural)), table)
    expected = expected_counts(kept)
    for shape in (None, 1.0):
        counts = synthetic_counts(expected, 4000, generator(), shape=shape)
        assert counts.shape == (12, 4000) and not counts[1].any()
        assert counts.mean(axis=1) == pytest.approx(expected, rel=0.15, abs=0.2)
    wide = synthetic_counts(expected, 4000, generator(), shape=1.0)
    assert (wide == 0).mean() > (synthetic_counts(expected, 4000, generator()) == 0).mean()


def test_the_chance_is_found_where_nobody_can_be() -> None:
    structural = Domain(DOMAIN.variables, (NOBODY,))
    problem = Problem(Table.dense(structural, TABLE.counts))
    method = methods()["cyclic_perturbation"]
    values = method.resolve_for(problem, {})
    setting = acceptance_probability.Setting(method, values, Gate())
    assert acceptance_probability.chance(setting, problem, most=2).synthetic is not None
