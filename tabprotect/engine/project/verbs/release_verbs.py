"""Commands from the mechanism to the release: parameters, seed, protect, priors, publish."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from tabprotect.engine import house
from tabprotect.engine.atomic import Whole, write_together
from tabprotect.engine.bundle import archive, confidential, public
from tabprotect.engine.bundle.set_bundles import Leaving
from tabprotect.engine.cycles.designs import is_named
from tabprotect.engine.disclosure import gate
from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError, RefusedError
from tabprotect.engine.posterior.prior import parse_prior
from tabprotect.engine.project import recipe_text
from tabprotect.engine.project.asked import Drawing, Protecting, Publishing
from tabprotect.engine.project.command import Arguments, Context, Declared, number_text
from tabprotect.engine.project.copy_as_command import SAVED, line, table_word
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.project import PRIORS, Project, Who
from tabprotect.engine.project.releasing.entering import entered
from tabprotect.engine.project.verbs.cycle_verbs import QUICK_CELLS, redesigned, set_cycles
from tabprotect.engine.protection.coins import house_randomness
from tabprotect.engine.protection.descriptions.run_summary import short_seed_sentence
from tabprotect.engine.protection.problem import GIVEN_SEED, SHORT_SEED, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import MARGINS
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.register.earlier_refusals import EarlierRefusals
from tabprotect.engine.register.left_before import LeftBefore, damaged, left_before
from tabprotect.engine.release.tuned import USES, Tuned, Use
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.said import joined, say

FRESH_COINS = say(
    "fresh coins were drawn: the same table published again has others, and their average tells "
    "more than either"
)

NO_REGISTER = say(
    "no register: that this table leaves is nowhere noted, and nothing that left before was looked up"
)

AFTER_REFUSAL = say("settings were changed after the gate had refused others")


def _parameters_label(project: Project, given: Arguments) -> str:
    def short(value: object) -> str:
        text = number_text(value)
        return text if len(text) <= 60 else f"{text[:60]}\u2026"

    return say("set ") + joined(
        (say("{n} to {v}", n, short(v)) for n, v in given.items()), say(" and ")
    )


def protect_words(project: Project, given: Arguments = MappingProxyType({})) -> list[str]:
    """Words: protect the current table and publish it."""
    if project.table is None:
        return []
    table = table_word(project)
    parameters = dict(project.parameters)
    if project.moves is not None and project.cycles_from != "the example":
        if is_named(project.cycles_from):
            parameters = {"cycles": project.cycles_from, **parameters}
        else:
            # Drawn or imported cycles live in the project, so that only a saved project has them.
            table = SAVED
    verb, tables = "protect", given.get("tables")
    if isinstance(tables, Mapping):
        # The tables of a set determine which sub-tables are published.
        verb, parameters = "protect-set", {n: v for n, v in parameters.items() if n != MARGINS.name}
    done, reason = project.protected, given.get("accept")
    weak = bool(given.get("accept_weak")) or (done is not None and done.record.overruled)
    asked = Protecting(
        method=project.method,
        parameters=parameters,
        at_risk=str(project.at_risk),
        title=project.title or None,
        accept=str(reason) if reason else None,
        accept_weak=weak and not reason,
        fresh=bool(given.get("fresh")) or project.fresh,
        **_tuning_words(given, done),
    )
    written = Publishing(
        release=str(given.get("release") or "release.zip"),
        tables=tables if isinstance(tables, Mapping) else None,
        dossier=str(given.get("dossier") or "release-CONFIDENTIAL-dossier.zip"),
    )
    return [verb, table, *asked.words(), "--out", written.release, *written.words()]


def remedied(project: Project, changed: Mapping[str, object]) -> list[str]:
    """Words: protect the current table by other settings, as an error suggests them."""
    kind = changed.get("cycles")
    parameters = {name: value for name, value in changed.items() if name != "cycles"}
    project = replace(project, parameters=MappingProxyType(dict(project.parameters) | parameters))
    if isinstance(kind, str):
        project = replace(project, cycles_from=kind)
    return protect_words(project)


def _tuning_words(given: Arguments, done: Protected | None) -> dict[str, Any]:
    """How the parameters are tuned, if they are or were."""
    tuned = None if done is None else done.release.mechanism.tuned
    if given.get("tune"):
        return {"tune": True, "tune_for": given.get("tune_for", "changes")}
    return {} if tuned is None else {"tune": True, "tune_for": tuned.use}


@Declared(say("choose {method}"))
def set_method(project: Project, context: Context, *, method: str) -> Project:
    """Choose the protection method; its parameters start at their defaults."""
    chosen = methods()[method].name
    empty: MappingProxyType[str, object] = MappingProxyType({})
    return replace(project.without_result(), method=chosen, parameters=empty)


BY_FIGURES = say("chosen by figures of this table")


@Declared(_parameters_label)
def set_parameters(project: Project, context: Context, /, **given: object) -> Project:
    """Set some of the method's parameters by name, checked together."""
    if "cycles" in given:
        raise ParameterError({"cycles": say("cycles are set by a command of their own")})
    values = dict(project.parameters) | given
    # Without a table, the smallest one checks them: few rules between parameters depend on the table.
    domain = Domain.of_shape((2, 2)) if project.table is None else project.table.domain
    chosen_cycles = project.takes_cycles and project.moves is not None and project.table is not None
    given_cycles = {"cycles": project.moves} if chosen_cycles else {}
    checked = project.protection.resolve(domain, values | given_cycles)
    # Parameters left open stay open: they may follow from the table's margins.
    chosen = {name: None if values[name] is None else checked[name] for name in values}
    before = project.parameters
    project = replace(project.without_result(), parameters=MappingProxyType(chosen))
    return redesigned(project, context, before)


