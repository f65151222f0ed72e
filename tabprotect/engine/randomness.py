"""Random numbers for protection: from the operating system unless a seed is given."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tabprotect.engine.errors import ParameterError

KEY_MODULUS = 10**8
"""Record keys are whole numbers below it, and so are their sums modulo it: keys of eight
decimals, whose sums do not depend on any order of adding."""


@dataclass(frozen=True)
class Randomness:
    """A seed and how it came about. The seed is confidential: it replays the coins.

    There is no default seed anywhere in the program: take :meth:`fresh`, or :meth:`seeded` to
    replay. The seed never shows in a ``repr``.
    """

    seed: int = field(repr=False)
    given: bool

    @classmethod
    def fresh(cls) -> Randomness:
        """128 bits of entropy from the operating system."""
        entropy = np.random.SeedSequence().entropy
        assert isinstance(entropy, int)
        return cls(entropy, given=False)

    @classmethod
    def seeded(cls, seed: int | None) -> Randomness:
        """A given seed; ``None`` is :meth:`fresh`.

        Raises
        ------
        ParameterError
            For a negative seed.
        """
        if seed is None:
            return cls.fresh()
        if seed < 0:
            raise ParameterError({"seed": "must be a whole number of at least 0"})
        return cls(seed, given=True)

    def generator(self, attempt: int = 1) -> np.random.Generator:
        """A fresh PCG64 generator; the same seed gives the same numbers on every platform.

        Parameters
        ----------
        attempt
            From 1: each gives numbers of its own.
        """
        spawn_key = () if attempt == 1 else (attempt - 1,)
        sequence = np.random.SeedSequence(self.seed, spawn_key=spawn_key)
        return np.random.Generator(np.random.PCG64(sequence))
