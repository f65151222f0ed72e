"""``compare``: methods and settings side by side on one table, over many seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tabprotect.cli.arguments import MAGNITUDES, TableReading, keep_apart, open_source
from tabprotect.cli.declaring import check_measure, command, names
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.assessment.comparing.compare import RUNS, compare
from tabprotect.engine.assessment.comparing.comparison import RISK, UTILITY, Comparison
from tabprotect.engine.assessment.comparing.over_seeds import Spread
from tabprotect.engine.assessment.comparing.run_spec import FORM, Comparing, parse_spec
from tabprotect.engine.assessment.figure import ABOUT, AT_LEAST
from tabprotect.engine.assessment.registered import named_measures
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.options import option_field, part, position
from tabprotect.engine.project.examples import PREFIX, load_example
from tabprotect.engine.project.history import History
from tabprotect.engine.project.options import Judging
from tabprotect.engine.project.verbs.table_verbs import set_at_risk
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.languages.messages import at_most_in_100, joined, message, percent, plural

SHOWN = (
    "published_share",
    "hellinger_published",
    "hellinger_restored",
    "hellinger_expected",
    "mean_absolute_deviation",
    "risk_fbeta",
    "risk_fbeta_know_yourself",
    "tcap",
    "unchanged_small",
    "posterior_true",
    "dp_epsilon",
    "dp_delta",
)
"""Measures that are printed for people; ``--json`` and ``--out`` give all."""


@dataclass(frozen=True, kw_only=True)
class Compare(Comparing):
    """Arguments of ``compare``."""

    table: str = position(
        measure=None, metavar="TABLE", help=message("a table file, a project, or example:NAME")
    )
    specs: Sequence[str] = option_field(
        (),
        shell="--run",
        metavar='"METHOD NAME=VALUE ..."',
        help=message("a method ({methods}) with its parameters; {FORM}", joined(methods(), ", "), FORM),
        repeated=True,
    )
    runs_per_method: int = option_field(RUNS, metavar="N", help=message("default {RUNS}", RUNS), low=1)
    at_risk: str | None = option_field(None, metavar="LOW..HIGH", help=message("small counts (default 1..2)"))
    risk: str = option_field(RISK, metavar="MEASURE", help=message("default {RISK}", RISK))
    utility: str = option_field(UTILITY, metavar="MEASURE", help=message("default {UTILITY}", UTILITY))
    out: Path | None = option_field(None, metavar="FILE.csv", help=message("all runs; CONFIDENTIAL"))
    judging: Judging = part(Judging, group=MAGNITUDES)
    reading: TableReading = part(TableReading)


@command(
    "compare",
    example="tabprotect compare example:langsrud-lupp --run 'cell_key D=5 V=3 js=2' --run 'small_count_rounding base=3 choice=nearest'",
)
def run_compare(asked: Compare, console: Console) -> int:
    """Print what every method keeps and what it gives away."""
    history = open_source(asked.table, asked.reading, console)
    for note in history.project.notes:
        console.say(message("note: {note}", note))
    check_measure(asked, history.project.measure)
    if history.project.measure == "magnitudes":
        return _magnitudes(history, asked.judging, console)
    if not asked.specs:
        raise UsageError(message("compare takes at least one --run"))
    keep_apart([asked.table], [asked.out])
    axes = {"risk": asked.risk, "utility": asked.utility}
    wrong = {
        noun: message("{name} is no measure of {noun}", repr(name), noun)
        for noun, name in axes.items()
        if name not in {m.name for m in named_measures([noun])}
    }
    if wrong:
        raise ParameterError(wrong, hint=message("describe lists the measures"))
    specs = [spec for text in asked.specs for spec in parse_spec(text)]
    if asked.at_risk is not None:
        history, _ = history.do(set_at_risk(rule=asked.at_risk), progress=console)
    found = compare(
        history.project.problem,
        specs,
        _as_suggested(asked, console),
        runs_per_method=asked.runs_per_method,
        progress=console,
    )
    if asked.out is not None:
        write_bytes(asked.out, found.as_csv().encode())
    data = found.as_json(asked.risk, asked.utility)
    data["out"] = None if asked.out is None else str(asked.out)
    console.result(data, _lines(found, asked))
    return 0


def _magnitudes(history: History, judging: Judging, console: Console) -> int:
    """Print how near an outsider's best guess comes with each method; nothing is published."""
    # Late: tables of counts, which are most, do not wait for it.
    from tabprotect.engine.project.magnitude_ways import compared_magnitudes, problem_of, within_of
    from tabprotect.engine.project.verbs.magnitude_verbs import set_rules

    rules_of(judging.rules)
    history, _ = history.do(set_rules(rules=judging.rules, weights=judging.weights), progress=console)
    problem, rows = problem_of(history.project), list(compared_magnitudes(history.project, console))
    lines = [
        message(
            "{method}: belief about an unsafe sum at most {worst}, {hidden:,} hidden, off by "
            "{deviation:.1f} in 100 on average, {loss:.1f} in 100 with hidden sums as lost",
            row.method,
            at_most_in_100(row.unsafe_worst),
            row.hidden,
            100 * row.mean_deviation,
            100 * row.loss,
        )
        for row in rows
    ]
    found = [row.as_json(problem.table) for row in rows]
    data = {"within": within_of(problem.rules), "methods": found, "confidential": True}
    console.result(data, lines)
    return 0


