"""``protect`` of a magnitude table."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from tabprotect.cli.arguments import keep_apart, once
from tabprotect.cli.output import Console
from tabprotect.engine.magnitudes.table_files import read_magnitudes
from tabprotect.engine.project.magnitudes_in_one_go import Asked, protect_magnitudes
from tabprotect.engine.project.releasing.magnitude_release import LeavingSums
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.languages.said import say


def run(args: argparse.Namespace, console: Console) -> int:
    """Protect, judge and publish."""
    keep_apart([args.table, args.like, *args.sign], [args.out, args.dossier])
    parameters: Mapping[str, str] = once(args.parameters, "--set")
    asked = Asked(
        method=args.method or "suppression",
        rules=rules_of(args.rules) if args.rules else (),
        weights=args.weights,
        parameters=parameters,
        title=args.title or "",
        like=None if args.like is None else Path(args.like),
        seed=args.seed,
    )
    leaving = LeavingSums(
        out=args.out,
        dossier=None if args.dossier is None else Path(args.dossier),
        policy=args.policy,
        register=args.register,
        accept=args.accept or "",
        again=args.again or "",
        prepared_by=args.prepared_by or "",
        approved_by=args.approved_by or "",
        signing=tuple(Path(key) for key in args.sign),
        page=not args.no_page,
    )
    done = protect_magnitudes(read_magnitudes(Path(args.table)), asked, leaving, console)
    lines = [
        *done.sentences,
        *(say("Warning: {warning}", warning["message"]) for warning in done.left.warnings),
        say("Release bundle (public): {out}", args.out),
        say("Dossier (CONFIDENTIAL): {value}", args.dossier or say("none written")),
        *(say("Decision: {decision}", decision) for decision in done.decisions),
        say("These figures depend on the original: keep them in the house."),
    ]
    data = {
        "method": asked.method,
        "title": asked.title,
        **done.figures,
        "verdict": done.verdict.as_json(),
        "warnings": list(done.left.warnings),
        "decisions": list(done.decisions),
        "out": str(args.out),
        "dossier": args.dossier and str(args.dossier),
        "fingerprint": done.left.fingerprint,
        "confidential": True,
    }
    console.result(data, lines)
    return 0
