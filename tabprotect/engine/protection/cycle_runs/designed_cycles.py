"""The cycle set that parameters describe: the name of a template and its options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.cycles.constructions.triangular import TriangularSettings
from tabprotect.engine.cycles.designs import design, triangular
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.formats.structural_zeros import zeros_of
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.cycle_runs.cycle_parameters import (
    CAP,
    DESIGN_THETA,
    HEIGHT,
    LAMBDA,
    OF_DESIGNS,
    OF_TRIANGULAR,
    REPEATS,
    ZEROS,
)
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table
from tabprotect.languages.said import say

TRIANGULAR = "triangular"
"""The template designed for the kept margins of a table."""

STRIPS = "strips"


def _set(
    parameters: Iterable[Parameter[object]], values: Mapping[str, object]
) -> list[Parameter[object]]:
    return [one for one in parameters if values.get(one.name) not in (None, "")]


def without_designs(values: Mapping[str, object]) -> dict[str, object]:
    """The parameters without those of designs, for cycles given as a list."""
    names = {one.name for one in OF_DESIGNS}
    return {name: value for name, value in values.items() if name not in names}


def emptied_designs(values: Mapping[str, object]) -> dict[str, object]:
    """The parameters of designs, each reset to empty."""
    return {one.name: None for one in _set(OF_DESIGNS, values)}


def template_of(kind: str | None, values: Mapping[str, object]) -> str | None:
    """The name of the template: the one given, else the one whose parameters are given.

    Raises
    ------
    ParameterError
        When the parameters given belong to another template.
    """
    found = kind
    for template, parameters in ((TRIANGULAR, OF_TRIANGULAR), (STRIPS, (HEIGHT,))):
        said = _set(parameters, values)
        if not said:
            continue
        if found not in (None, template):
            wrong = {
                one.name: say(
                    "says nothing of {found}, only of {template}", repr(found), repr(template)
                )
                for one in said
            }
            raise ParameterError(wrong, hint=say("take it back, or take the other cycles"))
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
        raise ParameterError({ZEROS.name: say("{at} is said to be empty and is not", at)})


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
    parameters: dict[str, object] = {}
    for one in (HEIGHT, REPEATS):
        if said[one] is not None:
            parameters[one.name] = said[one]
    zeros = zeros_said(domain, values)
    if kind != "triangular" or kept is None:
        return design(domain, kind, parameters)
    default = TriangularSettings()
    cap, weight, theta = said[CAP], said[LAMBDA], said[DESIGN_THETA]
    settings = TriangularSettings(
        default.cap if cap is None else cap,
        default.weight if weight is None else weight,
        default.theta if theta is None else theta,
    )
    return triangular(kept, parameters, settings, zeros=zeros, progress=progress)
