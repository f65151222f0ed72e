"""``dossier``: those that are encrypted, and those that are older than the house keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tabprotect.cli.arguments import keep_apart
from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.engine.agency import made_register
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle import archive, encryption
from tabprotect.engine.errors import BundleError, ParameterError
from tabprotect.engine.options import Options, option_field, position
from tabprotect.engine.paths import check_file
from tabprotect.languages.messages import message, plural


@dataclass(frozen=True, kw_only=True)
class DossierOpen(Options):
    """Arguments of ``dossier open`` and ``dossier encrypt``."""

    dossier: Path = position(metavar="DOSSIER")
    key: Path = option_field(
        metavar="FILE", help=message("its first line is the passphrase, or the key; CONFIDENTIAL")
    )
    out: Path = option_field(metavar="FILE", help=message("what is written; CONFIDENTIAL"))


@dataclass(frozen=True, kw_only=True)
class DossierRetention(Options):
    """Arguments of ``dossier retention``."""

    folders: Sequence[Path] = position(
        (),
        metavar="FOLDER",
        help=message("folders to look through beside the dossiers of the register, projects in them, too"),
    )
    delete: bool = option_field(
        False, help=message("delete those that are older; the register keeps their marks")
    )
    register: str | None = option_field(
        None, metavar="FILE|URL", help=message("the register of releases (default: the house's own)")
    )


@command(
    "dossier open",
    help=message("write an encrypted dossier in the plain"),
    example="tabprotect dossier open dossier.zip --key CONFIDENTIAL-passphrase.txt --out CONFIDENTIAL-dossier.zip",
)
def run_open(asked: DossierOpen, console: Console) -> None:
    """Write the zip in an encrypted dossier."""
    data = _content(asked)
    if not encryption.is_encrypted(data):
        raise BundleError(message("{name} is not encrypted", asked.dossier.name))
    plain = encryption.decrypted(data, encryption.passphrase(asked.key))
    write_bytes(asked.out, plain, private=True)
    console.result(
        {"out": str(asked.out), "confidential": True},
        [message("In the plain (CONFIDENTIAL): {out}. Delete it when it was read.", asked.out)],
    )


@command(
    "dossier encrypt",
    help=message("encrypt a dossier that was written in the plain"),
    example="tabprotect dossier encrypt dossier.zip --key CONFIDENTIAL-passphrase.txt --out dossier.zip",
)
def run_encrypt(asked: DossierOpen, console: Console) -> None:
    """Encrypt a dossier; the same name takes the place of the plain one."""
    data = _content(asked)
    if not archive.begins_as_dossier(data):
        raise BundleError(message("{name} is no dossier in the plain", asked.dossier.name))
    write_bytes(asked.out, encryption.encrypted(data, encryption.passphrase(asked.key)), private=True)
    console.result(
        {"out": str(asked.out), "confidential": True},
        [message("Encrypted: {out}. Without the passphrase nobody opens it.", asked.out)],
    )


def _content(asked: DossierOpen) -> bytes:
    keep_apart([asked.key], [asked.out])
    check_file(asked.dossier)
    return asked.dossier.read_bytes()


@command(
    "dossier retention",
    help=message("what is older than the policy keeps it, and delete it"),
    example="tabprotect dossier retention",
    writes=True,
)
def run_retention(asked: DossierRetention, console: Console) -> None:
    """List dossiers with their age; with ``--delete`` those that are due are gone."""
    # The library behind the register would be a third of the program's start.
    from tabprotect.engine.disclosure.policy import in_force
    from tabprotect.engine.register.retention import delete, kept_dossiers

    days = in_force().retention_days
    if asked.delete and not days:
        raise ParameterError(
            {"retention_days": message("the policy keeps dossiers for ever")},
            hint=message("write for how many days into the policy: retention_days = 3650"),
        )
    found = kept_dossiers(made_register(asked.register), asked.folders, days, datetime.now(UTC))
    due = [one for one in found if one.due]
    if asked.delete:
        delete(due)
    data = {"retention_days": days, "dossiers": found, "deleted": due if asked.delete else []}
    limit = message("{days} days", days) if days else message("for ever")
    words = {
        (True, True): message("deleted"),
        (True, False): message("would go"),
        (False, True): message("stays"),
        (False, False): message("stays"),
    }
    lines = [
        message(
            "{what}: {path}, {days} days old, release {number}",
            words[one.due, asked.delete],
            one.path,
            one.days,
            message("(none)") if one.release is None else one.release,
        )
        for one in found
    ]
    lines.append(
        plural(
            len(found),
            "{due} of {found} dossier or project is older than the policy keeps it ({limit}).",
            "{due} of {found} dossiers and projects are older than the policy keeps them ({limit}).",
            len(due),
            len(found),
            limit,
        )
    )
    if due and asked.delete:
        lines.append(message("The register keeps the marks; copies in backups are yours to delete."))
    console.result(data | {"confidential": True}, lines)
