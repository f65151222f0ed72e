"""The orders of the cycles: each is the stated mechanism, and its posterior is that mechanism's."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.cycles.cycle_family import Family
from tabprotect.engine.cycles.designs import design
from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError
from tabprotect.engine.posterior.adaptive import adaptive_tables, adaptive_walk
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.prior import Poisson, Positive, Uniform
from tabprotect.engine.project.history import History
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.verbs.release_verbs import protect_words
from tabprotect.engine.protection.cycle_runs import forward_walk as walk
from tabprotect.engine.protection.cycle_runs.sequence import draw_sequence
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import AdaptiveSequence, Likelihood, MoveSequence
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table
from tabprotect.testing.brute_force import Cells, outcomes
from tabprotect.testing.calibration import LIMIT, calibrate_method

METHOD = methods()["cyclic_perturbation"]


def table(counts: object) -> Table:
    array = np.array(counts)
    return Table.dense(Domain.of_shape(array.shape), array)


def protect(counts: object, seed: int = 1, **given: object) -> Protected:
    return METHOD.run(Problem(table(counts)), given, Randomness.seeded(seed))


# -- the oracle: every original, each outcome of choice and coin ---------------------------------


def candidates(published: np.ndarray) -> Iterator[Cells]:
    """Every table of counts with all the margins over one variable less."""
    axes = range(published.ndim)
    left = [published.sum(axis=a) for a in axes]

    def fill(cell: int, cells: Cells) -> Iterator[Cells]:
        if cell == published.size:
            if not any(margin.any() for margin in left):
                yield cells
            return
        index = np.unravel_index(cell, published.shape)
        at = [index[:a] + index[a + 1 :] for a in axes]
        for count in range(min(int(left[a][at[a]]) for a in axes) + 1):
            for a in axes:
                left[a][at[a]] -= count
            # Nothing may be left where no cell comes any more.
            if not _lost(left, published.shape, cell):
                yield from fill(cell + 1, (*cells, count))
            for a in axes:
                left[a][at[a]] += count

    yield from fill(0, ())


def _lost(left: list[np.ndarray], shape: tuple[int, ...], cell: int) -> bool:
    index = np.unravel_index(cell, shape)
    return index[-1] == shape[-1] - 1 and bool(left[-1][index[:-1]])


def oracle(published: np.ndarray, moves: MoveSet, **mechanism: object) -> dict[Cells, float]:
    target = tuple(published.reshape(-1).tolist())
    found = {
        x: outcomes(x, moves, **mechanism).get(target, Fraction(0))  # type: ignore[arg-type]
        for x in candidates(published)
    }
    total = sum(found.values()) or Fraction(1)
    return {x: float(p / total) for x, p in found.items() if p}


def check_against(expected: dict[Cells, float], likelihood: Likelihood) -> None:
    found = infer(likelihood, approach=Approach(way="exact"))
    assert found.originals == len(expected)
    for cell in range(found.domain.size):
        index = found.domain.unflat(cell)
        law = Counter[int]()
        for x, p in expected.items():
            law[x[cell]] += p
        values, chances = found.distribution(index)
        assert dict(zip(values.tolist(), chances.tolist(), strict=True)) == pytest.approx(law)
    drawn = found.sample(400, np.random.default_rng(1)).reshape(400, -1)
    assert {tuple(row) for row in drawn.tolist()} <= set(expected)


# -- orders that do not look at the table ---------------------------------------------------------

CASES = [
    ("listed", 3, "any_zero"),
    ("listed", 5, "negative"),
    ("random", 0, "any_zero"),
    ("random", 5, "negative"),
    ("replacement", 4, "any_zero"),
    ("replacement", 0, "negative"),
]


@pytest.mark.parametrize(("order", "steps", "rule"), CASES)
def test_the_posterior_is_that_of_the_published_sequence(order: str, steps: int, rule: str) -> None:
    done = protect(
        [[2, 1, 0], [1, 1, 2]],
        cycles="every",
        alpha=0.25,
        beta=0.125,
        order=order,
        n_cover=steps,
        blocking=rule,
    )
    # All a reader has: the bytes of the bundle.
    release = verify_bytes(public.to_bytes(done.release, page=False)).release
    stated = json.loads(release.mechanism.to_text())
    cycles, count = len(stated["cycles"]), steps or len(stated["cycles"])
    sequence = stated.get("sequence", [s % cycles for s in range(count)])
    assert len(sequence) == count and ("sequence" in stated) == (order != "listed")
    assert done.record.steps is not None and done.record.steps.cycles.tolist() == sequence
    likelihood = likelihood_of(release)
    assert isinstance(likelihood, MoveSequence)
    expected = oracle(
        release.table.counts,
        release.mechanism.parameters["cycles"],  # type: ignore[arg-type]
        alpha=Fraction(1, 4),
        beta=Fraction(1, 8),
        rule=rule,
        sequence=sequence,
    )
    check_against(expected, likelihood)


def test_orders_are_drawn_as_their_names_say() -> None:
    rng = np.random.default_rng(2)
    several = [draw_sequence(rng, "random", cycles=5, steps=13) for _ in range(2000)]
    for sequence in several[:50]:
        assert sorted(sequence[:5]) == sorted(sequence[5:10]) == [0, 1, 2, 3, 4]
        assert len(sequence) == 13 and len(set(sequence[10:].tolist())) == 3
    # Every pass by itself: any cycle is as likely anywhere, whatever came in the pass before.
    for step in (0, 7, 12):
        share = np.bincount([s[step] for s in several], minlength=5) / 2000
        assert np.abs(share - 0.2).max() < 4.5 * np.sqrt(0.16 / 2000)
    again = np.mean([s[0] == s[5] for s in several])
    assert abs(again - 0.2) < 4.5 * np.sqrt(0.16 / 2000)
    drawn = draw_sequence(rng, "replacement", cycles=5, steps=20_000)
    assert np.abs(np.bincount(drawn, minlength=5) / 20_000 - 0.2).max() < 4.5 * np.sqrt(0.16 / 2e4)
    assert abs((drawn[1:] == drawn[:-1]).mean() - 0.2) < 4.5 * np.sqrt(0.16 / 2e4)
    assert draw_sequence(rng, "listed", cycles=3, steps=5).tolist() == [0, 1, 2, 0, 1]


def test_two_passes_are_twice_as_many_steps() -> None:
    counts = np.arange(16).reshape(4, 4) % 5
    passes = protect(counts, seed=7, cycles="elementary", passes=2)
    steps = protect(counts, seed=7, cycles="elementary", n_cover=32)
    assert passes.release.table == steps.release.table
    first, second = likelihood_of(passes.release), likelihood_of(steps.release)
    assert isinstance(first, MoveSequence) and isinstance(second, MoveSequence)
    assert first.passes == second.passes == 2 and first.moves == second.moves


def test_cells_that_a_cut_list_never_reaches_are_immovable() -> None:
    problem = Problem(table(np.full((4, 4), 5)))
    whole = METHOD.preview(problem, {"cycles": "strips"})
    cut = METHOD.preview(problem, {"cycles": "strips", "n_cover": 1})
    assert not len(whole.immovable) and len(cut.immovable) == 12
    random = METHOD.preview(problem, {"cycles": "strips", "n_cover": 1, "order": "random"})
    assert not len(random.immovable)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"n_cover": 4, "passes": 2}, "n_cover"),
        ({"n_cover": -1}, "n_cover"),
        ({"order": "sorted"}, "order"),
        ({"order": "positive", "blocking": "negative"}, "order"),
        ({"cycles": "data", "order": "listed"}, "order"),
    ],
)
def test_what_does_not_go_together_is_refused(given: dict[str, object], field: str) -> None:
    with pytest.raises(ParameterError) as caught:
        METHOD.resolve(Domain.of_shape((3, 3)), given)
    assert field in caught.value.fields


def test_too_many_swaps_are_not_listed() -> None:
    with pytest.raises(ParameterError, match="too many"):
        METHOD.resolve(Domain.of_shape((100, 100)), {"cycles": "data"})


def test_a_sequence_too_long_to_be_written_out_is_refused() -> None:
    domain = Domain.of_shape((40, 40))
    for order in ("random", "replacement", "listed"):
        with pytest.raises(ParameterError, match="too many"):
            METHOD.resolve(domain, {"cycles": "bidiagonal", "order": order, "n_cover": 9_999_999})
    METHOD.resolve(domain, {"cycles": "bidiagonal", "n_cover": 9_999_960})


@pytest.mark.parametrize(
    "wrong", [None, [0, 1], [0, 1, 2, 3, 4, 9], [0, 0, 1, 2, 3, 4], [0.0, 1, 2, 3, 4, 5], "012345", 6]
)
def test_a_sequence_that_was_never_drawn_is_refused(wrong: object) -> None:
    done = protect(np.full((3, 4), 3), cycles="strips", order="random", n_cover=6)
    stated = dict(done.release.mechanism.parameters) | {"sequence": wrong}
    forged = Release.of(done.release.table, Mechanism(METHOD.name, done.release.domain, stated))
    with pytest.raises(InputError, match="sequence"):
        likelihood_of(forged)


@pytest.mark.parametrize("name", ["order", "n_cover", "blocking"])
def test_a_mechanism_has_to_state_its_order_and_blocking(name: str) -> None:
    done = protect(np.full((3, 4), 3), passes=2)
    stated = {n: v for n, v in done.release.mechanism.parameters.items() if n != name}
    silent = Mechanism(METHOD.name, done.release.domain, stated)
    with pytest.raises(InputError, match=f'does not state "{name}"'):
        likelihood_of(Release.of(done.release.table, silent))


@pytest.mark.parametrize("order", ["listed", "random", "replacement", "positive"])
def test_a_dossier_replays_and_lists_the_cycle_of_each_step(order: str, tmp_path: Path) -> None:
    done = protect([[2, 1, 0, 3], [1, 1, 2, 1], [1, 0, 1, 1]], cycles="every", order=order, n_cover=30)
    path = tmp_path / "dossier.zip"
    confidential.write(done, path)
    assert done.record.steps is not None
    again = confidential.read(path)
    assert again.record.steps is not None
    assert np.array_equal(again.record.steps.cycles, done.record.steps.cycles)
    text = confidential.files(done)["CONFIDENTIAL/coins.csv"].decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [int(r["cycle"]) - 1 for r in rows] == done.record.steps.cycles.tolist()
    assert {r["pass"] for r in rows} == {"1"}


def test_a_project_keeps_the_order_and_its_command_line_says_it(tmp_path: Path) -> None:
    history = History()
    for name, arguments in (
        ("open_table", {"source": "example:duncan-roehrig-4x4"}),
        ("set_cycles", {"kind": "data"}),
        ("protect", {"seed": 4}),
    ):
        history, _ = history.apply(name, arguments)
    project = history.project
    assert dict(project.parameters) == {"order": "positive", "n_cover": 16}
    assert project.cycles_from == "every" and len(project.cycles) == 36
    words = protect_words(project)
    for word in ("cycles=every", "order=positive", "n_cover=16"):
        assert word in words
    path = tmp_path / "p.tabprotect"
    storage.save(history, path)
    again = storage.load(path).project.protected
    assert project.protected is not None and again is not None
    one, two = project.protected.record.steps, again.record.steps
    assert one is not None and two is not None
    assert one.sequence is not None and two.sequence is not None
    assert np.array_equal(one.sequence, two.sequence) and two.sequence.dtype == np.int64
    assert again.release == project.protected.release
    # A number that was set stays; an order that was set otherwise is no mistake to be mended.
    kept, _ = history.apply("set_parameters", {"n_cover": 7})
    kept, _ = kept.apply("set_cycles", {"kind": "data"})
    assert kept.project.parameters["n_cover"] == 7
    listed, _ = history.apply("set_parameters", {"order": "listed"})
    with pytest.raises(ParameterError, match="order"):
        listed.apply("set_cycles", {"kind": "data"})


# -- cycles that the running table chooses --------------------------------------------------------

SMALL = [
    ([[1, 2, 1], [2, 1, 1]], "every", 3),
    ([[1, 0, 2], [2, 1, 1]], "every", 5),
    ([[0, 1, 1], [1, 1, 0], [1, 1, 1]], "elementary", 2),
    ([[[1, 1], [2, 1]], [[1, 2], [1, 1]]], "every", 4),
    ([[1, 1], [0, 1]], "every", 3),
]


@pytest.mark.parametrize(("published", "kind", "steps"), SMALL)
@pytest.mark.parametrize(("alpha", "beta"), [("1/4", "1/4"), ("1/2", "1/4"), ("1/2", "1/2")])
def test_all_originals_with_their_exact_chances(
    published: list[object], kind: str, steps: int, alpha: str, beta: str
) -> None:
    final = table(published)
    moves = design(final.domain, kind)
    a, b = Fraction(alpha), Fraction(beta)
    likelihood = AdaptiveSequence(final, moves, float(a), float(b), steps)
    expected = oracle(final.counts, moves, alpha=a, beta=b, rule="any_zero", sequence=[None] * steps)
    if expected:
        check_against(expected, likelihood)
        return
    # Every coin moves, and no table is so many moves away.
    assert a + b == 1
    with pytest.raises(InputError, match="cannot come from so many steps"):
        infer(likelihood)


@pytest.mark.parametrize("tries", [0, 1, 32])
def test_forwards_each_free_cycle_is_as_likely(tries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "TRIES", tries)
    counts = np.array([[2, 1, 0], [1, 1, 1], [0, 2, 1]])
    moves = design(Domain.of_shape((3, 3)), "every")
    runs, steps = 40_000, 3
    state = np.repeat(counts.reshape(-1, 1), runs, axis=1)
    rng = np.random.default_rng(tries)
    coins = walk.flip(rng, (steps, runs), alpha=0.5, beta=0.25)
    sequence, effective = walk.walk_positive(state, Family.of(moves), coins, rng)
    assert ((effective == 0) | (sequence >= 0)).all()
    law = outcomes(
        tuple(counts.reshape(-1).tolist()),
        moves,
        alpha=Fraction(1, 2),
        beta=Fraction(1, 4),
        rule="any_zero",
        sequence=[None] * steps,
    )
    seen = Counter(map(tuple, state.T.tolist()))
    assert set(seen) <= set(law)
    for cells, chance in law.items():
        p = float(chance)
        assert abs(seen[cells] / runs - p) < 4.8 * np.sqrt(p * (1 - p) / runs) + 1e-9, cells
    # What was done leads from the original to where the run ended.
    moved = np.zeros_like(state)
    arrays = np.stack([moves.array(i).reshape(-1) for i in range(len(moves))])
    for step in range(steps):
        moved += np.where(sequence[step] >= 0, arrays[sequence[step]].T * effective[step], 0)
    assert np.array_equal(state, counts.reshape(-1, 1) + moved)


def test_unbiased_though_the_table_chooses() -> None:
    counts = np.array([[3, 1, 0], [2, 1, 1], [1, 1, 4]])
    walker = walk.Walker(design(Domain.of_shape((3, 3)), "every"), "positive", 12, 0.3, 0.3, "any_zero")
    runs = 30_000
    state = np.repeat(counts.reshape(-1, 1), runs, axis=1)
    walker.run(state, np.random.default_rng(8))
    mean, error = state.mean(axis=1), state.std(axis=1) / np.sqrt(runs)
    assert (np.abs(mean - counts.reshape(-1)) <= 4.5 * error + 1e-12).all()
    assert error.max() > 0 and (state.min(axis=1) >= 0).all()
    assert "unbiased" in METHOD.promised(METHOD.resolve(Domain.of_shape((3, 3)), {"cycles": "data"}))


def test_nothing_is_blocked_where_long_cycles_would_be() -> None:
    reference = Path(__file__).parents[3] / "reference" / "cyclic.json"
    counts = json.loads(reference.read_text())["measured_variants"]["tables"]["mid8x12"]
    preview = METHOD.preview(Problem(table(counts)), {"cycles": "data"})
    assert preview.blocked_share < 0.01 and not len(preview.immovable)


def test_the_choice_of_cycles_stays_in_the_house() -> None:
    done = protect(np.full((3, 4), 2), cycles="data")
    stated = json.loads(done.release.mechanism.to_text())
    assert "sequence" not in stated
    assert (stated["order"], stated["n_cover"], stated["passes"]) == ("positive", 12, 1)
    likelihood = likelihood_of(done.release)
    assert isinstance(likelihood, AdaptiveSequence) and likelihood.steps == 12


def test_bridges_are_reported_and_never_move() -> None:
    counts = [[1, 2, 0, 0], [2, 1, 0, 0], [0, 1, 3, 0], [0, 0, 1, 2]]
    done = protect(counts, cycles="data")
    found = done.record.findings["bridges"]
    assert found == [[2, 1], [2, 2], [3, 2], [3, 3]]
    assert "4 positive cells are bridges" in done.record.sentence
    preview = METHOD.preview(Problem(table(counts)), {"cycles": "data"})
    assert {done.release.domain.flat(cell) for cell in found} <= set(preview.immovable.tolist())
    moved = np.zeros((4, 4), dtype=bool)
    for seed in range(40):
        change = protect(counts, seed=seed, cycles="data").release.table.counts - np.array(counts)
        moved |= change != 0
    assert np.argwhere(~moved & (np.array(counts) > 0)).tolist() == found
    cube = protect(np.full((2, 2, 2), 2), cycles="data").record.findings
    assert cube["bridges"] is None and "two-way" in str(cube["why_no_bridges"])


@pytest.mark.parametrize(
    ("alpha", "beta", "special"),
    [
        (0.25, 0.25, ""),
        (0.45, 0.3, ""),
        (0.45, 0.3, "no lists of neighbours"),
        (0.45, 0.3, "resampled at each step"),
    ],
)
@pytest.mark.parametrize("kind", ["uniform", "poisson", "positive"])
def test_draws_agree_with_the_list(
    kind: str, alpha: float, beta: float, special: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if special == "no lists of neighbours":
        monkeypatch.setattr("tabprotect.engine.cycles.cycle_family.MOST_NEIGHBOURS", 0)
    elif special:
        resampled = adaptive_walk.resampled
        monkeypatch.setattr(adaptive_walk, "resampled", lambda w, g, _: resampled(w, g, 1.0))
    final = table([[2, 3, 1], [3, 2, 0], [2, 3, 4]])
    if kind == "positive":
        final = table(final.counts + 1)
    likelihood = AdaptiveSequence(final, design(final.domain, "every"), alpha, beta, 8)
    means = np.random.default_rng(3).gamma(4.0, 0.4, 9)
    prior = {"uniform": Uniform(), "poisson": Poisson(means), "positive": Positive()}[kind]
    exact = infer(likelihood, prior, Approach(way="exact"))
    drawn = infer(
        likelihood, prior, Approach(way="monte_carlo", draws=6_000), randomness=Randomness.seeded(4)
    )
    assert exact.way == "exact" and drawn.way == "monte_carlo"
    assert drawn.error is not None and drawn.effective_sample_size is not None
    assert 0 < drawn.error < 0.03 and drawn.effective_sample_size > 500
    for k in range(9):
        difference = np.abs(drawn.probability(k) - exact.probability(k))
        assert difference.max() < 5.5 * drawn.error
    together = exact.sample(4000, np.random.default_rng(1)).mean(axis=0)
    apart = drawn.sample(4000, np.random.default_rng(2)).mean(axis=0)
    assert np.abs(together - exact.mean).max() < 0.15
    assert np.abs(apart - exact.mean).max() < 0.25


def test_beyond_the_limits_it_is_drawn_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    final = table([[2, 3, 1], [3, 2, 0], [2, 3, 4]])
    likelihood = AdaptiveSequence(final, design(final.domain, "every"), 0.25, 0.25, 6)
    for name, limit in (("ADAPTIVE_TABLES", 20), ("ADAPTIVE_EDGES", 50), ("MOST_APPLIED", 50)):
        with monkeypatch.context() as patch:
            patch.setattr(adaptive_tables, name, limit)
            found = infer(likelihood, approach=Approach(draws=500), randomness=Randomness.seeded(1))
            assert found.way == "monte_carlo" and "too many" in found.reason
            assert found.originals is None
            with pytest.raises(InfeasibleError, match="too many originals"):
                infer(likelihood, approach=Approach(way="exact"))


def test_what_fits_no_original_is_refused() -> None:
    final = table([[1, 0, 3], [0, 2, 1]])
    likelihood = AdaptiveSequence(final, design(final.domain, "every"), 0.25, 0.25, 1)
    with pytest.raises(InfeasibleError, match="prior excludes"):
        infer(likelihood, Poisson(np.array([0.0, 1, 1, 1, 1, 1])))
    with pytest.raises(InfeasibleError):
        infer(likelihood, Positive(), Approach(way="monte_carlo"))
    negative = table([[-1, 1], [1, 1]])
    with pytest.raises(InputError, match="negative"):
        infer(AdaptiveSequence(negative, design(negative.domain, "every"), 0.25, 0.25, 1))


# -- calibration ----------------------------------------------------------------------------------

(POSITIVE,) = (p for p in METHOD.calibrations if (p.parameters or {}).get("order") == "positive")


def test_beliefs_that_forget_the_choice_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault: as if all three swaps had been there to choose from in every table."""
    choices = adaptive_tables._choices

    def forgetful(tables: np.ndarray, family: Family) -> np.ndarray:
        return np.where(choices(tables, family) > 0, len(family), 0)

    monkeypatch.setattr(adaptive_tables, "_choices", forgetful)
    assert calibrate_method(METHOD, replace(POSITIVE, runs=800))[0].worst_z > LIMIT


def test_drawn_beliefs_come_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adaptive_tables, "ADAPTIVE_TABLES", 0)
    monkeypatch.setattr("tabprotect.engine.posterior.populations.USUAL_DRAWS", 300)
    (found,) = calibrate_method(METHOD, replace(POSITIVE, runs=70))
    assert found.bins >= 10 and found.worst_z < LIMIT, str(found)
