"""``register``: what left this house, and what left before of a table. All of it confidential.

The register itself is imported late: the library behind it would be a third of the program's start.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tabprotect.cli.arguments import TableReading, open_source
from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.agency import register_address
from tabprotect.engine.bundle import archive
from tabprotect.engine.bundle.archive import sha256
from tabprotect.engine.bundle.encryption import is_encrypted
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.verify import is_bundle, verify_bytes
from tabprotect.engine.errors import BundleError, InputError
from tabprotect.engine.options import Options, option_field, part, position
from tabprotect.engine.paths import is_file
from tabprotect.engine.register.left_before import LOST, left_before
from tabprotect.engine.register.register_chain import Damage, lost
from tabprotect.engine.register.register_entry import related, warnings_of
from tabprotect.engine.release.verdict_figures import Verdict
from tabprotect.languages.messages import message


@dataclass(frozen=True, kw_only=True)
class Looking(Options):
    """Which register is looked into."""

    register: str | None = option_field(
        None, metavar="FILE|URL", help=message("the register of releases (default: the house's own)")
    )


@dataclass(frozen=True, kw_only=True)
class RegisterShow(Looking):
    """Arguments of ``register show``."""

    which: str = position(metavar="NUMBER|FINGERPRINT")


@dataclass(frozen=True, kw_only=True)
class RegisterCheck(Looking):
    """Arguments of ``register check``."""

    table: str = position(metavar="TABLE|DOSSIER|BUNDLE.zip")
    reading: TableReading = part(TableReading)


@dataclass(frozen=True, kw_only=True)
class RegisterWithdraw(Looking):
    """Arguments of ``register withdraw``."""

    which: str = position(metavar="NUMBER|FINGERPRINT")
    reason: str = option_field("", metavar="REASON", help=message("why; kept in the register"))


@dataclass(frozen=True, kw_only=True)
class RegisterNew(Options):
    """Arguments of ``register new``."""

    place: str = position(metavar="FILE|URL")


def _address(asked: Looking) -> str:
    found = register_address(asked.register)
    if found is None:
        raise UsageError(message("there is no register to look into: it is said to be none"))
    return found


@command(
    "register new",
    help=message("make a register"),
    example="tabprotect register new releases.db",
    writes=True,
)
def run_new(asked: RegisterNew, console: Console) -> None:
    """Make a register."""
    from tabprotect.engine.register.register import new_register

    made = new_register(asked.place)
    data = {"register": made.name, "key": made.mark, "confidential": True}
    lines = [
        message("Register of releases (CONFIDENTIAL): {name}", made.name),
        message("It belongs to the key of the house of mark {mark}", made.mark),
    ]
    console.result(data, lines)


def _say_damaged(damaged: Sequence[Damage], console: Console) -> Sequence[Damage]:
    """Say every damage on standard error; the same for ``--json``."""
    for one in damaged:
        console.warn(message("warning: {message}", one.message))
    if lost(damaged):
        console.warn(message("warning: {message}", LOST))
    return damaged


@command("register list", help=message("every release, in order"), example="tabprotect register list")
def run_list(asked: Looking, console: Console) -> None:
    """Print every release."""
    from tabprotect.engine.register.register import Register

    with Register(_address(asked)) as register:
        found, mark = register.contents(), register.key_mark
    data = {
        "confidential": True,
        "releases": found.entries,
        "damaged": _say_damaged(found.damaged, console),
        "lost": lost(found.damaged),
        "key": mark[:16],
        **found.head.as_json(),
    }
    lines = [entry.line for entry in found.entries] or [message("Nothing has left this house yet.")]
    console.result(data, lines)


@command("register show", help=message("one release"), example="tabprotect register show 1")
def run_show(asked: RegisterShow, console: Console) -> None:
    """Print one release."""
    from tabprotect.engine.register.register import Register

    with Register(_address(asked)) as register:
        entry = register.find(asked.which)
        kept = register.keeps(entry)
        _say_damaged(register.contents().damaged, console)
    of = entry.publication
    lines = [
        message("Release number {number}, {day}. CONFIDENTIAL", entry.number, entry.day),
        message("Title: {title}", of.title or message("(no title)")),
        message("Method: {method}", of.method_label),
        message("Published by {who}", of.who),
        message("Check number: {fingerprint}", of.bundle),
        *(message("Decision: {decision}", decision) for decision in of.decisions),
        message("Its bundle is kept in the register.")
        if kept
        else message("Its bundle is not kept in the register: take it from where it was published."),
    ]
    if entry.withdrawn is not None:
        lines.append(message("Withdrawn: {reason}", entry.withdrawn_reason))
    data = {"confidential": True, **entry.as_json(), "bundle_kept": kept}
    console.result(data, lines)


@command(
    "register withdraw",
    help=message("note that a release was withdrawn"),
    example="tabprotect register withdraw 1 --reason mistaken",
    writes=True,
)
def run_withdraw(asked: RegisterWithdraw, console: Console) -> None:
    """Mark a release as withdrawn."""
    from tabprotect.engine.disclosure.gate import UNSTATED
    from tabprotect.engine.register.register import Register

    reason = asked.reason.strip() or UNSTATED
    with Register(_address(asked)) as register:
        entry = register.find(asked.which)
        register.withdraw(entry.number, reason)
        entry = register.find(str(entry.number))
        _say_damaged(register.contents().damaged, console)
    lines = [
        message("withdrawn: {line}", entry.line),
        message("What was read stays known: it still counts in checks."),
    ]
    console.result({"confidential": True, **entry.as_json()}, lines)


@command(
    "register check",
    help=message("what left before of a table, and what it tells together"),
    example="tabprotect register check example:duncan-roehrig-4x4",
)
def run_check(asked: RegisterCheck, console: Console) -> int:
    """Print what left before, and what readers of all releases of this very table know."""
    place = _address(asked)
    if (bundle := _zipped(asked.table, is_bundle)) is not None:
        return _check_bundle(bundle, place, console)
    dossier = _zipped(asked.table, confidential.is_dossier)
    if dossier is None:
        problem = open_source(asked.table, asked.reading, console).project.problem
    else:
        problem = confidential.open_dossier(dossier, progress=console).protected.record.problem
        _check_trail(dossier, place)
    before = left_before(problem, place, progress=console)
    if before.error is not None:
        raise before.error
    damaged = [*before.damaged, *([] if dossier is None else _cut_after(dossier, place))]
    data: dict[str, object] = {
        "confidential": True,
        "published_before": any(e.relation in ("original", "renamed") for e in before.earlier),
        "damaged": _say_damaged(damaged, console),
        "lost": lost(damaged),
        "releases": before.earlier,
        "warnings": before.warnings,
        "together": before,
        "kept": len(before.read),
        "spent": before.spent,
    }
    lines = [
        *(one["message"] for one in before.warnings if one["kind"] != "register_damaged"),
        *(message("  {line}", e.entry.line) for e in before.earlier),
        *([] if before.together is None else [_said(before.together, before.releases)]),
    ]
    console.result(data, lines or [message("Nothing of this table has left the house.")])
    return InputError.exit_code if lost(damaged) else 0


def _check_bundle(bundle: bytes, place: str, console: Console) -> int:
    """Print what a bundle tells together with the other releases of its people."""
    from tabprotect.engine.register.read_all import read_all
    from tabprotect.engine.register.register import Register

    verify_bytes(bundle, progress=console)
    with Register(place) as register:
        found = register.contents()
    entry = next((one for one in found.entries if one.publication.bundle == sha256(bundle)), None)
    earlier = [] if entry is None else related(entry.publication.marks, found.entries)
    groups = () if entry is None else read_all(place, number=entry.number, progress=console).groups
    own = next((one for one in groups if entry is not None and entry.number in one.numbers), None)
    data: dict[str, object] = {
        "confidential": True,
        "published_before": entry is not None,
        "damaged": _say_damaged(found.damaged, console),
        "lost": lost(found.damaged),
        "releases": earlier,
        "warnings": warnings_of(earlier),
        "together": None if own is None else {"releases": len(own.numbers), "verdict": own.verdict},
        "kept": 0 if own is None else len(own.numbers),
        "spent": None if entry is None else entry.publication.spent,
        "groups": groups,
    }
    lines = [*(one.entry.line for one in earlier), *(one.line for one in groups)]
    console.result(data, lines or [message("This release is not in the register.")])
    return InputError.exit_code if lost(found.damaged) else 0


def _zipped(source: str, wanted: Callable[[bytes], bool]) -> bytes | None:
    """The bytes of an archive of one kind, if the table is in one."""
    path = Path(source)
    if not is_file(path):
        return None
    with path.open("rb") as file:
        encrypted = is_encrypted(file.read(100))
    if not encrypted and not zipfile.is_zipfile(path):
        return None
    data = archive.load(path)
    try:
        return data if wanted(data) else None
    except BundleError:
        return None


def _check_trail(dossier: bytes, place: str) -> None:
    """Refuse a dossier whose audit trail is not the one that was entered with it."""
    from tabprotect.engine.register.register import Register

    bundle = sha256(confidential.bundle_within(dossier))
    with Register(place) as register:
        stated = (one.publication.trail_of(bundle) for one in register.contents().entries)
        heads = {head for head in stated if head is not None}
    # The same bytes may have left twice, each time with a dossier.
    if heads and confidential.trail_head(dossier) not in heads:
        confidential.check_trail(dossier, heads.pop())


def _cut_after(dossier: bytes, place: str) -> list[Damage]:
    """Lines of the register that a dossier knows and that are gone."""
    from tabprotect.engine.register.register import Register

    known = confidential.register_head(dossier)
    if known is None:
        return []
    with Register(place) as register:
        there = register.has_head(known)
    return [] if there else [Damage("cut", known.lines)]


def _said(found: Verdict, releases: int) -> str:
    whence = (
        message("From this release")
        if releases == 1
        else message("From these {releases} releases together", releases)
    )
    return message("{whence}: {sentence}", whence, found.sentence)
