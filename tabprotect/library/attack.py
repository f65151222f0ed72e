"""What somebody who puts published tables together can know of every count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.attack.attack import Attacked
from tabprotect.engine.attack.attack import attack as attack_numbers
from tabprotect.engine.attack.foreign_tables import PROGRAMMES, SaidMethod, together
from tabprotect.engine.budgets import BELIEF_LIMIT
from tabprotect.engine.formats.published_rows import PublishedReading, PublishedRows, arranged, read_published
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.statuses import COUNT
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.library.arguments.asking import asks, taken
from tabprotect.library.shown.frames import Frame, made, usual_kind

if TYPE_CHECKING:
    from typing import Unpack

    from tabprotect.library.arguments.keywords import PublishedReadingKeywords


@dataclass(frozen=True, eq=False, repr=False)
class Attack:
    """The beliefs that published tables allow, cell by cell.

    Attributes
    ----------
    attacked
        The same as the engine holds it.
    shown
        The published count of each inner cell; -1 for none.
    kind
        What data frames come back as.

    See Also
    --------
    attack

    Examples
    --------
    >>> import polars as pl
    >>> import tabprotect as tp
    >>> rows = pl.DataFrame({"a": ["x", "y", "Total"], "count": [3, 6, 9]})
    >>> tp.attack(rows, method="random_rounding:base=3")
    Attack(known=0 of 2, way=joint)
    """

    attacked: Attacked
    shown: Ints
    kind: str

    @property
    def known(self) -> int:
        """The number of inner cells one of whose counts is believed with more than .95; of exact counts, where
        some are hidden, the hidden cells alone.
        """
        return self._known[0]

    @property
    def _known(self) -> tuple[int, int]:
        of_hidden = self.attacked.of_hidden(self.shown, BELIEF_LIMIT)
        if of_hidden is None or not of_hidden[0]:
            return self.attacked.known(BELIEF_LIMIT), self.attacked.numbers.domain.size
        return of_hidden[1], of_hidden[0]

    @property
    def way(self) -> str:
        """``joint``, ``least_squares`` or ``proved``: how beliefs were found."""
        return self.attacked.way

    @property
    def cells(self) -> list[dict[str, Any]]:
        """Return for each inner cell: labels, published, count, belief, distribution and way."""
        found: Any = self.attacked.as_json(self.shown, BELIEF_LIMIT)["cells"]
        return list(found)

    def to_frame(self) -> Any:
        """A row for each inner cell: its categories, then published, count, belief and way.

        Examples
        --------
        >>> import polars as pl
        >>> import tabprotect as tp
        >>> rows = pl.DataFrame({"a": ["x", "y", "Total"], "count": [3, 6, 9]})
        >>> tp.attack(rows, method="exact").to_frame()["count"].to_list()
        [3, 6]
        """
        cells = self.cells
        names = self.attacked.numbers.domain.names
        rows = [cell["labels"] | cell for cell in cells]
        wanted = (*names, "published", "count", "belief", "way")
        columns = {name: np.array([row[name] for row in rows], dtype=object) for name in wanted}
        return made(columns, self.kind)

    def __repr__(self) -> str:
        return f"Attack(known={self._known[0]} of {self._known[1]}, way={self.way})"


@asks(PublishedReading)
def attack(
    tables: object,
    *,
    method: str | Sequence[str],
    reading: Mapping[str, object] | None = None,
    progress: Progress = SILENT,
    **asked: Unpack[PublishedReadingKeywords],
) -> Attack:
    """Return what somebody who puts published tables together can know of every count.

    Parameters
    ----------
    tables
        A file or a data frame of published counts, or several of them that are tables of one
        original. A column for each variable and one of counts; a code marks what is summed over.
    method
        What is said of their method: ``cell_key:D=5,V=3,js=2``, ``random_rounding:base=3``,
        ``suppression``, ``rounded:base=5``, ``swapped:rate=.1``, ``unknown:sd=1``, ``exact``; one
        for all tables, or one for each.
    reading
        How files are read, by the options of :func:`open_table`, such as ``{"marks": "..=suppressed"}``.
    **asked

    Raises
    ------
    InputError
        Naming file, line, cell, cause and remedy; also where no table fits the numbers.
    ParameterError
        For a method that there is not.

    See Also
    --------
    infer, verify

    Examples
    --------
    >>> import polars as pl
    >>> import tabprotect as tp
    >>> rows = pl.DataFrame({"a": ["x", "y", "Total"], "count": [3, 6, 9]})
    >>> tp.attack(rows, method="random_rounding:base=3").known
    0
    """
    wanted, how = taken(PublishedReading, asked), Reading.of(reading or {})
    said = [SaidMethod.parse(one) for one in ([method] if isinstance(method, str) else method)]
    several = tables if isinstance(tables, Sequence) and not isinstance(tables, str) else [tables]
    kind, read, names = usual_kind(), list[PublishedRows](), list[str]()
    for number, table in enumerate(several):
        if isinstance(table, str | Path):
            read.append(read_published(table, wanted, how, missing="unknown", progress=progress))
            names.append(str(table))
            continue
        frame = Frame.of(table)
        count = wanted.count or COUNT
        listed = frame.cells(count, [name for name in frame.columns if name != count])
        read.append(arranged(listed, wanted, missing="unknown"))
        names.append(f"table {number + 1}")
        kind = frame.kind
    numbers, shown = together(read, names, said)
    attacked = attack_numbers(numbers, programmes=PROGRAMMES, progress=progress)
    return Attack(attacked, shown, kind)
