"""A protection method: one file in ``methods/`` that declares everything about itself."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from tabprotect.engine.parameters import Parameter, resolve
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.problem import Preview, Problem, Protected
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import Likelihood
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain


class Method(ABC):
    """Base of all methods. The module's docstring is the method's help page."""

    name: ClassVar[str]
    label: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]]
    needs: ClassVar[tuple[str, ...]] = ()
    guarantees: ClassVar[Mapping[str, str]] = {}

    @property
    def help(self) -> str:
        """The help page (plain text)."""
        return (sys.modules[type(self).__module__].__doc__ or "").strip()

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> dict[str, object]:
        """Complete and check parameters for a table of this domain.

        Raises
        ------
        ParameterError, InputError
            With every wrong field.
        """
        return resolve(self.parameters, given)

    @abstractmethod
    def preview(
        self, problem: Problem, given: Mapping[str, object], progress: Progress = SILENT
    ) -> Preview:
        """What the method would do to this table, judged before any random number of the run."""

    @abstractmethod
    def protect(
        self,
        problem: Problem,
        given: Mapping[str, object],
        randomness: Randomness,
        *,
        accept_weak: bool = False,
        progress: Progress = SILENT,
    ) -> Protected:
        """Protect the table.

        Raises
        ------
        RefusedError
            When it would (almost) not protect and this was not accepted.
        """

    @abstractmethod
    def likelihood(self, release: Release) -> Likelihood:
        """What the release says, from its disclosed parameters alone."""

    def as_json(self) -> dict[str, object]:
        """The method for ``describe --json``."""
        return {
            "name": self.name,
            "label": self.label,
            "summary": self.help.splitlines()[0],
            "help": self.help,
            "parameters": [p.as_json() for p in self.parameters],
            "needs": list(self.needs),
            "guarantees": dict(self.guarantees),
        }
