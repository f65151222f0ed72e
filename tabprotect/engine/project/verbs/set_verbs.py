"""Several tables of the same records: joined where no file holds all, and named as one set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tabprotect.engine.bundle.data_package import slug
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.project.command import Context, Declared
from tabprotect.engine.project.opening.sources import open_table
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.table_verbs import new_document
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import MARGINS
from tabprotect.engine.tables.formula import names_in
from tabprotect.engine.tables.publication_set import PublicationSet
from tabprotect.engine.tables.table import Table
from tabprotect.languages.said import say

JOINED = say(
    "No file holds all variables: sums over variables of several files are one way among many in "
    "which the files go together, and are never published."
)


def _files(beside: object) -> list[str]:
    assert isinstance(beside, Mapping)
    return list(map(str, beside.values()))


def tables_said(project: Project) -> dict[str, str]:
    """The tables that the formula of published sub-tables names, by what stands in them.

    None where it names one, or puts them together in another way than by adding them.
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
    say("join {file} with the tables beside it"),
    shell=lambda project, given: ["protect-set", str(given["source"]), *_files(given["beside"])],
    reads="source",
    reads_too="beside",
    opens=True,
    slow=True,
)
def join_tables(
    project: Project,
    context: Context,
    /,
    *,
    source: str,
    beside: Mapping[str, str],
    **reading: object,
) -> Project:
    """Open tables of the same records, of which none is over all variables, as one.

    Parameters
    ----------
    source
        The first file.
    beside
        The other ones by name.
    **reading
        The options of :class:`~tabprotect.engine.formats.reading_options.Reading`, for all of them.

    Raises
    ------
    InputError
        Where they count a common cell otherwise, or as opening says.
    """
    files = {Path(source).stem: source, **beside}
    opened = {
        name: open_table(file, Reading.of(reading), progress=context.progress)
        for name, file in files.items()
    }
    # It brings in the solver: a program that joins nothing does not wait for it.
    from tabprotect.engine.bounds.joined import joined_table

    whole = joined_table({name: one.table for name, one in opened.items()}, context.progress)
    notes = (*(note for one in opened.values() for note in one.notes), JOINED)
    return replace(new_document(whole, source=source), notes=notes)


def check_within(tables: PublicationSet, files: Mapping[str, Table]) -> None:
    """Refuse tables of a set that no single file holds.

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
                    say("{name}: no file holds {margin}", name=name, margin=" × ".join(margin)),
                    hint=say("a table of the set is over the variables of one file"),
                )


def check_publishes_margins(method: str) -> None:
    """Refuse a method that works on inner cells, for tables that share margins only.

    Raises
    ------
    InputError
        Naming those that publish sub-tables.
    """
    able = [
        name
        for name, known in methods().items()
        if any(p.name == MARGINS.name for p in known.parameters)
    ]
    if method not in able:
        raise InputError(
            say("{method} works on the inner cells, and no file holds them all", method=method),
            hint=say("take one that publishes sub-tables: {able}", able=", ".join(able)),
        )
