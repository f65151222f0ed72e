"""Dossiers and projects that are older than the policy of the house keeps them. The register keeps its marks for ever."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from tabprotect.engine.atomic import is_kept, unwritable
from tabprotect.engine.bundle import archive
from tabprotect.engine.bundle.encryption import MAGIC, is_encrypted
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.errors import BundleError, InputError
from tabprotect.engine.paths import is_file, is_folder
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.register.register import Register
from tabprotect.engine.register.register_entry import RegisterEntry
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class KeptDossier(Encodable):
    """A dossier, or a project with its original, that was found.

    Attributes
    ----------
    kind
    path
    time
        When its release left, in UTC: as the register has it, else by the file; of a project when it was
        saved last.
    release
        The number of its release in the register; ``None`` where it has none.
    days
        Its whole days of age.
    encrypted
    due
        Whether it is older than the policy keeps it.
    """

    kind: Literal["dossier", "project"]
    path: Path
    time: datetime
    release: int | None
    days: int
    encrypted: bool
    due: bool


def kept_dossiers(
    register: str | None, folders: Sequence[Path], days: int, now: datetime
) -> tuple[KeptDossier, ...]:
    """Dossiers that the register names, those and the projects that lie in folders, the oldest first.

    A file counts as a dossier by what it holds. One that is found by its path alone, as it is encrypted,
    is as old as the last release that was entered with the path.

    Parameters
    ----------
    register
        Its address; ``None`` for none.
    days
        For how many days they are kept; 0 for ever.
    """
    entries: Sequence[RegisterEntry] = ()
    if register is not None:
        with Register(register) as opened:
            entries = opened.contents().entries
    found = {}
    for path in _places(entries, folders):
        head, project = _head(path), archive.holds_project(path)
        if not (is_encrypted(head) or archive.begins_as_dossier(head) or project):
            continue
        entry = None if project else _entry(path, entries, encrypted=is_encrypted(head))
        at = datetime.fromtimestamp(path.stat().st_mtime, UTC) if entry is None else entry.time
        age = now - at.replace(tzinfo=UTC)
        found[path] = KeptDossier(
            "project" if project else "dossier",
            path,
            at,
            None if entry is None else entry.number,
            age.days,
            is_encrypted(head),
            bool(days) and age > timedelta(days=days),
        )
    return tuple(sorted(found.values(), key=lambda one: (one.days, str(one.path)), reverse=True))


def delete(dossiers: Sequence[KeptDossier]) -> None:
    """Delete files; in a rehearsal none.

    Raises
    ------
    InputError
        Naming the first that cannot be deleted; those before it are gone.
    """
    for one in dossiers:
        try:
            if is_kept(one.path):
                one.path.unlink()
        except OSError as error:
            raise InputError(
                message("cannot be deleted: {cause}", unwritable(one.path, error).message), file=one.path
            ) from None


def _places(entries: Sequence[RegisterEntry], folders: Sequence[Path]) -> Iterator[Path]:
    """Files that may be dossiers, each once; the dossiers of other releases lie beside under numbers."""
    seen = set()
    for named in [Path(one.publication.dossier) for one in entries if one.publication.dossier]:
        beside = re.compile(rf"{re.escape(named.stem)}(-\d+)?{re.escape(named.suffix)}\Z")
        files = sorted(named.parent.iterdir()) if is_folder(named.parent) else []
        seen |= {one for one in files if beside.match(one.name)}
    for folder in folders:
        if not is_folder(folder):
            raise InputError(message("there is no such folder"), file=folder)
        seen |= {one.absolute() for one in folder.rglob("*")}
    return iter(sorted(one for one in seen if is_file(one)))


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(max(len(MAGIC), 64))
    except OSError:
        return b""


def _entry(path: Path, entries: Sequence[RegisterEntry], *, encrypted: bool) -> RegisterEntry | None:
    """The last entry of a dossier's release: by the bundle in it, else by the path."""
    if encrypted:
        own = [one for one in entries if one.publication.dossier == str(path.absolute())]
    else:
        try:
            bundle = archive.sha256(confidential.bundle_within(archive.load(path)))
        except (BundleError, InputError):
            return None
        own = [
            one
            for one in entries
            if one.publication.bundle == bundle or one.publication.trail_of(bundle) is not None
        ]
    return max(own, key=lambda one: one.time, default=None)
