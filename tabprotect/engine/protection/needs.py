"""The needs of methods by name, each with the reason in words when a table does not meet it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tabprotect.engine.protection.problem import Problem


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
    return "the table has no record keys: tabulate it from microdata with record keys"


def _two_way(problem: Problem) -> str:
    n = problem.table.domain.ndim
    return "" if n == 2 else f"the table has {n} variable{'s' if n != 1 else ''}, not two"


def _two_variables(problem: Problem) -> str:
    return "" if problem.table.domain.ndim >= 2 else "the table has one variable only"


NEEDS: Mapping[str, Need] = MappingProxyType(
    {
        "record_keys": Need("Record keys in the microdata", _record_keys),
        "two_way": Need("A table of two variables", _two_way),
        "two_variables": Need("At least two variables", _two_variables),
    }
)
