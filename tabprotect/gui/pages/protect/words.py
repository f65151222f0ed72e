"""What the protect page says: shares, reasons, and the one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.requirements import REQUIREMENTS
from tabprotect.engine.release.findings import Finding, in_words, listed
from tabprotect.gui.look.theme import count_text, moved_text, per_cent
from tabprotect.languages.messages import capital, joined, message, plural
from tabprotect.languages.translation import translate

if TYPE_CHECKING:
    from tabprotect.engine.disclosure.choosing.method_trials import MethodTrial, Ranked

NONE = "\u2013"

PUBLIC = message(
    "Not shown in the public view: how well a method protects can only be said by whoever knows the table."
)


def share_text(trial: MethodTrial) -> str:
    """The share of small counts that readers would know."""
    part = trial.at_least or bool(trial.left_out)
    if trial.known is None or (part and not trial.known):
        # Not known: nothing is proved about it, or a part is not worked out.
        return NONE
    percent = 100 * trial.known
    shown = per_cent("<1" if 0 < percent < 0.5 else f"{percent:.0f}")
    return message("≥ {shown}", shown) if part else shown


def change_text(trial: MethodTrial) -> str:
    """The mean change of a count; a dash where counts are missing."""
    if trial.moved is None or trial.hidden:
        return NONE
    return moved_text(trial.moved)


def about(method: str) -> str:
    """Say what a method does, in one sentence: the first of its page, without its name."""
    first = translate(methods()[method].help).split("\n\n")[0].split(". ")[0].replace("\n", " ")
    return sentence_of(first.partition(": ")[2] or first)


def known_words(trial: MethodTrial) -> str:
    """Say how many of the at-risk cells a reader would know, and what was not judged."""
    missing = [Finding("left_out", values={"parts": listed(trial.left_out)})] if trial.left_out else []
    return in_words([*([_known(trial)] if trial.known or not missing else []), *missing])


def _known(trial: MethodTrial) -> Finding:
    number = round((trial.known or 0.0) * trial.at_risk)
    least = number and (trial.at_least or trial.left_out)
    kind = "true_known_at_least" if least else "true_known" if trial.at_risk else "no_small_counts"
    return Finding(kind, values={"known": number, "cells": trial.at_risk})


def why(place: Ranked, asked: Sequence[str], share: float) -> str:
    """One line: why it is a choice, or why it is not."""
    trial = place.trial
    if trial.fault:
        return sentence_of(trial.fault)
    said = []
    if place.lost:
        said += [sentence_of(REQUIREMENTS[name].lost) for name in place.lost]
    elif asked:
        said.append(message("Keeps all that is ticked."))
    if trial.hidden and trial.hidden < trial.cells:
        said.append(
            message("Hides {hidden} of {cells} counts.", count_text(trial.hidden), count_text(trial.cells))
        )
    elif trial.hidden:
        said.append(message("Publishes other tables than this one."))
    said += short_of(trial, share)
    return joined(said, " ")


def short_of(trial: MethodTrial, share: float) -> list[str]:
    """Return what stands against a method besides wishes, shortly; what it is exactly is its tooltip."""
    if trial.safe(share):
        return []
    if trial.left_out and not round((trial.known or 0.0) * trial.at_risk):
        # The dash in the place of the figure says it.
        return []
    return [_known(trial).text]


def helps(place: Ranked) -> str:
    """Say what was changed to get there, or what would help; empty where nothing has to."""
    trial = place.trial
    if trial.fault:
        return sentence_of(trial.hint) if trial.hint else ""
    return message("With {idea}.", trial.idea) if trial.idea else ""


def sentence(
    places: Sequence[Ranked], asked: Sequence[str], share: float, *, number: int, running: bool
) -> str:
    """The result in one sentence; ``number`` methods there are in all."""
    if running:
        return message("Trying {number} methods, {done} done.", number, len(places))
    done = [place for place in places if place.trial.done]
    if untried := sum(place.trial.untried for place in places):
        if not done:
            return message("The table is too large for trials: choose a method to see what it does.")
        tried = [place for place in places if not place.trial.untried]
        found = sentence(tried, asked, share, number=number - untried, running=False)
        return message("{found} Not tried on so large a table: {untried}.", found, untried)
    if not done:
        return message("No method can protect this table as it is: merge categories first.")
    if not done[0].trial.at_risk and not any(place.trial.at_risk for place in done):
        return message("There are no small counts: the table may be published as it is.")
    return _best(done, asked, share)


def _best(done: Sequence[Ranked], asked: Sequence[str], share: float) -> str:
    """Say which method comes out best, and what readers would know of it."""
    trial = done[0].trial
    named, knows = methods()[trial.method].label, known_words(trial)
    full = [place for place in done if not place.lost]
    good = [place for place in full if place.trial.safe(share)]
    if not full:
        lost = message("No method keeps all that is ticked; {named} comes closest.", named.lower())
        return joined([lost, knows], " ")
    if not good:
        kept = message("{named} keeps all that is ticked, but protects too little.", named)
        return joined([kept, knows], " ")
    change = change_text(trial)
    moves = (
        message("{named} hides {hidden} of {cells} counts.", named, trial.hidden, trial.cells)
        if change == NONE
        else message("{named} moves an average count by {change}.", named, change)
    )
    others = len(good) - 1
    too = plural(
        others,
        "{number} other method protects, too, and changes more.",
        "{number} other methods protect, too, and change more.",
        count_text(others),
    )
    return joined([moves, knows, *([too] if others else [])], " ")


def sentence_of(text: str) -> str:
    """With a capital and a full stop."""
    text = text.strip().rstrip(".")
    return capital(text) + "." if text else ""
