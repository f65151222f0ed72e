"""A table of counts written into a database, a row for each cell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.layouts.observations import refuse_names
from tabprotect.engine.formats.statuses import COUNT
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

ROWS = 10_000
"""The rows that are written at a time."""


def write_to_database(table: Table, url: str) -> str:
    """Write a table as a new one of a database, in one transaction; return its name.

    Parameters
    ----------
    url
        As SQLAlchemy writes it, with the table's name behind: ``postgresql://host/base/table``, or
        ``sqlite:///file.db#table``.

    Raises
    ------
    InputError
        For an address without a table, a database that cannot be reached, or a table that is there.
    """
    # Late: few write to databases.
    import sqlalchemy as sa

    base, sign, name = url.rpartition("#" if "#" in url else "/")
    if not sign or not name or not base or base.endswith(("/", ":")):
        raise InputError(
            message("the address names no table"), hint=message("for example postgresql://host/base/table")
        )
    refuse_names(table.domain, (COUNT,))
    columns = [sa.Column(v.name, sa.Text, nullable=False) for v in table.domain.variables]
    made = sa.Table(name, sa.MetaData(), *columns, sa.Column(COUNT, sa.BigInteger, nullable=False))
    try:
        engine = sa.create_engine(base)
        with ExitStack() as left:
            left.callback(engine.dispose)
            connection = left.enter_context(engine.begin())
            if sa.inspect(connection).has_table(name):
                raise InputError(
                    message("the database has a table {name}", repr(name)),
                    hint=message("choose another name, or remove it there"),
                )
            made.create(connection)
            for rows in _rows(table):
                connection.execute(sa.insert(made), rows)
    except (sa.exc.SQLAlchemyError, ImportError) as error:
        # Its text may hold the address, and that a password.
        raise InputError(
            message("the database did not take the table ({name})", type(error).__name__),
            hint=message("check the address, the rights there, and that its driver is installed"),
        ) from None
    return name


def _rows(table: Table) -> Iterator[list[dict[str, object]]]:
    domain, counts = table.domain, table.counts.reshape(-1)
    for start in range(0, domain.size, ROWS):
        yield [
            {**dict(zip(domain.names, domain.labels(domain.unflat(cell)), strict=True)),
             COUNT: int(counts[cell])}
            for cell in range(start, min(start + ROWS, domain.size))
        ]  # fmt: skip
