"""Identifiers of SDMX messages: of agencies, data structures and variables."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Collection

from tabprotect.engine.formats.statuses import CONF_STATUS, OBS_STATUS
from tabprotect.engine.plain_values.metadata import METADATA
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message

VALUE = "OBS_VALUE"
AGENCY, VERSION = "TABPROTECT", "1.0"
TITLE, NOTE, UNIT, SOURCE, UPDATED = "TITLE", "COMMENT_DSET", "UNIT_MEASURE", "SOURCE", "LAST_UPDATE"
TEXTS = (TITLE, NOTE, UNIT, SOURCE, UPDATED, *map(str.upper, METADATA))
"""Attributes of a data set: what a text beside its numbers is about."""
MADE = "PREPARED"
"""When a message was prepared, where it states no other date."""

PREPARED = "2000-01-01T00:00:00"
"""The fixed time of preparation, which a message must state: the same table gives the same bytes."""


def structure_id(domain: Domain) -> str:
    """The identifier of a data structure: another one for other variables or categories."""
    said = [[v.name, *v.categories] for v in domain.variables]
    digest = hashlib.sha256(json.dumps(said, ensure_ascii=True).encode()).hexdigest()
    return f"TABLE_{digest[:8].upper()}"


def identified(domain: Domain, taken: Collection[str] = ()) -> tuple[Domain, list[str]]:
    """The domain with names that are SDMX identifiers, and notes that keep the names beside them."""
    found: dict[str, str] = {}
    for name in domain.names:
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        made = re.sub(r"[^A-Za-z0-9_-]+", "_", plain).strip("_") or "V"
        made = made if made[0].isalpha() else f"V{made}"
        known = {*taken, *found.values(), VALUE, CONF_STATUS, OBS_STATUS}
        number, one = 2, made
        while one in known:
            one, number = f"{made}_{number}", number + 1
        found[name] = name if name not in known and is_identifier(name) else one
    changed = {name: made for name, made in found.items() if name != made}
    variables = tuple(v.renamed(found[v.name]) for v in domain.variables)
    return Domain(variables) if changed else domain, [
        message("the variable {name} is called {made}: SDMX takes letters, digits, - and _", repr(name), made)
        for name, made in changed.items()
    ]


def is_identifier(name: str) -> bool:
    """True for ASCII letters, digits, - and _."""
    return name.isascii() and name.replace("_", "a").replace("-", "a").isalnum()
