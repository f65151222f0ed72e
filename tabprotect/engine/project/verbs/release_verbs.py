"""Commands from the mechanism to the protected table: parameters, seed, protect, priors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from tabprotect.engine.agency import register_address
from tabprotect.engine.cycles.designs import is_named
from tabprotect.engine.disclosure import gate
from tabprotect.engine.disclosure.choosing.acceptance_probability import other_methods
from tabprotect.engine.disclosure.exact_small_margins import small_sums
from tabprotect.engine.disclosure.policy import AgencyPolicy, KeptSmall
from tabprotect.engine.errors import (
    ACCEPT,
    KEPT_SMALL,
    InfeasibleError,
    InputError,
    ParameterError,
    RefusedError,
    Suggestion,
    TabprotectError,
    about,
    attempted,
)
from tabprotect.engine.parameters import Values
from tabprotect.engine.posterior.prior_text import check_prior
from tabprotect.engine.project.command import Arguments, Context, Declared, number_text
from tabprotect.engine.project.copy_as_command import SAVED, line, table_word
from tabprotect.engine.project.examples import PREFIX
from tabprotect.engine.project.options import DEFAULT_METHOD, Drawing, Protecting, Publishing
from tabprotect.engine.project.project import PRIORS, Project
from tabprotect.engine.project.releasing.coins import admit_key, admit_seed, coins_of
from tabprotect.engine.project.verbs.cycle_verbs import QUICK_CELLS, redesigned, set_cycles
from tabprotect.engine.project.verbs.magnitude_verbs import checked_parameters, magnitude_words, protected_now
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import MARGINS
from tabprotect.engine.protection.suppressing.given_statuses import unsafe_cells
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.register.earlier_refusals import EarlierRefusals
from tabprotect.engine.register.people.reading_together import LookedUp, look_up
from tabprotect.engine.release.tuned import Tuned
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import joined, message, plural

AFTER_REFUSAL = message("settings were changed after the gate had refused others")


def _parameters_label(project: Project, given: Arguments) -> str:
    def short(value: object) -> str:
        text = number_text(value)
        return text if len(text) <= 60 else f"{text[:60]}\u2026"

    return message("set ") + joined(
        (message("{n} to {v}", n, short(v)) for n, v in given.items()), message(" and ")
    )


def protect_words(project: Project, given: Arguments = MappingProxyType({})) -> list[str]:
    """Words: protect the current table and publish it."""
    if project.table is None:
        return []
    if project.magnitudes is not None:
        return magnitude_words(project, given)
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
        people=str(project.people) or None,
        sensitive=project.roles.words or None,
        key_variables=project.roles.key_variables or None,
        title=project.title or None,
        about=project.metadata or None,
        accept=str(reason) if reason else None,
        accept_weak=weak and not reason,
        fresh=bool(given.get("fresh")) or project.fresh,
        **_tuning_words(given, done),
    )
    written = Publishing(
        release=str(given.get("release") or "release.zip"),
        tables=tables if isinstance(tables, Mapping) else None,
        replicates=number if isinstance(number := given.get("replicates"), int) else None,
        dossier=str(given.get("dossier") or "release-CONFIDENTIAL-dossier.zip"),
    )
    return [verb, table, *asked.words(), *written.words()]


def remedied(project: Project, changed: Mapping[str, object], *, reason: bool = False) -> list[str]:
    """Words: protect the current table by other settings, as an error suggests them."""
    kind, method = changed.get("cycles"), changed.get("method")
    parameters = {n: value for n, value in changed.items() if n not in ("cycles", "method")}
    if isinstance(method, str):
        project = replace(project, method=method, parameters=MappingProxyType({}))
    project = replace(project, parameters=MappingProxyType(dict(project.parameters) | parameters))
    if isinstance(kind, str):
        project = replace(project, cycles_from=kind)
    return protect_words(project)


def _runnable(
    project: Project, error: InfeasibleError, register: str | None, kept_small: KeptSmall
) -> tuple[tuple[Suggestion, tuple[str, ...]], ...]:
    """The suggestions that lead to a release as they stand, each with the words for a reason if need be.

    With a reason a single draw leaves whatever it tells: no command says so where there is chance. What
    would keep small sums exactly says that they may go out; where they may not it is none.
    """
    never = "never" in (kept_small, project.limits.kept_small)
    asked = not never and "keep" not in (kept_small, project.limits.kept_small)
    kept = isinstance(error, RefusedError) and not error.weighed and not _anybodys(project)
    kept = kept and register_address(register) is not None
    out: list[tuple[Suggestion, tuple[str, ...]]] = []
    for one in error.suggestions:
        reason = kept or one.takes_reason
        words: tuple[str, ...] = ()
        if reason or never or asked:
            method, changed = _changed(project, one)
            values = attempted(partial(method.resolve_for, project.problem, changed))
            if reason and (isinstance(values, TabprotectError) or method.is_random(values)):
                continue
            if (
                not reason
                and not isinstance(values, TabprotectError)
                and _keeps_small(project, method, values)
            ):
                if never:
                    continue
                words = KEPT_SMALL[1] if asked else ()
        out.append((one, ACCEPT[1] if reason else words))
    return tuple(out)


def _keeps_small(project: Project, method: Method, values: Values) -> bool:
    problem = project.problem
    kept = method.kept(problem.table.domain, values)
    return kept is not None and bool(small_sums(problem.table, kept, problem.at_risk))


def _changed(project: Project, suggestion: Suggestion) -> tuple[Method, Arguments]:
    """The method and the parameters as a suggestion has them: another method begins at its defaults."""
    given = dict(suggestion.parameters)
    if (name := given.pop("method", None)) is not None:
        return methods()[str(name)], given
    return project.protection, {**project.given, **given}


def _tuning_words(given: Arguments, done: Protected | None) -> dict[str, Any]:
    """Return how the parameters are tuned, if they are or were."""
    tuned = None if done is None else done.release.mechanism.tuned
    if given.get("tune"):
        return {"tune": True, "tune_for": given.get("tune_for", "changes")}
    return {} if tuned is None else {"tune": True, "tune_for": tuned.use}


@Declared(message("choose {method}"))
def set_method(project: Project, context: Context, *, method: str) -> Project:
    """Choose the protection method; its parameters start at their defaults."""
    chosen = methods(project.measure)[method].name
    empty: MappingProxyType[str, object] = MappingProxyType({})
    return replace(project.without_result(), method=chosen, parameters=empty)


BY_FIGURES = message("chosen by figures of this table")


@Declared(_parameters_label)
def set_parameters(project: Project, context: Context, /, **given: object) -> Project:
    """Set some of the method's parameters by name, checked together."""
    if "cycles" in given:
        raise ParameterError({"cycles": message("cycles are set by a command of their own")})
    values = dict(project.parameters) | given
    if project.magnitudes is not None:
        return replace(project.without_result(), parameters=checked_parameters(project, values))
    # Without a table, the smallest one checks them: few rules between parameters depend on the table.
    domain = Domain.of_shape((2, 2)) if project.table is None else project.table.domain
    after = replace(project.without_result(), parameters=MappingProxyType(values))
    chosen_cycles = after.takes_cycles and project.moves is not None and project.table is not None
    given_cycles = {"cycles": project.moves} if chosen_cycles else {}
    checked = project.protection.resolve(domain, values | given_cycles)
    # Parameters left open stay open: they may follow from the table's margins.
    chosen = {name: None if values[name] is None else checked[name] for name in values}
    before = project.parameters
    project = replace(project.without_result(), parameters=MappingProxyType(chosen))
    return redesigned(project, context, before)


