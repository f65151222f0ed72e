"""Multiplicative noise: every contribution times a secret factor near 1, the same every year."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.magnitudes.methods.multipliers import MultiplierLaw, multiplied
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.method import MagnitudeMethod
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.release.findings import Omission
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.magnitudes.readers.beliefs import CellBelief, ContributorView


class MultiplicativeNoise(MagnitudeMethod):
    name = "multiplicative_noise"
    label = message("Multiplicative noise")
    about = message(
        "Multiplies what each contributor puts in by a secret factor near 1, the same every year. "
        "Everything is published and adds up; no sum is exact."
    )
    promise = message(
        "Every contribution was multiplied by a secret factor near 1 before it was added up; the same "
        "contributor has the same factor in every table. All sums add up."
    )
    hint = message("take more noise, or accept it: --accept REASON")
    place = 2
    ladder = (
        {"least": 0.05, "most": 0.15},
        {"least": 0.1, "most": 0.25},
        {"least": 0.2, "most": 0.5},
        {"least": 0.3, "most": 0.7},
    )
    parameters = (
        Parameter(
            "least",
            message("Least distance from 1"),
            message("A factor is never nearer to 1 than this."),
            "real",
            0.05,
            low=0.0,
            high=1.0,
        ),
        Parameter(
            "most",
            message("Largest distance from 1"),
            message("A factor is never further from 1 than this."),
            "real",
            0.15,
            low=0.0,
            high=1.0,
        ),
        Parameter(
            "distances",
            message("Distances"),
            message("How distances between the two ends are drawn."),
            "choice",
            "uniform",
            choices={"uniform": message("all alike"), "ramp": message("small ones more often")},
        ),
    )

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> Values:
        return Values(MultiplierLaw.of(super().resolve(domain, given)).as_json())

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        progress.report(message("adding noise"), 0.0)
        given = problem.contributions
        value = multiplied(given.table, MultiplierLaw.of(values), given.key)
        return Draft(magnitudes=(given.published(value),))

    def beliefs(
        self, release: Release, view: ContributorView, within: float, *, seed: int = 0
    ) -> Iterator[CellBelief]:
        from tabprotect.engine.magnitudes.readers.beliefs import noise_beliefs

        return noise_beliefs(
            release.magnitude_table, MultiplierLaw.of(release.mechanism.parameters), view, within
        )

    def outsider(self, release: Release, within: float) -> Floats:
        law, size = MultiplierLaw.of(release.mechanism.parameters), np.abs(release.magnitude_table.value)
        out = np.zeros(len(size))
        out[size != 0] = law.belief(within)
        for value in np.unique(size[(size != 0) & (size * law.most < law.COARSE)]).tolist():
            out[size == value] = law.rounded_belief(value, within)
        return out

    def quantiles(self, release: Release, levels: Floats) -> tuple[Ints, Floats]:
        law, value = MultiplierLaw.of(release.mechanism.parameters), release.magnitude_table.value
        at = np.flatnonzero(value != 0)
        grid = np.linspace(1 - law.most, 1 + law.most, 4001)
        ends = np.interp(levels, law.below(grid), grid)
        return at, np.sort(value[at][:, None] / ends[None, :], axis=1)

    def said(self, given: Mapping[str, object]) -> str:
        law = MultiplierLaw.of(Values(given))
        return message(
            "noise on every contribution, {least:.0f} % to {most:.0f} %", 100 * law.least, 100 * law.most
        )

    def left_out(self, release: Release) -> tuple[Omission, ...]:
        # Only one of the copies that a weight stands for has noise.
        return ("contributors",) if release.magnitude_table.weighted else ()

    def adds_nothing(self, before: Release, release: Release) -> bool:
        # The same factors add up over all tables of a measure; the grand total, the last cell, says so.
        then, now = before.magnitude_table, release.magnitude_table
        return (
            before.mechanism.method == release.mechanism.method
            and (then.measure, then.decimals) == (now.measure, now.decimals)
            and dict(before.mechanism.parameters) == dict(release.mechanism.parameters)
            and int(then.value[then.key.argmax()]) == int(now.value[now.key.argmax()])
        )


PLUGIN = MultiplicativeNoise()
