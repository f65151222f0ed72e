"""The verdict against a reader who lists every original and runs the public mechanism on each."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabprotect.engine.belief import weighing
from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.disclosure import cell_beliefs
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.verdict_figures import Verdict
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))

from listing_laws import PARTS
from listing_reader import Figures, Reader, TooManyError

LIMITS = AgencyPolicy().limits()
MOST = 120
"""Originals that one reader runs the mechanism on."""

SETTINGS: list[tuple[str, Mapping[str, object] | None]] = [
    ("suppression", {"choice": "cheapest"}),
    ("suppression", {"choice": "cheapest", "zeros": "allowed", "insiders": "none"}),
    ("suppression", {"choice": "cheapest", "totals": "published", "level": 1}),
    ("coarsening", None),
    ("publish_margins", {"margins": "A + B"}),
    ("publish_margins", {"margins": "A + B", "threshold": 2}),
    ("cyclic_perturbation", {"cycles": "strips-2", "blocking": "any_zero"}),
    ("cyclic_perturbation", {"cycles": "strips-2", "blocking": "negative"}),
    ("random_rounding", {"base": 2}),
    ("random_rounding", {"base": 3, "margins": "A + B"}),
    ("controlled_rounding", {"base": 2}),
    ("controlled_rounding", {"base": 2, "choice": "nearest"}),
    ("small_count_rounding", {"base": 3}),
    ("small_count_rounding", {"base": 3, "choice": "nearest"}),
    ("controlled_tabular_adjustment", {"choice": "nearest"}),
    ("controlled_tabular_adjustment", {"totals": "kept"}),
    ("cell_key", {"D": 2, "V": 1, "js": 0, "margins": "A:B - 1"}),
    ("discrete_laplace", {"margins": "A:B - 1"}),
    ("discrete_laplace", {"epsilon": 3.0, "margins": "A:B + A - 1", "cap": 2}),
    ("discrete_gaussian", {"margins": "A:B - 1"}),
    ("discrete_gaussian", {"margins": "A:B + A - 1", "cap": 2}),
    ("bootstrap", {"S": 1.5, "M": 1}),
    ("binomial_compensated", {"S": 1.5}),
    ("binomial_compensated", {"kept": "A"}),
    ("post_randomisation", {"pstay": "0.7"}),
]
TABLES, DRAWS = 24, 2000
"""Of each rule whose verdict is drawn."""

FREE = ("suppression", "coarsening", "publish_margins", "cyclic_perturbation")
FEW = ("bootstrap", "post_randomisation")


def tables(name: str, generator: np.random.Generator) -> Iterator[Table]:
    """Sparse and denser ones; smaller where every record or count is uncertain."""
    shapes = ((2, 2), (2, 3), (3, 3), (2, 4), (3, 4)) if name in FREE else ((2, 2), (2, 3))
    while True:
        shape = shapes[generator.integers(len(shapes))]
        sparse = name in FEW or generator.random() < 0.5
        counts = generator.poisson(0.8, shape) if sparse else generator.integers(0, 6, shape)
        yield Table.dense(Domain.of_shape(shape), counts)


def released(
    name: str, given: Mapping[str, object] | None, table: Table, generator: np.random.Generator
) -> Release | None:
    """One draw that the method lets out."""
    method = methods()[name]
    given = method.trial_parameters(table.domain) if given is None else given
    try:
        problem = Problem(table)
        release, draft = method.perform(problem, method.resolve_for(problem, given), generator)
    except TabprotectError:
        return None
    return None if method.acceptance_failure(draft.findings) else release


def whole(found: Verdict) -> bool:
    """Whether nothing is drawn, and nothing is left out.

    Noise without a cap: what is left out is of a probability below 1e-15.
    """
    return found.way == "exact" and (found.complete or found.note.startswith("Noise beyond"))


def own(reader: Reader, release: Release, names: tuple[str, ...]) -> Figures:
    """The reader's figures of a table of the verdict."""
    if names == release.domain.names:
        return reader.figures(release.domain, None, LIMITS.belief_limit)
    published = next(p for p in release.tables if p.table.domain.names == names)
    exact = methods()[release.mechanism.method].publishes_true_counts(release)
    judged = published.hidden.reshape(-1) if exact else None
    return reader.figures(published.table.domain, judged, LIMITS.belief_limit)


def test_every_method_is_read_by_listing() -> None:
    # The law of swaps is listed by the oracle of their own tests.
    apart = {"record_swapping"}
    assert {name for name, _ in SETTINGS} == set(methods()) - apart == set(PARTS)


