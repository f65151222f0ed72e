"""``page``: a release bundle to look at in any browser."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tabprotect.cli.arguments import keep_apart
from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle.public import page_of_bundle
from tabprotect.engine.options import Options, option_field, position
from tabprotect.languages.messages import message


@dataclass(frozen=True, kw_only=True)
class Page(Options):
    """Arguments of ``page``."""

    release: Path = position(metavar="RELEASE.zip")
    out: Path = option_field(metavar="FILE.html")


@command("page", example="tabprotect page release.zip --out page.html")
def run(asked: Page, console: Console) -> None:
    """Write the page."""
    keep_apart([asked.release], [asked.out])
    page, title = page_of_bundle(asked.release, console)
    write_bytes(asked.out, page)
    console.result(
        {"out": str(asked.out), "title": title, "bytes": len(page), "confidential": False},
        [message("Page: {out}", asked.out)],
    )
