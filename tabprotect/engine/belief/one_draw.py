"""Which releases are one draw, and the chance that follows from a release."""

from __future__ import annotations

import hashlib

import numpy as np

from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release


class OfRelease(Randomness):
    """Chance that follows from a release: drawn posteriors are then functions of it."""

    def __init__(self, release: Release, what: str = "") -> None:
        super().__init__(0, given=False)
        object.__setattr__(self, "_release", release)
        object.__setattr__(self, "_what", what)

    def generator(self, attempt: int = 1) -> np.random.Generator:
        """Only where it is asked for: the digest of a large release takes its time."""
        digest = release_fingerprint(self._release, self._what)  # type: ignore[attr-defined]
        return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "little")))


def release_fingerprint(release: Release, what: str = "") -> bytes:
    """SHA-256 of what was published and how, whatever the gate made of it.

    A table and a mechanism always get the same coins: releases of one fingerprint are one draw,
    whatever their titles and signatures, and tell no more than one of them.
    """
    mechanism = release.mechanism
    plain = type(mechanism)(mechanism.method, mechanism.domain, mechanism.parameters)
    digest = hashlib.sha256(f"{what}\n{plain.to_text(categories=True)}".encode())
    for published in release.tables:
        keys, counts = published.table.cells
        digest.update(repr(published.table.domain.names).encode())
        for array in (keys, counts, np.flatnonzero(published.hidden)):
            digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes() + b"\n")
    return digest.digest()
