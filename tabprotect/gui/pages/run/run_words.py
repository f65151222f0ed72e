"""What is said of a run before and after it, in a sentence each."""

from __future__ import annotations

from tabprotect.engine.protection.descriptions.run_summary import summarise
from tabprotect.engine.protection.problem import Preview, Protected
from tabprotect.gui.look.theme import chance_text, count_text, number_text


def expectation(preview: Preview) -> str:
    """What a method will do to this table, for the house."""
    if preview.sentence:
        return preview.sentence
    if not preview.judged_cells:
        return "No published cell has anybody in it."
    whose = "An at-risk count" if preview.at_risk_cells else "A positive count"
    if not preview.change:
        return f"{whose} of the main table is not published."
    return (
        f"{whose} of the main table is published as it is with probability "
        f"{chance_text(preview.unchanged_share)} and changes by "
        f"{number_text(preview.mean_absolute_deviation)} on average "
        f"({count_text(preview.runs)} trial run{'' if preview.runs == 1 else 's'})."
    )


def result_sentence(protected: Protected) -> str:
    """What a run did, for the house."""
    text = summarise(protected).sentence
    if protected.record.overruled:
        text += " It goes out although the gate says no; that is recorded."
    return text
