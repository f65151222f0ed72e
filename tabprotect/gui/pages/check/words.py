"""A posterior in sentences: these go above the plots, into exports and into reports."""

from __future__ import annotations

from dataclasses import replace

from tabprotect.engine.bundle.staff.release_findings import counted, read_together
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.protection.problem import StaffVerdict
from tabprotect.engine.release.findings import in_words, said
from tabprotect.engine.release.verdict_figures import Verdict
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.look.theme import count_text
from tabprotect.gui.pages.check.cell_figures import View
from tabprotect.languages.messages import in_100, message, plural


def verdict_sentence(verdict: Verdict, together: Verdict | None, *, staff: bool) -> str:
    """Say what readers would know, with its number; also together with what left before.

    How it was worked out stands in the page's foot.

    Parameters
    ----------
    staff
        Whether the truth may be counted.
    """
    if not verdict.judged or verdict.failing or verdict.insiders.fails(verdict.limits):
        found = list(verdict.findings)
    else:
        insiders = verdict.insiders.findings(verdict.limits)
        first, limit = counted(verdict) if staff else (verdict.known_found, "")
        found = [replace(first, rest=limit), *verdict.left_out_found, *insiders]
        truth = verdict.staff if isinstance(verdict, StaffVerdict) and staff else None
        if truth is not None and truth.worst is not None:
            found.insert(1, said(message("Closest: {cell}.", truth.worst.sentence)))
    return in_words([*found, *([] if together is None else [said(read_together(together))])])


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


def mode_sentence(posterior: Posterior) -> str:
    """Say whether the mode property holds for this release, counted."""
    matches, cells = int(posterior.mode_matches.sum()), posterior.mode_matches.size
    if posterior.hidden is not None:
        shown = ~posterior.hidden
        matches, cells = int((posterior.mode_matches & shown).sum()), int(shown.sum())
    return message(
        "For {matches} of {cells} cells the published count is also the most likely one.",
        count_text(matches),
        count_text(cells),
    )
