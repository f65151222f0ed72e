"""How protected sums leave the house: judged with what left before, and entered in the register."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tabprotect.engine import house
from tabprotect.engine.bundle.tables.data_package import table_csv
from tabprotect.engine.bundle.verify import of_magnitudes, verify_bytes
from tabprotect.engine.disclosure.gate import UNJUDGED_HINT
from tabprotect.engine.disclosure.magnitude_verdict import MagnitudeVerdict
from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.errors import RefusedError, TabprotectError
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.protection.problem import OVERRULED, STANDING
from tabprotect.engine.protection.registered import magnitude_methods
from tabprotect.engine.register.counts_and_magnitudes import known_beside, marks_of_sums, with_numbers
from tabprotect.engine.register.register_entry import Earlier, related
from tabprotect.engine.release.left_out import kinds
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import joined, message


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
    reasons = policy.standing_reasons(verdict.left_out) if verdict.passed is None else None
    if reasons:
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


@dataclass(frozen=True)
class MagnitudesBefore:
    """The releases of the same records that left before.

    Attributes
    ----------
    earlier
        The closest first.
    unweighed
        Whether it and these sums tell something together that was not weighed.
    counted
        Whether counts are among it: readers know how many contribute to each sum.
    """

    earlier: Sequence[Earlier] = ()
    unweighed: bool = False
    counted: bool = False

    def beside(self, verdict: MagnitudeVerdict) -> MagnitudeVerdict:
        """A verdict with what left before among what it leaves out."""
        if self.unweighed:
            verdict = replace(verdict, left_out=kinds(verdict.left_out, ["other_releases"]))
        return replace(verdict, numbers=verdict.cells) if self.counted else verdict


def magnitudes_before(table: MagnitudeTable, release: Release, register: str | None) -> MagnitudesBefore:
    """Look up what left of the same records.

    Hidden sums have totals in common with those of another table, and another measure of the same
    records says how large somebody is. True counts tell readers how many contribute, as they are taken to
    know anyway; others were changed to protect somebody.

    Parameters
    ----------
    register
        A file, a URL or ``none``; by default the house's own.

    Raises
    ------
    InputError
        If the register cannot be read.
    """
    place = house.register_address(register)
    if place is None or house.is_unmade(place):
        return MagnitudesBefore()
    from tabprotect.engine.register.register import Register

    with Register(place) as opened:
        earlier = related(marks_of_sums(table, house.key()), opened.entries())
        contents = [(one.relation, opened.content(one.entry)) for one in earlier]
    weighed = [
        _tells_the_same(data, release) if relation == "original" else _weighed(table, release, data)
        for relation, data in contents
        if relation in ("original", "records")
    ]
    counted = any(
        relation == "records" and (data is None or not of_magnitudes(data)) for relation, data in contents
    )
    return MagnitudesBefore(earlier, not all(weighed), counted)


def _weighed(table: MagnitudeTable, release: Release, data: bytes | None) -> bool:
    """Return True if another release of the same records tells nothing together with these sums."""
    if data is None:
        return False
    try:
        if of_magnitudes(data):
            method = magnitude_methods()[release.mechanism.method]
            return method.adds_nothing(verify_bytes(data).release, release)
        numbers = with_numbers(release.magnitude_table)
        return known_beside(table.units, verify_bytes(data).release.tables, numbers=numbers)
    except TabprotectError:
        return False


def _tells_the_same(data: bytes | None, release: Release) -> bool:
    try:
        before = None if data is None else verify_bytes(data).release
    except TabprotectError:
        return False
    return (
        before is not None
        and before.mechanism.method == release.mechanism.method
        and dict(before.mechanism.parameters) == dict(release.mechanism.parameters)
        and table_csv(before.magnitude_table) == table_csv(release.magnitude_table)
    )
