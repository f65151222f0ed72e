"""Priors that carry knowledge: a log-linear model of what was published, or last year's release.

Both rest on public files alone. Where nobody can be by the model or was last year, somebody may still
be now: only what the release proves to be empty stays empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import RELEASE_ALONE, Evidence, distinct, finest_first
from tabprotect.engine.bundle.verify import verify
from tabprotect.engine.errors import InputError
from tabprotect.engine.posterior.log_linear import LogLinear
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import NegativeBinomial, Poisson, Prior
from tabprotect.engine.posterior.prior_text import LAST, MODEL
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message

LEAST = 0.05
"""Least mean of a cell that is not proved to be empty: a mean of 0 says that the count is certainly 0."""

STEPS = 4
"""Rounds in which the spread around the model is estimated."""


def informed(text: str, releases: Sequence[Release | Evidence], progress: Progress = SILENT) -> Prior | str:
    """The prior of ``model:FORMULA`` and of ``last:RELEASE.zip``; any other text as it is.

    Parameters
    ----------
    releases
        What is believed given them is asked for.

    Raises
    ------
    InputError, ParameterError
        When the model does not fit the table, or the earlier release cannot be read or has other
        variables.
    InfeasibleError
        When there is no posterior to begin with.
    """
    kind, _, rest = text.partition(":")
    if kind not in (MODEL, LAST) or not rest:
        return text
    evidence = [one if isinstance(one, Evidence) else Evidence(one) for one in releases]
    evidence = finest_first(distinct(evidence))
    domain = evidence[0].likelihood.domain
    if kind == MODEL:
        return _around_model(LogLinear.of(domain, rest), evidence, progress)
    last = verify(Path(rest), progress=progress).release
    before = believe([last], knowing=RELEASE_ALONE, progress=progress).posterior
    now = _believed(evidence, None, progress)
    means = _by_labels(before, domain, Path(rest))
    means *= float(_counts(now).sum()) / max(float(means.sum()), 1e-300)
    return Poisson(_open(means, now), knows=message("knows an earlier release"))


def _believed(evidence: Sequence[Evidence], prior: Prior | None, progress: Progress) -> Posterior:
    return believe(evidence, prior, knowing=RELEASE_ALONE, progress=progress).posterior


def _counts(found: Posterior) -> Floats:
    """The published counts, flat; what is expected where none is published or it is no count."""
    shown = np.maximum(found.published.counts.astype(np.float64), 0.0)
    return np.where(found.is_published, shown, found.mean).reshape(-1)


def _open(means: Floats, found: Posterior) -> Floats:
    """The means with a least one for each cell that may hold somebody."""
    group = found.group_of_cell
    empty = (found.first == 0) & (found.chances[group, 0] == 1.0)
    return np.where(empty, 0.0, np.maximum(means, LEAST))


def _by_labels(before: Posterior, domain: Domain, file: Path) -> Floats:
    """Last year's expected counts, float64 (cells,); the mean of all for a category that is new."""
    old = before.domain
    if sorted(old.names) != sorted(domain.names):
        raise InputError(
            message("the earlier release is of other variables: {names}", ", ".join(old.names)),
            file=file,
            hint=message("take one of {names}", ", ".join(domain.names)),
        )
    mean = np.moveaxis(before.mean, [old.axis(name) for name in domain.names], range(old.ndim))
    at: list[Ints] = []
    for variable in domain.variables:
        known = {code: k for k, code in enumerate(old.variables[old.axis(variable.name)].categories)}
        at.append(np.array([known.get(code, -1) for code in variable.categories], dtype=np.int64))
    grid = np.ix_(*at)
    new = np.zeros(domain.shape, dtype=bool)
    for axis in grid:
        new |= axis < 0
    found = np.where(new, np.nan, mean[grid])
    if new.all():
        raise InputError(
            message("the earlier release has none of the categories"),
            file=file,
            hint=message("take a release of the same table of another year"),
        )
    return np.where(new, np.nanmean(found), found).reshape(-1)


def _around_model(model: LogLinear, evidence: Sequence[Evidence], progress: Progress) -> Prior:
    """Around the counts that a model expects; how far, by what is believed of the true ones."""
    found = _believed(evidence, None, progress)
    counts = _counts(found).reshape(1, *model.domain.shape)
    means = _open(model.fit(counts)[0].reshape(-1), found)
    knows = message("takes the counts to follow a model")
    prior: Poisson | NegativeBinomial = Poisson(means, knows=knows)
    # Degrees of freedom were spent on the means.
    lost = model.domain.size / max(model.degrees, 1)
    for _ in range(STEPS):
        believed = _believed(evidence, prior, progress)
        off = believed.standard_deviation.reshape(-1) ** 2
        off += (believed.mean.reshape(-1) - means) ** 2
        beyond = float(off.sum()) * lost - float(means.sum())
        if beyond <= 1e-3 * float(means.sum()):
            return prior
        prior = NegativeBinomial(means, float((means**2).sum()) / beyond, knows=knows)
    return prior
