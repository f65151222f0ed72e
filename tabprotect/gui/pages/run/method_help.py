"""A method's help page: its text, what it promises, what it needs."""

from __future__ import annotations

import html

from tabprotect.engine.protection.guarantees import GUARANTEES
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.needs import NEEDS
from tabprotect.engine.protection.problem import Problem
from tabprotect.languages.said import joined, say
from tabprotect.languages.speaking import told


def method_help(method: Method, problem: Problem | None) -> str:
    """The page as HTML; with a problem, whether it has what is needed."""
    first, *rest = told(method.help).split("\n\n")
    parts = [
        say("<h3>{label}</h3>", html.escape(method.label)),
        say("<p><b>{first}</b></p>", html.escape(first)),
    ]
    parts += [_paragraph(text) for text in rest]
    if method.guarantees:
        parts.append(say("<h4>What it promises</h4><ul>"))
        parts += [
            say(
                "<li><b>{label}</b>: {sentence}</li>",
                html.escape(told(GUARANTEES[name].label)),
                html.escape(sentence),
            )
            for name, sentence in method.guarantees.items()
        ]
        parts.append("</ul>")
    if method.needs:
        unmet = {} if problem is None else method.unmet(problem)
        parts.append(say("<h4>What it needs</h4><ul>"))
        for name in method.needs:
            missing = say(": {unmet}", html.escape(unmet[name])) if name in unmet else ""
            mark = "\u2717 " if missing else "\u2713 " if problem is not None else ""
            parts.append(
                say(
                    "<li>{mark}{sentence}{missing}</li>",
                    mark,
                    html.escape(NEEDS[name].sentence),
                    missing,
                )
            )
        parts.append("</ul>")
    return joined(parts)


def _paragraph(text: str) -> str:
    """Indented lines are a worked example and keep their columns."""
    if all(line.startswith("    ") for line in text.splitlines()):
        return f"<pre>{html.escape(text)}</pre>"
    return say("<p>{text}</p>", html.escape(text))
