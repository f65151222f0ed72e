"""A release rule decides if a query that may be released is released now. One file in ``rules/``.

The risk criterion decides first: a rule is only asked about queries that are proved safe.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from tabprotect.engine.parameters import Parameter, Values, resolve
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.keyed_answers import KeyedAnswers
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.registry import Documented

Decision = Literal["release", "refuse", "defer"]


@dataclass(frozen=True)
class Situation:
    """All that a rule may look at. Confidential.

    Attributes
    ----------
    query
        Proved safe to release, and not yet released.
    state
        The released set.
    demand
        How often each query has been asked for so far, this time included.
    answers
        What answers with noise, where the rule does so.
    out
        The queries that were answered with it.
    """

    query: Query
    state: ReleaseSet
    demand: Mapping[Query, int]
    answers: KeyedAnswers | None = None
    out: tuple[Query, ...] = ()


@dataclass(frozen=True)
class Ruling:
    """A rule's decision: ``reason`` may be shown to the user, ``detail`` is for the log."""

    decision: Decision
    reason: str
    detail: str = ""


class ReleaseRule(Documented, Encodable, ABC):
    """Base of all rules. The module's docstring is its help page."""

    name: ClassVar[str]
    label: ClassVar[str]
    parameters: ClassVar[tuple[Parameter[object], ...]] = ()
    simulatable: ClassVar[bool] = False
    """True if it decides from what is released alone; it is then asked without the criterion."""
    keyed: ClassVar[bool] = False
    """True if every answer has noise by cell keys, for which records with keys are served."""
    lists: ClassVar[bool] = False
    """True if it looks at what becomes impossible, which needs a query space that is listed."""
    json_keys = "name label help parameters"

    def resolve(self, given: Mapping[str, object]) -> Values:
        """Complete and check the rule's parameters.

        Raises
        ------
        ParameterError
            Names every wrong field.
        """
        return resolve(self.parameters, given)

    @abstractmethod
    def decide(self, situation: Situation, values: Values, progress: Progress = SILENT) -> Ruling:
        """Decide; the same situation and values always give the same ruling."""
