"""The common part of SDMX messages in any syntax: observations and their statuses."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tabprotect.engine.arrays import Bools
from tabprotect.engine.budgets import MOST_TEXT
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.layouts.cell_list import CellList, check_categories
from tabprotect.engine.formats.layouts.observations import (
    Observations,
    refuse_names,
    refuse_texts,
    with_a_variable,
)
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.statuses import (
    CONF_STATUS,
    FREE,
    NORMAL,
    NOT_FOR_PUBLICATION,
    OBS_STATUS,
    statuses_told,
    withheld,
)
from tabprotect.engine.formats.text.fields import LabelCodes
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.said import say

VALUE = "OBS_VALUE"
AGENCY, VERSION = "TABPROTECT", "1.0"
PREPARED = "2000-01-01T00:00:00"
"""The fixed time of preparation, which a message must state: the same table gives the same bytes."""

HINT = say("ask the service for the data again, or take them as SDMX-CSV")


@dataclass(frozen=True)
class Observation:
    """One observation.

    Attributes
    ----------
    key
        Dimension -> code.
    value
        The value as text; empty if there is none.
    statuses
        Attribute -> code.
    """

    key: Mapping[str, str]
    value: str
    statuses: Mapping[str, str]


class SdmxMessage(Format):
    """A format of whole messages, which are read at once, with their statuses."""

    options = frozenset({"count", "decimal", "marks"})
    limits = (
        say("Attributes, names of codes and the definition of the structure are left out."),
        say(
            "Names of variables are ASCII letters, digits, - and _; codes have no blanks at their ends."
        ),
        say("A file has at most 512 MiB."),
    )

    def held(self, domain: Domain, *, strict: bool) -> tuple[Domain, list[str]]:
        return (domain, []) if strict else identified(domain)

    @abstractmethod
    def observations(self, path: Path, reading: Reading) -> tuple[list[Observation], list[str]]:
        """The observations of the first data set, and notes for people.

        Raises
        ------
        InputError
            If it is no such message.
        """

    @abstractmethod
    def message(self, table: Table, hidden: Bools | None, status: str, title: str) -> bytes:
        """A table of at least one variable as a message; counts shown have a status."""

    def cells(
        self, path: Path, reading: Reading, progress: Progress = SILENT
    ) -> tuple[CellList, list[str]]:
        if path.stat().st_size > MOST_TEXT:
            raise InputError(
                say("the message is too large to be held"), hint=say("take it as SDMX-CSV")
            )
        found, notes = self.observations(path, reading)
        cells, told = _cells(found, reading)
        return cells, [*told, *notes]

    def write(self, table: Table) -> bytes:
        return self._written(table, None, NOT_FOR_PUBLICATION, "")

    def publish(self, table: Table, hidden: Bools | None, title: str) -> bytes:
        table, hidden = with_a_variable(table, hidden, "TOTAL", "_T")
        return self._written(table, hidden, FREE, title)

    def _written(self, table: Table, hidden: Bools | None, status: str, title: str) -> bytes:
        _check_names(table.domain)
        return self.message(table, hidden, status, title)


def _cells(observations: Iterable[Observation], reading: Reading) -> tuple[CellList, list[str]]:
    """The observations as cells, with their statuses in the notes."""
    listed = list(observations)
    names = tuple(listed[0].key) if listed else ()
    if any(one.key.keys() != set(names) for one in listed):
        raise InputError(say("the observations are not all of the same dimensions"), hint=HINT)
    numbered = [LabelCodes() for _ in names]
    codes = tuple(
        of.of_texts([one.key[name] for one in listed])
        for of, name in zip(numbered, names, strict=True)
    )
    categories = tuple(tuple(of.numbers) for of in numbered)
    cells, _ = Observations(
        names,
        categories,
        codes,
        [one.value for one in listed],
        lambda at, text: (text, withheld(listed[at].statuses)),
    ).cells(reading)
    if not names or not len(cells.counts):
        raise InputError(say("the message holds no observations with a value"), hint=HINT)
    for name, of in zip(names, categories, strict=True):
        check_categories(name, len(of))
    notes = []
    for name in (CONF_STATUS, OBS_STATUS):
        statuses = [one.statuses[name] for one in listed if name in one.statuses]
        if set(statuses) - {FREE, NORMAL, NOT_FOR_PUBLICATION}:
            notes.append(statuses_told(name, statuses))
    return cells, notes


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
        found[name] = name if name not in known and _is_id(name) else one
    changed = {name: made for name, made in found.items() if name != made}
    variables = tuple(v.renamed(found[v.name]) for v in domain.variables)
    return Domain(variables) if changed else domain, [
        say(
            "the variable {name} is called {made}: SDMX takes letters, digits, - and _",
            repr(name),
            made,
        )
        for name, made in changed.items()
    ]


def _is_id(name: str) -> bool:
    return name.isascii() and name.replace("_", "a").replace("-", "a").isalnum()


def _check_names(domain: Domain) -> None:
    """Refuse variable names that are no SDMX identifiers, and codes that XML cannot hold."""
    if not domain.ndim:
        raise InputError(say("SDMX needs a variable"), hint=say("write CSV"))
    for name in domain.names:
        if not _is_id(name):
            raise InputError(
                say("no variable can be named {name} in SDMX", repr(name[:40])),
                hint=say("rename it: letters, digits, - and _"),
            )
    refuse_names(domain, (VALUE, CONF_STATUS, OBS_STATUS))
    codes = (code for v in domain.variables for code in v.categories)
    refuse_texts(codes, lambda code: code and code.isprintable() and code == code.strip(), "SDMX")
