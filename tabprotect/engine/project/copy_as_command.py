"""The command line equivalent to a click: "Copy as command".

The words of a command stand beside its verb, those of a question beside the related verbs.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence

from tabprotect.engine.project.project import Project

SAVED = "project.tabprotect"
"""Placeholder for the saved project, if no single file holds what is on the screen."""

Words = Callable[[Project], list[str]]
"""A function that gives the words of a question on a project; none if the project has no answer."""


def line(words: Sequence[str]) -> str:
    """Join words to one line for a shell; empty if there are none."""
    return shlex.join(["tabprotect", *words]) if words else ""


def table_word(project: Project) -> str:
    """The word for a project's table on the command line."""
    return SAVED if project.edited or not project.source else project.source
