"""Priors from a model and from last year's release: means, spread, new codes, what stays possible."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.informed_prior import LEAST, informed
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.posterior.prior import NegativeBinomial, Poisson
from tabprotect.engine.posterior.prior_text import check_prior
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


def released(domain: Domain, counts: object, seed: int = 5) -> Release:
    table = Table.dense(domain, np.asarray(counts))
    return methods()["cyclic_perturbation"].run(Problem(table), {}, Randomness.seeded(seed)).release


def test_a_model_expects_what_it_fits_to_the_published_sums() -> None:
    domain = Domain.of_shape((3, 4))
    counts = np.array([[9, 2, 4, 5], [8, 1, 3, 6], [1, 12, 2, 0]])
    prior = informed("model:A + B", [released(domain, counts)])
    assert isinstance(prior, NegativeBinomial)
    # Cycles keep the margins: those of the original are those of the release.
    independent = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    assert prior.means == pytest.approx(independent.reshape(-1))
    # The rows differ: the spread around the model is far beyond Poisson's.
    assert prior.dispersion < 20
    alike = np.full((3, 4), 6)
    assert isinstance(informed("model:A + B", [released(domain, alike)]), Poisson)


def test_last_year_is_scaled_and_matched_by_labels(tmp_path: Path) -> None:
    before = Domain.of({"sex": ("m", "f"), "age": ("old", "young", "gone")})
    now = Domain.of({"age": ("young", "new", "old"), "sex": ("m", "f")})
    last = released(before, [[10, 0, 7], [8, 4, 9]])
    (tmp_path / "last.zip").write_bytes(public.to_bytes(last, page=False))
    release = released(now, [[20, 16], [6, 6], [12, 20]])
    prior = informed(f"last:{tmp_path / 'last.zip'}", [release])
    assert isinstance(prior, Poisson)
    means = prior.means.reshape(3, 2)
    assert means.sum() == pytest.approx(80, rel=0.01)
    assert means[1, 0] == pytest.approx(means[1, 1]), "a new code takes the mean of all"
    assert means[2, 0] > means[0, 1] > means[0, 0] >= LEAST
    with pytest.raises(InputError, match="other variables: sex, age"):
        informed(f"last:{tmp_path / 'last.zip'}", [released(Domain.of_shape((3, 2)), np.ones((3, 2)))])


def test_texts_are_checked_before_anything_is_worked_out() -> None:
    domain = Domain.of_shape((3, 4))
    check_prior("model:A*B", domain)
    for text in ("model:A", "model:", "last:", "nothing"):
        with pytest.raises(ParameterError):
            check_prior(text, domain)
