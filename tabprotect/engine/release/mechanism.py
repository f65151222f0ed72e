"""The public mechanism: method, table shape and disclosed parameters, as ``mechanism.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from tabprotect.engine.cycles import cycle_files
from tabprotect.engine.cycles import stated_cycles as stated
from tabprotect.engine.errors import InputError
from tabprotect.engine.parameters import Values
from tabprotect.engine.release.stated_gate import STATED, Gate
from tabprotect.engine.tables import domain_json
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.languages.said import say

NAMED = frozenset({"method", "variables", "shape", "categories", *domain_json.STATED})
"""All that a mechanism states beside its parameters."""


@dataclass(frozen=True)
class Mechanism:
    """How a table was protected; everything of it is public.

    Attributes
    ----------
    method
        Registered name of the protection method.
    domain
        The table's variables.
    parameters
        The disclosed parameters; a cycle set is a ``MoveSet``, the rest plain values.
    gate
        The limits by which the release was judged; ``None`` if they are not stated.
    """

    method: str
    domain: Domain
    parameters: Mapping[str, object]
    gate: Gate | None = None

    @property
    def values(self) -> Values:
        """The parameters as their method declares them; unstated ones are left out."""
        return Values(self.parameters)

    def as_json(self, *, categories: bool = False) -> dict[str, object]:
        """One flat object: ``method``, ``variables``, ``shape``, then the parameters.

        The categories are added if no published table shows all of them.
        """
        out: dict[str, object] = {
            "method": self.method,
            "variables": list(self.domain.names),
            "shape": list(self.domain.shape),
        }
        if categories:
            out["categories"] = {v.name: list(v.categories) for v in self.domain.variables}
        out |= domain_json.as_json(self.domain)
        for name, value in self.parameters.items():
            if isinstance(value, MoveSet):
                out |= stated.state(value)
            else:
                out[name] = value
        if self.gate is not None:
            out |= self.gate.as_json()
        return out

    def to_text(self, *, categories: bool = False) -> str:
        """The text of ``mechanism.json``."""
        data = self.as_json(categories=categories)
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"

    @classmethod
    def from_json(cls, data: object, domain: Domain) -> Mechanism:
        """Read ``mechanism.json`` for a published table.

        The parameters are checked later, by the method that declares them.

        Raises
        ------
        InputError
            If anything is missing, misplaced, or for a table of another shape.
        """
        if not isinstance(data, Mapping):
            raise InputError(say("a mechanism is a JSON object"))
        method = data.get("method")
        if not isinstance(method, str):
            raise InputError(say('the mechanism names no "method"'))
        names = data.get("variables")
        if names is not None and list(domain.names) != names:
            raise InputError(
                say(
                    "the mechanism is for the variables {names}, the table has {names2}",
                    names,
                    list(domain.names),
                ),
                hint=say("the order matters; take the mechanism that came with the table"),
            )
        parameters: dict[str, object] = {k: v for k, v in data.items() if k not in NAMED | STATED}
        if "cycles" in data:
            moves = cycle_files.from_json(data, domain=domain)
            # The margins beside cycles are those that the cycles keep.
            parameters.pop("margins", None)
            parameters = {**parameters, "cycles": moves}
        return cls(method, domain, parameters, Gate.from_json(data))

    @staticmethod
    def stated_domain(data: object, published: Domain) -> Domain:
        """The variables of the original: as stated, or those of the published main table.

        Raises
        ------
        InputError
            If the stated ones do not make a table.
        """
        if not isinstance(data, Mapping):
            return published
        return domain_json.from_json(data, Mechanism._stated_categories(data, published))

    @staticmethod
    def _stated_categories(data: Mapping[str, object], published: Domain) -> Domain:
        if "categories" not in data:
            return published
        stated, names = data["categories"], data.get("variables")
        if not isinstance(stated, Mapping) or list(stated) != names:
            raise InputError(say('"categories" are not those of "variables"'))
        for name, categories in stated.items():
            if not isinstance(categories, list) or not all(isinstance(c, str) for c in categories):
                raise InputError(
                    say("the categories of {name} are not a list of texts", repr(name))
                )
        return Domain.of({str(name): list(found) for name, found in stated.items()})