@Declared(_parameters_label, slow=lambda project: project.table is None or project.domain.size > QUICK_CELLS)
def set_mechanism(
    project: Project, context: Context, /, *, cycles: str | None = None, **given: object
) -> Project:
    """Set parameters and, by the name of a template, the cycle set, in one step, checked together.

    Without ``cycles`` these stay as they are; empty, they are the default for the table again.

    Another ``method`` may be named, too: it begins at its defaults; and another rule for what is ``at_risk``.
    """
    if (rule := given.pop("at_risk", None)) is not None:
        project = replace(project.without_result(), at_risk=SmallCount.parse(str(rule)))
    if (method := given.pop("method", None)) is not None:
        project = set_method.run(project, context, method=str(method))
    # Parts may contradict each other until all of them are set.
    project = replace(project, parameters=MappingProxyType(dict(project.parameters) | given))
    if cycles == "":
        project = replace(project, moves=None, cycles_from="")
    elif cycles is not None:
        with about(kind="cycles"):
            project = set_cycles.run(project, context, kind=cycles)
    return set_parameters.run(project, context)


def of_remedy(parameters: Mapping[str, object]) -> dict[str, object]:
    """What :func:`set_mechanism` takes of a remedy: a design that it leaves open is the default again."""
    open_design = {"cycles": ""} if parameters.get("cycles", "") is None else {}
    return {**parameters, **open_design}


