"""``protect`` of a magnitude table."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from tabprotect.cli.arguments import keep_apart, once
from tabprotect.cli.output import Console
from tabprotect.engine.magnitudes.table_files import read_magnitudes
from tabprotect.engine.project.magnitudes_in_one_go import Asked, protect_magnitudes
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.languages.said import say


def run(args: argparse.Namespace, console: Console) -> int:
    """Protect, audit and publish."""
    keep_apart([args.table, args.like], [args.out, args.dossier])
    parameters: Mapping[str, str] = once(args.parameters, "--set")
    asked = Asked(
        method=args.method or "suppression",
        rules=rules_of(args.rules) if args.rules or args.method in (None, "suppression") else (),
        weights=args.weights,
        parameters=parameters,
        title=args.title or "",
        like=None if args.like is None else Path(args.like),
        accept=args.accept or "",
        seed=args.seed,
    )
    done = protect_magnitudes(
        read_magnitudes(Path(args.table)), asked, args.out, args.dossier, console
    )
    lines = [
        *done.sentences,
        say("Release bundle (public): {out}", args.out),
        say("Dossier (CONFIDENTIAL): {value}", args.dossier or say("none written")),
        say("These figures depend on the original: keep them in the house."),
    ]
    data = {
        "method": asked.method,
        "title": asked.title,
        **done.figures,
        "out": str(args.out),
        "dossier": args.dossier and str(args.dossier),
        "fingerprint": done.fingerprint,
        "confidential": True,
    }
    console.result(data, lines)
    return 0
