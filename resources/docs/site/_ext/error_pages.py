"""Pages of the program's error messages, each with its remedy, made from the code that raises them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
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
        "It may not leave, by the gate, the policy or the register.",
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
        "The command line is not what the command takes.",
        "`tabprotect COMMAND --help` says how it is called.",
    ),
}
"""By the name of the error: the heading, the exit code, the cause and the remedy where none is named."""

INDEX = """# Error messages

```{{index}} ! error, ! error message, ! errors, ! message
```

What the program says when something cannot be done, and what helps. A message is on one of these pages, under what it is about; values stand in braces. With
`--json` the same is in `error` (`message`, `hint`, `place`, `exit_code`), and in Python in the exception (`str(error)`, `error.hint`).

| about | exit code | Python | what it means | where a message names no remedy |
|---|---|---|---|---|
{rows}

```{{toctree}}
:hidden:

{pages}
```
"""


@dataclass(frozen=True, order=True)
class Told:
    """A message with its hints, as templates, and what the module that says it is for."""

    where: str
    text: str
    hints: tuple[str, ...]
    kind: str


Values = Mapping[str, ast.expr]
"""What names stand for, in a function or its module."""


def _templates(node: ast.expr | None, values: Values) -> Iterator[str]:
    """The templates that a text may have: of ``message`` and ``plural``, and of texts put together."""
    match node:
        case ast.Constant(value=str(text)) if text:
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(
                str(one.value) if isinstance(one, ast.Constant) else f"{{{ast.unparse(one)[3:-2]}}}"
                for one in parts
            )
        case ast.Call(func=ast.Name(id="message"), args=[first, *_]):
            yield from _templates(first, values)
        case ast.Call(func=ast.Name(id="plural"), args=[_, _, many, *_]):
            yield from _templates(many, values)
        case ast.Call(func=ast.Name(id="closest_match")):
            yield "take the nearest name, which is told"
        case ast.Call(func=ast.Attribute(value=ast.Name(id="dict"), attr="fromkeys"), args=[_, second]):
            yield from _templates(second, values)
        case (
            ast.Call(func=ast.Name(id="joined"), args=[first, *_])
            | ast.Call(func=ast.Name(id="filter"), args=[_, first])
        ):
            yield from _templates(first, values)
        case ast.Dict(values=several) | ast.BoolOp(values=several) | ast.List(elts=several):
            for one in several:
                yield from _templates(one, values)
        case ast.IfExp(body=body, orelse=other):
            yield from _templates(body, values)
            yield from _templates(other, values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            behind = next(_templates(right, values), "")
            yield from (before + behind for before in _templates(left, values))
        case ast.Name(id=name) if name in values:
            # Once: a name that stands for itself ends here.
            yield from _templates(values[name], {key: one for key, one in values.items() if key != name})


def _assigned(tree: ast.AST) -> dict[str, ast.expr]:
    """What each name is set to, last, in a module outside of functions, or in a function."""
    found = {}
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
        elif not isinstance(node, ast.FunctionDef | ast.ClassDef):
            found |= _assigned(node)
    return found


def told_by(tree: ast.Module) -> Iterator[Told]:
    """Every error that a module makes with a text of its own."""
    where = (ast.get_docstring(tree) or "").partition("\n")[0].partition(": ")[0].rstrip(".")
    constants = _assigned(tree)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        values = constants | _assigned(function)
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Name(id=kind), args=[first, *_], keywords=words) if kind in KINDS:
                    named = [one.value for one in words if one.arg == "hint"]
                    hints = tuple(_templates(named[0], values)) if named else ()
                    yield from (Told(where, text, hints, kind) for text in _templates(first, values))


def error_pages(package: Path) -> dict[str, str]:
    """The pages, by their names: one of each kind of error, and the one that lists them.

    Parameters
    ----------
    package
        The folder of the program's code.
    """
    found: dict[tuple[str, str, str], Told] = {}
    for path in sorted(package.rglob("*.py")):
        # Of two that say the same about the same, the one that helps.
        found |= {
            (one.kind, one.where, one.text): one
            for one in sorted(told_by(ast.parse(path.read_text("utf-8"))), key=lambda one: len(one.hints))
        }
    pages, rows = {}, []
    for kind, (title, code, cause, remedy) in KINDS.items():
        name = f"errors/{kind.removesuffix('Error').lower()}"
        own = sorted(one for one in found.values() if one.kind == kind)
        # Of some kinds every text is put together from others.
        rows.append(
            f"| {f'[{title}]({name}.md)' if own else title} | {code} | `{kind}` | {cause} | {remedy} |"
        )
        if own:
            first = f"# {title} (exit code {code})\n\n{cause} Where a message names no remedy, this helps: {remedy}"
            below = (
                f"**{where}**\n\n" + "\n".join(map(_entry, said))
                for where, said in groupby(own, lambda one: one.where)
            )
            pages[name] = "\n\n".join([first, *below]) + "\n"
    listed = INDEX.format(rows="\n".join(rows), pages="\n".join(pages))
    return {"error_messages": listed} | pages


def _entry(one: Told) -> str:
    """A message, and what helps."""
    helps = " Or: ".join(hint if hint[-1] in ".?" else f"{hint}." for hint in one.hints)
    return f"- `{' '.join(one.text.split())}`{f' *Remedy:* {helps}' if helps else ''}"
