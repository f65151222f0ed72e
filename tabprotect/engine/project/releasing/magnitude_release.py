"""How protected sums leave the house: judged with what left before, written, and entered in the register."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tabprotect.engine import house
from tabprotect.engine.atomic import Whole, write_together
from tabprotect.engine.bundle.archive import sha256
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.sums.magnitude_bundle import (
    dossier_bytes,
    public_bytes,
    release_within,
    table_csv,
)
from tabprotect.engine.chained_log import Head
from tabprotect.engine.disclosure.gate import UNJUDGED_HINT
from tabprotect.engine.disclosure.magnitude_verdict import MagnitudeVerdict
from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.errors import RefusedError, TabprotectError
from tabprotect.engine.magnitudes.files.table_files import write_magnitudes
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.magnitudes.tables.released_sums import ReleasedSums
from tabprotect.engine.project.releasing.entering import entry, who_answers
from tabprotect.engine.protection.problem import OVERRULED, STANDING
from tabprotect.engine.register.counts_and_sums import known_beside, of_sums, with_numbers
from tabprotect.engine.register.magnitude_marks import marks_of_sums, sums_before
from tabprotect.engine.register.register_entry import Earlier, LeavingPublication, admit, warnings_of
from tabprotect.languages.messages import joined, message


@dataclass(frozen=True, kw_only=True)
class LeavingSums:
    """Where sums go, and who answers for it.

    Attributes
    ----------
    out, dossier
        ``None`` for none.
    policy
        By default that of the house.
    register
        A file, a URL or ``none``; by default the house's own.
    accept, again
        Why it is published whatever the gate says, and once more.
    prepared_by, approved_by
    signing
        The private keys that sign the bundle.
    page
        Whether there is a page to look at in the bundle.
    """

    out: Path | None = None
    dossier: Path | None = None
    policy: HousePolicy | None = None
    register: str | None = None
    accept: str = ""
    again: str = ""
    prepared_by: str = ""
    approved_by: str = ""
    signing: tuple[Path, ...] = ()
    page: bool = True

    @property
    def who(self) -> str:
        """The names of those who answer for it, else of the program's user."""
        return who_answers(self.prepared_by, self.approved_by)


def decided(
    verdict: MagnitudeVerdict, policy: HousePolicy, accept: str, hint: str
) -> tuple[MagnitudeVerdict, tuple[str, ...]]:
    """A verdict by which a release may leave, with the decisions that it takes.

    Parameters
    ----------
    hint
        What to do instead.

    Raises
    ------
    RefusedError
        If it may not leave.
    """
    if verdict.passed is True:
        return verdict, ()
    reasons: Mapping[str, str] | None = None
    if verdict.passed is None:
        standing = policy.standing
        if all(standing.get(kind) for kind in verdict.left_out):
            reasons = {kind: standing[kind] for kind in verdict.left_out}
    if reasons is not None:
        told = tuple(
            message("{STANDING} ({kind}): {reason}", STANDING, kind, reason)
            for kind, reason in reasons.items()
        )
        return replace(verdict, reason=True), told
    if not accept or (verdict.passed is None and policy.unjudged == "refuse"):
        unjudged = UNJUDGED_HINT if verdict.passed is None else ""
        raise RefusedError(
            verdict.staff_sentence.rstrip("."), hint=joined(filter(None, [hint, unjudged]), "; ")
        )
    told = (message("{OVERRULED}: {accept}. {against}", OVERRULED, accept, verdict.staff_sentence),)
    return replace(verdict, reason=True), told


def other_releases(table: MagnitudeTable, release: ReleasedSums, register: str | None) -> list[Earlier]:
    """Earlier releases of the same sums that tell something else than this one."""
    place = house.register_address(register)
    earlier = [e for e in sums_before(table, register) if e.relation == "original"]
    if place is None or not earlier:
        return []
    from tabprotect.engine.register.register import Register

    with Register(place) as opened:
        return [one for one in earlier if not _tells_the_same(opened.content(one.entry), release)]


def counts_before(table: MagnitudeTable, release: ReleasedSums, register: str | None) -> list[bool]:
    """Of each release of counts of the same records that left, whether readers of the sums are taken to
    know what it tells."""
    place = house.register_address(register)
    earlier = [e for e in sums_before(table, register) if e.relation == "records"]
    if place is None or not earlier:
        return []
    from tabprotect.engine.register.register import Register

    with Register(place) as opened:
        found = [opened.content(one.entry) for one in earlier]
    counts = [data for data in found if data is None or not of_sums(data)]
    return [_known_beside(table, release, data) for data in counts]


def _known_beside(table: MagnitudeTable, release: ReleasedSums, data: bytes | None) -> bool:
    """False also for a bundle that is not kept or cannot be read."""
    from tabprotect.engine.bundle.verify import verify_bytes

    if data is None:
        return False
    try:
        published = verify_bytes(data).release.tables
    except TabprotectError:
        return False
    return known_beside(table.units, published, numbers=with_numbers(release))


