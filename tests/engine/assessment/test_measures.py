"""Every measure: against figures worked out by hand, and what all of them have in common."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tabprotect as tp
from tabprotect.engine.assessment import assessed_release as compared_posterior
from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.attribute_disclosure import guess
from tabprotect.engine.assessment.compared_cells import default_compared, derive
from tabprotect.engine.assessment.distances import ranks
from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.intruder_key import Key
from tabprotect.engine.assessment.registered import measures, named_measures
from tabprotect.engine.assessment.risk import solution_variability
from tabprotect.engine.assessment.utility.association_change import association
from tabprotect.engine.belief.effort import COMPARISON
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.factors import infer_factors
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.design_weights import SCALE, DesignWeights
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tests.engine.assessment.party import case, released

TWO = Domain.of_shape((2, 2))
WITH_TOTALS = Publication.of(TWO, "A*B")
TRUE = [[4, 0], [1, 5]]
PROBLEM = Problem(Table.dense(TWO, TRUE))
TWO_KEY = Key(("A",), "B")

SAME = [10, 4, 6, 5, 5, 4, 0, 1, 5]
OTHER = [12, 3, 6, 5, 5, 0, 1, 1, 7]
"""Published counts: the total, A, B, then the inner cells."""


def looked_at(counts: list[int], **others: object) -> AssessedRelease:
    return case(counts, WITH_TOTALS, problem=PROBLEM, key=TWO_KEY, **others)  # type: ignore[arg-type]


def believed(release: Release) -> Posterior:
    """As comparisons have it: without what takes thousands of simulated runs."""
    likelihood = likelihood_of(release)
    assert isinstance(likelihood, CellFactors)
    return infer(replace(likelihood, rerun=None))


def figure(name: str, looked: AssessedRelease) -> Figure:
    return measures()[name].assess(looked)


def test_the_order_of_cells_in_these_tests() -> None:
    assert WITH_TOTALS.margins == ((), ("A",), ("B",), ("A", "B"))
    assert looked_at(SAME).truth.tolist() == SAME


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mean_absolute_deviation", (2 + 1 + 4 + 1 + 2) / 9),
        ("mean_loss", (2 + 1 + 4 + 1 + 2) / 9),
        ("max_absolute_deviation", 4),
        ("mean_relative_deviation", (2 / 10 + 1 / 4 + 4 / 4 + 2 / 5) / 8),
        ("max_relative_deviation", 1.0),
        ("false_zeros", 1 / 8),
        ("false_positives", 1.0),
        ("published_share", 1.0),
        ("unchanged_small", 1.0),
        (
            "hellinger_published",
            1
            - np.sqrt(sum((np.sqrt(a) - np.sqrt(b)) ** 2 for a, b in zip(SAME, OTHER, strict=True)) / 2)
            / np.sqrt(40),
        ),
    ],
)
def test_published_counts_by_hand(name: str, value: float) -> None:
    assert figure(name, looked_at(OTHER)).value == pytest.approx(value, abs=1e-12)


def test_suppressed_cells_are_left_out() -> None:
    # The cells (0, 0) and (0, 1) are suppressed, with 4 + 0 = 4 published.
    seen = looked_at([10, 4, 6, 5, 5, 0, 0, 1, 4], hidden=[5, 6])
    assert figure("published_share", seen).value == pytest.approx(7 / 9)
    assert figure("max_absolute_deviation", seen).value == 1
    assert figure("mean_absolute_deviation", seen).value == pytest.approx(1 / 7)
    assert np.isnan(figure("mean_absolute_deviation", seen).per_cell[5])  # type: ignore[index]
    # The only change is 1; of what is hidden all is lost.
    assert figure("mean_loss", seen).value == pytest.approx((1 + SAME[5] + SAME[6]) / 9)
    # In the restoration they are free: what is left determines the inner table.
    assert np.isnan(seen.restored_own[[5, 6]]).all()
    assert seen.expected.sum() == pytest.approx(float(seen.restored_own[0]), abs=1e-6)


def test_cells_that_are_not_published_are_added_up() -> None:
    inner = Publication.of(TWO, [("A", "B")])
    seen = case([4, 0, 1, 4], inner, problem=PROBLEM, compared=WITH_TOTALS, key=TWO_KEY)
    assert seen.published.tolist() == [9, 4, 5, 5, 4, 4, 0, 1, 4]
    # Margins alone tell nothing of the inner cells.
    margins = Publication.of(TWO, "A + B")
    seen = case([10, 4, 6, 5, 5], margins, problem=PROBLEM, compared=WITH_TOTALS, key=TWO_KEY)
    assert np.isnan(seen.published).tolist() == [False] * 5 + [True] * 4
    assert seen.expected == pytest.approx(np.outer([4, 6], [5, 5]) / 10)


@given(st.data())
def test_deriving_is_adding(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    domain = Domain.of_shape(shape)
    groups = data.draw(st.lists(st.sampled_from("xyz"), min_size=shape[0], max_size=shape[0]))
    grouping = Grouping("g", "A", tuple(groups))
    names = (*domain.names, "g")
    margin = st.lists(st.sampled_from(names), unique=True).map(tuple)
    own = Publication(domain, tuple(data.draw(st.lists(margin, min_size=1, max_size=3))), (grouping,))
    compared = default_compared(domain, [own])
    assert set(own.margins) <= set(compared.margins)
    counts = data.draw(st.lists(st.integers(0, 9), min_size=domain.size, max_size=domain.size))
    table = Table.dense(domain, np.reshape(counts, domain.shape))
    values = own.stack(own.sums(table)).astype(float)
    lost = data.draw(st.lists(st.booleans(), min_size=own.size, max_size=own.size))
    known = values.copy()
    known[np.array(lost)] = np.nan
    found = derive(own, compared, known)
    truth = compared.stack(compared.sums(table))
    there = ~np.isnan(found)
    assert (found[there] == truth[there]).all()
    # With nothing suppressed exactly those margins are there that a published one tells.
    whole = compared.split(~np.isnan(derive(own, compared, values)))  # type: ignore[arg-type]
    for names_, part in zip(compared.margins, whole, strict=True):
        assert part.all() == any(own.determines(m, names_) for m in own.margins)
        assert part.all() or not part.any()


def test_of_large_tables_only_what_is_published_is_compared() -> None:
    domain = Domain.of_shape((5000, 5000))
    own = Publication.of(domain, "A + B")
    assert default_compared(domain, [own]).margins == own.margins
    assert default_compared(domain, []).margins == (("A", "B"),)


def test_association_by_hand() -> None:
    chi_square, v = association(np.array([[10.0, 0.0, 0.0], [0.0, 10.0, 0.0]]))
    assert (chi_square, v) == pytest.approx((20.0, 1.0))
    assert association(np.array([[4.0, 0.0], [1.0, 5.0]]))[0] == pytest.approx(20 / 3)
    assert association(np.outer([1.0, 2.0], [3.0, 4.0])) == pytest.approx((0.0, 0.0))
    assert association(np.array([[3.0, 0.0], [2.0, 0.0]])) == (0.0, 0.0)


def test_change_of_association() -> None:
    # Margins alone leave independence: chi-square and V are lost.
    margins = Publication.of(TWO, "A + B")
    seen = case([10, 4, 6, 5, 5], margins, problem=PROBLEM, key=TWO_KEY)
    assert figure("chi_square_change", seen).value == pytest.approx(1.0)
    assert figure("cramers_v_change", seen).value == pytest.approx(np.sqrt(20 / 3 / 10))


def test_rank_correlation_is_the_known_one() -> None:
    assert ranks(np.array([3.0, 1.0, 3.0, 7.0])).tolist() == [2.5, 1.0, 2.5, 4.0]
    domain = Domain.of_shape((5,))
    problem = Problem(Table.dense(domain, [1, 2, 3, 4, 5]))
    seen = case([2, 1, 4, 3, 9], Publication.of(domain, [("A",)]), problem=problem)
    # Without ties 1 - 6 sum d^2 / (n (n^2 - 1)).
    assert figure("rank_correlation", seen).value == pytest.approx(1 - 6 * 4 / (5 * 24))
    assert figure("rank_correlation", looked_at(SAME)).value == pytest.approx(1.0)


def test_knowing_oneself_is_the_best_way_to_take_off_one() -> None:
    found = guess(np.array([[1.0, 1.0, 0.0], [1.0, 5.0, 0.0], [3.0, 3.0, 0.0]]), "know_yourself")
    assert found.probability == pytest.approx([1.0, 1.0, 3 / 5])
    assert found.disclosed.tolist() == [[True, True, False], [False, True, False], [False] * 3]
    alone = guess(np.array([[0.0, 1.0], [0.0, 0.0]]), "know_yourself")
    assert alone.probability.tolist() == [0.0, 0.0] and not alone.disclosed.any()


def test_a_disclosure_of_another_category_is_a_false_one() -> None:
    seen = case([0, 4, 1, 5], Publication.of(TWO, [("A", "B")]), problem=PROBLEM, key=TWO_KEY)
    # Originally everybody in a1 is in b1; the release says b2.
    assert seen.disclosures("guessing").counts == (1, 1, 0)
    assert figure("risk_fbeta", seen).value == 0.0
    assert figure("risk_precision", seen).value == 0.0
    assert figure("tcap", seen).value == 0.0


def test_tcap_by_hand() -> None:
    domain = Domain.of_shape((3, 2))
    problem = Problem(Table.dense(domain, [[3, 1], [5, 0], [2, 2]]))
    inner = Publication.of(domain, [("A", "B")])
    seen = case([4, 0, 6, 0, 2, 2], inner, problem=problem, key=TWO_KEY)
    # a1 and a2 look disclosed with 4 and 6 expected people; 3 of 4 and 5 of 5 are in b1.
    assert figure("tcap", seen).value == pytest.approx((4 * 3 / 4 + 6 * 1.0) / 10)


def test_guess_probability_by_hand() -> None:
    seen = looked_at(SAME)
    assert figure("guess_probability", seen).value == pytest.approx((1 + 5 / 6) / 2, abs=1e-6)
    # Taking one off: a1 stays b1 only; of a2 the one in b1 knows that all others are in b2.
    assert figure("guess_probability_know_yourself", seen).value == pytest.approx(1.0, abs=1e-6)


def test_posterior_measures_are_the_posterior_s() -> None:
    seen = looked_at([10, 4, 6, 5, 5, 4, 0, 0, 5], given={"D": 2, "V": 1.0, "js": 0})
    posterior = believed(seen.release)
    index = (1, 0)
    truth = posterior.probability(np.array(TRUE))[index]
    assert 0 < truth < 1
    assert figure("posterior_true", seen).value == pytest.approx(truth)
    assert figure("posterior_small", seen).value == pytest.approx(posterior.small(PROBLEM.at_risk)[index])
    values, _ = posterior.distribution(index)
    assert figure("feasibility_width", seen).value == values[-1] - values[0]
    assert figure("exact_disclosure", seen).value is None


def test_exact_disclosure_looks_at_what_is_published() -> None:
    seen = looked_at([10, 4, 6, 5, 5, 4, 1, 0, 5], given={"D": 2, "V": 1.0, "js": 0})
    posterior = believed(seen.release)
    assert figure("exact_disclosure", seen).value == pytest.approx(posterior.probability(1)[0, 1])


def test_two_releases_multiply() -> None:
    given = {"D": 2, "V": 1.0, "js": 0}
    first = looked_at([10, 4, 6, 5, 5, 4, 0, 0, 5], given=given)
    again = released([10, 4, 6, 5, 5, 4, 0, 2, 5], WITH_TOTALS, given=given)
    both = AssessedRelease(PROBLEM, first.release, WITH_TOTALS, TWO_KEY, second=again)
    one, two = (believed(r) for r in (first.release, again))
    grid = np.arange(8)
    joint = [one.probability(k)[1, 0] * two.probability(k)[1, 0] for k in grid]
    found = figure("differencing", both).value
    assert found == pytest.approx(joint[1] / sum(joint))
    assert found != pytest.approx(one.probability(1)[1, 0])
    # A release that must be the same again says nothing new.
    same = AssessedRelease(PROBLEM, first.release, WITH_TOTALS, TWO_KEY, second_is_new=False)
    assert figure("differencing", same).value == pytest.approx(one.probability(1)[1, 0])
    alone = AssessedRelease(PROBLEM, first.release, WITH_TOTALS, TWO_KEY)
    assert "no second release" in figure("differencing", alone).reason


def test_posteriors_too_dear_are_left_out_with_the_reason() -> None:
    release = released(SAME, WITH_TOTALS, given={"js": 0})
    affordable = AssessedRelease(PROBLEM, release, WITH_TOTALS, TWO_KEY)
    assert figure("posterior_true", affordable).value is not None
    seen = AssessedRelease(PROBLEM, release, WITH_TOTALS, TWO_KEY, effort=replace(COMPARISON, cells=3))
    for name in ("posterior_true", "posterior_small", "exact_disclosure", "feasibility_width"):
        found = figure(name, seen)
        assert found.value is None and "too many for a posterior" in found.reason


def test_joined_cells_are_walked_through_within_a_budget_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """24 cells under controlled rounding: no chain is started, and the reason is told."""
    generator = np.random.default_rng(3)
    domain = Domain.of_shape((4, 3, 2))
    problem = Problem(
        Table.dense(domain, generator.poisson(np.exp(generator.normal(1, 1.2, 24))).reshape(domain.shape))
    )
    method = methods()["controlled_rounding"]
    release = method.perform(problem, method.resolve(domain, {"choice": "nearest"}), generator)[0]
    monkeypatch.setattr(infer_factors, "by_chain", lambda *_, **__: pytest.fail("drawn"))
    # Steps alone decide here, not how fast the machine takes them.
    monkeypatch.setattr(compared_posterior, "SECONDS", np.inf)
    seen = AssessedRelease(
        problem, release, Publication.of(domain, "A*B*C"), Key(("A",), "B"), second_is_new=False
    )
    few = replace(seen, effort=replace(COMPARISON, steps=2_000_000))
    assert "too many ways for a comparison" in figure("differencing", few).reason
    small = replace(seen, effort=replace(COMPARISON, steps=20_000_000))
    walked = []
    monkeypatch.setattr(infer_factors, "by_residuals", lambda *_, most, **__: walked.append(most))
    assert "too many ways" in figure("differencing", small).reason and walked == [20_000_000]


@pytest.mark.parametrize("name", sorted(measures()))
def test_an_unchanged_table_is_useful_and_gives_itself_away(name: str) -> None:
    measure = measures()[name]
    seen = looked_at(SAME, given={"D": 1, "V": 0.1, "js": 0})
    # Everybody is in the survey.
    everybody = DesignWeights(Table.dense(TWO, PROBLEM.table.counts * SCALE), SCALE, SCALE)
    problem = replace(seen.problem, weights=everybody)
    found = AssessedRelease(problem, seen.release, seen.compared, seen.key, second_is_new=False)
    figure = measure.assess(found)
    if name == "dp_epsilon":
        # No epsilon is large enough for what gives itself away.
        assert "not differentially private" in figure.reason
        return
    assert figure.value is not None, figure.reason
    if measure.noun == "utility":
        best = 1.0 if measure.higher_is_better else 0.0
        assert figure.value == pytest.approx(best, abs=1e-6)
    elif measure.unit not in ("counts", "bits", "records", "share"):
        assert not measure.higher_is_better
        assert 0.5 < figure.value <= 1.0


@pytest.mark.parametrize("name", sorted(measures()))
def test_what_a_measure_declares(name: str) -> None:
    measure = measures()[name]
    assert measure.name == name and measure.label and measure.unit and measure.help
    shapes = {"published cells": (9,), "inner cells": (2, 2), "key groups": (2,)}
    per_cell = measure.assess(looked_at(OTHER, given={"D": 5})).per_cell
    assert per_cell is None or per_cell.shape == shapes[measure.over]
    data = measure.as_json()
    assert data["noun"] in ("risk", "utility") and str(data["direction"]).endswith("is better")


@pytest.mark.parametrize("name", sorted(measures()))
def test_every_measure_answers_for_odd_tables(name: str) -> None:
    for counts in ([0, 0, 0], [7, 0, 0], [1, 2, 3]):
        domain = Domain.of_shape((3,))
        problem = Problem(Table.dense(domain, counts))
        publication = Publication.of(domain, "A")
        key = Key.of(domain, None, None)
        found = case([6, 0, 3, 3], publication, problem=problem, key=key)
        value = measures()[name].assess(found)
        said = value.reason.startswith(("at least: ", "about: "))
        assert (value.value is None) == bool(value.reason) or said
        assert value.value is None or np.isfinite(value.value)


def test_the_key_is_completed_and_checked() -> None:
    domain = Domain.of_shape((2, 2, 2))
    assert Key.of(domain, None, None) == Key(("A", "B"), "C")
    assert Key.of(domain, ("C",), None) == Key(("C",), "B")
    assert Key.of(domain, None, "A") == Key(("B", "C"), "A")
    for variables, sensitive in ((("Z",), None), (("A",), "A"), (("A", "B", "C"), None)):
        with pytest.raises(ParameterError):
            Key.of(domain, variables, sensitive)


def test_choosing_measures() -> None:
    assert {m.noun for m in named_measures(["risk"])} == {"risk"}
    assert [m.name for m in named_measures(["tcap", "false_zeros"])] == ["false_zeros", "tcap"]
    with pytest.raises(ParameterError, match="nonsense"):
        named_measures(["tcap", "nonsense"])


def test_estimates_are_compared_with_sums_of_weights() -> None:
    # Weights of 2.5 a record: 5 * 2.5 = 12.5 rounds to 12; the grand total is 25.
    weights = DesignWeights(Table.dense(TWO, np.array(TRUE) * 2_500_000), 2_500_000, 2_500_000)
    problem = Problem(Table.dense(TWO, TRUE), weights=weights)
    method = methods()["cell_key"]
    given_ = {"D": 1, "V": 0.5, "js": 0, "weighted": "yes", "weight_low": 2, "weight_high": 3}
    values = method.resolve(TWO, given_)
    release, _ = method.perform(problem, values, np.random.default_rng(1))
    looked = AssessedRelease(problem, release, WITH_TOTALS, TWO_KEY)
    assert looked.truth.tolist() == [25, 10, 15, 12, 12, 10, 0, 2, 12]
    assert looked.counts.tolist() == SAME and looked.inner.tolist() == [[10, 0], [2.5, 12.5]]
    moved = np.abs(looked.published - looked.truth)
    assert figure("max_absolute_deviation", looked).value == moved.max() > 1
    nothing = "estimates are published, not counts of records"
    for name, measure in measures().items():
        found = measure.assess(looked)
        about_counts = "key" in measure.needs or name == "exact_disclosure"
        assert (found.reason == nothing) == about_counts, name
    assert figure("unchanged_small", looked).per_cell is not None


def by_hand(counts: list[int], tables: list[list[int]]) -> AssessedRelease:
    """A case whose posterior is a few tables, all as likely."""
    looked = looked_at(counts, given={"D": 1, "V": 0.1, "js": 0})
    posterior = looked.posterior
    listed = np.array(tables)
    first = listed.min(axis=0)
    chances = np.zeros((listed.shape[1], int((listed.max(axis=0) - first).max()) + 1))
    for table in listed:
        chances[np.arange(listed.shape[1]), table - first] += 1 / len(listed)
    weights = np.full(len(listed), 1 / len(listed))
    seen = replace(
        posterior,
        way="exact",
        group_of_cell=np.arange(listed.shape[1]),
        first=first,
        chances=chances,
        count_originals=lambda: len(listed),
        list_originals=lambda: (listed, weights),
        note="",
    )
    # The posterior is looked up by name.
    object.__setattr__(looked, "_believed_of", lambda _: seen)
    return looked


@pytest.mark.parametrize("large", [0, 2**40])
def test_the_farthest_table_is_that_of_all_pairs(large: int) -> None:
    generator = np.random.default_rng(2)
    # More tables than are compared together; some cells are the same in all.
    tables = generator.poisson(2, (150, 12)) * (np.arange(12) % 3 > 0)
    tables[:, 1] += large * (np.arange(150) % 2)
    apart = solution_variability.narrow(tables)
    for number in (0, 77, 149):
        more = np.maximum(tables - tables[number], 0).sum(axis=1)
        less = np.maximum(tables[number] - tables, 0).sum(axis=1)
        records = np.maximum(more, less)
        found = solution_variability.farthest(apart, apart[number])
        assert found == (int(records.argmax()), int(records.max()))


def test_what_is_known_proved_and_left_open_by_hand() -> None:
    # Of the true counts 4, 0, 1, 5 the third is at risk.
    looked = by_hand(SAME, [[4, 0, 1, 5], [5, 0, 1, 4], [4, 1, 2, 3], [4, 1, 1, 4]])
    assert figure("proved_records", looked).value == 4 + 0 + 1 + 3
    # From the second to the third: two more in B, one less in A and D each.
    assert figure("solution_variability", looked).value == 2
    wanted = -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25))
    assert figure("least_entropy", looked).value == pytest.approx(wanted)
    # Expected at risk: B half, C always. None is believed with more than .95.
    assert figure("share_known", looked).value == 0
    sure = by_hand(SAME, [[4, 0, 1, 5], [5, 0, 1, 4]])
    assert figure("share_known", sure).value == figure("share_certain", sure).value == 1


def test_records_that_all_four_way_margins_of_the_czech_table_prove() -> None:
    problem = Problem(tp.read_table("example:czech-autoworkers").table)
    four = " + ".join(map(":".join, combinations(problem.table.domain.names, 4)))
    method = methods()["publish_margins"]
    values = method.resolve(problem.table.domain, {"margins": four, "cells": "all"})
    release, _ = method.perform(problem, values, np.random.default_rng(1))
    inner = Publication.of(problem.table.domain, "A*B*C*D*E*F")
    seen = AssessedRelease(problem, release, inner, Key(("A",), "B"), second_is_new=False)
    assert seen.posterior.originals == 705_884
    found = figure("proved_records", seen)
    assert found.value == 1_081 and not found.reason


def test_the_choice_of_a_whole_table_counts_where_all_originals_can_be_weighed() -> None:
    problem = Problem(Table.dense(Domain.of_shape((2, 3)), [[2, 1, 0], [3, 1, 2]]))
    method = methods()["controlled_rounding"]
    values = method.resolve(problem.table.domain, {"base": 3, "choice": "nearest"})
    release, _ = method.perform(problem, values, np.random.default_rng(1))
    full = infer(likelihood_of(release), approach=Approach(way="exact"))
    for weighing, whole in ((1e12, True), (0.0, False)):
        seen = AssessedRelease(
            problem=problem,
            release=release,
            compared=Publication.of(problem.table.domain, "A*B"),
            key=Key(("A",), "B"),
            effort=replace(COMPARISON, weighing=weighing),
        )
        found = figure("posterior_true", seen)
        belief = full.probability(problem.table.counts)[seen.at_risk].mean()
        assert (found.value == pytest.approx(float(belief))) == whole
        assert found.reason.startswith("at least") != whole
