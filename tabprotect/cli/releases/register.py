"""``register``: what left this house, and what left before of a table. All of it confidential.

The register itself is imported late: the library behind it would be a third of the program's start.
"""

from __future__ import annotations

import argparse

from tabprotect.cli.arguments import add_reading, open_source
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError, Verbs
from tabprotect.engine.house import register_address
from tabprotect.engine.register.left_before import left_before
from tabprotect.engine.release.verdict_figures import Verdict
from tabprotect.languages.said import say


def add(verbs: Verbs) -> None:
    """Declare the commands."""
    group = verbs.group("register")
    every = group.add("list", run_list, say("every release, in order"))
    show = group.add("show", run_show, say("one release"))
    show.add_argument("which", metavar="NUMBER|FINGERPRINT")
    check = group.add(
        "check", run_check, say("what left before of a table, and what it tells together")
    )
    check.add_argument("table", metavar="TABLE")
    add_reading(check)
    withdraw = group.add("withdraw", run_withdraw, say("note that a release was withdrawn"))
    withdraw.add_argument("which", metavar="NUMBER|FINGERPRINT")
    withdraw.add_argument("--reason", default="", help=say("why; kept in the register"))
    for command in (every, show, check, withdraw):
        command.add_argument(
            "--register",
            metavar="FILE|URL",
            help=say("the register of releases (default: the house's own)"),
        )


def _address(args: argparse.Namespace) -> str:
    found = register_address(args.register)
    if found is None:
        raise UsageError(say("there is no register to look into: it is said to be none"))
    return found


def run_list(args: argparse.Namespace, console: Console) -> int:
    """Print every release."""
    from tabprotect.engine.register.register import Register

    with Register(_address(args)) as register:
        entries = register.entries()
    data = {"confidential": True, "releases": [entry.as_json() for entry in entries]}
    lines = [entry.line for entry in entries] or [say("Nothing has left this house yet.")]
    console.result(data, lines)
    return 0


def run_show(args: argparse.Namespace, console: Console) -> int:
    """Print one release."""
    from tabprotect.engine.register.register import Register

    with Register(_address(args)) as register:
        entry = register.find(args.which)
        kept = register.content(entry) is not None
    data = {"confidential": True, **entry.as_json(), "bundle_kept": kept}
    console.result(data, [say("{name}: {value}", name, value) for name, value in data.items()])
    return 0


def run_withdraw(args: argparse.Namespace, console: Console) -> int:
    """Mark a release as withdrawn."""
    from tabprotect.engine.disclosure.gate import UNSTATED
    from tabprotect.engine.register.register import Register

    reason = args.reason.strip() or UNSTATED
    with Register(_address(args)) as register:
        entry = register.find(args.which)
        register.withdraw(entry.number, reason)
        entry = register.find(str(entry.number))
    lines = [
        say("withdrawn: {line}", entry.line),
        say("What was read stays known: it still counts in checks."),
    ]
    console.result({"confidential": True, **entry.as_json()}, lines)
    return 0


def run_check(args: argparse.Namespace, console: Console) -> int:
    """Print what left before, and what readers of all releases of this very table know."""
    place = _address(args)
    problem = open_source(args, console).project.problem
    before = left_before(problem, place, progress=console)
    if before.error is not None:
        raise before.error
    data: dict[str, object] = {
        "confidential": True,
        "published_before": any(e.relation == "original" for e in before.earlier),
        "releases": [e.as_json() for e in before.earlier],
        "warnings": before.warnings,
        "together": before.as_json(),
        "kept": len(before.read),
        "spent": None if before.spent is None else before.spent.as_json(),
    }
    lines = [
        *(warning["message"] for warning in before.warnings),
        *(say("  {line}", e.entry.line) for e in before.earlier),
        *([] if before.together is None else [_said(before.together, before.releases)]),
    ]
    console.result(data, lines or [say("Nothing of this table has left the house.")])
    return 0


def _said(found: Verdict, releases: int) -> str:
    whence = (
        say("From this release")
        if releases == 1
        else say("From these {releases} releases together", releases)
    )
    return say("{whence}: {sentence}", whence, found.sentence)
