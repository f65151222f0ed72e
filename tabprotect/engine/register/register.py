"""The register of releases that left this house, in a database. Confidential.

It belongs to one key of the house, whose mark it keeps: under another key no original is found again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa

from tabprotect.engine import agency
from tabprotect.engine.budgets import MOST_KEPT
from tabprotect.engine.chained_log import Head
from tabprotect.engine.database import BORN_TWICE, TAKEN_BACK, Database
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.paths import is_there
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.register.kept_bundles import (
    Files,
    drop_bundle,
    keep_bundle,
    kept_bundle,
    kept_files,
    seal_again,
)
from tabprotect.engine.register.register_chain import (
    Act,
    ChainLine,
    Damage,
    chain_damage,
    mark_of_key,
    remember_head,
    sealed,
    seen_heads,
)
from tabprotect.engine.register.register_entry import (
    LeavingPublication,
    OriginalMarks,
    RefusedMechanism,
    RegisterEntry,
)
from tabprotect.engine.register.register_rows import (
    add_marks,
    bearing_on,
    bundle_damage,
    digest_published,
    digest_refused,
    digest_withdrawn,
    found_by,
    head_of,
    holds,
    index_marks,
    lines_of,
    marked,
    now,
    private_entries,
    refusals,
    rows_of,
    understood,
)
from tabprotect.engine.register.register_tables import ADDED, CHAIN, MARK, REFUSED, RELEASE, SCHEMA, STATEMENT
from tabprotect.engine.register.whole_file import is_as_found, remember_whole
from tabprotect.languages.messages import message

_T = TypeVar("_T")


@dataclass(frozen=True)
class RegisterContents:
    """All that a register holds at one moment.

    Attributes
    ----------
    entries
        Every publication that can be read, in order.
    damaged
        What is not as it was entered.
    head
        The last line of the chain.
    older
        The numbers of older ones that are not among the entries.
    """

    entries: tuple[RegisterEntry, ...]
    damaged: tuple[Damage, ...]
    head: Head
    older: tuple[int, ...] = ()


class Register:
    """The register at an address. Use as a context manager.

    Parameters
    ----------
    url
        The path of an SQLite file or any SQLAlchemy URL. The house's own register is made (mode
        0600) if there is none.
    new
        Whether to make one.
    also
        Another key that it may belong to: the next one of the house.

    Raises
    ------
    InputError
        If the database is gone, locked, not a database, or of another version, or has no register;
        for a new one, if there is one already.
    ParameterError
        If it belongs to another key of the house.
    """

    def __init__(self, url: str, *, new: bool = False, also: bytes | None = None) -> None:
        made = new or agency.is_own_register(url)
        if not made:
            agency.is_unmade(url)
        address = agency.prepared_address(url) if made else url
        self._database = _new(address) if new else Database(address, SCHEMA, make=made)
        self.name = self._database.name if address == url else url
        self._key = b""
        try:
            self._database.transaction(ADDED.create_all, again=TAKEN_BACK | BORN_TWICE)
            self._key = self._own_key(also)
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> Register:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def _own_key(self, also: bytes | None) -> bytes:
        """The key of the house, which is that of the register."""
        known = sa.select(CHAIN.c.digest).where(CHAIN.c.act == "key").order_by(CHAIN.c.number)
        marks = self._database.transaction(lambda c: c.execute(known).scalars().all())
        if not marks:
            key = agency.key()
            self._database.transaction(lambda c: self._begin(c, key), again=TAKEN_BACK | BORN_TWICE)
            return key
        mark = str(marks[-1])
        if also is not None and mark_of_key(also) == mark:
            return also
        key_there = is_there(agency.key_file())
        if key_there and mark_of_key(agency.key()) == mark:
            return agency.key()
        why = (
            message("belongs to another key of the house, of mark {mark}", mark[:16])
            if key_there
            else message("belongs to a key of the house that is not here, of mark {mark}", mark[:16])
        )
        raise ParameterError(
            {"register": why},
            hint=message(
                "under another key nothing in it is found again. Put the right key back from its "
                "copy to {path}, or name it with {KEY}; with a new key on purpose take a new "
                "register: tabprotect register new FILE",
                agency.key_file(),
                agency.KEY,
            ),
        )

    def _begin(self, connection: sa.Connection, key: bytes) -> None:
        """The first line names the key; entries that are there without a chain are nobody's."""
        if connection.execute(sa.select(CHAIN.c.number)).first() is not None:
            return
        self._key = key
        self._chain(connection, "key", "", mark_of_key(key))

    @property
    def key_mark(self) -> str:
        """The mark of the key that it belongs to."""
        return mark_of_key(self._key)

    def contents(self, *, bundles: bool = True) -> RegisterContents:
        """Every publication, and every damage: of bundles where these are looked at."""
        return self._database.transaction(lambda connection: self._contents(connection, bundles))

    def _contents(self, connection: sa.Connection, bundles: bool) -> RegisterContents:
        rows = rows_of(connection, sa.select(RELEASE).order_by(RELEASE.c.number))
        lines = lines_of(connection)
        entries, damaged = understood(rows, lines, rows_of(connection, refusals()))
        damaged += bundle_damage(connection, entries, lines, self._key) if bundles else []
        damaged += chain_damage(lines, self._key, seen_heads(self.name))
        head = lines[-1].head if lines else Head()
        return RegisterContents(tuple(entries), tuple(damaged), head)

    def bearing_on(self, marks: OriginalMarks, named: Collection[int] = ()) -> RegisterContents:
        """The publications that may bear on an original, and every damage.

        Where many have nothing in common with it but names of variables the latest are read, and those
        that are named by their numbers. A register whose file is as it was when all of it was found whole is not read as a whole again.
        """

        def look(connection: sa.Connection) -> tuple[RegisterContents, bool]:
            seen = seen_heads(self.name)
            if is_as_found(self.name, self._key) and all(holds(connection, head) for head in seen):
                entries, older = bearing_on(connection, marks, named)
                return RegisterContents(tuple(entries), (), head_of(connection), older), False
            found = self._contents(connection, True)
            if whole := not found.damaged:
                index_marks(connection, found.entries)
                entries, older = bearing_on(connection, marks, named)
                found = replace(found, entries=tuple(entries), older=older)
            return found, whole

        return self._remembering(look)

    def private_entries(self) -> list[RegisterEntry]:
        """Every private publication."""
        return self._database.transaction(private_entries)

    def entries(self) -> list[RegisterEntry]:
        """Every publication that can be read, in order."""
        return list(self.contents(bundles=False).entries)

    def head(self) -> Head:
        """The last line of the chain."""
        return self._database.transaction(head_of)

    def has_head(self, head: Head) -> bool:
        """Return True if the chain had this head at some time, and has all up to it."""
        return self._database.transaction(lambda connection: holds(connection, head))

    def find(self, word: str) -> RegisterEntry:
        """An entry by its number, or by the first eight or more digits of its bundle's fingerprint.

        Raises
        ------
        InputError
            If there is none, or more than one.
        """
        sign = word.strip().lower()
        found = [
            entry
            for entry in self.entries()
            if str(entry.number) == sign or (len(sign) >= 8 and entry.publication.bundle.startswith(sign))
        ]
        if len(found) != 1:
            how = message("no release") if not found else message("{found} releases", len(found))
            raise InputError(
                message("the register has {how} {word}", how, repr(word)),
                file=self.name,
                hint=message("give the number that the list shows"),
            )
        return found[0]

    def add(self, publication: LeavingPublication, content: bytes) -> int | None:
        """Enter a publication; durable on return.

        Returns
        -------
        int or None
            Its number; ``None`` if the same bytes of the same original are already there: they are
            not another release (and are no longer withdrawn).
        """
        of = publication
        row = {
            "time": now(),
            "who": of.who,
            **marked(of.marks),
            "bundle": of.bundle,
            "method": of.method,
            "title": of.title,
            "gate": json.dumps(dict(of.gate)),
            "decisions": json.dumps(list(of.decisions)),
            "withdrawn": None,
            "withdrawn_reason": "",
            "dossier": of.dossier,
        }
        same = (RELEASE.c.bundle == of.bundle) & (RELEASE.c.original == of.marks.original)

        def enter(connection: sa.Connection) -> int | None:
            there = connection.execute(sa.select(RELEASE.c.number, RELEASE.c.withdrawn).where(same)).first()
            if there is not None:
                if there.withdrawn is not None:
                    back = {"withdrawn": None, "withdrawn_reason": ""}
                    connection.execute(sa.update(RELEASE).where(same).values(back))
                    self._chain(connection, "returned", str(there.number), "")
                return None
            kept = len(content) <= MOST_KEPT and sha256(content).hexdigest() == of.bundle
            if kept:
                keep_bundle(connection, of.bundle, content, method=of.method, key=self._key)
            done = connection.execute(sa.insert(RELEASE).values(row))
            assert done.inserted_primary_key is not None
            number = int(done.inserted_primary_key[0])
            add_marks(connection, ((mark, number) for mark in found_by(of.marks)))
            act: Act = "published" if kept else "unkept"
            self._chain(connection, act, str(number), digest_published(row | {"number": number}))
            return number

        return self._changed(enter)

    def forget(self, number: int) -> None:
        """Remove an entry whose files could not be written: nothing left the house."""
        one = RELEASE.c.number == number

        def take_back(connection: sa.Connection) -> None:
            bundle = connection.execute(sa.select(RELEASE.c.bundle).where(one)).scalar()
            connection.execute(sa.delete(RELEASE).where(one))
            others = sa.select(RELEASE.c.number).where(RELEASE.c.bundle == bundle)
            if connection.execute(others).first() is None:
                drop_bundle(connection, str(bundle))
            connection.execute(sa.delete(MARK).where(MARK.c.number == number))
            self._chain(connection, "forgotten", str(number), "")

        self._changed(take_back)

    def withdraw(self, number: int, reason: str) -> None:
        """Mark a release as withdrawn. It stays in the register, since it has been read.

        Raises
        ------
        InputError
            If it is already withdrawn.
        """
        one = (RELEASE.c.number == number) & RELEASE.c.withdrawn.is_(None)
        values = {"withdrawn": now(), "withdrawn_reason": reason}

        def end(connection: sa.Connection) -> int:
            done = connection.execute(sa.update(RELEASE).where(one).values(values)).rowcount
            if done:
                self._chain(connection, "withdrawn", str(number), digest_withdrawn(values))
            return done

        if not self._changed(end):
            raise InputError(message("release {number} is withdrawn already", number), file=self.name)

    def refuse(self, original: str, mechanism: str, refused: RefusedMechanism) -> None:
        """Record that the gate refused a mechanism for an original; each is recorded once."""
        own = (REFUSED.c.original == original) & (REFUSED.c.mechanism == mechanism)
        of = {"original": original, "mechanism": mechanism}
        row = {**of, "method": refused.method, "time": now()}
        stated = {**of, "stated": refused.stated}

        def remember(connection: sa.Connection) -> None:
            if connection.execute(sa.select(REFUSED.c.method).where(own)).first() is None:
                connection.execute(sa.insert(REFUSED).values(row))
                connection.execute(sa.insert(STATEMENT).values(stated))
                self._chain(connection, "refused", "", digest_refused(row | stated))

        self._changed(remember)

    def refused(self, *originals: str) -> dict[str, RefusedMechanism]:
        """Mechanisms that the gate refused for an original, by its marks; by their digests."""
        wanted = refusals().where(REFUSED.c.original.in_(originals))
        rows = self._database.transaction(lambda c: c.execute(wanted).mappings().all())
        return {
            str(row["mechanism"]): RefusedMechanism(
                str(row["method"]), str(row["stated"] or ""), str(row["time"])
            )
            for row in rows
        }

    def keeps(self, entry: RegisterEntry) -> bool:
        """Return True if it holds what a bundle says, as it was."""
        bundle = entry.publication.bundle
        found = self._database.transaction(lambda connection: kept_files(connection, bundle, self._key))
        return found is not None

    def content(self, entry: RegisterEntry, progress: Progress = SILENT) -> bytes | None:
        """The bytes of a bundle, if they are kept as they were, or come out the same again."""
        bundle = entry.publication.bundle
        return self._database.transaction(lambda c: kept_bundle(c, bundle, self._key, progress))

    def files(self, entries: Sequence[RegisterEntry]) -> dict[int, Files]:
        """The files of bundles by the numbers of their entries, as far as they are kept as they were."""
        of = {entry.number: entry.publication.bundle for entry in entries}

        def read(connection: sa.Connection) -> dict[int, Files]:
            found = {number: kept_files(connection, name, self._key) for number, name in of.items()}
            return {number: files for number, files in found.items() if files}

        return self._database.transaction(read)

    def re_mark(self, key: bytes, marks: Mapping[int, OriginalMarks], originals: Mapping[str, str]) -> None:
        """Let it belong to another key; entries without new marks keep those of the old one.

        Parameters
        ----------
        marks
            The new ones by the numbers of entries.
        originals
            The new marks of originals by the old ones, for what was refused.

        Raises
        ------
        InputError
            If its chain is damaged.
        """
        if any(damage.what == "chain" for damage in self.contents(bundles=False).damaged):
            raise InputError(
                message("the register's chain is damaged: under another key that would not be seen"),
                file=self.name,
                hint=message("look at it first: tabprotect register list"),
            )

        def change(connection: sa.Connection) -> None:
            lines = lines_of(connection)
            for line in lines:
                one = CHAIN.c.number == line.number
                connection.execute(sa.update(CHAIN).where(one).values(seal=sealed(key, line.chain)))
            seal_again(connection, self._key, key)
            self._key = key
            self._chain(connection, "key", "", mark_of_key(key))
            for number, own in marks.items():
                connection.execute(sa.delete(MARK).where(MARK.c.number == number))
                add_marks(connection, ((mark, number) for mark in found_by(own)))
                entry = RELEASE.c.number == number
                connection.execute(sa.update(RELEASE).where(entry).values(marked(own)))
                (row,) = rows_of(connection, sa.select(RELEASE).where(entry))
                self._chain(connection, "marked", str(number), digest_published(row))
            for refusal in rows_of(connection, refusals()):
                name = originals.get(str(refusal["original"]))
                if name is not None:
                    self._chain(connection, "replaced", "", digest_refused(refusal))
                    for table in (REFUSED, STATEMENT):
                        one = (table.c.original == refusal["original"]) & (
                            table.c.mechanism == refusal["mechanism"]
                        )
                        connection.execute(sa.update(table).where(one).values(original=name))
                    again = {**refusal, "original": name}
                    self._chain(connection, "refused", "", digest_refused(again))

        self._changed(change)

    def _changed(self, work: Callable[[sa.Connection], _T]) -> _T:
        """A change, and the head that it made."""

        def whole(connection: sa.Connection) -> tuple[tuple[_T, Head, set[Head]], bool]:
            was = is_as_found(self.name, self._key)
            result = work(connection)
            return (result, head_of(connection), {one for one in seen if holds(connection, one)}), was

        seen = seen_heads(self.name)
        result, head, held = self._remembering(whole)
        remember_head(self.name, head, held)
        return result

    def _remembering(self, work: Callable[[sa.Connection], tuple[_T, bool]]) -> _T:
        """Work in a transaction, and remember the file where that says that the register is whole."""

        whole = False

        def noted(connection: sa.Connection) -> _T:
            nonlocal whole
            result, whole = work(connection)
            return result

        def unchanged() -> None:
            if whole:
                remember_whole(self.name, self._key)

        kept_here = agency.register_file(self.name) is not None
        return self._database.transaction(noted, TAKEN_BACK | BORN_TWICE, unchanged if kept_here else None)

    def _chain(self, connection: sa.Connection, act: Act, subject: str, digest: str) -> None:
        head = head_of(connection)
        line = ChainLine.after(head, act, subject, digest, time=now(), key=self._key)
        connection.execute(sa.insert(CHAIN).values(vars(line)))


@dataclass(frozen=True)
class NewRegister:
    """A register that was made.

    Attributes
    ----------
    name
        Its file or address, without a password.
    mark
        Of the key of the house that it belongs to.
    """

    name: str
    mark: str


def new_register(place: str | Path) -> NewRegister:
    """Make a register of releases.

    Parameters
    ----------
    place
        The path of an SQLite file, or any SQLAlchemy URL.

    Raises
    ------
    InputError
        If there is one already, or it cannot be made.
    ParameterError
        If it belongs to another key of the house.
    """
    with Register(str(place), new=True) as register:
        return NewRegister(register.name, register.key_mark[:16])


def _new(address: str) -> Database:
    """A new register.

    Raises
    ------
    InputError
        If there is one already, or it cannot be made.
    """
    made = Database(address, SCHEMA)
    if made.transaction(head_of).lines:
        made.close()
        raise InputError(
            message("there is a register here already"),
            file=made.name,
            hint=message("use it as it is, or give another name"),
        )
    return made
