"""The needs of methods by name, each with the reason in words when a table does not meet it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tabprotect.engine.protection.problem import Problem
from tabprotect.languages.messages import message, plural


@dataclass(frozen=True)
class Need:
    """A requirement of a method on a problem.

    Attributes
    ----------
    sentence
        The need in a sentence, for a page.
    missing
        Says why a problem does not meet it and what to do, or ``""``.
    """

    sentence: str
    missing: Callable[[Problem], str]


def _record_keys(problem: Problem) -> str:
    if problem.record_keys is not None:
        return ""
    return message("the table has no record keys: tabulate it from microdata with record keys")


def _two_way(problem: Problem) -> str:
    n = problem.table.domain.ndim
    return (
        ""
        if n == 2
        else plural(n, "the table has {n} variable, not two", "the table has {n} variables, not two", n)
    )


def _two_variables(problem: Problem) -> str:
    return "" if problem.table.domain.ndim >= 2 else message("the table has one variable only")


NEEDS: Mapping[str, Need] = MappingProxyType(
    {
        "record_keys": Need(message("Record keys in the microdata"), _record_keys),
        "two_way": Need(message("A table of two variables"), _two_way),
        "two_variables": Need(message("At least two variables"), _two_variables),
    }
)
