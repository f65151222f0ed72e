"""The generator of coins: a known cipher, told apart by seeds and attempts, and old ones replay."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from hypothesis import given
from hypothesis import strategies as st

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.randomness import Randomness


def keystream(seed: int, attempt: int, size: int) -> bytes:
    """Of another program, from the documented key."""
    text = f"tabprotect coins, attempt {attempt}, seed {seed}"
    key = hashlib.sha256(text.encode()).digest()
    cipher = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None)
    return cipher.encryptor().update(bytes(size))


@given(st.integers(0, 2**300), st.integers(1, 9))
def test_the_stream_is_chacha20_under_the_documented_key(seed: int, attempt: int) -> None:
    raw = Randomness.seeded(seed).generator(attempt).bit_generator.random_raw(40)
    assert np.asarray(raw).astype("<u8").tobytes() == keystream(seed, attempt, 320)


def test_attempts_and_seeds_are_told_apart() -> None:
    streams = {
        tuple(Randomness.seeded(seed).generator(attempt).integers(10**9, size=8).tolist())
        for seed in (0, 1, 12, 2**128)
        for attempt in (1, 2, 3)
    }
    assert len(streams) == 12


def test_fresh_seeds_have_256_bits_and_show_nowhere() -> None:
    seeds = {Randomness.fresh().seed for _ in range(50)}
    assert len(seeds) == 50
    assert max(seed.bit_length() for seed in seeds) > 248
    one = Randomness.fresh()
    assert str(one.seed) not in repr(one)
    assert not one.short


@pytest.mark.parametrize(("seed", "short"), [(0, True), (20261121, True), (2**100, True), (2**127, False)])
def test_short_seeds(seed: int, short: bool, short_seeds: int) -> None:
    assert Randomness.seeded(seed).short is short


def test_what_is_no_seed() -> None:
    with pytest.raises(ParameterError):
        Randomness(seed=-1, given=True)
