"""The one door to a posterior: what somebody believes of an original, given what was published.

Everybody who asks for a posterior of a release asks here: the gate and whoever verifies it, the
window, the library, the commands, comparisons. They differ in the effort alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeGuard

import numpy as np

from tabprotect.engine.belief.believed import Believed
from tabprotect.engine.belief.effort import (
    COMPARED_RUNS,
    LEAST_DRAWS,
    LEAST_EFFECTIVE,
    MIXED,
    READER,
    Effort,
)
from tabprotect.engine.belief.joint_noise import of_main_table, put_together
from tabprotect.engine.errors import InfeasibleError, TooLargeError
from tabprotect.engine.posterior.approach import Way
from tabprotect.engine.posterior.factors.cell_laws import cell_laws
from tabprotect.engine.posterior.factors.components import split_components
from tabprotect.engine.posterior.infer import (
    infer,
    infer_jointly,
    multiplied,
    posterior_joined,
    same_variables,
)
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Prior, Uniform, parse_prior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.left_out import kinds
from tabprotect.engine.release.likelihood import (
    AdaptiveSequence,
    CellFactors,
    Likelihood,
    MoveSequence,
)
from tabprotect.engine.release.mechanism import CHANGED, TAKEN_IN, UNSTATED, Gate, RefusedDraws
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.said import joined, say


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


CHOICE_NOTE = say("What the choice of all published counts together says is left out.")


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
    """

    release: Release
    known: Likelihood | None = None
    alone: bool = False

    @cached_property
    def likelihood(self) -> Likelihood:
        """P(release | original).

        Raises
        ------
        InputError, InfeasibleError, ParameterError
            As of ``likelihood_of``.
        """
        return likelihood_of(self.release) if self.known is None else self.known


WeighAttempts = Callable[[Posterior, Evidence, Gate, Progress], Posterior | None]
"""The posterior given that a release is the first draw that passed; ``None`` beyond the work."""


WeighRefused = Callable[
    [Posterior, tuple[RefusedDraws, ...], Randomness, Progress], Posterior | None
]
"""The posterior given draws that were refused before; ``None`` beyond the work."""


