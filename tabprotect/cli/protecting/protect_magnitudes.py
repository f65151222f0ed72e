"""``protect`` of a magnitude table."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path

from tabprotect.cli.arguments import keep_apart, once
from tabprotect.cli.breaking_off import BreakingOff
from tabprotect.cli.output import Console
from tabprotect.engine.disclosure.policy import in_force
from tabprotect.engine.errors import RefusedError
from tabprotect.engine.magnitudes.files.table_files import read_magnitudes
from tabprotect.engine.project.releasing.magnitude_release import LeavingSums
from tabprotect.engine.project.sums.magnitudes_in_one_go import Asked, protect_magnitudes
from tabprotect.engine.project.sums.sums_remedies import tried_remedies
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.languages.messages import message


def _line(args: argparse.Namespace, asked: Asked) -> str:
    """The command line that protects a table so."""
    words = ["tabprotect", "protect", str(args.table), "--method", asked.method]
    words += [word for name, value in asked.parameters.items() for word in ("--set", f"{name}={value}")]
    words += [word for rule in args.rules for word in ("--rule", rule)]
    for option in ("weights", "out", "dossier", "publish", "title"):
        value = getattr(args, option)
        if value and (option, value) != ("weights", "sample"):
            words += [f"--{option}", str(value)]
    return shlex.join(words)


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
        publish=tuple(filter(None, (args.publish or "").replace(" ", "").split(","))),
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
    table = read_magnitudes(Path(args.table))
    try:
        with BreakingOff(console) as watched:
            done = protect_magnitudes(table, asked, leaving, watched)
    except RefusedError as error:
        policy = leaving.policy or in_force()
        tried = tried_remedies(table, asked, policy, console, register=leaving.register)
        error.commands = tuple(_line(args, one) for one in tried)
        raise
    lines = [
        *done.sentences,
        *(message("Warning: {warning}", warning["message"]) for warning in done.left.warnings),
        message("Release bundle (public): {out}", args.out),
        message("Dossier (CONFIDENTIAL): {value}", args.dossier or message("none written")),
        *(message("Decision: {decision}", decision) for decision in done.decisions),
        message("These figures depend on the original: keep them in the house."),
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
