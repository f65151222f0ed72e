"""What a reader learns from the fact that a release is the first draw that passed the gate.

With up to R draws, an original x weighs prior(x) K(x, y) w(x), where w = 1 + q + ... + q^(R-1) and
q(x) is the chance that a draw from x is refused. This is computed if all originals can be listed and
all their draws judged. In any case no odds change by more than a factor of R.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from tabprotect.engine.belief.effort import OTHERS
from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.budgets import ATTEMPTS_JUDGED
from tabprotect.engine.disclosure.coin_laws import RULES, forward_law, weighted
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.likelihood import MoveSequence
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message


def weigh_attempts(
    found: Posterior, evidence: Evidence, gate: Gate, progress: Progress = SILENT
) -> Posterior | None:
    """The posterior given that the release is the first that passed; ``None`` if that is too much work."""
    release, likelihood = evidence.release, evidence.likelihood
    if gate.refused:
        # Each verdict would take in the earlier refusals again.
        return None
    if not isinstance(likelihood, MoveSequence):
        return None
    steps = len(likelihood.moves) * likelihood.passes
    if likelihood.rule not in RULES or 3**steps > ATTEMPTS_JUDGED or found.way != "exact":
        return None
    number = found.count_originals()
    listed = found.list_originals() if number is not None and number <= ATTEMPTS_JUDGED else None
    if listed is None:
        return None
    tables, weights = listed
    laws = [forward_law(likelihood, table) for table in tables]
    outcomes = set(itertools.chain.from_iterable(laws))
    if len(outcomes) > ATTEMPTS_JUDGED:
        return None
    refused: set[bytes] = set()
    for done, outcome in enumerate(sorted(outcomes)):
        progress.report(message("judging other draws"), done / len(outcomes))
        counts = np.frombuffer(outcome, dtype=np.int64).reshape(release.domain.shape)
        other = PublishedTable(Table.dense(release.domain, counts))
        judged = replace(release, tables=(other,))
        if not verdict(judged, gate, effort=OTHERS, progress=progress).accepted:
            refused.add(outcome)
    if not refused:
        return found
    chance = np.array([sum(p for y, p in law.items() if y in refused) for law in laws])
    factors = sum(chance**k for k in range(gate.attempts_at_most))
    return weighted(found, tables, weights * factors / float(weights @ factors))
