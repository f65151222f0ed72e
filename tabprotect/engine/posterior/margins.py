"""The posterior of sums of cells: margins, levels of a hierarchy, groupings that do not nest.

Exact if the width allows, by one more factor or from the listed originals; else from sums of
drawn originals. A sum that all possible originals share is exact either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.equal_rows import members
from tabprotect.engine.errors import InfeasibleError, TooLargeError
from tabprotect.engine.posterior.posterior import ExactSums, KnownSums, Posterior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message

SUMS_DRAWS = 20_000
"""Draws when the laws of sums are not exact."""

SUMS_LISTED = 2**27
"""Most entries (original, sum) for which the laws of sums are read off listed originals."""

SUMS_WORK = 2**30
"""Most entries that the exact laws of all sums of one table may cost: about half a minute."""


FEWEST_DRAWS = 1_000

Laws = tuple[Ints, Floats]
"""First counts (cells,), and chances (cells, width) from them on."""


def sums(
    posterior: Posterior,
    publication: Publication,
    *,
    randomness: Randomness | None = None,
    draws: int | None = None,
    work: int = SUMS_WORK,
    progress: Progress = SILENT,
) -> tuple[Posterior, ...]:
    """A posterior of the cells of each margin of a publication.

    Their published counts are the sums of the published counts.

    Parameters
    ----------
    posterior
        Posterior of the inner cells.
    randomness, draws
        For drawn originals: fresh by default, and 20,000 draws; with 0 none are drawn.
    work
        Most entries that the exact laws of one margin's sums may cost.

    Raises
    ------
    TooLargeError
        If the distributions of so many sums cannot be held.
    InfeasibleError
        If originals would have to be drawn, but ``draws`` is 0.
    """
    cells = int(publication.starts[-1])
    if cells * FEWEST_DRAWS > SUMS_LISTED:
        raise TooLargeError(
            message("{cells:,} sums are too many to be told at once", cells),
            hint=message("ask for fewer tables"),
        )
    cells_of = (members(publication.keys(m), one.size) for m, one in enumerate(publication.domains))
    found_of = [known_laws(posterior, [*each], work, progress) for each in cells_of]
    exact, followed = ([one[kind] for one in found_of] for kind in (0, 1))
    if any(a is None and b is None for a, b in zip(exact, followed, strict=True)):
        rest = _from_originals(posterior, publication, randomness, draws, progress)
    else:
        rest = None
    return tuple(
        _margin(posterior, publication, m, found, rest if followed[m] is None else followed[m])
        for m, found in enumerate(exact)
    )


def known_laws(
    posterior: Posterior, cells_of: Sequence[Ints], work: int, progress: Progress = SILENT
) -> tuple[Laws | None, Laws | None]:
    """The laws of sums of some flat cells each, where no originals are needed: exact ones, within so many entries,
    and recorded ones; ``None`` for what there is not of all of them."""
    exact = _by_factors(posterior.exact_sums, cells_of, work, progress)
    return exact, _recorded(posterior.recorded_sums, cells_of)


def _by_factors(
    laws: ExactSums | None, cells_of: Sequence[Ints], left: int, progress: Progress
) -> Laws | None:
    if laws is None:
        return None
    for cells in cells_of:
        work = laws.work(cells)
        left -= left + 1 if work is None else work
        if left < 0:
            return None
    found = []
    for number, cells in enumerate(cells_of):
        progress.report(message("adding up the cells"), number / len(cells_of))
        found.append(laws.law(cells, progress))
    return _side_by_side(found)


def _recorded(laws: KnownSums | None, cells_of: Sequence[Ints]) -> Laws | None:
    """The laws of sums where all of them were followed."""
    if laws is None:
        return None
    found = []
    for cells in cells_of:
        law = laws.law(cells) if len(cells) else (0, np.ones(1))
        if law is None:
            return None
        found.append(law)
    return _side_by_side(found)


def _side_by_side(found: Sequence[tuple[int, Floats]]) -> Laws:
    chances = np.zeros((len(found), max((len(c) for _, c in found), default=1)))
    for row, (_, law) in zip(chances, found, strict=True):
        row[: len(law)] = law
    return np.array([first for first, _ in found], dtype=np.int64), chances


def standard_errors(chances: Floats, effective: float | Floats) -> Floats:
    """Standard errors of shares among so many drawn originals."""
    out = 1.0 - chances
    out *= chances
    # Sums of weights may end slightly above 1. In place: of a large table these are hundreds of megabytes.
    np.clip(out, 0.0, None, out=out)
    out /= effective
    return np.sqrt(out, out=out)


def laws_of(tables: Ints, weights: Floats) -> Laws:
    """The law of each column of weighted tables, int64 (tables, cells)."""
    start = tables.min(axis=0)
    width = int((tables.max(axis=0) - start).max(initial=0)) + 1
    cells = tables.shape[1]
    place = (tables - start) + np.arange(cells) * width
    each = np.broadcast_to(weights[:, None], tables.shape).reshape(-1)
    share = np.bincount(place.reshape(-1), weights=each, minlength=cells * width)
    return start, np.asarray(share, dtype=np.float64).reshape(cells, width)


@dataclass(frozen=True, eq=False)
class _Originals:
    """Sums of originals, either listed with their probabilities or drawn.

    Attributes
    ----------
    sums : int64 (originals, published cells)
    weights : float64 (originals,)
    effective
        Number of independent draws that would tell as much; ``None`` if they are listed.
    """

    sums: Ints
    weights: Floats
    effective: float | None


def _from_originals(
    posterior: Posterior,
    publication: Publication,
    randomness: Randomness | None,
    draws: int | None,
    progress: Progress,
) -> _Originals:
    listed = posterior.list_originals() if posterior.way == "exact" else None
    if listed is not None and len(listed[1]) * publication.size <= SUMS_LISTED:
        tables, weights = listed
        return _Originals(publication.added_up_each(tables), weights, None)
    if draws == 0:
        raise InfeasibleError(
            message(
                "{size:,} inner cells are too many for the sums of drawn originals", posterior.domain.size
            )
        )
    number = max(min(draws or SUMS_DRAWS, SUMS_LISTED // publication.size), 1)
    generator = (randomness or Randomness.fresh()).generator()
    step = max(SUMS_LISTED // 8 // posterior.domain.size, 1)
    piece, recorded = -(-step // 16), posterior.draw_in_order
    if recorded is not None:
        # All that chains recorded, once, is as much as they tell.
        number, step = min(number, posterior.draws or number), piece
    places = np.linspace(0, (posterior.draws or number) - 1, number).astype(np.int64)
    found = np.empty((number, publication.size), dtype=np.int64)
    for done in range(0, number, step):
        at = places[done : done + step]
        tables = (
            posterior.draw_originals(len(at), generator, progress)
            if recorded is None
            else recorded(at, generator, progress)
        )
        # Some at a time: adding up lays the tables out once more.
        for begin in range(0, len(tables), piece):
            some = tables[begin : begin + piece]
            found[done + begin : done + begin + len(some)] = publication.added_up_each(some)
    effective = float(number)
    if posterior.effective_sample_size is not None and not posterior.independent:
        effective = min(effective, posterior.effective_sample_size)
    return _Originals(found, np.full(number, 1.0 / number), effective)


def _margin(
    posterior: Posterior, publication: Publication, m: int, exact: Laws | None, rest: _Originals | Laws | None
) -> Posterior:
    domain, keys = publication.domains[m], publication.keys(m)
    errors: Floats | None = None
    effective: float | None = None
    if exact is not None:
        (first, chances), reason = exact, message("what its border crosses is summed out")
    elif isinstance(rest, tuple):
        (first, chances), reason = rest, posterior.reason
        effective = posterior.effective_sample_size
        errors = standard_errors(chances, effective or 1.0)
    else:
        assert isinstance(rest, _Originals)
        mine = rest.sums[:, publication.starts[m] : publication.starts[m + 1]]
        first, chances = laws_of(mine, rest.weights)
        effective = rest.effective if chances.shape[1] > 1 else None
        if effective is None:
            reason = message("every original that fits was added up")
        else:
            errors = standard_errors(chances, effective)
            reason = message("drawn originals were added up")

    def draw(number: int, generator: np.random.Generator, progress: Progress) -> Ints:
        tables = posterior.draw_originals(number, generator, progress)
        own = slice(int(publication.starts[m]), int(publication.starts[m + 1]))
        return np.asarray((publication.incidence[own] @ tables.T).T)

    hidden = ~posterior.is_published.reshape(-1)
    unknown = np.bincount(keys[hidden], minlength=domain.size) > 0
    return Posterior(
        published=publication.sums(posterior.published)[m],
        prior=posterior.prior,
        way="exact" if effective is None else "monte_carlo",
        reason=reason,
        group_of_cell=np.arange(domain.size),
        first=first,
        chances=chances,
        draw_originals=draw,
        count_originals=lambda: None,
        hidden=unknown.reshape(domain.shape) if unknown.any() else None,
        standard_errors=errors,
        error=None if errors is None else float(errors.max(initial=0.0)),
        effective_sample_size=effective,
        draws=len(rest.sums)
        if effective is not None and isinstance(rest, _Originals)
        else posterior.draws
        if effective is not None
        else None,
        independent=effective is not None and (posterior.independent or posterior.way == "exact"),
        note=posterior.note,
        approximate=posterior.approximate,
        left_out=posterior.left_out,
    )
