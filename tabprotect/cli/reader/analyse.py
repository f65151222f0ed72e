"""``analyse``: statistics over whole originals drawn from the posterior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.cli.arguments import TableReading, open_source
from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.cli.reader.draw import DRAWS, Reader, posterior_of, releases_of
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.belief.analysing import STATISTICS, Analysing
from tabprotect.engine.belief.estimate import LEVEL
from tabprotect.engine.belief.evidence import PriorKnowledge
from tabprotect.engine.belief.log_odds import log_odds
from tabprotect.engine.belief.model_fit import ModelReading
from tabprotect.engine.belief.rates import Rate, Ratio, rate
from tabprotect.engine.disclosure.counts_verdict import weigh_refused
from tabprotect.engine.errors import InputError
from tabprotect.engine.options import option_field, part
from tabprotect.engine.plain_values.encoding import as_json, keyed
from tabprotect.engine.posterior.analysis import AnalysisSummary, ModelSummary
from tabprotect.engine.posterior.log_linear import LogLinear
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message

LABELS = {"chi_square": "chi-square", "cramers_v": message("Cramer's V")}


def _pair(text: str) -> tuple[str, str]:
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names):
        raise ValueError(message("two variables with a comma between them"))
    return names[0], names[1]


@dataclass(frozen=True, kw_only=True)
class Analyse(Reader):
    """Arguments of ``analyse``."""

    statistic: Sequence[str] = option_field(
        (),
        choices=list(STATISTICS),
        help=message("may be given again; chi-square if nothing is asked for"),
        repeated=True,
    )
    model: str | None = option_field(
        None, metavar="FORMULA", help=message("a log-linear model, for example a*b + c")
    )
    log_odds: tuple[str, str] | None = option_field(
        None,
        metavar="A,B",
        help=message("the common log odds ratio of two variables given all others, with an interval"),
        read=_pair,
    )
    rate: str | None = option_field(
        None,
        metavar="A=a1|B=b1",
        help=message("a share with an interval; A=a1|B=b1,b2 is the difference of two"),
    )
    level: float = option_field(
        LEVEL, metavar="P", help=message("of these intervals (default {level})", LEVEL)
    )
    draws: int = option_field(DRAWS, metavar="N", low=1)
    original: str | None = option_field(
        None,
        metavar="TABLE",
        help=message("CONFIDENTIAL: where its value lies among the draws, to check them"),
    )
    reading: TableReading = part(TableReading, needs="original")


@command("analyse", example="tabprotect analyse release.zip --statistic cramers_v")
def run_analyse(asked: Analyse, console: Console) -> None:
    """Print each statistic over the draws."""
    if asked.rate is not None and asked.prior is not None:
        raise UsageError(message("a rate takes no prior: it has a model (--model)"))
    drawn = asked.statistic or asked.model or not (asked.log_odds or asked.rate)
    if not drawn and (idle := [one.word for one in asked.stated() if one.name in ("draws", "original")]):
        raise UsageError(message("{options}: goes with {needed}", ", ".join(idle), "--statistic, --model"))
    releases = releases_of(asked, console)
    posterior, chance = posterior_of(releases, asked, console)
    knowing = PriorKnowledge(weigh_refused=weigh_refused)
    analysing = Analysing(releases, posterior, knowing, chance, console)
    odds = None
    if asked.log_odds is not None:
        odds = log_odds(analysing.alone, asked.log_odds, level=asked.level)
        if not (asked.statistic or asked.model or asked.rate):
            console.result(odds.as_json(), odds.lines)
            return
    wanted = asked.statistic or ([] if asked.model or asked.rate else ["chi_square"])
    share = None if asked.rate is None else _rate(analysing.alone, asked.rate, asked)
    original = None
    if asked.original is not None:
        original = open_source(asked.original, asked.reading, console).project.original
        if original.domain != posterior.domain:
            raise InputError(
                message("the original has other variables than the release"),
                hint=message("the release is over {names}", joined(posterior.domain.names, ", ")),
            )
    data: dict[str, object] = {"way": posterior.way, "draws": asked.draws}
    data["confidential"] = original is not None
    lines: list[str] = []
    statistics: dict[str, dict[str, object]] = {}
    if odds is not None:
        data |= odds.as_json()
        lines += odds.lines
    if share is not None:
        data["rates"] = [share.as_json()]
        lines += share.lines
    for name in wanted:
        statistic = STATISTICS[name]
        found = analysing.statistic(statistic, LABELS[name], draws=asked.draws, level=asked.level)
        truth = None if original is None else float(statistic(original.counts[None])[0])
        statistics[name] = _statistic_json(found, truth)
        lines += _said(found, truth)
        if found.independence is not None:
            strength = name == "cramers_v"
            statistics[name] |= found.independence.as_json(strength=strength)
            lines += found.independence.lines(strength=strength)
    data["statistics"] = statistics
    if asked.model is not None:
        model = LogLinear.of(posterior.domain, asked.model)
        summary = analysing.fit(model, draws=asked.draws)
        data["model"] = _model_json(summary, original)
        lines += _model_said(summary, original)
    if original is not None:
        lines.append(message("These figures depend on the original: keep them in the house."))
    console.result(as_json(data), lines)


def _rate(alone: ModelReading, text: str, asked: Analyse) -> Rate:
    """The rate that is asked for, under the model that is."""
    model = None if asked.model is None else LogLinear.of(alone.found.domain, asked.model)
    return rate(alone, Ratio.parse(text), model=model, level=asked.level)


def _statistic_json(found: AnalysisSummary, truth: float | None) -> dict[str, object]:
    figures = keyed(found, "published mean standard_deviation quantiles undefined")
    return figures if truth is None else figures | {"original": truth, "rank": found.rank(truth)}


def _said(found: AnalysisSummary, truth: float | None) -> list[str]:
    if truth is None:
        return [found.line]
    return [found.line + message(", original {truth:.4g} at rank {truth2:.2f}", truth, found.rank(truth))]


def _truths(summary: ModelSummary, original: Table | None) -> tuple[float | None, list[float]]:
    """Deviance and log odds ratios of the original."""
    if original is None:
        return None, []
    model, shown = summary.model, original.counts[None]
    fitted = model.fit(shown)
    odds = model.log_odds_ratios(fitted)[0][0]
    return float(model.deviance(shown, fitted)[0]), odds.tolist()


def _model_json(summary: ModelSummary, original: Table | None) -> dict[str, object]:
    pooled, truth = summary.pooled, _truths(summary, original)
    rows = []
    for k, name in enumerate(summary.model.associations):
        row: dict[str, object] = {
            "name": name,
            "log_odds_ratio": float(pooled.estimate[k]),
            "odds_ratio": float(np.exp(pooled.estimate[k])),
            "within": float(pooled.within[k]),
            "between": float(pooled.between[k]),
            "total": float(pooled.total[k]),
            "missing": float(pooled.missing[k]),
            "interval": summary.interval(k),
            "draws": int(pooled.draws[k]),
            "published": float(summary.published[k]),
        }
        if original is not None:
            row["original"] = truth[1][k]
        rows.append(row)
    figures = "margins=model.margins degrees=model.degrees test=given published_test=naive effective note"
    return {
        **keyed(summary, figures),
        "deviance": _statistic_json(summary.deviance, truth[0]),
        "pooled_test": {"d2": summary.test[0], "p": summary.test[1]},
        "odds_ratios": rows,
    }


def _model_said(summary: ModelSummary, original: Table | None) -> list[str]:
    truth = _truths(summary, original)
    return [summary.title, *_said(summary.deviance, truth[0]), *summary.lines]
