"""Running a recipe: the same commands through the same door as a click."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tabprotect.engine.bundle.confidential import suggested_name
from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.examples import PREFIX
from tabprotect.engine.project.history import History
from tabprotect.engine.project.recipe import FILES, WRITTEN, Step, read

RELEASE = "release.zip"


def run(
    steps: Sequence[Step],
    out: Path,
    *,
    folder: Path = Path(),
    progress: Progress = SILENT,
) -> tuple[History, list[Path]]:
    """Run commands and write what they publish into ``out``.

    A recipe that protects but publishes nothing gets its release and its dossier written at the
    end. Files that steps name are looked for beside the recipe; files that steps write go into
    ``out`` under their own names.

    Parameters
    ----------
    folder
        The recipe's folder.

    Returns
    -------
    history, written
        The finished history, and the files that were written.

    Raises
    ------
    TabprotectError
        Naming the step.
    """
    history = History()
    written: list[Path] = []
    read_files: set[Path] = set()
    wanted = list(steps)
    if not any(name == "publish" for name, _ in wanted):
        dossier = suggested_name(Path(RELEASE)).name
        wanted.append(("publish", {"release": RELEASE, "dossier": dossier}))
    for number, (name, arguments) in enumerate(wanted, 1):
        given = dict(arguments)
        if name == "publish":
            if history.project.protected is None and number > len(steps):
                break
            for key in WRITTEN:
                if given.get(key) is not None:
                    given[key] = str(out / Path(str(given[key])).name)
                    if Path(str(given[key])).resolve() in read_files:
                        raise InputError(
                            "would be overwritten: the recipe reads it",
                            file=str(given[key]),
                            hint="write into another folder",
                        )
                    written.append(Path(str(given[key])))
            given["overwrite"] = True
            try:
                out.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"cannot be created: {error.strerror}", file=out) from None
        elif name in FILES and isinstance(given.get(FILES[name]), str):
            given[FILES[name]] = _beside(str(given[FILES[name]]), folder)
            read_files.add(Path(str(given[FILES[name]])).resolve())
        try:
            history, _ = history.apply(name, given, progress=progress)
        except TabprotectError as error:
            error.message = f"step {number} ({name}): {error.message}"
            raise
    return history, written


def _beside(source: str, folder: Path) -> str:
    if source.startswith(PREFIX) or Path(source).is_absolute():
        return source
    return str(folder / source)


def run_file(path: Path, out: Path, *, progress: Progress = SILENT) -> tuple[History, list[Path]]:
    """Read a recipe file and run it (see :func:`run`)."""
    return run(read(path), out, folder=path.parent, progress=progress)
