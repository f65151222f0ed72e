"""The gate: draw, judge the release alone, draw again up to a stated cap, publish or refuse.

P(original | release, let through) is proportional to prior(original) P(release | original) A(release):
a refusal that depends on the release alone cancels. The number of draws is kept by the house and
stated nowhere else; every shell publishes through :func:`protect`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import islice

from tabprotect.engine.belief.effort import ATTEMPT, OTHERS, VERDICT, Effort
from tabprotect.engine.disclosure.choosing.acceptance_probability import (
    Setting,
    judged_elsewhere,
    judged_trials,
    other_methods,
    passes_here,
    remedies_here,
    untried,
    what_helps,
    within_budget,
)
from tabprotect.engine.disclosure.exact_small_margins import largest_safe_margins, small_sums
from tabprotect.engine.disclosure.policy import AgencyPolicy, KeptSmall
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.disclosure.ways import Ways, alone_of, by_default
from tabprotect.engine.errors import ACCEPT, KEPT_SMALL, Answer, RefusedError, Suggestion, attempted
from tabprotect.engine.fitting.margin_variance import UNDONE, words
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import OVERRULED, STANDING, Problem, Protected, StaffVerdict
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.remedy import OTHERWISE
from tabprotect.engine.protection.simulate import Runs, trial_coins
from tabprotect.engine.protection.subtables import KEEP
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.findings import Omission, kinds
from tabprotect.engine.release.limits import Limits
from tabprotect.engine.release.mechanism import Gate, RefusedDraws
from tabprotect.engine.release.verdict_figures import kept_in_words, kept_sums_named
from tabprotect.languages.messages import joined, message

UNSTATED = message("no reason was given")

BY_POLICY, DECIDED = message("by the policy of the house"), message("decided for this release")
"""Why small sums are kept, where no other reason is given."""

EVERY_WAY = 100
"""Cells up to which every way without small sums is tried: of more the first that passes is offered, as to
hide them takes minutes where a table has many ways."""

TOO_LARGE = 100_000
"""Cells beyond which a draw that cannot be judged is the last: what makes a table too large for it
is the same in the next."""

UNWEIGHED_HINT = message(
    "where a register keeps this refusal, other settings take a reason, too: what the refusal tells "
    "is not worked out for such a table"
)

HOPELESS = message(
    "none of the tables drawn from the sums that it publishes exactly would pass; nothing was drawn of this one"
)

UNJUDGED_HINT = message("or publish it with a stated reason; the policy can hold a standing reason")


def protect(
    method: Method,
    problem: Problem,
    given: Mapping[str, object],
    randomness: Randomness,
    *,
    policy: AgencyPolicy | None = None,
    accept: str = "",
    kept_small: KeptSmall = "ask",
    draft: bool = False,
    changed: bool = False,
    refused: tuple[RefusedDraws, ...] = (),
    progress: Progress = SILENT,
) -> Protected:
    """Protect a table by a draw that passes the gate.

    Parameters
    ----------
    randomness
        The source of randomness of the successive attempts.
    policy
        The house's limits.
    accept
        The reason for publishing whatever the gate says; a single draw is made then, and the
        release states that. Empty for none.
    kept_small
        What was decided for this release about small sums that are published exactly, where the
        policy asks.
    draft
        If no draw passes, return the one that ``accept`` would let out, to be looked at: see
        :func:`against`.
    changed
        True if something else was refused for the table before; the release states that.
    refused
        The draws that were refused for it before, where all are known.

    Raises
    ------
    RefusedError
        When no draw passes, with what to do instead.
    ParameterError, InputError, InfeasibleError
        As ``Method.run``.
    """
    policy = AgencyPolicy() if policy is None else policy
    given = by_default(method, problem, given, policy, progress)
    decides = _KeptDecision(policy, kept_small, accept, draft, (method, given, progress))
    values = Values(method.resolve_for(problem, given), given)
    again = method.draws_again(problem.table.domain, values)
    limits = policy.limits_for(problem, again=again, changed=changed, refused=refused)
    same = method.no_change(problem.table, values, progress) if policy.no_change == "refuse" else None
    hardly = policy.too_often_unchanged(same)
    if not accept and not draft:
        _admit(method, problem, (values, limits, policy), hardly, progress)
    ways = Ways((values,), limits)
    if again and not accept:
        ways = Ways.of(method, problem, given, values, limits, progress)
        if ways.hopeless and not draft:
            raise _hopeless(method, problem, (values, limits), progress)
    done: Protected | None = None
    first: Protected | None = None
    attempt, by_itself = 0, True
    for number, values, limits in ways.draws(randomness, 1 if accept else None):
        before, attempt = done, attempt + 1
        done = method.attempt(problem, values, randomness, number=number, progress=progress)
        failure = hardly or method.acceptance_failure(done.record.findings)
        if failure and not hardly and not accept and not draft:
            raise _objected(method, problem, (values, limits), failure, progress)
        if not ways.listed and before is not None and before.release.tables == done.release.tables:
            # A method without randomness would only repeat the refused draw.
            done = before
            continue
        # Nobody sees the others that fail.
        effort = VERDICT if accept or (draft and attempt == 1) else ATTEMPT
        found, failed = _judged(done, limits, effort, progress)
        done, by_itself = _stated(done, limits, found), by_itself and failed
        if found.passed and (draft or not failed):
            return _decided(decides(done), failure, accept)
        if found.passed is None and (standing := policy.standing_reasons(found.left_out)):
            return _let_out(decides(done), standing)
        alone = _stated(done, replace(limits, attempts_at_most=1), replace(found, attempts_at_most=1))
        if accept and (policy.unjudged == "reason" or not _unjudged(found)):
            return _decided(decides(alone), found.sentence, accept)
        first = alone if first is None else first
        if found.passed is None and problem.table.domain.size > TOO_LARGE:
            break
    assert done is not None and done.record.verdict is not None and first is not None
    if draft:
        others = attempt - 1 if again and not accept else 0
        return _beside(first, others, ways, progress)
    # A reason lets the first draw out: the limit that it breaks is said, whatever the last one does.
    worse = first if _failing(first) and not _failing(done) else done
    error = _refusal(method, worse, (ways, attempt), progress)
    error.by_itself = by_itself
    raise error


def _judged(done: Protected, limits: Gate, effort: Effort, progress: Progress) -> tuple[StaffVerdict, bool]:
    """The verdict on a draw with what was refused before, and whether it is refused by itself.

    Such a draw does not leave whatever else was refused, so that the chance of that is worked out by itself.
    """
    judge = partial(verdict, done.release, original=done.record.problem.table, progress=progress)
    found = judge(limits, effort=effort)
    if not limits.changed:
        return found, found.passed is not True
    return found, judge(alone_of(limits), effort=OTHERS).passed is not True


def _admit(
    method: Method, problem: Problem, how: tuple[Values, Gate, AgencyPolicy], hardly: str, progress: Progress
) -> None:
    """Refuse what is known to be refused before any draw."""
    values, limits, _ = how
    left = method.deviation_left(problem.table.domain, values)
    if left is not None and left < UNDONE:
        raise _undone(method, problem, (values, limits), left, progress)
    if hardly:
        raise _hardly_changing(method, problem, how, hardly, progress)


def against(done: Protected, policy: AgencyPolicy) -> str:
    """Say what stands against publishing a draw, in words; empty if nothing does.

    Also empty if it was decided to publish it all the same.
    """
    if done.record.overruled:
        return ""
    found, problem, stated = done.record.verdict, done.record.problem, done.release.mechanism.gate
    if problem.magnitudes is None:
        method = methods()[done.release.mechanism.method]
        if failure := method.acceptance_failure(done.record.findings):
            return failure
    if stated is not None and _limits(stated) != _limits(
        policy.of_release(done.release, problem.at_risk, problem.roles)
    ):
        return message("It was judged by other limits than those of the house: protect the table again.")
    if found is not None and (hardly := policy.too_often_unchanged(found.no_change)):
        return hardly
    # A table protected before there were verdicts was released by another rule.
    if found is not None and not found.accepted:
        return found.staff_sentence
    return ""


def _limits(gate: Gate) -> tuple[object, ...]:
    numbers = (getattr(gate, limit.name) for limit in fields(Limits))
    return *numbers, gate.at_risk, gate.intruder, gate.within, gate.counts, gate.groups, gate.roles


def decided(done: Protected, policy: AgencyPolicy, reason: str, kept_small: KeptSmall = "ask") -> Protected:
    """A draw to be published whatever stands against it, with the decision on record.

    A reason of the policy's own goes before one that is given.

    Parameters
    ----------
    kept_small
        What was decided about small sums that are published exactly, where the policy asks.

    Raises
    ------
    RefusedError
        When something stands against it and no reason is given, or small sums are kept and nobody
        has decided about them.
    """
    failure, found = against(done, policy), done.record.verdict
    if kept_small == "never" or not (failure or done.record.overruled):
        done = _KeptDecision(policy, kept_small, accept=reason)(done)
    if found is not None and found.passed is None and failure == found.staff_sentence:
        standing = policy.standing_reasons(found.left_out)
        if standing:
            return _let_out(done, standing)
    unjudged = found is not None and _unjudged(found)
    if failure and (not reason or (unjudged and policy.unjudged == "refuse")):
        hint = message("set the mechanism otherwise, or give a reason: it is recorded")
        if found is not None and done.record.problem.magnitudes is not None:
            hint = methods("magnitudes")[done.release.mechanism.method].hint
            hint = joined(filter(None, [hint, UNJUDGED_HINT if found.passed is None else ""]), "; ")
        answers = () if unjudged and policy.unjudged == "refuse" else (ACCEPT,)
        raise RefusedError(failure.rstrip("."), hint=hint, answers=answers)
    return _decided(done, failure, reason)


def _stated(done: Protected, limits: Gate, found: StaffVerdict) -> Protected:
    """The draw with the gate stated in its mechanism, and the verdict kept by the house."""
    gate = replace(limits, passed=found.passed, left_out=found.left_out)
    mechanism = replace(done.release.mechanism, gate=gate)
    return Protected(replace(done.release, mechanism=mechanism), replace(done.record, verdict=found))


def _unjudged(found: StaffVerdict) -> bool:
    """Return True if something was not judged, also where what was judged is beyond a limit."""
    return found.passed is None or not found.complete


def _failing(done: Protected) -> bool:
    return done.record.verdict is not None and done.record.verdict.passed is False


def _beside(first: Protected, others: int, ways: Ways, progress: Progress) -> Protected:
    """The first draw, where others were refused after it: these are stated, and taken in."""
    limits, gate = ways.limits, first.release.mechanism.gate
    if not others or limits.changed != bool(limits.refused):
        return first
    if ways.listed is not None and gate is not None:
        stated = replace(gate, changed=True, refused=())
        found = verdict(first.release, stated, original=first.record.problem.table, progress=progress)
        return _stated(first, stated, found)
    mechanism = replace(
        first.release.mechanism,
        gate=replace(limits, passed=False, left_out=(), reason=False),
        coins=None,
        nonce="",
    )
    refused = (*limits.refused, RefusedDraws(others, mechanism))
    stated = replace(limits, attempts_at_most=1, refused=refused)
    found = verdict(first.release, stated, original=first.record.problem.table, progress=progress)
    return _stated(first, stated, found)


def _decided(done: Protected, against: str, accept: str) -> Protected:
    """The draw with the decision kept by the house, if there was one."""
    if not accept or not against:
        return done
    return _with_reason(done, [message("{OVERRULED}: {accept}. {against}", OVERRULED, accept, against)])


def _undecided(done: Protected) -> str:
    """Say which small sums go out as they are and nobody has decided about; empty for none."""
    found = done.record.verdict
    kept = "" if found is None else kept_in_words(found.exact_small_margins).rstrip(".")
    return "" if any(one.startswith(kept) for one in done.record.decisions) else kept


@dataclass(frozen=True)
class _KeptDecision:
    """The decision about small sums that are published exactly: see :func:`protect`."""

    policy: AgencyPolicy
    kept_small: KeptSmall = "ask"
    accept: str = ""
    draft: bool = False
    run: tuple[Method, Mapping[str, object], Progress] | None = None

    def __call__(self, done: Protected) -> Protected:
        """The draw with the decision on record.

        Raises
        ------
        RefusedError
            Where there is none, or they are not to be published; not for a draft.
        """
        kept = _undecided(done)
        # A draft is decided when it leaves, unless it was already.
        if not kept or (self.draft and self.kept_small == "ask"):
            return done
        never = "never" in (self.policy.kept_small, self.kept_small)
        why = self.accept
        if not why and "keep" in (self.policy.kept_small, self.kept_small):
            why = BY_POLICY if self.kept_small == "ask" else DECIDED
        if never or not why:
            found = done.record.verdict
            assert found is not None
            ways = () if self.run is None else without_small(*self.run[:2], done.record.problem, found.limits)
            refused = RefusedError(
                message("{kept}: {named}", kept, kept_sums_named(found.exact_small_margins)),
                hint=message("keep fewer sums, or hide these: kept_small is never")
                if never
                else message("keep fewer sums, hide these, or decide that they go out: kept_small=keep"),
                answers=(*ways, *(() if never else (KEPT_SMALL,))),
            )
            refused.drawn, refused.asks = False, True
            raise refused
        decisions = (*done.record.decisions, message("{kept}: {why}", kept, why))
        return replace(done, record=replace(done.record, decisions=decisions))


def without_small(
    method: Method, given: Mapping[str, object], problem: Problem, limits: Gate
) -> tuple[Answer, ...]:
    """Ways to keep no sum that is small: fewer sums, or hidden ones, where such a release passes here.

    They are chosen by a look at the table, and so by a person.
    """
    domain, hiding = problem.table.domain, methods()["suppression"]
    ways: list[tuple[Method, Mapping[str, object]]] = []
    if KEEP in method.parameters and not given.get(KEEP.name):
        ways += [(method, change) for change in method.keeping(domain, largest_safe_margins(problem))]
    if within_budget(hiding, domain):
        ways.append((hiding, {"method": hiding.name}))
    passing = ((change, ()) for other, change in ways if _leaves(other, given, change, problem, limits))
    return tuple(islice(passing, None if domain.size <= EVERY_WAY else 1))


def _leaves(
    method: Method, given: Mapping[str, object], change: Mapping[str, object], problem: Problem, limits: Gate
) -> bool:
    """Whether what is changed keeps no small sum and passes on the table itself."""
    asked = {} if "method" in change else {**given, **change}
    values = attempted(partial(method.resolve_for, problem, asked))
    if not isinstance(values, Values):
        return False
    kept = method.kept(problem.table.domain, values)
    if kept is not None and small_sums(problem.table, kept, problem.at_risk):
        return False
    coins = trial_coins(problem.table.domain, "without small sums")
    trials = judged_trials(Setting(method, values, limits), problem, Runs(2), coins=coins)
    return all(isinstance(judged, StaffVerdict) and judged.passed is True for _, judged in trials)


def _let_out(done: Protected, standing: Mapping[str, str]) -> Protected:
    """The draw let out for the policy's own reasons, each on record."""
    return _with_reason(
        done,
        [
            message("{STANDING} ({kind}): {reason}", STANDING, kind, reason)
            for kind, reason in standing.items()
        ],
    )