def sums_beside(table: MagnitudeTable, release: ReleasedSums, register: str | None) -> bool:
    """Return True if other sums of the same records left that tell something together with these.

    Hidden sums have totals in common with those of another table, and another measure of the same
    records says how large somebody is. Sums with the same factors add up over all tables of a measure,
    and tell of who is alone what one of them tells.
    """
    place = house.register_address(register)
    earlier = [e for e in sums_before(table, register) if e.relation == "records"]
    if place is None or not earlier:
        return False
    from tabprotect.engine.register.register import Register

    with Register(place) as opened:
        found = [opened.content(one.entry) for one in earlier]
    return any(of_sums(data) and not _same_factors(data, release) for data in found if data)


def _same_factors(data: bytes, release: ReleasedSums) -> bool:
    """Whether a bundle holds sums of the same measure with the same factors: their grand total says so."""
    try:
        before = release_within(data).release
    except TabprotectError:
        return False
    same = before.method == release.method == "multiplicative_noise"
    same &= (before.measure, before.decimals) == (release.measure, release.decimals)
    same &= dict(before.parameters) == dict(release.parameters)
    # The grand total is the last cell.
    return same and int(before.value[before.key.argmax()]) == int(release.value[release.key.argmax()])


def _tells_the_same(data: bytes | None, release: ReleasedSums) -> bool:
    try:
        before = None if data is None else release_within(data).release
    except TabprotectError:
        return False
    return (
        before is not None
        and before.method == release.method
        and dict(before.parameters) == dict(release.parameters)
        and table_csv(before) == table_csv(release)
    )


@dataclass(frozen=True)
class Left:
    """A release that was written: its SHA-256, and what the register said of earlier ones."""

    fingerprint: str
    warnings: Sequence[Mapping[str, str]] = ()


def leave(
    table: MagnitudeTable,
    release: ReleasedSums,
    leaving: LeavingSums,
    record: Mapping[str, object],
    decisions: tuple[str, ...],
) -> Left:
    """Write a release and its dossier, and enter it in the register.

    Parameters
    ----------
    record
        What the dossier holds of it.

    Raises
    ------
    RefusedError
        When a name is missing, or the policy allows no second release.
    InputError
        When a file or the register cannot be written, or a key cannot be read.
    """
    policy = leaving.policy or HousePolicy()
    data = public_bytes(release, leaving.signing, page=leaving.page)
    if leaving.out is None and leaving.dossier is None:
        return Left(sha256(data))
    if policy.signatures == 2 and policy.unsigned(leaving.prepared_by, leaving.approved_by):
        raise RefusedError(
            message("by the policy of the house two people answer for a release"),
            hint=message(
                "name who prepared it (prepared_by), and somebody else who approves it (approved_by)"
            ),
        )
    earlier = sums_before(table, leaving.register, but=sha256(data))
    admit(earlier, policy.second_release, leaving.again or leaving.accept)
    with _entered(table, release, data, leaving, decisions) as head:
        files = []
        if leaving.dossier is not None:
            kept = confidential.kept_name(leaving.dossier, data)
            content = {
                **record,
                "decisions": list(decisions),
                "prepared_by": leaving.prepared_by or leaving.who,
                "approved_by": leaving.approved_by,
                "release": sha256(data),
            }
            whole = dossier_bytes(content, data, _parquet(table), None if head is None else head.as_json())
            files.append(Whole(leaving.dossier, whole, private=True, kept=kept))
        if leaving.out is not None:
            files.append(Whole(leaving.out, data))
        write_together(files)
    return Left(sha256(data), warnings_of(earlier))


@contextmanager
def _entered(
    table: MagnitudeTable,
    release: ReleasedSums,
    data: bytes,
    leaving: LeavingSums,
    decisions: tuple[str, ...],
) -> Iterator[Head | None]:
    """The entry of a bundle whose files the block writes; it is taken back if the block fails."""
    place = house.register_address(leaving.register)
    if place is None or leaving.out is None:
        yield None
        return
    from tabprotect.engine.register.register import Register

    gate = release.gate
    stated = {} if gate is None else {"gate": vars(gate) | {"left_out": list(gate.left_out)}}
    leaving_sums = LeavingPublication(
        marks_of_sums(table, house.key()),
        sha256(data),
        release.method,
        release.title,
        stated,
        decisions,
        leaving.who,
        "" if leaving.dossier is None else str(leaving.dossier.absolute()),
    )
    with Register(place) as opened, entry(opened, leaving_sums, data) as head:
        yield head


def _parquet(table: MagnitudeTable) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "original.parquet"
        write_magnitudes(table, path)
        return path.read_bytes()
