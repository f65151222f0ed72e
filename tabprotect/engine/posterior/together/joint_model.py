"""Several releases by moves of one original, over the groups of cells that all cycles move alike."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.cycles.signatures import Signatures
from tabprotect.engine.equal_rows import members
from tabprotect.engine.posterior.moves.signature_model import Coin
from tabprotect.engine.release.likelihood import log_weight


@dataclass(frozen=True, eq=False)
class Steps:
    """One release as steps over the cycles of all of them.

    Attributes
    ----------
    lowest : int64 (groups,)
        Smallest published count of each group.
    sequence : int64 (steps,)
        The cycle of each step.
    coin
    """

    lowest: Ints
    sequence: Ints
    coin: Coin

    def occurrences(self, cycles: int) -> list[Ints]:
        """The steps of each cycle."""
        return list(members(self.sequence, cycles))


@dataclass(frozen=True, eq=False)
class SumFactor:
    """The weight of a sum of cells.

    Attributes
    ----------
    cycles, signs
        The cycles that change the sum, and by how much each does.
    first : int
        The change (original - published in the first release) that ``log[0]`` is the weight of.
    log : float64 (changes,)
        Changes outside are impossible.
    """

    cycles: tuple[int, ...]
    signs: tuple[int, ...]
    first: int
    log: Floats

    def weight(self, change: Ints) -> Floats:
        """The log weight of changes; -inf outside."""
        return log_weight(change, self.first, self.first + len(self.log) - 1, self.log)


@dataclass(frozen=True, eq=False)
class JointModel:
    """Several releases by moves, and further evidence on sums of cells.

    Attributes
    ----------
    signatures
        The groups of cells that all cycles of all releases move alike.
    cycles
        Number of different cycles.
    releases
        The first one is that from which changes are counted.
    difference : int64 (groups, releases - 1)
        Counts of the first release less those of the others.
    factors
    """

    signatures: Signatures
    cycles: int
    releases: tuple[Steps, ...]
    difference: Ints
    factors: tuple[SumFactor, ...] = ()

    def touches(self) -> Ints:
        """Return how often the steps of each release touch each group, int64 (releases, groups)."""
        each = [np.bincount(one.sequence, minlength=self.cycles) for one in self.releases]
        return np.stack(
            [
                np.bincount(
                    self.signatures.groups, number[self.signatures.cycles], minlength=len(self.signatures)
                ).astype(np.int64)
                for number in each
            ]
        )

    def blocking(self) -> Bools:
        """Groups that can block a step of a release, bool (releases, groups)."""
        reach = self.touches()
        out = np.zeros(reach.shape, dtype=np.bool_)
        for r, one in enumerate(self.releases):
            if one.coin.rule != "none":
                margin = 0 if one.coin.rule == "any_zero" else -1
                out[r] = one.lowest <= reach[r] + margin
        return out


@dataclass(frozen=True, eq=False)
class StepFactor:
    """The factor of one step: its scope, and the groups by side with what happens later."""

    release: int
    cycle: int
    column: int
    scope: tuple[int, ...]
    sides: tuple[tuple[tuple[int, tuple[tuple[int, int, tuple[int, ...]], ...]], ...], ...]
    """For each side (groups it adds to, groups it subtracts from): the group's lowest count, and the
    later touches: cycle, sign, columns of the coefficients."""


@dataclass(eq=False)
class JointPart:
    """Cycles that share cells, with their sectors."""

    cycles: list[int]
    groups: list[int]
    factors: list[StepFactor]
    sums: list[SumFactor]
    read: list[list[tuple[int, ...]]]
    """For each group: its cycles, those that hang together in one tuple."""
    shifts: Ints
    """int64 (sectors, cycles, releases - 1): possible differences."""
    order: tuple[int, ...] = ()
    axes: list[tuple[int, ...]] = field(default_factory=list)
    chances: Floats = field(default_factory=lambda: np.zeros(0))
