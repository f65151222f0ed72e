"""What the compare page says in words, and its figures as texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.protection.registered import methods
from tabprotect.gui.look.buttons import present
from tabprotect.gui.look.theme import count_text, moved_text, number_text, per_cent
from tabprotect.gui.plots.map_axis import SHARES
from tabprotect.languages.messages import joined, message, plural, uncapital
from tabprotect.languages.translation import translate

if TYPE_CHECKING:
    from tabprotect.engine.assessment.comparing.over_seeds import Spread
    from tabprotect.engine.assessment.comparing.run_spec import RunSpec
    from tabprotect.engine.project.plans import ComparisonPlan
    from tabprotect.gui.pages.compare.magnitude_ways import AnyMeasure, Compared
    from tabprotect.gui.plots.ru_map import Place

ALIKE = 1e-9
"""Means that differ by less are the same."""

KNOWN, BELIEF, CHANGE = "known_at_risk", "posterior_true", "mean_loss"
"""The figures of the cards under Protect, and the risk that tells methods apart."""

EMPTY = message(
    "Here methods stand side by side: what readers would know, against how much counts change, over "
    "many runs on this very table."
)

PUBLIC = message(
    "Not shown in the public view: how well a method hides and keeps the true counts can only be "
    "said by whoever knows them."
)

READER = message("This release comes without its original: there is nothing to compare it with.")


def figure_text(value: float | None, unit: str = "") -> str:
    """One figure: shares in per cent, counts with one decimal, others with three."""
    if value is None or not np.isfinite(value):
        return "\u2013"
    if unit == "cells":
        return count_text(round(value))
    if unit in SHARES:
        return per_cent("<1" if 0 < value < 0.005 else f"{100 * value:.0f}")
    if abs(value) >= 10_000:
        return count_text(round(value))
    return moved_text(value) if unit == "counts" else number_text(value, digits=3)


def spread_text(spread: Spread | None, unit: str = "") -> str:
    """A mean, and between which 95 % of the runs lie."""
    if spread is None:
        return "\u2013"
    mean, low, high = (figure_text(v, unit) for v in (spread.mean, spread.low, spread.high))
    return mean if low == high else message("{mean} ({low} to {high})", mean, low, high)


HEADS = {
    KNOWN: message("Would know"),
    BELIEF: message("Sure of the true count"),
    CHANGE: message("Average change"),
}
"""Short heads of the measures that stand first."""


def head_text(measure: AnyMeasure) -> str:
    """A measure as a column's head, with the direction in which it is better."""
    return message(
        "{label} {arrow}",
        HEADS.get(measure.name, measure.label),
        "\u2191" if measure.higher_is_better else "\u2193",
    )


