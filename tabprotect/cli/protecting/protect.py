"""``protect`` and ``run``: from a table to a release."""

from __future__ import annotations

import argparse
from pathlib import Path

from tabprotect.cli.arguments import (
    add_reading,
    keep_apart,
    once,
    open_source,
    setting,
)
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError, Verbs
from tabprotect.engine.atomic import leftovers
from tabprotect.engine.bundle.archive import load, sha256
from tabprotect.engine.disclosure.policy import VARIABLE
from tabprotect.engine.disclosure.policy import read as read_policy
from tabprotect.engine.errors import InputError
from tabprotect.engine.project.history import History
from tabprotect.engine.project.in_one_go import absolute, protected
from tabprotect.engine.project.project import DEFAULT_METHOD, Project
from tabprotect.engine.project.recipes.replay import last_and_now, run_file
from tabprotect.engine.project.releasing.judgement import judge_release
from tabprotect.engine.project.verbs.release_verbs import publish
from tabprotect.engine.protection.descriptions.run_summary import (
    RunSummary,
    remarks_on_run,
    summarise,
)
from tabprotect.engine.protection.problem import Preview, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.register.left_before import LeftBefore


def add(verbs: Verbs) -> None:
    """Declare the commands."""
    run_it = verbs.add("protect", run_protect)
    run_it.add_argument("table", metavar="TABLE", help="a table file, a project, or example:NAME")
    add_protecting(run_it)
    run_it.add_argument("--out", type=Path, required=True, metavar="release.zip")
    run_it.add_argument("--dossier", type=Path, metavar="dossier.zip", help="CONFIDENTIAL")
    add_reading(run_it)
    run = verbs.add("run", run_recipe)
    run.add_argument("recipe", type=Path, metavar="recipe.toml")
    run.add_argument("--out", type=Path, required=True, metavar="DIR")
    run.add_argument(
        "--set",
        type=setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help="a variable of the recipe, which stands in it as ${NAME}",
    )
    run.add_argument(
        "--rename",
        type=setting,
        action="append",
        default=[],
        metavar="VARIABLE:FOUND=EXPECTED",
        dest="renames",
        help="a category of the file, and what the recipe calls it; may be repeated",
    )
    run.add_argument(
        "--categories",
        choices=("check", "accept"),
        default="check",
        help="whether categories that are new or missing are refused (default) or taken",
    )


def signing_keys(given: list[Path]) -> dict[str, str]:
    """The arguments of publishing that ``--sign`` gives."""
    if len(given) > 2:
        raise UsageError("--sign is given twice at most")
    return dict(zip(("sign", "sign_too"), (absolute(str(key)) for key in given), strict=False))