def _with_reason(done: Protected, decisions: Sequence[str]) -> Protected:
    """The draw with its decisions; its mechanism states that there is a reason, and not which."""
    mechanism, found = done.release.mechanism, done.record.verdict
    if mechanism.gate is not None:
        mechanism = replace(mechanism, gate=replace(mechanism.gate, reason=True))
    record = replace(
        done.record,
        decisions=(*decisions, *done.record.decisions),
        verdict=None if found is None else replace(found, reason=True),
    )
    return Protected(replace(done.release, mechanism=mechanism), record)


def beside_unweighed(
    done: Protected, policy: AgencyPolicy, what: Sequence[Omission] = ("other_releases",)
) -> Protected:
    """The draw as one that leaves beside other releases that were not weighed with it, or not whole.

    It takes a reason, as whatever is not judged: one of the policy's own if there is one.

    Parameters
    ----------
    what
        The kinds of what was not.
    """
    found, mechanism = done.record.verdict, done.release.mechanism
    if found is None or mechanism.gate is None or set(what) <= set(found.left_out):
        return done
    # A standing reason was taken for less.
    decisions = tuple(one for one in done.record.decisions if not one.startswith(STANDING))
    reason = found.reason and decisions == done.record.decisions
    found = replace(found, left_out=kinds(found.left_out, what), reason=reason)
    stated = replace(mechanism.gate, passed=found.passed, left_out=found.left_out, reason=reason)
    release = replace(done.release, mechanism=replace(mechanism, gate=stated))
    done = Protected(release, replace(done.record, verdict=found, decisions=decisions))
    standing = policy.standing_reasons(found.left_out) if found.passed is None else {}
    return _let_out(done, standing) if standing and not done.record.overruled else done