def waiting_text(plan: ComparisonPlan, *, running: bool) -> str:
    """Say what stands in the map's place before there is any run."""
    if running:
        return message("The first runs are on their way\u2026")
    count = len(plan.runs)
    settings = plural(count, "{count} setting", "{count} settings", count)
    return message(
        "{settings}, {runs_per_method} of each: press Compare.", settings, runs_text(plan.runs_per_method)
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
    label = methods()[spec.method].label
    return f"{translate(label)}{spec.title.removeprefix(label)}"


def names(runs: Sequence[str]) -> tuple[str, ...]:
    """Settings by their shortest names: the method, and what tells it from its others."""
    from tabprotect.engine.assessment.comparing.run_spec import parse_spec

    specs = [parse_spec(run)[0] for run in runs]
    found = []
    for spec in specs:
        method = methods()[spec.method]
        labels = {p.name: p.label for p in method.parameters}
        same = [other.given for other in specs if other.method == spec.method]
        apart = [
            message("{symbol} {value}", _symbol(labels.get(name, name)), str(value))
            for name, value in spec.given.items()
            if any(other.get(name) != value for other in same)
        ]
        found.append(joined([translate(method.label), *apart], ", "))
    return tuple(found)


def _symbol(label: str) -> str:
    """The letter in a parameter's label, or the label within a sentence."""
    _, _, letter = label.rpartition("(")
    return letter[:-1] if label.endswith(")") and len(letter) < 5 else uncapital(label)


def failures(found: Compared, configuration: int) -> str:
    """Say how many runs of a setting failed, and why the first did; empty where none."""
    errors = [r.error for r in found.runs if r.configuration == configuration]
    failed = [error for error in errors if error]
    if not failed:
        return ""
    many = (
        message("every run")
        if len(failed) == len(errors)
        else message("{failed} of {errors} runs", len(failed), len(errors))
    )
    return message("{many} failed: {failed}", many, failed[0])


def place_words(
    found: Compared, labels: tuple[str, ...], place: Place, risk: AnyMeasure, utility: AnyMeasure
) -> str:
    """A point of the map in words."""
    c, number = place
    if c >= len(found.configurations):
        return ""
    label = labels[c] if c < len(labels) else found.configurations[c].label
    name = message("{c} {label}", c + 1, label)
    if number is None:
        figures = [
            message(
                "{label} {summaries}", translate(m.label), spread_text(found.summaries[c].get(m.name), m.unit)
            )
            for m in (risk, utility)
        ]
        if not (runs := sum(1 for r in found.runs if r.configuration == c)):
            return message("{name}: {figures}", name, joined(figures, ", "))
        return message("{name}, mean of {runs}: {figures}", name, runs_text(runs), joined(figures, ", "))
    run = found.runs[number]
    figures = [
        message("{label} {values}", translate(m.label), figure_text(run.values.get(m.name), m.unit))
        for m in (risk, utility)
    ]
    return message("{name}, run {number}: {figures}", name, run.number + 1, joined(figures, ", "))


def sentence(
    found: Compared,
    labels: tuple[str, ...],
    risk: AnyMeasure,
    utility: AnyMeasure,
    *,
    tried: int,
    changed: bool,
) -> str:
    """The comparison's result in one sentence (or two); no setting is the best before all were ``tried``."""
    placed = [
        c
        for c, summary in enumerate(found.summaries)
        if summary.get(risk.name) is not None and summary.get(utility.name) is not None
    ]
    tail = [message("The list has changed since: compare again.")] if changed else []
    if tried < len(labels):
        said = message("{ended} of {labels} tried.", count_text(tried), count_text(len(labels)))
        return joined([said, *tail], " ")
    if not placed:
        why = next((text for c in range(len(labels)) if (text := failures(found, c))), "")
        reasons = [r.reasons[m.name] for r in found.runs for m in (risk, utility) if m.name in r.reasons]
        why = why or (reasons[0] if reasons else message("no run has ended yet"))
        return joined([message("There is no point to show: {why}.", why), *tail], " ")
    parts = [_extremes(found, labels, risk, utility, placed), _missing(labels, placed), *tail]
    return joined(filter(None, parts), " ")


def _missing(labels: tuple[str, ...], placed: list[int]) -> str:
    """Say which settings have no place on the map; empty where each has."""
    without = [label for c, label in enumerate(labels) if c not in placed]
    if not without:
        return ""
    return message("Without a place on the map: {names}.", joined(without, "; "))


def _extremes(
    found: Compared, labels: tuple[str, ...], risk: AnyMeasure, utility: AnyMeasure, placed: list[int]
) -> str:
    """Say which of the settings that have both gives away least, and which keeps most."""

    def mean(c: int, measure: AnyMeasure) -> float:
        spread = present(found.summaries[c][measure.name])
        return spread.mean if measure.higher_is_better else -spread.mean

    def said(c: int, measure: AnyMeasure) -> str:
        spread = found.summaries[c][measure.name]
        figure = figure_text(None if spread is None else spread.mean, measure.unit)
        return message("{label}: {figure}", uncapital(HEADS.get(measure.name, measure.label)), figure)

    private = max(placed, key=lambda c: (mean(c, risk), mean(c, utility)))
    useful = max(placed, key=lambda c: (mean(c, utility), mean(c, risk)))
    known = [found.summaries[c].get(KNOWN) for c in placed]
    none = [c for c, s in zip(placed, known, strict=True) if s is not None and s.mean == 0]
    if none and risk.name in (KNOWN, BELIEF):
        useful = max(none, key=lambda c: (mean(c, utility), mean(c, risk)))
        return plural(
            len(none),
            "One setting leaves nothing known: {useful} ({change}).",
            "{none} settings leave nothing known; of these {useful} changes least ({change}).",
            count_text(len(none)),
            uncapital(labels[useful]),
            said(useful, utility),
        )
    if len(placed) > 1 and np.ptp([mean(c, risk) for c in placed]) < ALIKE:
        return message(
            "All settings are alike in this ({private}); of these {useful} changes least ({useful2}).",
            said(private, risk),
            labels[useful],
            said(useful, utility),
        )
    if private == useful:
        return message(
            "{private} is best in both ({private2}; {private3}).",
            labels[private],
            said(private, risk),
            said(private, utility),
        )
    return message(
        "{private} gives away least ({private2}), {useful} changes least ({useful2}).",
        labels[private],
        said(private, risk),
        labels[useful],
        said(useful, utility),
    )
