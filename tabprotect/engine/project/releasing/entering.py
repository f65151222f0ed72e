"""Entering a published release into the house's register.

The register is imported late: the library behind it would take a third of the program's start.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.engine.bundle.archive import sha256
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.chained_log import Head
from tabprotect.engine.disclosure.policy import Again
from tabprotect.engine.errors import BundleError, ParameterError
from tabprotect.engine.house import is_unmade, register_address, user_name
from tabprotect.engine.house import key as house_key
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.register.reading_together import marks
from tabprotect.engine.register.refused_spending import spent_on_refusals
from tabprotect.engine.register.register_entry import (
    COINS,
    LeavingPublication,
    admit,
    admit_spending,
    coins_mark,
    related,
    same_coins,
    with_the_same_coins,
)
from tabprotect.engine.release.privacy import KEY as PRIVACY
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.register.register import Register


@contextmanager
def entered(
    protected: Protected,
    data: bytes,
    *,
    register: str | None,
    rule: Again,
    reason: str,
    dossier: Path | None,
    epsilon_limit: float = 0.0,
) -> Iterator[Head | None]:
    """Enter a bundle whose files the block writes; the entry is withdrawn if the block fails.

    The entry comes first: a release that nobody can look up is worse than an entry too many. The
    block gets the register's head, for the dossier; ``None`` without a register.

    Raises
    ------
    RefusedError
        When the policy allows no second release, or none without a reason, or no such budget.
    InputError
        When the register cannot be written.
    """
    place = register_address(register)
    if place is None:
        admit_spending((), protected.release.mechanism.privacy, epsilon_limit)
        yield None
        return
    from tabprotect.engine.register.register import Register

    problem, release = protected.record.problem, protected.release
    bundle = sha256(data)
    own = marks(problem)
    coins = coins_mark(protected.record.seed, house_key())
    with Register(place) as opened:
        entries = opened.entries()
        # The same bytes again are no new release, and are not examined a second time.
        out = any(
            e.publication.bundle == bundle
            and e.publication.marks.original == own.original
            and e.withdrawn is None
            for e in entries
        )
        if not out:
            earlier = related(own, entries, but=bundle)
            admit(earlier, rule, reason)
            refused = opened.refused(own.original).values()
            admit_spending(
                earlier,
                release.mechanism.privacy,
                epsilon_limit,
                refused=spent_on_refusals(refused, release.domain, release),
            )
        leaving = LeavingPublication(
            own,
            bundle,
            release.mechanism.method,
            release.title,
            _gate(release) | ({COINS: coins} if release.mechanism.coins else {}),
            protected.record.decisions,
            who_answers(protected.record.prepared_by, protected.record.approved_by),
            "" if dossier is None else str(dossier.absolute()),
        )
        with entry(opened, leaving, data) as head:
            yield head


@contextmanager
def entry(opened: Register, leaving: LeavingPublication, data: bytes) -> Iterator[Head]:
    """An entry of an open register for as long as the block succeeds, with the register's head."""
    number = opened.add(leaving, data)
    try:
        yield opened.head()
    except BaseException:
        if number is not None:
            opened.forget(number)
        raise


def admit_coins(protected: Protected, bundle: bytes, register: str | None, reason: str) -> None:
    """Refuse a release with the given coins of another draw: the same coins twice are no two chances.

    A short seed is no secret anyway, and takes a reason of its own.

    Raises
    ------
    RefusedError
        If a given seed was used before for another draw, and no reason is given.
    """
    drawn, place = protected.record.randomness, register_address(register)
    if not drawn.given or drawn.short or reason or place is None or is_unmade(place):
        return
    from tabprotect.engine.belief.evidence import draw_of
    from tabprotect.engine.register.register import Register

    own, mine = marks(protected.record.problem), draw_of(protected.release)
    with Register(place) as opened:
        mark = coins_mark(drawn.seed, house_key())
        for one in with_the_same_coins(related(own, opened.entries()), mark):
            # Of a set the register keeps what its bundles are sealed with, which is not read again.
            if one.entry.publication.bundle == sha256(bundle):
                continue
            content = opened.content(one.entry)
            try:
                same = content is not None and draw_of(verify_bytes(content).release) == mine
            except (BundleError, ParameterError):
                same = False
            if not same:
                raise same_coins(one.entry)


def _gate(release: Release) -> dict[str, object]:
    gate, privacy = release.mechanism.gate, release.mechanism.privacy
    return {
        **({} if gate is None else gate.as_json()),
        **({} if privacy is None else {PRIVACY: privacy.as_json()}),
    }


def who_answers(prepared_by: str, approved_by: str) -> str:
    """The names of those who answer for a release, else the name of the program's user."""
    approved = message("approved by {approved_by}", approved_by) if approved_by else ""
    return ", ".join(filter(None, [prepared_by, approved])) or user_name()
