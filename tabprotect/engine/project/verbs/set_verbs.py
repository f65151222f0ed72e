"""Publication sets: several tables of the same records, joined if no single file holds them all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.formats.agencies.frictionless import slug
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.project.command import Context, Declared
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.sources import Opened, open_table
from tabprotect.engine.project.verbs.table_verbs import new_document
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import MARGINS
from tabprotect.engine.tables.formula import names_in
from tabprotect.engine.tables.publication_set import PublicationSet
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

JOINED = message(
    "No file holds all variables: sums over variables of several files are one way among many in "
    "which the files go together, and are never published."
)


def _files(beside: object) -> list[str]:
    assert isinstance(beside, Mapping)
    return list(map(str, beside.values()))


def check_counts(project: Project) -> None:
    """Refuse a set of magnitudes.

    Raises
    ------
    ParameterError
    """
    if project.measure == "magnitudes":
        raise ParameterError(
            {"tables": message("totals and levels of a magnitude are cells of one table, judged together")},
            hint=message("protect it as one table; publish beside it how many contribute: --publish n"),
        )


def tables_said(project: Project) -> dict[str, str]:
    """The tables named by the formula of published sub-tables, each by its variables.

    Empty if it names only one, or combines them otherwise than by ``+``.
    """
    formula = str(project.parameters.get(MARGINS.name) or "")
    parts = [part.strip() for part in formula.split("+")]
    if len(parts) < 2 or not all(parts) or any(sign in formula for sign in "()^-/~"):
        return {}
    found: dict[str, str] = {}
    for number, part in enumerate(parts, 1):
        found[f"{number}-{slug('-'.join(names_in(part)))}"] = part
    return found


@Declared(
    message("join {file} with the tables beside it"),
    shell=lambda project, given: ["protect-set", str(given["source"]), *_files(given["beside"])],
    reads="source",
    reads_too="beside",
    opens=True,
    slow=True,
)
def join_tables(
    project: Project, context: Context, /, *, source: str, beside: Mapping[str, str], **reading: object
) -> Project:
    """Open several tables of the same records, none of them over all variables, as one table.

    Parameters
    ----------
    source
        The first file.
    beside
        The other files by name.
    **reading
        The options of :class:`~tabprotect.engine.formats.reading_options.Reading`, for all files.

    Raises
    ------
    InputError
        If they disagree on a common cell, or as opening raises.
    """
    opened = _opened(source, beside, reading, context)
    # Imports the solver: a program that joins nothing does not wait for it.
    from tabprotect.engine.bounds.joined import joined_table

    whole = joined_table({name: one.table for name, one in opened.items()}, context.progress)
    notes = (*(note for one in opened.values() for note in one.notes), JOINED)
    return replace(new_document(whole, source=source), notes=notes)


@Declared(
    message("put {file} and the tables beside it together by {by}"),
    shell=lambda project, given: [
        "protect-set",
        str(given["source"]),
        *_files(given["beside"]),
        "--by",
        str(given["by"]),
    ],
    reads="source",
    reads_too="beside",
    opens=True,
    slow=True,
)
def stack_tables(
    project: Project,
    context: Context,
    /,
    *,
    source: str,
    beside: Mapping[str, str],
    by: str,
    **reading: object,
) -> Project:
    """Open tables of parts of the same people, such as men and women, as one table with a variable more.

    Parameters
    ----------
    source
        The first file.
    beside
        The other files by name.
    by
        The name of the variable that tells the parts apart; its categories are the names of the files.
    **reading
        The options of :class:`~tabprotect.engine.formats.reading_options.Reading`, for all files.

    Raises
    ------
    InputError
        If they have not the same variables, or as opening raises.
    """
    from tabprotect.engine.bounds.joined import stacked_table

    opened = _opened(source, beside, reading, context)
    whole = stacked_table({name: one.table for name, one in opened.items()}, by)
    notes = tuple(note for one in opened.values() for note in one.notes)
    return replace(new_document(whole, source=source), notes=notes)


def _opened(
    source: str, beside: Mapping[str, str], reading: Mapping[str, object], context: Context
) -> dict[str, Opened]:
    """Several files, by the names of their tables."""
    named = {Path(source).stem: source, **beside}
    return {
        name: open_table(file, Reading.of(reading), progress=context.progress) for name, file in named.items()
    }


def check_within(tables: PublicationSet, files: Mapping[str, Table]) -> None:
    """Refuse tables of a set that are not inside any single file.

    Raises
    ------
    InputError
        Naming the first.
    """
    whole = tables.domain
    for name, publication in tables.tables.items():
        for margin in publication.margins:
            if not any(all(whole.tells(f.domain.names, n) for n in margin) for f in files.values()):
                raise InputError(
                    message("{name}: no file holds {margin}", name, " × ".join(margin)),
                    hint=message("a table of the set is over the variables of one file"),
                )


def check_publishes_margins(method: str) -> None:
    """Refuse a method that works on inner cells if the tables only share margins.

    Raises
    ------
    InputError
        Naming those that publish sub-tables.
    """
    able = [
        name for name, known in methods().items() if any(p.name == MARGINS.name for p in known.parameters)
    ]
    if method not in able:
        raise InputError(
            message("{method} works on the inner cells, and no file holds them all", method),
            hint=message("take one that publishes tables: {able}", ", ".join(able)),
        )
