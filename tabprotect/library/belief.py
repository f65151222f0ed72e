"""What a reader of a release can believe about every true count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief.analysing import STATISTICS, Analysing
from tabprotect.engine.belief.believed import Believed
from tabprotect.engine.belief.estimate import LEVEL as LEVEL_OF_ODDS
from tabprotect.engine.belief.evidence import PriorKnowledge
from tabprotect.engine.belief.log_odds import LogOdds, log_odds
from tabprotect.engine.belief.rates import Rate, Ratio, rate
from tabprotect.engine.belief.which_number import BestNumber, Cells, Kind, Question, best_number, blocks_of
from tabprotect.engine.disclosure.counts_verdict import weigh_refused
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.posterior.analysis import AnalysisSummary, ModelSummary, Statistic
from tabprotect.engine.posterior.columns import PosteriorColumns
from tabprotect.engine.posterior.log_linear import LogLinear
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.languages.messages import message
from tabprotect.languages.nearest import closest_match
from tabprotect.library.shown.frames import AnyArray, Framed, made
from tabprotect.library.table import cell_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVEL = 0.9
"""Of the interval in :meth:`Belief.to_frame`."""


@dataclass(frozen=True, eq=False, repr=False)
class Belief(Framed):
    """The posterior distribution of every true count, addressed by category names.

    Attributes
    ----------
    believed
        The same as the engine holds it, with what became of repeated draws and attempts.
    kind
        What data frames come back as.
    given
        The releases it rests on.

    See Also
    --------
    infer

    Examples
    --------
    >>> import tabprotect as tp
    >>> belief = tp.infer(tp.protect(tp.read_table("example:duncan-roehrig-4x4")))
    >>> round(sum(belief.distribution(v="v1", w="w1").values()), 9)
    1.0
    """

    believed: Believed
    kind: str
    given: tuple[Release, ...] = field(default=(), repr=False)

    @property
    def posterior(self) -> Posterior:
        """Arrays over all cells."""
        return self.believed.posterior

    @property
    def releases(self) -> int:
        """Return how many releases of one original were read together."""
        return self.believed.releases

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
        """Return True if everything that the mechanism says was used; else :attr:`note` says what not."""
        return self.posterior.complete

    @property
    def note(self) -> str:
        """Say what of the mechanism was left out, in words."""
        return self.posterior.note

    @property
    def left_out(self) -> str:
        """The same with what became of repeated draws and of attempts at the gate."""
        return self.believed.left_out

    def to_json(self) -> str:
        """Say what ``tabprotect infer --json`` prints of the same releases.

        Examples
        --------
        >>> import tabprotect as tp
        >>> table = tp.read_table("example:duncan-roehrig-4x4")
        >>> belief = tp.infer(tp.protect(table, seed=7))
        >>> belief.to_json()[:1]
        '{'
        """
        return "".join(self.believed.json_pieces())

    @property
    def originals(self) -> int | None:
        """Return how many original tables remain possible; ``None`` when too many to count."""
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
                message("no category is given for {missing}", ", ".join(missing)),
                hint=message("name one for every variable of the table"),
            )
        return self.domain.index([given[name] for name in self.domain.names])

    def to_frame(self, kind: str | None = None, *, distributions: bool = False) -> Any:
        """A row for each cell, or with ``distributions`` for each possible count of each cell.

        Columns: the categories; ``published``; then ``mean``, ``mode``, ``low`` and ``high`` of the
        central 90 % interval and ``entropy`` (bits), and of swapped records the estimate ``unbiased``; or ``count`` and ``probability``.

        Examples
        --------
        >>> import tabprotect as tp
        >>> table = tp.read_table("example:duncan-roehrig-4x4")
        >>> belief = tp.infer(tp.protect(table, seed=7))
        >>> list(belief.to_frame("dict"))
        ['v', 'w', 'published', 'mean', 'mode', 'low', 'high', 'entropy']
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
            if found.weakened is not None:
                columns["unbiased"] = found.weakened.unbiased
            return made(columns, kind or self.kind)
        rows = PosteriorColumns.of(found, np.arange(self.domain.size))
        columns = {name: values[rows.cells] for name, values in columns.items()}
        columns |= {"count": rows.counts, "probability": rows.chances}
        return made(columns, kind or self.kind)

    def plot(
        self,
        *,
        of: str = "entropy",
        at_risk: str = "1..2",
        ax: Axes | None = None,
        cell: Mapping[str, str] | None = None,
    ) -> Axes:
        """The window's figures with matplotlib: a map of all cells, or the histogram of one.

        Parameters
        ----------
        of
            What the map shows: ``entropy`` (bits, dark is certain), ``small`` (the probability of a
            count within ``at_risk``) or ``mean``.
        ax
            Where to draw; by default a figure of its own.
        cell
            A category for every variable: its posterior instead of the map.

        Raises
        ------
        InputError
            Where matplotlib is not installed (``tabprotect[plots]``), and for an unknown figure.

        Examples
        --------
        >>> import tabprotect as tp
        >>> belief = tp.infer(tp.protect(tp.read_table("example:duncan-roehrig-4x4"), seed=7))
        >>> belief.plot(cell={"v": "v1", "w": "w2"}).get_xlabel()  # doctest: +SKIP
        'true count'
        """
        # Late: scripts that draw nothing do not wait for it.
        from tabprotect.library.shown import plotting

        found = self.posterior
        if cell is not None:
            index = self._index(dict(cell))
            values, chances = found.distribution(index)
            there = bool(found.is_published[index])
            published = int(found.published.counts[index]) if there else None
            title = ", ".join(str(c) for c in cell.values())
            ax = plotting.axes(ax)
            prior = found.prior_distribution(index, values)
            plotting.cell_histogram(ax, values, chances, prior, published=published, title=title)
            return ax
        figures: dict[str, tuple[str, float | None, bool, Callable[[], Floats]]] = {
            "entropy": (message("entropy in bits"), None, True, lambda: found.entropy),
            "small": (
                message("probability of {at_risk}", at_risk),
                1.0,
                False,
                lambda: found.small(SmallCount.parse(at_risk)),
            ),
            "mean": (message("expected count"), None, False, lambda: found.mean),
        }
        if of not in figures:
            raise InputError(
                message("there is no figure {of}", repr(of)),
                hint=closest_match(of, tuple(figures)) or message("there are {those}", ", ".join(figures)),
            )
        title, top, flip, compute = figures[of]
        ax = plotting.axes(ax)
        plotting.cell_map(ax, self.domain, compute(), title=title, top=top, flip=flip)
        return ax

    def sample(self, number: int, *, seed: int | None = None, progress: Progress = SILENT) -> Ints:
        """Joint draws of the whole original, int64: the number of draws, then the shape of the table.

        Examples
        --------
        >>> import tabprotect as tp
        >>> table = tp.read_table("example:duncan-roehrig-4x4")
        >>> tp.infer(tp.protect(table, seed=7)).sample(1000, seed=1).shape
        (1000, 4, 4)
        """
        if number < 1:
            raise ParameterError({"number": message("must be at least 1")})
        generator = Randomness.seeded(seed).generator()
        flat = self.posterior.draw_originals(number, generator, progress)
        return flat.reshape(number, *self.domain.shape)

    def draws(self, number: int, *, seed: int | None = None, progress: Progress = SILENT) -> Any:
        """The same as a data frame: ``draw`` (from 1), the categories, ``count``.

        Examples
        --------
        >>> import tabprotect as tp
        >>> table = tp.read_table("example:duncan-roehrig-4x4")
        >>> len(tp.infer(tp.protect(table, seed=7)).draws(10, seed=1))
        160
        """
        tables = self.sample(number, seed=seed, progress=progress).reshape(number, -1)
        cells = self.domain.size
        columns: dict[str, AnyArray] = {"draw": np.repeat(np.arange(1, number + 1), cells)}
        for name, labels in cell_columns(self.domain).items():
            columns[name] = np.tile(labels, number)
        return made(columns | {"count": tables.reshape(-1)}, self.kind)

    def analyse(
        self,
        statistic: str | Statistic = "chi_square",
        *,
        draws: int = 1000,
        level: float = LEVEL_OF_ODDS,
        seed: int | None = None,
        progress: Progress = SILENT,
    ) -> AnalysisSummary:
        """A statistic over joint draws: the spread that perturbation adds to it.

        Given the releases under a uniform prior, the two that are named come with ``independence``:
        the test given the release, which holds its level, and the interval of Cramer's V of the
        population. The draws themselves lean away from independence.

        Parameters
        ----------
        statistic
            ``chi_square``, ``cramers_v``, or a function of tables ``(draws, *shape)`` that gives one
            number for each.

        Examples
        --------
        >>> import tabprotect as tp
        >>> table = tp.read_table("example:duncan-roehrig-4x4")
        >>> found = tp.infer(tp.protect(table, seed=7)).analyse(draws=200, seed=1)
        >>> found.name, found.undefined
        ('chi_square', 0)
        """
        if isinstance(statistic, str) and statistic not in STATISTICS:
            raise ParameterError(
                {"statistic": message("must be one of {known}, or a function", ", ".join(STATISTICS))}
            )
        name = statistic if isinstance(statistic, str) else statistic.__name__
        function = STATISTICS[statistic] if isinstance(statistic, str) else statistic
        asked = self._analysing(seed, progress)
        return asked.statistic(function, name, draws=draws, level=level)

    def fit(
        self, model: str, *, draws: int = 200, seed: int | None = None, progress: Progress = SILENT
    ) -> ModelSummary:
        """A log-linear model of the true table, its log odds ratios and its test.

        Given the releases under a uniform prior, tables are drawn under the model itself: the
        intervals then cover, and the test given the release holds its level. Under another prior
        the draws are those of the posterior, pooled by Rubin's rules.

        Parameters
        ----------
        model
            A formula: ``"v*w"`` lets v and w go together, ``"v + w"`` holds them independent.

        Examples
        --------
        >>> import tabprotect as tp
        >>> table = tp.read_table("example:duncan-roehrig-4x4")
        >>> found = tp.infer(tp.protect(table, seed=7)).fit("v + w", draws=100, seed=1)
        >>> found.model.degrees
        9
        """
        wanted = LogLinear.of(self.domain, model)
        return self._analysing(seed, progress).fit(wanted, draws=draws)

    def sum(
        self,
        *blocks: str | Cells,
        minus: str | Cells | None = None,
        over: str | Cells | None = None,
        level: float = LEVEL,
        seed: int | None = None,
        progress: Progress = SILENT,
        **cells: str | Sequence[str],
    ) -> BestNumber:
        """The best value and the interval of a sum of cells, a difference, a share or a rate.

        Where a published total of just these cells has noise of its own, both it and the sum of its
        parts are taken in, and ``sources`` has the variance that each leaves.

        Parameters
        ----------
        *blocks
            Blocks of cells that are added up, each as categories by variable, or as text:
            ``"v=v1,v2; w=w1"``; a text may hold the whole question, with ``" - "`` or ``" / "``.
        minus, over
            Cells that are taken off, or divided by: a share where they hold the first ones.
        level
            The chance that the interval holds the true figure, at least.
        **cells
            The categories of one block; what is not named is summed over.

        Raises
        ------
        InputError
            For an unknown variable or category.
        ParameterError
            For a text that cannot be read, or where what is divided by may be 0.

        Examples
        --------
        >>> import tabprotect as tp
        >>> belief = tp.infer(tp.protect(tp.read_table("example:duncan-roehrig-4x4"), seed=7))
        >>> found = belief.sum(v="v1", w=["w1", "w2"])
        >>> found.low <= found.estimate <= found.high
        True
        >>> belief.sum(v="v1", w="w1", over={"v": "v1"}).kind
        'share'
        """
        if minus is not None and over is not None:
            raise ParameterError({"minus": message("goes without over")})
        whole = (*blocks, *([cells] if cells or not blocks else []))
        if len(whole) == 1 and isinstance(whole[0], str) and minus is None and over is None:
            question = Question.parse(whole[0])
        else:
            kind: Kind = (
                "sum" if minus is None and over is None else "rate" if minus is None else "difference"
            )
            beside = over if minus is None else minus
            other = () if beside is None else blocks_of([beside])
            question = Question(kind, blocks_of(whole), other)
        alone = self.given[0] if len(self.given) == 1 else None
        return best_number(
            self.posterior,
            question,
            release=alone,
            level=level,
            randomness=None if seed is None else Randomness.seeded(seed),
            progress=progress,
        )

    def rate(
        self, text: str, *, level: float = LEVEL_OF_ODDS, seed: int | None = None, progress: Progress = SILENT
    ) -> Rate:
        """A rate of the population, or the difference of two, with an interval.

        Parameters
        ----------
        text
            ``"v=v1 | w=w1"`` is the share of v1 among w1; ``"v=v1 | w=w1, w2"`` that less the share
            among w2.

        Examples
        --------
        >>> import tabprotect as tp
        >>> table = tp.read_table("example:duncan-roehrig-4x4")
        >>> found = tp.infer(tp.protect(table, seed=7)).rate("v=v1 | w=w1", seed=1)
        >>> 0 < found.interval[0] < found.estimate < found.interval[1] < 1
        True
        """
        reading = self._analysing(seed, progress, "rate").alone
        return rate(reading, Ratio.parse(text), level=level)

    def log_odds(
        self,
        first: str,
        second: str,
        *,
        level: float = LEVEL_OF_ODDS,
        seed: int | None = None,
        progress: Progress = SILENT,
    ) -> LogOdds:
        """The common log odds ratio of two variables given all others, with an interval.

        It rests on the likelihood of the release itself, not on a prior of the counts; variables
        of more than two categories have one log odds ratio for all neighbouring ones.

        Examples
        --------
        >>> import tabprotect as tp
        >>> table = tp.read_table("example:duncan-roehrig-4x4")
        >>> found = tp.infer(tp.protect(table, seed=7)).log_odds("v", "w", seed=1)
        >>> found.interval[0] < found.estimate < found.interval[1]
        True
        """
        reading = self._analysing(seed, progress, "log_odds").alone
        return log_odds(reading, (first, second), level=level)

    def _analysing(self, seed: int | None, progress: Progress, alone: str = "") -> Analysing:
        """The releases to analyse; ``alone`` names what rests on them and not on this posterior."""
        if alone and not self.given:
            raise ParameterError(
                {alone: message("these are sums of cells")},
                hint=message("infer the cells of the release, without of"),
            )
        knowing, chance = PriorKnowledge(weigh_refused=weigh_refused), Randomness.seeded(seed)
        return Analysing(self.given, self.posterior, knowing, chance, progress)
