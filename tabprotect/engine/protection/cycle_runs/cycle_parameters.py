"""The parameters of cyclic perturbation: the cycles, their designs, the coin, and the order of steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.cycles.constructions.triangular import TriangularSettings
from tabprotect.engine.cycles.designs import MOST_REPEATS, design, triangular
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.formats.structural_zeros import zeros_of
from tabprotect.engine.parameters import Parameter, Shares, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.cycle_runs.sequence import ORDERS, Order
from tabprotect.engine.release.likelihood import BLOCKING_RULES, BlockingRule
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

COIN = Shares((message("add"), message("subtract"), message("leave")), rest="gamma")

MOST_STEPS = 10_000_000

CYCLES: Parameter[MoveSet] = Parameter(
    "cycles",
    message("Cycle set"),
    message(
        "The cycles in the order they are applied: a file, or the name of a template. Without "
        "one the set follows from the kept sums alone. data: all swaps, of which each step "
        "takes one through positive cells."
    ),
    "cycles",
)

ALPHA: Parameter[float] = Parameter(
    "alpha",
    message("alpha"),
    message(
        "Chance that a cycle is added. Left open: 1/4, or more where too many draws would change "
        "nothing; the kept sums tell."
    ),
    "real",
    low=0.0,
    high=1.0,
    unit=message("probability"),
    shares=COIN,
)

BETA: Parameter[float] = Parameter(
    "beta",
    message("beta"),
    message("Chance that a cycle is subtracted. Equal to alpha keeps the table unbiased."),
    "real",
    low=0.0,
    high=1.0,
    unit=message("probability"),
    shares=COIN,
)

PASSES: Parameter[int] = Parameter(
    "passes",
    message("Passes"),
    message(
        "Rounds over the whole list of cycles. More passes protect more; what readers can work out "
        "may then be an estimate. Left open: 1 (2 where a small count could not move)."
    ),
    "integer",
    low=1,
    high=100,
    unit=message("passes"),
)

BLOCKING: Parameter[BlockingRule] = Parameter(
    "blocking",
    message("Blocking rule"),
    message(
        "Which moves are left out: those that touch a zero (zeros stay zeros), or those that would "
        "make a count negative (zeros may rise). Left open: the first; the second where the cycles "
        "are chosen for the kept sums too and small counts would else be stuck."
    ),
    "choice",
    choices=cast("Mapping[str, str]", BLOCKING_RULES),
)

ORDER: Parameter[Order] = Parameter(
    "order",
    message("Order of the cycles"),
    message("Which cycle comes at which step."),
    "choice",
    "listed",
    choices=cast("Mapping[str, str]", ORDERS),
)

N_COVER: Parameter[int] = Parameter(
    "n_cover",
    message("Number of steps"),
    message("How many moves to try in all. 0: once through the list for each pass."),
    "integer",
    0,
    low=0,
    high=MOST_STEPS,
    unit=message("steps"),
    in_place_of="passes",
)

THETA: Parameter[float | None] = Parameter(
    "theta",
    message("theta"),
    message(
        "Of the rule reversible: 0 weighs all tables alike, as negative does; 1 (if not "
        "given) weighs them as counts without association beyond the margins."
    ),
    "real",
    low=0.0,
    high=1.0,
    may_be_unstated=True,
)

HEIGHT: Parameter[int | None] = Parameter(
    "height",
    message("Height of strips"),
    message("Takes strips of swaps, within blocks of so many rows."),
    "integer",
    low=2,
    high=100,
    unit=message("rows"),
    may_be_unstated=True,
    of="cycles",
)

REPEATS: Parameter[int | None] = Parameter(
    "repeats",
    message("Repeats in place"),
    message(
        "Each cycle comes so many times, one time right after the other: more protection, and the "
        "posterior stays as narrow."
    ),
    "integer",
    low=1,
    high=MOST_REPEATS,
    unit=message("times"),
    may_be_unstated=True,
    of="cycles",
)

CAP: Parameter[int | None] = Parameter(
    "cap",
    message("Touches to stay below"),
    message("Takes the triangular design, which avoids cells that so many cycles touch (4 unless given)."),
    "integer",
    low=1,
    high=MOST_STEPS,
    unit=message("cycles"),
    may_be_unstated=True,
    of="cycles",
)

LAMBDA: Parameter[float | None] = Parameter(
    "lambda",
    message("lambda"),
    message(
        "Takes the triangular design; what a cell that may be zero costs against one that is "
        "touched often (4 unless given)."
    ),
    "real",
    low=0.0,
    high=1e6,
    may_be_unstated=True,
    of="cycles",
)

DESIGN_THETA: Parameter[float | None] = Parameter(
    "design_theta",
    message("Spread of counts"),
    message(
        "Takes the triangular design; shape of the negative binomial law by which it foresees zeros (1 "
        "unless given; the theta of cycles design)."
    ),
    "real",
    low=1e-6,
    high=1e6,
    may_be_unstated=True,
    of="cycles",
)

ZEROS: Parameter[str | None] = Parameter(
    "zeros",
    message("Structural zeros"),
    message(
        "Takes the triangular design, which touches no cell that is empty whatever the data are: a "
        "file of columns, a category of each variable, or * for all. Published."
    ),
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


EXCHANGE = "exchange"
"""The blocking rule that takes no cycles."""

TRIANGULAR = "triangular"
"""The template designed for the kept margins of a table."""

STRIPS = "strips"


def set_ones(
    parameters: Iterable[Parameter[object]], values: Mapping[str, object]
) -> list[Parameter[object]]:
    """Those that are given."""
    return [one for one in parameters if values.get(one.name) not in (None, "")]


def without_designs(values: Mapping[str, object]) -> dict[str, object]:
    """The parameters without those of designs, for cycles given as a list."""
    names = {one.name for one in OF_DESIGNS}
    return {name: value for name, value in values.items() if name not in names}


def emptied_designs(values: Mapping[str, object]) -> dict[str, object]:
    """The parameters of designs, each reset to empty."""
    return {one.name: None for one in set_ones(OF_DESIGNS, values)}


def template_of(kind: str | None, values: Mapping[str, object]) -> str | None:
    """The name of the template: the one given, else the one whose parameters are given.

    Raises
    ------
    ParameterError
        When the parameters given belong to another template.
    """
    found = kind
    for template, parameters in ((TRIANGULAR, OF_TRIANGULAR), (STRIPS, (HEIGHT,))):
        said = set_ones(parameters, values)
        if not said:
            continue
        if found not in (None, template):
            wrong = {
                one.name: message("says nothing of {found}, only of {template}", repr(found), repr(template))
                for one in said
            }
            raise ParameterError(wrong, hint=message("take it back, or take the other cycles"))
        found = template
    return found


def zeros_said(domain: Domain, values: Mapping[str, object]) -> Bools | None:
    """Cells declared to be empty whatever the data are, bool (cells,).

    These are the structural zeros of the table's domain and those that the parameter adds.

    Raises
    ------
    ParameterError
        When the text does not fit the table.
    """
    text = values.get(ZEROS.name)
    if not text:
        return domain.structural_cells() if domain.structural else None
    found = _zeros(str(text), domain)[1]
    return found | domain.structural_cells() if domain.structural else found


def zeros_text(domain: Domain, values: Mapping[str, object]) -> str | None:
    """The zeros of the parameter as text that names no file."""
    text = values.get(ZEROS.name)
    return _zeros(str(text), domain)[0] if text else None


def _zeros(text: str, domain: Domain) -> tuple[str, Bools]:
    try:
        return zeros_of(text, domain)
    except InputError as error:
        raise ParameterError({ZEROS.name: str(error)}, hint=error.hint) from None


def check_zeros(table: Table, values: Mapping[str, object]) -> None:
    """Refuse declared zeros where the table has counts.

    Raises
    ------
    ParameterError
        When the table has a count in a cell declared to be empty.
    """
    zeros = zeros_said(table.domain, values)
    if zeros is None:
        return
    filled = np.flatnonzero(zeros & (table.counts.reshape(-1) != 0))
    if len(filled):
        at = table.domain.cell_text(table.domain.unflat(int(filled[0])))
        raise ParameterError({ZEROS.name: message("{at} is said to be empty and is not", at)})


def designed(
    kind: str,
    domain: Domain,
    values: Mapping[str, object],
    *,
    kept: KeptMargins | None = None,
    progress: Progress = SILENT,
) -> MoveSet:
    """Build the cycles of a template with its parameters.

    Parameters
    ----------
    kept
        Margins with their counts, for the triangular design.

    Raises
    ------
    ParameterError
        When the template does not take a parameter, or does not fit the table.
    """
    kind = template_of(kind, values) or kind
    said = Values({one.name: values.get(one.name) for one in OF_DESIGNS})
    parameters: dict[str, object] = {
        one.name: said[one] for one in (HEIGHT, REPEATS) if said[one] is not None
    }
    if kind != "triangular" or kept is None:
        return design(domain, kind, parameters)
    default = TriangularSettings()
    cap, weight, theta = said[CAP], said[LAMBDA], said[DESIGN_THETA]
    settings = TriangularSettings(
        default.cap if cap is None else cap,
        default.weight if weight is None else weight,
        default.theta if theta is None else theta,
    )
    zeros = zeros_said(domain, values)
    return triangular(kept, parameters, settings, zeros=zeros, progress=progress)
