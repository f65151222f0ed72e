"""``compare`` of a magnitude table: every method by how near an outsider's best guess comes."""

from __future__ import annotations

import argparse
from pathlib import Path

from tabprotect.cli.output import Console
from tabprotect.engine.disclosure.policy import in_force
from tabprotect.engine.magnitudes.files.table_files import read_magnitudes
from tabprotect.engine.project.sums.magnitudes_in_one_go import Asked
from tabprotect.engine.project.sums.sums_compared import compared_sums, within_of
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.languages.messages import at_most_in_100, message


def run(args: argparse.Namespace, console: Console) -> int:
    """Print the figures of each method; nothing is published."""
    table, rules = read_magnitudes(Path(args.table)), rules_of(args.rules)
    asked = Asked(rules=rules, weights=args.weights)
    rows = list(compared_sums(table, asked, in_force(), console))
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
    found = [row.as_json(table) for row in rows]
    data = {"within": within_of(rules), "methods": found, "confidential": True}
    console.result(data, lines)
    return 0
