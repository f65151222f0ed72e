"""What several published tables with noise of their own say together, as a posterior.

All published numbers are put together by the joint chain, whatever tables they stand in; what is
believed of each cell beforehand, and other releases whose numbers have laws too, multiply the same
weight. In tables that are too large for its tempered levels each number is a factor of its sum, and chains
over loose sums are taken: that needs noise by itself, and sums that are proved to be over different
records have it, whatever keys it was looked up under. The outcome is a function of the releases and the prior: the gate and every reader get the
same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.attack.attack import Attacked, Beliefs, attack
from tabprotect.engine.attack.chain import MOST_CELLS, SWEEPS, WORK, JointShares, digest
from tabprotect.engine.attack.proofs import proved
from tabprotect.engine.belief.evidence import all_numbers
from tabprotect.engine.budgets import REWEIGHING_WORK
from tabprotect.engine.equal_rows import equal_rows
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.agreement import SETTLED
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.factors.infer_factors import published_counts
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.margins import sums
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Prior, Uniform
from tabprotect.engine.posterior.together.coarser import numbers_over_finer
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.findings import Omission, kinds, listed
from tabprotect.engine.release.likelihood import UNBOUNDED, CellFactors, Likelihood
from tabprotect.engine.release.published_numbers import Law, PublishedNumbers
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message

MOST_WEIGHED = 2**22
"""Most weights of a prior over all counts of all cells."""

KEPT = 1_000
"""Tables drawn for the sums of an exact posterior."""


@dataclass(frozen=True, eq=False)
class PriorOfSums:
    """A belief about some sums beforehand; inner tables with the same sums are believed alike."""

    prior: Prior
    sums: Publication

    def numbers(self, given: PublishedNumbers) -> PublishedNumbers | None:
        """Beliefs as laws of sums beside what was published; ``None`` where there is no bound."""
        # Imported late: the first paint must not wait for it.
        from scipy.special import gammaln

        incidence = self.sums.incidence
        open_ = np.ones(given.domain.size, dtype=np.int64)
        if given.domain.structural:
            open_[given.domain.structural_cells()] = 0
        ends = [one[: given.domain.size] for one in proved(given)]
        if (ends[1] >= UNBOUNDED).any():
            return None
        low, high, behind = (np.asarray(incidence @ one, dtype=np.int64) for one in (*ends, open_))
        if int((high - low + 1).sum()) > MOST_WEIGHED:
            return None
        laws: list[Law] = []
        for number, inside in enumerate(behind.tolist()):
            values = np.arange(low[number], high[number] + 1)
            # So many inner tables share a sum.
            ways = gammaln(values + inside) - gammaln(values + 1) - gammaln(max(inside, 1))
            logs = self.prior.log_weight(number, values) - (ways if inside else 0.0)
            if not np.isfinite(peak := float(logs.max())):
                return None
            laws.append((int(low[number]), int(high[number]), logs - peak))
        return PublishedNumbers(
            *(given.domain, (), incidence.indptr.astype(np.int64)),
            cells=incidence.indices.astype(np.int64),
            published=np.zeros(len(laws), dtype=np.int64),
            laws=tuple(laws),
            law=np.arange(len(laws)),
            variance=np.full(len(laws), np.inf),
            noise=np.full(len(laws), -1, dtype=np.int64),
            believed=given.believed,
            note=message("What is believed beforehand is of the sums, of inner tables nothing more."),
        )


def put_together(
    read: Sequence[tuple[Release | None, Likelihood]],
    prior: Prior | PriorOfSums,
    *,
    share: float = 1.0,
    progress: Progress = SILENT,
) -> Posterior | None:
    """The posterior of the inner cells given all numbers of some releases of one original.

    Parameters
    ----------
    read
        Each release with its likelihood; no release where the likelihood alone is read.
    share
        The share of the work that may be taken.

    Returns
    -------
    Posterior or None
        ``None`` where the numbers of some release have no laws, or the chains have not settled
        within the work.

    Raises
    ------
    InputError
        When no table fits the numbers.
    Interrupted
        When cancelled.
    """
    parts = [_numbers(*one) for one in read]
    if parts[0] is None:
        return None
    over = [part and numbers_over_finer(part, parts[0].domain) for part in parts]
    known = [part for part in over if part is not None]
    if len(known) < len(parts):
        return None
    left = kinds(*(one.left_out for _, one in read if isinstance(one, CellFactors)))
    left = tuple(kind for kind in left if kind != "joint_noise")
    if sum(part.shared for part in known) > 1:
        # One house looks the noise of several releases up under the same keys.
        left = kinds(left, ["other_releases"])
    numbers = PublishedNumbers.together(known)
    if isinstance(prior, PriorOfSums):
        beside, prior = prior.numbers(numbers), Uniform()
        if beside is None:
            return None
        numbers = PublishedNumbers.together([numbers, beside])
    if numbers.domain.size > MOST_CELLS:
        return None if share < 1 else _by_factors(numbers, prior, read[0], left, progress)
    believed = _with_prior(numbers, prior)
    if believed is None:
        return None
    if share < 1:
        plan = (SWEEPS, 2 * SWEEPS)
        found = attack(believed, plan=plan, work=int(WORK * share), progress=progress)
    else:
        found = attack(believed, progress=progress)
    if found.joint is None or found.way != "joint":
        return None
    return _posterior(found, found.joint, prior, read[0], left)


def main_table(release: Release, likelihood: Likelihood) -> Publication:
    """The cells of the main table as sums, where a release publishes no inner cells."""
    groupings = groupings_of(release.domain, release.mechanism.parameters)
    return Publication(release.domain, (likelihood.domain.names,), groupings)


def of_main_table(
    found: Posterior, prior: Prior, release: Release | None, likelihood: Likelihood
) -> Posterior:
    """The same about the cells of the main table, which a release publishes without inner cells."""
    assert release is not None and isinstance(likelihood, CellFactors)
    (summed,) = sums(found, main_table(release, likelihood))
    published, hidden = published_counts(likelihood)
    return replace(summed, published=published, hidden=hidden, prior=prior)


def _numbers(release: Release | None, likelihood: Likelihood) -> PublishedNumbers | None:
    if not isinstance(likelihood, CellFactors) or likelihood.rerun is not None:
        return None
    found = None if release is None else all_numbers(release)
    if found is not None:
        return found
    # What is close to a law only, or leaves tables out, cannot be put together with others.
    if likelihood.approximate or "joint_noise" in likelihood.left_out:
        return None
    return PublishedNumbers.of_factors(likelihood)


def _with_prior(numbers: PublishedNumbers, prior: Prior) -> PublishedNumbers | None:
    """The numbers for somebody with a prior; ``None`` where it cannot be weighed."""
    if isinstance(prior, Uniform):
        return numbers
    keys = np.arange(numbers.domain.size, dtype=np.int64)
    low, high = (ends[: len(keys)] for ends in proved(numbers))
    least, most = prior.support(keys)
    low, high = np.maximum(low, least), np.minimum(high, most)
    if (low > high).any() or (high >= UNBOUNDED).any():
        return None
    first, kind = equal_rows([prior.alike(keys), low, high])
    if int((high - low + 1)[first].sum()) > MOST_WEIGHED:
        return None
    laws: list[Law] = []
    for cell in first.tolist():
        values = np.arange(low[cell], high[cell] + 1)
        logs = prior.log_weight(cell, values)
        peak = float(logs.max())
        if peak == -np.inf:
            return None
        laws.append((int(low[cell]), int(high[cell]), logs - peak))
    return numbers.believing(laws, kind)


@dataclass(frozen=True, eq=False)
class RecordedSums:
    """The laws of published sums, as the chains recorded them."""

    places: dict[bytes, int]
    sums: Beliefs

    @classmethod
    def of(cls, found: Attacked) -> RecordedSums:
        """The sums of an attack, by the cells that they are over."""
        numbers = found.numbers
        places: dict[bytes, int] = {}
        for number in range(numbers.numbers):
            cells = numbers.cells[numbers.starts[number] : numbers.starts[number + 1]]
            places.setdefault(np.sort(cells).tobytes(), number)
        return cls(places, found.sums)

    def law(self, cells: Ints) -> tuple[int, Floats] | None:
        """The first possible value of a sum of flat cells, and the chances from it on."""
        number = self.places.get(np.sort(cells).tobytes())
        if number is None:
            return None
        starts = self.sums.starts
        return int(self.sums.first[number]), self.sums.chances[starts[number] : starts[number + 1]]


def _by_factors(
    numbers: PublishedNumbers,
    prior: Prior,
    read: tuple[Release | None, Likelihood],
    left: tuple[Omission, ...],
    progress: Progress,
) -> Posterior | None:
    """The posterior of a large table, whose numbers are factors of sums: ``None`` where noise may be shared."""
    alone = numbers.by_themselves(proved(numbers)[0])
    likelihood = read[1]
    assert isinstance(likelihood, CellFactors)
    if alone.shared:
        return None
    whole = likelihood.domain == numbers.domain
    factors = alone.factors(likelihood.tables if whole else ())
    chance = Randomness.seeded(digest(numbers, "factors"))
    try:
        found = infer(factors, prior, Approach(weighing=REWEIGHING_WORK), chance, progress)
    except InfeasibleError:
        return None
    if found.r_hat is not None and found.r_hat > SETTLED:
        return None
    kept = found.draw_originals(found.draws or KEPT, chance.generator(KEPT), progress)
    return replace(found, note=_note(numbers, left), left_out=left, recorded_sums=SumsOfDraws(kept))


@dataclass(frozen=True, eq=False)
class SumsOfDraws:
    """The laws of sums of cells of drawn tables, int64 (tables, cells)."""

    tables: Ints

    def law(self, cells: Ints) -> tuple[int, Floats] | None:
        """The first value of a sum of flat cells, and the chances from it on."""
        drawn = self.tables[:, cells].sum(axis=1)
        first = int(drawn.min())
        return first, np.bincount(drawn - first) / len(drawn)


def _note(numbers: PublishedNumbers, left: Sequence[Omission]) -> str:
    said = message("Left out: {kinds}.", listed(left)) if left else ""
    return joined(filter(None, [numbers.note, said]), " ")


def _posterior(
    found: Attacked,
    joint: JointShares,
    prior: Prior,
    read: tuple[Release | None, Likelihood],
    left: tuple[Omission, ...],
) -> Posterior:
    domain, size = found.numbers.domain, found.numbers.domain.size
    group, first, chances = found.cells.laid_out(slice(0, size))
    errors = Beliefs(joint.first, joint.starts, joint.error).laid_out(slice(0, size))[2]
    likelihood = read[1]
    assert isinstance(likelihood, CellFactors)
    if likelihood.domain == domain:
        published, hidden = published_counts(likelihood)
    else:
        published = Table.dense(domain, np.zeros(domain.shape, dtype=np.int64))
        hidden = np.ones(domain.shape, dtype=np.bool_)

    everything = joint.listed

    def draw(number: int, generator: np.random.Generator, _: Progress) -> Ints:
        chances = None if everything is None else everything.chances
        return np.asarray(joint.kept[generator.choice(len(joint.kept), number, p=chances)])

    return Posterior(
        published=published,
        prior=prior,
        way="monte_carlo" if everything is None else "exact",
        reason=message("all published numbers were put together by chains that agree")
        if everything is None
        else message("every original that fits all published numbers was listed and weighed"),
        group_of_cell=group,
        first=first,
        chances=chances,
        draw_originals=draw,
        draw_in_order=None
        if everything is not None
        else lambda at, *_: joint.kept[at * len(joint.kept) // joint.tables],
        count_originals=lambda: None if everything is None else len(everything.tables),
        list_originals=lambda: None if everything is None else (everything.tables, everything.chances),
        hidden=hidden,
        standard_errors=errors if everything is None else None,
        error=found.error if everything is None else None,
        effective_sample_size=joint.effective if everything is None else None,
        draws=joint.tables if everything is None else None,
        r_hat=joint.r_hat if everything is None else None,
        note=_note(found.numbers, left),
        left_out=left,
        recorded_sums=RecordedSums.of(found),
    )