def _objected(
    method: Method, problem: Problem, how: tuple[Values, Gate], failure: str, progress: Progress
) -> RefusedError:
    ideas = what_helps(method, problem, *how, objected=True, progress=progress)
    return _refused(failure, ideas, [] if ideas else [message("publish less, or merge categories")])


def _undone(
    method: Method, problem: Problem, how: tuple[Values, Gate], left: float, progress: Progress
) -> RefusedError:
    """Settings that readers undo on any table: what is refused tells nothing of this one."""
    ideas = what_helps(method, problem, *how, progress=progress)
    refused = _refused(words(left), ideas, [] if ideas else [message("publish fewer tables, or more noise")])
    refused.drawn = False
    return refused


def _hopeless(method: Method, problem: Problem, how: tuple[Values, Gate], progress: Progress) -> RefusedError:
    """Settings under which no table with the same exact sums would pass: nothing was drawn."""
    ideas = what_helps(method, problem, *how, progress=progress)
    refused = _refused(HOPELESS, ideas, [] if ideas else [OTHERWISE])
    refused.drawn = False
    return refused


def _hardly_changing(
    method: Method, problem: Problem, how: tuple[Values, Gate, AgencyPolicy], hardly: str, progress: Progress
) -> RefusedError:
    """Settings of which too many draws change nothing: the kept margins alone tell."""
    values, limits, policy = how

    def moves(other: Values) -> bool:
        return not policy.too_often_unchanged(method.no_change(problem.table, other, progress))

    ideas: tuple[Suggestion, ...] = remedies_here(method, problem, values, limits, progress, where=moves)
    ideas = ideas or other_methods(method, problem, limits, progress)
    refused = _refused(hardly, ideas, [] if ideas else [OTHERWISE])
    refused.drawn = False
    return refused


