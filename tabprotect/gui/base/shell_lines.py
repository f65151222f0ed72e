"""The command line for what the window shows, as the view in force may tell it."""

from __future__ import annotations

from dataclasses import replace

from tabprotect.engine.project.command import Arguments
from tabprotect.engine.project.shell import as_command
from tabprotect.gui.base.document import Document

BUNDLE = "release.zip"
EARLIER = "earlier-counts.csv"

READERS = {"open_table": "open_bundle", "check": "check", "infer": "infer"}
"""What a reader of the bundle can do, by the command the house would use on the same page."""


def command_line(document: Document, name: str, arguments: Arguments | None = None) -> str:
    """What does the same as a click; empty where there is nothing.

    In public view of a project of the house it is what a reader of the bundle would type: no
    path, rule or dossier of the house is in it.
    """
    project = document.project
    if project is None or not name:
        return ""
    if not (document.public and document.has_original):
        return as_command(project, name, arguments)
    release = document.release
    if name not in READERS or release is None:
        return ""
    given = {key: public_prior(str(value)) for key, value in (arguments or {}).items()}
    priors = {who: public_prior(text) for who, text in project.priors.items()}
    reader = replace(
        project, table=None, protected=None, released=release, source=BUNDLE, priors=priors
    )
    return as_command(reader, READERS[name], given)


def public_prior(text: str) -> str:
    """The text of a prior with a stand-in for the house's file."""
    kind, _, rest = text.partition(":")
    return text if not rest or kind == "positive" else f"{kind}:{EARLIER}"