@dataclass(frozen=True, eq=False)
class Knowing:
    """What a reader knows beside what was published.

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


RELEASE_ALONE = Knowing(gate=False)
"""Of who judges a release."""

HOW_IT_WAS_LET_OUT = Knowing()
"""Of a reader."""


def believe(
    releases: Sequence[Release | Evidence],
    prior: Prior | str | None = None,
    *,
    knowing: Knowing = HOW_IT_WAS_LET_OUT,
    inner: bool = False,
    effort: Effort = READER,
    randomness: Randomness | None = None,
    progress: Progress = SILENT,
) -> Believed:
    """What is believed of every true count given all releases of one original.

    Releases that are one draw count once. The published counts in the posterior are those of the
    first release.

    Parameters
    ----------
    releases
        At least one; with the likelihoods where these are known already.
    prior
        What is believed beforehand, or its text; uniform when none is given.
    knowing
        What is known beside what was published.
    inner
        Whether the posterior is to be about the inner cells where only sums of them are published
        and can be put together; else it is then about the cells of the main table.
    effort
        What it may take.
    randomness
        Of a posterior that is drawn; fresh by default, as nothing confidential depends on it.

    Raises
    ------
    InputError
        When a release cannot come from its mechanism, the releases are of tables with other
        variables, or no original fits all of them.
    ParameterError
        When the prior makes no sense.
    InfeasibleError
        When there is no posterior within the effort.
    """
    evidence = [one if isinstance(one, Evidence) else Evidence(one) for one in releases]
    different = distinct(evidence)
    first = different[0]
    effort = _effort_for(first.release, effort)
    posterior = _together(
        different, prior, (effort, inner), (randomness or Randomness.fresh(), progress)
    )
    found = Believed(posterior, releases=len(evidence), repeated=len(evidence) - len(different))
    return _as_let_out(found, different, knowing, effort, progress) if knowing.gate else found


def _together(
    evidence: Sequence[Evidence],
    prior: Prior | str | None,
    asked: tuple[Effort, bool],
    means: tuple[Randomness, Progress],
) -> Posterior:
    """The posterior of different releases: of all their numbers, or of their likelihoods."""
    likelihoods = [one.likelihood for one in evidence]
    effort, inner = asked
    domain, whole = likelihoods[0].domain, evidence[0].release.domain
    by_chains = effort.joint > 0 and effort.way != "exact"
    several = any(
        isinstance(one, CellFactors) and "joint_noise" in one.left_out for one in likelihoods
    )

    def joint() -> Posterior | None:
        if domain != whole and not (inner or prior is None or prior == "uniform"):
            # What is believed of sums beforehand is no product over cells.
            return None
        read = [
            (None if one.alone else one.release, plain(known) if _chosen(known) else known)
            for one, known in zip(evidence, likelihoods, strict=True)
        ]
        mine = _prior(prior, whole)
        found = put_together(read, mine, share=effort.joint, progress=means[1])
        if found is None or domain == whole or inner:
            return found
        return of_main_table(found, *read[0])

    if several and by_chains and not evidence[0].alone and (found := joint()) is not None:
        return found
    try:
        return _Means(_prior(prior, domain), effort, *means).together(likelihoods)
    except InfeasibleError:
        # Numbers that hang together in too many ways for other chains.
        if several or not by_chains or (found := joint()) is None:
            raise
        return found


def _prior(prior: Prior | str | None, domain: Domain) -> Prior:
    if isinstance(prior, str):
        return parse_prior(prior, domain)
    return Uniform() if prior is None else prior


def distinct(evidence: Sequence[Evidence]) -> list[Evidence]:
    """The first of all that are one draw.

    The same draw under another title or signature is no further evidence.
    """
    if len(evidence) < 2:
        return list(evidence)
    first: dict[bytes, Evidence] = {}
    for one in evidence:
        first.setdefault(draw_of(one.release), one)
    return list(first.values())


def _effort_for(release: Release, effort: Effort) -> Effort:
    size, mechanism = release.domain.size, release.mechanism
    if effort.cells is not None and size > effort.cells:
        raise TooLargeError(
            say("{size:,} cells are too many for a posterior in a comparison", size)
        )
    if effort.steps_once is None or methods()[mechanism.method].is_random(mechanism.values):
        return effort
    return replace(effort, steps=max(effort.steps or 0, effort.steps_once))


def _as_let_out(
    found: Believed,
    evidence: Sequence[Evidence],
    knowing: Knowing,
    effort: Effort,
    progress: Progress,
) -> Believed:
    """The same with what the gates of the releases tell, or a word on it."""
    gates = [one.release.mechanism.gate for one in evidence]
    stated = [gate for gate in gates if gate is not None]
    refused = [draws for gate in stated for draws in gate.refused]
    unknown = any(gate.changed and not gate.refused for gate in stated)
    if refused and not unknown:
        again = None
        if knowing.weigh_refused is not None and len(evidence) == 1:
            chance = OfRelease(evidence[0].release, "refused draws")
            again = knowing.weigh_refused(found.posterior, tuple(refused), chance, progress)
        unknown = again is None
        found = found if again is None else replace(found, posterior=again)
    said = [found.posterior.note]
    said += [CHANGED] if unknown else [TAKEN_IN] if refused else []
    said += [UNSTATED] if knowing.bundled and None in gates else []
    posterior = replace(
        found.posterior,
        note=joined(filter(None, said), " "),
        left_out=kinds(
            found.posterior.left_out,
            ["attempts"] if unknown or (knowing.bundled and None in gates) else [],
        ),
    )
    passed = [gate for gate in gates if gate is not None and gate.passed]
    attempts = max((gate.attempts_at_most for gate in passed), default=1)
    found = replace(found, posterior=posterior, attempts_at_most=attempts)
    if attempts == 1:
        return found
    again = None
    if knowing.weigh is not None and len(evidence) == 1 and effort.way != "monte_carlo":
        again = knowing.weigh(posterior, evidence[0], passed[0], progress)
    return replace(
        found, weighed=again is not None, posterior=posterior if again is None else again
    )


@dataclass(frozen=True, eq=False)
class _Means:
    """A prior, and what the posterior may take."""

    prior: Prior
    effort: Effort
    randomness: Randomness
    progress: Progress

    def together(self, likelihoods: Sequence[Likelihood]) -> Posterior:
        """The posterior given several releases; of a single one by itself."""
        same_variables(likelihoods[0].domain, likelihoods[1:])
        likelihoods = multiplied(likelihoods)
        if len(likelihoods) == 1:
            return self.of(likelihoods[0])
        asked = self.effort.way
        if asked != "monte_carlo" and not any(map(_chosen, likelihoods)):
            joint = infer_jointly(likelihoods, self.prior, self.progress)
            if joint is not None:
                return self._published_first(joint, likelihoods[0])
        # How each is looked at by itself: listing is asked for separately.
        way: Way = "monte_carlo" if asked == "monte_carlo" else "auto"
        alone = replace(self, effort=replace(self.effort, way=way, draws=None))
        first: Posterior | None = None
        for number, likelihood in enumerate(likelihoods[: self.effort.bases]):
            base = alone.of(likelihood)
            first = base if first is None else first
            if asked == "monte_carlo" or base.way != "exact" or base.list_originals() is None:
                continue
            others = [other for k, other in enumerate(likelihoods) if k != number]
            found = posterior_joined(base, others, self.randomness, self.progress)
            return replace(found, published=first.published, hidden=first.hidden)
        assert first is not None
        if asked == "exact":
            raise InfeasibleError(
                say(
                    "the originals of none of these releases can be listed, so there is no exact way"
                ),
                hint=say("take Monte Carlo"),
            )
        draws = self.effort.draws
        return posterior_joined(first, likelihoods[1:], self.randomness, self.progress, draws=draws)

    def _published_first(self, found: Posterior, first: Likelihood) -> Posterior:
        """The same beside the published counts of the first release."""
        if not isinstance(first, CellFactors):
            return replace(found, published=first.published)
        alone = replace(self, effort=replace(self.effort, way="auto", draws=None)).of(plain(first))
        return replace(found, published=alone.published, hidden=alone.hidden)

    def of(self, likelihood: Likelihood) -> Posterior:
        """The posterior given one release."""
        if not isinstance(likelihood, CellFactors):
            return self._settled(self._of_moves(likelihood))
        if likelihood.rerun is None:
            return self._settled(self._of_factors(likelihood))
        most = self.effort.weighed(likelihood.rerun, likelihood.domain.size)
        if self.effort.weighing == 0 or most == 0:
            return self.of(plain(likelihood))
        if most is not None:
            return self._counted(likelihood, most)
        found = self._of_factors(likelihood)
        if self.effort.settled and _says_little(found) and not _unsettled(found):
            return self.of(plain(likelihood))
        return self._settled(found)

    def _settled(self, found: Posterior) -> Posterior:
        """The same, unless it is simulated and nothing can be judged by it."""
        if self.effort.settled and _unsettled(found):
            raise InfeasibleError(
                say("the simulated posterior has not settled: nothing to judge by")
            )
        if self.effort.settled and _says_little(found):
            raise InfeasibleError(
                say(
                    "the simulated posterior is worth {effective_sample_size:.0f} independent "
                    "draws only: too few to judge by",
                    found.effective_sample_size,
                )
            )
        return found

    def _of_moves(self, likelihood: MoveSequence | AdaptiveSequence) -> Posterior:
        effort, size = self.effort, likelihood.domain.size
        if effort.joined is None:
            draws = effort.draws_of(likelihood)
            too_few = effort.updates is not None and draws is not None and draws < LEAST_DRAWS
            return self._infer(likelihood, replace(effort, draws=draws), exact=too_few)
        if isinstance(likelihood, MoveSequence):
            if likelihood.drawn_exactly:
                return self._infer(likelihood, replace(effort, draws=None))
            # It is known at once whether there is an exact way.
            with suppress(InfeasibleError):
                return self._infer(likelihood, effort, exact=True)
        if size > effort.joined:
            raise _hanging_together(size)
        if not effort.draws:
            raise TooLargeError(
                say(
                    "it takes long: worked out in the first {COMPARED_RUNS} runs only",
                    COMPARED_RUNS,
                )
            )
        return self._infer(likelihood, effort)

    def _of_factors(self, likelihood: CellFactors) -> Posterior:
        """By the factors, and by the choice of the whole table where there is one."""
        effort, joined = self.effort, 0
        if effort.joined is not None:
            joined = _joined(likelihood)
            if joined > effort.joined:
                raise _hanging_together(joined)
            if not joined:
                effort = replace(effort, steps=None)
        try:
            return self._infer(likelihood, effort, exact=not effort.chains)
        except TooLargeError:
            if not joined:
                raise
            raise TooLargeError(
                say(
                    "{joined:,} cells hang together in too many ways for a comparison: ask for the "
                    "posterior of one release",
                    joined,
                )
            ) from None

    def _counted(self, likelihood: CellFactors, most: int) -> Posterior:
        """By the choice of the whole table too, where no more originals fit than given."""
        without = self.of(plain(likelihood))
        number = without.count_originals() if without.way == "exact" else None
        if number is None or number > most:
            return without
        # What was counted is within the work.
        effort = replace(self.effort, steps=None, weighing=None)
        try:
            return self._infer(likelihood, effort, exact=True)
        except InfeasibleError:
            return without

    def _infer(self, likelihood: Likelihood, effort: Effort, *, exact: bool = False) -> Posterior:
        approach = replace(effort, way="exact") if exact else effort
        return infer(likelihood, self.prior, approach, self.randomness, self.progress)


def plain(likelihood: CellFactors) -> CellFactors:
    """What the published counts say one by one, without the choice of them all; with a note."""
    return replace(
        likelihood,
        rerun=None,
        note=likelihood.note or CHOICE_NOTE,
        left_out=likelihood.left_out or ("pattern_choice",),
    )


def _chosen(likelihood: Likelihood) -> TypeGuard[CellFactors]:
    """Whether the choice of all published counts together says more than each by itself."""
    return isinstance(likelihood, CellFactors) and likelihood.rerun is not None


def _unsettled(found: Posterior) -> bool:
    return found.r_hat is not None and found.r_hat > MIXED


def _says_little(found: Posterior) -> bool:
    effective = found.effective_sample_size
    return effective is not None and effective < LEAST_EFFECTIVE


def _hanging_together(cells: int) -> TooLargeError:
    return TooLargeError(
        say("{cells:,} cells hang together: too many for a posterior in a comparison", cells)
    )


def _joined(likelihood: CellFactors) -> int:
    """Cells that more than one published sum joins."""
    parts = split_components(cell_laws(likelihood, Uniform())).components
    return sum(len(part.cells) for part in parts if len(part.sums) > 1)
