"""Options of commands that judge sums by their contributors."""

from __future__ import annotations

import argparse

from tabprotect.languages.messages import message

EXAMPLES = "p=10, p=10,coalition=2, pq=20,50, dominance=1,85, n=3, niss=3,60, request=70"


def add_rules(parser: argparse._ActionsContainer) -> None:
    """The options of every command that judges sums."""
    parser.add_argument(
        "--rule",
        action="append",
        default=[],
        metavar="RULE",
        dest="rules",
        help=message("{EXAMPLES}; several at once. CONFIDENTIAL", EXAMPLES),
    )
    parser.add_argument(
        "--weights",
        default="sample",
        choices=("sample", "replicate", "known"),
        help=message("how weights are read: of a sample (default), as copies, or known to everybody"),
    )
