"""What is known of a table's variables beyond their categories, as JSON.

Levels and labels by variable, and structural zeros: how they travel with mechanisms and files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tabprotect.engine.errors import InputError
from tabprotect.engine.tables import structural
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.variable import Level, Variable
from tabprotect.languages.said import say

STATED = ("levels", "structural_zeros")
"""What :func:`as_json` writes, where there is any."""


def as_json(domain: Domain, *, labels: bool = True) -> dict[str, object]:
    """``{"levels": {"region": {"finest": "nuts3", "coarser": {"nuts2": [...]}, "labels": [...]}}}``.

    The groups of each level and the labels stand in the order of the categories; structural zeros
    stand beside them. What a table does not have is left out.

    Parameters
    ----------
    labels
        Whether labels are written; some formats have a place of their own for them.
    """
    levels = {
        v.name: {
            **({"finest": v.finest} if v.finest else {}),
            "coarser": {level.name: list(level.groups) for level in v.coarser},
            **({"labels": list(v.labels)} if v.labels and labels else {}),
        }
        for v in domain.variables
        if v.coarser or v.finest or (v.labels and labels)
    }
    out: dict[str, object] = {"levels": levels} if levels else {}
    if domain.structural:
        out["structural_zeros"] = structural.as_json(domain.structural)
    return out


def from_json(data: Mapping[str, object], domain: Domain) -> Domain:
    """The domain with what :func:`as_json` wrote; other keys are somebody else's.

    Raises
    ------
    InputError
        For anything else, or levels of other categories.
    """
    levels = data.get("levels")
    if levels is not None and not isinstance(levels, Mapping):
        raise InputError(say('"levels" must name variables'))
    for name, stated in (levels or {}).items():
        coarser = stated.get("coarser") if isinstance(stated, Mapping) else None
        if name not in domain.names or not isinstance(coarser, Mapping):
            raise InputError(say('"levels" of {name} are none of a variable', repr(str(name)[:60])))
        found = [
            Level(
                str(level),
                _texts(groups, say("the groups of {level}", repr(str(level)[:60]))),
            )
            for level, groups in coarser.items()
        ]
        finest = stated.get("finest", "")
        if not isinstance(finest, str):
            raise InputError(say("the finest level of {name} has no name", repr(name)))
        variable = domain[name].grouped(*found, finest=finest)
        if "labels" in stated:
            labels = _texts(stated["labels"], say("the labels of {name}", repr(name)))
            variable = replace(variable, labels=labels)
        domain = domain.with_variable(variable)
    zeros = structural.from_json(data.get("structural_zeros"), domain.categories)
    return replace(domain, structural=zeros) if zeros else domain


def _texts(found: object, what: str) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise InputError(say("{what} are not a list of texts", what))
    return tuple(found)


def adopted(domain: Domain, known: Domain) -> Domain:
    """A published domain with the levels and structural zeros that it has where they are known.

    A variable (or a level as a variable, ``region@nuts2``) takes them if its categories are the
    same; everything else stays as it is.
    """

    def found(variable: Variable) -> Variable:
        if variable.name not in known.known_names:
            return variable
        same = known[variable.name]
        return same if same.categories == variable.categories else variable

    return known.over(tuple(map(found, domain.variables)))
