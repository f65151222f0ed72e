"""The command line for what the window shows, as far as the current view may reveal it."""

from __future__ import annotations

from dataclasses import replace

from tabprotect.engine.project.copy_as_command import Words, line
from tabprotect.gui.base.document import Document

BUNDLE = "release.zip"
EARLIER = "earlier-counts.csv"


def command_line(document: Document, words: Words) -> str:
    """The command line that does the same as a click; empty if there is none.

    In public view of a house project it is what a reader of the bundle would type, without any
    path, rule or dossier of the house.
    """
    if (project := document.project) is None:
        return ""
    if document.hiding:
        if document.release is None:
            return ""
        project = replace(
            project,
            table=None,
            protected=None,
            released=document.release,
            source=BUNDLE,
            priors={who: public_prior(text) for who, text in project.priors.items()},
        )
    return line(words(project))


def public_prior(text: str) -> str:
    """The text of a prior, with a placeholder for the house's file."""
    kind, _, rest = text.partition(":")
    return text if not rest or kind == "positive" else f"{kind}:{EARLIER}"
