"""What a method will do, and did, in a sentence."""

from __future__ import annotations

from tabprotect.engine.protection.descriptions.run_summary import summarise
from tabprotect.engine.protection.problem import Preview, Protected
from tabprotect.gui.look.theme import moved_text
from tabprotect.gui.pages.run.preview_panel import trial_runs
from tabprotect.languages.messages import joined, message


def expectation(preview: Preview) -> str:
    """Say what a method will do to this table, for the house."""
    if preview.sentence:
        return preview.sentence
    if not preview.judged_cells:
        return message("No published cell has anybody in it.")
    if not preview.change:
        return (
            message("A small count of the main table is not published.")
            if preview.at_risk_cells
            else message("A count of the main table is not published.")
        )
    moved, trials = moved_text(preview.mean_absolute_deviation), trial_runs(preview.runs)
    if preview.at_risk_cells:
        return message("A small count moves by {moved} on average ({trials}).", moved, trials)
    return message("A count moves by {moved} on average ({trials}).", moved, trials)


def result_sentence(protected: Protected) -> str:
    """Say what a run did, for the house."""
    if protected.release.magnitudes:
        # Late: who protects counts does not load the tables of magnitudes.
        from tabprotect.engine.disclosure.magnitude_verdict import sentences

        return joined(sentences(protected), " ")
    text = summarise(protected).sentence
    if protected.record.overruled:
        text += message(" It goes out although the gate says no; that is recorded.")
    return text