@Declared(
    lambda project, given: message("take a design: {given}", given["kind"]),
    slow=lambda project: project.table is None or project.domain.size > QUICK_CELLS,
)
def take_design(
    project: Project, context: Context, /, *, kind: str, seen: bool = False, **given: object
) -> Project:
    """Take a template and the parameters that go with it, in one step.

    ``seen`` states that figures of this table were looked at to choose it: the choice then reveals a
    little of the table, and the decision is recorded with each run.
    """
    with about(cycles="kind"):
        project = set_mechanism.run(project, context, cycles=kind, **given)
    return (
        replace(project, cycles_from=message("{kind}, {BY_FIGURES}", kind, BY_FIGURES)) if seen else project
    )


# It is kept as a setting; the decision it leads to is recorded with each run.
@Declared(
    lambda project, given: (
        message("set a seed")
        if given["seed"] is not None
        else message("take fresh randomness")
        if given.get("fresh")
        else message("take the house's own randomness")
    ),
    replayed=False,
)
def set_seed(project: Project, context: Context, *, seed: int | None, fresh: bool = False) -> Project:
    """Replay a seed, take fresh coins, or (``None``) use those derived from the house's key."""
    if seed is not None:
        Randomness.seeded(seed)
    return replace(project.without_result(), seed=seed, fresh=fresh and seed is None)


@Declared(message("set the limits of the house"))
def set_policy(project: Project, context: Context, /, **limits: object) -> Project:
    """Set the house limits by which releases are judged; those not named keep their defaults."""
    return replace(project.without_result(), policy=AgencyPolicy.of(limits))


