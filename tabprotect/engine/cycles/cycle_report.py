"""The proof panel: the effects of a cycle set, as figures and as sentences with a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.cycles import reach
from tabprotect.engine.cycles.algebra import CycleAlgebra
from tabprotect.engine.cycles.graphs import elimination_cost
from tabprotect.engine.fitting.synthetic_tables import expected_counts
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.margins import MarginSet, all_margins
from tabprotect.engine.tables.moves import MoveSet, Violation
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import capital, joined, message, percent, plural

LONGEST_NAMED = 8
"""Most sums that are named, and most cells of one."""


MOST_VIOLATIONS = 1000
MOST_NAMED = 3

Verdict = Literal["ok", "warning", "bad"]


@dataclass(frozen=True)
class Statement:
    """One line of the proof panel.

    ``topic`` names its subject (``margins``, ``coverage``, ``interval``, ``rank``, ``attack``,
    ``outcomes``, ``width``, ``blocked``, ``immovable``), so that a window can attach an action such
    as "show them".
    """

    topic: str
    verdict: Verdict
    text: str


@dataclass(frozen=True)
class Attack:
    """Cells revealed by every true value in one category, in an unblocked run."""

    variable: str
    category: str
    revealed: int
    others: int


@dataclass(frozen=True)
class CycleReport(Encodable):
    """Figures about a cycle set, and about one table if one is given.

    Attributes
    ----------
    violations
        Margins that cycles break (at most 1000 listed).
    coverage_min, coverage_max
        Touches per cell in one pass (+ and - together), over all cells.
    balanced
        Whether each touched cell is touched equally often by + and by -.
    rank, dimension
        Rank of the lattice that the cycles span, and of all moves that keep the margins and touch
        no public zero; ``None`` if too large to compute.
    support
        Number of cells that are not public zeros.
    named
        Some of the sums that are published exactly though nobody asked for them, in words.
    distinct_outcomes
        Tables reachable by the coins if nothing is blocked; ``None`` if too many to count.
    width
        Decides if the posterior is exact; ``None`` if it is far too large (over 40).
    exact
        Whether the posterior of such a release is computed exactly.
    attacks
        Worst known-category attacks, most revealing first.
    blocked_share
        Share of the cycles that are blocked on the table as it is.
    immovable
        Positive cells of the table that no cycle of the set can move.
    bridges
        Positive cells that no cycle at all through positive cells could move (two-way tables).
    """

    domain: Domain
    margins: MarginSet
    cycles: int
    passes: int
    violations: tuple[Violation, ...]
    coverage_min: int
    coverage_max: int
    balanced: bool
    rank: int | None
    dimension: int | None
    support: int
    named: tuple[str, ...]
    distinct_outcomes: int | None
    width: int | None
    exact: bool
    attacks: tuple[Attack, ...]
    blocked_share: float | None = None
    immovable: tuple[Index, ...] | None = None
    bridges: tuple[Index, ...] | None = None
    json_keys = (
        "preserves_margins violations coverage_min coverage_max balanced cycles rank dimension wanted_exact "
        "unwanted_exact=known_functionals unwanted=named known_functionals largest_change distinct_outcomes "
        "width exact attacks statements blocked_share? immovable_cells=immovable? bridges"
    )

    @property
    def preserves_margins(self) -> bool:
        """True if every cycle keeps every margin it should."""
        return not self.violations

    @property
    def known_functionals(self) -> int | None:
        """Number of independent linear combinations published exactly beyond the margins: unwanted.

        ``None`` if the rank is unknown, or margins are broken.
        """
        if self.rank is None or self.dimension is None or self.violations:
            return None
        return self.dimension - self.rank

    @property
    def wanted_exact(self) -> int | None:
        """Number of independent linear combinations published exactly because they are kept."""
        return None if self.dimension is None else self.support - self.dimension

    @property
    def largest_change(self) -> int:
        """The largest possible distance of a published count from the true one."""
        return self.coverage_max * self.passes

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All of the above in words, in the order a reader needs it."""
        out = [self._margins(), self._coverage(), self._interval(), self._rank()]
        if self.attacks:
            out.append(self._attack())
        out += [*self._outcomes(), self._width()]
        if self.blocked_share is not None and self.immovable is not None:
            out += [self._blocked(self.blocked_share), self._immovable(self.immovable)]
        return tuple(out)

    def _margins(self) -> Statement:
        if self.preserves_margins:
            kept = set(self.margins) == set(all_margins(self.domain))
            text = message("All margins are preserved.")
            if not kept:
                named = ", ".join("×".join(m) or message("the grand total") for m in self.margins)
                text = message("The margins that are to be kept are preserved: {named}.", named)
            return Statement("margins", "ok", text)
        more = len(self.violations) - 1
        tail = message(" ({more} more)", more) if more else ""
        first = str(self.violations[0])
        return Statement("margins", "bad", capital(first) + tail + ".")

    def _coverage(self) -> Statement:
        low, high = self.coverage_min, self.coverage_max
        if low == 0:
            return Statement("coverage", "warning", message("Some cells are touched by no cycle."))
        alike = "once" if low == 1 else "twice" if low == 2 else message("{low} times", low)
        times = alike if low == high else message("{low} to {high} times", low, high)
        if not self.balanced:
            return Statement(
                "coverage",
                "warning",
                message("Each cell is touched {times} a pass, some more often by + than by −.", times),
            )
        return Statement(
            "coverage", "ok", message("Each cell is touched {times} a pass, equally often by + and −.", times)
        )

    def _interval(self) -> Statement:
        text = message(
            "A published count differs from the true one by at most {largest_change}", self.largest_change
        )
        if self.coverage_min != self.coverage_max:
            text += message(" (for some cells {coverage_min})", self.coverage_min * self.passes)
        return Statement("interval", "ok", text + ".")

    def _rank(self) -> Statement:
        if self.rank is None or self.dimension is None:
            return Statement("rank", "warning", message("The rank is too large to compute."))
        if self.violations:
            return Statement(
                "rank",
                "warning",
                message(
                    "What stays exact besides follows once every total is kept (rank {rank}).", self.rank
                ),
            )
        known = self.dimension - self.rank
        if known == 0:
            return Statement("rank", "ok", message("Nothing but totals stays exact."))
        which = message(", for example {named}", joined(self.named, "; ")) if self.named else ""
        return Statement(
            "rank",
            "warning",
            plural(
                known,
                "{known} more sum stays exact{which}.",
                "{known} more sums stay exact{which}.",
                known,
                which,
            ),
        )

    def _attack(self) -> Statement:
        worst = self.attacks[0]
        if worst.revealed == worst.others:
            text = message(
                "Who knows all of {variable} = {category} knows the whole table (in an unblocked run).",
                worst.variable,
                worst.category,
            )
            return Statement("attack", "warning", text)
        if worst.revealed == 0:
            return Statement("attack", "ok", message("Knowing one category tells of no other."))
        text = message(
            "Who knows all of {variable} = {category} knows {revealed} of {others} other cells (in an "
            "unblocked run).",
            worst.variable,
            worst.category,
            worst.revealed,
            worst.others,
        )
        return Statement("attack", "warning", text)

    def _outcomes(self) -> tuple[Statement, ...]:
        number = self.distinct_outcomes
        if number is None:
            return ()
        said = message("{number:,} distinct outcomes when nothing is blocked.", number)
        return (Statement("outcomes", "ok", said),)

    def _width(self) -> Statement:
        if self.exact:
            text = message("What a reader can believe is computed exactly (width {width}).", self.width)
            return Statement("width", "ok", text)
        width = message("over 40") if self.width is None else str(self.width)
        text = message(
            "Readers' chances come from drawn tables (width {width}), unless large counts cannot block.",
            width,
        )
        return Statement("width", "warning", text)

    def _blocked(self, share: float) -> Statement:
        verdict: Verdict = "ok" if share < 0.5 else "warning" if share < 0.9 else "bad"
        text = message("{share} of the cycles touch a zero here: some moves are left out.", percent(share))
        return Statement("blocked", verdict, text if share else message("No cycle is blocked here."))

    def _immovable(self, cells: Sequence[Index]) -> Statement:
        if not cells:
            return Statement("immovable", "ok", message("Every positive cell can move."))
        named = ", ".join(self.domain.cell_text(i) for i in cells[:3])
        tail = message(" and {cells:,} more", len(cells) - 3) if len(cells) > 3 else ""
        text = plural(
            len(cells),
            "{cells:,} positive cell cannot move: {named}{tail}",
            "{cells:,} positive cells cannot move: {named}{tail}",
            len(cells),
            named,
            tail,
        )
        if self.bridges:
            text += message("; {bridges} of them by no cycle whatever (bridges)", len(self.bridges))
        return Statement("immovable", "warning", text + ".")


