"""Margins only: safe by brute force, nothing else disclosed, what follows composes exactly."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from round_trip import round_trip

from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.verify import verify
from tabprotect.engine.disclosure.gate import protect
from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError, RefusedError, TooLargeError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection import guarantees
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import KEY_MODULUS, Randomness
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.testing.brute_force import weight

METHOD = methods()["publish_margins"]
DOMAIN = Domain.of_shape((2, 3))


def brute_width(table: Table, margins: list[tuple[str, ...]]) -> int | None:
    """Of all tables with these margins: the smallest range of an at-risk cell."""
    domain = table.domain
    grid = np.arange(domain.size).reshape(domain.shape)
    sums = []
    for margin in margins:
        axes = tuple(domain.axis(n) for n in margin)
        gone = tuple(a for a in range(domain.ndim) if a not in axes)
        moved = grid.transpose(axes + gone).reshape(-1, math.prod(domain.shape[a] for a in gone))
        sums += [tuple(row) for row in moved.tolist()]
    flat = table.counts.reshape(-1).tolist()
    totals = [sum(flat[c] for c in cells) for cells in sums]
    low, high = list(flat), list(flat)

    def extend(known: list[int], left: list[int]) -> None:
        cell = len(known)
        if cell == len(flat):
            if not any(left):
                for k, v in enumerate(known):
                    low[k], high[k] = min(low[k], v), max(high[k], v)
            return
        mine = [s for s, cells in enumerate(sums) if cell in cells]
        for value in range(min(left[s] for s in mine) + 1):
            rest = list(left)
            for s in mine:
                rest[s] -= value
            if all(rest[s] == 0 for s in mine if max(sums[s]) == cell):
                extend([*known, value], rest)

    extend([], totals)
    widths = [high[k] - low[k] for k, v in enumerate(flat) if 1 <= v <= 2]
    return min(widths, default=None)


@settings(max_examples=50, deadline=None)
@given(
    cells=st.lists(st.integers(0, 3), min_size=8, max_size=8),
    formula=st.sampled_from(["A + B + C", "A:B + C", "A:B + B:C + A:C", "A + B:C", "A:B"]),
    threshold=st.integers(1, 6),
)
def test_safe_means_that_brute_force_finds_every_cell_wide(
    cells: list[int], formula: str, threshold: int
) -> None:
    table = Table.dense(Domain.of_shape((2, 2, 2)), np.array(cells).reshape(2, 2, 2))
    given_ = {"margins": formula, "threshold": threshold, "cells": "at_risk"}
    values = METHOD.resolve(table.domain, given_)
    release, draft = METHOD.perform(Problem(table), values, np.random.default_rng(0))
    margins = [tuple(m) for m in release.mechanism.parameters["released_frontier"]]
    # A margin nobody named leaves its cells to the total, which follows from any other.
    width = brute_width(table, margins)
    assert draft.findings["proved"] == (width is None or width >= threshold)
    assert bool(METHOD.acceptance_failure(draft.findings)) == (width is not None and width < threshold)
    for published in release.tables:
        assert published.table == table.margin(published.table.domain.names)
    assert weight(likelihood_of(release), table) == 1


def objection(table: Table, **given_: object) -> str:
    """Why the criterion speaks against publishing."""
    return METHOD.acceptance_failure(METHOD.run(Problem(table), given_, Randomness.fresh()).record.findings)


def test_the_documented_example() -> None:
    table = Table.dense(Domain.of({"a": ["1", "2"], "b": ["1", "2"]}), [[3, 1], [2, 4]])
    done = METHOD.run(Problem(table), {"margins": "a + b"}, Randomness.fresh())
    assert [p.table.counts.tolist() for p in done.release.tables] == [[4, 6], [5, 5]]
    assert objection(table, margins="a + b") == ""
    assert "width is at most 4, less than 5" in objection(table, margins="a + b", threshold=5)


def test_what_is_not_proved_safe_is_refused_by_name_and_only_the_frontier_is_public() -> None:
    table = Table.dense(DOMAIN, [[1, 0, 5], [0, 7, 9]])
    with pytest.raises(RefusedError, match=r"\(a1, b1\) lies in 0\.\.1"):
        protect(METHOD, Problem(table), {"margins": "A + B", "cells": "at_risk"}, Randomness.fresh())
    given_ = {"margins": "A*B - A:B", "cells": "at_risk"}
    done = METHOD.run(Problem(table), given_, Randomness.fresh())
    assert done.record.findings["tight"][0] == {"cell": "(a1, b1)", "lower": 0, "upper": 1}
    assert done.release.mechanism.as_json(categories=True) == {
        "method": "publish_margins",
        "variables": ["A", "B"],
        "shape": [2, 3],
        "categories": {"A": ["a1", "a2"], "B": ["b1", "b2", "b3"]},
        "margins": "A*B - A:B",
        "threshold": 3,
        "bounds": "auto",
        "cells": "at_risk",
        "then": "",
        "criterion": "width",
        "at_risk": "1..2",
        "released_frontier": [["A"], ["B"]],
        "proved_safe": False,
    }


def test_bounds_that_only_contain_the_true_ones_prove_nothing() -> None:
    table = Table.dense(Domain.of_shape((2, 2, 2)), np.full((2, 2, 2), 2))
    given_ = {"margins": "A:B + B:C + A:C", "threshold": 2}
    assert not objection(table, **given_)
    assert "Not proved wide enough" in objection(table, **given_, bounds="shuttle")


def test_the_table_itself_is_never_safe_and_nothing_at_risk_always() -> None:
    table = Table.dense(DOMAIN, [[1, 4, 5], [6, 7, 9]])
    assert objection(table, margins="A:B", threshold=1)
    large = Table.dense(DOMAIN, np.full((2, 3), 40))
    assert not objection(large, margins="A:B", cells="at_risk")
    # Where all cells are judged, what passes may depend on no count.
    assert objection(large, margins="A:B")


FOLLOWING = [
    "",
    "random_rounding base=3",
    "bootstrap S=1.5 M=1",
    "bootstrap M=3",
    "binomial_compensated",
    "post_randomisation pstay=0.7",
    "cell_key D=3 V=2",
]


@pytest.mark.parametrize("then", FOLLOWING)
def test_the_likelihood_is_the_product_of_the_margins(then: str) -> None:
    domain = Domain.of_shape((2, 2, 2))
    generator = np.random.default_rng(12)
    table = Table.dense(domain, generator.poisson(3, domain.shape))
    values = METHOD.resolve(domain, {"margins": "A:B + B:C", "then": then})
    release, _ = METHOD.perform(Problem(table), values, generator)
    likelihood = likelihood_of(release)
    others = [table]
    for _ in range(6):
        # Candidates that agree on the margins, and some that do not.
        counts = table.counts.copy()
        step = 1 if counts[0, 0, 1] and counts[1, 0, 0] else -1
        if (counts[0, 0, 0] and counts[1, 0, 1]) or step > 0:
            counts[0, 0, 0] += step
            counts[0, 0, 1] -= step
            counts[1, 0, 0] -= step
            counts[1, 0, 1] += step
        counts = np.maximum(counts + generator.integers(-1, 2, counts.shape), 0)
        others.append(Table.dense(domain, counts))
    found = [weight(likelihood, other) for other in others]
    parts = []
    for m, published in enumerate(release.tables):
        names = published.table.domain.names
        if then:
            mechanism = Mechanism(
                then.split()[0], published.table.domain, release.mechanism.parameters["protected_by"][m]
            )
            alone = likelihood_of(Release((published,), mechanism))
            parts.append([weight(alone, other.margin(names)) for other in others])
        else:
            parts.append([float(published.table == other.margin(names)) for other in others])
    assert found == pytest.approx([math.prod(p) for p in zip(*parts, strict=True)], rel=1e-9)
    assert found[0] > 0


@pytest.mark.parametrize("then", FOLLOWING)
def test_bundle_and_dossier(then: str, tmp_path: Path) -> None:
    counts = np.random.default_rng(2).poisson(6, (3, 2, 2))
    problem = Problem(Table.dense(Domain.of_shape((3, 2, 2)), counts), title="Beds")
    done = METHOD.run(problem, {"margins": "A:B + C", "then": then}, Randomness.fresh())
    release = round_trip(done, tmp_path)
    assert [p.table.domain.names for p in release.tables] == [("A", "B"), ("C",)]
    assert release.domain == problem.table.domain


def test_the_grand_total_alone(tmp_path: Path) -> None:
    table = Table.dense(DOMAIN, [[3, 4, 5], [6, 7, 9]])
    done = METHOD.run(Problem(table), {"margins": "1"}, Randomness.fresh())
    release = round_trip(done, tmp_path)
    assert release.table.domain.names == () and release.table.total == 34
    assert weight(likelihood_of(release), table) == 1
    other = Table.dense(DOMAIN, [[3, 4, 5], [6, 7, 8]])
    assert weight(likelihood_of(release), other) == 0


def test_margins_of_records_with_keys_take_the_records_keys() -> None:
    domain = Domain.of_shape((2, 2))
    keys = Table.dense(domain, [[KEY_MODULUS - 1, 5], [7, 11]])
    table = Table.dense(domain, [[9, 8], [7, 6]])
    given_ = {"margins": "A", "then": "cell_key D=3 V=2 keys=records"}
    with pytest.raises(ParameterError, match="record keys"):
        METHOD.run(Problem(table), given_, Randomness.fresh())
    runs = {
        METHOD.run(Problem(table, record_keys=keys), given_, Randomness.fresh()).release.table
        for _ in range(5)
    }
    # The keys alone decide, not the run.
    assert len(runs) == 1


def test_a_changed_margin_is_a_broken_promise() -> None:
    table = Table.dense(DOMAIN, [[3, 4, 5], [6, 7, 9]])
    values = METHOD.resolve(DOMAIN, {"margins": "A + B"})
    draft = METHOD.draw(Problem(table), values, np.random.default_rng(0))
    other = Table.dense(DOMAIN, [[4, 4, 5], [6, 7, 8]])
    with pytest.raises(InfeasibleError, match="broke its own promise"):
        guarantees.verify(METHOD, Problem(other), values, draft)


def test_a_huge_sparse_table_is_released_without_a_posterior(tmp_path: Path) -> None:
    domain = Domain.of_shape((40,) * 6)
    generator = np.random.default_rng(4)
    keys = generator.integers(0, domain.size, 2000)
    table = Table.sparse(domain, keys, np.ones(2000, dtype=np.int64))
    problem = Problem(table)
    given_ = {"margins": "A:B + C + D", "cells": "at_risk"}
    done = METHOD.run(problem, given_, Randomness.fresh())
    public.write(done.release, tmp_path / "release.zip")
    found = verify(tmp_path / "release.zip")
    assert found.release.tables == done.release.tables
    assert any("too large for a posterior" in check for check in found.checks)
    with pytest.raises(TooLargeError):
        likelihood_of(found.release)


def test_bad_parameters_all_at_once() -> None:
    with pytest.raises(ParameterError) as caught:
        METHOD.resolve(
            DOMAIN, {"threshold": 0, "bounds": "guess", "then": "magic", "speed": 1, "margins": "Z"}
        )
    assert set(caught.value.fields) == {"threshold", "bounds", "then", "speed", "margins"}
    with pytest.raises(ParameterError, match="must name the margins"):
        METHOD.resolve(DOMAIN, {})


@pytest.mark.parametrize(
    ("then", "message"),
    [
        ("magic", "'magic' is no method"),
        ("random_rounding base", "not NAME=VALUE"),
        ("random_rounding speed=1", "not NAME=VALUE"),
        ("random_rounding base=zero", "base: must be a number"),
        ("random_rounding margins=A", "'margins' cannot be set"),
        ("random_rounding 'base=3", "cannot be read"),
        ("cyclic_perturbation", "there is no posterior"),
        ("publish_margins", "cannot follow itself"),
        ("binomial_compensated kept=A", "kept: is the table itself"),
    ],
)
def test_what_cannot_follow(then: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        METHOD.resolve(DOMAIN, {"margins": "A", "then": then})
    assert set(caught.value.fields) == {"then"}


def test_releases_that_cannot_be() -> None:
    table = Table.dense(DOMAIN, [[3, 4, 5], [6, 7, 9]])
    given_ = {"margins": "A + B", "then": "random_rounding base=3"}
    release = METHOD.run(Problem(table), given_, Randomness.seeded(1)).release
    stated = dict(release.mechanism.parameters)
    for change, message in (
        ({"released_frontier": [["A"]]}, "not what its formula says"),
        ({"protected_by": None}, "for every margin"),
        ({"protected_by": [{}, {}]}, "does not state"),
        ({"protected_by": [1, 2]}, "holds no parameters"),
        ({"protected_by": stated["protected_by"][:1]}, "for every margin"),
    ):
        mechanism = replace(release.mechanism, parameters=stated | change)
        with pytest.raises(InputError, match=message):
            likelihood_of(replace(release, mechanism=mechanism))
    with pytest.raises(InputError, match="not the margins"):
        likelihood_of(replace(release, tables=release.tables[:1]))


def test_every_choice_of_margins_of_a_small_table_keeps_its_promises() -> None:
    table = Table.dense(Domain.of_shape((2, 2, 2)), np.arange(8).reshape(2, 2, 2))
    names = table.domain.names
    subsets = [c for r in (1, 2, 3) for c in itertools.combinations(names, r)]
    for chosen in itertools.combinations(subsets, 2):
        formula = " + ".join(":".join(margin) for margin in chosen)
        values = METHOD.resolve(table.domain, {"margins": formula})
        release, _ = METHOD.perform(Problem(table), values, np.random.default_rng(0))
        frontier = [set(m) for m in release.mechanism.parameters["released_frontier"]]
        assert all(any(set(margin) <= f for f in frontier) for margin in chosen)
        assert not any(a < b for a in frontier for b in frontier)


def test_over_all_cells_what_passes_tells_nothing_more() -> None:
    """`2 4 / 1 2 / 0 0` passes at 3 over its at-risk cells; the reader is left with width 1."""
    table = Table.dense(Domain.of_shape((3, 2)), [[2, 4], [1, 2], [0, 0]])
    assert not objection(table, margins="A + B", cells="at_risk")
    assert objection(table, margins="A + B")
    wide = Table.dense(Domain.of_shape((2, 2)), [[3, 1], [2, 4]])
    done = METHOD.run(Problem(wide), {"margins": "A + B"}, Randomness.fresh())
    assert done.record.findings["proved"] and done.release.mechanism.parameters["cells"] == "all"
    likelihood = likelihood_of(done.release)
    # Nothing is left out, and nothing has to be judged again.
    assert likelihood.note == "" and likelihood.rerun is None
    for first in range(5):
        other = Table.dense(wide.domain, [[first, 4 - first], [5 - first, 1 + first]])
        again = METHOD.run(Problem(other), {"margins": "A + B", "cells": "all"}, Randomness.fresh())
        assert again.record.findings["proved"]


def test_listing_originals_keeps_to_the_budget_of_the_caller() -> None:
    counts = np.full((3, 3, 3), 2)
    table = Table.dense(Domain.of_shape(counts.shape), counts)
    problem = Problem(table)
    values = METHOD.resolve(table.domain, {"margins": "A:B + B:C + A:C", "threshold": 1})
    release, _ = METHOD.perform(problem, values, np.random.default_rng(0))
    likelihood = likelihood_of(release)
    whole = infer(likelihood, approach=Approach(way="exact"))
    number = whole.count_originals()
    assert number is not None and number > 100
    with pytest.raises(TooLargeError):
        infer(likelihood, approach=Approach(way="exact", steps=number))


def test_all_cells_are_the_first_remedy_of_small_counts() -> None:
    """What passes then follows from the margins alone, which leaves nothing out of the verdict."""
    domain = Domain.of_shape((3, 4))
    for cells, offered in (("at_risk", True), ("all", False)):
        values = METHOD.resolve(domain, {"margins": "A + B", "cells": cells})
        ideas = [change for _, change in METHOD.alternatives(domain, values)]
        assert ({"cells": "all"} in ideas[:1]) == offered and len(ideas) > 1
