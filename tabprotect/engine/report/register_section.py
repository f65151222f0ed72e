"""What the house's register says about a release and its original. Confidential."""

from __future__ import annotations

from dataclasses import dataclass

from tabprotect.engine.agency import made_register
from tabprotect.engine.bundle.staff.release_findings import BEFORE
from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.register.left_before import left_before
from tabprotect.engine.register.register_chain import missing_lines
from tabprotect.engine.register.register_entry import RELATIONS, RegisterEntry
from tabprotect.engine.release.findings import FindingGroup, said
from tabprotect.languages.messages import capital, day_said, message


@dataclass(frozen=True)
class RegisterSection:
    """The register's part of a report.

    Attributes
    ----------
    own
        The entry of this release in words, or a sentence that there is none.
    before
        The earlier releases, and what they reveal together with this one.
    entries
        For each earlier release its number, day, title, method, people, and relation to the table.
    """

    own: str
    before: FindingGroup
    entries: tuple[tuple[str, ...], ...] = ()


def register_section(
    protected: Protected, fingerprint: str, register: str | None = None, progress: Progress = SILENT
) -> RegisterSection:
    """Look up a release and its original.

    A missing register or house key is not created.

    Parameters
    ----------
    fingerprint
        The SHA-256 of the release's bundle.
    register
        A file, a URL or ``none``; by default the house's own.

    Raises
    ------
    Interrupted
        When cancelled.
    """
    if (place := made_register(register)) is None:
        unknown = said(message("What left before is not known without a register."), "mind")
        lost = tuple(said(capital(one.message) + ".", "failed") for one in missing_lines(register))
        group = FindingGroup(BEFORE, lost or (unknown,))
        return RegisterSection(message("There is no register of releases here."), group)
    from tabprotect.engine.register.register import Register

    before = left_before(protected.record.problem, register, release=protected.release, progress=progress)
    try:
        with Register(place) as opened:
            entries = opened.entries()
    except InputError:
        return RegisterSection(message("The register could not be read."), before.group)
    return RegisterSection(
        _own(entries, fingerprint),
        before.group,
        tuple(
            (
                str(e.entry.number),
                e.entry.day,
                e.entry.publication.title,
                e.entry.publication.method_label,
                e.entry.publication.who,
                RELATIONS[e.relation],
            )
            for e in before.earlier
        ),
    )


def _own(entries: list[RegisterEntry], fingerprint: str) -> str:
    mine = [e for e in entries if e.publication.bundle == fingerprint]
    if not mine:
        return message("This release is not in the register.")
    last = mine[-1]
    who = message(" by {who}", last.publication.who) if last.publication.who else ""
    gone = ""
    if (day := last.withdrawn) is not None:
        gone = message(
            " It was withdrawn on {day}: {withdrawn_reason}.", day_said(day), last.withdrawn_reason
        )
    return message(
        "Release number {number}, published on {day}{who}.{gone}", last.number, last.day, who, gone
    )