def _attacks(algebra: CycleAlgebra) -> list[Attack]:
    domain = algebra.moves.domain
    out = []
    # All categories of a long variable would take too long for what they tell: take the first 50.
    for axis, variable in enumerate(domain.variables):
        for code, category in enumerate(variable.categories[:50]):
            known = np.zeros(domain.shape, dtype=np.bool_)
            np.moveaxis(known, axis, 0)[code] = True
            flat = known.reshape(-1)
            revealed = algebra.revealed_by(flat)
            out.append(Attack(variable.name, category, int((revealed & ~flat).sum()), int((~flat).sum())))
    return sorted(out, key=lambda a: -a.revealed / max(a.others, 1))


def public_support(
    moves: MoveSet, table: Table | None, zeros: Bools | None, progress: Progress = SILENT
) -> Bools | None:
    """Cells that are not public zeros, bool (cells,); ``None`` if there are no public zeros.

    Parameters
    ----------
    table
        Its kept margins show which cells are empty.
    zeros : bool (cells,)
        Further public zeros.
    """
    support = np.ones(moves.domain.size, dtype=np.bool_)
    if table is not None:
        kept = KeptMargins.of(moves.publication, table)
        if not kept.counts.all():
            support = expected_counts(kept, progress=progress) > 0
    if zeros is not None:
        support &= ~zeros
    return None if support.all() else support


