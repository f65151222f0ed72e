"""What the protect page says: shares, reasons, and the one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tabprotect.engine.options import Measure
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.requirements import REQUIREMENTS
from tabprotect.engine.release.findings import Finding
from tabprotect.gui.look.theme import count_text, moved_text
from tabprotect.languages.messages import capital, joined, message
from tabprotect.languages.translation import translate

if TYPE_CHECKING:
    from tabprotect.engine.disclosure.choosing.method_trials import MethodTrial, Ranked

NONE = "\u2013"

PUBLIC = message(
    "Not shown in the public view: how well a method protects can only be said by whoever knows the table."
)


def known_text(trial: MethodTrial) -> str:
    """How many small counts readers would know; a dash where that is not worked out."""
    part = trial.at_least or bool(trial.left_out)
    if trial.known is None or (part and not trial.known):
        # Not known: nothing is proved about it, or a part is not worked out.
        return NONE
    shown = count_text(round(trial.known * trial.at_risk))
    return message("≥ {shown}", shown) if part else shown


def change_text(trial: MethodTrial) -> str:
    """The mean change of a count, or how many are hidden; a dash where others are published."""
    if trial.hidden and trial.hidden < trial.cells:
        return message("{n} hidden", count_text(trial.hidden))
    if trial.moved is None or trial.hidden:
        return NONE
    return moved_text(trial.moved)


def about(method: str, measure: Measure = "counts") -> str:
    """Say what a method does, in one sentence: the first of its page, without its name."""
    first = translate(methods(measure)[method].help).split("\n\n")[0].split(". ")[0].replace("\n", " ")
    return sentence_of(first.partition(": ")[2] or first)


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


def sentence_of(text: str) -> str:
    """With a capital and a full stop."""
    text = text.strip().rstrip(".")
    return capital(text) + "." if text else ""
