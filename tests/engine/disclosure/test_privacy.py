"""What leaves with differential privacy, refusals included, by the whole law on neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.disclosure.cell_beliefs import tables_believed
from tabprotect.engine.disclosure.gate import protect
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import BundleError
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.privacy import Spent
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

METHOD = methods()["discrete_laplace"]
EPSILON, REACH = 4.0, 12
GIVEN = {"epsilon": EPSILON, "margins": "A:B - 1"}
LIMITS = AgencyPolicy().limits()
VALUES = np.arange(2 - REACH, 9 + REACH + 1)
"""All that a count of 2, 3 or 9 is published as, but for a probability of 1e-20."""


def table_of(counts: list[int]) -> Table:
    """In two rows."""
    shaped = np.array(counts).reshape(2, -1)
    return Table.dense(Domain.of_shape(shaped.shape), shaped)


def release_of(counts: np.ndarray) -> Release:
    """The published counts, (2, columns)."""
    table = Table.dense(Domain.of_shape(counts.shape), counts)
    public_values = METHOD.resolve(table.domain, GIVEN)
    return Release.of(table, Mechanism(METHOD.name, table.domain, public_values))


def passing() -> np.ndarray:
    """Whether the gate lets a table of four published counts through, by their places in VALUES.

    Cells have posteriors of their own, so that the figures of a table are sums of those of its cells.
    """
    (belief,) = tables_believed(Evidence(release_of(VALUES.reshape(2, -1))), "uniform").beliefs
    chances = np.array([belief.probability(v, np.arange(len(VALUES))) for v in (1, 2)])
    inside, known = chances.sum(axis=0), chances.max(axis=0) > LIMITS.belief_limit
    squares = (chances**2).sum(axis=0)

    def added(of: np.ndarray) -> np.ndarray:
        each = np.ix_(of, of, of, of)
        return each[0] + each[1] + each[2] + each[3]

    at_risk, guessed = added(inside), added(squares)
    right = guessed <= (LIMITS.mean_belief_limit + 1e-12) * at_risk
    few = added(known.astype(int)) <= LIMITS.share * at_risk
    return few & (right | (at_risk < 1e-9))


def largest_log_ratio(lets: np.ndarray, attempts: int) -> float:
    """Of any outcome, a refusal included, between the originals 2 9 9 9 and 3 9 9 9."""
    refused, logs = [], []
    for count in (2, 3):
        laws = [np.exp(-EPSILON * np.abs(VALUES - one)) for one in (count, 9)]
        first, other = (law / law.sum() for law in laws)
        passes = float(np.einsum("abcd,a,b,c,d->", lets.astype(float), first, other, other, other))
        q = 1 - passes
        refused.append(attempts * np.log(q))
        logs.append(np.log(first) + np.log(sum(q**k for k in range(attempts))))
    leaves = lets.any(axis=(1, 2, 3))
    ratios = np.abs(logs[0] - logs[1])[leaves]
    return float(max(ratios.max(), abs(refused[0] - refused[1])))


def test_the_whole_law_of_what_leaves_keeps_the_budget() -> None:
    lets = passing()
    generator = np.random.default_rng(3)
    for _ in range(30):
        places = generator.integers(0, len(VALUES), 4)
        found = verdict(release_of(VALUES[places].reshape(2, 2)), LIMITS)
        assert found.passed == lets[tuple(places)]
    assert 0.01 < lets.mean() < 0.99
    problem = Problem(table_of([2, 9, 9, 9]))
    values = METHOD.resolve(problem.table.domain, GIVEN)
    again = METHOD.draws_again(problem.table.domain, values)
    attempts = AgencyPolicy().limits(again=again).attempts_at_most
    assert attempts == 1
    assert largest_log_ratio(lets, attempts) <= EPSILON + 1e-9
    # Three draws would break it.
    assert largest_log_ratio(lets, 3) > EPSILON + 1


def protected(name: str, given: dict[str, object], counts: list[int]) -> Protected:
    problem = Problem(table_of(counts))
    return protect(methods()[name], problem, given, Randomness.seeded(5), accept="shown")


BIG = [90, 80, 70, 60]


@pytest.mark.parametrize(
    ("name", "given", "stated", "total"),
    [
        ("discrete_laplace", {"margins": "A:B - 1"}, Spent(1.0, 0.0), Spent(1.0, 0.0)),
        ("discrete_gaussian", {"rho": 0.3, "margins": "A:B - 1"}, Spent(rho=0.3), Spent(rho=0.3)),
        (
            "publish_margins",
            {"margins": "A + B", "then": "discrete_laplace epsilon=1"},
            Spent(1.0, 0.0),
            Spent(2.0, 0.0),
        ),
        ("random_rounding", {}, None, None),
    ],
)
def test_a_bundle_states_its_total_and_its_neighbours(
    name: str, given: dict[str, object], stated: Spent | None, total: Spent | None
) -> None:
    done = protected(name, given, BIG)
    found = verify_bytes(public.to_bytes(done.release, page=False)).release
    assert found.mechanism == done.release.mechanism
    text = public.reader_text(found)
    if total is None or stated is None:
        assert found.mechanism.privacy is None and "privacy" not in found.mechanism.as_json()
        assert "one record more or less" not in text
        return
    assert found.mechanism.as_json()["privacy"] == {
        **stated.as_json(),
        "neighbours": "one record more or less",
        "total": total.as_json(),
    }
    assert found.mechanism.gate is not None and found.mechanism.gate.attempts_at_most == 1
    assert total.words in text and "It is computational" in text
    forged = Mechanism(name, found.domain, found.mechanism.parameters, privacy=found.mechanism.privacy)
    assert forged.privacy is not None
    object.__setattr__(forged.privacy, "total", Spent(0.01, 0.0))
    with pytest.raises(BundleError, match="does not keep"):
        verify_bytes(public.to_bytes(Release(found.tables, forged), page=False))


def test_margins_with_private_noise_are_not_judged_by_the_original() -> None:
    """Neither what leaves nor whether it leaves looks at more than the noisy margins."""
    given = {"margins": "A + B", "then": "discrete_laplace epsilon=1"}
    narrow = protected("publish_margins", given, [1, 0, 0, 1, 0, 0])
    stated = narrow.release.mechanism.parameters
    assert stated["proved_safe"] is None and stated["criterion"] is None
    assert not narrow.record.verdict.left_out  # type: ignore[union-attr]
    assert not methods()["publish_margins"].acceptance_failure(narrow.record.findings)
    exact = methods()["publish_margins"].run(
        narrow.record.problem, {"margins": "A + B"}, Randomness.seeded(5)
    )
    assert methods()["publish_margins"].acceptance_failure(exact.record.findings)


def test_with_a_cap_the_rest_is_stated() -> None:
    """Over all outputs of one capped count: within epsilon but for delta."""
    domain = Domain.of_shape((2, 2))
    for name, given in (
        ("discrete_laplace", {"epsilon": 1.2, "cap": 3}),
        ("discrete_gaussian", {"rho": 0.4, "cap": 3}),
    ):
        method = methods()[name]
        values = method.resolve(domain, {**given, "margins": "A:B - 1"})
        budget = method.privacy(domain, values)
        assert budget is not None and budget.total.epsilon is not None
        release = Release.of(table_of([5] * 4), Mechanism(name, domain, values))
        laws = method.transitions(release)
        assert laws is not None
        one = {laws[0][0] + k: p for k, p in enumerate(laws[0][1])}
        two = {laws[1][0] + k: p for k, p in enumerate(laws[1][1])}
        both = [abs(np.log(one[y] / two[y])) for y in one if y in two]
        assert max(both) == pytest.approx(budget.total.epsilon)
        alone = sum(p for y, p in one.items() if y not in two)
        assert alone == pytest.approx(budget.total.delta)


def test_rho_is_said_as_an_epsilon() -> None:
    assert Spent(rho=0.5).as_epsilon == pytest.approx(0.5 + 2 * np.sqrt(0.5 * np.log(1e6)))
    assert Spent.together([Spent(1.0, 0.0), Spent(rho=0.5), Spent(2.0, 0.0)]) == Spent(3.0, 0.0, 0.5)
