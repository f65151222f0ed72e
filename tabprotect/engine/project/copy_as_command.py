"""The command line that does the same as a click: "Copy as command".

The words of a command stand beside its verb, and those of a question beside the verbs it goes with.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence

from tabprotect.engine.project.project import Project

SAVED = "project.tabprotect"
"""Stands for the saved project where no file alone holds what is on the screen."""

Words = Callable[[Project], list[str]]
"""The words of a question on a project; none where the project has no answer."""


def line(words: Sequence[str]) -> str:
    """Words as one line for a shell; empty where there are none."""
    return shlex.join(["tabprotect", *words]) if words else ""


def table_word(project: Project) -> str:
    """The table of a project on the command line."""
    return SAVED if project.edited or not project.source else project.source
