"""Texts beside the numbers of an exported file: title, changes and their size, how to check it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from types import MappingProxyType

from tabprotect.engine.disclosure.policy import in_force
from tabprotect.engine.errors import ParameterError, in_file
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import format_of
from tabprotect.engine.options import Options, option_field
from tabprotect.engine.plain_values.metadata import METADATA, OF_MECHANISM, TABLE_TEXTS
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.cube import About
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.languages.messages import joined, message

OWN_LIMITS = ("within_deviation", "within_base")
"""Guarantees that bound how far a published count is from the true one; the second excludes its limit."""

BESIDE = message("told beside the numbers")


@dataclass(frozen=True, kw_only=True)
class Telling(Options):
    """Texts that the publisher gives: unit, source, notes, date."""

    unit: str = option_field(
        "",
        label=message("Unit"),
        group=BESIDE,
        metavar="TEXT",
        help=message("what is counted, such as persons"),
    )
    source: str = option_field(
        "", label=message("Source"), group=BESIDE, metavar="TEXT", help=message("whose figures they are")
    )
    notes: Sequence[str] = option_field(
        (),
        label=message("Note"),
        shell="--note",
        group=BESIDE,
        metavar="TEXT",
        repeated=True,
        help=message("a sentence below the table"),
    )
    date: str = option_field(
        "", label=message("Date"), group=BESIDE, metavar="YYYY-MM-DD", help=message("of publication")
    )
    licence: str = option_field(
        "",
        group=BESIDE,
        metavar="TEXT",
        help=message("under which the figures may be used, such as CC-BY-4.0"),
    )
    publisher: str = option_field("", group=BESIDE, metavar="TEXT", help=message("who publishes them"))
    contact: str = option_field("", group=BESIDE, metavar="TEXT", help=message("whom readers ask about them"))
    period: str = option_field(
        "", group=BESIDE, metavar="TEXT", help=message("the reference period, such as 2025 or 2025-12-31")
    )
    language: str = option_field(
        "",
        shell="--written-in",
        group=BESIDE,
        metavar="CODE",
        help=message("of names and categories, such as en"),
    )
    concept: str = option_field(
        "", group=BESIDE, metavar="TEXT", help=message("what is counted, as it is defined")
    )
    texts_of: str | None = option_field(
        None,
        group=BESIDE,
        metavar="FILE",
        help=message("PX, JSON-stat, SDMX, or CSV with its description: what it says where nothing is given"),
    )
    texts_in: str | None = option_field(
        None,
        label=message("Language of texts"),
        group=BESIDE,
        metavar="LANGUAGE",
        needs="texts_of",
        help=message("the language of its title and notes, where a PX file has several"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.texts_in is not None and self.texts_of is None:
            raise ParameterError({"texts_in": message("goes with texts_of")})
        try:
            if self.date:
                date.fromisoformat(self.date)
        except ValueError:
            raise ParameterError(
                {"date": message("must look like 2026-11-28, is {date}", repr(self.date))}
            ) from None

    def of(
        self,
        title: str,
        stated: Mapping[str, str] = MappingProxyType({}),
        house: Mapping[str, str] | None = None,
    ) -> About:
        """The texts that are given; else what the file says of itself, the release, or the house.

        Parameters
        ----------
        stated
            What the release says.
        house
            What is said of all tables; by default what the policy in force says.
        """
        house = in_force().metadata if house is None else house
        file = About()
        if self.texts_of is not None:
            path = Path(self.texts_of)
            with in_file(path):
                file = format_of(path).about(path, Reading(texts_in=self.texts_in))
        said = {name: text for name, text in file.metadata.items() if name not in OF_MECHANISM}
        said |= {name: text for name in ("unit", "source") if (text := getattr(file, name))}
        found = {
            name: getattr(self, name, "") or said.get(name, "") or stated.get(name, "") or house.get(name, "")
            for name in TABLE_TEXTS
        }
        return About(
            title or file.title,
            notes=tuple(self.notes) or file.notes,
            unit=found.pop("unit"),
            source=found.pop("source"),
            date=self.date or file.date,
            metadata={name: text for name, text in found.items() if text},
        )


NOTHING = Telling()
"""The file says what the release says."""


def about_release(
    release: Release,
    check: str = "",
    telling: Telling = NOTHING,
    *,
    several: bool = False,
    house: Mapping[str, str] | None = None,
) -> About:
    """Collect the texts of a release, from the release alone and what its publisher gives.

    Parameters
    ----------
    check
        The SHA-256 of its bundle, for those who want to see that a file belongs to it.
    several
        True for the tables of a set, whose manifest ``check`` is of.
    house
        What is said of all tables; by default what the policy in force says.
    """
    sealed = (
        message("SHA-256 of the manifest of the set: {check}", check)
        if several
        else message("SHA-256 of the release bundle: {check}", check)
    )
    name, given = release.mechanism.method, telling.of(release.title, release.metadata, house)
    if release.magnitudes:
        plugin = methods("magnitudes")[name]
        label, done, hidden = plugin.label, plugin.promise, bool(release.magnitude_table.hidden.any())
        changed = (
            ""
            if name == "suppression"
            else message("Sums were changed to protect contributors: {label}.", label)
        )
        exact = message("Every sum that is published.") if not changed else message("No sum.")
    else:
        method = methods()[name]
        label, done = method.label, " ".join(method.help.split("\n\n", 2)[1].split())
        hidden = any(one.suppressed is not None for one in release.tables)
        changed = "" if "exact" in method.promised(release.mechanism.values) else _changed(release, method)
        exact = _exact(release, method)
    facts = [
        (message("Title"), given.title),
        (message("Method"), label),
        (message("What was done"), done),
        (message("Changed"), changed),
        (message("Exact"), exact),
        (message("Hidden"), message("Some numbers are not published.") if hidden else ""),
        (message("To analyse it"), _analyse(changed)),
        (message("Unit"), given.unit),
        *((message("Note"), note) for note in given.notes),
        (message("Source"), given.source),
        (message("Date"), given.date),
        (message("Check number"), check and sealed),
    ]
    metadata = dict(given.metadata)
    if metadata:
        # Of the mechanism, where the house speaks of its tables at all and says nothing else.
        metadata.setdefault("confidentiality", joined([*filter(None, [changed]), done], " "))
        metadata.setdefault("accuracy", joined([message("Exact"), ": ", exact], ""))
        facts += [(METADATA[name], metadata[name]) for name in METADATA if name in metadata]
    stated = tuple((name, text) for name, text in facts if text)
    return replace(given, changed=changed, facts=stated, metadata=metadata)


def said_of(release: Release) -> list[tuple[str, str]]:
    """What the publisher says of a release, by the words for it; nothing where nothing was given."""
    if not release.metadata:
        return []
    about = about_release(release, house={})
    found = {**about.metadata, "unit": about.unit, "source": about.source}
    return [(word, found[name]) for name, word in TABLE_TEXTS.items() if found.get(name)]


def _exact(release: Release, method: Method) -> str:
    """Which numbers are the true ones."""
    moves, promised = release.mechanism.parameters.get("cycles"), method.promised(release.mechanism.values)
    if isinstance(moves, MoveSet):
        kept = joined((" x ".join(one) for one in moves.margins if one), ", ")
        return (
            message("The grand total, and the margins {kept}.", kept) if kept else message("The grand total.")
        )
    if "exact" in promised:
        return message("Every number that is published.")
    return message("The grand total.") if "total_kept" in promised else message("No count.")


def _changed(release: Release, method: Method) -> str:
    most = largest_change(release)
    if most is None:
        return message(
            "Counts were changed to protect the people behind them: {label}.", method.label.lower()
        )
    return message(
        "Counts were changed by at most {most:,} to protect the people behind them: {label}.",
        most,
        method.label.lower(),
    )


def _analyse(changed: str) -> str:
    if not changed:
        return ""
    return message(
        "Do not read a single small number as a fact about somebody. What the true number could be, and "
        "results that take the changes into account: tabprotect infer, tabprotect analyse."
    )


def largest_change(release: Release) -> int | None:
    """The most by which a published count may differ from the true one; ``None`` without a bound."""
    method, mechanism = methods()[release.mechanism.method], release.mechanism
    promised = method.promised(mechanism.values)
    for guarantee in OWN_LIMITS:
        if guarantee in promised and guarantee in method.limits:
            limit = mechanism.values[method.limits[guarantee]]
            return None if limit is None else limit - (guarantee == "within_base")
    moves = mechanism.parameters.get("cycles")
    if not isinstance(moves, MoveSet) or mechanism.parameters.get("n_cover"):
        return None
    plus, minus = moves.touches
    passes = mechanism.parameters.get("passes")
    return int((plus + minus).max()) * (passes if isinstance(passes, int) else 1)
