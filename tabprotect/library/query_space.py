"""Which margins of a table may be published together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tabprotect.engine.errors import about
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.criterion_evidence import Evidence, RiskJudgement
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.registered import gathered_sums, standard
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.table_server.refusal_price import RefusalPrice, refusal_price
from tabprotect.engine.sensitivity.small_count import Judged, SmallCount
from tabprotect.library.table import Table, check_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Margins = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Frontiers:
    """The ends of a set of released margins, and where refusal begins. CONFIDENTIAL.

    Attributes
    ----------
    releasable
        Whether what is released is proved to be at least at the threshold.
    width
        The criterion's figure of it, larger being safer.
    released
        The largest released margins; everything below them is released.
    unreleasable
        The smallest margins that may not be released any more.
    """

    releasable: bool
    width: int
    released: Margins
    unreleasable: Margins


class QuerySpace:
    """All margins of a table; releasing some gives another query space. CONFIDENTIAL.

    Parameters
    ----------
    table
        The table.
    measure
        What a table of sums sums; ``None`` for a table of counts.
    criterion, threshold
        What judges, and what it must reach; ``None`` for the usual one: ``width`` at 3 of counts, ``p``
        at 10 of sums.
    at_risk
        Counts at risk.
    cells
        Which cells are judged: ``at_risk``, or ``all``, so that no decision tells where at-risk
        counts are.

    See Also
    --------
    Table.margin, protect

    Examples
    --------
    >>> import tabprotect as tp
    >>> space = tp.QuerySpace(tp.read_table("example:czech-autoworkers"))
    >>> space.release("A,B").frontier().released
    (('A', 'B'),)
    """

    def __init__(
        self,
        table: Table,
        *,
        measure: str | None = None,
        criterion: str | None = None,
        threshold: int | None = None,
        at_risk: str = "1..2",
        cells: Judged = "at_risk",
        progress: Progress = SILENT,
    ) -> None:
        check_table(table)
        project = table.history.project
        if measure is None:
            rule = SmallCount.parse(at_risk)
            evidence = Evidence.gather(project.counted, rule, cells=cells, progress=progress)
        else:
            evidence = gathered_sums(project.summed(measure), criterion)
        with about(beta="threshold"):
            self._state = ReleaseSet.begin(standard(evidence, threshold, criterion), progress=progress)

    def _with(self, state: ReleaseSet) -> QuerySpace:
        other = object.__new__(QuerySpace)
        other._state = state
        return other

    def release(self, *margins: str | Iterable[str]) -> QuerySpace:
        """The query space in which these margins are out, whether or not they may be.

        Parameters
        ----------
        *margins
            Each as ``"A,B"`` or as names.

        Examples
        --------
        >>> import tabprotect as tp
        >>> space = tp.QuerySpace(tp.read_table("example:czech-autoworkers"))
        >>> space.release("A,B", ["C", "D"]).allowed("C,D")
        True
        """
        lattice, state = self._state.evidence.lattice, self._state
        for margin in margins:
            text = margin if isinstance(margin, str) else ",".join(margin)
            state = state.release(lattice.parse(text))
        return self._with(state)

    def judge(self, *margins: str | Iterable[str]) -> RiskJudgement:
        """Return what releasing these margins together, on top of what is out, would mean.

        Examples
        --------
        >>> import tabprotect as tp
        >>> tp.QuerySpace(tp.read_table("example:czech-autoworkers")).judge("A,B").verdict
        'safe'
        """
        return self.release(*margins)._state.judgement

    def allowed(self, margin: str | Iterable[str]) -> bool:
        """Return True if a margin is released, or proved releasable next.

        Examples
        --------
        >>> import tabprotect as tp
        >>> tp.QuerySpace(tp.read_table("example:czech-autoworkers")).allowed("A,B,C,D,E,F")
        False
        """
        text = margin if isinstance(margin, str) else ",".join(margin)
        return self._state.allows(self._state.evidence.lattice.parse(text))

    def price(self, margin: str | Iterable[str]) -> RefusalPrice | None:
        """Return what refusing a margin tells; ``None`` where that cannot be computed.

        In bits, and as the largest move of the probability that an at-risk cell is at risk.

        Examples
        --------
        >>> import tabprotect as tp
        >>> space = tp.QuerySpace(tp.read_table("example:duncan-roehrig-4x4"))
        >>> space.price("v,w")
        """
        text = margin if isinstance(margin, str) else ",".join(margin)
        return refusal_price(self._state, self._state.evidence.lattice.parse(text))

    def frontier(self) -> Frontiers:
        """Both frontiers as they are now.

        Examples
        --------
        >>> import tabprotect as tp
        >>> space = tp.QuerySpace(tp.read_table("example:duncan-roehrig-4x4"))
        >>> space.frontier().unreleasable
        (('v', 'w'),)
        """
        state = self._state
        return Frontiers(
            state.judgement.verdict == "safe",
            state.judgement.width,
            self._names(state.released),
            self._names(state.unreleasable),
        )

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """The lattice of all margins with matplotlib: what is out, may go out next, or may not.

        Raises
        ------
        InputError
            Where matplotlib is not installed (``tabprotect[plots]``), and for too many margins.

        Examples
        --------
        >>> import tabprotect as tp
        >>> space = tp.QuerySpace(tp.read_table("example:czech-autoworkers"))
        >>> ax = space.release("A,B").plot()  # doctest: +SKIP
        """
        # Late: scripts that draw nothing do not wait for it.
        from tabprotect.library.shown import plotting

        ax = plotting.axes(ax, *plotting.lattice_size(self._state))
        plotting.lattice(ax, self._state)
        return ax

    def _names(self, frontier: Frontier) -> Margins:
        return tuple(self._state.evidence.lattice.names_of(query) for query in frontier)
