"""The levels of variables as JSON: how they travel with mechanisms and files."""

from __future__ import annotations

from collections.abc import Mapping

from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.domain import Domain, Level, Variable


def as_json(domain: Domain) -> dict[str, object]:
    """``{"region": {"finest": "nuts3", "coarser": {"nuts2": [a group for each category]}}}``.

    Variables without levels are left out.
    """
    return {
        v.name: {
            **({"finest": v.finest} if v.finest else {}),
            "coarser": {level.name: list(level.groups) for level in v.coarser},
        }
        for v in domain.variables
        if v.coarser or v.finest
    }


def from_json(data: object, domain: Domain) -> Domain:
    """The domain with the levels that :func:`as_json` wrote; ``None`` is none.

    Raises
    ------
    InputError
        For anything else, or levels of other categories.
    """
    if data is None:
        return domain
    if not isinstance(data, Mapping):
        raise InputError('"levels" must name variables')
    for name, stated in data.items():
        coarser = stated.get("coarser") if isinstance(stated, Mapping) else None
        if name not in domain.names or not isinstance(coarser, Mapping):
            raise InputError(f'"levels" of {str(name)[:60]!r} are none of a variable')
        found = []
        for level, groups in coarser.items():
            if not isinstance(groups, list) or not all(isinstance(g, str) for g in groups):
                raise InputError(f"the groups of {str(level)[:60]!r} are not a list of texts")
            found.append(Level(str(level), tuple(groups)))
        finest = stated.get("finest", "")
        if not isinstance(finest, str):
            raise InputError(f"the finest level of {name!r} has no name")
        domain = domain.with_variable(domain[name].grouped(*found, finest=finest))
    return domain


def adopted(domain: Domain, known: Domain) -> Domain:
    """A published domain with the levels that its variables have where they are known.

    A variable (or a level as a variable, ``region@nuts2``) takes them if its categories are the
    same; everything else stays as it is.
    """

    def found(variable: Variable) -> Variable:
        if variable.name not in known.known_names:
            return variable
        same = known[variable.name]
        return same if same.categories == variable.categories else variable

    return Domain(tuple(map(found, domain.variables)))
