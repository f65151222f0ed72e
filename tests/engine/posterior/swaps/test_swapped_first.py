"""A method after a swap: every original listed, and what readers are told of it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.errors import InfeasibleError, ParameterError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.prior import CellTable, Member, Poisson, Prior
from tabprotect.engine.posterior.swaps.infer_swapped_first import expected
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.exact_margins import exact_sums
from tabprotect.engine.release.likelihood import SwappedFirst
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.testing.brute_force import chance_of

METHOD = methods()["record_swapping"]
SEED = Randomness.seeded(4)
MOST = 2


def released(counts: object, **given: object) -> Release:
    table = Table.dense(Domain.of({"area": ["a", "b"], "kind": ["x", "y"]}), np.array(counts))
    return METHOD.run(Problem(table), given, Randomness.seeded(2)).release


def seen(likelihood: SwappedFirst, prior: Prior | None = None) -> np.ndarray:
    found = infer(likelihood, prior, Approach(draws=20_000), SEED)
    return np.stack([found.probability(k).reshape(-1) for k in range(MOST + 1)], axis=1)


def weighed(originals: np.ndarray, chances: np.ndarray, prior: Prior) -> np.ndarray:
    weights = chances * np.exp(prior.log_weight(np.arange(4), originals).sum(axis=1))
    weights /= weights.sum()
    return np.stack([(weights[:, None] * (originals == k)).sum(axis=0) for k in range(MOST + 1)], axis=1)


@pytest.mark.parametrize(
    "given",
    [
        {"rule": "deal", "rate": 0.5, "then": "random_rounding base=2"},
        {"rule": "own", "hi": 0.7, "lo": 0.2, "then": "cell_key D=1 V=0.4 js=0"},
    ],
)
def test_the_swapped_table_is_drawn_and_swapped_once_more(given: dict[str, object]) -> None:
    likelihood = likelihood_of(released([[2, 1], [0, 1]], **given))
    assert isinstance(likelihood, SwappedFirst)
    originals = np.array(list(product(range(MOST + 1), repeat=4)))
    chances = np.array([chance_of(likelihood, tuple(one)) for one in originals.tolist()])
    # A law without association, which swaps leave as it is, is that of the published sums.
    found = seen(likelihood)
    assert np.abs(found - seen(likelihood, Poisson(expected(likelihood)))).max() < 0.03
    # Who is counted in the cell weighs its counts by what they are.
    member = found * np.arange(MOST + 1)
    assert np.allclose(
        seen(likelihood, Member())[:, 1] * member[:, 2],
        seen(likelihood, Member())[:, 2] * member[:, 1],
        atol=0.02,
    )
    # Somebody with a belief of his own: no cell beyond MOST.
    keys, values = (a.reshape(-1) for a in np.indices((4, MOST + 1)))
    own = CellTable(keys, values, ((7 * keys + 3 * values) % 5 + 1.0))
    assert np.abs(seen(likelihood, own) - weighed(originals, chances, own)).max() < 0.03


def test_nothing_that_is_published_is_exact_and_a_bundle_says_what_was_done() -> None:
    release = released([[9, 4], [7, 3]], rule="deal", then="cell_key D=2 V=1 js=0")
    found = verify_bytes(public.to_bytes(release, page=False)).release
    likelihood = likelihood_of(found)
    assert isinstance(likelihood, SwappedFirst) and exact_sums(likelihood) == {}
    assert found.mechanism.parameters["then"] == "cell_key D=2 V=1 js=0"
    with pytest.raises(InfeasibleError, match="no exact laws"):
        infer(likelihood, approach=Approach(way="exact"))


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"then": "record_swapping"}, "then"),
        ({"then": "no_such"}, "then"),
        ({"then": "cell_key D=nothing"}, "then"),
        ({"rule": "deal", "hi": 0.5, "then": "cell_key D=2 V=1"}, "hi"),
        ({"margins": "area", "then": "post_randomisation"}, "then"),
    ],
)
def test_what_cannot_follow_is_refused_by_name(given: dict[str, object], field: str) -> None:
    domain = Domain.of({"area": ["a", "b"], "kind": ["x", "y"]})
    with pytest.raises(ParameterError) as caught:
        METHOD.resolve(domain, given)
    assert field in caught.value.fields
