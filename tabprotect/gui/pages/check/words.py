"""A posterior in sentences: these go above the plots, into exports and into reports."""

from __future__ import annotations

from tabprotect.engine.bundle.check_lines import read_together
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.release.verdict_figures import Verdict
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.look.theme import chance_text, count_text
from tabprotect.gui.pages.check.cell_figures import View


def published_count(posterior: Posterior, index: Index) -> int | None:
    """The published count of a cell; ``None`` where it is suppressed or inside a sum only."""
    hidden = posterior.hidden is not None and bool(posterior.hidden[index])
    return None if hidden else posterior.published[index]


def verdict_sentence(verdict: Verdict, together: Verdict | None) -> str:
    """What a reader would know, with its number; also together with what left before."""
    if together is None:
        return verdict.sentence
    text = read_together(together)
    return f"{verdict.sentence} {text[0].upper()}{text[1:]}"


def cell_sentence(posterior: Posterior, index: Index, *, true: int | None) -> str:
    """What is believed about one cell, and in the house what is true."""
    values, chances = posterior.distribution(index)
    best = int(posterior.mode[index])
    chance = float(chances[values == best].sum())
    exact = posterior.way == "exact"
    # A sentence each: a verb that were put in would have no translation.
    said = (
        f"A reader who {posterior.prior.label} believes this cell is {count_text(best)} "
        f"with probability {chance_text(chance)}"
    )
    if chance > 1 - 1e-9:
        # Draws that all agree are no proof.
        said = (
            f"A reader who {posterior.prior.label} is certain that this cell is {count_text(best)}"
            if exact
            else f"A reader who {posterior.prior.label} believes this cell is {count_text(best)} "
            "in every simulated original"
        )
    return f"{said}." if true is None else f"{said}; the true value is {count_text(true)}."


def release_sentence(view: View, *, at_risk: int, worst: Index | None) -> str:
    """The whole table in one sentence, when no cell is selected."""
    posterior = view.posterior
    if worst is None:
        return f"What a reader who {posterior.prior.label} can believe about each of the cells."
    name = posterior.published.domain.cell_text(worst)
    if view.original is not None:
        chance = float(view.true[worst])
        cells = "1 at-risk cell" if at_risk == 1 else f"{count_text(at_risk)} at-risk cells"
        among = f"Of {cells}" if at_risk else "No cell is at risk; of all cells"
        return (
            f"{among}, a reader who {posterior.prior.label} guesses {name} best: "
            f"its true count with probability {chance_text(chance)}."
        )
    chance = float(view.small[worst])
    return (
        f"A reader who {posterior.prior.label} is surest of a small count ({view.rule.low} to "
        f"{view.rule.high}) in {name}: probability {chance_text(chance)}."
    )


def mode_sentence(posterior: Posterior) -> str:
    """Whether the mode property holds for this release, counted."""
    matches, cells = int(posterior.mode_matches.sum()), posterior.mode_matches.size
    if posterior.hidden is not None:
        shown = ~posterior.hidden
        matches, cells = int((posterior.mode_matches & shown).sum()), int(shown.sum())
    return f"Mode is the published value: {count_text(matches)} of {count_text(cells)} cells."


def way_sentence(posterior: Posterior, originals: int | None, left_out: str) -> str:
    """How the posterior was computed, how exact it is, and what it leaves out.

    Parameters
    ----------
    originals
        How many originals remain possible; ``None`` while unknown, or too many to count.
    left_out
        In words, where it is not said elsewhere.
    """
    return f"{_computed(posterior, originals)} {left_out}".rstrip()


def _computed(posterior: Posterior, originals: int | None) -> str:
    if posterior.way == "exact":
        over = (
            "every possible original"
            if originals is None
            else f"all {count_text(originals)} possible originals"
            if originals != 1
            else "the one possible original"
        )
        if posterior.approximate:
            return f"An approximation, computed over {over}."
        if not posterior.complete:
            return f"Computed exactly over {over}, but leaving something out."
        return f"Exact: summed over {over}."
    if posterior.independent and posterior.error is not None:
        drawn = count_text(posterior.draws or 0)
        said = f"Exact draws: {drawn} originals, each probability within"
        return f"{said} ±{1.96 * posterior.error:.2g} (95 %)."
    parts = ["By simulation"]
    if posterior.r_hat is not None and posterior.r_hat > 1.1:
        parts.append(f"chains still differ (R-hat {posterior.r_hat:.2f})")
    if posterior.error is not None:
        parts.append(f"largest standard error of a probability {posterior.error:.2g}")
    if posterior.effective_sample_size is not None:
        size = count_text(round(posterior.effective_sample_size))
        parts.append(f"worth {size} independent draws")
    return f"{parts[0]}: {', '.join(parts[1:])}." if len(parts) > 1 else "By simulation."
