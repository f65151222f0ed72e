"""A posterior in sentences: these go above the plots, into exports and into reports."""

from __future__ import annotations

from tabprotect.engine.tables.domain import Index
from tabprotect.gui.look.theme import count_text
from tabprotect.gui.pages.check.cell_figures import View
from tabprotect.languages.messages import in_100, message, plural


def release_sentence(view: View, *, at_risk: int, worst: Index | None) -> str:
    """The whole table in one sentence, when no cell is selected."""
    posterior = view.posterior
    if worst is None:
        return message("What a reader who {label} would think of each count.", posterior.prior.label)
    name = posterior.published.domain.cell_text(worst)
    if view.original is not None:
        chance = float(view.true[worst])
        among = (
            plural(at_risk, "Of {n} small count", "Of the {n} small counts", count_text(at_risk))
            if at_risk
            else message("There are no small counts; of all counts")
        )
        return message(
            "{among} a reader who {label} would be surest of {name}: {chance} sure of the true count.",
            among,
            posterior.prior.label,
            name,
            in_100(chance),
        )
    chance = float(view.small[worst])
    return message(
        "A reader who {label} would be surest of a small count ({words}) in {name}: {chance}.",
        posterior.prior.label,
        view.rule.words,
        name,
        in_100(chance),
    )
