"""The common part of SDMX messages in any syntax: observations and their statuses."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tabprotect.engine.budgets import MOST_TEXT
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.agencies.sdmx_identifiers import (
    MADE,
    NOTE,
    PREPARED,
    SOURCE,
    TEXTS,
    TITLE,
    UNIT,
    UPDATED,
    VALUE,
    identified,
    is_identifier,
)
from tabprotect.engine.formats.agencies.sdmx_stated import StatedStructure, structure_of
from tabprotect.engine.formats.agencies.sdmx_structures import structure_beside
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.layouts.cell_list import CellList, check_categories
from tabprotect.engine.formats.layouts.observations import (
    Observations,
    refuse_names,
    refuse_texts,
    with_a_variable,
)
from tabprotect.engine.formats.layouts.stated_multipliers import (
    UNIT_MULT,
    multiplied,
    power_of,
    refuse_several,
    refuse_units,
    told,
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
from tabprotect.engine.plain_values.metadata import METADATA
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.cube import About, Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

TAKEN = frozenset({OBS_STATUS, CONF_STATUS, UNIT_MULT, MADE, NOTE, "NOTE", *TEXTS})
"""Attributes of which the table, its texts or its remarks tell."""

HINT = message("ask the service for the data again, or take them as SDMX-CSV")


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


def left_out(names: Iterable[str]) -> list[str]:
    """What is told of attributes that are left out."""
    found = [name for name in dict.fromkeys(names) if name and name not in TAKEN]
    return [message("attributes were left out: {behind}", ", ".join(found))] if found else []


def first_of(sets: int) -> list[str]:
    """What is told of several data sets, of which the first is read."""
    return [message("read from the first of {n:,} data sets", sets)] if sets > 1 else []


def deletions(line: int | None = None) -> InputError:
    """The refusal of a message that deletes observations: it is no table."""
    return InputError(
        message("the message deletes observations (its action is Delete)"),
        line=line,
        hint=message("ask the service for the data themselves"),
    )


def texts_beside(about: About) -> dict[str, str]:
    """The texts beside the numbers, by what each is about."""
    texts = {
        TITLE: about.title, NOTE: " ".join(about.sentences), UNIT: about.unit, SOURCE: about.source,
        UPDATED: about.date, **{name.upper(): text for name, text in about.metadata.items()},
    }  # fmt: skip
    return {kind: text for kind, text in texts.items() if text}


def about_of(said: Iterable[tuple[str, str]]) -> About:
    """What a message says of its table, from its texts; of several for one thing none is taken."""
    found: dict[str, list[str]] = {}
    for kind, text in dict.fromkeys(said):
        if text and (kind, text) != (MADE, PREPARED):
            found.setdefault(kind, []).append(text)
    alone = {kind: texts[0] for kind, texts in found.items() if len(texts) == 1}
    return About(
        alone.get(TITLE, ""),
        notes=(*found.get(NOTE, ()), *found.get("NOTE", ())),
        unit=alone.get(UNIT, ""),
        source=alone.get(SOURCE, ""),
        date=alone.get(UPDATED, alone.get(MADE, ""))[:10],
        metadata={name: alone[name.upper()] for name in METADATA if name.upper() in alone},
    )


def prepared(about: About) -> str:
    """When a message was prepared: the day that is given, or none that means anything."""
    return f"{about.date}T00:00:00" if about.date else PREPARED


class SdmxMessage(Format):
    """A format of whole messages, which are read at once, with their statuses."""

    options = frozenset({"count", "decimal", "labels", "marks"})
    labels_beside = True
    decimals = True
    limits = (
        message("Attributes and the definition of the structure are left out."),
        message("Names of variables are ASCII letters, digits, - and _; codes have no blanks at their ends."),
        message("A file has at most 512 MiB."),
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

    def structure(self, path: Path) -> StatedStructure:
        """What is stated of the codes and names of variables: by a structure message beside the data."""
        return structure_of(path)

    @abstractmethod
    def message(self, cube: Cube, status: str) -> bytes:
        """A table of at least one variable as a message; counts shown have a status."""

    def cells(self, path: Path, reading: Reading, progress: Progress = SILENT) -> tuple[CellList, list[str]]:
        if path.stat().st_size > MOST_TEXT:
            raise InputError(
                message("the message is too large to be held"), hint=message("take it as SDMX-CSV")
            )
        found, notes = self.observations(path, reading)
        cells, remarks = _cells(found, reading)
        cells = self.structure(path).of(cells)
        return cells.called(instead=reading.labels), [*remarks, *notes]

    def write(self, table: Table) -> bytes:
        return self._written(Cube(table), NOT_FOR_PUBLICATION)

    def publish(self, cube: Cube) -> bytes:
        table, hidden = with_a_variable(cube.table, cube.hidden, "TOTAL", "_T")
        return self._written(replace(cube, table=table, hidden=hidden), FREE)

    def beside(self, cube: Cube, path: Path, *, published: bool = False) -> dict[str, bytes]:
        return structure_beside(cube, path) if published else {}

    def _written(self, cube: Cube, status: str) -> bytes:
        _check_names(cube.table.domain)
        return self.message(cube, status)


def _cells(observations: Iterable[Observation], reading: Reading) -> tuple[CellList, list[str]]:
    """The observations as cells, with their statuses in the notes."""
    listed = list(observations)
    values, notes = _multiplied(listed, reading)
    if any(UNIT_MULT in one.statuses for one in listed):
        # Nothing is left to be said of the multiplier.
        reading = replace(reading, scale=reading.scale or 1)
    names = tuple(listed[0].key) if listed else ()
    if any(one.key.keys() != set(names) for one in listed):
        raise InputError(message("the observations are not all of the same dimensions"), hint=HINT)
    numbered = [LabelCodes() for _ in names]
    codes = tuple(
        of.of_texts([one.key[name] for one in listed]) for of, name in zip(numbered, names, strict=True)
    )
    categories = tuple(tuple(of.numbers) for of in numbered)
    cells, _ = Observations(
        names, categories, codes, values, lambda at, text: (text, withheld(listed[at].statuses))
    ).cells(reading)
    if not names or not len(cells.counts):
        raise InputError(message("the message holds no observations with a value"), hint=HINT)
    for name, of in zip(names, categories, strict=True):
        check_categories(name, len(of))
    for name in (CONF_STATUS, OBS_STATUS):
        statuses = [one.statuses[name] for one in listed if name in one.statuses]
        if set(statuses) - {FREE, NORMAL, NOT_FOR_PUBLICATION}:
            notes.append(statuses_told(name, statuses))
    return cells, notes


def _multiplied(listed: Sequence[Observation], reading: Reading) -> tuple[list[object], list[str]]:
    """The values with the multipliers that the message states, and what is told of them."""
    values: list[object] = [one.value for one in listed]
    units = dict.fromkeys(unit for one in listed if (unit := one.statuses.get(UNIT)))
    refuse_several(units)
    stated = any(UNIT_MULT in one.statuses for one in listed)
    refuse_units(units, reading, multiplied=stated)
    if not stated:
        return values, []
    powers = (
        [power_of(one.statuses.get(UNIT_MULT, UNKNOWN)) for one in listed] if reading.scale is None else []
    )
    return (multiplied(values, powers), [told(powers)]) if any(powers) else (values, [])


UNKNOWN = "?"
"""The multiplier of an observation of which a message does not tell which of several it has."""


def _check_names(domain: Domain) -> None:
    """Refuse variable names that are no SDMX identifiers, and codes that XML cannot hold."""
    if not domain.ndim:
        raise InputError(message("SDMX needs a variable"), hint=message("write CSV"))
    for name in domain.names:
        if not is_identifier(name):
            raise InputError(
                message("no variable can be named {name} in SDMX", repr(name[:40])),
                hint=message("rename it: letters, digits, - and _"),
            )
    refuse_names(domain, (VALUE, CONF_STATUS, OBS_STATUS))
    codes = (code for v in domain.variables for code in v.categories)
    refuse_texts(codes, lambda code: code and code.isprintable() and code == code.strip(), "SDMX")
