"""Adjustment that fills what letters hide: safe, exact where it was published, and a function of that."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.arrays import Ints
from tabprotect.engine.bundle import archive, public
from tabprotect.engine.bundle.verify import verify_bytes, with_verdict
from tabprotect.engine.disclosure import gate
from tabprotect.engine.errors import BundleError, InputError, ParameterError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.methods import controlled_tabular_adjustment as adjustment
from tabprotect.engine.protection.methods.controlled_tabular_adjustment import FILLED, MOVED, PLUGIN
from tabprotect.engine.protection.methods.suppression import PLUGIN as SUPPRESSION
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.subtables import publication_of
from tabprotect.engine.protection.suppressing import filled as filling
from tabprotect.engine.protection.suppressing.filled import fill
from tabprotect.engine.protection.suppressing.letters import LetterLaw
from tabprotect.engine.protection.suppressing.planned import LETTERS, hide, inner_run, usual_values
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

RULE = SmallCount(1, 2)
LAW = LetterLaw(RULE, 0.7, 8)


def _table(counts: object) -> Table:
    array = np.array(counts)
    return Table.dense(Domain.of_shape(array.shape), array)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([(3, 4), (2, 2, 3)]))
def test_fillings_look_at_the_release_alone(seed: int, shape: tuple[int, ...]) -> None:
    """Another original of the same release gets the same numbers; a filling that sees it would not."""
    generator = np.random.default_rng(seed)
    table = _table(generator.poisson(4, shape))
    values = usual_values(PLUGIN.resolve(table.domain, {}))
    publication = publication_of(table.domain, PLUGIN.resolve(table.domain, {}))
    letters = LAW.draw(table, b"key")
    hidden = hide(Problem(table, at_risk=RULE), publication, values, LAW, letters).hidden
    told = np.where(hidden[inner_run(publication)], letters, -1)
    true = publication.added_up(table)
    found = fill(publication, (true, hidden), told, LAW, 50)
    blind = fill(publication, (np.where(hidden, 12345, true), hidden), told, LAW, 50)
    np.testing.assert_array_equal(found, blind)
    np.testing.assert_array_equal(found[told < 0], table.counts.reshape(-1)[told < 0])
    # No number that is published looks like a small one.
    assert not RULE.mask(np.asarray(publication.incidence @ found)).any()


def test_published_totals_stay_exact_and_the_posterior_is_that_of_the_suppression() -> None:
    problem = Problem(_table(COUNTS), at_risk=RULE)
    filled = gate.protect(PLUGIN, problem, {}, Randomness.seeded(5))
    assert filled.verdict.passed and filled.verdict.left_out == ()
    hidden = gate.protect(SUPPRESSION, problem, {}, Randomness.seeded(5))
    stated = filled.release.mechanism.parameters
    assert stated[LETTERS] == hidden.release.mechanism.parameters[LETTERS]
    assert "largest_change" not in stated
    one, other = (
        infer(method.likelihood(done.release)) for method, done in ((PLUGIN, filled), (SUPPRESSION, hidden))
    )
    np.testing.assert_allclose(one.mean, other.mean, atol=1e-12)
    for full, part in zip(filled.release.tables, hidden.release.tables, strict=True):
        np.testing.assert_array_equal(full.table.counts[~part.hidden], part.table.counts[~part.hidden])


COUNTS = [[15, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]]


def _looking(*given: object) -> Ints:
    """A filling that puts the original's own count where a letter stands for several, in the house alone."""
    found = fill(*given)  # type: ignore[arg-type]
    letters = np.asarray(given[2])
    true = np.array(COUNTS).reshape(-1)
    return np.where((letters > 0) & (true > RULE.high), true, found)


def test_a_filling_that_looks_at_the_original_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(_table(COUNTS), at_risk=RULE)
    sound = gate.protect(PLUGIN, problem, {}, Randomness.seeded(5))
    files = public.files(sound.release, page=False)
    checks = with_verdict(verify_bytes(archive.pack(files))).checks
    assert any("follow from the rest" in one for one in checks)
    with monkeypatch.context() as planted:
        planted.setattr(adjustment, "fill", _looking)
        faulty = gate.protect(PLUGIN, problem, {}, Randomness.seeded(5))
    assert faulty.release.tables != sound.release.tables
    found = verify_bytes(archive.pack(public.files(faulty.release, page=False)))
    with pytest.raises(BundleError, match="follow from the rest of the release do not"):
        with_verdict(found)


def test_published_numbers_that_move_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader of the letters has them, so the reader of what was filled has, too."""
    problem = Problem(_table(COUNTS), at_risk=RULE)
    monkeypatch.setattr(filling, "KEPT", 0.0)
    moving = PLUGIN.run(problem, {}, Randomness.seeded(5)).release
    stated = dict(moving.mechanism.parameters)
    assert stated[MOVED]
    assert PLUGIN.made_again(moving)
    hidden = SUPPRESSION.run(problem, {}, Randomness.seeded(5)).release
    one, other = infer(PLUGIN.likelihood(moving)), infer(SUPPRESSION.likelihood(hidden))
    np.testing.assert_allclose(one.mean, other.mean, atol=1e-12)
    for wrong in (3, {"0": -1}, {"x": 4}):
        mechanism = type(moving.mechanism)(PLUGIN.name, moving.domain, stated | {MOVED: wrong})
        with pytest.raises(InputError, match="moved"):
            PLUGIN.likelihood(Release(moving.tables, mechanism))


def test_what_goes_with_the_other_choice_is_said() -> None:
    domain = _table([[5, 6], [7, 8]]).domain
    assert PLUGIN.resolve(domain, {})["choice"] == "filled"
    assert PLUGIN.resolve(domain, {"distance": "l2"})["choice"] == "nearest"
    with pytest.raises(ParameterError, match="nearest"):
        PLUGIN.resolve(domain, {"choice": "filled", "totals": "kept"})
    with pytest.raises(ParameterError, match="inner cells"):
        PLUGIN.resolve(domain, {"choice": "filled", "margins": "A + B"})
    assert PLUGIN.resolve(domain, {"margins": "A + B"})["choice"] == "nearest"


@pytest.mark.parametrize("wrong", ["", "x", 3])
def test_marks_that_are_not_those_of_the_numbers_are_refused(wrong: object) -> None:
    done = PLUGIN.run(Problem(_table([[1, 6], [7, 8]]), at_risk=RULE), {}, Randomness.seeded(1))
    stated = dict(done.release.mechanism.parameters) | {FILLED: wrong}
    mechanism = type(done.release.mechanism)(PLUGIN.name, done.release.domain, stated)
    with pytest.raises(InputError, match="filled"):
        PLUGIN.likelihood(Release(done.release.tables, mechanism))
