"""The registered measures: every file in ``utility/`` and ``risk/``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from tabprotect.engine.assessment import risk, utility
from tabprotect.engine.assessment.measure import Measure
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.registry import Registry
from tabprotect.languages.messages import message


@cache
def measures() -> Registry[Measure]:
    """Every registered measure by name, utility before risk."""
    return Registry(
        (utility, risk),
        Measure,
        "measure",
        "measures",
        lambda measure: (measure.noun != "utility", measure.name),
    )


def named_measures(names: Sequence[str] | None) -> tuple[Measure, ...]:
    """The named measures in the order of the registry; all by default.

    Parameters
    ----------
    names
        Names of measures; ``risk`` and ``utility`` mean all of a kind.

    Raises
    ------
    ParameterError
        For an unknown name.
    """
    known = measures()
    if names is None:
        return tuple(known.values())
    wrong = [name for name in names if name not in known and name not in ("risk", "utility")]
    if wrong or not names:
        raise ParameterError(
            {
                "measures": message("unknown: {wrong}", ", ".join(wrong))
                if wrong
                else message("name at least one")
            },
            hint=message("there are risk, utility, {known}", ", ".join(known)),
        )
    return tuple(m for m in known.values() if m.name in names or m.noun in names)
