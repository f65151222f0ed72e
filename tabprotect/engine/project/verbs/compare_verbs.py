"""The command that sets up the comparison of methods, and the comparison of a project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tabprotect.engine.assessment.comparing.run_spec import Comparing, Scope
from tabprotect.engine.errors import InputError, ParameterError, TabprotectError
from tabprotect.engine.formats.grouping_files import parse_groupings
from tabprotect.engine.options import option_field
from tabprotect.engine.project.command import Arguments, Context, Declared, stated
from tabprotect.engine.project.copy_as_command import table_word
from tabprotect.engine.project.examples import PREFIX, load_example
from tabprotect.engine.project.plans import ComparisonPlan
from tabprotect.engine.project.project import Project
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message

MOST_RUNS = 10_000
"""The most runs of one setting: more add nothing."""


def _label(project: Project, given: Arguments) -> str:
    if set(given) == {"runs"}:
        runs = given["runs"]
        assert isinstance(runs, (list, tuple))
        before = len(project.comparison.runs)
        if not runs:
            return message("compare nothing")
        what = message("one setting") if len(runs) == 1 else message("{runs} settings", len(runs))
        return (
            message("compare {what}", what) if len(runs) >= before else message("compare only {what}", what)
        )
    return message("set the comparison's ") + ", ".join(name.replace("_", " ") for name in given)


@dataclass(frozen=True, kw_only=True)
class ComparisonParts(Scope):
    """Parts of a comparison that are set; the others stay as they are."""

    runs: Sequence[str] | None = option_field(None)
    runs_per_method: int | None = option_field(None, low=1, high=MOST_RUNS)


@Declared(_label).asking(ComparisonParts)
def set_comparison(project: Project, context: Context, asked: ComparisonParts) -> Project:
    """Set the given parts of a comparison, checked together; a list of values gives a run for each."""
    domain = project.original.domain
    given = stated(
        runs=None if asked.runs is None else _expanded(domain, asked.runs),
        runs_per_method=asked.runs_per_method,
        margins=asked.margins and asked.margins.strip(),
        groupings=asked.groupings and asked.groupings.strip(),
        key=None if asked.key is None else tuple(asked.key),
        sensitive=asked.sensitive and asked.sensitive.strip(),
    )
    plan = replace(project.comparison, **given)
    _check(domain, plan)
    return replace(project, comparison=plan)


def _expanded(domain: Domain, runs: Sequence[str]) -> tuple[str, ...]:
    """Expand runs so that every setting occurs once, each checked.

    Raises
    ------
    ParameterError
        With the errors of all of them.
    """
    # Imported late: only this command needs it.
    from tabprotect.engine.assessment.comparing.run_spec import parse_spec

    found: dict[str, str] = {}
    wrong: dict[str, str] = {}
    for run in runs:
        try:
            specs = parse_spec(run)
        except ParameterError as error:
            wrong |= {message("{run}: {name}", run, name): why for name, why in error.fields.items()}
            continue
        for spec in specs:
            try:
                methods()[spec.method].resolve(domain, spec.given)
            except ParameterError as error:
                wrong |= {
                    message("{text}: {name}", spec.text, name): why for name, why in error.fields.items()
                }
            except InputError:
                # It does not fit the table: its runs will say so, and the others are compared.
                pass
            except TabprotectError as error:
                wrong[spec.text] = str(error)
            # A single setting stays as written; a grid is written out.
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
        from tabprotect.engine.assessment.intruder_key import Key

        try:
            Key.of(domain, plan.key or None, plan.sensitive or None)
        except ParameterError as error:
            wrong |= error.fields
    if wrong:
        raise ParameterError(wrong, hint=message("there are {names}", ", ".join(domain.names)))


def comparison_of(project: Project) -> Comparing:
    """What is compared in the project: the compared cells and the intruder's variables.

    An example uses those of its source's own comparison, unless any of them is set.
    """
    plan = project.comparison
    margins, key, sensitive = plan.margins, plan.key, plan.sensitive
    if project.source.startswith(PREFIX) and not project.edited and not plan.names_cells:
        own = load_example(project.source.removeprefix(PREFIX)).comparison
        margins, sensitive = own.get("margins", ""), own.get("sensitive", "")
        key = tuple(name.strip() for name in own.get("key", "").split(",") if name.strip())
    return Comparing(
        margins=margins or None,
        groupings=plan.groupings or None,
        key=key or None,
        sensitive=sensitive or None,
        seed=project.seed,
    )


def compare(project: Project) -> list[str]:
    """Words: the comparison as set."""
    plan = project.comparison
    if not plan.runs or project.table is None:
        return []
    words = ["compare", table_word(project)]
    for run in plan.runs:
        words += ["--run", run]
    words += ["--runs-per-method", str(plan.runs_per_method)]
    given = {
        "--margins": plan.margins,
        "--groupings": plan.groupings,
        "--key": ",".join(plan.key),
        "--sensitive": plan.sensitive,
    }
    for option, value in given.items():
        words += [option, value] if value else []
    return [*words, "--at-risk", str(project.at_risk)]
