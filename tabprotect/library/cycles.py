"""Cycle sets: designed for what is kept, examined, written to a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.engine.arrays import Bools
from tabprotect.engine.cycles import cycle_files
from tabprotect.engine.cycles.cycle_report import CycleReport, check_cycles, public_support
from tabprotect.engine.cycles.designing import Designing
from tabprotect.engine.cycles.designs import design as designed
from tabprotect.engine.cycles.designs import triangular
from tabprotect.engine.errors import InputError, ParameterError, about
from tabprotect.engine.formats.grouping_files import parse_groupings
from tabprotect.engine.formats.structural_zeros import zeros_of
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.margins import all_margins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message
from tabprotect.library.arguments.asking import asks, taken
from tabprotect.library.table import Table

if TYPE_CHECKING:
    from typing import Unpack

    from tabprotect.library.arguments.keywords import DesigningKeywords


@dataclass(frozen=True, eq=False, repr=False)
class Cycles:
    """A cycle set, public: nothing in it depends on more than kept margins.

    Attributes
    ----------
    moves
        The cycles in order.
    zeros : bool (cells,)
        Cells that the kept margins, or somebody, told to be empty.

    See Also
    --------
    design

    Examples
    --------
    >>> import tabprotect as tp
    >>> tp.design(table=tp.read_table("example:duncan-roehrig-4x4"), kind="strips")
    Cycles(9 on 4 x 4)
    """

    moves: MoveSet
    zeros: Bools | None = None

    def __len__(self) -> int:
        return len(self.moves)

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.moves.domain.shape))
        return f"Cycles({len(self)} on {shape})"

    def check(self, table: Table | None = None, *, rule: str = "any_zero", passes: int = 1) -> CycleReport:
        """Return what the set does: rank, sums that stay exact unasked, largest change, width.

        Parameters
        ----------
        table
            What it does there besides. CONFIDENTIAL.
        rule
            When a cycle does not move there.

        Raises
        ------
        ParameterError
            For a rule without a table.

        Examples
        --------
        >>> import tabprotect as tp
        >>> table = tp.read_table("example:duncan-roehrig-4x4")
        >>> cycles = tp.design(table=table)
        >>> cycles.check(table, rule="negative").rank
        9
        """
        if table is None and rule != "any_zero":
            raise ParameterError({"rule": message("goes with {needed}", "table")})
        counts = None if table is None else table.table
        return check_cycles(self.moves, table=counts, zeros=self.zeros, rule=rule, passes=passes)

    def write(self, path: str | Path) -> None:
        """Write it as JSON, or as a 4ti2 matrix (``.mat``).

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import tabprotect as tp
        >>> table = tp.read_table("example:duncan-roehrig-4x4")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "cycles.json"
        ...     tp.design(table=table).write(file)
        ...     tp.protect(table, cycles=str(file))
        Protection(cyclic_perturbation, 4 x 4)
        """
        cycle_files.write(self.moves, Path(path), self.zeros)


@asks(Designing, kind="triangular")
def design(
    keep: str | None = None,
    *,
    table: Table | None = None,
    margins: Release | None = None,
    progress: Progress = SILENT,
    **asked: Unpack[DesigningKeywords],
) -> Cycles:
    """Cycles that keep some margins and, where the design is triangular, nothing else.

    The design sees the kept margins alone: a table and any release of it give the same cycles.

    Parameters
    ----------
    keep
        The margins as a formula, such as ``"geo + region*age"``; by default all of one variable
        less than the table.
    table, margins
        Whose margins: a confidential table, or a release that states them.
    **asked

    Raises
    ------
    ParameterError
        When no count could change, or the table does not suit.

    See Also
    --------
    protect, Cycles

    Examples
    --------
    >>> import tabprotect as tp
    >>> table = tp.read_table("example:sparse-10x10")
    >>> cycles = tp.design(table=table)
    >>> cycles
    Cycles(81 on 10 x 10)
    >>> cycles.check().rank
    81
    """
    if (table is None) == (margins is None):
        raise InputError(message("a design takes the margins of a table or of a release"))
    if table is not None:
        counts = table.history.project.original
    else:
        assert margins is not None
        counts = margins.table
    wanted = taken(Designing, {"kind": "triangular", **asked}, keep=keep)
    wanted.check_given("counts")
    domain = counts.domain
    groups = parse_groupings(wanted.groupings, domain)
    with about("keep"):
        publication = Publication.of(domain, all_margins(domain) if keep is None else keep, groups)
    kept = KeptMargins.of(publication, counts)
    empty = None if wanted.zeros is None else zeros_of(wanted.zeros, domain)[1]
    if wanted.kind == "triangular":
        moves = triangular(kept, wanted.parameters, wanted.settings, zeros=empty, progress=progress)
    else:
        moves = designed(domain, wanted.kind, wanted.parameters)
        if keep is not None:
            moves = moves.keeping(kept.publication.margins, kept.publication.groupings)
    broken = moves.violations(most=1)
    if broken:
        raise InputError(str(broken[0]), hint=message("take a design that keeps this margin"))
    support = public_support(moves, counts, empty, progress)
    return Cycles(moves, None if support is None else ~support)
