"""A posterior in sentences: these go above the plots, into exports and into reports."""

from __future__ import annotations

from tabprotect.engine.bundle.check_lines import read_together
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.release.verdict_figures import Verdict
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.look.theme import chance_text, count_text, large_text
from tabprotect.gui.pages.check.cell_figures import View
from tabprotect.languages.said import capital, joined, say


def published_count(posterior: Posterior, index: Index) -> int | None:
    """The published count of a cell; ``None`` where it is suppressed or inside a sum only."""
    hidden = posterior.hidden is not None and bool(posterior.hidden[index])
    return None if hidden else posterior.published[index]


def verdict_sentence(verdict: Verdict, together: Verdict | None) -> str:
    """What a reader would know, with its number; also together with what left before."""
    if together is None:
        return verdict.sentence
    text = read_together(together)
    return say("{sentence} {text}", verdict.sentence, capital(text))


def cell_sentence(posterior: Posterior, index: Index, *, true: int | None) -> str:
    """What is believed about one cell, and in the house what is true."""
    values, chances = posterior.distribution(index)
    best = int(posterior.mode[index])
    chance = float(chances[values == best].sum())
    exact = posterior.way == "exact"
    # A sentence each: a verb that were put in would have no translation.
    said = say(
        "A reader who {label} believes this cell is {best} with probability {chance}",
        posterior.prior.label,
        count_text(best),
        chance_text(chance),
    )
    if chance > 1 - 1e-9:
        # Draws that all agree are no proof.
        said = (
            say(
                "A reader who {label} is certain that this cell is {best}",
                posterior.prior.label,
                count_text(best),
            )
            if exact
            else say(
                "A reader who {label} believes this cell is {best} in every simulated original",
                posterior.prior.label,
                count_text(best),
            )
        )
    return (
        say("{said}.", said)
        if true is None
        else say("{said}; the true value is {true}.", said, count_text(true))
    )


def release_sentence(view: View, *, at_risk: int, worst: Index | None) -> str:
    """The whole table in one sentence, when no cell is selected."""
    posterior = view.posterior
    if worst is None:
        return say(
            "What a reader who {label} can believe about each of the cells.", posterior.prior.label
        )
    name = posterior.published.domain.cell_text(worst)
    if view.original is not None:
        chance = float(view.true[worst])
        cells = (
            say("1 at-risk cell")
            if at_risk == 1
            else say("{at_risk} at-risk cells", count_text(at_risk))
        )
        among = say("Of {cells}", cells) if at_risk else say("No cell is at risk; of all cells")
        return say(
            "{among}, a reader who {label} guesses {name} best: "
            "its true count with probability {chance}.",
            among,
            posterior.prior.label,
            name,
            chance_text(chance),
        )
    chance = float(view.small[worst])
    return say(
        "A reader who {label} is surest of a small count ({low} to "
        "{high}) in {name}: probability {chance}.",
        posterior.prior.label,
        view.rule.low,
        view.rule.high,
        name,
        chance_text(chance),
    )


def mode_sentence(posterior: Posterior) -> str:
    """Whether the mode property holds for this release, counted."""
    matches, cells = int(posterior.mode_matches.sum()), posterior.mode_matches.size
    if posterior.hidden is not None:
        shown = ~posterior.hidden
        matches, cells = int((posterior.mode_matches & shown).sum()), int(shown.sum())
    return say(
        "For {matches} of {cells} cells the published count is also the most likely one.",
        count_text(matches),
        count_text(cells),
    )


def way_sentence(posterior: Posterior, originals: int | None, left_out: str) -> str:
    """How the posterior was computed, how exact it is, and what it leaves out.

    Parameters
    ----------
    originals
        How many originals remain possible; ``None`` while unknown, or too many to count.
    left_out
        In words, where it is not said elsewhere.
    """
    return joined(filter(None, (_computed(posterior, originals), left_out)), " ")


def _computed(posterior: Posterior, originals: int | None) -> str:
    if posterior.way == "exact":
        over = (
            say("every possible original")
            if originals is None
            else say("all {originals} possible originals", large_text(originals))
            if originals != 1
            else say("the one possible original")
        )
        if posterior.approximate:
            return say("An approximation, computed over {over}.", over)
        if not posterior.complete:
            return say("Computed exactly over {over}, but leaving something out.", over)
        return say("Exact: summed over {over}.", over)
    if posterior.independent and posterior.error is not None:
        drawn = count_text(posterior.draws or 0)
        said = say("Exact draws: {drawn} originals, each probability within", drawn)
        return say("{said} ±{value:.2g} (95 %).", said, 1.96 * posterior.error)
    parts = [say("By simulation")]
    if posterior.r_hat is not None and posterior.r_hat > 1.1:
        parts.append(say("chains still differ (R-hat {r_hat:.2f})", posterior.r_hat))
    if posterior.error is not None:
        parts.append(say("largest standard error of a probability {error:.2g}", posterior.error))
    if posterior.effective_sample_size is not None:
        size = count_text(round(posterior.effective_sample_size))
        parts.append(say("worth {size} independent draws", size))
    return (
        say("{parts}: {parts2}.", parts[0], joined(parts[1:], ", "))
        if len(parts) > 1
        else say("By simulation.")
    )
