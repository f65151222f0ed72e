"""The inference problem reduced to one number per signature group, and the coin of each step.

Cells that the same cycles touch with the same signs move alike, so they share the distribution
of their *change* (original - published). Blocking depends only on the smallest count of a group;
a prior that is a product over cells becomes one weight per group and change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints, SignedInts
from tabprotect.engine.cycles.graphs import repeated
from tabprotect.engine.cycles.signatures import Signatures, signatures
from tabprotect.engine.equal_rows import by_number
from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.posterior.prior import Factorial, Prior, Uniform
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.likelihood import BlockingRule, MoveSequence
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

MAX_SPAN = 10_000
"""Largest change; counts along a walk fit int16."""

MAX_TABLE = 2**27
"""Most entries (group, change) of a table of distributions: 1 GiB."""


@dataclass(frozen=True, eq=False)
class GroupModel:
    """A move sequence over signature groups.

    Attributes
    ----------
    moves
        The cycles over group numbers instead of cells.
    signatures
        The groups.
    lowest : int64 (groups,)
        Smallest published count of each group, cut off where it can no longer block.
    reach : int64 (groups,)
        Largest possible |original - published|: touches over all passes.
    span
        The largest reach.
    log_prior : float64 (groups, 2 span + 1) or None
        Log prior of the change ``column - span``, summed over the group's cells, up to a
        constant per group. ``None`` where the prior is uniform and the rule itself keeps
        originals from being negative.
    worth : float64 (groups, 2 span + 3) or None
        Log weight under the rule ``reversible`` of the change ``column - span - 1``, summed over
        the group's cells; far below ``IMPOSSIBLE`` where a count would be negative.
    own
        Whether the prior is the stationary law of that rule.
    repeats
        How often each cycle is run in place, one time right after the other; its coefficient is
        then the sum over these runs.
    """

    moves: MoveSet
    signatures: Signatures
    lowest: Ints
    reach: Ints
    span: int
    log_prior: Floats | None
    coin: Coin
    passes: int
    worth: Floats | None = None
    own: bool = False
    repeats: int = 1

    @property
    def levels(self) -> int:
        """Number of values of the coefficient of a cycle in one pass."""
        return 2 * self.repeats + 1

    def compact(self) -> GroupModel:
        """The same model with one coefficient for each cycle that is repeated in place."""
        each = repeated(self.moves) if self.repeats == 1 else 1
        if each == 1:
            return self
        sig = self.signatures
        once = Signatures(
            group_of_cell=sig.group_of_cell,
            first_cell=sig.first_cell,
            starts=sig.starts // each,
            cycles=sig.cycles[::each] // each,
            signs=sig.signs[::each],
        )
        moves = self.moves.take(np.arange(0, len(self.moves), each))
        return replace(self, moves=moves, signatures=once, repeats=each)

    @property
    def groups(self) -> int:
        """Number of signature groups."""
        return len(self.lowest)

    @cached_property
    def relevant(self) -> Bools:
        """Groups that can block a cycle or that the prior weighs; the others only move along."""
        if self.log_prior is not None or self.worth is not None:
            return np.ones(self.groups, dtype=np.bool_)
        margin = 0 if self.coin.rule == "any_zero" else -1
        return self.lowest <= self.reach + margin

    @property
    def symmetric(self) -> bool:
        """Return True if the posterior is the law of the reversed mechanism."""
        coin = self.coin
        if coin.alpha != coin.beta:
            return False
        return self.own or (coin.rule == "negative" and self.log_prior is None)


def group_model(likelihood: MoveSequence, prior: Prior, progress: Progress = SILENT) -> GroupModel:
    """Reduce a likelihood and a prior to signature groups. O(entries log entries).

    Raises
    ------
    InputError
        If the published table cannot come from the mechanism (a negative count).
    InfeasibleError
        If the prior excludes every original that some cell could have.
    """
    progress.report(message("grouping the cells"), 0.0)
    published = likelihood.published
    check_counts(likelihood)
    counts = published.counts.reshape(-1)
    sig = signatures(likelihood.moves)
    reach = np.diff(sig.starts) * likelihood.passes
    span = int(reach.max(initial=0))
    if span > MAX_SPAN or len(sig) * (2 * span + 1) > MAX_TABLE:
        raise InfeasibleError(
            message("the posterior of so many cells under so many overlapping cycles is too large"),
            hint=message("fewer passes, or cycles that overlap less"),
        )
    progress.report(message("grouping the cells"), 0.5)
    log_prior = worth = own = None
    if likelihood.rule == "reversible":
        own = Factorial(likelihood.theta)
        worth = _log_prior(own, counts, sig.members, reach + 1, span + 1, progress)
        worth = np.where(np.isfinite(worth), worth, 10 * IMPOSSIBLE)
    if likelihood.rule == "none" or not isinstance(prior, Uniform):
        log_prior = prior_logs(prior, published, sig, reach, progress)
    return GroupModel(
        moves=over_groups(likelihood.moves, sig),
        signatures=sig,
        lowest=np.minimum(sig.lowest(counts), reach + 2),
        reach=reach,
        span=span,
        log_prior=log_prior,
        coin=Coin(
            likelihood.alpha,
            likelihood.beta,
            # Rounding must not make it negative, as with 0.9 and 0.1.
            likelihood.gamma,
            likelihood.rule,
        ),
        passes=likelihood.passes,
        worth=worth,
        own=worth is not None and (prior == own or (likelihood.theta == 0 and isinstance(prior, Uniform))),
    )


def prior_logs(prior: Prior, published: Table, sig: Signatures, reach: Ints, progress: Progress) -> Floats:
    """Log prior of every change of the groups, (groups, 2 span + 1), up to a constant by group.

    Raises
    ------
    InfeasibleError
        If the prior excludes every original that some cell could have.
    """
    span = int(reach.max(initial=0))
    out = _log_prior(prior, published.counts.reshape(-1), sig.members, reach, span, progress)
    _check_prior(prior, out, sig, published)
    return out


def check_counts(likelihood: MoveSequence) -> None:
    """Raise if the mechanism never makes a published count."""
    published = likelihood.published
    if likelihood.rule == "none" or not published.has_negative:
        return
    keys, values = published.cells
    cell = published.domain.unflat(int(keys[values < 0][0]))
    raise InputError(
        message("a published count is negative, which the rule '{rule}' never makes", likelihood.rule),
        cell=published.domain.cell_text(cell),
        hint=message("the table and the mechanism do not belong together"),
    )


def _check_prior(prior: Prior, log_prior: Floats, sig: Signatures, published: Table) -> None:
    """Raise if a prior leaves some cell without a possible original."""
    domain = published.domain
    impossible = np.flatnonzero(~np.isfinite(log_prior).any(axis=1))
    if len(impossible):
        cell = domain.unflat(int(sig.first_cell[impossible[0]]))
        raise InfeasibleError(
            message(
                "the prior excludes every original that cell {cell} (or one that moves with it) could have",
                domain.cell_text(cell),
            ),
            hint=message("choose a prior that allows counts near the published one"),
        )
    require_possible(prior, published, np.flatnonzero(sig.group_of_cell < 0))


def require_possible(prior: Prior, published: Table, untouched: Ints) -> None:
    """Raise if a prior excludes the published count of a cell that no cycle touches.

    Raises
    ------
    InfeasibleError
    """
    domain, counts = published.domain, published.counts.reshape(-1)[untouched]
    excluded = ~np.isfinite(prior.log_weight(untouched, counts))
    if excluded.any():
        cell = domain.unflat(int(untouched[excluded][0]))
        raise InfeasibleError(
            message(
                "no cycle touches cell {cell}, so its published count is the true one; the prior excludes it",
                domain.cell_text(cell),
            ),
            hint=message("choose a prior that allows the published count there"),
        )


def _log_prior(
    prior: Prior, counts: Ints, groups: tuple[Ints, Ints], reach: Ints, span: int, progress: Progress
) -> Floats:
    """Log weight of each change within reach, (groups, 2 span + 1), up to a constant by group.

    Parameters
    ----------
    groups
        The touched cells, group after group, and where each group starts.
    """
    cells, starts = groups
    out = np.full((len(starts), 2 * span + 1), -np.inf)
    for change in range(-span, span + 1):
        progress.report(message("weighing the prior"), (change + span) / (2 * span + 1))
        weight = prior.log_weight(cells, counts[cells] + change)
        if len(starts):
            out[:, change + span] = np.add.reduceat(weight, starts)
    out[np.abs(np.arange(-span, span + 1)) > reach[:, None]] = -np.inf
    peak = out.max(axis=1, keepdims=True)
    peak[peak == -np.inf] = 0.0
    return np.asarray(out - peak, dtype=np.float64)


def over_groups(moves: MoveSet, sig: Signatures) -> MoveSet:
    """The cycles as lists of groups, with group numbers in place of cells."""
    # Groups ascend already.
    order, starts = by_number(sig.cycles, len(moves))
    return MoveSet(moves.domain, starts, sig.groups[order], sig.signs[order], ())


IMPOSSIBLE = -1e8
"""Log ratios below it mean impossible; infinities would give undefined differences."""

FAR = 2**14
"""Stands for the smallest count of an empty set of cells; fits int16."""


@dataclass(frozen=True)
class Coin:
    """The chances of adding, subtracting and leaving, and the rule that blocks a step."""

    alpha: float
    beta: float
    gamma: float
    rule: BlockingRule

    def masses(self, low_plus: SignedInts, low_minus: SignedInts) -> tuple[Floats, Floats, Floats]:
        """Backward masses of the coefficients -1, 0, +1: P(table after | table before).

        Parameters
        ----------
        low_plus, low_minus
            Smallest count *after* the step among the cells the move adds to and among those it
            subtracts from; they broadcast against each other.
        """
        shape = np.broadcast_shapes(low_plus.shape, low_minus.shape)
        if self.rule == "none":
            return (np.full(shape, self.beta), np.full(shape, self.gamma), np.full(shape, self.alpha))
        if self.rule == "any_zero":
            # Before the step no cell was zero, so a cell that it added to is at least 2 now.
            undo_plus = (low_plus >= 2) & (low_minus >= 0)
            undo_minus = (low_plus >= 0) & (low_minus >= 2)
            leave = np.where((low_plus <= 0) | (low_minus <= 0), 1.0, self.gamma)
        else:
            undo_plus = (low_plus >= 1) & (low_minus >= 0)
            undo_minus = (low_plus >= 0) & (low_minus >= 1)
            # A coin that would have made a cell negative was refused and left the table unchanged.
            leave = np.full(shape, self.gamma)
            leave += np.where(low_minus <= 0, self.alpha, 0.0)
            leave += np.where(low_plus <= 0, self.beta, 0.0)
        return np.where(undo_minus, self.beta, 0.0), leave, np.where(undo_plus, self.alpha, 0.0)

    def ratio_masses(
        self, plus: Floats, minus: Floats, *, drawn: bool = False
    ) -> tuple[Floats, Floats, Floats]:
        """:meth:`masses` for the rule ``reversible``, from the weights of the neighbouring tables.

        Parameters
        ----------
        plus, minus
            Log ratio of the weight of the table after the step with the move added once more (taken
            away) to its own; ``IMPOSSIBLE`` or less where a count would be negative.
        drawn
            Whether to return the chances of the mechanism run backwards: the posterior when the
            prior is the rule's own weight.
        """
        up, down = (np.where(d > IMPOSSIBLE, np.exp(np.minimum(d, 0.0)), 0.0) for d in (plus, minus))
        leave = self.gamma + self.alpha * (1.0 - up) + self.beta * (1.0 - down)
        if drawn:
            return self.beta * up, leave, self.alpha * down
        from_plus, from_minus = (
            np.where(d > IMPOSSIBLE, np.exp(np.minimum(-d, 0.0)), 0.0) for d in (minus, plus)
        )
        return self.beta * from_minus, leave, self.alpha * from_plus

    def log_masses(self, low_plus: SignedInts, low_minus: SignedInts) -> list[Floats]:
        """Logarithms of :meth:`masses`; -inf is impossible."""
        at = (np.clip(low_plus, -1, 2) + 1) * 4 + (np.clip(low_minus, -1, 2) + 1)
        return [log[at] for log in self.logs]

    @cached_property
    def by_lowest(self) -> Floats:
        """Masses of -1, 0, +1 by the two smallest counts: nothing differs outside -1..2."""
        low = np.arange(-1, 3)
        return np.stack(self.masses(np.repeat(low, 4), np.tile(low, 4)))

    @cached_property
    def logs(self) -> Floats:
        """Logarithms of :attr:`by_lowest`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.by_lowest), dtype=np.float64)
