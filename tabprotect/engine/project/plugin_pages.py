"""A page for every method, measure, criterion, rule and utility, made from its module alone."""

from __future__ import annotations

from collections.abc import Sequence

from tabprotect.engine.assessment.measure import NEEDS, Measure
from tabprotect.engine.assessment.registered import measures
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.protection.descriptions.method_page import method_page, parameter_list
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.query_space.registered import criteria, rules, utilities
from tabprotect.languages.messages import joined, message, uncapital


def plugin_pages() -> dict[str, str]:
    """The pages as Markdown by ``kind/name``, for example ``measures/tcap``."""
    pages = {f"methods/{name}": method_page(method) for name, method in methods().items()}
    for name, measure in measures().items():
        pages[f"measures/{name}"] = _page(measure.label, name, measure.help, _facts(measure))
    for name, criterion in criteria().items():
        facts = [message("Counted in {unit}.", criterion.unit)]
        pages[f"criteria/{name}"] = _page(criterion.label, name, criterion.help, facts)
    for name, rule in rules().items():
        pages[f"rules/{name}"] = _page(rule.label, name, rule.help, parameters=rule.parameters)
    for name, utility in utilities().items():
        pages[f"utilities/{name}"] = _page(utility.label, name, utility.help)
    return pages


def _facts(measure: Measure) -> list[str]:
    needs = [message("It needs: {what}.", uncapital(NEEDS[name])) for name in measure.needs]
    return [f"A measure of {measure.noun}, {measure.direction}; unit: {measure.unit}.", *needs]


def _page(
    label: str, name: str, help_: str, facts: Sequence[str] = (), parameters: Sequence[Parameter[object]] = ()
) -> str:
    parts = [f"# {label} (`{name}`)", help_]
    if facts:
        parts.append(joined((f"- {fact}" for fact in facts), "\n"))
    if parameters:
        parts += ["## Parameters", parameter_list(parameters)]
    return joined(parts, "\n\n") + "\n"
