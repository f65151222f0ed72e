"""The parameters of cyclic perturbation: the cycles, the coin, and how many steps in which order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from tabprotect.engine.cycles.designs import MOST_REPEATS
from tabprotect.engine.parameters import Parameter, Shares, Values
from tabprotect.engine.protection.cycle_runs.sequence import ORDERS, Order
from tabprotect.engine.release.likelihood import BLOCKING_RULES, BlockingRule
from tabprotect.engine.tables.moves import MoveSet

COIN = Shares(("add", "subtract", "leave"), rest="gamma")

MOST_STEPS = 10_000_000

CYCLES: Parameter[MoveSet] = Parameter(
    "cycles",
    "Cycle set",
    "The cycles in the order they are applied: a file, or the name of a template. "
    "Without one the set follows from the kept margins alone. data: all swaps, of which "
    "each step takes one through positive cells.",
    "cycles",
)

ALPHA: Parameter[float] = Parameter(
    "alpha",
    "alpha",
    "Chance that a cycle is added.",
    "real",
    0.25,
    low=0.0,
    high=1.0,
    unit="probability",
    shares=COIN,
)

BETA: Parameter[float] = Parameter(
    "beta",
    "beta",
    "Chance that a cycle is subtracted. Equal to alpha keeps the table unbiased.",
    "real",
    0.25,
    low=0.0,
    high=1.0,
    unit="probability",
    shares=COIN,
)

PASSES: Parameter[int] = Parameter(
    "passes",
    "Passes",
    "Rounds over the whole list of cycles. More passes protect more; the posterior "
    "becomes wider and may become Monte Carlo.",
    "integer",
    1,
    low=1,
    high=100,
    unit="passes",
)

BLOCKING: Parameter[BlockingRule] = Parameter(
    "blocking",
    "Blocking rule",
    "When a cycle is not applied. Left open: where it touches a zero. Where the cycles are chosen "
    "for the kept margins too, only where a count would become negative, if these margins tell that "
    "small counts would else be stuck.",
    "choice",
    choices=cast("Mapping[str, str]", BLOCKING_RULES),
)

ORDER: Parameter[Order] = Parameter(
    "order",
    "Order of the cycles",
    "Which cycle comes at which step.",
    "choice",
    "listed",
    choices=cast("Mapping[str, str]", ORDERS),
)

N_COVER: Parameter[int] = Parameter(
    "n_cover",
    "Number of steps",
    "Coins in all, in place of passes: the list is cut off or begun again; 0 takes the passes.",
    "integer",
    0,
    low=0,
    high=MOST_STEPS,
    unit="steps",
    in_place_of="passes",
)

THETA: Parameter[float | None] = Parameter(
    "theta",
    "theta",
    "Of the rule reversible: 0 weighs all tables alike, as negative does; 1 (if not "
    "given) weighs them as counts without association beyond the margins.",
    "real",
    low=0.0,
    high=1.0,
    may_be_unstated=True,
)

HEIGHT: Parameter[int | None] = Parameter(
    "height",
    "Height of strips",
    "Takes strips of swaps, within blocks of so many rows.",
    "integer",
    low=2,
    high=100,
    unit="rows",
    may_be_unstated=True,
    of="cycles",
)

REPEATS: Parameter[int | None] = Parameter(
    "repeats",
    "Repeats in place",
    "Each cycle comes so many times, one time right after the other: more protection, and the "
    "posterior stays as narrow.",
    "integer",
    low=1,
    high=MOST_REPEATS,
    unit="times",
    may_be_unstated=True,
    of="cycles",
)

CAP: Parameter[int | None] = Parameter(
    "cap",
    "Touches to stay below",
    "Takes the triangular design, which avoids cells that so many cycles touch (4 unless given).",
    "integer",
    low=1,
    high=MOST_STEPS,
    unit="cycles",
    may_be_unstated=True,
    of="cycles",
)

LAMBDA: Parameter[float | None] = Parameter(
    "lambda",
    "lambda",
    "Takes the triangular design; what a cell that may be zero costs against one that is "
    "touched often (4 unless given).",
    "real",
    low=0.0,
    high=1e6,
    may_be_unstated=True,
    of="cycles",
)

DESIGN_THETA: Parameter[float | None] = Parameter(
    "design_theta",
    "Spread of counts",
    "Takes the triangular design; shape of the negative binomial law by which it foresees zeros (1 "
    "unless given; the theta of cycles design).",
    "real",
    low=1e-6,
    high=1e6,
    may_be_unstated=True,
    of="cycles",
)

ZEROS: Parameter[str | None] = Parameter(
    "zeros",
    "Structural zeros",
    "Takes the triangular design, which touches no cell that is empty whatever the data are: a "
    "file of columns, a category of each variable, or * for all. Published.",
    "cells",
    may_be_unstated=True,
    of="cycles",
)

OF_DESIGNS = (HEIGHT, REPEATS, CAP, LAMBDA, DESIGN_THETA, ZEROS)
"""Parameters of designs, for cycles that are not given as a list."""

OF_TRIANGULAR = (CAP, LAMBDA, DESIGN_THETA, ZEROS)


def number_of_steps(values: Values, cycles: int) -> int:
    """The number of coins to flip: ``n_cover``, or whole passes over the list."""
    return values[N_COVER] or values[PASSES] * cycles