@pytest.mark.parametrize(("name", "given"), SETTINGS, ids=lambda v: v if type(v) is str else "")
def test_the_verdict_is_that_of_a_reader_who_lists_everything(
    name: str, given: Mapping[str, object] | None
) -> None:
    generator = np.random.default_rng(11)
    read = 0
    for number, table in enumerate(tables(name, generator)):
        if read == 3 or number == 60:
            break
        release = released(name, given, table, generator)
        if release is None:
            continue
        try:
            reader = Reader(release, LIMITS.at_risk, MOST)
        except TooManyError:
            continue
        read += 1
        found = verdict(release, LIMITS)
        assert whole(found)
        assert release.domain.names in {judged.names for judged in found.tables}
        for judged in found.tables:
            theirs = own(reader, release, judged.names)
            assert judged.at_risk == pytest.approx(theirs.at_risk, abs=1e-9)
            assert (judged.known, judged.certain) == (theirs.known, theirs.certain)
        assert found.insiders.exact
        chance = reader.insiders(LIMITS.belief_limit)
        assert found.insiders.chance == (None if chance is None else pytest.approx(chance))
    assert read == 3


def drawn(likelihood: Any, prior: Any, approach: Any, *rest: Any) -> Any:
    return infer(likelihood, prior, replace(approach, way="monte_carlo", draws=DRAWS), *rest)


@pytest.mark.parametrize(("blocking", "way"), [("any_zero", "simulation"), ("negative", "exact_draws")])
def test_a_drawn_verdict_keeps_its_error(blocking: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    generator, errors = np.random.default_rng(8), []
    given = {"cycles": "strips-2", "blocking": blocking}
    while len(errors) < TABLES * 9:
        table = Table.dense(Domain.of_shape((3, 3)), generator.poisson(1.5, (3, 3)))
        release = released("cyclic_perturbation", given, table, generator)
        assert release is not None
        cell_beliefs._last.clear()
        (exact,) = verdict(release, LIMITS).tables
        (truth,) = cell_beliefs.tables_believed(Evidence(release), "uniform").beliefs
        with monkeypatch.context() as patched:
            patched.setattr(weighing, "infer", drawn)
            cell_beliefs._last.clear()
            (found,) = verdict(release, LIMITS).tables
            (belief,) = cell_beliefs.tables_believed(Evidence(release), "uniform").beliefs
        assert (exact.way, exact.error, found.way) == ("exact", 0.0, way)
        cells = np.arange(9)
        gaps, highest = np.zeros(9), np.zeros(9)
        for value in (1, 2):
            chance = truth.probability(value, cells)
            highest = np.maximum(highest, chance)
            gaps = np.maximum(gaps, np.abs(belief.probability(value, cells) - chance))
        assert abs(found.at_risk - exact.at_risk) <= 3 * found.error * np.sqrt(2 * 9) + 1e-9
        # Only cells at the limit can be told wrongly.
        doubtful = (np.abs(highest - LIMITS.belief_limit) <= 3 * found.error) & (highest < 1 - 1e-9)
        assert abs(found.known - exact.known) <= doubtful.sum()
        errors += (gaps / max(found.error, 1e-9)).tolist()
    assert np.mean(np.array(errors) <= 2) >= 0.95
    assert max(errors) < 5


def test_exchange_steps_are_judged_as_by_a_reader_who_lists_everything() -> None:
    generator, read, learning = np.random.default_rng(5), 0, 0
    while read < 8:
        table = Table.dense(Domain.of_shape((3, 3)), generator.poisson(0.8, (3, 3)))
        given = {"blocking": "exchange", "rate": float(generator.choice([0.1, 0.3]))}
        release = released("cyclic_perturbation", given, table, generator)
        assert release is not None
        try:
            reader = Reader(release, LIMITS.at_risk, MOST)
        except TooManyError:
            continue
        if reader.listed < 3:
            continue
        read += 1
        found = verdict(release, LIMITS)
        (judged,) = found.tables
        limits = [reader.figures(release.domain, None, LIMITS.belief_limit + by) for by in (0.02, -0.02)]
        assert judged.way == "exact_draws" and found.complete
        assert judged.at_risk == pytest.approx(limits[0].at_risk, abs=0.1)
        assert limits[0].known <= judged.known <= limits[1].known
        # Whoever is alone may learn more often where less is enough.
        chances = [reader.insiders(LIMITS.belief_limit + by) for by in (0.02, -0.02)]
        if chances[0] is None or chances[1] is None or found.insiders.chance is None:
            continue
        assert min(chances) - 0.05 <= found.insiders.chance <= max(chances) + 0.05  # type: ignore[type-var]
        learning += chances[0] > 0.1
    assert learning