@Declared(
    _parameters_label,
    slow=lambda project: project.table is None or project.domain.size > QUICK_CELLS,
)
def set_mechanism(
    project: Project, context: Context, /, *, cycles: str | None = None, **given: object
) -> Project:
    """Set parameters and, by the name of a template, the cycle set, in one step, checked together."""
    # Parts may contradict each other until all of them are set.
    project = replace(project, parameters=MappingProxyType(dict(project.parameters) | given))
    if cycles is not None:
        project = set_cycles.run(project, context, kind=cycles)
    return set_parameters.run(project, context)


@Declared(
    lambda project, given: say("take a design: {given}", given["kind"]),
    slow=lambda project: project.table is None or project.domain.size > QUICK_CELLS,
)
def take_design(
    project: Project, context: Context, /, *, kind: str, seen: bool = False, **given: object
) -> Project:
    """Take a template and the parameters that go with it, in one step.

    ``seen`` states that figures of this table were looked at to choose it: the choice then reveals a
    little of the table, and the decision is recorded with each run.
    """
    project = set_mechanism.run(project, context, cycles=kind, **given)
    return (
        replace(project, cycles_from=say("{kind}, {BY_FIGURES}", kind, BY_FIGURES))
        if seen
        else project
    )


# It is kept as a setting; the decision it leads to is recorded with each run.
@Declared(
    lambda project, given: (
        say("set a seed")
        if given["seed"] is not None
        else say("take fresh randomness")
        if given.get("fresh")
        else say("take the house's own randomness")
    ),
    replayed=False,
)
def set_seed(
    project: Project, context: Context, *, seed: int | None, fresh: bool = False
) -> Project:
    """Replay a seed, take fresh coins, or (``None``) use those derived from the house's key."""
    if seed is not None:
        Randomness.seeded(seed)
    return replace(project.without_result(), seed=seed, fresh=fresh and seed is None)


@Declared(say("set the limits of the house"))
def set_policy(project: Project, context: Context, /, **limits: object) -> Project:
    """Set the house limits by which releases are judged; those not named keep their defaults."""
    return replace(project.without_result(), policy=HousePolicy.of(limits))


