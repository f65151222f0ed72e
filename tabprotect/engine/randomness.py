"""Random numbers for protection: a cryptographic stream from a seed.

The seed is the house's own (see ``protection.coins``), the operating system's, or a given one.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from tabprotect.engine.errors import ParameterError

KEY_MODULUS = 10**8
"""Record keys are whole numbers below it, and so are their sums modulo it: keys of eight
decimals, whose sums do not depend on any order of adding."""

SEED_BITS = 256
"""Of a seed that is drawn."""

SHORT = 120
"""Bits below which a given seed can be guessed. Of 128 random bits the first few may be 0."""


@dataclass(frozen=True)
class Randomness:
    """A seed and how it came about. The seed is confidential: it replays the coins.

    There is no default seed anywhere in the program: take :meth:`fresh`, or :meth:`seeded` to
    replay. The seed never shows in a ``repr``.

    Attributes
    ----------
    seed
    given
        Whether a person named it.
    stream
        Which of the ``STREAMS`` makes numbers of it.
    """

    seed: int = field(repr=False)
    given: bool
    stream: str = "ChaCha20"

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ParameterError({"seed": "must be a whole number of at least 0"})
        if self.stream not in STREAMS:
            raise ParameterError({"generator": f"there is none called {self.stream!r}"})

    @classmethod
    def fresh(cls) -> Randomness:
        """256 bits of entropy from the operating system."""
        return cls(secrets.randbits(SEED_BITS), given=False)

    @classmethod
    def seeded(cls, seed: int | None) -> Randomness:
        """A given seed; ``None`` is :meth:`fresh`.

        Raises
        ------
        ParameterError
            For a negative seed.
        """
        return cls.fresh() if seed is None else cls(seed, given=True)

    @property
    def short(self) -> bool:
        """Whether it is a given seed that somebody could find by trying."""
        return self.given and self.seed.bit_length() < SHORT

    def generator(self, attempt: int = 1) -> np.random.Generator:
        """A new generator; the same seed gives the same numbers on every platform.

        Parameters
        ----------
        attempt
            From 1: each gives numbers of its own.
        """
        return np.random.Generator(STREAMS[self.stream](self.seed, attempt))


def _chacha20(seed: int, attempt: int) -> np.random.BitGenerator:
    """ChaCha with 20 rounds (RFC 8439's function, counter and nonce 0).

    Its key is SHA-256 of ``tabprotect coins, attempt N, seed M`` with both numbers in decimals.
    """
    # Here: the package takes as long to load as all the rest, and most commands draw nothing.
    from randomgen import ChaCha

    text = f"tabprotect coins, attempt {attempt}, seed {seed}"
    key = int.from_bytes(hashlib.sha256(text.encode()).digest(), "little")
    found: np.random.BitGenerator = ChaCha(key=key, counter=0, rounds=20)
    return found


def _pcg64(seed: int, attempt: int) -> np.random.BitGenerator:
    """What protected before: dossiers of that time replay by it."""
    spawned = () if attempt == 1 else (attempt - 1,)
    return np.random.PCG64(np.random.SeedSequence(seed, spawn_key=spawned))


STREAMS: Mapping[str, Callable[[int, int], np.random.BitGenerator]] = MappingProxyType(
    {"ChaCha20": _chacha20, "PCG64": _pcg64}
)
"""Generators of bits by the name that dossiers state: of a seed and the number of an attempt."""

FIRST = "PCG64"
"""What made the coins of a dossier that states none."""
