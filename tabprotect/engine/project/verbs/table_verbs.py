"""Commands on the table: open it, edit counts and categories, place it, set the at-risk rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.magnitudes.files.sniffing import is_magnitudes
from tabprotect.engine.microdata.coding import AddedUp
from tabprotect.engine.plain_values.metadata import check_said
from tabprotect.engine.project.command import Arguments, Context, Declared, Order, cell
from tabprotect.engine.project.copy_as_command import SAVED
from tabprotect.engine.project.examples import PREFIX
from tabprotect.engine.project.options import MagnitudeTabulation, Tabulation
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.plans import ChosenMagnitudes
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.sources import codings_of, records_file
from tabprotect.engine.project.sources import open_table as open_source
from tabprotect.engine.protection.descriptions.run_summary import remarks_on_table
from tabprotect.engine.protection.people import People
from tabprotect.engine.randomness import KEY_MODULUS, Randomness
from tabprotect.engine.sensitivity.roles import Roles
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import INT64_MAX, Table
from tabprotect.languages.messages import joined, message

if TYPE_CHECKING:
    from tabprotect.engine.microdata.record_files import GivenRecords


def new_document(table: Table, *, source: str, title: str = "") -> Project:
    """A new document."""
    return Project(title=title, source=source, table=table)


def edited(project: Project, table: Table, magnitudes: ChosenMagnitudes | None = None) -> Project:
    """The project with a changed table; everything that depended on the old one is dropped.

    Parameters
    ----------
    magnitudes
        The magnitude table that goes with it.

    Raises
    ------
    InputError
        For other counts of the records of a magnitude table.
    """
    if project.magnitudes is not None and magnitudes is None:
        raise InputError(
            message("the counts of a magnitude table are those of its records"),
            hint=message("change the records, and tabulate them again"),
        )
    before, domain = project.original.domain, table.domain
    moves, placed = project.moves, set(domain.names) == set(before.names)
    if moves is not None and domain != before:
        moves = moves.on(domain) if domain.shape == before.shape else None
    return replace(
        project.without_result(),
        table=table,
        magnitudes=magnitudes,
        # Keys and weights belong to the counted records.
        record_keys=None,
        key_range=KEY_MODULUS,
        weights=None,
        kept_totals=(),
        edited=True,
        moves=moves,
        cycles_from=project.cycles_from if moves is not None else "",
        roles=project.roles.on(domain),
        placement=project.placement if placed else None,
        # Margins that were safe to release for the old counts need not be for the new ones.
        plan=replace(project.plan, margins=()),
    )


def _cell_label(project: Project, index: object) -> str:
    assert isinstance(index, Sequence)
    return project.original.domain.cell_text([int(i) for i in index])


def _block_label(project: Project, given: Arguments) -> str:
    counts = given["counts"]
    assert isinstance(counts, Sequence)
    return message(
        "paste {counts} x {counts2} counts at {project}",
        len(counts),
        len(counts[0]),
        _cell_label(project, given["at"]),
    )


def _place_label(project: Project, given: Arguments) -> str:
    parts = []
    for where in ("rows", "columns", "layers"):
        names = given.get(where)
        if names:
            assert isinstance(names, Sequence)
            parts.append(message("{names} in {where}", ", ".join(names), where))
    return message("place {parts}", joined(parts, "; "))


def _by_label(project: Project, given: Arguments) -> str:
    by = given["by"]
    assert isinstance(by, Sequence)
    names = [*by]
    for option in ("bands", "cuts", "code_lists", "levels"):
        coded = given.get(option) or {}
        assert isinstance(coded, Mapping)
        names += [name for name in coded if name not in names]
    return (
        message(
            "tabulate {name} by {names}, record keys drawn", Path(str(given["source"])).name, ", ".join(names)
        )
        if given.get("draw_keys")
        else message("tabulate {name} by {names}", Path(str(given["source"])).name, ", ".join(names))
    )


def _tabulate_words(project: Project, given: Arguments) -> list[str]:
    asked = MagnitudeTabulation(**given)  # type: ignore[arg-type]
    if asked.measure is not None:
        return ["tabulate", asked.source, *asked.words(), "--out", "table.parquet"]
    # Keys and design weights stay with the table only in a project.
    kept = asked.record_key or asked.draw_keys or asked.design_weight
    return ["tabulate", asked.source, *asked.words(), "--out", SAVED if kept else "table.csv"]


def opening(project: Project) -> list[str]:
    """Words: open the source of this project."""
    return ["open", project.source]


@Declared(
    message("open {file}"),
    shell=lambda project, given: ["open", str(given["source"])],
    reads="source",
    opens=True,
    slow=True,
)
def open_table(project: Project, context: Context, /, *, source: str, **reading: object) -> Project:
    """Open ``example:NAME`` or a table file; an example comes with its cycle set.

    ``reading`` are the options of :class:`~tabprotect.engine.formats.reading_options.Reading`.
    """
    if not source.startswith(PREFIX) and is_magnitudes(Path(source)):
        Reading.of(reading).check_given("magnitudes")
        from tabprotect.engine.project.verbs.magnitude_verbs import opened_magnitudes

        return opened_magnitudes(source)
    opened = open_source(source, Reading.of(reading), progress=context.progress)
    return replace(
        new_document(opened.table, source=source, title=opened.title),
        notes=(*opened.notes, *(r.message for r in remarks_on_table(opened.table))),
        kept_totals=opened.kept_totals,
        statuses=opened.statuses,
        moves=opened.moves,
        cycles_from=message("the example") if opened.moves is not None else "",
    )


@Declared(message("new table"), opens=True)
def new_table(project: Project, context: Context, *, variables: Mapping[str, Sequence[str]]) -> Project:
    """Make an empty table to type into: ``{"region": ["north", "south"], ...}``."""
    domain = Domain.of(dict(variables))
    empty = Table.dense(domain, np.zeros(domain.shape, dtype=np.int64))
    return new_document(empty, source="")


@Declared(
    _by_label,
    shell=_tabulate_words,
    reads="source",
    reads_too="code_lists",
    seed="key_seed",
    opens=True,
    slow=True,
).asking(MagnitudeTabulation)
def tabulate(project: Project, context: Context, asked: MagnitudeTabulation) -> Project:
    """Count the records of a microdata file by some variables; keys and weights come along.

    With a ``measure`` that is summed, and who contributes to each sum comes along.

    With ``draw_keys`` the records get keys for this table only: one uniform key for each cell that is
    not empty. It has the same law as the sum of its records' keys, because sums of uniform keys are
    uniform and cells share no record. Other tabulations of the same file will not agree. ``key_seed``
    replays the keys; without it they come from the operating system.

    Raises
    ------
    InputError
        When keys are both drawn and read, or combined with sums of weights, or as tabulating raises.
    ParameterError
        For a negative seed.
    """
    return counted(None, context, asked)


def counted(records: GivenRecords | None, context: Context, asked: MagnitudeTabulation) -> Project:
    """The document of records in memory, or of those in ``asked.source``: see :func:`tabulate`."""
    asked.check_given("counts" if asked.measure is None else "magnitudes")
    if asked.measure is not None:
        from tabprotect.engine.project.verbs.magnitude_verbs import tabulated_magnitudes

        return tabulated_magnitudes(records, asked, context.progress)
    _check_keys(asked)
    # Imported late: DuckDB takes a tenth of the program's start.
    from tabprotect.engine.bundle.published_records import published_records
    from tabprotect.engine.microdata.tabulate import tabulate_with_keys

    records = published_records(asked.source) if records is None else records
    found = tabulate_with_keys(
        records_file(asked.source) if records is None else records,
        tuple(asked.by),
        also=AddedUp(asked.weight, asked.record_key, asked.design_weight),
        codings=codings_of(asked),
        progress=context.progress,
    )
    fresh = new_document(found.table, source=asked.source)
    # The file holds records, not the table: a command line with this source would not open it.
    keys = _drawn_keys(found.table, asked, context) if asked.draw_keys else found.record_keys
    return replace(fresh, edited=True, record_keys=keys, key_range=found.key_range, weights=found.weights)


def _drawn_keys(table: Table, asked: Tabulation, context: Context) -> Table:
    from tabprotect.engine.project.releasing.coins import house_keys
    from tabprotect.engine.protection.cell_keys.cell_noise import drawn

    if asked.house_keys and asked.key_seed is None:
        return drawn(table, context.drawn(house_keys(table)).generator())
    return drawn(table, context.randomness(asked.key_seed).generator())


def _check_keys(asked: Tabulation) -> None:
    if asked.key_seed is not None:
        Randomness.seeded(asked.key_seed)
    if asked.draw_keys and asked.record_key is not None:
        said = message("drawn, or those of the column {record_key}, not both", repr(asked.record_key))
        raise ParameterError(
            {"draw_keys": said},
            hint=message("take the column where the records have their keys: all tables then agree"),
        )
    if asked.draw_keys and asked.weight is not None:
        raise ParameterError(
            {"draw_keys": message("goes with counts of records, not with sums of weights")},
            hint=message("tabulate without a weight"),
        )


@Declared(message("set the title to {title}"))
def set_title(project: Project, context: Context, *, title: str) -> Project:
    """Set the title that readers see. It is no part of the mechanism: a finished result takes it on."""
    return _taken_on(replace(project, title=title))


@Declared(message("said of the table: {said}"))
def set_metadata(project: Project, context: Context, *, said: Mapping[str, str]) -> Project:
    """Set what the table says of itself beside its numbers: all that it says, and nothing else.

    Parameters
    ----------
    said
        Texts by the names of ``TABLE_TEXTS``: licence, publisher, contact, unit, period, source, language,
        concept.

    Raises
    ------
    ParameterError
        For other names, and texts that say nothing.
    """
    if wrong := check_said(said):
        raise ParameterError({f"about.{name}": text for name, text in wrong.items()})
    return _taken_on(replace(project, metadata=dict(said)))


def _taken_on(project: Project) -> Project:
    """A finished result with what the project now says of its table beside the numbers."""
    protected, title, said = project.protected, project.title, project.said
    if protected is None or (protected.release.title, protected.release.metadata) == (title, said):
        return project
    problem = replace(protected.record.problem, title=title, metadata=said)
    record = replace(protected.record, problem=problem)
    release = replace(protected.release, title=title, metadata=said)
    return replace(project, protected=replace(protected, release=release, record=record), published=False)


@Declared(
    lambda project, given: message(
        "set {project} to {given}", _cell_label(project, given["index"]), given["count"]
    )
)
def set_count(project: Project, context: Context, *, index: Sequence[int], count: int) -> Project:
    """Set one cell."""
    table = project.original
    at = cell(index, table.domain)
    if count < 0:
        raise InputError(
            message("{count} is negative; a count is 0 or more", count), cell=table.domain.cell_text(at)
        )
    return edited(project, table.with_counts({at: count}))


@Declared(_block_label)
def paste_block(
    project: Project, context: Context, *, at: Sequence[int], counts: Sequence[Sequence[int]]
) -> Project:
    """Set a block of cells whose top left is ``at``, in the current placement and layer."""
    table = project.original
    return edited(project, table.with_counts(pasted(project, at=at, counts=counts)))


def pasted(
    project: Project, *, at: Sequence[int], counts: Sequence[Sequence[int]]
) -> dict[tuple[int, ...], int]:
    """The cells that a block would set, with their counts: the preview of :func:`paste_block`.

    Raises
    ------
    InputError
        When it extends beyond the table, or holds something that is no count.
    """
    domain = project.original.domain
    placement = project.shown_placement
    corner = cell(at, domain)
    top, left = placement.position(domain, corner)
    rows, columns = placement.size(domain)
    out: dict[tuple[int, ...], int] = {}
    for r, line in enumerate(counts):
        for c, count in enumerate(line):
            if top + r >= rows or left + c >= columns:
                raise InputError(
                    message(
                        "the block of {counts} x {len} does not fit: from "
                        "{corner} there are {rows} x {columns} cells",
                        len(counts),
                        max(map(len, counts)),
                        domain.cell_text(corner),
                        rows - top,
                        columns - left,
                    ),
                    hint=message("paste further up or to the left, or copy a smaller block"),
                )
            index = placement.cell(domain, top + r, left + c, like=corner)
            where = domain.cell_text(index)
            if not 0 <= count <= INT64_MAX:
                raise InputError(message("{count} is not a count of 0 to 9.2e18", count), cell=where)
            out[index] = count
    if not out:
        raise InputError(message("there is nothing to paste"), hint=message("copy a block of numbers first"))
    return out


@Declared(message("call counts {rule} small"))
def set_at_risk(project: Project, context: Context, *, rule: str) -> Project:
    """Set the small-count rule, such as ``1..2``."""
    return replace(project.without_result(), at_risk=SmallCount.parse(rule))


@Declared(message("say who is counted: {people}"))
def set_people(project: Project, context: Context, *, people: str) -> Project:
    """Say whether earlier releases count the same people, such as ``part:1``; empty: nothing is said."""
    answers, done = People.parse(people), project.protected
    if done is not None:
        # It is asked of a draw, and changes nothing of it.
        problem = replace(done.record.problem, people=answers)
        done = replace(done, record=replace(done.record, problem=problem))
    return replace(project, people=answers, protected=done)


@Declared(message("say which variables are sensitive"))
def set_roles(
    project: Project,
    context: Context,
    *,
    sensitive: str | Sequence[str] | None = None,
    key_variables: Sequence[str] | None = None,
) -> Project:
    """Say which variables are sensitive (``NAME`` or ``NAME=CATEGORY,...``), and by which people are known.

    What is not given stays as it is.
    """
    each = [sensitive] if isinstance(sensitive, str) else sensitive
    roles = Roles.parse(
        project.roles.words if each is None else each,
        project.roles.key_variables if key_variables is None else key_variables,
    )
    return replace(project.without_result(), roles=roles.checked(project.domain))


@Declared(_place_label)
def place(
    project: Project,
    context: Context,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    layers: Sequence[str] = (),
) -> Project:
    """Place variables in the rows, the columns and the layers."""
    chosen = Placement(tuple(rows), tuple(columns), tuple(layers))
    return replace(project, placement=chosen.check(project.domain))


def placed(placement: Placement) -> Order:
    """The order that sets a placement."""
    rows, columns, layers = map(list, (placement.rows, placement.columns, placement.layers))
    return place(rows=rows, columns=columns, layers=layers)
