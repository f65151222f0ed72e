"""``protect`` and ``run``: from a table to a release."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tabprotect.cli.arguments import TableReading, keep_apart, open_source
from tabprotect.cli.declaring import command, once
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.errors import InputError
from tabprotect.engine.options import Naming, Options, option_field, part, position
from tabprotect.engine.paths import is_folder
from tabprotect.engine.project.options import DEFAULT_METHOD, METHOD, OUTPUT, Protecting, Publishing
from tabprotect.engine.protection import methods
from tabprotect.engine.registry import own_names
from tabprotect.engine.workers.threads import threads_field
from tabprotect.languages.messages import joined, message

BESIDE = {
    "method": message(
        "{methods} (default {DEFAULT_METHOD})", joined(own_names(methods), ", "), DEFAULT_METHOD
    )
}


@dataclass(frozen=True, kw_only=True)
class ProtectingAndPublishing(Options):
    """How a table is protected and what is written."""

    protecting: Protecting = part(Protecting, group=METHOD, help=BESIDE)
    keep: str | None = option_field(
        None, group=METHOD, metavar="FORMULA", help=message("margins to publish exactly: the parameter keep")
    )
    groupings: str | None = option_field(
        None, group=METHOD, metavar="TEXT|FILE", help=message("of categories, for formulas: the parameter")
    )
    workers: int | None = threads_field()

    @property
    def protected(self) -> Protecting:
        """How the table is protected."""
        asked = self.protecting
        if asked.fresh and asked.seed is not None:
            raise UsageError("--fresh and --seed exclude each other")
        beside = [(name, getattr(self, name)) for name in ("keep", "groupings")]
        named = [(name, value) for name, value in beside if value is not None]
        parameters = once([*(asked.parameters or {}).items(), *named], "--set")
        cycles = parameters.pop("cycles", None)
        return replace(asked, parameters=parameters, cycles=cycles)

    def published(self, publishing: Publishing) -> Publishing:
        """What is written and who answers for it: what is accepted is said once, for the run."""
        again = publishing.again or self.protecting.accept or ""
        return replace(publishing, overwrite=True, accept="", again=again)


@dataclass(frozen=True, kw_only=True)
class Protect(ProtectingAndPublishing):
    """Arguments of ``protect``."""

    table: str = position(metavar="TABLE", help=message("a table file, a project, or example:NAME"))
    publishing: Publishing = part(Publishing, group=OUTPUT, but=("tables",))
    reading: TableReading = part(TableReading)


@dataclass(frozen=True, kw_only=True)
class Run(Options):
    """Arguments of ``run``."""

    recipe: Path = position(metavar="recipe.toml")
    out: Path = option_field(metavar="DIR")
    settings: Mapping[str, str] | None = option_field(
        None,
        shell="--set",
        metavar="NAME=VALUE",
        help="a variable of the recipe, which stands in it as ${NAME}",
        naming=Naming(),
    )
    renames: Mapping[str, str] | None = option_field(
        None,
        shell="--map --rename",
        metavar="VARIABLE:FOUND=EXPECTED",
        help=message(
            "what a category of the file is in the recipe or its code list: one of theirs, itself for "
            "a category of its own, or nothing where its records are left out; may be repeated"
        ),
        naming=Naming(),
    )
    categories: str = option_field(
        "check",
        choices=("check", "accept"),
        help=message("whether categories that are new or missing are refused (default) or taken"),
    )


@command(
    "protect",
    example="tabprotect protect example:duncan-roehrig-4x4 --method cyclic_perturbation --out release.zip",
)
def run_protect(asked: Protect, console: Console) -> None:
    """The same commands as the window's, in order."""
    # Late: what it takes is said without the engine.
    from tabprotect.cli.protecting.published import protect_and_publish

    out, dossier = Path(asked.publishing.release), None
    if asked.publishing.dossier:
        dossier = Path(asked.publishing.dossier)
    protecting, publishing = asked.protected, asked.published(asked.publishing)
    cycles = protecting.cycles if isinstance(protecting.cycles, str) else None
    if dossier is not None and dossier.absolute() == out.absolute():
        raise UsageError("--out and --dossier name one file")
    keep_apart([asked.table, cycles, protecting.like, publishing.sign, publishing.sign_too], [out, dossier])
    history = open_source(asked.table, asked.reading, console)
    for note in history.project.notes:
        console.say(message("note: {note}", note))
    for path in (out, dossier):
        if path is not None and not is_folder(path.absolute().parent):
            raise InputError(
                message("cannot be written: there is no such folder"),
                file=path,
                hint=message("make it first: mkdir {folder}", shlex.quote(str(path.parent))),
            )
    protect_and_publish(history, protecting, publishing, console)


@command("run", example="tabprotect run recipe.toml --out results")
def run_recipe(asked: Run, console: Console) -> None:
    """Run a recipe file and write what it publishes into a folder."""
    # Late: to protect a table takes no recipe.
    from tabprotect.engine.project.recipes.replay import last_and_now, run_file

    settings = dict(asked.settings or {})
    renames: dict[tuple[str, str], str] = {}
    for name, to in (asked.renames or {}).items():
        variable, colon, category = name.partition(":")
        if not colon:
            raise UsageError(f"--map takes VARIABLE:FOUND=EXPECTED, not {name}={to}")
        renames[variable, category] = to
    history, written = run_file(
        asked.recipe,
        asked.out,
        settings=settings,
        renames=renames,
        accept=asked.categories == "accept",
        progress=console,
    )
    since = last_and_now(asked.recipe, settings, history, console)
    for note in history.project.notes:
        console.say(message("note: {note}", note))
    labels = [step.label for step in history.steps]
    differences = [] if since is None else [message("since last year (CONFIDENTIAL):"), *since.lines()]
    console.result(
        {"steps": labels, "written": [str(path) for path in written], "since_last_year": since},
        [*labels, *differences, *(message("wrote {path}", path) for path in written)],
    )
