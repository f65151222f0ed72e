"""Commands on the release plan: which margins are to be released, and by which criterion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import MappingProxyType

from tabprotect.engine.errors import InputError, ParameterError, RefusedError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.command import Arguments, Context, Declared, stated
from tabprotect.engine.project.copy_as_command import table_word
from tabprotect.engine.project.options import DEFAULT_METHOD
from tabprotect.engine.project.project import Project
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import KEEP, kept_of
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.formula import in_formula
from tabprotect.engine.tables.margins import maximal_margins
from tabprotect.languages.messages import joined, message, plural

PUBLISHING = "publish_margins"
"""The method that publishes a plan."""


def _criterion_label(project: Project, given: Arguments) -> str:
    return message("set the release's ") + joined(
        (message("{n} to {v}", n, v) for n, v in given.items()), message(" and ")
    )


def _margin_label(project: Project, given: Arguments) -> str:
    names = given["variables"]
    assert isinstance(names, Sequence)
    return message("release {value}", " × ".join(names) or message("the grand total"))


def _plan_label(project: Project, given: Arguments) -> str:
    margins = given["margins"]
    assert isinstance(margins, Sequence)
    if not margins:
        return message("clear the release plan")
    return plural(
        len(margins), "plan to release {margins} table", "plan to release {margins} tables", len(margins)
    )


@Declared(_criterion_label)
def set_release_criterion(
    project: Project,
    context: Context,
    *,
    threshold: int | None = None,
    criterion: str | None = None,
    bounds: str | None = None,
) -> Project:
    """Set the given parts of the release criterion, checked together.

    Margins already planned stay planned; the window says if they are no longer safe.
    """
    # The query space adds a quarter of a second to a window's start; only this command needs it.
    from tabprotect.engine.query_space.registered import criteria
    from tabprotect.engine.ways_to_bound import BOUNDS_WAYS

    given = stated(threshold=threshold, criterion=criterion, bounds=bounds)
    plan = replace(project.plan, **given)
    wrong: dict[str, str] = {}
    if plan.threshold < 0:
        wrong["threshold"] = message("must be a whole number from 0 up, is {threshold}", plan.threshold)
    if plan.criterion not in criteria():
        wrong["criterion"] = message(
            "unknown: {criterion}; there are {criteria}", repr(plan.criterion), ", ".join(criteria())
        )
    if plan.bounds not in BOUNDS_WAYS:
        wrong["bounds"] = message(
            "unknown: {bounds}; there are {BOUNDS_WAYS}", repr(plan.bounds), ", ".join(BOUNDS_WAYS)
        )
    if wrong:
        raise ParameterError(wrong)
    return replace(project, plan=plan)


@Declared(_margin_label, slow=True)
def release_margin(project: Project, context: Context, *, variables: Sequence[str]) -> Project:
    """Plan to release one more sub-table, if that is proved safe together with those planned before."""
    domain = project.original.domain
    names = _margin(domain, variables)
    margins = project.plan.with_margin(domain, names)
    _require_safe(project, margins, context.progress)
    return replace(project, plan=replace(project.plan, margins=margins))


@Declared(_plan_label, slow=True)
def set_release_plan(project: Project, context: Context, *, margins: Sequence[Sequence[str]]) -> Project:
    """Plan to release exactly these sub-tables, if that is proved safe; an empty list clears the plan."""
    domain = project.original.domain
    chosen = maximal_margins(domain, [_margin(domain, margin) for margin in margins])
    if chosen:
        _require_safe(project, chosen, context.progress)
    return replace(project, plan=replace(project.plan, margins=chosen))


@Declared(message("take the plan as the release"))
def use_release_plan(project: Project, context: Context, *, then: str = "") -> Project:
    """Choose the method that publishes the planned margins, with the plan's threshold.

    ``then`` names a further method for each margin, as in ``random_rounding base=3``.
    """
    plan, formula = project.plan, _plan_formula(project)
    given = {"margins": formula, "threshold": plan.threshold, "bounds": plan.bounds, "then": then}
    method = methods()[PUBLISHING]
    # Thresholds of other criteria are of another kind; what is proved is the width.
    if plan.criterion != "width":
        del given["threshold"]
    checked = method.resolve(project.original.domain, given)
    values = {name: checked[name] for name in given}
    return replace(project.without_result(), method=PUBLISHING, parameters=MappingProxyType(values))


@Declared(message("perturb beyond the plan"))
def perturb_beyond_plan(project: Project, context: Context) -> Project:
    """Publish the planned margins exactly, and a perturbed table for everything else.

    Its cycles are designed for exactly these margins, so that nothing else stays exact.
    """
    keep = _plan_formula(project)
    kept_of(project.original.domain, {KEEP.name: keep})
    parameters = MappingProxyType({KEEP.name: keep})
    fresh = replace(project.without_result(), moves=None, cycles_from="")
    return replace(fresh, method=DEFAULT_METHOD, parameters=parameters)


def _plan_formula(project: Project) -> str:
    """The planned margins as a formula."""
    if not project.plan.margins:
        raise InputError(
            message("no margin is planned for release"),
            hint=message("release tables on the query space first"),
        )
    return " + ".join(":".join(map(in_formula, margin)) or "1" for margin in project.plan.margins)


def _margin(domain: Domain, names: Sequence[str]) -> tuple[str, ...]:
    if len(set(names)) != len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise InputError(
            message("the variable {twice} is named twice in one table", repr(twice)),
            hint=message("name it once"),
        )
    return domain.project(names).names


def _require_safe(project: Project, margins: Iterable[Sequence[str]], progress: Progress) -> None:
    # Imported late: only a release needs the query space.
    from tabprotect.engine.project.releasing.query_space_state import judge_margins

    judgement = judge_margins(project, margins, progress)
    if judgement.verdict == "safe":
        return
    said = " with ".join("[" + " ".join(margin) + "]" for margin in margins)
    figure = f"{judgement.width}" if judgement.exact else message("at most {width}", judgement.width)
    if project.plan.criterion == "width":
        figure = message("a width of {figure}", figure)
    raise RefusedError(
        message(
            "{said} would leave {figure}, and the threshold is {threshold}",
            said,
            figure,
            project.plan.threshold,
        )
        if judgement.verdict == "bad"
        else message("{said} is not proved to be wide enough, which refuses it", said),
        hint=message("release a smaller table, or lower the threshold"),
        detail=joined(
            (
                message("{text}: count {count}, bounds {lower} to {upper}", c.text, c.count, c.lower, c.upper)
                for c in judgement.tight
            ),
            "\n",
        ),
    )


def widths(project: Project) -> list[str]:
    """Words: the critical widths of all at-risk cells."""
    return _judging("widths", project) if project.kind == "house" else []


def frontier(project: Project) -> list[str]:
    """Words: the margins that may still be released beside the planned ones."""
    # Imported late, as above.
    from tabprotect.engine.query_space.lattice import names_joined

    released = [w for margin in project.plan.margins for w in ("--release", names_joined(margin))]
    return _planned(_judging("frontier", project), project, released)


def _judging(name: str, project: Project) -> list[str]:
    return [name, table_word(project), "--at-risk", str(project.at_risk)]


def _planned(words: list[str], project: Project, released: list[str]) -> list[str]:
    """Words that include the plan's criterion; none without an original."""
    plan = project.plan
    if project.kind != "house":
        return []
    criterion = ["--criterion", plan.criterion] if plan.criterion != "width" else []
    bounds = ["--bounds", plan.bounds] if plan.bounds != "auto" else []
    return [*words, *criterion, *released, "--beta", str(plan.threshold), *bounds]
