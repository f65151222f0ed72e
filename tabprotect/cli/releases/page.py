"""``page``: a release bundle to look at in any browser."""

from __future__ import annotations

import argparse
from pathlib import Path

from tabprotect.cli.arguments import keep_apart
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import Verbs
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle.public import page_of_bundle
from tabprotect.languages.messages import message


def add(verbs: Verbs) -> None:
    """Declare the command."""
    command = verbs.add("page", run)
    command.add_argument("release", type=Path, metavar="RELEASE.zip")
    command.add_argument("--out", type=Path, required=True, metavar="FILE.html")


def run(args: argparse.Namespace, console: Console) -> int:
    """Write the page."""
    keep_apart([args.release], [args.out])
    page, title = page_of_bundle(args.release, console)
    write_bytes(args.out, page)
    console.result(
        {"out": str(args.out), "title": title, "bytes": len(page), "confidential": False},
        [message("Page: {out}", args.out)],
    )
    return 0
