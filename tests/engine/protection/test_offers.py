"""Candidates for kept margins: what is asked for, from useful to protected, and no leak."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tabprotect.engine.cycles.cycle_report import check_cycles
from tabprotect.engine.cycles.graphs import elimination_cost
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.protection.cycle_runs.offers import OfferWishes, offers, on_table
from tabprotect.engine.protection.methods.cyclic_perturbation import PLUGIN
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.margins import all_margins
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table


def table(shape: tuple[int, ...], mean: float) -> Table:
    domain = Domain.of_shape(shape)
    return Table.dense(domain, np.random.default_rng(4).poisson(mean, shape).astype(np.int64))


def kept(of: Table, formula: str | None = None) -> KeptMargins:
    margins = all_margins(of.domain) if formula is None else formula
    return KeptMargins.of(Publication.of(of.domain, margins), of)


def test_none_is_beaten_and_what_is_said_of_each_holds() -> None:
    found = offers(kept(table((6, 5), 1.5)), OfferWishes())
    assert 3 <= len(found) <= 8
    for one, other in itertools.pairwise(found):
        assert one.figures.change < other.figures.change
        assert one.figures.unchanged > other.figures.unchanged
    for offer in found:
        report = check_cycles(offer.moves, passes=offer.passes)
        assert report.known_functionals == offer.unwanted and report.preserves_margins
        cost = elimination_cost(offer.moves, offer.passes)
        assert (cost is not None and cost.affordable) == (offer.posterior == "formula")
        plus, minus = offer.moves.touches
        assert offer.largest_change == offer.passes * (plus + minus).max()


def test_wishes_are_kept() -> None:
    original = table((6, 5), 4.0)
    wishes = OfferWishes(zeros_may_rise=False, most_change=4, posterior="formula")
    for offer in offers(kept(original), wishes):
        assert (offer.rule, offer.posterior) == ("any_zero", "formula")
        assert offer.largest_change <= 4
    with pytest.raises(InfeasibleError, match="no design does all of this"):
        offers(kept(original), OfferWishes(most_change=1))
    lone = Table.dense(Domain.of_shape((3, 3)), [[1, 0, 0], [0, 0, 0], [0, 0, 0]])
    with pytest.raises(InfeasibleError, match="hardly any table can change"):
        offers(kept(lone), OfferWishes())


def test_a_release_gets_the_offers_of_its_original() -> None:
    original = table((5, 4, 3), 2.0)
    given = {"keep": "A*B + C", "blocking": "negative"}
    release = PLUGIN.run(Problem(original), given, Randomness.seeded(2)).release
    own, others = (offers(kept(one, "A*B + C"), OfferWishes()) for one in (original, release.table))
    assert {offer.kind for offer in own} == {"triangular"}
    for one, other in zip(own, others, strict=True):
        assert (one.words, one.figures, one.moves) == (other.words, other.figures, other.moves)
    # The figures of the table itself are other ones, and nothing that an offer holds.
    assert on_table(own[0], original, SmallCount()) != own[0].figures


def test_cycles_are_repeated_in_place_where_that_alone_stays_exact_by_formula() -> None:
    found = offers(kept(table((8, 8), 1.5)), OfferWishes(posterior="formula"))
    repeated = [offer for offer in found if offer.repeats > 1]
    assert repeated and all(offer.passes == 1 for offer in repeated)
    offer = repeated[-1]
    once = offer.moves.take(np.arange(0, len(offer.moves), offer.repeats))
    cost = elimination_cost(once, offer.repeats, limit=13)
    assert cost is None or not cost.affordable
    assert f"each cycle {offer.repeats} times in place" in offer.words
    assert offer.parameters["repeats"] == offer.repeats


def test_structural_zeros_leave_the_design_that_touches_none_of_them() -> None:
    original = table((6, 5), 2.0)
    zeros = original.counts.reshape(-1) == 0
    assert zeros.any()
    for offer in offers(kept(original), OfferWishes(), zeros):
        plus, minus = offer.moves.touches
        assert offer.kind == "triangular" and not (plus + minus)[zeros].any()
