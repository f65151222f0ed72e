"""What holds for the gate whatever the method: attempts, decisions, bundles, every published table."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.bundle import public, verify
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.disclosure import gate
from tabprotect.engine.disclosure.choosing import acceptance_probability
from tabprotect.engine.disclosure.choosing.acceptance_probability import Setting, chance
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import BundleError, Interrupted, RefusedError, TabprotectError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.progress import Cancellable
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem, Protected, StaffVerdict
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))

CYCLES = methods()["cyclic_perturbation"]
ONES = Problem(Table.dense(Domain.of_shape((2, 3)), np.ones((2, 3), dtype=np.int64)))
STRIPS = {"cycles": "strips-2", "blocking": "any_zero", "alpha": 0.25, "beta": 0.25}
NEGATIVE = STRIPS | {"blocking": "negative"}


@pytest.fixture
def without_remedies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody reads them, and they take most of a refusal's time."""
    monkeypatch.setattr(gate, "what_helps", lambda *_, **__: ())


def middling() -> Problem:
    """A table that some draws pass and others do not."""
    counts = [[1, 1, 3, 0], [1, 4, 0, 5], [3, 2, 0, 1]]
    return Problem(Table.dense(Domain.of_shape((3, 4)), counts), title="a table")


def passes(seed: int, policy: AgencyPolicy | None = None) -> Protected | None:
    try:
        return gate.protect(CYCLES, middling(), STRIPS, Randomness.seeded(seed), policy=policy)
    except RefusedError:
        return None


@pytest.mark.usefixtures("without_remedies")
def test_attempts_are_drawn_in_order_and_nothing_public_tells_which() -> None:
    done = [found for seed in range(40) if (found := passes(seed)) is not None]
    attempts = {found.record.attempt for found in done}
    assert {1, 2} <= attempts <= {1, 2, 3}
    for found in done:
        for attempt in range(1, found.record.attempt + 1):
            randomness = Randomness.seeded(found.record.seed)
            values = CYCLES.resolve_for(middling(), STRIPS)
            one = CYCLES.attempt(middling(), values, randomness, number=attempt).release
            last = attempt == found.record.attempt
            assert verdict(one, AgencyPolicy().limits()).accepted == last
            assert (one.tables == found.release.tables) >= last
    # The same tables at another attempt give the same bytes.
    by_tables: dict[bytes, set[tuple[int, bytes]]] = {}
    for found in done:
        key = found.release.table.counts.tobytes()
        by_tables.setdefault(key, set()).add(
            (found.record.attempt, public.to_bytes(found.release, page=False))
        )
    shared = [found for found in by_tables.values() if len({a for a, _ in found}) > 1]
    assert all(len({data for _, data in found}) == 1 for found in shared)
    stated = json.loads(done[0].release.mechanism.to_text())
    assert stated["attempts_at_most"] == 3 and stated["gate"]["passed"] is True


@pytest.mark.usefixtures("without_remedies")
def test_the_cap_is_the_policys_and_one_without_chance() -> None:
    once = [passes(seed, AgencyPolicy(attempts_at_most=1)) for seed in range(12)]
    thrice = [passes(seed) for seed in range(12)]
    assert sum(map(bool, once)) < sum(map(bool, thrice))
    method = methods()["suppression"]
    table = Table.dense(Domain.of_shape((3, 3)), [[20, 50, 1], [30, 9, 40], [60, 70, 80]])
    same: dict[str, object] = {"choice": "cheapest"}
    done = gate.protect(method, Problem(table), same, Randomness.seeded(1), policy=AgencyPolicy(share=1.0))
    assert done.release.mechanism.gate is not None
    assert done.release.mechanism.gate.attempts_at_most == 1