@Declared(
    lambda project, given: message("protect with {label}", methods(project.measure)[project.method].label),
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
    asked.check_given(project.measure)
    reason = "" if asked.accept is None else asked.accept.strip()
    if asked.accept is not None and not reason:
        raise InputError(message("a reason is missing"), hint=message("say why it is published all the same"))
    accepted = reason or (gate.UNSTATED if asked.accept_weak else "")
    if project.magnitudes is not None:
        return protected_now(project, context, asked, accepted)
    if asked.tune_for != "changes" and not asked.tune:
        raise ParameterError({"tune_for": message("goes with tune")})
    tuned = _tuned(project, asked, context) if asked.tune else None
    if tuned is not None:
        project = replace(project, parameters=MappingProxyType({**project.parameters, **tuned.parameters}))
    problem = project.problem
    looked_up = context.looked_up or look_up(problem, context.register)
    if beside := _beside_earlier(project, looked_up):
        project = replace(project, parameters=MappingProxyType({**project.parameters, **beside}))
    admitted = partial(admit_key, accepted, context.register)
    randomness, decisions = coins_of(project, asked.seed, asked.fresh, admitted)
    if accepted:
        decisions += admit_seed(randomness, project.limits, accepted, decisions)
    values = project.protection.resolve_for(problem, project.taken)
    decisions += _about_unsafe(project, values, accepted, draft=asked.draft)
    only = project.limits.off_list == "reason"
    off = only and not _is_list(project, randomness)
    before = EarlierRefusals.of(
        problem,
        (project.protection, values, project.limits),
        accepted=bool(accepted),
        randomness=randomness,
        looked_up=looked_up,
        looks=not only,
    )
    try:
        protected = gate.protect(
            project.protection,
            problem,
            project.taken,
            context.drawn(randomness),
            policy=project.limits,
            accept=accepted,
            kept_small=asked.kept_small,
            draft=asked.draft,
            changed=off or bool(before.others),
            refused=() if off else before.draws,
            progress=context.progress,
        )
    except InfeasibleError as error:
        # What was asked is answered by a decision, not by other settings.
        if not error.suggestions and not (isinstance(error, RefusedError) and error.asks):
            limits = project.limits.limits_for(problem)
            error.suggestions = other_methods(project.protection, problem, limits, context.progress)
        error.runnable = _runnable(project, error, context.register, asked.kept_small)
        error.commands = tuple(
            line([*remedied(project, one.parameters), *words]) for one, words in error.runnable
        )
        if isinstance(error, RefusedError) and error.drawn and not _anybodys(project):
            before.remember(context.register, error.listed, by_itself=error.by_itself, looked=only)
        raise
    if asked.draft and gate.against(protected, project.limits) and not _anybodys(project):
        stated = protected.release.mechanism.gate
        listed = None if stated is None else stated.listed
        before.remember(context.register, listed, by_itself=not before.others, looked=only)
    if before.others:
        decisions = (
            *decisions,
            message(
                "{AFTER_REFUSAL}: {values}",
                AFTER_REFUSAL,
                ", ".join(sorted({one.method for one in before.others})),
            ),
        )
    if project.cycles_from.endswith(BY_FIGURES):
        decisions = (*decisions, message("the cycles were {BY_FIGURES}", BY_FIGURES))
    record = replace(protected.record, decisions=(*protected.record.decisions, *decisions))
    mechanism = replace(protected.release.mechanism, tuned=tuned)
    protected = Protected(replace(protected.release, mechanism=mechanism), record)
    return replace(project, protected=protected, published=False)


def _beside_earlier(project: Project, looked_up: LookedUp) -> dict[str, object]:
    """What earlier releases of the same people change of the parameters; of this very table, what it had."""
    method, problem = project.protection, project.problem
    if type(method).beside is Method.beside:
        return {}
    values = method.resolve_for(problem, project.given)
    earlier = []
    for one, release in looked_up.releases(looked_up.earlier):
        same = one.relation == "original" and release.mechanism.method == method.name
        if same and (found := method.beside(problem.table.domain, values, [release])):
            # The same table again is the same release.
            stated = release.mechanism.parameters
            return {name: stated.get(name) for name in found}
        if release.counted:
            earlier.append((release, problem.people.of(one.entry.number)))
    domain = problem.table.domain
    asked = method.beside(domain, values, [release for release, _ in earlier])
    refused = [one.mechanism(domain, problem.table) for one in looked_up.refused.values() if one.beside]
    if any(one and one.method == method.name and asked.items() <= one.parameters.items() for one in refused):
        # What was drawn stays so, whoever the house then says is counted.
        return asked
    return method.beside(domain, values, [release for release, kin in earlier if kin != "other"])


MOST_NAMED = 5
"""The cells that a refusal names."""


def _about_unsafe(
    project: Project, values: Mapping[str, object], accepted: str, *, draft: bool
) -> tuple[str, ...]:
    """The decision about cells that the table's own file calls unsafe, where the method takes no statuses.

    Raises
    ------
    RefusedError
        Where there is none.
    """
    cells = unsafe_cells(project.statuses)
    if not cells or values.get("statuses") or (draft and not accepted):
        return ()
    named = ", ".join(cells[:MOST_NAMED]) + (", ..." if len(cells) > MOST_NAMED else "")
    said = plural(
        len(cells),
        "{n} cell that the file calls unsafe would be published: {named}",
        "{n} cells that the file calls unsafe would be published: {named}",
        len(cells),
        named,
    )
    if not accepted:
        refused = RefusedError(
            said,
            hint=message("hide them: --method suppression; or decide that they go out: --accept REASON"),
            answers=(ACCEPT,),
        )
        refused.drawn, refused.asks = False, True
        raise refused
    return (message("{said}. {why}", said, accepted),)


def _is_list(project: Project, randomness: Randomness) -> bool:
    """Return True for the usual method as it is, with the coins of the house: nobody chose anything."""
    return project.method == DEFAULT_METHOD and not project.given and randomness.coins == "house"


def _anybodys(project: Project) -> bool:
    """Return True for an example as it is: of what everybody has a refusal tells nothing."""
    return project.source.startswith(PREFIX) and not project.edited


def _tuned(project: Project, asked: Drawing, context: Context) -> Tuned:
    """The parameters of least change that pass the limits; public.

    Raises
    ------
    InfeasibleError
        Where the method cannot be tuned, or nothing passes.
    """
    # Imported late: a judgement imports solvers, which the first paint must not wait for.
    from tabprotect.engine.disclosure.choosing.tuning import tuned

    limits = project.limits.limits_for(project.problem, again=False)
    given = project.protection, project.problem, project.given
    return tuned(*given, limits, asked.tune_for, context.progress)


@Declared(message("let the {who} believe {prior}"))
def set_prior(project: Project, context: Context, *, who: str, prior: str) -> Project:
    """Set the prior of ``user`` or ``intruder``, as a prior text."""
    if who not in PRIORS:
        raise InputError(
            message("there is no {who}; priors belong to {PRIORS}", repr(who), " and ".join(PRIORS))
        )
    check_prior(prior, project.domain)
    return replace(project, priors=MappingProxyType(dict(project.priors) | {who: prior}))
