"""Earlier releases of a table, and what readers learn from them and this release. Confidential."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tabprotect.engine.agency import made_register
from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.archive import sha256
from tabprotect.engine.bundle.staff.release_findings import BEFORE, read_together
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import (
    AGAIN,
    InfeasibleError,
    InputError,
    Interrupted,
    RefusedError,
    Suggestion,
    TabprotectError,
)
from tabprotect.engine.plain_values.encoding import keyed
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.problem import Problem, StaffVerdict
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.register.people.parts_of_sums import SumsInCommon, SumsReading
from tabprotect.engine.register.people.reading_together import (
    Drawn,
    JointReading,
    LookedUp,
    ReadingTogether,
    by_people,
    look_up,
    marks,
    same_draw,
)
from tabprotect.engine.register.register_chain import Damage, lost, missing_lines
from tabprotect.engine.register.register_entry import Earlier, RefusedMechanism, numbers_said, warnings_of
from tabprotect.engine.register.spending import spending_warning, spent_before
from tabprotect.engine.release.findings import Finding, FindingGroup, Omission, State, kinds, said
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.privacy import Spent
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.verdict_figures import Verdict
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import capital, joined, message, plural

LOST = message("The register lacks lines that it had: what left before is not known")
"""What is said of a register that is not whole."""

MOST_NAMED = 12
"""Earlier releases that are named one by one, where the house is asked."""

RESTORE = message("put the register back from its copy; or say why it is published all the same")


def spent_on_refusals(
    refused: Iterable[RefusedMechanism], domain: Domain, release: Release | None = None
) -> Spent:
    """The budgets of all draws that the gate refused for an original.

    Parameters
    ----------
    release
        What is to leave now. By the coins of the house it is the very draw that its own mechanism
        was refused with, which counts once.
    """
    found = []
    for one in refused:
        mechanism = one.mechanism(domain)
        if mechanism is None or (release is not None and same_draw(mechanism, release)):
            continue
        method = methods()[mechanism.method]
        budget = method.privacy(domain, method.resolve(domain, mechanism.parameters))
        if budget is not None:
            draws = 1 if mechanism.gate is None else mechanism.gate.attempts_at_most
            found.append(budget.total.times(draws))
    return Spent.together(found) if found else Spent()


def damaged(register: str | None = None) -> tuple[Damage, ...]:
    """Return what is not as it was entered; nothing without a register.

    Raises
    ------
    InputError, ParameterError
        If the register cannot be read, or belongs to another key.
    """
    if (place := made_register(register)) is None:
        return missing_lines(register)
    from tabprotect.engine.register.register import Register

    with Register(place) as opened:
        return opened.contents().damaged


@dataclass(frozen=True)
class LeftBefore:
    """Earlier releases that bear on a table.

    Attributes
    ----------
    earlier
        The closest first.
    together
        What readers of all releases of the same original learn, the release at hand included;
        ``None`` if no other could be read beside it.
    read
        The earlier ones that were read: each draw once, whatever its title or signature.
    unread_numbers
        The releases of the same original that could not be read, by their numbers: their bytes are not kept or
        not readable, or their variables or categories are in another order or have other names.
    releases
        Number of releases read together, the one at hand included.
    spent
        What private releases that may count the same people spend together, the one at hand included;
        ``None`` without any.
    error
        The reason why it is not known what left before, if so.
    damaged
        What in the register is not as it was entered: what left before may be more.
    alone
        The verdict on the release at hand by itself, where the caller has it.
    again
        Numbers under which the release at hand itself left, which is no other release.
    questions
        Numbers of those of which the house has to say whether they count the same people.
    sums
        What readers learn of sums that may be parts of others.
    unweighed
        Whether it is not known that what else was refused beside them tells little enough.
    changes
        Whether nothing stands against it but that the people are, or may be, the same some time later.
    placed
        Who came or went and is known, in words.
    """

    earlier: tuple[Earlier, ...] = ()
    together: StaffVerdict | None = None
    read: tuple[Earlier, ...] = ()
    unread_numbers: tuple[int, ...] = ()
    releases: int = 0
    spent: Spent | None = None
    error: TabprotectError | None = None
    damaged: tuple[Damage, ...] = ()
    alone: Verdict | None = None
    again: tuple[int, ...] = ()
    questions: tuple[int, ...] = ()
    sums: SumsInCommon = field(default_factory=SumsInCommon)
    unweighed: bool = False
    changes: bool = False
    placed: tuple[str, ...] = ()

    @property
    def more(self) -> int:
        """Return how many more small counts readers would be sure of than from the release by itself; 0 where
        either was not judged."""
        together, alone = self.together, self.alone
        if together is None or alone is None or not (together.judged and alone.judged):
            return 0
        return max(together.known - alone.known, 0)

    @property
    def unread(self) -> int:
        """Return how many earlier releases could not be compared."""
        return len(self.unread_numbers)

    @property
    def close(self) -> tuple[Earlier, ...]:
        """The earlier publications of the same original or the same records."""
        return tuple(e for e in self.earlier if e.relation != "variables")

    @property
    def warnings(self) -> list[dict[str, str]]:
        """One warning for each way in which they bear on the table, the first with what all tell."""
        rest = [] if self.spent is None else [spending_warning(self.spent)]
        rest += [{"kind": "register_damaged", "message": one.message} for one in self.damaged]
        rest += [{"kind": "register_lost", "message": LOST}] * self.lost
        first, *others = warnings_of(self.earlier) or [{}]
        if not first:
            return rest
        rest_of = self.sentence.rstrip(".") or message("What they tell together is not worked out")
        both = message("{message}. {sentence}", first["message"], rest_of)
        return [first | {"message": both}, *others, *rest]

    @property
    def lost(self) -> bool:
        """Return True if the register is known to have had lines that it lacks."""
        return lost(self.damaged)

    @property
    def unjudged(self) -> bool:
        """Return True if what releases of the same original tell together is not known, or not all of it."""
        together = self.together
        return bool(
            self.lost
            or self.error is not None
            or self.unread
            or self.sums.known
            or self.unweighed
            or (together is not None and together.passed is None)
        )

    @property
    def left_out(self) -> tuple[Omission, ...]:
        """The kinds of what is not judged: where all releases were read, what that verdict leaves out."""
        read = not (self.lost or self.error is not None or self.unread or self.sums.known)
        together, refused = self.together, ["attempts"] if self.unweighed else []
        if read and (together is not None or refused):
            return kinds([] if together is None else together.left_out, refused)
        return kinds(["other_releases"], refused)

    def refuses(self, policy: AgencyPolicy, reason: str) -> bool:
        """Return True if together they are beyond the limits, and may not leave so."""
        if self.together is None or not self.together.failing or policy.together == "warn":
            return False
        return policy.together == "refuse" or not reason

    def refused(self, policy: AgencyPolicy, reason: str) -> bool:
        """Return True if that is a refusal to be remembered.

        Where nothing but who came or went would be known, it was a look at the changes, as free as a draft:
        the same whether the house has said that the people are the same some time later, or is asked.
        """
        return self.refuses(policy, reason) and not self.changes

    def admit(self, policy: AgencyPolicy, reason: str) -> None:
        """Refuse a release that may not go out beside the earlier ones.

        Parameters
        ----------
        reason
            Why it is published all the same; empty for none.

        Raises
        ------
        RefusedError
            If together they are beyond the limits, or that is not known, and the policy refuses
            that, or takes a reason and there is none.
        """
        if policy.together == "warn":
            return
        self.sums.admit(policy.together, reason)
        if self.questions and not reason:
            told = self.sentence if self.together is not None and self.together.failing else self._unread
            raise RefusedError(
                joined([told.rstrip("."), self.question], ". "),
                hint=message(
                    "where all of them are to leave, protect them as one set, such as men, women and all: "
                    "protect-set FILE FILE --by NAME; where they are other people, say so (people {other})",
                    self._of_others,
                ),
                answers=(AGAIN, ({}, ("--people", self._of_others))),
            )
        if self.refuses(policy, reason):
            raise RefusedError(
                self.sentence.rstrip("."),
                hint=message("the house's policy takes a reason: say why it is published")
                if policy.together == "reason"
                else message(
                    "who came or went would be known: publish when more has changed, or without exact sums"
                )
                if self.changes
                else message(
                    "the house's policy lets out nothing that tells too much together; what else "
                    "is drawn for this table takes a reason, as this refusal tells of it, too"
                ),
                answers=(AGAIN,) if policy.together == "reason" else (),
            )
        if self.unjudged and not (self.together is not None and self.together.failing):
            standing = policy.standing_reasons(self.left_out)
            if not standing and (policy.unjudged == "refuse" or not reason):
                text = LOST if self.lost else self.sentence or self._unread
                of_error = () if self.error is None else self.error.answers
                if self.together is not None and (self.unread or self.unweighed):
                    text = joined([text.rstrip("."), self._unread], ". ")
                raise RefusedError(
                    text.rstrip("."),
                    hint=RESTORE
                    if self.lost
                    else message("what was not judged takes a reason: say why it is published again")
                    if policy.unjudged == "reason"
                    else message("the house's policy lets out nothing that was not judged"),
                    answers=(*of_error, *[AGAIN] * (policy.unjudged == "reason")),
                )

    @property
    def answers(self) -> tuple[Suggestion, ...]:
        """The answers that only the house can give: that other people are counted."""
        if len(self.questions) > MOST_NAMED:
            return (Suggestion(message("Other people than in all earlier releases"), {"people": "other"}),)
        return tuple(
            Suggestion(message("Other people than in no. {number}", number), {"people": f"other:{number}"})
            for number in self.questions
        )

    @property
    def _of_others(self) -> str:
        """The answer that all of them count other people."""
        named = joined(map(str, self.questions), ",")
        return "other" if len(self.questions) > MOST_NAMED else f"other:{named}"

    @property
    def question(self) -> str:
        """Say which earlier releases may count the same people, where that makes a difference."""
        return plural(
            len(self.questions),
            "Some of these people may be counted in no. {numbers} as well",
            "Some of these people may be counted in no. {numbers} as well",
            numbers_said(self.questions),
        )

    @property
    def _unread(self) -> str:
        if self.error is not None:
            return message("It is not known what left before: {error}.", self.error)
        if self.unweighed and not self.unread:
            return message(
                "Not worked out: what it tells that other settings were refused beside earlier releases."
            )
        return plural(
            self.unread,
            "No. {numbers} could not be compared with this one: find it in the register.",
            "No. {numbers} could not be compared with this one: find them in the register.",
            numbers_said(self.unread_numbers),
        )

    @property
    def sentence(self) -> str:
        """Say what readers of all of them would know; empty if nothing is read together."""
        found, read = self.together, self.read
        if found is None:
            return self.sums.sentence
        last = read[0].entry.number
        what = (
            message("no. {last}", last)
            if len(read) == 1
            else message("{read} releases up to no. {last}", len(read), last)
        )
        told = read_together(found, what, more=self.more).rstrip(".")
        return joined([told, *self.placed], ". ") + "."

    @property
    def group(self) -> FindingGroup:
        """The same as lines of a check."""
        texts = [warning["message"] for warning in self.warnings]
        found = [said(capital(text) + ".", "mind") for text in texts]
        found += self.beside
        nothing = message("No. Nothing of this table was published before.")
        if self.again:
            numbers = joined(map(str, self.again), ", ")
            nothing = message(
                "Yes: this very release, no. {numbers}. Nothing else of this table was published.", numbers
            )
        return FindingGroup(BEFORE, tuple(found) or (said(nothing, "passed"),))

    @property
    def beside(self) -> tuple[Finding, ...]:
        """The releases read together, and those that could not be."""
        if self.error is not None:
            return (said(self._unread, "failed"),)
        found, together = [said(LOST + ".", "failed")] if self.lost else [], self.together
        if together is not None:
            # A reason lets it out; it does not make it judged.
            fine = together.passed is True and not together.certain
            state: State = "failed" if together.passed is False else "passed" if fine else "mind"
            found.append(said(self.sentence, state, shows="cells" if not fine or self.more > 0 else ""))
        if self.sums.known:
            found.append(said(self.sums.sentence, "failed"))
        if self.unread:
            found.append(said(self._unread, "mind"))
        return tuple(found)

    def as_json(self) -> dict[str, object] | None:
        """Return it for ``--json``: the number of releases read together, and the verdict on them."""
        return None if self.together is None else keyed(self, "releases verdict=together")


def _with_own(spent: Spent, release: Release | None) -> Spent:
    """What is spent with the budget of the release at hand."""
    own = None if release is None else release.mechanism.privacy
    return spent if own is None else Spent.together([spent, own.total])


def left_before(
    problem: Problem,
    register: str | None = None,
    *,
    release: Release | None = None,
    whole: bytes | None = None,
    policy: AgencyPolicy | Gate | None = None,
    looked_up: LookedUp | None = None,
    progress: Progress = SILENT,
) -> LeftBefore:
    """Look up what left before; a missing register or house key is not created.

    Parameters
    ----------
    register
        A file, a URL or ``none``; by default the house's own.
    release
        The release at hand, which is read beside the earlier ones. The same release does not count
        as another, whoever signed it.
    whole
        What would be entered for it, if not its bundle: the manifest of a set.
    looked_up
        What the register holds, where it was just asked.

    Raises
    ------
    Interrupted
        If cancelled.
    """
    try:
        looked_up = looked_up or look_up(problem, register)
        return _left_before(problem, looked_up, (release, whole), policy, progress)
    except Interrupted:
        raise
    except TabprotectError as error:
        return LeftBefore(error=error)


def _left_before(
    problem: Problem,
    looked_up: LookedUp,
    at_hand: tuple[Release | None, bytes | None],
    policy: AgencyPolicy | Gate | None,
    progress: Progress,
) -> LeftBefore:
    release, whole = at_hand
    wrong, earlier = looked_up.damaged, by_people(problem, looked_up)
    refused = spent_on_refusals(looked_up.refused.values(), problem.table.domain, release)
    spending = looked_up.spending(release)
    if not spending:
        spent = None if refused == Spent() else _with_own(refused, release)
        return LeftBefore(damaged=wrong, spent=spent)
    all_of_them = earlier
    if whole is not None:
        earlier = [one for one in earlier if one.entry.publication.bundle != sha256(whole)]
    together = ReadingTogether(problem, release, policy, looked_up, progress)
    opened = together.opened(earlier)
    # A file of the release at hand itself, perhaps with another page or signature.
    again = [] if release is None else _again(problem, release, opened)
    earlier = [one for one in earlier if not any(one is other for other in again)]
    left = [one.entry.number for one in all_of_them if one not in earlier]
    # Of all that has variables of the same names the latest are read; what left before tells nothing new.
    older = () if left or problem.people.of(0) is not None else looked_up.older
    read = [] if left else earlier
    sums = SumsInCommon() if release is None else _sums(problem, release, read, looked_up, progress)
    if release is not None and not release.counted:
        # Other magnitudes of the same records are weighed by the verdict of the release itself.
        return LeftBefore(
            tuple(earlier),
            unread_numbers=tuple(sorted({*sums.unread, *older})),
            damaged=wrong,
            again=tuple(sorted(left)),
            questions=older,
            sums=sums,
        )
    try:
        found = JointReading((), frozenset(), None) if left else together.of(earlier, opened)
    except (InputError, InfeasibleError):
        # They cannot be of the same records, or the counts are too many to be laid out.
        close = frozenset(one.entry.number for one in earlier if one.relation != "variables")
        found = JointReading((), close, None)
    before = [one for one in spending if one.entry.number not in left]
    spent = _with_own(spent_before(before, problem.people, refused), release)
    return LeftBefore(
        tuple(earlier),
        found.verdict,
        found.read,
        tuple(sorted({*found.unread, *sums.unread, *older})),
        len(found.read) + (found.verdict is not None and release is not None),
        None if spent == Spent() else spent,
        damaged=wrong,
        again=tuple(sorted(left)),
        questions=tuple(sorted({*found.questions, *older})),
        sums=sums,
        unweighed=found.unweighed,
        changes=found.changes,
        placed=found.placed,
    )


def _again(problem: Problem, release: Release, opened: Drawn) -> list[Earlier]:
    """The publications of which a release is a file once more.

    Raises
    ------
    RefusedError
        If it is the draw of one that is said to count other people: a reader sees that all counts are equal.
    """
    # Late: it imports the posteriors.
    from tabprotect.engine.belief.evidence import draw_of

    mechanism, original = release.mechanism, marks(problem).original
    method = methods("magnitudes" if release.magnitudes else "counts")[mechanism.method]
    by_chance = method.is_random(mechanism.values)
    same = [one for one in opened if one[0].entry.publication.marks.original == original]
    for one, other in same:
        again = draw_of(other) == draw_of(release) if by_chance else public.same_content(other, release)
        if one.relation == "variables" and again:
            text = message("of other people it is the very draw of no. {number}", one.entry.number)
            raise RefusedError(text, answers=(({"fresh": True}, ("--fresh",)),) * by_chance)
    return [one for one, other in same if one.relation == "original" and public.same_content(other, release)]


def _sums(
    problem: Problem, release: Release, earlier: Iterable[Earlier], looked_up: LookedUp, progress: Progress
) -> SumsInCommon:
    """What a release of sums tells together with earlier ones that may be of a part of its records."""

    def shows(one: Release) -> bool:
        """Return True if the sums that it shows are the true ones."""
        return bool(one.magnitudes) and methods("magnitudes")[one.mechanism.method].takes_rules

    if problem.magnitudes is None or not shows(release):
        return SumsInCommon()
    wanted = [one for one in earlier if one.relation == "variables"]
    return SumsReading(problem.magnitudes, release.magnitude_table, problem.people, progress).of(
        (one.entry.number, before.magnitude_table)
        for one, before in looked_up.releases(wanted, progress)
        if shows(before)
    )
