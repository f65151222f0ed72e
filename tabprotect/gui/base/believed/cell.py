"""What is believed of one cell, in a sentence."""

from __future__ import annotations

from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.look.theme import count_text
from tabprotect.languages.messages import in_100, message

COULD_BE = 0.99
"""Chance that the counts hold between which a cell could be."""


def published_count(posterior: Posterior, index: Index) -> int | None:
    """The published count of a cell; ``None`` where it is suppressed or inside a sum only."""
    hidden = posterior.hidden is not None and bool(posterior.hidden[index])
    return None if hidden else posterior.published[index]


def cell_sentence(posterior: Posterior, index: Index, *, true: int | None) -> str:
    """Say what is believed about one cell, and in the house what is true."""
    values, chances = posterior.distribution(index)
    best = int(posterior.mode[index])
    low, high = posterior.interval_of(index, COULD_BE)
    chance = float(chances[values == best].sum())
    exact = posterior.way == "exact"
    # A sentence each: a verb that were put in would have no translation.
    if low == high:
        said = message(
            "A reader who {label} thinks {best} most likely, with {chance}",
            posterior.prior.label,
            count_text(best),
            in_100(chance),
        )
    else:
        said = message(
            "Could be {low} to {high}; a reader who {label} thinks {best} most likely, with {chance}",
            count_text(low),
            count_text(high),
            posterior.prior.label,
            count_text(best),
            in_100(chance),
        )
    if chance > 1 - 1e-9:
        # Draws that all agree are no proof.
        said = (
            message("A reader who {label} is certain: it is {best}", posterior.prior.label, count_text(best))
            if exact
            else message(
                "A reader who {label} finds {best} in every simulated table",
                posterior.prior.label,
                count_text(best),
            )
        )
    return (
        message("{said}.", said)
        if true is None
        else message("{said}. The true count is {true}.", said, count_text(true))
    )
