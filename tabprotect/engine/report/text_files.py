"""The texts for users of a release bundle as one file of text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tabprotect.engine.bundle.user_texts import user_texts
from tabprotect.engine.disclosure.policy import in_force
from tabprotect.engine.plain_values.metadata import TEXTS
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.report.report import public_bundle
from tabprotect.languages.translation import ENGLISH, LANGUAGES, catalogue

TEXT_FILES = (".md", ".txt")


def texts_of(path: Path, progress: Progress = SILENT) -> dict[str, dict[str, str]]:
    """The texts of a release bundle, or of that in a dossier, by language and name; the house's own in force.

    Raises
    ------
    BundleError
        When the file is damaged, forged or unsafe to open.
    ParameterError
        For a policy with wrong fields.
    """
    return user_texts(public_bundle(path, progress).release, in_force().texts)


def texts_bytes(found: Mapping[str, Mapping[str, str]]) -> bytes:
    """One file: a part for each language, headings and paragraphs."""
    lines: list[str] = []
    for code, texts in found.items():
        lines += [f"# {LANGUAGES[code]}", ""]
        for name, text in texts.items():
            heading = TEXTS[name]
            lines += [
                f"## {heading if code == ENGLISH else catalogue(code).translated(heading)}",
                "",
                text,
                "",
            ]
    return "\n".join(lines).encode()
