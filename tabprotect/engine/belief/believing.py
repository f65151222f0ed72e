"""The one door to a posterior: what somebody believes of an original, given what was published.

Everybody who asks for a posterior of a release asks here: the gate and whoever verifies it, the
window, the library, the commands, comparisons. They differ in the effort alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from tabprotect.engine.belief.believed import Believed
from tabprotect.engine.belief.effort import READER, Effort
from tabprotect.engine.belief.evidence import (
    HOW_IT_WAS_LET_OUT,
    Evidence,
    OfRelease,
    PriorKnowledge,
    distinct,
    finest_first,
)
from tabprotect.engine.belief.weighing import Weighing, chosen, plain
from tabprotect.engine.errors import InfeasibleError, TooLargeError
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Prior, Uniform
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.findings import kinds
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.mechanism import CHANGED, TAKEN_IN, UNSTATED
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import joined, message


def believe(
    releases: Sequence[Release | Evidence],
    prior: Prior | str | None = None,
    *,
    knowing: PriorKnowledge = HOW_IT_WAS_LET_OUT,
    inner: bool = False,
    effort: Effort = READER,
    randomness: Randomness | None = None,
    progress: Progress = SILENT,
) -> Believed:
    """Return what is believed of every true count given all releases of one original.

    Releases that are one draw count once. The posterior is about the cells of the finest table:
    releases of fewer of its variables say something of sums of them. The published counts in it are
    those of the first release of that table.

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
    different = finest_first(distinct(evidence))
    first = different[0]
    effort = _effort_for(first.release, effort)
    posterior = _together(different, prior, (effort, inner), (randomness or Randomness.fresh(), progress))
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
    several = any(isinstance(one, CellFactors) and "joint_noise" in one.left_out for one in likelihoods)

    def joint() -> Posterior | None:
        # Late: releases by moves, most of all, have no noise to put together.
        from tabprotect.engine.belief.joint_noise import PriorOfSums, main_table, of_main_table, put_together

        read = [
            (None if one.alone else one.release, plain(known) if chosen(known) else known)
            for one, known in zip(evidence, likelihoods, strict=True)
        ]
        if domain == whole or inner:
            return put_together(read, _prior(prior, whole), share=effort.joint, progress=means[1])
        of_sums = _prior(prior, domain)
        mine: Prior | PriorOfSums = of_sums
        if not isinstance(of_sums, Uniform):
            mine = PriorOfSums(of_sums, main_table(evidence[0].release, likelihoods[0]))
        found = put_together(read, mine, share=effort.joint, progress=means[1])
        return found and of_main_table(found, of_sums, *read[0])

    if several and by_chains and not evidence[0].alone and (found := joint()) is not None:
        return found
    try:
        return Weighing(_prior(prior, domain), effort, *means).together(likelihoods)
    except InfeasibleError:
        if several or not by_chains or (found := joint()) is None:
            raise
        return found


def _prior(prior: Prior | str | None, domain: Domain) -> Prior:
    if prior in (None, "uniform"):
        return Uniform()
    if isinstance(prior, str):
        from tabprotect.engine.posterior.prior_text import parse_prior

        return parse_prior(prior, domain)
    return prior


def _effort_for(release: Release, effort: Effort) -> Effort:
    size, mechanism = release.domain.size, release.mechanism
    if effort.cells is not None and size > effort.cells:
        raise TooLargeError(message("{size:,} cells are too many for a posterior in a comparison", size))
    if effort.steps_once is None or methods()[mechanism.method].is_random(mechanism.values):
        return effort
    return replace(effort, steps=max(effort.steps or 0, effort.steps_once))


def _as_let_out(
    found: Believed, evidence: Sequence[Evidence], knowing: PriorKnowledge, effort: Effort, progress: Progress
) -> Believed:
    """The same with what the gates of the releases tell, or a word on it."""
    gates = [one.gate or one.release.mechanism.gate for one in evidence]
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
            found.posterior.left_out, ["attempts"] if unknown or (knowing.bundled and None in gates) else []
        ),
    )
    passed = [gate for gate in gates if gate is not None and gate.passed]
    attempts = max((gate.attempts_at_most for gate in passed), default=1)
    factor = math.prod(gate.listed.factor for gate in stated if gate.listed is not None)
    found = replace(found, posterior=posterior, attempts_at_most=attempts, factor=factor)
    if attempts == 1:
        return found
    again = None
    if knowing.weigh is not None and len(evidence) == 1 and effort.way != "monte_carlo":
        again = knowing.weigh(posterior, evidence[0], passed[0], progress)
    return replace(found, weighed=again is not None, posterior=posterior if again is None else again)
