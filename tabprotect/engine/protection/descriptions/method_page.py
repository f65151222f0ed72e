"""The page of a method as Markdown: what it does, its parameters, promises and needs."""

from __future__ import annotations

from collections.abc import Iterable

from tabprotect.engine.parameters import Parameter
from tabprotect.engine.protection.guarantees import GUARANTEES
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.needs import NEEDS


def method_page(method: Method) -> str:
    """The page as Markdown, from the method's declarations alone."""
    parts = [f"# {method.label} (`{method.name}`)", method.help]
    if method.parameters:
        parts += ["## Parameters", parameter_list(method.parameters)]
    if method.guarantees:
        promises = "\n".join(
            f"- {GUARANTEES[name].label}: {sentence}"
            for name, sentence in method.guarantees.items()
        )
        parts += ["## What it promises", promises]
    if method.needs:
        parts += ["## What it needs", "\n".join(f"- {NEEDS[n].sentence}." for n in method.needs)]
    return "\n\n".join(parts) + "\n"


def parameter_list(parameters: Iterable[Parameter[object]]) -> str:
    """Each parameter with its help, default and choices."""
    return "\n".join(map(_row, parameters))


def _row(parameter: Parameter[object]) -> str:
    default = "" if parameter.default in (None, "") else f" Default: {parameter.default}."
    secret = "" if parameter.public else " Not published."
    lines = [f"- `{parameter.name}`: {parameter.help}{default}{secret}"]
    lines += [f"  - `{value}`: {words}" for value, words in (parameter.choices or {}).items()]
    return "\n".join(lines)
