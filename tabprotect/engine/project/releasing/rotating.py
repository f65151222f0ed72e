"""Another key for the house: the register gets the marks that originals have under it.

Only who has an original can mark it again. What the house has no more keeps its old marks, under which
nothing is found: its numbers are told.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tabprotect.engine import agency
from tabprotect.engine.atomic import place_to_write, write_bytes, written_at
from tabprotect.engine.bundle import archive
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.errors import InputError, TabprotectError, attempted
from tabprotect.engine.paths import is_file, is_folder, is_there
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.sources import open_table
from tabprotect.engine.register.register import Register
from tabprotect.engine.register.register_chain import mark_of_key
from tabprotect.engine.register.register_entry import OriginalMarks, RegisterEntry, marks_of
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

NEXT = ".next"
"""Suffix of the new key's file until the register belongs to it."""


@dataclass(frozen=True)
class Rotation:
    """The state of a register under another key.

    Attributes
    ----------
    marked, unmarked
        Numbers of the entries whose originals were there, and of those that are found no more.
    kept
        Where the old key lies.
    mark
        Of the new key.
    """

    marked: tuple[int, ...]
    unmarked: tuple[int, ...]
    kept: Path
    mark: str


def rotate(
    register: str | None = None, sources: Sequence[Path] = (), progress: Progress = SILENT
) -> Rotation:
    """Make another key of the house, and mark all originals again that are there.

    The dossiers that the register names are looked into, and those and the tables in ``sources``.

    Parameters
    ----------
    register
        A file, a URL or ``none``; by default the house's own.
    sources
        Dossiers, tables, and folders of these.

    Raises
    ------
    InputError, ParameterError
        If the key or the register cannot be read or written, or do not belong together.
    Interrupted
        If cancelled: nothing is changed.
    """
    if gone := [source for source in sources if not is_there(source)]:
        raise InputError(
            message("there is no such file"), file=gone[0], hint=message("check its name and folder")
        )
    path, old = agency.key_file(), agency.key()
    following = path.with_name(path.name + NEXT)
    # One that was cut short may have a register already that belongs to it: it is the new key then.
    if not is_there(following):
        write_bytes(following, agency.drawn_key(), overwrite=False, private=True)
    new = bytes.fromhex(written_at(following).read_text(encoding="ascii"))
    kept = path.with_name(f"{path.name}.{mark_of_key(old)[:16]}")
    marked: dict[int, OriginalMarks] = {}
    numbers: set[int] = set()
    if (place := agency.made_register(register)) is not None:
        with Register(place, also=new) as opened:
            entries = opened.entries()
            numbers = {entry.number for entry in entries}
            again = {}
            for table, keys in _originals(entries, sources, progress):
                own = marks_of(table, new, keys)
                again[marks_of(table, old, keys).original] = again[own.original] = own
            marked = {
                entry.number: again[entry.publication.marks.original]
                for entry in entries
                if entry.publication.marks.original in again
            }
            if opened.key_mark != mark_of_key(new):
                opened.re_mark(new, marked, {name: own.original for name, own in again.items()})
    if not is_there(kept):
        write_bytes(kept, f"{old.hex()}\n".encode(), overwrite=False, private=True)
    os.replace(written_at(following), place_to_write(path))
    return Rotation(tuple(sorted(marked)), tuple(sorted(numbers - set(marked))), kept, mark_of_key(new)[:16])


def _originals(
    entries: Sequence[RegisterEntry], sources: Sequence[Path], progress: Progress
) -> Iterator[tuple[Table, Table | None]]:
    """Every original that can be read, with its record keys."""
    named = {Path(entry.publication.dossier) for entry in entries if entry.publication.dossier}
    files = sorted(named)
    for source in sources:
        files += sorted(p for p in source.rglob("*") if is_file(p)) if is_folder(source) else [source]
    for number, path in enumerate(dict.fromkeys(files)):
        progress.report(message("looking for originals"), number / len(files))
        found = attempted(partial(_original, path, progress), faults=True)
        if not isinstance(found, TabprotectError):
            yield found


def _original(path: Path, progress: Progress) -> tuple[Table, Table | None]:
    if path.suffix.lower() == ".zip":
        dossier = confidential.open_dossier(archive.load(path), progress=progress)
        problem = dossier.protected.record.problem
        return problem.table, problem.record_keys
    return open_table(str(path), progress=progress).table, None