def test_a_refusal_says_what_to_do_and_a_reason_goes_into_the_dossier_only(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"None of 3 draws passed.*A × B") as caught:
        gate.protect(CYCLES, ONES, STRIPS, Randomness.seeded(3))
    assert caught.value.exit_code == 5
    best = caught.value.suggestions[0]
    assert best.parameters["blocking"] == "negative" and "synthetic tables" in best.reached
    assert "zeros that may rise" in caught.value.hint
    better = STRIPS | dict(best.parameters)
    assert gate.protect(CYCLES, ONES, better, Randomness.seeded(3), kept_small="keep")
    done = gate.protect(CYCLES, ONES, STRIPS, Randomness.seeded(3), accept="zq-reason")
    assert "zq-reason" in done.record.decisions[0]
    path = tmp_path / "r.zip"
    public.write(done.release, path)
    assert b"zq-reason" not in b"".join(public.files(done.release).values())
    stated = public.read(path).mechanism.gate
    assert stated is not None and stated.passed is False and stated.attempts_at_most == 1
    # One draw, the first: the posterior is the plain one.
    first = CYCLES.run(ONES, STRIPS, Randomness.seeded(3))
    assert first.release.tables == done.release.tables
    dossier = tmp_path / "d.zip"
    confidential.write(done, dossier)
    again = confidential.read(dossier)
    assert again.record.decisions == done.record.decisions


