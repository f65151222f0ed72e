"""Beside each published number the interval that holds the true count, and the best estimate.

A function of the release alone: it tells nothing that its reader could not work out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.belief.believed import Believed
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import Evidence, PriorKnowledge
from tabprotect.engine.belief.of_table import of_table, tables_to_judge
from tabprotect.engine.bundle.tables.cube import margins_of, with_figures
from tabprotect.engine.bundle.tables.replicates import public_seed
from tabprotect.engine.disclosure.counts_verdict import weigh_refused
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.formats.statuses import COUNT
from tabprotect.engine.posterior.margins import sums
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

LEVEL = 0.9
"""The chance that an interval holds the true count, at least."""

LOWER, UPPER, ESTIMATE = "lower", "upper", "estimate"

FIGURES = (COUNT, LOWER, UPPER, ESTIMATE)
"""The figures of a cell."""

DIGITS = 1
"""Decimals of an estimate."""


def with_intervals(
    cube: Cube, release: Release, total_code: str | None = None, progress: Progress = SILENT
) -> Cube:
    """A cube of counts with ``lower``, ``upper`` and ``estimate`` as further figures of each cell.

    The shortest interval with a chance of at least ``LEVEL`` under the uniform prior, and the mean; of
    a published total by all that the release says, as ``infer`` has it.

    Parameters
    ----------
    cube, total_code
        As ``cube_of`` made it, with the same code.

    Raises
    ------
    ParameterError
        For magnitudes.
    InfeasibleError, TooLargeError
        If there is no posterior.
    """
    if release.magnitudes:
        raise ParameterError(
            {
                "add": message(
                    "intervals are of counts; {measure} is a magnitude", release.magnitude_table.measure
                )
            },
            hint=message("ask what is believed of it: tabprotect infer RELEASE.zip"),
        )
    belief = Doubt(release, progress)
    shape = cube.table.domain.shape
    found = {name: np.zeros(shape, dtype=np.int64) for name in (LOWER, UPPER, ESTIMATE)}
    unknown = np.ones(shape, dtype=np.bool_)
    for names, places in margins_of(release, total_code):
        if (figures := belief.of_margin(names)) is None:
            continue
        here = np.ix_(*places)
        size = tuple(map(len, places))
        for name, values in zip(found, figures, strict=True):
            found[name][here] = values.reshape(size)
        unknown[here] = False
    return beside_counts(cube, found, unknown)


def beside_counts(cube: Cube, found: Mapping[str, Ints], unknown: Bools | None = None) -> Cube:
    """A cube of counts with both ends and the estimate, in units of 10^-``DIGITS``, beside each."""
    table = Table.dense(cube.table.domain, cube.table.counts * 10**DIGITS)
    scaled = replace(cube, table=table, content=cube.content or COUNT, decimals=DIGITS)
    return with_figures(scaled, found, unknown, whole=(COUNT, LOWER, UPPER))


class Doubt:
    """What a reader of a release believes of the cells of any of its margins."""

    def __init__(self, release: Release, progress: Progress = SILENT) -> None:
        self._release, self._progress = release, progress
        # Every reader draws the same, where it is drawn.
        self._seed = public_seed(release)
        self._read = self._believed(Evidence(release))
        judged = tables_to_judge(release, self._read.posterior)
        self._tables = {
            frozenset(one.table.domain.names): (number, number in judged)
            for number, one in reversed([*enumerate(release.tables)])
        }

    def _believed(self, evidence: Evidence) -> Believed:
        randomness = Randomness.seeded(self._seed)
        knowing = PriorKnowledge(weigh_refused=weigh_refused)
        return believe([evidence], knowing=knowing, randomness=randomness, progress=self._progress)

    def of_margin(self, names: tuple[str, ...]) -> tuple[Ints, Ints, Ints] | None:
        """Both ends and the estimate, in units of 10^-``DIGITS``, in the order of the names."""
        number, judged = self._tables.get(frozenset(names), (-1, True))
        unit = 10**DIGITS
        if not judged:
            published = self._release.tables[number]
            counts = _in_order(published.table.counts, published.table.domain.names, names) * unit
            return counts, counts, counts
        if number >= 0:
            law = self.of_table(number)
        elif (summed := self._summed(names)) is not None:
            law = summed
        else:
            return None
        low, high = law.interval(LEVEL)
        mean = np.rint(law.mean * unit).astype(np.int64)
        low, high, mean = (_in_order(v, law.domain.names, names) for v in (low * unit, high * unit, mean))
        return low, high, mean

    def law(self, number: int) -> Posterior | None:
        """The posterior of a published table by its number; ``None`` where it is exact."""
        names = frozenset(self._release.tables[number].table.domain.names)
        return self.of_table(number) if self._tables[names][1] else None

    def of_table(self, number: int) -> Posterior:
        """The posterior of a published table that is not exact."""
        alone: Callable[[Evidence], Believed] = self._believed
        return of_table(self._release, number, self._read, alone, progress=self._progress).believed.posterior

    def _summed(self, names: tuple[str, ...]) -> Posterior | None:
        """The posterior of a margin that was not published itself; ``None`` where the cells are unknown."""
        posterior, release = self._read.posterior, self._release
        if posterior.domain != release.domain:
            return None
        if names == release.domain.names:
            return posterior
        groupings = groupings_of(release.domain, release.mechanism.parameters)
        wanted = Publication(release.domain, (names,), groupings)
        (law,) = sums(posterior, wanted, randomness=Randomness.seeded(self._seed), progress=self._progress)
        return law


def _in_order(values: Ints, names: tuple[str, ...], wanted: tuple[str, ...]) -> Ints:
    """Values with one axis a name, their axes in another order."""
    return np.transpose(values, [names.index(name) for name in wanted])
