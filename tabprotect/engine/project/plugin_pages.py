"""A page for every method, measure, criterion, rule, utility and format, made from its module alone."""

from __future__ import annotations

from collections.abc import Mapping

from tabprotect.engine.assessment.measure import NEEDS, Measure
from tabprotect.engine.assessment.registered import measures
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.protection.descriptions.method_page import method_page, parameter_list
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.registered import judged_further, methods
from tabprotect.engine.query_space.criterion import RiskCriterion
from tabprotect.engine.query_space.registered import criteria, rules, utilities
from tabprotect.engine.query_space.rule import ReleaseRule
from tabprotect.engine.query_space.utility import ReleaseUtility
from tabprotect.engine.sensitivity.magnitude_rules import sensitivity_rules
from tabprotect.engine.sensitivity.rule import SensitivityRule
from tabprotect.languages.messages import joined, message, uncapital
from tabprotect.languages.nearest import closest_match

Plugin = Method | Measure | SensitivityRule | RiskCriterion | ReleaseRule | ReleaseUtility | Format


def registries() -> Mapping[str, Mapping[str, Plugin]]:
    """All that is found in a folder or by an entry point, by kind and name."""
    return {
        "methods": {
            **methods(),
            **{n: one for n, one in methods("magnitudes").items() if n not in methods()},
        },
        "measures": measures(),
        "sensitivity_rules": sensitivity_rules(),
        "criteria": criteria(),
        "rules": rules(),
        "utilities": utilities(),
        "formats": formats(),
    }


def plugins_named(name: str) -> list[Plugin]:
    """Find methods, measures, criteria, rules, utilities and formats of a name: a rule may be a criterion, too.

    Raises
    ------
    ParameterError
        If none has this name.
    """
    found = registries().values()
    if of_name := [registry[name] for registry in found if name in registry]:
        return of_name
    every = [one for registry in found for one in registry]
    raise ParameterError(
        {"name": message("there is no method, measure, rule or format {name}", repr(name))},
        hint=joined(
            filter(None, [closest_match(name, every, most=3), message("'tabprotect describe' lists all")]),
            " ",
        ),
    )


def plugin_json(plugin: Plugin) -> dict[str, object]:
    """The declaration for ``describe --json``; of a method with what it does to either measure."""
    found = plugin.as_json()
    if isinstance(plugin, Method) and (other := _beside(plugin)) is not None:
        found |= {"measures": ["counts", "magnitudes"], "magnitudes": other.as_json()}
    return found


def _beside(method: Method) -> Method | None:
    """What the file of a method for counts does to magnitudes, if anything."""
    others = (one for one in methods("magnitudes").values() if one is not method)
    return next((one for one in others if one.name == method.name), None)


def plugin_page(plugin: Plugin) -> str:
    """Return the page as Markdown, from the plug-in's declarations alone."""
    if isinstance(plugin, Method):
        return method_page(plugin, _beside(plugin), judged_further(plugin, (plugin.judged_up_to or 0) + 1))
    parts = [f"# {plugin.label} (`{plugin.name}`)", plugin.help]
    facts: list[str] = []
    if isinstance(plugin, Measure):
        facts = [f"A measure of {plugin.noun}, {plugin.direction}; unit: {plugin.unit}."]
        facts += [message("It needs: {what}.", uncapital(NEEDS[name])) for name in plugin.needs]
    elif isinstance(plugin, SensitivityRule):
        facts = [
            message(
                "For {measure}; written, for example: {examples}",
                message(plugin.measure),
                joined((f"`{one}`" for one in plugin.examples), ", "),
            )
        ]
    elif isinstance(plugin, RiskCriterion):
        facts = [message("Counted in {unit}.", plugin.unit)]
    elif isinstance(plugin, Format):
        named = joined(plugin.suffixes, " ")
        written = message("Read and written: {suffixes}", named)
        facts = [written if plugin.writes else message("Read: {suffixes}", named), *plugin.limits]
    if facts:
        parts.append(joined((f"- {fact}" for fact in facts), "\n"))
    if isinstance(plugin, ReleaseRule) and plugin.parameters:
        parts += ["## Parameters", parameter_list(plugin.parameters)]
    return joined(parts, "\n\n") + "\n"


def plugin_pages() -> dict[str, str]:
    """Return the pages by ``kind/name``, for example ``measures/tcap``; formats have one page together."""
    return {
        f"{kind}/{name}": plugin_page(plugin)
        for kind, registry in registries().items()
        if kind != "formats"
        for name, plugin in registry.items()
    }