def _as_suggested(asked: Compare, console: Console) -> Compare:
    """The comparison of the example's own source, unless another one is asked for."""
    if not asked.table.startswith(PREFIX):
        return asked
    given = (asked.margins, asked.groupings, asked.key, asked.sensitive)
    suggested = load_example(asked.table.removeprefix(PREFIX)).comparison
    if not suggested or any(value is not None for value in given):
        return asked
    said = joined((f"--{name} {value!r}" for name, value in suggested.items()), ", ")
    console.say(message("note: as in the example's source: {said}", said))
    wanted: dict[str, Any] = {**suggested}
    if "key" in suggested:
        wanted["key"] = names(suggested["key"])
    return replace(asked, **wanted)


def _lines(found: Comparison, asked: Compare) -> Iterator[str]:
    plan = found.plan
    key = joined(plan.key.variables, " × ") or "nothing"
    yield (
        plural(
            plan.compared.size,
            "{size:,} compared cell; a reader knows {key} of somebody and wants to know {sensitive}.",
            "{size:,} compared cells; a reader knows {key} of somebody and wants to know {sensitive}.",
            plan.compared.size,
            key,
            plan.key.sensitive,
        )
    )
    shown = [m for m in found.measures if asked.measures is not None or m.name in SHOWN]
    for number, configuration in enumerate(found.configurations):
        yield ""
        yield f"[{number + 1}] {configuration.label}"
        runs = [r for r in found.runs if r.configuration == number]
        failed = [r.error for r in runs if r.error]
        if failed:
            yield plural(
                len(runs),
                "    {failed} of {runs} run failed: {failed2}",
                "    {failed} of {runs} runs failed: {failed2}",
                len(failed),
                len(runs),
                failed[0],
            )
        if len(failed) == len(runs):
            continue
        for measure in shown:
            spread = found.summaries[number][measure.name]
            reasons = [r.reasons[measure.name] for r in runs if measure.name in r.reasons]
            figures = _figures(spread, reasons)
            if spread is None:
                yield message("    {label:<40} {figures}", measure.label, figures)
            elif measure.higher_is_better:
                yield message("    {label:<40} {spread:<30} up is better", measure.label, figures)
            else:
                yield message("    {label:<40} {spread:<30} down is better", measure.label, figures)
            if spread is not None and spread.shares:
                each = (f"{value:.4f} ({percent(share)})" for value, share in spread.shares.items())
                yield message("        of the runs: {each}", joined(each, ", "))
    if {asked.risk, asked.utility} <= set(plan.measures):
        best = joined((f"[{c + 1}]" for c in found.front(asked.risk, asked.utility)), ", ")
        yield ""
        yield message(
            "None is better in both {risk} and {utility} than: {value}",
            asked.risk,
            asked.utility,
            best or message("none"),
        )
    if asked.out is not None:
        yield message("All runs (CONFIDENTIAL): {out}", asked.out)
    yield message("Means, and between which 95 % of the runs lie.")
    yield message("These figures depend on the original: keep them in the house.")


def _figures(spread: Spread | None, reasons: list[str]) -> str:
    if spread is None:
        return message("none: {reasons}", reasons[0] if reasons else message("no run"))
    least = next((p[:-2] + " " for p in (AT_LEAST, ABOUT) if reasons and reasons[0].startswith(p)), "")
    return f"{least}{spread.mean:.4f} [{spread.low:.4f}, {spread.high:.4f}]"