@Declared(
    lambda project, given: say("protect with {label}", project.protection.label),
    shell=protect_words,
    seed="seed",
    slow=True,
).asking(Drawing)
def protect(project: Project, context: Context, asked: Drawing) -> Project:
    """Run the method and pass the gate, by default with the coins derived from the house's key.

    ``accept`` is the reason for publishing whatever the gate says; ``accept_weak`` does so without
    one. With ``draft`` a refused draw is kept to be looked at, and can be published with a reason
    only. ``seed`` and ``fresh`` hold for this run and are not kept as the project's setting.
    """
    reason = "" if asked.accept is None else asked.accept.strip()
    if asked.accept is not None and not reason:
        raise InputError(
            say("a reason is missing"), hint=say("say why it is published all the same")
        )
    tuned = _tuned(project, asked, context) if asked.tune else None
    if tuned is not None:
        project = replace(
            project, parameters=MappingProxyType({**project.parameters, **tuned.change})
        )
    problem, accepted = project.problem, reason or (gate.UNSTATED if asked.accept_weak else "")
    admit_key = partial(_admit_key, accepted, context.register)
    randomness, decisions = _coins(project, asked.seed, asked.fresh, admit_key)
    if accepted:
        decisions += _admit_seed(randomness, project.limits, accepted, decisions)
    values = project.protection.resolve_for(problem, project.given)
    before = EarlierRefusals.of(
        problem,
        (project.protection, values, project.limits),
        accepted=bool(accepted),
        coins=randomness.coins,
        register=context.register,
    )
    try:
        protected = gate.protect(
            project.protection,
            problem,
            project.given,
            context.drawn(randomness),
            policy=project.limits,
            accept=accepted,
            draft=asked.draft,
            changed=bool(before.others),
            refused=before.draws,
            progress=context.progress,
        )
    except InfeasibleError as error:
        error.commands = tuple(line(remedied(project, s.parameters)) for s in error.suggestions)
        if isinstance(error, RefusedError) and error.drawn:
            before.remember(context.register)
        raise
    if asked.draft and gate.against(protected, project.limits):
        before.remember(context.register)
    if before.others:
        decisions = (
            *decisions,
            say(
                "{AFTER_REFUSAL}: {values}",
                AFTER_REFUSAL,
                ", ".join(sorted({one.method for one in before.others})),
            ),
        )
    if project.cycles_from.endswith(BY_FIGURES):
        decisions = (*decisions, say("the cycles were {BY_FIGURES}", BY_FIGURES))
    record = replace(protected.record, decisions=(*protected.record.decisions, *decisions))
    mechanism = replace(protected.release.mechanism, tuned=tuned)
    protected = Protected(replace(protected.release, mechanism=mechanism), record)
    return replace(project, protected=protected, published=False)


def _tuned(project: Project, asked: Drawing, context: Context) -> Tuned:
    """The parameters of least change that pass the limits; public.

    Raises
    ------
    ParameterError
        For a use that there is none of.
    InfeasibleError
        Where the method cannot be tuned, or nothing passes.
    """
    # Imported late: a judgement imports solvers, which the first paint must not wait for.
    from tabprotect.engine.disclosure.tuning import tuned

    if asked.tune_for not in USES:
        raise ParameterError({"tune_for": say("must be one of {USES}", ", ".join(USES))})
    limits = project.limits.limits(project.problem.at_risk, again=False)
    use = cast(Use, asked.tune_for)
    return tuned(project.protection, project.problem, project.given, limits, use, context.progress)


def _admit_seed(
    randomness: Randomness, policy: HousePolicy, reason: str, decisions: tuple[str, ...]
) -> tuple[str, ...]:
    """The decision by which a release rests on a seed that can be guessed; none if none does.

    Raises
    ------
    RefusedError
        Where that takes a reason and there is none.
    """
    if not randomness.short or policy.short_seed != "refuse":
        return ()
    if any(decision.startswith(SHORT_SEED) for decision in decisions):
        return ()
    if not reason:
        raise RefusedError(
            short_seed_sentence(randomness),
            hint=say(
                "take the coins of the house, or a random number of 40 digits; or say why it is "
                "taken all the same"
            ),
        )
    return (say("{SHORT_SEED}: {accepted}", SHORT_SEED, reason),)


