"""What a reader of a release can believe about every true count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.disclosure.reading import read_releases
from tabprotect.engine.errors import InputError
from tabprotect.engine.posterior.columns import PosteriorColumns
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import parse_prior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.library.frames import made, usual_kind
from tabprotect.library.protection import Protection
from tabprotect.library.release import open_release
from tabprotect.library.table import cell_columns

LEVEL = 0.9
"""Of the interval in :meth:`Belief.to_frame`."""


@dataclass(frozen=True, eq=False, repr=False)
class Belief:
    """The posterior distribution of every true count, addressed by category names.

    Attributes
    ----------
    posterior
        The same as the engine holds it: arrays over all cells.
    kind
        What data frames come back as.
    """

    posterior: Posterior = field(repr=False)
    kind: str

    @property
    def domain(self) -> Domain:
        """The variables of the original."""
        return self.posterior.domain

    @property
    def way(self) -> str:
        """``exact`` or ``monte_carlo``."""
        return self.posterior.way

    @property
    def error(self) -> float | None:
        """The largest standard error of a probability; ``None`` when exact."""
        return self.posterior.error

    @property
    def complete(self) -> bool:
        """Whether everything that the mechanism says was used; else :attr:`note` says what not."""
        return self.posterior.complete

    @property
    def note(self) -> str:
        """What was left out, in words."""
        return self.posterior.note

    @property
    def originals(self) -> int | None:
        """How many original tables remain possible; ``None`` when too many to count."""
        return self.posterior.originals

    @property
    def mean(self) -> Floats:
        """Expected true counts, shape of the table."""
        return self.posterior.mean

    @property
    def mode(self) -> Ints:
        """Most probable true counts, shape of the table."""
        return self.posterior.mode

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.domain.shape))
        return f"Belief({' | '.join(self.domain.names)}, {shape}, {self.way})"

    def distribution(self, **cell: str) -> dict[int, float]:
        """The distribution of one cell: true count -> probability.

        Parameters
        ----------
        **cell
            A category for every variable; upper and lower case of the names are alike where that
            leaves no doubt.

        Examples
        --------
        >>> import tabprotect as tp
        >>> table = tp.read_table("example:duncan-roehrig-4x4")
        >>> belief = tp.infer(tp.protect(table, alpha=0.25, seed=7))
        >>> round(sum(belief.distribution(v="v1", w="w2").values()), 12)
        1.0
        """
        values, chances = self.posterior.distribution(self._index(cell))
        return dict(zip(values.tolist(), chances.tolist(), strict=True))

    def _index(self, cell: dict[str, str]) -> Index:
        named = {name.casefold(): name for name in self.domain.names}
        if len(named) < self.domain.ndim:
            named = {name: name for name in self.domain.names}
        given = {named.get(n, named.get(n.casefold(), n)): str(c) for n, c in cell.items()}
        for name in given:
            self.domain.axis(name)
        missing = [name for name in self.domain.names if name not in given]
        if missing:
            raise InputError(
                f"no category is given for {', '.join(missing)}",
                hint="name one for every variable of the table",
            )
        return self.domain.index([given[name] for name in self.domain.names])

    def to_frame(self, *, distributions: bool = False) -> Any:
        """A row for each cell, or with ``distributions`` for each possible count of each cell.

        Columns: the categories; ``published``; then ``mean``, ``mode``, ``low`` and ``high`` of the
        central 90 % interval and ``entropy`` (bits), or ``count`` and ``probability``.
        """
        found = self.posterior
        published = found.published.counts.reshape(-1).astype(object)
        published[~found.is_published.reshape(-1)] = None
        columns = cell_columns(self.domain) | {"published": published}
        if not distributions:
            low, high = found.interval(LEVEL)
            figures = {"mean": found.mean, "mode": found.mode, "low": low, "high": high}
            figures["entropy"] = found.entropy
            columns |= {name: values.reshape(-1) for name, values in figures.items()}
            return made(columns, self.kind)
        rows = PosteriorColumns.of(found, np.arange(self.domain.size))
        columns = {name: values[rows.cells] for name, values in columns.items()}
        columns |= {"count": rows.counts, "probability": rows.chances}
        return made(columns, self.kind)

    def sample(self, number: int, *, seed: int | None = None, progress: Progress = SILENT) -> Ints:
        """Joint draws of the whole original, int64: the number of draws, then the shape of the table.

        Examples
        --------
        >>> import tabprotect as tp
        >>> table = tp.read_table("example:duncan-roehrig-4x4")
        >>> tp.infer(tp.protect(table, seed=7)).sample(1000, seed=1).shape
        (1000, 4, 4)
        """
        generator = Randomness.seeded(seed).generator()
        flat = self.posterior.draw_originals(number, generator, progress)
        return flat.reshape(number, *self.domain.shape)


AnyRelease = str | Path | Release | Protection


def infer(
    release: AnyRelease | Sequence[AnyRelease],
    *,
    prior: str = "uniform",
    way: Literal["auto", "exact", "monte_carlo"] = "auto",
    draws: int | None = None,
    seed: int | None = None,
    progress: Progress = SILENT,
) -> Belief:
    """What a reader can believe about every true count, from public things alone.

    Parameters
    ----------
    release
        A bundle's file name, an opened release, or a protection (of which only the release is
        looked at); or a list of these, all of one original, which are read together.
    prior
        ``uniform``, ``positive``, ``positive:CELLS``, ``poisson:FILE``, ``negative_binomial:FILE``
        or ``table:FILE``.
    way, draws, seed
        Of the computation: exact where it can be, else Monte Carlo.

    Examples
    --------
    >>> import tabprotect as tp
    >>> table = tp.read_table("example:duncan-roehrig-4x4")
    >>> tp.infer(tp.protect(table, seed=7), prior="positive")
    Belief(v | w, 4 x 4, exact)
    >>> tp.infer([tp.protect(table, seed=7), tp.protect(table, seed=8)])
    Belief(v | w, 4 x 4, exact)
    """
    given = [release] if isinstance(release, str | Path | Release | Protection) else list(release)
    if not given:
        raise InputError("there is no release to infer from")
    releases = [_opened(one, progress) for one in given]
    read = read_releases(
        releases,
        parse_prior(prior, likelihood_of(releases[0]).domain),
        way=way,
        randomness=None if seed is None else Randomness.seeded(seed),
        draws=draws,
        progress=progress,
    )
    kinds = [one.kind for one in given if isinstance(one, Protection)]
    return Belief(read.posterior, kinds[0] if kinds else usual_kind())


def _opened(release: AnyRelease, progress: Progress) -> Release:
    if isinstance(release, Protection):
        return release.release
    return release if isinstance(release, Release) else open_release(release, progress=progress)
