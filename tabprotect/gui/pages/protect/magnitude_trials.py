"""Methods for magnitudes, each tried on the open table: what their cards say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.protection.registered import methods
from tabprotect.gui.grid.magnitude_grid import magnitude_text
from tabprotect.gui.look.theme import chance_text, count_text
from tabprotect.gui.pages.protect.method_cards import Described
from tabprotect.languages.messages import message, plural

if TYPE_CHECKING:
    from tabprotect.engine.project.magnitude_ways import TriedMagnitudes


def trial_key(project: Project) -> tuple[object, ...] | None:
    """What trials depend on; ``None`` where no rule says what is to be protected."""
    if (magnitudes := project.magnitudes) is None or not magnitudes.rules:
        return None
    # The limits are read anew each time: they are compared by what they say.
    chosen = (project.method, project.parameters, repr(project.limits))
    return (magnitudes.table, magnitudes.weights, magnitudes.like, *magnitudes.rules, *chosen)


def try_all(project: Project, progress: Progress) -> tuple[TriedMagnitudes, ...]:
    """Try every method for magnitudes; each trial is reported as it comes."""
    # Imported late: the first paint does not wait for what solves programmes.
    from tabprotect.engine.project.magnitude_ways import tried_magnitudes

    found: tuple[TriedMagnitudes, ...] = ()
    for trial, _ in tried_magnitudes(project, progress):
        found = (*found, trial)
        progress.report(message("trying every method"), len(found) / len(methods("magnitudes")), found)
    return found


def trial_cards(project: Project, trials: tuple[TriedMagnitudes, ...]) -> Mapping[str, Described]:
    """A card for each method, also before it was tried."""
    known = {trial.method: trial for trial in trials}
    decimals = 0 if project.magnitudes is None else project.magnitudes.table.decimals
    return {
        name: Described(
            method.label,
            method.label,
            _figures(known.get(name), decimals),
            method.about,
            name,
            name == project.method,
            notes=[(_judged(known[name]), "quiet")] if name in known else [],
        )
        for name, method in methods("magnitudes").items()
    }


def trial_sentence(project: Project, trials: tuple[TriedMagnitudes, ...], unsafe: int) -> str:
    """What the page says in one sentence."""
    if project.magnitudes is None or not project.magnitudes.rules:
        return message("No rule is given yet.")
    if len(trials) < len(methods("magnitudes")):
        return message("Trying {n} methods, {done} done.", len(methods("magnitudes")), len(trials))
    return plural(
        unsafe,
        "{unsafe} sum is unsafe. Suppression leaves what it publishes exact; noise "
        "publishes every sum, none of them exactly.",
        "{unsafe} sums are unsafe. Suppression leaves what it publishes exact; noise "
        "publishes every sum, none of them exactly.",
        count_text(unsafe),
    )


def _figures(trial: TriedMagnitudes | None, decimals: int) -> tuple[tuple[str, str], ...]:
    """Two figures with what they are; dashes while they are being worked out."""
    if trial is None:
        return (("\u2013", message("hidden")), ("\u2013", message("average change of a sum")))
    hidden = count_text(trial.hidden)
    lost = magnitude_text(decimals)(trial.hidden_value)
    return (
        (hidden, message("sums hidden; those that protect others are worth {value}", lost))
        if trial.hidden
        else (hidden, message("sums hidden")),
        (chance_text(trial.mean_deviation, digits=1), message("average change of a published sum")),
    )


def _judged(trial: TriedMagnitudes) -> str:
    """What readers come to know."""
    if trial.broken:
        return plural(
            trial.broken,
            "Not protected: somebody comes too near in {n} sum.",
            "Not protected: somebody comes too near in {n} sums.",
            count_text(trial.broken),
        )
    if trial.worst is None:
        return message("Nobody who was tried comes too near.")
    return message(
        "A best guess of one who is alone in a sum is near with at most {belief}.", chance_text(trial.worst)
    )
