"""The command on the comparison of methods, and what a comparison of the project is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tabprotect.engine.errors import InputError, ParameterError, TabprotectError
from tabprotect.engine.project.command import Arguments, Command, Context, text, texts, whole
from tabprotect.engine.project.comparison_plan import ComparisonPlan
from tabprotect.engine.project.examples import PREFIX, load_example
from tabprotect.engine.project.project import Project
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.hierarchy import parse_groupings
from tabprotect.engine.tables.publication import Publication

FIELDS = ("runs", "runs_per_method", "margins", "groupings", "key", "sensitive")

MOST_RUNS = 10_000
"""Runs of one setting: more say nothing new."""


def set_comparison(project: Project, context: Context, **given: object) -> Project:
    """Set what is compared: any of ``runs`` (texts; a list of values makes a run of each),
    ``runs_per_method``, ``margins``, ``groupings``, ``key`` and ``sensitive``, checked together."""
    domain = project.original.domain
    wrong = {n: f"unknown; there are {', '.join(FIELDS)}" for n in given if n not in FIELDS}
    if wrong:
        raise ParameterError(wrong)
    plan = project.comparison
    if "runs" in given:
        plan = replace(plan, runs=_expanded(domain, texts(given["runs"], "runs")))
    if "runs_per_method" in given:
        number = whole(given["runs_per_method"], "runs_per_method")
        if not 1 <= number <= MOST_RUNS:
            raise ParameterError(
                {"runs_per_method": f"must be between 1 and {MOST_RUNS}, is {number}"}
            )
        plan = replace(plan, runs_per_method=number)
    if "key" in given:
        plan = replace(plan, key=texts(given["key"], "key"))
    for name in ("margins", "groupings", "sensitive"):
        if name in given:
            plan = replace(plan, **{name: text(given[name], name).strip()})  # type: ignore[arg-type]
    _check(domain, plan)
    return replace(project, comparison=plan)


def _expanded(domain: Domain, runs: tuple[str, ...]) -> tuple[str, ...]:
    """Every setting once, each of them checked.

    Raises
    ------
    ParameterError
        With the faults of all of them.
    """
    # As with the query space: only this command needs it.
    from tabprotect.engine.assessment.run_spec import parse_spec

    found: dict[str, str] = {}
    wrong: dict[str, str] = {}
    for run in runs:
        try:
            specs = parse_spec(run)
        except ParameterError as error:
            wrong |= {f"{run}: {name}": why for name, why in error.fields.items()}
            continue
        for spec in specs:
            try:
                methods()[spec.method].resolve(domain, spec.given)
            except ParameterError as error:
                wrong |= {f"{spec.text}: {name}": why for name, why in error.fields.items()}
            except InputError:
                # The table does not suit it: its runs will say so, the others are compared.
                pass
            except TabprotectError as error:
                wrong[spec.text] = str(error)
            # One setting stays as it was written; a grid is written out.
            found.setdefault(spec.text, spec.text if len(specs) > 1 else " ".join(run.split()))
    if wrong:
        raise ParameterError(wrong)
    return tuple(found.values())


def _check(domain: Domain, plan: ComparisonPlan) -> None:
    wrong: dict[str, str] = {}
    if plan.margins or plan.groupings:
        try:
            groupings = parse_groupings(plan.groupings, domain) if plan.groupings else ()
            if plan.margins:
                Publication.of(domain, plan.margins, groupings)
        except TabprotectError as error:
            wrong["margins" if plan.margins else "groupings"] = str(error)
    if plan.key or plan.sensitive:
        from tabprotect.engine.assessment.key import Key

        try:
            Key.of(domain, plan.key or None, plan.sensitive or None)
        except ParameterError as error:
            wrong |= error.fields
    if wrong:
        raise ParameterError(wrong, hint=f"there are {', '.join(domain.names)}")


def comparison_settings(project: Project) -> Mapping[str, object]:
    """``margins``, ``groupings``, ``key`` and ``sensitive`` for ``compare``, ``None`` where unset.

    On an example they are those of its own source's comparison, unless any of them is set.
    """
    plan = project.comparison
    margins, key, sensitive = plan.margins, plan.key, plan.sensitive
    if project.source.startswith(PREFIX) and not project.edited and not plan.names_cells:
        own = load_example(project.source.removeprefix(PREFIX)).comparison
        margins, sensitive = own.get("margins", ""), own.get("sensitive", "")
        key = tuple(name.strip() for name in own.get("key", "").split(",") if name.strip())
    return {
        "margins": margins or None,
        "groupings": plan.groupings or None,
        "key": key or None,
        "sensitive": sensitive or None,
    }


def _label(project: Project, given: Arguments) -> str:
    if set(given) == {"runs"}:
        runs = given["runs"]
        assert isinstance(runs, (list, tuple))
        before = len(project.comparison.runs)
        if not runs:
            return "compare nothing"
        return f"{'compare' if len(runs) >= before else 'compare only'} {len(runs)} settings"
    return "set the comparison's " + ", ".join(name.replace("_", " ") for name in given)


VERBS = (Command("set_comparison", set_comparison, _label),)
