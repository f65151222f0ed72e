"""Cycles of large tables are chosen on a part of their categories, by the rule of small tables."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.cycles.constructions.swaps import STRIP_WORK, highest
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.fitting.synthetic_tables import shrunk
from tabprotect.engine.parameters import Values
from tabprotect.engine.protection.cycle_runs.choosing_cycles import chosen_cycles, tried_cells, typical_part
from tabprotect.engine.protection.methods.cyclic_perturbation import CyclicPerturbation
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.margins import all_margins
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table


def sparse(shape: tuple[int, ...], mean: float = 3.0) -> KeptMargins:
    """Margins of a table of mean 3 with 45 % zeros, or of another mean."""
    rng = np.random.default_rng(7)
    counts = rng.poisson(rng.gamma(0.36, mean / 0.36, size=shape))
    domain = Domain.of_shape(shape)
    return KeptMargins.of(Publication(domain, all_margins(domain)), Table.dense(domain, counts))


def asked(domain: Domain) -> Values:
    """The default parameters, without a rule or a number of passes."""
    return CyclicPerturbation().resolve(domain, {}) | {"blocking": None, "passes": None}


@pytest.mark.parametrize("shape", [(290, 340), (330, 340)])
def test_sparse_tables_get_the_same_cycles_on_both_sides(shape: tuple[int, ...]) -> None:
    kept = sparse(shape)
    choice = chosen_cycles(kept, asked(kept.domain))
    assert choice.rule == "negative" and choice.moves.design is not None
    assert (choice.moves.design.kind, dict(choice.moves.design.parameters)) == (
        "strips",
        {"height": min(shape)},
    )
    # The part is that of the same margins, and says nothing but what they say.
    part = typical_part(kept, asked(kept.domain))
    assert part.domain.size <= tried_cells(shape) and part == typical_part(kept, asked(kept.domain))
    means = [one.counts.sum() / one.domain.size / len(one.publication.margins) for one in (kept, part)]
    assert means[1] == pytest.approx(means[0], rel=0.15)
    small = sparse((10, 9))
    assert typical_part(small, asked(small.domain)) is small


@pytest.mark.parametrize(("mean", "passes"), [(3.0, 2), (10.0, 1)])
def test_more_ways_are_run_through_twice_where_counts_would_be_stuck(mean: float, passes: int) -> None:
    kept = sparse((10, 10, 10), mean)
    choice = chosen_cycles(kept, asked(kept.domain))
    assert (choice.rule, choice.passes) == ("negative", passes)
    # What was said stays as it was said.
    for said in (1, 3):
        assert chosen_cycles(kept, asked(kept.domain) | {"passes": said}).passes == said
    steps = asked(kept.domain) | {"n_cover": 500}
    assert chosen_cycles(kept, steps).passes == 1


def test_two_ways_are_run_through_once() -> None:
    kept = sparse((30, 30))
    assert chosen_cycles(kept, asked(kept.domain)).passes == 1


def test_what_no_reader_could_draw_under_one_rule_is_drawn_under_the_other() -> None:
    # Under any_zero a tenth would be stuck at most, and nobody could work out what is left.
    kept = sparse((18, 18, 18), 10.0)
    choice = chosen_cycles(kept, asked(kept.domain))
    assert choice.rule == "negative" and choice.moves.design is not None
    # Strips publish the sums of every block: in three ways a reader knows most counts by them.
    assert choice.moves.design.kind != "strips"


@pytest.mark.parametrize("shape", [(40, 40), (60, 60), (316, 316)])
def test_the_rule_follows_from_the_design_that_is_taken(shape: tuple[int, ...]) -> None:
    # Elementary swaps would leave fewer stuck, but strips are taken: readers would know 15 in 100.
    for mean, rule in ((10.0, "negative"), (200.0, "any_zero")):
        kept = sparse(shape, mean)
        choice = chosen_cycles(kept, asked(kept.domain))
        assert choice.moves.design is not None and choice.moves.design.kind == "strips"
        assert choice.rule == rule


def test_zeros_rise_before_coins_fall_more_often() -> None:
    method, often = CyclicPerturbation(), {"alpha": 0.5, "beta": 0.5}
    for side in (30, 700):
        domain = Domain.of_shape((side, side))
        values = method.resolve(domain, {"cycles": "strips", "blocking": "any_zero"})
        assert method.alternatives(domain, values)[0][1] == {"blocking": "negative"}
        free = method.resolve(domain, {"cycles": "strips", "blocking": "negative"})
        ideas = [change for _, change in method.alternatives(domain, free)]
        assert ideas[0] == often


def test_steps_may_stand_beside_a_single_pass() -> None:
    method = CyclicPerturbation()
    domain = Domain.of_shape((3, 3))
    assert method.resolve(domain, {"n_cover": 4, "passes": 1})["n_cover"] == 4
    with pytest.raises(ParameterError, match="exclude"):
        method.resolve(domain, {"n_cover": 4, "passes": 2})


def test_a_part_has_some_of_every_variable() -> None:
    assert shrunk((1000, 1000), tried_cells((1000, 1000))) == (50, 50)
    assert shrunk((2, 500_000), tried_cells((2, 500_000))) == (2, 1_250)
    assert shrunk((46, 46, 46), tried_cells((46, 46, 46))) == (27, 27, 27)
    assert shrunk((2,) * 16, tried_cells((2,) * 16)) == (2,) * 16


@pytest.mark.parametrize(
    ("shape", "height"),
    [((100, 100), 8), ((400, 400), 8), ((700, 700), 7), ((1000, 1000), 5), ((3000, 1000), 5), ((6, 9), 6)],
)
def test_strips_are_as_high_as_their_cost_allows(shape: tuple[int, ...], height: int) -> None:
    domain = Domain.of_shape(shape)
    assert highest(domain) == height
    assert domain.size * 3**height <= STRIP_WORK
