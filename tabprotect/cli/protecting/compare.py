"""``compare``: methods and settings side by side on one table, over many seeds."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from tabprotect.cli.arguments import add_reading, keep_apart, names, open_source, positive
from tabprotect.cli.output import Console
from tabprotect.cli.rule_options import add_rules
from tabprotect.cli.verbs import UsageError, Verbs
from tabprotect.engine.assessment.comparing.compare import RUNS, compare
from tabprotect.engine.assessment.comparing.comparison import RISK, UTILITY, Comparison
from tabprotect.engine.assessment.comparing.over_seeds import Spread
from tabprotect.engine.assessment.comparing.run_spec import FORM, Scope, parse_spec
from tabprotect.engine.assessment.figure import ABOUT, AT_LEAST
from tabprotect.engine.assessment.registered import named_measures
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.options import MEASURES
from tabprotect.engine.project.examples import PREFIX, load_example
from tabprotect.engine.project.history import History
from tabprotect.engine.project.verbs.table_verbs import set_at_risk
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.languages.messages import at_most_in_100, joined, message, plural

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


def add(verbs: Verbs) -> None:
    """Declare the command."""
    command = verbs.add("compare", run_compare)
    command.add_argument("table", metavar="TABLE", help=message("a table file, a project, or example:NAME"))
    command.add_argument(
        "--run",
        action="append",
        default=[],
        dest="specs",
        metavar='"METHOD NAME=VALUE ..."',
        help=message("a method ({methods}) with its parameters; {FORM}", joined(methods(), ", "), FORM),
    )
    command.add_argument(
        "--runs-per-method", type=positive, default=RUNS, metavar="N", help=message("default {RUNS}", RUNS)
    )
    command.add_argument(
        "--seed", type=int, help=message("repeat these runs (default: the operating system's randomness)")
    )
    command.add_argument(
        "--margins",
        metavar="FORMULA",
        help=message("published tables, a*b + c, for every method that takes them"),
    )
    command.add_argument("--groupings", metavar="TEXT", help=message("of categories, for the formula"))
    command.add_argument("--key", type=names, metavar="A,B", help=message("what a reader knows of somebody"))
    command.add_argument(
        "--sensitive", metavar="C", help=message("what they want to know (default: the last variable)")
    )
    command.add_argument("--measures", type=names, metavar="A,B", help=message("or risk, utility"))
    command.add_argument("--at-risk", metavar="LOW..HIGH", help=message("small counts (default 1..2)"))
    command.add_argument("--risk", default=RISK, metavar="MEASURE", help=message("default {RISK}", RISK))
    command.add_argument(
        "--utility", default=UTILITY, metavar="MEASURE", help=message("default {UTILITY}", UTILITY)
    )
    command.add_argument(
        "--workers", type=positive, metavar="N", help=message("processes (default: all cores, if it pays)")
    )
    command.add_argument("--out", type=Path, metavar="FILE.csv", help=message("all runs; CONFIDENTIAL"))
    add_rules(command.add_argument_group(message("magnitude tables")))
    add_reading(command)


def run_compare(args: argparse.Namespace, console: Console) -> int:
    """Print what every method keeps and what it gives away."""
    history = open_source(args, console)
    for note in history.project.notes:
        console.say(message("note: {note}", note))
    if history.project.measure == "magnitudes":
        return _magnitudes(history, args, console)
    args.parser.only(args, *(vars(args).keys() - {"rules", "weights"}), why=MEASURES["magnitudes"])
    if not args.specs:
        raise UsageError(message("compare takes at least one --run"))
    keep_apart([args.table], [args.out])
    axes = {"risk": args.risk, "utility": args.utility}
    wrong = {
        noun: message("{name} is no measure of {noun}", repr(name), noun)
        for noun, name in axes.items()
        if name not in {m.name for m in named_measures([noun])}
    }
    if wrong:
        raise ParameterError(wrong, hint=message("describe lists the measures"))
    specs = [spec for text in args.specs for spec in parse_spec(text)]
    if args.at_risk is not None:
        history, _ = history.do(set_at_risk(rule=args.at_risk), progress=console)
    suggested = _suggested(args, console)
    key = names(suggested["key"]) if "key" in suggested else args.key
    scope = Scope(
        margins=suggested.get("margins", args.margins),
        groupings=args.groupings,
        key=None if key is None else tuple(key),
        sensitive=suggested.get("sensitive", args.sensitive),
    )
    found = compare(
        history.project.problem,
        specs,
        runs_per_method=args.runs_per_method,
        seed=args.seed,
        measures=args.measures,
        scope=scope,
        workers=args.workers,
        progress=console,
    )
    if args.out is not None:
        write_bytes(args.out, found.as_csv().encode())
    data = found.as_json(args.risk, args.utility)
    data["out"] = None if args.out is None else str(args.out)
    console.result(data, _lines(found, args))
    return 0


def _magnitudes(history: History, args: argparse.Namespace, console: Console) -> int:
    """Print how near an outsider's best guess comes with each method; nothing is published."""
    # Late: tables of counts, which are most, do not wait for it.
    from tabprotect.engine.project.magnitudes.magnitude_comparison import compared_sums, within_of
    from tabprotect.engine.project.magnitudes.protecting import problem_of
    from tabprotect.engine.project.verbs.magnitude_verbs import set_rules

    args.parser.only(args, "rules", "weights", why=MEASURES["counts"])
    rules_of(args.rules)
    history, _ = history.do(set_rules(rules=args.rules, weights=args.weights), progress=console)
    problem, rows = problem_of(history.project), list(compared_sums(history.project, console))
    lines = [
        message(
            "{method}: belief about an unsafe sum at most {worst}, {hidden:,} hidden, off by "
            "{deviation:.1f} % on average, {loss:.1f} % with hidden sums as lost",
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


def _suggested(args: argparse.Namespace, console: Console) -> Mapping[str, str]:
    """The comparison of the example's own source, unless another one is asked for."""
    if not args.table.startswith(PREFIX):
        return {}
    given = (args.margins, args.groupings, args.key, args.sensitive)
    suggested = load_example(args.table.removeprefix(PREFIX)).comparison
    if not suggested or any(value is not None for value in given):
        return {}
    said = joined((f"--{name} {value!r}" for name, value in suggested.items()), ", ")
    console.say(message("note: as in the example's source: {said}", said))
    return suggested


def _lines(found: Comparison, args: argparse.Namespace) -> Iterator[str]:
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
    shown = [m for m in found.measures if args.measures is not None or m.name in SHOWN]
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
    if {args.risk, args.utility} <= set(plan.measures):
        best = joined((f"[{c + 1}]" for c in found.front(args.risk, args.utility)), ", ")
        yield ""
        yield message(
            "None is better in both {risk} and {utility} than: {value}",
            args.risk,
            args.utility,
            best or message("none"),
        )
    if args.out is not None:
        yield message("All runs (CONFIDENTIAL): {out}", args.out)
    yield message("Means, and between which 95 % of the runs lie.")
    yield message("These figures depend on the original: keep them in the house.")


def _figures(spread: Spread | None, reasons: list[str]) -> str:
    if spread is None:
        return message("none: {reasons}", reasons[0] if reasons else message("no run"))
    least = next((p[:-2] + " " for p in (AT_LEAST, ABOUT) if reasons and reasons[0].startswith(p)), "")
    return f"{least}{spread.mean:.4f} [{spread.low:.4f}, {spread.high:.4f}]"
