"""Entering a published release into the house's register.

The register is imported late: the library behind it would take a third of the program's start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.engine.agency import key as house_key
from tabprotect.engine.agency import register_address, user_name
from tabprotect.engine.atomic import Whole, write_together
from tabprotect.engine.bundle import archive
from tabprotect.engine.bundle.archive import sha256
from tabprotect.engine.bundle.encryption import encrypted
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.chained_log import NO_LINES, Head
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.paths import remark_on_versions
from tabprotect.engine.protection.people import People
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.register.left_before import spent_on_refusals
from tabprotect.engine.register.people.reading_together import LookedUp
from tabprotect.engine.register.register_entry import (
    COINS,
    PEOPLE,
    TRAIL,
    LeavingPublication,
    OriginalMarks,
    admit,
    coins_mark,
    same_coins,
    with_the_same_coins,
)
from tabprotect.engine.register.spending import admit_spending
from tabprotect.engine.release.privacy import KEY as PRIVACY
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.project.options import Publishing
    from tabprotect.engine.register.register import Register
    from tabprotect.engine.register.register_chain import Damage


class EnteredMeanwhile(Exception):  # noqa: N818
    """Something that bears on a release was entered since it was judged: it is judged once more."""


NO_REGISTER = message(
    "no register: that this table leaves is nowhere noted, and nothing that left before was looked up"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Outgoing:
    """A release that is ready to leave: all bytes are there, and no file is touched yet.

    Attributes
    ----------
    release
    marks
        Gives those of its original: the house's key is not made where there is no register.
    files
        What readers get, by path.
    sealed
        What is entered in the register: the bundle, or the manifest of a set.
    whole
        The bundle that the dossier belongs to.
    kept
        What the house keeps of it, by the names of the dossier's files; empty for no dossier.
    decisions
        Taken against the program's advice.
    who
        Who answers for it.
    trail
        The last line of the dossier's audit trail.
    secret
        The passphrase that the dossier is encrypted with; empty for none.
    seed
        Of its coins, where the release states where these come from; else ``None``.
    people
        Whether earlier releases count the same people, as the house says.
    looked_up
        What the register held when it was judged.
    """

    release: Release
    marks: Callable[[], OriginalMarks]
    files: Mapping[Path, bytes]
    sealed: bytes
    whole: bytes
    kept: Mapping[str, bytes]
    decisions: tuple[str, ...]
    who: str
    trail: Head = NO_LINES
    secret: bytes = field(default=b"", repr=False)
    seed: int | None = field(default=None, repr=False)
    people: People = field(default_factory=People)
    looked_up: LookedUp = field(default_factory=LookedUp, repr=False)

    def leave(
        self, asked: Publishing, policy: AgencyPolicy, register: str | None, reason: str
    ) -> tuple[str, ...]:
        """Enter it in the register and write its files, both or neither; what is to be noted.

        Parameters
        ----------
        reason
            Why a table that left before is published again.

        Raises
        ------
        RefusedError
            When the policy allows no second release, or none without a reason, or no such budget.
        InputError
            When a file or the register cannot be written.
        EnteredMeanwhile
            When something that bears on it was entered since it was judged.
        """
        dossier = None if asked.dossier is None else Path(asked.dossier)
        kept = None if dossier is None else confidential.kept_name(dossier, self.whole)
        files = [Whole(path, data, asked.overwrite) for path, data in self.files.items()]
        with self._entered(policy, register, reason, dossier) as head:
            if dossier is not None:
                said = confidential.sealed(self.kept, None if head is None else head.as_json())
                packed = archive.pack(said)
                packed = encrypted(packed, self.secret) if self.secret else packed
                # The dossier comes first: without it a release could never be accounted for.
                files.insert(0, Whole(dossier, packed, asked.overwrite, private=True, kept=kept))
            write_together(files)
        notes = []
        if kept is not None:
            notes.append(message("the dossier of another release was there: it is now {name}", kept.name))
        if dossier is not None and (remark := remark_on_versions(dossier)):
            notes.append(remark)
        return tuple(notes)

    @contextmanager
    def _entered(
        self, policy: AgencyPolicy, register: str | None, reason: str, dossier: Path | None
    ) -> Iterator[Head | None]:
        """Enter it while its files are written; the entry is withdrawn if that fails.

        The entry comes first: a release that nobody can look up is worse than an entry too many.
        """
        place, release, bundle = register_address(register), self.release, sha256(self.sealed)
        if place is None:
            admit_spending((), release.mechanism.privacy, policy.epsilon_limit, self.people)
            yield None
            return
        from tabprotect.engine.register.register import Register

        own = self.marks()
        with Register(place) as opened:
            if not self.looked_up.stands(opened, own):
                raise EnteredMeanwhile
            same = [one for one in self.looked_up.earlier if one.entry.publication.bundle == bundle]
            # The same bytes again are no new release, and are not examined a second time.
            if not any(one.relation == "original" and one.entry.withdrawn is None for one in same):
                earlier = [one for one in self.looked_up.earlier if one not in same]
                admit(earlier, policy.second_release, reason)
                refused = self.looked_up.refused.values()
                admit_spending(
                    [one for one in self.looked_up.spending(release) if one not in same],
                    release.mechanism.privacy,
                    policy.epsilon_limit,
                    self.people,
                    spent_on_refusals(refused, release.domain, release),
                )
            leaving = LeavingPublication(
                own,
                bundle,
                release.mechanism.method,
                release.title,
                _gate(release)
                | ({} if self.seed is None else {COINS: coins_mark(self.seed, house_key())})
                | ({PEOPLE: str(self.people)} if self.people.answers else {})
                | ({} if dossier is None else {TRAIL: {**self.trail.as_json(), "of": sha256(self.whole)}}),
                self.decisions,
                self.who,
                "" if dossier is None else str(dossier.absolute()),
            )
            with entry(opened, leaving, self.sealed) as head:
                yield head


def told_of_register(
    decisions: tuple[str, ...], damaged: Sequence[Damage], register: str | None, again: str
) -> tuple[str, ...]:
    """Decisions with why a table leaves again, and what the register leaves unknown."""
    said = [message("published again: {reason}", again)] if again else []
    said += [one.message for one in damaged]
    if register_address(register) is None:
        said.append(NO_REGISTER)
    return tuple(dict.fromkeys((*decisions, *said)))


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


def admit_coins(protected: Protected, bundle: bytes, looked_up: LookedUp, reason: str) -> None:
    """Refuse a release with the given coins of another draw: the same coins twice are no two chances.

    A short seed is no secret anyway, and takes a reason of its own.

    Raises
    ------
    RefusedError
        If a given seed was used before for another draw, and no reason is given.
    """
    drawn = protected.record.randomness
    if not drawn.given or drawn.short or reason or not looked_up.earlier:
        return
    from tabprotect.engine.belief.evidence import draw_of

    alike = with_the_same_coins(looked_up.earlier, coins_mark(drawn.seed, house_key()))
    # Of a set the register keeps what its bundles are sealed with, which is not read again.
    alike = [one for one in alike if one.entry.publication.bundle != sha256(bundle)]
    drawn_before = {one.entry.number: draw_of(release) for one, release in looked_up.releases(alike)}
    for one in alike:
        if drawn_before.get(one.entry.number) != draw_of(protected.release):
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
