"""What a method does to tables of magnitudes; it stands in the method's file beside what it does to counts.

A new method writes its declarations, :meth:`MagnitudeMethod.draw` and what its release tells
(:meth:`MagnitudeMethod.beliefs`); the form, the command line, the bundle, its page, the verdict and the
comparison follow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tabprotect.engine import agency
from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.parameters import Parameter, Values, resolve
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.left_out import Omission
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule
from tabprotect.languages.messages import joined, message

if TYPE_CHECKING:
    # Late, here and in the methods: who protects counts does not load tables of magnitudes.
    from tabprotect.engine.magnitudes.patterns.pattern import Pattern
    from tabprotect.engine.magnitudes.readers.beliefs import CellBelief, ContributorView
    from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable

PUBLISH: Parameter[object] = Parameter(
    "publish",
    message("Beside the sums"),
    message("What is published of each sum that is shown."),
    "choice",
    "none",
    choices={
        "none": message("nothing"),
        "n": message("its number of records"),
        "mean": message("its mean"),
        "n,mean": message("its number of records and its mean"),
    },
)
"""What is published beside sums, whatever the method: ``--publish`` of the command line."""


OUTSIDE = 0.05
"""Probability on either side of the range of a noisy sum."""


@dataclass(frozen=True, kw_only=True)
class MagnitudeProblem:
    """A magnitude table with all that a method takes besides its parameters. Confidential.

    Attributes
    ----------
    table
    rules
        What says which sums tell too much.
    weights
        How weights are read: ``sample``, ``replicate`` or ``known``.
    title
        For the reader.
    publish
        What is published beside the sums: ``n``, ``mean``.
    before
        Last year's release: what was published then is published again unless unsafe.
    seed
        In place of the key of the house, to repeat noise.
    """

    table: MagnitudeTable
    rules: tuple[MagnitudeRule, ...] = ()
    weights: str = "sample"
    title: str = ""
    publish: tuple[str, ...] = ()
    before: PublishedMagnitudes | None = None
    seed: int | None = None

    @property
    def unsafe(self) -> Bools:
        """The sums that tell too much, bool (cells,); all where no rule says which."""
        if not self.rules:
            return np.ones(len(self.table.cells), dtype=bool)
        from tabprotect.engine.magnitudes.tables.sensitive_cells import sensitive_cells

        return sensitive_cells(self.table, self.rules, weights=self.weights).unsafe

    @property
    def key(self) -> bytes:
        """Return what noise follows from: the key of the house, or the seed.

        Raises
        ------
        InputError
            When there are not all contributions to put noise on.
        """
        if self.table.largest is not None:
            raise InputError(
                message("noise is put on each contribution, and the table names the largest only"),
                hint=message("tabulate the records, or hide sums: --method suppression"),
            )
        return agency.key() if self.seed is None else sha256(str(self.seed).encode()).hexdigest().encode()


@dataclass(frozen=True, eq=False)
class MagnitudeDraft:
    """A method's proposed result. Confidential.

    Attributes
    ----------
    value : int64 (cells,)
    stated
        Parameters for readers.
    unsafe : bool (cells,)
        The sums that have to be protected.
    pattern
        What is hidden and why; ``None`` with noise.
    """

    value: Ints
    stated: Mapping[str, float | str | bool]
    unsafe: Bools
    pattern: Pattern | None = None

    def release(self, problem: MagnitudeProblem, method: str) -> Release:
        """The release, with what is published beside the sums."""
        table, units = problem.table, problem.table.cells.units
        hidden = np.zeros(len(units), dtype=bool) if self.pattern is None else self.pattern.hidden
        value = np.where(hidden, 0, self.value)
        # Halves are rounded away from 0.
        means = np.sign(value) * ((2 * np.abs(value) + units) // (2 * units))
        published = PublishedMagnitudes(
            table.variables,
            table.measure,
            table.decimals,
            table.cells.key,
            value,
            hidden,
            table.weighted,
            units=units if "n" in problem.publish else None,
            means=means if "mean" in problem.publish else None,
        )
        return Release.of_magnitudes(published, method, self.stated, problem.title)


class MagnitudeMethod(ABC):
    """Base of the methods for magnitudes.

    Attributes
    ----------
    name, label, about
        The registered name (that of the file), the name for people, and a sentence.
    promise
        What it promises its readers.
    hint
        What to do where a release may not leave.
    parameters
    place
        Its place among the methods, the usual one first.
    takes_rules
        Whether it needs a rule that says which sums tell too much.
    is_random
        Whether its result follows from a key of the house, or a seed.
    adds_up
        Whether published sums add up.
    ladder
        Settings that are tried where another release may not leave, the one that changes least first.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    about: ClassVar[str]
    promise: ClassVar[str]
    hint: ClassVar[str]
    parameters: ClassVar[tuple[Parameter[object], ...]]
    place: ClassVar[int] = 100
    takes_rules: ClassVar[bool] = False
    is_random: ClassVar[bool] = True
    adds_up: ClassVar[bool] = True
    ladder: ClassVar[tuple[Mapping[str, float], ...]] = ()

    @property
    def help(self) -> str:
        """Say what it does and what it promises."""
        return joined((self.about, self.promise), "\n\n")

    def resolve(self, given: Mapping[str, object]) -> Values:
        """Complete and check parameters.

        Raises
        ------
        ParameterError
            With every wrong field.
        """
        return resolve(self.parameters, given)

    def as_json(self) -> dict[str, object]:
        """The declaration for ``describe --json``."""
        return {
            "name": self.name,
            "label": self.label,
            "measures": ["magnitudes"],
            "about": self.about,
            "promise": self.promise,
            "parameters": [one.as_json() for one in (*self.parameters, PUBLISH)],
        }

    @abstractmethod
    def draw(self, problem: MagnitudeProblem, values: Values, progress: Progress = SILENT) -> MagnitudeDraft:
        """Protect a table.

        Raises
        ------
        InputError
            When it cannot be protected with these values.
        """

    @abstractmethod
    def beliefs(
        self, release: Release, view: ContributorView, within: float, *, seed: int = 0
    ) -> Iterator[CellBelief]:
        """Return what a reader believes of every cell that is not published as it is.

        Parameters
        ----------
        within
            As a share: .1 for 10 %.
        seed
            Of walks through what is possible; the same seed gives the same figures.
        """

    @abstractmethod
    def ranges(self, release: Release) -> tuple[Ints, Floats]:
        """The cells that are not published as they are, and where their values lie, float64 (those, 2)."""

    def outsider(self, release: Release, within: float) -> Floats | None:
        """An outsider's belief about every cell, float64 (cells,); ``None`` where it is too much work."""
        # Late: who hides nothing does not wait for what solves programmes.
        from tabprotect.engine.magnitudes.readers.beliefs import ContributorView

        out = np.zeros(len(release.magnitude_table.key))
        for one in self.beliefs(release, ContributorView(), within):
            out[one.cell] = one.belief
        return out

    def said(self, given: Mapping[str, float]) -> str:
        """A setting of the ladder in words."""
        return self.label

    def narrow(
        self, problem: MagnitudeProblem, unsafe: Bools, release: Release, limits: tuple[float, float]
    ) -> int:
        """Return how many hidden unsafe sums the second largest's best guess of the largest comes near in.

        Parameters
        ----------
        limits
            How near, as a share, and the probability above which that counts.
        """
        return 0

    def left_out(self, release: Release) -> tuple[Omission, ...]:
        """Return what a release leaves out whoever judges it."""
        return ()

    def adds_nothing(self, before: Release, release: Release) -> bool:
        """Return True if a release tells nothing together with an earlier one of other sums of the records."""
        return False
