"""What is read of releases: the releases with their likelihoods, and what is known besides."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.together.coarser import is_coarser
from tabprotect.engine.progress import Progress
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors, Likelihood
from tabprotect.engine.release.mechanism import Gate, RefusedDraws
from tabprotect.engine.release.published_numbers import PublishedNumbers
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain

MOST_ENTRIES = 20_000_000
"""Most inner cells times published tables that are put together."""


class OfRelease(Randomness):
    """Chance that follows from a release: drawn posteriors are then functions of it."""

    def __init__(self, release: Release, what: str = "") -> None:
        super().__init__(0, given=False)
        object.__setattr__(self, "_release", release)
        object.__setattr__(self, "_what", what)

    def generator(self, attempt: int = 1) -> np.random.Generator:
        """Make it only where it is asked for: the digest of a large release takes its time."""
        digest = release_fingerprint(self._release, self._what)  # type: ignore[attr-defined]
        return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "little")))


def all_numbers(release: Release) -> PublishedNumbers | None:
    """All published numbers with their laws; ``None`` where the method states none, or too many."""
    name = release.mechanism.method
    if name not in methods() or release.domain.size * len(release.tables) > MOST_ENTRIES:
        return None
    return methods()[name].numbers(release)


def release_fingerprint(release: Release, what: str = "") -> bytes:
    """SHA-256 of what was published and how, whatever the gate made of it.

    Titles, signatures and the source of the coins do not matter.
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


def draw_of(release: Release) -> bytes:
    """A digest that two releases share if they are one draw, which tells no more than one of them.

    The house's coins are the same ones whenever table and mechanism are. Fresh coins are others in
    each run, which the nonce names: two equal releases are then two draws that came out equal.
    """
    return release_fingerprint(release, f"drawn with {release.mechanism.nonce}")


@dataclass(frozen=True, eq=False)
class Evidence:
    """A release, and what it says of the original.

    Attributes
    ----------
    release
    known
        The likelihood, where it is known already.
    alone
        Whether nothing but the likelihood is read of the release.
    gate
        What let it out; by default the gate that its mechanism states. Nobody judges by it.
    """

    release: Release
    known: Likelihood | None = None
    alone: bool = False
    gate: Gate | None = None

    @cached_property
    def likelihood(self) -> Likelihood:
        """P(release | original).

        Raises
        ------
        InputError, InfeasibleError, ParameterError
            As of ``likelihood_of``.
        """
        return likelihood_of(self.release) if self.known is None else self.known

    @property
    def domain(self) -> Domain:
        """The variables of the table that it is read for."""
        return self.known.domain if self.alone and self.known is not None else self.release.domain

    @cached_property
    def draw(self) -> bytes:
        """A digest, equal for one draw: of the release, or of the factors where nothing else is read."""
        known = self.known
        if not self.alone or not isinstance(known, CellFactors):
            return draw_of(self.release)
        digest = hashlib.sha256(repr([(v.name, v.categories) for v in known.domain.variables]).encode())
        for array in (known.starts, known.cells, known.kind, known.low, known.high):
            digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes() + b"\n")
        return digest.digest()


WeighAttempts = Callable[[Posterior, Evidence, Gate, Progress], Posterior | None]
"""The posterior given that a release is the first draw that passed; ``None`` beyond the work."""


WeighRefused = Callable[[Posterior, tuple[RefusedDraws, ...], Randomness, Progress], Posterior | None]
"""The posterior given draws that were refused before; ``None`` beyond the work."""


@dataclass(frozen=True, eq=False)
class PriorKnowledge:
    """A reader's knowledge beside what was published.

    Attributes
    ----------
    gate
        Whether releases are known to be let out by the gate they state. Who judges a release asks
        what it tells by itself: a refusal that looks at nothing else changes no posterior.
    bundled
        Whether the mechanisms are those of bundles, which state their gate.
    weigh
        How it is taken in that a release is the first draw that passed; ``None`` where it is only
        said.
    weigh_refused
        How draws are taken in that were refused before; ``None`` where they are only said.
    """

    gate: bool = True
    bundled: bool = True
    weigh: WeighAttempts | None = None
    weigh_refused: WeighRefused | None = None


RELEASE_ALONE = PriorKnowledge(gate=False)
"""Of who judges a release."""

HOW_IT_WAS_LET_OUT = PriorKnowledge()
"""Of a reader."""


def distinct(evidence: Sequence[Evidence]) -> list[Evidence]:
    """The first of all that are one draw.

    The same draw under another title or signature is no further evidence.
    """
    if len(evidence) < 2:
        return list(evidence)
    first: dict[bytes, Evidence] = {}
    for one in evidence:
        first.setdefault(one.draw, one)
    return list(first.values())


def finest_first(evidence: Sequence[Evidence]) -> list[Evidence]:
    """The same with those of the table of most cells first, where the others are coarser ones."""
    if len(evidence) < 2:
        return list(evidence)
    finest = max(evidence, key=lambda one: one.likelihood.domain.size).likelihood.domain
    if not all(
        one.likelihood.domain == finest or is_coarser(one.likelihood.domain, finest) for one in evidence
    ):
        return list(evidence)
    return sorted(evidence, key=lambda one: one.likelihood.domain != finest)
