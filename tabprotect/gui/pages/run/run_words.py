"""What is said of a mechanism and of a run: sentences, and the remedies for a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from tabprotect.engine.project.project import Project
from tabprotect.engine.protection.problem import Preview, RunEvidence
from tabprotect.engine.tables.table import Table
from tabprotect.gui.look.theme import chance_text, count_text, number_text
from tabprotect.gui.pages.run.preview_panel import Remedy

ENOUGH_PASSES = 5
"""From here on more passes are no longer offered as a remedy."""


def setup_sentence(values: Mapping[str, object], preview: Preview | None) -> str:
    """The coin in one sentence, and what it does to this table where that is known."""
    alpha, beta = cast(float, values["alpha"]), cast(float, values["beta"])
    text = (
        f"Each cycle is added with probability {chance_text(alpha)} and subtracted with "
        f"{chance_text(beta)}, {_how_often(values)}."
    )
    if preview is None:
        return text
    whose = "An at-risk cell" if preview.at_risk_cells else "A positive cell"
    return (
        f"{text} {whose} then stays as it is with probability "
        f"{chance_text(preview.unchanged_share)} and changes by "
        f"{number_text(preview.mean_absolute_deviation)} on average."
    )


def _how_often(values: Mapping[str, object]) -> str:
    order, steps = values.get("order", "listed"), cast(int, values.get("n_cover", 0))
    passes = cast(int, values["passes"])
    rounds = "once" if passes == 1 else "twice" if passes == 2 else f"{passes} times"
    coins = f"{count_text(steps)} coin{'' if steps == 1 else 's'}" if steps else ""
    if order == "listed":
        return f"{coins} along the list" if steps else f"{rounds} over the whole list"
    if order == "random":
        return f"{coins or rounds} over the list in a new random order"
    among = "any cycle of the list"
    if order == "positive":
        among = "any cycle through cells that are positive then"
    return f"{coins or f'{rounds} as many coins as cycles'}, each on {among}"


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


def result_sentence(record: RunEvidence, published: Table) -> str:
    """What a run did, for the house."""
    original = record.problem.table.counts
    change = published.counts - original
    far = int(abs(change).max(initial=0))
    at_risk = record.problem.at_risk.mask(original)
    risky, same = int(at_risk.sum()), int((at_risk & (change == 0)).sum())
    assert record.steps is not None
    coins, effective = record.steps.coins, record.steps.effective
    asked = int((coins != 0).sum())
    stopped = int(((coins != 0) & (effective == 0)).sum())
    text = "No cell changed"
    if far:
        moved = count_text(int((change != 0).sum()))
        text = f"{moved} of {count_text(published.domain.size)} cells changed, by at most {far}"
    if risky:
        text += f"; {count_text(same)} of {count_text(risky)} at-risk cells stayed as they were"
    text += (
        f"; {count_text(stopped)} of {count_text(asked)} moves the coins asked for were blocked."
    )
    if record.decisions:
        text += " It goes out although the gate says no; that is recorded."
    return text


def remedies(project: Project) -> tuple[Remedy, ...]:
    """What can be done about a refusal, as buttons that do it."""
    values = project.values
    passes = cast(int, values["passes"])
    out = []
    if project.cycles_from not in ("strips", "elementary"):
        out.append(("Use strips of swaps", "strips"))
    if project.cycles_from != "elementary":
        out.append(("Use all elementary swaps", "elementary"))
    order = max(map(len, project.margins)) - 1
    if order > 0 and project.domain.ndim > 2:
        out.append((f"Keep {order}-way margins only", f"order-{order}"))
    if values["blocking"] == "any_zero" and values.get("order") != "positive":
        out.append(("Use the rule \u201cnegative\u201d", "negative"))
    if cast(float, values["alpha"]) + cast(float, values["beta"]) < 0.5:
        out.append(("Use alpha = beta = .25", "coin"))
    if passes < ENOUGH_PASSES and not values.get("n_cover"):
        out.append((f"Use {passes + 1} passes", "passes"))
    out.append(("Merge categories", "merge"))
    return tuple(out)