def add_protecting(parser: argparse.ArgumentParser) -> None:
    """The options of every command that protects and publishes."""
    parser.add_argument("--method", help=f"{', '.join(methods())} (default {DEFAULT_METHOD})")
    parser.add_argument(
        "--set",
        type=setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help="a parameter of the method; cycles=FILE or cycles=KIND takes a cycle set",
    )
    parser.add_argument(
        "--keep", metavar="FORMULA", help="margins to publish exactly: the parameter keep"
    )
    parser.add_argument(
        "--groupings", metavar="TEXT|FILE", help="of categories, for formulas: the parameter"
    )
    parser.add_argument("--at-risk", metavar="LOW..HIGH", help="counts at risk (default 1..2)")
    parser.add_argument("--title", help="for the reader; published")
    decision = parser.add_mutually_exclusive_group()
    decision.add_argument(
        "--accept",
        metavar="REASON",
        help="publish whatever the gate says; the bundle says so, the dossier keeps the reason",
    )
    decision.add_argument("--accept-weak", action="store_true", help="the same without a reason")
    parser.add_argument(
        "--policy",
        type=lambda path: read_policy(Path(path)),
        metavar="policy.toml",
        help=f"the limits of the house (default: the file that {VARIABLE} names)",
    )
    parser.add_argument(
        "--register",
        metavar="FILE|URL|none",
        help="the register of releases (default: the house's own)",
    )
    parser.add_argument(
        "--again",
        metavar="REASON",
        help="why a table that left before is published again, where the policy takes a reason "
        "(default: that of --accept)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        help="replay these coins; recorded (default: the same table and mechanism always get the "
        "same ones, by the key of the house)",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="draw coins that nobody can draw again; recorded"
    )
    parser.add_argument(
        "--sign",
        type=Path,
        action="append",
        default=[],
        metavar="KEY",
        help="sign the bundle with this private key; twice for two signatures",
    )
    parser.add_argument(
        "--prepared-by", metavar="NAME", default="", help="for dossier and register"
    )
    parser.add_argument(
        "--approved-by",
        metavar="NAME",
        default="",
        help="the same; a policy may take both names",
    )


def method_settings(args: argparse.Namespace) -> dict[str, str]:
    """The parameters that :func:`add_protecting` takes, by name."""
    beside = [(name, getattr(args, name)) for name in ("keep", "groupings")]
    named = [(name, value) for name, value in beside if value is not None]
    if args.fresh and args.seed is not None:
        raise UsageError("--fresh and --seed exclude each other")
    return once([*args.settings, *named], "--set")


def protected_as_asked(
    history: History,
    args: argparse.Namespace,
    settings: dict[str, str],
    method: str | None,
    console: Console,
) -> History:
    """The open table protected by the options of :func:`add_protecting`."""
    return protected(
        history,
        policy=args.policy,
        title=args.title,
        at_risk=args.at_risk,
        method=method,
        cycles=settings.get("cycles"),
        parameters={name: value for name, value in settings.items() if name != "cycles"},
        accept=args.accept,
        accept_weak=args.accept_weak,
        seed=args.seed,
        fresh=args.fresh,
        register=args.register,
        progress=console,
    )


def run_protect(args: argparse.Namespace, console: Console) -> int:
    """The same commands as the window's, in order."""
    settings, keys = method_settings(args), signing_keys(args.sign)
    if args.dossier is not None and args.dossier.absolute() == args.out.absolute():
        raise UsageError("--out and --dossier name one file")
    keep_apart([args.table, settings.get("cycles"), *args.sign], [args.out, args.dossier])
    history = open_source(args, console)
    opened = history.project.notes
    for note in opened:
        console.say(f"note: {note}")

    for path in (args.out, args.dossier):
        if path is not None and not path.absolute().parent.is_dir():
            raise InputError("cannot be written: there is no such folder", file=path)
    history = protected_as_asked(history, args, settings, args.method, console)
    dossier = None if args.dossier is None else str(args.dossier)
    order = publish(
        release=str(args.out),
        dossier=dossier,
        overwrite=True,
        **keys,
        again=args.again or args.accept or "",
        prepared_by=args.prepared_by,
        approved_by=args.approved_by,
    )
    before = judge_release(history.project, args.register, progress=console).before
    history, _ = history.do(order, progress=console, register=args.register)
    for note in history.project.notes[len(opened) :]:
        console.say(f"note: {note}")
    _say_leftovers([args.out, args.dossier], console)
    _say_protected(history.project, args, console, before)
    return 0


def _say_leftovers(written: list[Path | None], console: Console) -> None:
    for folder in {path.absolute().parent for path in written if path is not None}:
        for left in leftovers(folder):
            console.say(
                f"note: {left.name} in {folder} is left of a program that was killed while it "
                "wrote. It may be confidential: look at it, then remove it."
            )


def _say_protected(
    project: Project,
    args: argparse.Namespace,
    console: Console,
    before: LeftBefore,
) -> None:
    result = project.protected
    assert result is not None
    found = result.record.verdict
    assert found is not None
    summary = summarise(result)
    warnings = [
        *_warnings(result),
        *(remark.as_json() for remark in remarks_on_run(result.record)),
        *before.warnings,
    ]
    data: dict[str, object] = {
        "method": project.method,
        "title": project.title,
        **summary.as_json(),
        "expected": _expected(project, summary) if console.as_json else None,
        "verdict": found.as_json(),
        "together": before.as_json(),
        "warnings": warnings,
        **_of_cycles(project),
        "parameters": {n: v for n, v in project.resolved.items() if n != "cycles"},
        "findings": dict(result.record.findings),
        "decisions": list(result.record.decisions),
        "fingerprint": sha256(load(args.out)),
        "out": str(args.out),
        "dossier": None if args.dossier is None else str(args.dossier),
        "confidential": True,
    }
    lines = [
        summary.sentence,
        f"Verdict: {found.sentence}",
        *([found.staff.sentence] if found.staff is not None else []),
        *(f"Warning: {warning['message']}" for warning in warnings),
        *(line.text for line in before.beside),
        f"Release bundle (public): {args.out}",
        f"Fingerprint: {data['fingerprint']}",
        f"Dossier (CONFIDENTIAL): {args.dossier or 'none written'}",
        *(f"Decision: {decision}" for decision in result.record.decisions),
        "These figures depend on the original: keep them in the house.",
    ]
    console.result(data, lines)


def _expected(project: Project, summary: RunSummary) -> dict[str, object]:
    """What trial runs of the mechanism do to this table; without chance, what it did."""
    method = project.protection
    if not method.is_random(project.values):
        preview: RunSummary | Preview = summary
    else:
        preview = method.preview(project.problem, project.given)
    return {
        "unchanged_share": preview.unchanged_share,
        "blocked_share": preview.blocked_share if project.takes_cycles else None,
        "mean_absolute_deviation": preview.mean_absolute_deviation,
    }


def _warnings(protected: Protected) -> list[dict[str, str]]:
    """What went out with a warning only."""
    gate = protected.release.mechanism.gate
    if gate is None or gate.passed is not None or protected.record.overruled:
        return []
    message = "the release could not be judged; by the policy that takes no reason"
    return [{"kind": "unjudged", "message": message}]


def _of_cycles(project: Project) -> dict[str, object]:
    if not project.takes_cycles:
        return {}
    return {
        "cycles": len(project.cycles),
        "cycles_from": project.cycles_from or "chosen for the kept margins",
    }


def run_recipe(args: argparse.Namespace, console: Console) -> int:
    """Run a recipe file and write what it publishes into a folder."""
    settings = once(args.settings, "--set")
    renames: dict[tuple[str, str], str] = {}
    for name, to in args.renames:
        variable, colon, category = name.partition(":")
        if not colon:
            raise UsageError(f"--rename takes VARIABLE:FOUND=EXPECTED, not {name}={to}")
        renames[variable, category] = to
    history, written = run_file(
        args.recipe,
        args.out,
        settings=settings,
        renames=renames,
        accept=args.categories == "accept",
        progress=console,
    )
    since = last_and_now(args.recipe, settings, history, console)
    for note in history.project.notes:
        console.say(f"note: {note}")
    labels = [step.label for step in history.steps]
    told = [] if since is None else ["since last year (CONFIDENTIAL):", *since.lines()]
    console.result(
        {
            "steps": labels,
            "written": [str(path) for path in written],
            "since_last_year": None if since is None else since.as_json(),
        },
        [*labels, *told, *(f"wrote {path}" for path in written)],
    )
    return 0
