"""Random numbers for protection: a cryptographic stream from a seed.

The seed comes from the house (see ``project.releasing.coins``), from the operating system, or is given.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tabprotect.engine.errors import ParameterError
from tabprotect.languages.messages import message

KEY_MODULUS = 10**8
"""Record keys are whole numbers below it, and so are their sums modulo it: keys of eight
decimals, whose sums do not depend on the order of addition."""

GENERATOR = "ChaCha20"
"""The generator that turns a seed into coins, as dossiers state it."""

Coins = Literal["house", "fresh", "given"]
"""Where coins come from: the house's key, the operating system, or a seed that somebody gave."""

NONCE_BYTES = 16
"""Length of the public number that tells one run with fresh coins from another."""

SEED_BITS = 256
"""Length of a drawn seed."""

SHORT = 120
"""Bits below which a given seed can be guessed. Of 128 random bits the first few may be 0."""


@dataclass(frozen=True)
class Randomness:
    """A seed and its origin. The seed is confidential: it replays the coins.

    There is no default seed anywhere in the program: take :meth:`fresh`, or :meth:`seeded` to
    replay. The seed never shows in a ``repr``.

    Attributes
    ----------
    seed
    given
        Whether a person chose it.
    coins
        Where the coins come from.
    """

    seed: int = field(repr=False)
    given: bool
    coins: Coins = "house"

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ParameterError({"seed": message("must be a whole number of at least 0")})

    @classmethod
    def fresh(cls) -> Randomness:
        """256 bits of entropy from the operating system."""
        return cls(secrets.randbits(SEED_BITS), given=False, coins="fresh")

    @classmethod
    def seeded(cls, seed: int | None) -> Randomness:
        """A given seed; :meth:`fresh` for ``None``.

        Raises
        ------
        ParameterError
            If the seed is negative.
        """
        return cls.fresh() if seed is None else cls(seed, given=True, coins="given")

    @property
    def short(self) -> bool:
        """True if it is a given seed that somebody could find by trying."""
        return self.given and self.seed.bit_length() < SHORT

    @property
    def nonce(self) -> str:
        """A public number in hexadecimal that no other run with fresh coins has, else ``""``.

        It is a digest of the seed, so that a replay states the same one; 256 drawn bits are not
        found from it.
        """
        if self.coins != "fresh":
            return ""
        return hashlib.sha256(f"tabprotect nonce, seed {self.seed}".encode()).hexdigest()[: 2 * NONCE_BYTES]

    def generator(self, attempt: int = 1) -> np.random.Generator:
        """A new generator; the same seed gives the same numbers on every platform.

        Parameters
        ----------
        attempt
            Counted from 1: each attempt has its own numbers.
        """
        return np.random.Generator(_chacha20(self.seed, attempt))


def _chacha20(seed: int, attempt: int) -> np.random.BitGenerator:
    """ChaCha with 20 rounds (RFC 8439's function, counter and nonce 0).

    Its key is SHA-256 of ``tabprotect coins, attempt N, seed M`` with both numbers in decimals.
    """
    # Imported here: the package takes as long to load as all the rest, and most commands draw
    # nothing.
    from randomgen import ChaCha

    text = message("tabprotect coins, attempt {attempt}, seed {seed}", attempt, seed)
    key = int.from_bytes(hashlib.sha256(text.encode()).digest(), "little")
    found: np.random.BitGenerator = ChaCha(key=key, counter=0, rounds=20)
    return found
