"""What the compare page says in words, and its figures as texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.gui.look.theme import count_text, number_text
from tabprotect.languages.said import joined, plural, say
from tabprotect.languages.speaking import tell, told

if TYPE_CHECKING:
    from tabprotect.engine.assessment.comparing.comparison import Comparison
    from tabprotect.engine.assessment.comparing.over_seeds import Spread
    from tabprotect.engine.assessment.comparing.run_spec import RunSpec
    from tabprotect.engine.assessment.measure import Measure
    from tabprotect.engine.project.plans import ComparisonPlan
    from tabprotect.gui.plots.ru_map import Place

ALIKE = 1e-9
"""Means that differ by less are the same."""

EMPTY = say(
    "Here methods stand side by side: what readers would know, against how much counts change, over "
    "many runs on this very table."
)

PUBLIC = say(
    "Not shown in the public view: how well a method hides and keeps the true counts can only be "
    "said by whoever knows them."
)

READER = say("This release comes without its original: there is nothing to compare it with.")


def figure_text(value: float | None) -> str:
    """One figure: three decimals, whole numbers when large."""
    if value is None or not np.isfinite(value):
        return "\u2013"
    return count_text(round(value)) if abs(value) >= 10_000 else number_text(value, digits=3)


def spread_text(spread: Spread | None) -> str:
    """A mean, and between which 95 % of the runs lie."""
    if spread is None:
        return "\u2013"
    mean, low, high = map(figure_text, (spread.mean, spread.low, spread.high))
    return (
        told(mean)
        if low == high
        else say("{mean} ({value})", told(mean), tell("{low} to {high}", low, high))
    )


def head_text(measure: Measure) -> str:
    """A measure as a column's head, with the direction in which it is better."""
    return say(
        "{label} {chr}",
        told(measure.label),
        chr(0x2191) if measure.higher_is_better else chr(0x2193),
    )


def waiting_text(plan: ComparisonPlan, *, running: bool) -> str:
    """What stands in the map's place before there is any run."""
    if running:
        return say("The first runs are on their way\u2026")
    count = len(plan.runs)
    settings = plural(count, "{count} setting", "{count} settings", count)
    return say(
        "{settings}, {runs_per_method} of each: press Compare.",
        settings,
        runs_text(plan.runs_per_method),
    )


def runs_text(number: int) -> str:
    """``1 run``, ``20 runs``."""
    return plural(number, "{number} run", "{number} runs", count_text(number))


def titles(runs: Sequence[str]) -> tuple[str, ...]:
    """Settings for people, as the methods and their parameters are called."""
    from tabprotect.engine.assessment.comparing.run_spec import parse_spec

    found = []
    for run in runs:
        specs = parse_spec(run)
        found.append(_title(specs[0]) if len(specs) == 1 else run)
    return tuple(found)


def _title(spec: RunSpec) -> str:
    """The method in the language of the window; what was given stays as it was given."""
    from tabprotect.engine.protection.registered import methods

    label = methods()[spec.method].label
    return f"{told(label)}{spec.title.removeprefix(label)}"


def failures(found: Comparison, configuration: int) -> str:
    """How many runs of a setting failed, and why the first did; empty where none."""
    errors = [r.error for r in found.runs if r.configuration == configuration]
    failed = [error for error in errors if error]
    if not failed:
        return ""
    many = (
        say("every run")
        if len(failed) == len(errors)
        else say("{failed} of {errors} runs", len(failed), len(errors))
    )
    return say("{many} failed: {failed}", many, failed[0])


def place_words(
    found: Comparison, labels: tuple[str, ...], place: Place, risk: Measure, utility: Measure
) -> str:
    """A point of the map in words."""
    c, number = place
    if c >= len(found.configurations):
        return ""
    label = labels[c] if c < len(labels) else found.configurations[c].label
    name = say("{c} {label}", c + 1, label)
    if number is None:
        figures = [
            say("{label} {summaries}", told(m.label), spread_text(found.summaries[c][m.name]))
            for m in (risk, utility)
        ]
        runs = sum(1 for r in found.runs if r.configuration == c)
        return say(
            "{name}, mean of {runs}: {figures}", name, runs_text(runs), joined(figures, ", ")
        )
    run = found.runs[number]
    figures = [
        say("{label} {values}", told(m.label), figure_text(run.values[m.name]))
        for m in (risk, utility)
    ]
    return say("{name}, run {number}: {figures}", name, run.number + 1, joined(figures, ", "))


def sentence(
    found: Comparison,
    labels: tuple[str, ...],
    risk: Measure,
    utility: Measure,
    *,
    whole: bool,
    changed: bool,
) -> str:
    """The comparison's result in one sentence (or two); no setting is the best before all have ended."""
    placed = [
        c
        for c, summary in enumerate(found.summaries)
        if summary[risk.name] is not None and summary[utility.name] is not None
    ]
    tail = [say("The list has changed since: compare again.")] if changed else []
    if not whole:
        ended = len({run.configuration for run in found.runs})
        said = say("{ended} of {labels} tried.", count_text(ended), count_text(len(labels)))
        return joined([said, *tail], " ")
    if not placed:
        why = next((text for c in range(len(labels)) if (text := failures(found, c))), "")
        reasons = [
            r.reasons[m.name] for r in found.runs for m in (risk, utility) if m.name in r.reasons
        ]
        why = why or (reasons[0] if reasons else say("no run has ended yet"))
        return joined([say("There is no point to show: {why}.", why), *tail], " ")
    return joined([_extremes(found, labels, risk, utility, placed), *tail], " ")


def _extremes(
    found: Comparison,
    labels: tuple[str, ...],
    risk: Measure,
    utility: Measure,
    placed: list[int],
) -> str:
    """Which of the settings that have both gives away least, and which keeps most."""

    def mean(c: int, measure: Measure) -> float:
        spread = found.summaries[c][measure.name]
        assert spread is not None
        return spread.mean if measure.higher_is_better else -spread.mean

    def said(c: int, measure: Measure) -> str:
        return say(
            "{label} {summaries}",
            told(measure.label),
            spread_text(found.summaries[c][measure.name]),
        )

    def named(c: int) -> str:
        return say("{c} {labels}", c + 1, labels[c])

    private = max(placed, key=lambda c: (mean(c, risk), mean(c, utility)))
    useful = max(placed, key=lambda c: (mean(c, utility), mean(c, risk)))
    if len(placed) > 1 and np.ptp([mean(c, risk) for c in placed]) < ALIKE:
        return say(
            "All settings are alike in this ({private}); of these {useful} changes least "
            "({useful2}).",
            said(private, risk),
            named(useful),
            said(useful, utility),
        )
    if private == useful:
        return say(
            "{private} is best in both: {private2}; {private3}.",
            named(private),
            said(private, risk),
            said(private, utility),
        )
    on = [str(c + 1) for c in found.front(risk.name, utility.name)]
    numbers = joined(filter(None, (joined(on[:-1], ", "), on[-1])), say(" and "))
    return say(
        "{private} gives away least ({private2}), {useful} changes least ({useful2}). No "
        "setting beats {numbers} in both.",
        named(private),
        said(private, risk),
        named(useful),
        said(useful, utility),
        numbers,
    )