def _admit_key(accepted: str, register: str | None) -> tuple[str, ...]:
    """The decisions by which a key of the house is used that is no secret, or made anew.

    Raises
    ------
    RefusedError
        Where that takes a reason and there is none.
    ParameterError, InputError
        Where the register belongs to another key, or the key cannot be read.
    """
    concerns = house.key_concerns()
    if not concerns:
        return ()
    # A register that knows its key says better what is wrong.
    damaged(register)
    if not accepted:
        raise RefusedError(
            concerns[0],
            hint=say("put it right, or say why it is used all the same: the decision is recorded"),
        )
    house.key(make=True)
    return tuple(say("{concern}: {accepted}", concern, accepted) for concern in concerns)


def _coins(
    project: Project,
    seed: int | None,
    fresh: bool,
    admit_key: Callable[[], tuple[str, ...]] = tuple,
) -> tuple[Randomness, tuple[str, ...]]:
    """The randomness of a run, and the decisions to be recorded with it.

    Parameters
    ----------
    admit_key
        Refuses the key of the house where it may not be used, else gives the decisions.

    Raises
    ------
    InputError
        When the house's key is needed and cannot be read or made.
    ParameterError
        For a seed and fresh coins at once.
    """
    if fresh and seed is not None:
        replayed = Randomness(seed, given=True, coins="fresh")
        if not replayed.short:
            # A recipe with seeds: the same coins, and the nonce that they were published with.
            return replayed, (GIVEN_SEED, FRESH_COINS)
        raise ParameterError({"seed": say("given, and fresh coins are asked for as well")})
    seed = project.seed if seed is None and not fresh else seed
    values = project.protection.resolve_for(project.problem, project.given)
    if not project.protection.is_random(values):
        return Randomness.seeded(seed), ()
    if seed is not None:
        own = house.key_file().exists() and not Randomness.seeded(seed).short
        if own and house_randomness(project.problem, project.method, values).seed == seed:
            return Randomness(seed, given=True, coins="house"), (GIVEN_SEED,)
        return Randomness.seeded(seed), (GIVEN_SEED,)
    if fresh or project.fresh:
        return Randomness.fresh(), (FRESH_COINS,)
    decisions = admit_key()
    return house_randomness(project.problem, project.method, values), decisions


@Declared(say("let the {who} believe {prior}"))
def set_prior(project: Project, context: Context, *, who: str, prior: str) -> Project:
    """Set the prior of ``user`` or ``intruder``, as a prior text."""
    if who not in PRIORS:
        raise InputError(
            say("there is no {who}; priors belong to {PRIORS}", repr(who), " and ".join(PRIORS))
        )
    parse_prior(prior, project.domain)
    return replace(project, priors=MappingProxyType(dict(project.priors) | {who: prior}))


