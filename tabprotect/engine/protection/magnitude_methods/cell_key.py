"""Cell keys: noise of the size of the largest contributions that follows from who contributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.magnitudes.methods.key_noise import NUMBERS, KeyNoise, keyed
from tabprotect.engine.magnitudes.readers.beliefs import OUTSIDE, CellBelief, ContributorView, noise_beliefs
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.magnitude_method import MagnitudeDraft, MagnitudeMethod, MagnitudeProblem
from tabprotect.engine.release.left_out import Omission
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import message


def _number(name: str, label: str, help_: str) -> Parameter[object]:
    return Parameter(name, label, help_, "real", NUMBERS[name], low=0.0, high=1e9)


class CellKeyOfMagnitudes(MagnitudeMethod):
    name = "cell_key"
    label = message("Cell keys")
    about = message(
        "Adds noise to each sum that follows from its contributors: the same sum is the same in every "
        "table. Sums do not add up exactly."
    )
    promise = message(
        "Every sum has noise that follows from its contributors: the same contributors always get the "
        "same noise. Sums do not add up exactly."
    )
    hint = message("take multiplicative_noise, or accept it: --accept REASON")
    place = 3
    adds_up = False
    parameters = (
        _number("D", message("Largest noise"), message("In steps of the share below.")),
        _number("V", message("Variance of the noise"), message("In such steps, squared.")),
        _number("step", message("Width of a step"), message("Noise comes in multiples of it.")),
        _number(
            "top",
            message("Contributions"),
            message("How many of the largest the noise is made of: 1, 2 or 3."),
        ),
        _number(
            "flexpoint",
            message("Small up to"),
            message("From here on, in units of the sum, the share falls from that of small contributions."),
        ),
        _number("small", message("Share for small contributions"), message("Of a contribution.")),
        _number("large", message("Share for large contributions"), message("Of a contribution.")),
        _number("steepness", message("Steepness"), message("How fast the share falls.")),
        _number("extra", message("More for unsafe sums"), message("In units of the sum.")),
    )

    def resolve(self, given: Mapping[str, object]) -> Values:
        return Values(KeyNoise.of(super().resolve(given)).as_json())

    def draw(self, problem: MagnitudeProblem, values: Values, progress: Progress = SILENT) -> MagnitudeDraft:
        progress.report(message("adding noise"), 0.0)
        noise, unsafe = KeyNoise.of(values), problem.unsafe
        extra = unsafe if problem.rules else ~unsafe
        return MagnitudeDraft(keyed(problem.table, noise, problem.key, extra), noise.as_json(), unsafe)

    def beliefs(
        self, release: Release, view: ContributorView, within: float, *, seed: int = 0
    ) -> Iterator[CellBelief]:
        return noise_beliefs(release.magnitude_table, KeyNoise.of(release.mechanism.parameters), view, within)

    def ranges(self, release: Release) -> tuple[Ints, Floats]:
        table, noise = release.magnitude_table, KeyNoise.of(release.mechanism.parameters)
        at = np.flatnonzero(table.value != 0)
        found = []
        for value in table.value[at].tolist():
            true, chances = noise.originals(value, 1 / 10**table.decimals)
            order = np.argsort(true)
            summed = np.cumsum(chances[order]) / chances.sum()
            low = int(np.searchsorted(summed, OUTSIDE, side="right"))
            high = int(np.searchsorted(summed, 1 - OUTSIDE - 1e-12))
            found.append((float(true[order][low]), float(true[order][min(high, len(true) - 1)])))
        return at, np.array(found).reshape(-1, 2)

    def left_out(self, release: Release) -> tuple[Omission, ...]:
        # Each sum has noise of its own, and what sums say together was not weighed.
        return ("joint_noise", "contributors")


PLUGIN = CellKeyOfMagnitudes()
