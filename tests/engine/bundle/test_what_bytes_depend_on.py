"""What a public byte depends on: the published tables and what is stated, and nothing else of the original.

Many originals are protected with many seeds; of bundles with the same published tables every byte is
the same. ``TABPROTECT_BYTES=300`` makes as many times the bundles, which takes an hour.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress

import numpy as np
import pytest

from tabprotect.engine.bundle import public
from tabprotect.engine.disclosure import gate
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

TIMES = int(os.environ.get("TABPROTECT_BYTES", "1"))

LENIENT = AgencyPolicy(share=0.9, belief_limit=0.999, mean_belief_limit=0.999)
"""Nearly all leaves, so that what a gate tells is told of what is published."""

DOMAIN = Domain.of_shape((2, 2))

STATED: Mapping[str, tuple[str, ...]] = {"controlled_tabular_adjustment": ("largest_change",)}
"""What a method says of the original besides the tables, and readers condition on."""

SETTINGS: list[tuple[str, dict[str, object]]] = [
    ("cyclic_perturbation", {"alpha": 0.25, "beta": 0.25}),
    ("cyclic_perturbation", {"alpha": 0.4, "beta": 0.1, "passes": 2, "blocking": "negative"}),
    ("random_rounding", {}),
    ("random_rounding", {"base": 5}),
    ("controlled_rounding", {"choice": "nearest"}),
    ("small_count_rounding", {"base": 3, "choice": "nearest"}),
    # Of letters and drawn totals there are too many to meet often.
    ("small_count_rounding", {"base": 3, "choice": "open", "gamma": 0.0, "least": 5}),
    ("suppression", {"choice": "cheapest"}),
    ("controlled_tabular_adjustment", {"choice": "nearest"}),
    ("bootstrap", {}),
    ("post_randomisation", {"pstay": "0.6"}),
    ("coarsening", {"groupings": "all:A=a1>all,a2>all"}),
    ("publish_margins", {"margins": "A + B"}),
]
"""A method and its parameters. Of noise no two originals come to one table."""

Key = tuple[object, ...]


def published(release: Release) -> Key:
    """The tables that leave."""
    return tuple(
        part.tobytes() for one in release.tables for part in (np.asarray(one.table.counts), one.hidden)
    )


@pytest.mark.parametrize(("name", "given"), SETTINGS, ids=[f"{m}-{n}" for n, (m, _) in enumerate(SETTINGS)])
def test_equal_tables_are_equal_bytes(name: str, given: dict[str, object]) -> None:
    method, generator = methods()[name], np.random.default_rng(7)
    tried: dict[Key, dict[bytes, tuple[Problem, int]]] = defaultdict(dict)
    for seed in range(300 * TIMES):
        counts = generator.integers([[0, 0], [0, 6]], [[5, 5], [5, 11]])
        problem = Problem(Table.dense(DOMAIN, counts))
        with suppress(InfeasibleError):
            release = method.run(problem, given, Randomness.seeded(2**130 + seed)).release
            tried[published(release)].setdefault(counts.tobytes(), (problem, seed))
    # Who publishes one table from most originals has most to tell apart.
    alike = sorted(tried.values(), key=len, reverse=True)[: 3 * TIMES]
    judged: dict[Key, dict[bytes, list[int]]] = defaultdict(lambda: defaultdict(list))
    for problem, seed in (one for found in alike for one in list(found.values())[:4]):
        chance = Randomness.seeded(2**130 + seed)
        release = gate.protect(method, problem, given, chance, policy=LENIENT, draft=True).release
        stated = (release.mechanism.parameters[key] for key in STATED.get(name, ()))
        # A page for the browser takes a tenth of a second.
        page = TIMES > 1 and seed % 4 == 0
        judged[*published(release), *stated, page][public.to_bytes(release, page=page)].append(seed)
    assert any(len(seeds) > 1 for found in judged.values() for seeds in found.values())
    assert [found.values() for found in judged.values() if len(found) > 1] == []
