"""Commands by which a release leaves the house, and by which its reader opens it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tabprotect.engine import agency
from tabprotect.engine.bundle import archive, public
from tabprotect.engine.bundle.encryption import passphrase
from tabprotect.engine.bundle.set_bundles import ReleaseFiles
from tabprotect.engine.bundle.signature import public_of
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.staff.audit_trail import chained
from tabprotect.engine.disclosure import gate
from tabprotect.engine.disclosure.policy import AgencyPolicy, KeptSmall
from tabprotect.engine.errors import Answer, InfeasibleError, InputError, ParameterError, RefusedError
from tabprotect.engine.paths import is_there
from tabprotect.engine.project import recipe_text
from tabprotect.engine.project.command import Arguments, Context, Declared
from tabprotect.engine.project.copy_as_command import line
from tabprotect.engine.project.options import Publishing
from tabprotect.engine.project.project import Project, Who
from tabprotect.engine.project.releasing.coins import admit_seed
from tabprotect.engine.project.releasing.entering import (
    EnteredMeanwhile,
    Outgoing,
    admit_coins,
    told_of_register,
    who_answers,
)
from tabprotect.engine.project.releasing.judgement import (
    asked_once,
    beside_other_measures,
    beside_unjudged,
    refused_beside,
)
from tabprotect.engine.project.releasing.trail_lines import trail_lines
from tabprotect.engine.project.verbs.magnitude_verbs import remedied_words
from tabprotect.engine.project.verbs.release_verbs import of_remedy, protect, protect_words, set_mechanism
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.register.left_before import LeftBefore, left_before
from tabprotect.engine.register.people.reading_together import LookedUp, look_up, marks
from tabprotect.languages.messages import message, plural


def _publish_label(project: Project, given: Arguments) -> str:
    name = Path(str(given["release"])).name
    return (
        message("publish {name}", name)
        if given.get("tables") is None
        else message("publish a set of tables as {name}", name)
    )


@Declared(
    _publish_label,
    shell=protect_words,
    writes=("release", "dossier"),
    answers=("accept", "again", "prepared_by", "approved_by"),
    seals=True,
    slow=True,
).asking(Publishing)
def publish(project: Project, context: Context, asked: Publishing) -> Project:
    """Write the release bundle, and the dossier if asked for. Undo cannot cross it.

    For several ``tables`` (formulas by name) a folder is written, with a bundle for each and one
    manifest for all; common cells are the same in all bundles. One entry is made in the house's
    register, for the bundle or the manifest; the dossier covers the whole run.
    """
    while True:
        try:
            return _published(project, context, asked)
        except EnteredMeanwhile:
            context = replace(context, looked_up=None)


def _published(project: Project, context: Context, asked: Publishing) -> Project:
    """The project with its release written, judged by what the register held before."""
    if not project.done:
        raise InfeasibleError(
            message("there is nothing to publish yet"), hint=message("protect the table as it stands first")
        )
    asked.check_given(project.measure)
    signed, before_it = (
        _signed(project.limits, asked),
        _accepted_before(context, weak=project.magnitudes is not None),
    )
    secret = passphrase(asked.dossier_key) if asked.dossier_key else b""
    place, dossier = Path(asked.release), None if asked.dossier is None else Path(asked.dossier)
    if dossier == place:
        raise InputError(message("release and dossier would be one file"), file=place)
    assert project.protected is not None
    problem = project.protected.record.problem
    looked_up = context.looked_up or asked_once(problem, context.register)
    protected = _answered_for(project, context, asked, before_it, looked_up, signed)
    leaving = ReleaseFiles.of(protected.release, asked.tables)
    if asked.replicates and leaving.tables is not None:
        raise ParameterError(
            {"replicates": message("they are drawn of one bundle, and this is a set")},
            hint=message("draw them of each of its bundles: tabprotect draw"),
        )
    _check_taken((*leaving.paths(place), *_beside(asked, place), dossier), asked)
    accepted = asked.again.strip() or asked.accept.strip() or before_it
    looked_up = looked_up or look_up(problem, context.register)
    known = (one.entry.number for one in looked_up.spending(protected.release))
    problem.people.check((*known, *looked_up.older))
    protected, made, before = _beside_earlier(project, context, asked, protected, accepted, looked_up)
    sealed, record = made[leaving.sealed(place)], protected.record
    if asked.replicates:
        # Late: who wants none does not wait for what draws.
        from tabprotect.engine.bundle.tables.replicates import replicate_files

        check = archive.sha256(sealed)
        made |= replicate_files(protected.release, place, check, asked.replicates, context.progress)
    admit_coins(protected, sealed, looked_up, accepted)
    again = asked.again.strip() if before.earlier or before.error else ""
    decisions = told_of_register(record.decisions, before.damaged, context.register, again)
    if problem.people.answers:
        decisions = (*decisions, message("who is counted, as the house says: {people}", problem.people))
    protected = replace(protected, record=replace(record, decisions=decisions))
    # The dossier of a set belongs to the bundle of all its tables.
    whole = made.get(place) or (
        public.to_bytes(protected.release, page=not asked.no_page) if dossier else b""
    )
    kept, trail = {}, confidential.NO_TRAIL
    if dossier is not None:
        trail = chained(trail_lines(context.trail, looked_up.refused.values(), protected, asked, sealed))
        kept = confidential.contents(
            protected, release=whole, trail=trail, recipe=recipe_text.to_text(context.trail, seeds=True)
        )
    leaving.make_folder(place)
    # The factors of sums follow from its key, contributor by contributor.
    of_the_house = bool(protected.release.magnitudes) and not record.seed_given
    notes = Outgoing(
        release=protected.release,
        marks=partial(marks, record.problem),
        files=made,
        sealed=sealed,
        whole=whole,
        kept=kept,
        decisions=decisions,
        who=who_answers(*signed),
        trail=trail.head,
        secret=secret,
        seed=record.seed if protected.release.mechanism.coins or of_the_house else None,
        people=record.problem.people,
        looked_up=looked_up,
    ).leave(asked, project.limits, context.register, asked.again.strip())
    return replace(project, protected=protected, published=True, notes=(*project.notes, *notes))


def _beside(asked: Publishing, place: Path) -> tuple[Path, ...]:
    """The files of replicates."""
    if not asked.replicates:
        return ()
    from tabprotect.engine.bundle.tables.replicates import replicate_paths

    return replicate_paths(place)


def _beside_earlier(
    project: Project,
    context: Context,
    asked: Publishing,
    protected: Protected,
    accepted: str,
    looked_up: LookedUp,
) -> tuple[Protected, dict[Path, bytes], LeftBefore]:
    """The result as it may leave beside earlier releases, its files, and what is known of these.

    All bytes are ready before any file is touched; until then the work can be cancelled.

    Raises
    ------
    RefusedError
        If it may not leave beside them, or that is not known.
    """
    place, signing = Path(asked.release), [Path(k) for k in (asked.sign, asked.sign_too) if k]

    def made(of: Protected) -> dict[Path, bytes]:
        leaving = ReleaseFiles.of(of.release, asked.tables)
        return leaving.files(place, signing=signing, page=not asked.no_page, progress=context.progress)

    while True:
        # A bundle is compared by what it publishes; a set by the manifest that is entered for it.
        files = None if asked.tables is None else made(protected)
        before = left_before(
            protected.record.problem,
            context.register,
            release=protected.release,
            whole=None
            if files is None
            else files[ReleaseFiles.of(protected.release, asked.tables).sealed(place)],
            policy=project.limits,
            looked_up=looked_up,
            progress=context.progress,
        )
        stated = protected
        if before.close or before.read or before.unjudged:
            reason = accepted or (gate.UNSTATED if protected.record.accepted else "")
            if before.refused(project.limits, reason):
                refused_beside(project, context.register)
            try:
                before.admit(project.limits, reason)
            except RefusedError as error:
                _say_ways(error, project, context, before, asked)
                raise
            stated = beside_unjudged(protected, before, project.limits, reason)
        if stated is protected:
            return protected, files or made(protected), before
        # Other bytes: whether these left before is asked once more.
        protected = stated


def _say_ways(
    error: RefusedError, project: Project, context: Context, before: LeftBefore, asked: Publishing
) -> None:
    """Add to a refusal beside earlier releases other settings by which the table leaves."""
    # Late: what leaves at once does not wait for it.
    from tabprotect.engine.project.ways_beside import told_before, ways_beside

    looked_up = asked_once(project.problem, context.register)
    if looked_up is None or before.lost:
        return
    # Nothing that is only tried is remembered.
    quiet = replace(context, register=agency.NONE, looked_up=looked_up)

    def protected(changed: Mapping[str, object]) -> Protected:
        given: dict[str, Any] = of_remedy(changed)
        other = set_mechanism.run(project.without_result(), quiet, **given)
        # Where it is asked, what is printed decides that small sums go out.
        kept_small: KeptSmall = "never" if asked.kept_small == "never" else "keep"
        done = protect.run(other, quiet, kept_small=kept_small).protected
        assert done is not None
        return done

    certain = told_before(project, before, looked_up, context.register, context.progress)
    if certain:
        error.hint = plural(
            certain,
            "{n} small count ({rule}) is certain from what left before alone: nothing that is drawn for this "
            "table takes that back",
            "{n} small counts ({rule}) are certain from what left before alone: nothing that is drawn for this "
            "table takes that back",
            certain,
            project.at_risk.words,
        )
    error.runnable = ways_beside(
        project,
        protected,
        looked_up,
        before,
        kept_small=asked.kept_small,
        certain=certain,
        tables=asked.tables is not None,
        register=context.register,
        progress=context.progress,
    )
    error.suggestions = tuple(one for one, _ in error.runnable)


def _accepted_before(context: Context, *, weak: bool) -> str:
    """The reason that was given when it was protected; empty for none.

    What a recipe, or a run in one go, accepts when it protects, it accepts when it publishes.

    Parameters
    ----------
    weak
        Whether it may have been accepted without a reason then: magnitudes are judged when they leave.
    """
    given = [entry.order.arguments for entry in context.trail]
    said = (str(one.get("accept") or "").strip() for one in given)
    return next(
        filter(None, said), gate.UNSTATED if weak and any(one.get("accept_weak") for one in given) else ""
    )


def _say_what_helps(error: RefusedError, project: Project, context: Context, asked: Publishing) -> None:
    """Add to a refusal of magnitudes other settings that pass."""
    # Late: tables of counts, which are most, do not wait for it.
    from tabprotect.engine.project.magnitude_ways import remedies_for

    error.suggestions = remedies_for(
        project, context.progress, register=context.register, reason=asked.again.strip()
    )
    error.commands = tuple(line(remedied_words(project, one.parameters, asked)) for one in error.suggestions)


def _check_taken(paths: Iterable[Path | None], asked: Publishing) -> None:
    """Refuse to replace files that are there already, unless that is asked for.

    Raises
    ------
    InputError
        Naming the first.
    """
    taken = [path for path in paths if path is not None and is_there(path)]
    if taken and not asked.overwrite:
        raise InputError(
            message("there is a file of that name already"),
            file=taken[0],
            hint=message("choose another name, or replace it: overwrite=True"),
        )


def _signed(policy: AgencyPolicy, asked: Publishing) -> tuple[str, str]:
    """The names of who prepared a release and who approved it.

    Raises
    ------
    RefusedError
        When a name is missing that the policy demands.
    """
    prepared_by, approved_by = asked.prepared_by.strip(), asked.approved_by.strip()
    if policy.approvers:
        return _signed_with_keys(policy, asked, (prepared_by, approved_by))
    if policy.signatures == 1 and not (prepared_by or approved_by):
        # Whoever runs the program answers for it.
        prepared_by = agency.user_name()
    if policy.signatures == 2 and policy.unsigned(prepared_by, approved_by):
        raise RefusedError(
            message("by the policy of the house two people answer for a release"),
            hint=message(
                "name who prepared it (prepared_by), and somebody else who approves it (approved_by)"
            ),
            answers=(({}, ("--prepared-by", "NAME", "--approved-by", "NAME")),),
        )
    return prepared_by, approved_by


def _signed_with_keys(policy: AgencyPolicy, asked: Publishing, names: tuple[str, str]) -> tuple[str, str]:
    """The names of those whose keys sign, as the policy has them; names that are given must be theirs.

    Raises
    ------
    RefusedError
        When too few of those whom the policy lists sign, or a key or a name is another.
    """
    files = [one for one in (asked.sign, asked.sign_too) if one]
    owners = {file: policy.owner(public_of(Path(file))) for file in files}
    answers: tuple[Answer, ...] = (({}, ("--sign", "KEY") * policy.signatures),)
    hint = message(
        "a key is made by: tabprotect keys new --out CONFIDENTIAL-signing.key; its public figures stand "
        "in the policy under approvers"
    )
    for file, owner in owners.items():
        if not owner:
            raise RefusedError(
                message("by the policy of the house the key {file} is none of an approver", Path(file).name),
                hint=hint,
                answers=answers,
            )
    signed = list(dict.fromkeys(owners.values()))
    if len(signed) < policy.signatures:
        raise RefusedError(
            message(
                "by the policy of the house a release is signed with {wanted} keys of its approvers, and "
                "there are {there}",
                policy.signatures,
                len(signed),
            ),
            hint=hint,
            answers=answers,
        )
    found = (signed[0], signed[1] if len(signed) > 1 else "")
    for given, owner in zip(names, found, strict=True):
        if given and agency.letters(given) != agency.letters(owner):
            raise RefusedError(
                message(
                    "{given} is named, and the key is that of {owner}", given, owner or message("nobody")
                ),
                hint=message("leave the names out: the keys say them"),
            )
    return found


def _answered_for(
    project: Project,
    context: Context,
    asked: Publishing,
    before_it: str,
    looked_up: LookedUp | None,
    signed: tuple[str, str],
) -> Protected:
    """The result with the names of those who answer for it, and the decision if one was needed.

    Parameters
    ----------
    before_it
        The reason that was given when it was protected; empty for none.

    Raises
    ------
    RefusedError
        When something stands against it and no reason is given.
    """
    assert project.protected is not None
    accepted = asked.accept.strip()
    before, magnitudes = project.protected, project.magnitudes is not None
    done = beside_other_measures(before, project.limits, looked_up)
    # What is not weighed with other releases is known only now; a reason for publishing once more
    # answers for that, and for nothing else.
    passed = before.record.verdict is None or before.record.verdict.accepted
    beside = done.record.verdict is not before.record.verdict and passed
    given = accepted or (before_it if magnitudes or beside else "") or (asked.again.strip() if beside else "")
    try:
        done = gate.decided(done, project.limits, given, asked.kept_small)
    except RefusedError as error:
        if magnitudes:
            error.figures = {**done.record.findings, "verdict": done.verdict, "confidential": True}
            _say_what_helps(error, project, context, asked)
        elif beside:
            _say_ways(error, project, context, LeftBefore(), asked)
        raise
    decisions = done.record.decisions
    decisions += admit_seed(done.record.randomness, project.limits, accepted, decisions)
    record = replace(done.record, prepared_by=signed[0], approved_by=signed[1], decisions=decisions)
    return replace(done, record=record)


@Declared(
    message("open {file}"),
    shell=lambda project, given: ["open", str(given["path"])],
    reads="path",
    opens=True,
    slow=True,
)
def open_bundle(project: Project, context: Context, *, path: str) -> Project:
    """Open a release bundle as its reader does: verified, and without an original."""
    release = public.read(Path(path), context.progress)
    return Project(title=release.title, source=path, released=release, method=release.mechanism.method)


def infer(project: Project, who: Who = "user") -> list[str]:
    """Words: what the release tells a reader."""
    release = project.source if project.kind == "reader" else "release.zip"
    return ["infer", release, "--prior", project.priors[who]]