def _publish_label(project: Project, given: Arguments) -> str:
    name = Path(str(given["release"])).name
    return (
        say("publish {name}", name)
        if given.get("tables") is None
        else say("publish a set of tables as {name}", name)
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
    protected = _answered_for(project, asked)
    place, dossier = Path(asked.release), None if asked.dossier is None else Path(asked.dossier)
    if dossier == place:
        raise InputError(say("release and dossier would be one file"), file=place)
    leaving = Leaving.of(protected.release, asked.tables)
    taken = [
        path for path in (*leaving.paths(place), dossier) if path is not None and path.exists()
    ]
    if taken and not asked.overwrite:
        raise InputError(say("there is a file of that name already"), file=taken[0])
    # All bytes are ready before any file is touched; until then the work can be cancelled.
    signing = [Path(key) for key in (asked.sign, asked.sign_too) if key is not None]
    made = leaving.files(place, signing=signing, page=not asked.no_page, progress=context.progress)
    files, notes = (
        [Whole(path, data, asked.overwrite) for path, data in made.items()],
        project.notes,
    )
    reason = asked.again.strip() or asked.accept.strip()
    before = left_before(
        protected.record.problem,
        context.register,
        release=protected.release,
        whole=made[leaving.sealed(place)],
        policy=project.limits,
        progress=context.progress,
    )
    if before.close:
        before.admit(
            project.limits, reason or (gate.UNSTATED if protected.record.overruled else "")
        )
    protected = _told_of_register(protected, before, context.register)
    content, kept = {}, None
    if dossier is not None:
        whole = made.get(place) or public.to_bytes(protected.release, page=not asked.no_page)
        content = confidential.contents(
            protected,
            release=whole,
            trail=[entry.as_json() for entry in context.trail],
            recipe=recipe_text.to_text(context.trail, seeds=True),
        )
        kept = confidential.kept_name(dossier, whole)
        if kept is not None:
            notes = (
                *notes,
                say("the dossier of another release was there: it is now {name}", kept.name),
            )
    leaving.make_folder(place)
    with entered(
        protected,
        made[leaving.sealed(place)],
        register=context.register,
        rule=project.limits.second_release,
        reason=asked.again.strip(),
        dossier=dossier,
        epsilon_limit=project.limits.epsilon_limit,
    ) as head:
        if dossier is not None:
            data = archive.pack(
                confidential.sealed(content, None if head is None else head.as_json())
            )
            # The dossier comes first: without it a release could never be accounted for.
            files.insert(0, Whole(dossier, data, asked.overwrite, private=True, kept=kept))
        write_together(files)
    return replace(project, protected=protected, published=True, notes=notes)


def _told_of_register(protected: Protected, before: LeftBefore, register: str | None) -> Protected:
    """The result with what the register leaves unknown among its decisions."""
    said = [one.message for one in before.damaged]
    if house.register_address(register) is None:
        said.append(NO_REGISTER)
    decisions = tuple(dict.fromkeys((*protected.record.decisions, *said)))
    return replace(protected, record=replace(protected.record, decisions=decisions))


def _answered_for(project: Project, asked: Publishing) -> Protected:
    """The result with the names of those who answer for it, and the decision if one was needed.

    Raises
    ------
    InfeasibleError
        When there is no result.
    RefusedError
        When something stands against it and no reason is given, or a name is missing that the
        house policy demands.
    """
    if project.protected is None:
        raise InfeasibleError(
            say("there is nothing to publish yet"), hint=say("protect the table as it stands first")
        )
    prepared_by, approved_by = asked.prepared_by.strip(), asked.approved_by.strip()
    if not project.limits.enough_sign(prepared_by, approved_by):
        raise RefusedError(
            say("by the policy of the house two people answer for a release"),
            hint=say(
                "name who prepared it (prepared_by), and somebody else who approves it (approved_by)"
            ),
        )
    accepted = asked.accept.strip()
    done = gate.decided(project.protected, project.limits, accepted)
    decisions = done.record.decisions
    decisions += _admit_seed(done.record.randomness, project.limits, accepted, decisions)
    if reason := asked.again.strip():
        decisions = tuple(dict.fromkeys((*decisions, say("published again: {reason}", reason))))
    record = replace(
        done.record, prepared_by=prepared_by, approved_by=approved_by, decisions=decisions
    )
    return replace(done, record=record)


@Declared(
    say("open {file}"),
    shell=lambda project, given: ["open", str(given["path"])],
    reads="path",
    opens=True,
    slow=True,
)
def open_bundle(project: Project, context: Context, *, path: str) -> Project:
    """Open a release bundle as its reader does: verified, and without an original."""
    release = public.read(Path(path), context.progress)
    return Project(
        title=release.title,
        source=path,
        released=release,
        placement=Placement.of(release.domain),
        method=release.mechanism.method,
    )


def infer(project: Project, who: Who = "user") -> list[str]:
    """Words: what the release tells a reader."""
    release = project.source if project.kind == "reader" else "release.zip"
    return ["infer", release, "--prior", project.priors[who]]
