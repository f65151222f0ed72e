"""What a table says of itself beside its numbers: the texts that a house or a publisher gives."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tabprotect.languages.messages import message
from tabprotect.languages.translation import LANGUAGES

METADATA: Mapping[str, str] = MappingProxyType(
    {
        "licence": message("Licence"),
        "publisher": message("Publisher"),
        "contact": message("Contact"),
        "period": message("Reference period"),
        "language": message("Language"),
        "concept": message("Statistical concept"),
        "confidentiality": message("Confidentiality (SIMS S.7)"),
        "accuracy": message("Accuracy (SIMS S.13)"),
    }
)
"""What each of the texts is, by its name in files."""

TABLE_TEXTS: Mapping[str, str] = MappingProxyType(
    {**METADATA, "unit": message("Unit"), "source": message("Source")}
)
"""What a house says of all its tables, and a publisher of one, with the words for it."""


def check_said(given: Mapping[str, str]) -> dict[str, str]:
    """What is wrong with texts of these names, by name."""
    wrong = {
        name: message("must be one of {names}", ", ".join(TABLE_TEXTS))
        for name in given
        if name not in TABLE_TEXTS
    }
    return wrong | {name: message("says nothing") for name, text in given.items() if not text.strip()}


OF_MECHANISM = ("confidentiality", "accuracy")
"""Those of them that are true of one release: no other file's are taken."""

TEXTS: Mapping[str, str] = MappingProxyType(
    {
        "methodology": message("For the methodology page"),
        "parts": message("Why do parts not add up?"),
        "footnote": message("Footnote"),
        "press": message("For the press office"),
    }
)
"""What each of the texts for users of a release is, by its name."""

OWN_TEXTS = tuple(f"{name}{code}" for name in TEXTS for code in ("", *(f"_{one}" for one in LANGUAGES)))
"""The names under which a house writes its own: for every language, or for one."""