def _refusal(method: Method, done: Protected, how: tuple[Ways, int], progress: Progress) -> RefusedError:
    # Imported late, as inference is: a refusal comes after a verdict.
    from tabprotect.engine.disclosure.refusals import may_be_weighed

    ways, attempts = how
    values, limits = ways.settings[0], ways.of_refusal
    problem, found = done.record.problem, done.record.verdict
    assert found is not None
    ideas = what_helps(method, problem, values, limits, progress=progress)
    weighed = not ideas or may_be_weighed(done.release, alone_of(limits), verdict)
    if ideas and weighed:
        follow = ways.after_refusal(method, problem, progress)
        passing = tuple(one for one in ideas if passes_here(one, (method, values), problem, follow, progress))
        ideas, weighed = passing or ideas, bool(passing)
    drawn = "" if attempts == 1 else message("None of {attempts} draws passed. ", attempts)
    hints = [
        "" if ideas else OTHERWISE,
        untried(method, problem.table.domain, values),
        "" if found.passed is not None else judged_elsewhere(method, problem.table.domain, ideas),
        # No other setting is needed where nothing but a whole judgement is missing.
        "" if found.passed is False else UNJUDGED_HINT,
        "" if weighed else UNWEIGHED_HINT,
    ]
    refused = _refused(joined((drawn, found.sentence)), ideas, hints)
    refused.weighed, refused.listed = weighed, ways.listed
    return refused


def _refused(why: str, ideas: tuple[Suggestion, ...], hints: Sequence[str]) -> RefusedError:
    """The refusal with what was tried and helps, and what else can be done."""
    refused = RefusedError(
        why.rstrip("."),
        hint=joined(filter(None, (*map(str, ideas), *hints)), "; "),
        detail=message("to go on all the same takes an explicit, recorded decision with a reason"),
        answers=(ACCEPT,),
    )
    refused.suggestions = ideas
    return refused
