"""``compare`` of a magnitude table: every method by how near an outsider's best guess comes."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from tabprotect.cli.output import Console
from tabprotect.engine.magnitudes.beliefs import ContributorView, beliefs
from tabprotect.engine.magnitudes.table_files import read_magnitudes
from tabprotect.engine.project.magnitudes_in_one_go import METHODS, Asked, protect_magnitudes
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.languages.said import say


def run(args: argparse.Namespace, console: Console) -> int:
    """Print the figures of each method; nothing is published."""
    table, rules = read_magnitudes(Path(args.table)), rules_of(args.rules)
    within = next((float(rule.numbers[0]) for rule in rules if rule.name == "p"), 10.0)
    rows: list[dict[str, object]] = []
    lines = []
    for method in METHODS:
        asked = Asked(method=method, rules=rules, weights=args.weights)
        done = protect_magnitudes(table, asked, progress=console)
        release, value = done.release, table.cells.value
        found = [one.belief for one in beliefs(release, ContributorView(), within / 100)]
        shown = ~release.hidden & (value != 0)
        moved = np.abs(release.value[shown] - value[shown]) / np.abs(value[shown])
        worst, average = max(found, default=0.0), float(np.mean(found)) if found else 0.0
        rows.append(
            {
                "method": method,
                "worst": round(worst, 6),
                "mean_belief": round(average, 6),
                "hidden": int(release.hidden.sum()),
                "hidden_value": done.figures["hidden_value"],
                "broken": done.figures["broken"],
                "mean_deviation": round(float(moved.mean()) if len(moved) else 0.0, 6),
            }
        )
        lines.append(
            say(
                "{method}: belief at most {worst:.1%}, {hidden:,} hidden, off by {deviation:.1%} on average",
                method,
                worst,
                int(release.hidden.sum()),
                float(moved.mean()) if len(moved) else 0.0,
            )
        )
    console.result({"within": within, "methods": rows, "confidential": True}, lines)
    return 0
