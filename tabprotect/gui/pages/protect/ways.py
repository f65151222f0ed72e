"""The ways to protect the open table as they are offered: what each keeps, changes, and leaves known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tabprotect.engine.project.project import Project
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.requirements import KEPT
from tabprotect.engine.release.findings import listed
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.gui.base.trying import Trying, usual_sums
from tabprotect.gui.look.buttons import present
from tabprotect.gui.look.theme import chance_number, count_text
from tabprotect.gui.pages.protect.words import NONE, about, change_text, helps, known_text, why
from tabprotect.languages.messages import joined, message, plural

if TYPE_CHECKING:
    from tabprotect.engine.disclosure.choosing.method_trials import MethodTrial, Ranked
    from tabprotect.engine.project.magnitude_ways import TriedMagnitudes

KEEPS = message("Keeps every total")
MOVES = message("Totals move, too")
EXACT = message("Every number shown is exact")
REASON = message("Takes a reason: not all is worked out")
KNOWN = message("Readers would know too much")
MORE = message("Change too much, or need a choice")
GROUPS = (KEEPS, MOVES, EXACT, REASON, KNOWN, MORE)
"""What ways promise, in the order in which they are shown."""


MUCH = 5
"""A way that changes so many times as much as another that promises the same stands behind."""


@dataclass(frozen=True)
class Way:
    """One way to protect the table.

    Attributes
    ----------
    method, name
        What it is registered as, and what it is called.
    group
        One of :data:`GROUPS`.
    known, change
        Its two figures, in words: what readers would know, and how much it changes.
    facts
        What a proposal says of it: an icon and a sentence each.
    why
        What is to be said beside the figures.
    trial
        The settings it was tried with; ``None`` where it was not.
    """

    method: str
    name: str
    group: str
    known: str
    change: str
    facts: tuple[tuple[str, str], ...] = ()
    why: str = ""
    trial: MethodTrial | TriedMagnitudes | None = None

    @property
    def good(self) -> bool:
        """True if it may be proposed before any other."""
        return self.group in (KEEPS, MOVES, EXACT)


def ways(project: Project, trying: Trying) -> list[Way]:
    """All ways that are known so far, best first."""
    # A stable sort: within a group the rank stays.
    return sorted(_ranked(project, trying), key=lambda way: GROUPS.index(way.group))


def _ranked(project: Project, trying: Trying) -> list[Way]:
    """All ways that are known so far, by how well they keep what must stay true."""
    if project.of_magnitudes:
        return _of_sums(project, trying.magnitudes)
    share = project.limits.limits(project.at_risk).share
    sums = trying.sums or usual_sums(project.domain)
    places = trying.ranked(project)
    found = [_of_counts(place, (trying.asked, sums), share) for place in places]
    moves = [place.trial.moved or 0.0 for place in places]
    for at, way in enumerate(found):
        alike = [change for change, one in zip(moves, found, strict=True) if one.group == way.group]
        if way.good and moves[at] > MUCH * max(min(alike), 1.0):
            found[at] = replace(way, group=MORE)
    # Whoever knows what they want waits for no trial.
    tried = {way.method for way in found}
    later = (name for name in methods() if name not in tried) if methods().loaded else ()
    return [*found, *(Way(n, methods()[n].label, MORE, NONE, NONE, (), about(n)) for n in later)]


def proposed(project: Project, trying: Trying) -> Way:
    """What is proposed: what somebody chose, else the best that was tried, else the usual method."""
    found = _ranked(project, trying)
    own = next((way for way in found if way.method == project.method), None)
    if _chosen(project):
        label = methods(project.measure)[project.method].label
        taken = own is not None and dict(getattr(own.trial, "change", {})) == dict(project.parameters)
        if own is not None and (taken or project.of_magnitudes):
            return own
        # What holds whatever is set: the first fact.
        promise = () if own is None else own.facts[:1]
        return Way(project.method, label, MORE, "", "", promise, about(project.method, project.measure))
    best = next((way for way in found if way.good), None)
    best = best or next((way for way in found if way.group != MORE), None)
    label = methods(project.measure)[project.method].label
    return best or own or Way(project.method, label, MORE, "", "", (), about(project.method, project.measure))


def _chosen(project: Project) -> bool:
    """Whether somebody chose the method, or set anything of it."""
    own = project.moves is not None and project.cycles_from != "the example"
    return bool(project.parameters) or own or project.method != Project().method


def _of_counts(place: Ranked, wishes: tuple[Sequence[str], MarginSet], share: float) -> Way:
    asked, sums = wishes
    trial, method = place.trial, methods()[place.trial.method]
    said = joined(filter(None, (why(place, asked, share), helps(place))), " ")
    if not trial.done:
        return Way(trial.method, method.label, MORE, NONE, NONE, (), said, trial)
    exact = "exact" in (trial.kept.names if trial.kept is not None else ())
    keeps = KEPT not in trial.lost((KEPT,), sums)
    group = EXACT if exact else KEEPS if keeps else MOVES
    if trial.known is None or trial.known > share:
        group = KNOWN
    elif trial.left_out or trial.at_least:
        group = REASON
    if trial.useless or (trial.moved is None and not exact):
        group = MORE
    return Way(
        trial.method,
        method.label,
        group,
        known_text(trial),
        change_text(trial),
        (_kept(exact=exact, keeps=keeps), _moves(trial), _knows(trial)),
        said,
        trial,
    )


def _kept(*, exact: bool, keeps: bool) -> tuple[str, str]:
    if exact:
        return "tick", message("Every number shown is exact.")
    return (
        ("tick", message("Every total stays exact.")) if keeps else ("warning", message("Totals move, too."))
    )


def _moves(trial: MethodTrial) -> tuple[str, str]:
    if trial.hidden and trial.hidden < trial.cells:
        return "remove", plural(
            trial.hidden, "{n} count is hidden.", "{n} counts are hidden.", count_text(trial.hidden)
        )
    if trial.moved is None:
        return "remove", message("Other tables than this one are published.")
    return "perturb", message("A count moves by {change} on average.", change_text(trial))


def _knows(trial: MethodTrial) -> tuple[str, str]:
    if not trial.at_risk:
        return "open-eye", message("No count is small.")
    if trial.known is None or (trial.left_out and not trial.known):
        return "warning", message("Not worked out: {parts}.", listed(trial.left_out))
    known = round(trial.known * trial.at_risk)
    return "open-eye", message(
        "A reader would know {known} of {n}.", count_text(known), count_text(trial.at_risk)
    )


def _of_sums(project: Project, trials: Sequence[TriedMagnitudes]) -> list[Way]:
    from tabprotect.gui.grid.magnitude_grid import magnitude_text

    known = {trial.method: trial for trial in trials}
    table = present(project.magnitudes).table
    cells = count_text(len(table.cells))
    found = []
    for name, method in methods("magnitudes").items():
        if (trial := known.get(name)) is None:
            found.append(Way(name, method.label, MORE, NONE, NONE))
            continue
        hidden = trial.hidden
        change = (
            message("{n} hidden", count_text(hidden))
            if hidden
            else message("{share} in 100", chance_number(trial.mean_deviation, digits=1))
        )
        broken = count_text(trial.broken or 0)
        facts = (
            ("tick", message("Every number shown is exact."))
            if hidden
            else ("warning", message("No number shown is exact.")),
            (
                "remove",
                message(
                    "{n} of {cells} sums are hidden; those that protect others are worth {value}.",
                    count_text(hidden),
                    cells,
                    magnitude_text(table.decimals)(trial.hidden_value),
                ),
            )
            if hidden
            else ("perturb", message("A sum moves by {change} on average.", change)),
            ("warning", message("Somebody comes too near in {n} of {cells}.", broken, cells))
            if trial.broken
            else ("open-eye", message("Nobody who was tried comes too near.")),
        )
        group = KNOWN if trial.broken else EXACT if hidden else MOVES
        found.append(Way(name, method.label, group, broken, change, facts, about(name, "magnitudes"), trial))
    return sorted(found, key=lambda way: way.method != project.method)
