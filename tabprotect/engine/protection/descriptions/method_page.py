"""The page of a method as Markdown: what it does, its parameters, promises and needs."""

from __future__ import annotations

from collections.abc import Iterable

from tabprotect.engine.parameters import Parameter
from tabprotect.engine.protection.guarantees import GUARANTEES
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.needs import NEEDS
from tabprotect.languages.messages import joined, message


def method_page(method: Method, beside: Method | None = None, further: Method | None = None) -> str:
    """The page as Markdown, from declarations alone.

    Parameters
    ----------
    beside
        What the same file does to magnitudes.
    further
        What is judged whole in larger tables.
    """
    parts = [f"# {method.label} (`{method.name}`)", method.help]
    if method.every_parameter:
        parts += ["## Parameters", parameter_list(method.every_parameter)]
    if method.guarantees:
        promises = joined(
            (
                message("- {label}: {sentence}", GUARANTEES[name].label, sentence)
                for name, sentence in method.guarantees.items()
            ),
            "\n",
        )
        parts += [message("## What it promises"), promises]
    if method.measure == "counts":
        parts.append(_judged(method, further))
    if method.needs:
        parts += [
            message("## What it needs"),
            joined((f"- {NEEDS[n].sentence}." for n in method.needs), "\n"),
        ]
    if beside is not None:
        parts += [message("## For tables of magnitudes"), beside.help]
        parts += ["### Parameters", parameter_list(beside.every_parameter)]
    return joined(parts, "\n\n") + "\n"


def _judged(method: Method, further: Method | None) -> str:
    if method.judged_up_to is None:
        return message("Up to which size a release is judged whole depends on the parameters that it takes.")
    nearest = message("merge categories, or publish parts of the table")
    if further is not None:
        nearest = message(
            "`{name}` is judged whole up to {cells:,} cells", further.name, further.judged_up_to or 0
        )
    return message(
        "Judged whole by default: square tables of two variables, measured up to {cells:,} cells. Beyond, "
        "the verdict names what it leaves out: {nearest}.",
        method.judged_up_to,
        nearest,
    )


def parameter_list(parameters: Iterable[Parameter[object]]) -> str:
    """Each parameter with its help, default and choices."""
    return joined(map(_row, parameters), "\n")


def _row(parameter: Parameter[object]) -> str:
    default = "" if parameter.default in (None, "") else message(" Default: {default}.", parameter.default)
    lines = [
        (
            message("- `{name}`: {help}{default}", parameter.name, parameter.help, default)
            if parameter.public
            else message(
                "- `{name}`: {help}{default} Not published.", parameter.name, parameter.help, default
            )
        )
    ]
    lines += [f"  - `{value}`: {words}" for value, words in (parameter.choices or {}).items()]
    return joined(lines, "\n")
