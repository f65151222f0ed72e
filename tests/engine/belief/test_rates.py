"""Rates: of a known table by the beta law, and of a release between what is certain and what is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from tabprotect.engine.belief.evidence import RELEASE_ALONE
from tabprotect.engine.belief.model_fit import ModelReading
from tabprotect.engine.belief.rates import Ratio, rate
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

DOMAIN = Domain.of_shape((2, 2, 3))
COUNTS = np.array([[[9, 4, 7], [3, 8, 2]], [[5, 6, 3], [7, 2, 11]]])


def test_a_rate_is_that_of_the_named_categories() -> None:
    for text, hits, every in (("A=a2 | C=c3", [14], [23]), ("C=c3 | A=a2, a1", [14, 9], [34, 33])):
        found = Ratio.parse(text).counts(DOMAIN, COUNTS[None])
        assert [one[0].tolist() for one in found] == [hits, every]
    drawn = Ratio.parse("A=a2|C=c3").drawn(
        DOMAIN, np.repeat(COUNTS[None], 20_000, axis=0), np.random.default_rng(1)
    )
    assert np.quantile(drawn, [0.025, 0.975]) == pytest.approx(beta(14.5, 9.5).ppf([0.025, 0.975]), abs=0.01)


def test_noise_makes_a_rate_less_certain_and_kept_sums_do_not() -> None:
    for method, values, wider in (
        ("random_rounding", {"base": 5, "margins": "A:B:C - 1"}, (1.15, 2.0)),
        ("cyclic_perturbation", {}, (0.93, 1.07)),
    ):
        run = methods()[method].run(Problem(Table.dense(DOMAIN, COUNTS)), values, Randomness.seeded(2))
        reading = ModelReading.of([run.release], RELEASE_ALONE, Randomness.seeded(1))
        found = rate(reading, Ratio.parse("A=a1 | B=b1, b2"))
        assert found.interval is not None and found.published_interval is not None
        widths = [high - low for low, high in (found.interval, found.published_interval)]
        assert wider[0] < widths[0] / widths[1] < wider[1]


def test_what_is_no_rate_is_refused() -> None:
    for text in ("A=a1", "A|B=b1", "A=a1|B=", "A=a1|B=b1,b2,b3"):
        with pytest.raises(ParameterError, match="cannot read"):
            Ratio.parse(text)
    with pytest.raises(InputError):
        Ratio.parse("A=a9|B=b1").counts(DOMAIN, COUNTS[None])