def _named(algebra: CycleAlgebra) -> tuple[str, ...]:
    """The first few sums that stay exact unasked, in words."""
    if algebra.dimension is None or algebra.rank is None or algebra.rank >= algebra.dimension:
        return ()
    found = algebra.known_functionals() or []
    named = []
    for sum_of in found[:MOST_NAMED]:
        if len(sum_of) > LONGEST_NAMED:
            continue
        parts: list[str] = []
        for cell, times in sum_of.items():
            sign = ("" if not parts else "+ ") if times > 0 else "− "
            often = "" if abs(times) == 1 else f"{abs(times)} × "
            parts.append(f"{sign}{often}{algebra.moves.domain.cell_text(cell)}")
        named.append(" ".join(parts))
    return tuple(named)


def check_cycles(
    moves: MoveSet,
    *,
    table: Table | None = None,
    zeros: Bools | None = None,
    rule: str = "any_zero",
    passes: int = 1,
    progress: Progress = SILENT,
) -> CycleReport:
    """Examine a cycle set, and its effects on a table if one is given.

    Parameters
    ----------
    table
        Cells that its kept margins show to be empty are public zeros.
    zeros : bool (cells,)
        Further cells that are empty whatever is published.

    Raises
    ------
    InputError
        If the cycles are for a table of another shape.
    """
    if table is not None:
        moves = moves.on(table.domain)
    support = public_support(moves, table, zeros, progress)
    algebra = CycleAlgebra(moves, support)
    cost = elimination_cost(moves, passes, progress=progress)
    plus, minus = moves.touches
    touched = plus + minus
    if support is not None:
        touched = touched[support]
    report = CycleReport(
        domain=moves.domain,
        margins=moves.margins,
        cycles=len(moves),
        passes=passes,
        violations=tuple(moves.violations(most=MOST_VIOLATIONS)),
        coverage_min=int(touched.min()),
        coverage_max=int(touched.max()),
        balanced=bool((plus == minus).all()),
        rank=algebra.rank,
        dimension=algebra.dimension,
        support=moves.domain.size if support is None else int(support.sum()),
        named=_named(algebra),
        distinct_outcomes=algebra.distinct_outcomes(passes),
        width=None if cost is None else cost.width,
        exact=cost is not None and cost.affordable,
        attacks=tuple(_attacks(algebra)[:20]),
    )
    return report if table is None else _on_table(report, moves, table, rule)


def _on_table(report: CycleReport, moves: MoveSet, table: Table, rule: str) -> CycleReport:
    """The report with the effects of the cycles on a table."""
    flat = np.flatnonzero(reach.immovable_cells(moves, table, rule, passes=report.passes))
    cells = np.stack(np.unravel_index(flat, moves.domain.shape), axis=1)
    two_way = moves.domain.ndim == 2 and rule == "any_zero"
    return replace(
        report,
        blocked_share=float(reach.blocked_cycles(moves, table, rule).mean()),
        immovable=tuple(map(tuple, cells.tolist())),
        bridges=tuple(reach.bridges(table)) if two_way else None,
    )
