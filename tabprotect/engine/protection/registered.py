"""The registered methods: every file in ``methods/``."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal, overload

from tabprotect.engine.errors import InputError
from tabprotect.engine.options import Measure
from tabprotect.engine.protection import methods as package
from tabprotect.engine.registry import Registry
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.protection.method import MagnitudeMethod, Method
    from tabprotect.engine.release.likelihood import Likelihood
    from tabprotect.engine.release.release import Release


@overload
def methods(measure: Literal["counts"] = "counts") -> Registry[Method]: ...
@overload
def methods(measure: Literal["magnitudes"]) -> Registry[MagnitudeMethod]: ...
@overload
def methods(measure: Measure) -> Registry[Method] | Registry[MagnitudeMethod]: ...
def methods(measure: Measure = "counts") -> Registry[Method] | Registry[MagnitudeMethod]:
    """Every registered method for a measure by name, the usual one first."""
    return _registry(measure)


@cache
def _registry(measure: Measure) -> Registry[Any]:
    """The one registry of a measure, whether or not the measure was left to its default."""
    # Late: their names alone need none of what they protect with.
    from tabprotect.engine.protection.method import Method

    return Registry(
        package,
        Method,
        "method",
        order=lambda one: (one.place, one.name),
        where=lambda one: one.measure == measure,
    )


def judged_further(method: Method, cells: int) -> Method | None:
    """The first method to take a method's place that was judged whole by default in tables of so many cells."""
    others = (methods()[name] for name in method.instead)
    return next((one for one in others if (one.judged_up_to or 0) >= cells), None)


def likelihood_of(release: Release) -> Likelihood:
    """The likelihood of a release, by the method its mechanism names.

    A bundle may come from anywhere: every public parameter must be stated in full (a default that
    filled a gap would give a posterior of another mechanism), and is then checked as if a user had
    typed it. Only a parameter that is stated if it has a value may be left out. None may name a
    file.

    Raises
    ------
    InputError, ParameterError
        Naming the parameter.
    """
    from tabprotect.engine.protection.method import require_inline

    method, stated = methods()[release.mechanism.method], release.mechanism.parameters
    require_inline(method.parameters, stated)
    for parameter in method.parameters:
        if not parameter.public or (parameter.may_be_unstated and parameter.name not in stated):
            continue
        if parameter.name not in stated:
            raise InputError(
                message('the mechanism does not state "{name}"', parameter.name),
                hint=message("take the mechanism that came with the table"),
            )
        value = stated[parameter.name]
        # An optional number may be left out by stating null.
        if parameter.kind in ("real", "integer") and not (
            type(value) in (int, float) or (value is None and parameter.default is None)
        ):
            raise InputError(
                message('the mechanism\'s "{name}" must be a number, is {value}', parameter.name, repr(value))
            )
    likelihood = method.likelihood(release)
    mechanism = release.mechanism
    if mechanism.privacy is not None and mechanism.privacy != method.privacy(
        release.domain, mechanism.values
    ):
        raise InputError(message("the mechanism states a budget of privacy that it does not keep"))
    return likelihood
