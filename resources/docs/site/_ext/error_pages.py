"""A page of the program's error messages, each with its remedy, made from the code that raises them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

KINDS = {
    "InputError": (
        "A file or a table",
        3,
        "What was given cannot be read as what it is said to be.",
        "Look at the place that is named (file, line, cell); `tabprotect describe FILE` says how the file is read.",
    ),
    "FieldsError": (
        "A value",
        3,
        "A value is not of the kind that is asked for.",
        "Give a value of the kind that is named.",
    ),
    "ParameterError": (
        "A parameter",
        4,
        "A parameter of a method or a command is wrong.",
        "`tabprotect describe METHOD` lists the parameters with their bounds and choices.",
    ),
    "InfeasibleError": (
        "Nothing fits",
        5,
        "No table, pattern or setting fulfils what is asked.",
        "Ask for less: fewer kept sums, a wider interval, another method.",
    ),
    "RefusedError": (
        "Refused",
        5,
        "By the gate, the policy or the register it may not leave.",
        "Take a remedy that is offered, or publish with a reason on record.",
    ),
    "BundleError": (
        "A bundle",
        6,
        "A bundle is damaged, forged or of another version.",
        "Get it again from who published it, and compare the fingerprint.",
    ),
    "UsageError": (
        "The command line",
        2,
        "The words of the command are off.",
        "`tabprotect COMMAND --help` says how it is called.",
    ),
}
"""By the name of the error: the heading, the exit code, the cause and the remedy where none is named."""

INTRODUCTION = """# Error messages

```{index} ! error, ! error message, ! errors, ! message
```

What the program says when something cannot be done, and what helps. Values stand in braces. With `--json` the same is in `error` (`message`, `hint`, `place`, `exit_code`).

{sections}
"""


@dataclass(frozen=True)
class Told:
    """A message with its hint, as templates, and what the module that says it is for."""

    kind: str
    text: str
    hint: str
    where: str


def _template(node: ast.expr | None) -> str:
    """The template of a text: of ``message`` and ``plural``, and of texts put together."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Call(func=ast.Name(id="message"), args=[first, *_]):
            return _template(first)
        case ast.Call(func=ast.Name(id="plural"), args=[_, _, many, *_]):
            return _template(many)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _template(left) + _template(right)
        case _:
            return ""


def told_by(tree: ast.Module) -> Iterator[Told]:
    """Every error that a module makes with a text of its own."""
    where = (ast.get_docstring(tree) or "").partition("\n")[0]
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=kind), args=[first, *_], keywords=words) if kind in KINDS:
                texts = [first]
                if isinstance(first, ast.Dict):
                    texts = list(first.values)
                hint = next((_template(one.value) for one in words if one.arg == "hint"), "")
                yield from (Told(kind, text, hint, where) for one in texts if (text := _template(one)))


def error_pages(package: Path) -> dict[str, str]:
    """The page, by its name.

    Parameters
    ----------
    package
        The folder of the program's code.
    """
    found: dict[Told, None] = {}
    for path in sorted(package.rglob("*.py")):
        found |= dict.fromkeys(told_by(ast.parse(path.read_text("utf-8"))))
    sections = []
    for kind, (title, code, cause, remedy) in KINDS.items():
        own = {one.text: one for one in found if one.kind == kind}
        sections.append(
            f"## {title} (exit code {code})\n\n{cause} Where a message names no remedy: {remedy}\n"
        )
        sections += [_entry(one) for _, one in sorted(own.items())]
    return {"error_messages": INTRODUCTION.replace("{sections}", "\n".join(sections))}


def _entry(one: Told) -> str:
    """A message with where it comes from, and what helps."""
    helps = f" *Remedy:* {one.hint[0].upper()}{one.hint[1:]}." if one.hint else ""
    return f"`{' '.join(one.text.split())}`\n: *From:* {one.where}{helps}\n"
