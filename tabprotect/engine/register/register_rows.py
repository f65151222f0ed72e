"""Rows of the register's tables, and what they say: entries, lines of the chain, digests, damages."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

import sqlalchemy as sa

from tabprotect.engine.chained_log import Head
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.register.kept_bundles import sound_bundles
from tabprotect.engine.register.register_chain import Act, ChainLine, Damage, Damaged, digest_of, expected
from tabprotect.engine.register.register_entry import LeavingPublication, OriginalMarks, RegisterEntry
from tabprotect.engine.register.register_tables import CHAIN, MARK, REFUSED, RELEASE, STATEMENT
from tabprotect.engine.release.privacy import KEY as PRIVACY

Row = Mapping[str, object]

MARK_DIGITS = 16
"""Digits of a mark by which entries are looked up; the whole of it is compared then."""

MOST_ALIKE = 256
"""Entries that are read of which nothing is alike but names of variables; of older ones the house is asked."""


def head_of(connection: sa.Connection) -> Head:
    """The last line of the chain."""
    last = sa.select(CHAIN.c.number, CHAIN.c.chain).order_by(CHAIN.c.number.desc()).limit(1)
    found = connection.execute(last).first()
    return Head() if found is None else Head(int(found.number), str(found.chain))


def holds(connection: sa.Connection, head: Head) -> bool:
    """Return True if the chain had this head at some time, and has its line."""
    wanted = sa.select(CHAIN.c.chain).where(CHAIN.c.number == head.lines)
    return not head.lines or connection.execute(wanted).scalar() == head.chain


def rows_of(connection: sa.Connection, wanted: sa.Select[tuple[object, ...]]) -> list[Row]:
    """Return what a query finds, by the names of its columns."""
    return [dict(zip(row._fields, row, strict=True)) for row in connection.execute(wanted)]


def lines_of(connection: sa.Connection) -> list[ChainLine]:
    """The whole chain."""
    rows = connection.execute(sa.select(CHAIN).order_by(CHAIN.c.number))
    return [ChainLine(int(n), cast(Act, str(act)), *map(str, others)) for n, act, *others in rows]


def refusals() -> sa.Select[tuple[object, ...]]:
    """The query of what the gate refused, with what it would have stated."""
    same = (REFUSED.c.original == STATEMENT.c.original) & (REFUSED.c.mechanism == STATEMENT.c.mechanism)
    wanted: sa.Select[tuple[object, ...]] = sa.select(
        *(REFUSED.c.original, REFUSED.c.mechanism, REFUSED.c.method, REFUSED.c.time), STATEMENT.c.stated
    ).select_from(REFUSED.outerjoin(STATEMENT, same))
    return wanted


def now() -> str:
    """The time in UTC, as the register writes it."""
    return datetime.now(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


def marked(marks: OriginalMarks) -> dict[str, object]:
    """The columns of the marks of an original."""
    return {
        "original": marks.original,
        "variables": json.dumps(list(marks.variables)),
        "records": json.dumps(list(marks.records)),
        "unlabelled": marks.unlabelled,
    }


_ENTERED = [c.name for c in RELEASE.c if c.name not in ("withdrawn", "withdrawn_reason")]


def digest_published(row: Row) -> str:
    """The digest of what was entered of a publication."""
    return digest_of([row[name] for name in _ENTERED])


def digest_withdrawn(row: Row) -> str:
    """The digest of what was entered when it was withdrawn."""
    return digest_of([row["withdrawn"], row["withdrawn_reason"]])


def digest_refused(row: Row) -> str:
    """The digest of what the gate refused."""
    return digest_of([row[name] or "" for name in ("original", "mechanism", "method", "stated")])


def bundle_damage(
    connection: sa.Connection, entries: Iterable[RegisterEntry], lines: Iterable[ChainLine], key: bytes
) -> list[Damage]:
    """Bundles that were held and are no more, or not as they were."""
    kept, sound = expected(lines).kept, sound_bundles(connection, key)
    return [
        Damage("bundle", one.number)
        for one in entries
        if str(one.number) in kept and one.publication.bundle not in sound
    ]


def index_marks(connection: sa.Connection, entries: Iterable[RegisterEntry]) -> None:
    """Let entries be found by their marks, and by no others."""
    of = {one.number: found_by(one.publication.marks) for one in entries}
    wanted = {(mark, number) for number, marks in of.items() for mark in marks}
    there = {(str(mark), int(number)) for mark, number in connection.execute(sa.select(MARK))}
    if there != wanted:
        connection.execute(sa.delete(MARK))
        add_marks(connection, wanted)


def add_marks(connection: sa.Connection, marks: Iterable[tuple[str, int]]) -> None:
    """Let entries be found by marks."""
    rows = [{"mark": mark, "number": number} for mark, number in marks]
    if rows:
        connection.execute(sa.insert(MARK), rows)


def found_by(marks: OriginalMarks) -> set[str]:
    """The beginnings of all marks of an original."""
    return _beginnings((marks.original, marks.unlabelled, *marks.records, *marks.variables))


def _beginnings(marks: Iterable[str]) -> set[str]:
    return {mark[:MARK_DIGITS] for mark in marks if mark}


def bearing_on(
    connection: sa.Connection, marks: OriginalMarks, named: Collection[int] = ()
) -> tuple[list[RegisterEntry], tuple[int, ...]]:
    """The entries that have a mark in common with an original, and the numbers of those that are not read.

    Of tables that merely have variables of the same names the latest are read, and those that are named.
    """
    read: sa.ColumnElement[bool] = RELEASE.c.number.in_(_numbered(found_by(marks)))
    alike = _numbered(_beginnings(marks.named)).distinct().order_by(MARK.c.number.desc())
    numbers = [int(row.number) for row in connection.execute(alike)]
    if len(numbers) > MOST_ALIKE:
        close = _numbered(found_by(replace(marks, variables=())))
        last = RELEASE.c.number >= numbers[MOST_ALIKE - 1]
        read &= last | RELEASE.c.number.in_(close) | RELEASE.c.number.in_(named)
    entries = rows_of(connection, sa.select(RELEASE).where(read).order_by(RELEASE.c.number))
    found = [_entry(row) for row in entries]
    return found, tuple(sorted(set(numbers[MOST_ALIKE:]) - {one.number for one in found}))


def _numbered(beginnings: Iterable[str]) -> sa.Select[tuple[int]]:
    return sa.select(MARK.c.number).where(MARK.c.mark.in_(sorted(beginnings)))


def private_entries(connection: sa.Connection) -> list[RegisterEntry]:
    """The entries of private releases."""
    stated = RELEASE.c.gate.contains(f'"{PRIVACY}"', autoescape=True)
    return [_entry(row) for row in rows_of(connection, sa.select(RELEASE).where(stated))]


def understood(
    rows: Sequence[Row], lines: Sequence[ChainLine], refusals: Sequence[Row]
) -> tuple[list[RegisterEntry], list[Damage]]:
    """The rows that can be read, and those that are not as the chain says."""
    wanted = expected(lines)
    entries, damaged = [], []
    for row in rows:
        number = int(cast(int, row["number"]))
        known = wanted.releases.pop(str(number), None)
        gone = wanted.withdrawn.get(str(number))
        stays = row["withdrawn"] is None and not row["withdrawn_reason"]
        state = None if stays else digest_withdrawn(row)
        what: Damaged | None = None
        if known is None:
            what = "foreign"
        elif known != digest_published(row) or gone != state:
            what = "changed"
        try:
            entries.append(_entry(row))
        except (ValueError, TypeError, KeyError, AttributeError, TabprotectError):
            what = "unreadable"
        if what is not None:
            damaged.append(Damage(what, number))
    damaged += [Damage("deleted", int(number)) for number in wanted.releases]
    there = {digest_refused(row) for row in refusals}
    acts = {line.digest: line.number for line in lines if line.act == "refused"}
    damaged += [Damage("refusal", acts[digest]) for digest in wanted.refused - there]
    damaged += [Damage("refusal", 0)] * bool(there - wanted.refused)
    return entries, damaged


def _entry(row: Row) -> RegisterEntry:
    variables, records, decisions = (
        tuple(map(str, _decoded(row[name], list))) for name in ("variables", "records", "decisions")
    )
    gate = cast(dict[str, object], _decoded(row["gate"], dict))
    marks = OriginalMarks(str(row["original"]), variables, records, str(row["unlabelled"]))
    publication = LeavingPublication(
        marks,
        str(row["bundle"]),
        str(row["method"]),
        str(row["title"]),
        gate,
        decisions,
        str(row["who"]),
        str(row["dossier"]),
    )
    # A budget that cannot be read makes the row unreadable here, not later.
    _ = publication.spent
    gone = row["withdrawn"]
    return RegisterEntry(
        int(cast(int, row["number"])),
        datetime.fromisoformat(str(row["time"])),
        publication,
        None if gone is None else datetime.fromisoformat(str(gone)),
        str(row["withdrawn_reason"]),
    )


def _decoded(text: object, kind: type) -> list[object] | dict[str, object]:
    found = json.loads(str(text))
    if not isinstance(found, kind):
        raise TypeError
    return cast("list[object] | dict[str, object]", found)
