"""Texts for the users of a release, made from its mechanism: methodology page, footnote, press office.

They are functions of the release and of what its publisher wrote: nothing of the original is in them.
"""

from __future__ import annotations

from collections.abc import Mapping

from tabprotect.engine.bundle.reader_text import title_of, why_parts
from tabprotect.engine.bundle.tables.about import about_release, largest_change
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import joined, message, plural
from tabprotect.languages.translation import ENGLISH, LANGUAGES, catalogue

MADE = "{text}"
"""Stands in a house's own text for the one that is made."""


def user_texts(release: Release, own: Mapping[str, str] | None = None) -> dict[str, dict[str, str]]:
    """The texts by language and name.

    Parameters
    ----------
    own
        What the house writes instead, by name, or by name and language (``footnote``, ``footnote_de``); ``{text}`` in it is the one made.
    """
    made = {
        "methodology": joined(_methodology(release), "\n\n"),
        "parts": why_parts(release),
        "footnote": joined(_footnote(release), " "),
        "press": joined(_press(release), " "),
    }
    found: dict[str, dict[str, str]] = {}
    for code in LANGUAGES:
        found[code] = {}
        for name, text in made.items():
            told = str(text) if code == ENGLISH else catalogue(code).translated(text)
            written = (own or {}).get(f"{name}_{code}") or (own or {}).get(name) or MADE
            found[code][name] = written.replace(MADE, told)
    return found


def _changes(release: Release) -> list[str]:
    """What was changed, hidden and left exact, in sentences."""
    about = about_release(release)
    exact = dict(about.facts).get(message("Exact"), "")
    if release.magnitudes:
        hidden, shown = int(release.magnitude_table.hidden.sum()), len(release.magnitude_table.key)
    else:
        hidden = sum(int(one.hidden.sum()) for one in release.tables)
        shown = sum(one.table.domain.size for one in release.tables)
    said = [about.changed] if about.changed else []
    if hidden:
        said.append(
            plural(
                hidden,
                "{hidden:,} of {shown:,} numbers is hidden to protect single people or contributors.",
                "{hidden:,} of {shown:,} numbers are hidden to protect single people or contributors.",
                hidden,
                shown,
            )
        )
    if not said:
        return [message("No number that is published was changed, and none is hidden.")]
    return [*said, message("Exact: {exact}", exact)]


def _methodology(release: Release) -> list[str]:
    name = release.mechanism.method
    paragraphs = [
        message("{title}: how the table was protected.", title_of(release)),
        joined(_changes(release), " "),
    ]
    if release.magnitudes:
        paragraphs.append(methods("magnitudes")[name].promise)
    else:
        method = methods()[name]
        paragraphs.append(message("Method: {label}.", method.label))
        paragraphs.append(
            joined((method.guarantees[one] for one in method.promised(release.mechanism.values)), " ")
        )
    return [*paragraphs, joined([message("Do parts add up?"), why_parts(release)], " "), _believe(release)]


def _believe(release: Release) -> str:
    if release.magnitudes:
        return message(
            "How near anybody can come to a contribution follows from what is published, and was worked out before the release."
        )
    return message(
        "The method is public with all its parameters but the random numbers. What each true number could be "
        "follows from the release alone: page.html shows it, and the files with intervals state beside each "
        "number the range that holds the truth with 90 in 100."
    )


def _footnote(release: Release) -> list[str]:
    return _changes(release)


def _press(release: Release) -> list[str]:
    said = [
        message(
            "“{title}” was protected before publication, for those behind the numbers.", title_of(release)
        ),
        *_changes(release),
    ]
    most = None if release.magnitudes else largest_change(release)
    if most:
        said.append(
            message(
                "Two changed numbers that differ by {most:,} or less may be the same in truth: do not report such a difference.",
                2 * most,
            )
        )
    said.append(message("Do not report a single small number as a fact about somebody."))
    return said