@pytest.mark.usefixtures("without_remedies")
def test_what_is_not_judged_hides_no_broken_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reason lets the first draw out: the refusal speaks of that, and so does the policy."""
    numbers = itertools.count()

    def judged(*given: object, **how: object) -> StaffVerdict:
        found = verdict(*given, **how)  # type: ignore[arg-type]
        tables = () if next(numbers) else found.tables
        return replace(found, tables=tables, left_out=("attempts",))

    monkeypatch.setattr(gate, "verdict", judged)
    with pytest.raises(RefusedError, match=r"a reader would know 2 of .* \(limit 0\)"):
        gate.protect(CYCLES, ONES, STRIPS, Randomness.seeded(3))
    numbers = itertools.count()
    done = gate.protect(CYCLES, ONES, STRIPS, Randomness.seeded(3), accept="a reason")
    assert "would know 2" in done.record.decisions[0]
    stated = done.release.mechanism.gate
    assert stated is not None and (stated.passed, stated.left_out) == (False, ("attempts",))
    # Where nothing leaves that is not judged whole, this does not leave either.
    strict = AgencyPolicy(unjudged="refuse")
    numbers = itertools.count()
    with pytest.raises(RefusedError):
        gate.protect(CYCLES, ONES, STRIPS, Randomness.seeded(3), policy=strict, accept="a reason")
    numbers = itertools.count()
    undecided = gate.protect(CYCLES, ONES, STRIPS, Randomness.seeded(3), draft=True)
    with pytest.raises(RefusedError):
        gate.decided(undecided, strict, "a reason")


def test_a_draft_is_what_a_reason_would_let_out(tmp_path: Path) -> None:
    """Looked at, decided, published: the same table, after the other draws were refused."""
    policy, chance = AgencyPolicy(), Randomness.seeded(3)
    draft = gate.protect(CYCLES, ONES, STRIPS, chance, draft=True)
    said = gate.against(draft, policy)
    assert "a reader would know" in said and not draft.record.overruled
    with pytest.raises(RefusedError, match="a reader would know"):
        gate.decided(draft, policy, "")
    done = gate.decided(draft, policy, "zq-reason")
    ahead = gate.protect(CYCLES, ONES, STRIPS, chance, accept="zq-reason")
    assert done.release.tables == ahead.release.tables
    stated, alone = done.release.mechanism.gate, ahead.release.mechanism.gate
    assert stated is not None and [one.draws for one in stated.refused] == [2]
    assert alone == replace(stated, refused=())
    public.write(done.release, tmp_path / "r.zip")
    found = verify.verify(tmp_path / "r.zip", verify.Verifying())
    assert found.release.mechanism.gate == stated and found.left_out == ()
    assert gate.against(done, policy) == ""
    # What passes is the same with and without.
    fine = gate.protect(CYCLES, ONES, NEGATIVE, chance, draft=True, kept_small="keep")
    assert gate.against(fine, policy) == ""
    assert "other limits" in gate.against(fine, AgencyPolicy(share=0.01))


@pytest.mark.usefixtures("without_remedies")
def test_a_dossier_replays_its_attempt(tmp_path: Path) -> None:
    later = next(
        found for seed in range(40) if (found := passes(seed)) is not None and found.record.attempt > 1
    )
    confidential.write(later, tmp_path / "d.zip")
    again = confidential.read(tmp_path / "d.zip")
    assert again.release.tables == later.release.tables
    assert again.record.attempt == later.record.attempt


def test_verify_judges_again_and_catches_a_false_claim(tmp_path: Path) -> None:
    done = gate.protect(CYCLES, ONES, NEGATIVE, Randomness.seeded(3), kept_small="keep")
    path = tmp_path / "r.zip"
    public.write(done.release, path)
    found = verify.verify(path, verify.Verifying())
    assert found.verdict is not None and done.record.verdict is not None
    assert found.verdict.tables == done.record.verdict.tables
    assert verify.verify(path).verdict is None
    bad = CYCLES.run(ONES, STRIPS, Randomness.seeded(3)).release
    claimed = type(bad.mechanism)(
        bad.mechanism.method, bad.mechanism.domain, bad.mechanism.parameters, done.release.mechanism.gate
    )
    public.write(Release(bad.tables, claimed), path)
    with pytest.raises(BundleError, match="says that it passes"):
        verify.verify(path, verify.Verifying())


def test_a_simulated_posterior_gives_one_verdict(tmp_path: Path) -> None:
    """Its seed follows from the release, so that protect and verify agree to the last digit."""
    counts = np.random.default_rng(3).poisson(4, (6, 6))
    problem = Problem(Table.dense(Domain.of_shape((6, 6)), counts))
    given = NEGATIVE | {"cycles": "elementary", "passes": 2}
    done = gate.protect(CYCLES, problem, given, Randomness.seeded(1), accept="a test")
    assert done.record.verdict is not None and done.record.verdict.way == "exact_draws"
    assert 0 < done.record.verdict.error < 0.01
    public.write(done.release, tmp_path / "r.zip")
    found = verify.verify(tmp_path / "r.zip", verify.Verifying()).verdict
    assert found is not None and found.tables == done.record.verdict.tables


def crossed() -> Problem:
    """40 x 30 x 2 x 2: of the 1,200 cells of A x B many are at risk, of the others few."""
    generator = np.random.default_rng(5)
    counts = generator.poisson(1.2, (40, 30, 2, 2))
    return Problem(Table.dense(Domain.of_shape((40, 30, 2, 2)), counts))


@pytest.mark.usefixtures("without_remedies")
def test_another_table_beside_it_never_helps() -> None:
    method, problem = methods()["cell_key"], crossed()
    noise = {"D": 2, "V": 0.05, "js": 0}
    for margins in ("A:B", "A:B + B:C:D", "A:B + C:D", "A*B"):
        with pytest.raises(RefusedError, match="A × B"):
            gate.protect(method, problem, noise | {"margins": margins}, Randomness.seeded(1))


def test_before_the_coins_synthetic_tables_rank_the_rules() -> None:
    table = Table.dense(Domain.of_shape((4, 5)), np.random.default_rng(2).poisson(1, (4, 5)))
    problem, found = Problem(table), {}
    for rule in ("any_zero", "negative"):
        values = CYCLES.resolve(table.domain, STRIPS | {"blocking": rule})
        found[rule] = chance(Setting(CYCLES, values, AgencyPolicy().limits()), problem)
        assert "CONFIDENTIAL" in found[rule].sentence
    assert found["any_zero"].synthetic < found["negative"].synthetic
    assert found["any_zero"].here <= found["negative"].here
    # From the kept margins alone: another table with the same ones gives the same.
    other = table.counts.copy()
    other[:2, :2] += [[1, -1], [-1, 1]] if other[0, 1] and other[1, 0] else [[-1, 1], [1, -1]]
    values = CYCLES.resolve(table.domain, NEGATIVE)
    again = chance(
        Setting(CYCLES, values, AgencyPolicy().limits()),
        Problem(Table.dense(table.domain, np.abs(other))),
        on_this_table=False,
    )
    if (other >= 0).all():
        assert again.synthetic == found["negative"].synthetic


def test_a_verdict_can_be_cancelled() -> None:
    done = CYCLES.run(middling(), STRIPS, Randomness.seeded(1))
    progress = Cancellable()
    progress.cancel()
    with pytest.raises(Interrupted):
        verdict(done.release, progress=progress)


SMALL = ((2, 2), (2, 3), (3, 3))


@pytest.mark.parametrize(
    ("name", "trials", "shapes"),
    [
        ("cyclic_perturbation", 24, SMALL),
        ("random_rounding", 24, SMALL),
        ("suppression", 14, SMALL),
        ("coarsening", 24, SMALL),
        # Each is told with the choice that it was, of every original: seconds where they are many.
        ("publish_margins", 10, SMALL[:2]),
    ],
)
def test_no_certain_cell_is_left_uncounted(name: str, trials: int, shapes: Sequence[tuple[int, ...]]) -> None:
    """On random tables: the reader who lists all originals is certain of what the verdict says."""
    method, judged = methods()[name], 0
    for number, shape in enumerate(itertools.islice(itertools.cycle(shapes), trials)):
        generator = np.random.default_rng(number)
        counts = generator.poisson(generator.choice([0.7, 2.0, 4.0]), shape)
        problem = Problem(Table.dense(Domain.of_shape(shape), counts))
        given = method.trial_parameters(problem.table.domain)
        try:
            release = method.run(problem, given, Randomness.seeded(number)).release
        except TabprotectError:
            continue
        found = verdict(release, AgencyPolicy().limits(), original=problem.table)
        if not found.judged:
            # Nothing is claimed.
            assert not found.accepted and found.note
            continue
        listed = infer(likelihood_of(release)).list_originals()
        if listed is None or found.way != "exact":
            continue
        judged += 1
        originals, weights = listed
        possible = originals[weights > 0]
        inner = next(table for table in found.tables if table.inner)
        settled = (possible == possible[0]).all(axis=0) & (possible[0] >= 1) & (possible[0] <= 2)
        believed = [
            max(float(weights[originals[:, cell] == value].sum()) for value in (1, 2))
            for cell in range(originals.shape[1])
        ]
        assert int(settled.sum()) <= inner.certain == sum(b > 1 - 1e-9 for b in believed)
        assert inner.known == sum(b > 0.95 for b in believed)
        expected = float(weights @ ((originals >= 1) & (originals <= 2)).sum(axis=1))
        assert inner.at_risk == pytest.approx(expected)
        assert found.staff is not None
        at_risk = (counts.reshape(-1) >= 1) & (counts.reshape(-1) <= 2)
        assert found.staff.certain >= int((settled & at_risk).sum())
    assert judged >= 6


def test_a_table_too_large_to_be_judged_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    method = methods()["bootstrap"]
    problem = Problem(Table.dense(Domain.of_shape((400, 300)), np.ones((400, 300), dtype=int)))
    numbers: list[int] = []
    attempt = type(method).attempt

    def counted(self: Method, *given: object, number: int, **how: object) -> Protected:
        numbers.append(number)
        return attempt(self, *given, number=number, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(type(method), "attempt", counted)
    # What else would pass on so large a table is tried elsewhere.
    monkeypatch.setattr(acceptance_probability, "other_methods", lambda *_: ())
    with pytest.raises(RefusedError) as caught:
        gate.protect(method, problem, {}, Randomness.seeded(3))
    assert numbers == [1] and "draws passed" not in str(caught.value)
    # As a draft it is what a reason lets out: no other draw was refused beside it.
    draft = gate.protect(method, problem, {}, Randomness.seeded(3), draft=True)
    accepted = gate.protect(method, problem, {}, Randomness.seeded(3), accept="a reason")
    assert draft.release.tables == accepted.release.tables
    assert draft.release.mechanism.gate is not None
    assert not draft.release.mechanism.gate.refused
