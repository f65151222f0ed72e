"""Designs to choose from, with their risk and change on synthetic tables.

The candidates are designs times rules times coins. They are run on synthetic tables with the kept
margins, so that choosing by those figures discloses nothing. Those worse than another one in both
risk and change are left out, and about eight of the others are kept, from useful to protected.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.budgets import MAX_CYCLE_CELLS
from tabprotect.engine.cycles.algebra import CycleAlgebra
from tabprotect.engine.cycles.constructions.for_margins import design_for_margins, dimension
from tabprotect.engine.cycles.constructions.swaps import highest
from tabprotect.engine.cycles.designs import design, in_place
from tabprotect.engine.cycles.graphs import elimination_cost
from tabprotect.engine.errors import InfeasibleError, ParameterError
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.cycle_runs.choosing_cycles import MEDIUM
from tabprotect.engine.protection.cycle_runs.cycle_parameters import OF_DESIGNS, REPEATS, TRIANGULAR
from tabprotect.engine.protection.cycle_runs.trial_runs import TrialTables, Tried, tried_cycles
from tabprotect.engine.protection.simulate import trial_coins
from tabprotect.engine.release.likelihood import BlockingRule
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

OFFERS_RANKED = 5_000
"""Most cells for which the rank of a design is computed where the design does not prove it."""


MOST_OFFERED = 8

COINS = ((0.25, 1), (0.1, 1), (0.4, 1), (0.25, 2), (0.4, 2), (0.4, 4))
"""Pairs of alpha (= beta) and how often each cycle comes, in passes or in place."""

OFFERED_CELLS = 100_000
"""Most cells for which offers are made: each of them is tried many times."""

WIDTH_LIMIT = 13

Posterior = Literal["formula", "draws", "any"]


@dataclass(frozen=True)
class OfferWishes:
    """Requirements on a design, beside the margins that it keeps.

    Attributes
    ----------
    zeros_may_rise
        Whether the rule may be one that raises zeros.
    most_change
        The largest change of a count; 0 for no limit.
    posterior
        How readers must be able to compute what they believe: exactly by formula, exactly by
        formula or by exact draws, or in any way.
    """

    zeros_may_rise: bool = True
    most_change: int = 0
    posterior: Posterior = "any"


@dataclass(frozen=True, eq=False)
class Offer:
    """One candidate.

    Attributes
    ----------
    kind
        The name of the template.
    rule, alpha, passes, repeats
        Parameters that go with it; beta is alpha.
    moves
        The cycles, each ``repeats`` times.
    figures
        Figures on synthetic tables.
    largest_change
        The largest change that a count can have.
    posterior
        ``formula``, ``draws`` (exact ones), or ``any``: estimated, with its error.
    unwanted
        Sums beyond the kept margins that stay exact; ``None`` where that was not worked out.
    """

    kind: str
    moves: MoveSet
    rule: BlockingRule
    alpha: float
    passes: int
    repeats: int
    figures: Tried
    largest_change: int
    posterior: Posterior
    unwanted: int | None

    @property
    def parameters(self) -> Mapping[str, object]:
        """Parameters of the mechanism, without the cycles."""
        return {
            "alpha": self.alpha,
            "beta": self.alpha,
            "passes": self.passes,
            "blocking": self.rule,
            "order": "listed",
            "n_cover": 0,
            "theta": None,
            **dict.fromkeys((one.name for one in OF_DESIGNS), None),
            REPEATS.name: None if self.repeats == 1 else self.repeats,
        }

    @property
    def words(self) -> str:
        """The offer in a few words."""
        passes = "" if self.passes == 1 else message(", {passes} passes", self.passes)
        if self.repeats > 1:
            passes = message(", each cycle {repeats} times in place", self.repeats)
        return (
            message("{kind}, alpha = beta = {alpha:g}{passes}, zeros stay", self.kind, self.alpha, passes)
            if self.rule == "any_zero"
            else message(
                "{kind}, alpha = beta = {alpha:g}{passes}, zeros may rise", self.kind, self.alpha, passes
            )
        )


def offers(
    kept: KeptMargins, wishes: OfferWishes, zeros: Bools | None = None, progress: Progress = SILENT
) -> tuple[Offer, ...]:
    """The candidates on the risk-utility curve, the most useful one first.

    Progress reports those found so far. More protection comes from further passes, or from cycles
    repeated in place where only that leaves the posterior exact by formula.

    Parameters
    ----------
    zeros : bool (cells,)
        Cells that are empty whatever the data are: then the triangular design alone is offered,
        which touches none of them.

    Raises
    ------
    InfeasibleError
        When no candidate meets the requirements.
    ParameterError
        When no count can change with these margins kept, or the table is too large.
    """
    if kept.domain.size > OFFERED_CELLS:
        raise ParameterError(
            {"keep": message("{size:,} cells are too many to try designs on", kept.domain.size)},
            hint=message("take a template"),
        )
    progress.report(message("designing cycles"), 0.0)
    tables = TrialTables.of(kept, zeros, progress)
    designs = _designs(kept, zeros, progress)
    rules: tuple[BlockingRule, ...] = ("negative", "any_zero")
    if not wishes.zeros_may_rise:
        rules = ("any_zero",)
    tasks = [(*one, rule, coin) for coin, rule, one in itertools.product(COINS, rules, designs)]
    found: list[Offer] = []
    still = False
    for number, (kind, once, unwanted, rule, (alpha, times)) in enumerate(tasks):
        progress.report(message("trying designs"), number / len(tasks), _best(found))
        plus, minus = once.touches
        most = int((plus + minus).max()) * times
        if wishes.most_change and most > wishes.most_change:
            continue
        moves, passes, how = _often(once, rule, times, progress)
        if wishes.posterior != "any" and how not in ("formula", wishes.posterior):
            continue
        offer = Offer(
            *(kind, moves, rule, alpha, passes, times // passes),
            *(Tried(0.0, 1.0, 1.0, 0.0), most, how, unwanted),
        )
        figures = tables.tried(moves, Values(offer.parameters), progress)
        still |= not figures.change
        if figures.change:
            found.append(replace(offer, figures=figures))
    if not found:
        raise _none_does(still)
    return _best(found)


def _none_does(still: bool) -> InfeasibleError:
    """The error that says why nothing is offered; ``still`` where no design changed anything."""
    if still:
        return InfeasibleError(
            message("with these margins kept hardly any table can change"),
            hint=message("keep fewer margins, or groups of categories"),
        )
    return InfeasibleError(
        message("no design does all of this"),
        hint=message("allow larger changes, or another kind of posterior"),
    )


def on_table(offer: Offer, table: Table, small: SmallCount, progress: Progress = SILENT) -> Tried:
    """The same figures on a real table. Confidential: a choice by them discloses a little of it."""
    generator = trial_coins(table.domain)
    counts = table.counts.reshape(-1, 1)
    return tried_cycles(offer.moves, Values(offer.parameters), counts, generator, progress, small)


def _designs(
    kept: KeptMargins, zeros: Bools | None, progress: Progress
) -> list[tuple[str, MoveSet, int | None]]:
    """Names, cycles, and the number of sums beyond the kept margins that stay exact."""
    domain, publication = kept.domain, kept.publication
    found: list[tuple[str, MoveSet, int | None]] = []
    alone = zeros is not None or not kept.follow_from_shape
    try:
        made = design_for_margins(kept, zeros=zeros, progress=progress)
        found.append((TRIANGULAR, made.moves, made.deficit))
    except ParameterError:
        # Empty rows and columns leave nothing to move: other designs fare no better.
        if alone:
            raise
    if alone:
        return found
    names = ["strips-2"]
    if domain.size <= MEDIUM:
        names += ["elementary"] + [f"strips-{highest(domain)}"] * (highest(domain) > 2)
    every = dimension(publication)
    for name in names:
        moves = design(domain, name)
        ranked = every is not None and domain.size <= OFFERS_RANKED
        found.append((name, moves, every - CycleAlgebra(moves).rank if ranked else None))  # type: ignore[operator]
    return found


def _often(
    moves: MoveSet, rule: BlockingRule, times: int, progress: Progress
) -> tuple[MoveSet, int, Posterior]:
    """Cycles repeated so often, the number of passes, and how their posterior is found."""
    how = _posterior(moves, rule, times, progress)
    if times > 1 and how != "formula" and len(moves.cells) * times <= MAX_CYCLE_CELLS:
        repeated = in_place(moves, times)
        if _posterior(repeated, rule, 1, progress) == "formula":
            return repeated, 1, "formula"
    return moves, times, how


def _posterior(moves: MoveSet, rule: BlockingRule, passes: int, progress: Progress) -> Posterior:
    cost = elimination_cost(moves, passes, limit=WIDTH_LIMIT, progress=progress)
    if cost is not None and cost.affordable:
        return "formula"
    return "draws" if rule == "negative" else "any"


def _best(found: list[Offer]) -> tuple[Offer, ...]:
    """The offers that no other beats in both risk and change; about eight, evenly over the risk."""
    chosen = sorted(_unbeaten(found), key=lambda offer: offer.figures.change)
    if len(chosen) <= MOST_OFFERED:
        return tuple(chosen)
    risk = np.array([offer.figures.unchanged for offer in chosen])
    goals = np.linspace(risk[0], risk[-1], MOST_OFFERED)
    nearest = {int(np.abs(risk - goal).argmin()) for goal in goals}
    return tuple(chosen[k] for k in sorted(nearest | {0, len(chosen) - 1}))


def _unbeaten(found: list[Offer]) -> Iterator[Offer]:
    least = np.inf
    for offer in sorted(found, key=lambda o: (o.figures.change, o.figures.unchanged)):
        if offer.figures.unchanged < least:
            least = offer.figures.unchanged
            yield offer
