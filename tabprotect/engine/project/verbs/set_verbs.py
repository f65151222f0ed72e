"""The command that publishes several tables as one set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tabprotect.engine.atomic import Whole, write_together
from tabprotect.engine.bundle import archive, confidential, manifest, public, set_bundles
from tabprotect.engine.bundle.data_package import slug
from tabprotect.engine.errors import InputError
from tabprotect.engine.project import recipe
from tabprotect.engine.project.command import Context, Declared
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.releasing.registering import entered
from tabprotect.engine.project.verbs.release_verbs import answered_for
from tabprotect.engine.protection.subtables import MARGINS
from tabprotect.engine.tables.formula import names_in
from tabprotect.engine.tables.publication_set import PublicationSet


def tables_said(project: Project) -> dict[str, str]:
    """The tables that the formula of published sub-tables names, by what stands in them.

    None where it names one, or puts them together in another way than by adding them.
    """
    formula = str(project.parameters.get(MARGINS.name) or "")
    parts = [part.strip() for part in formula.split("+")]
    if len(parts) < 2 or not all(parts) or any(sign in formula for sign in "()^-/~"):
        return {}
    found: dict[str, str] = {}
    for number, part in enumerate(parts, 1):
        found[f"{number}-{slug('-'.join(names_in(part)))}"] = part
    return found


@Declared(
    lambda project, given: f"publish a set of tables as {Path(str(given['folder'])).name}",
    writes=("folder",),
    seals=True,
    slow=True,
)
def publish_set(
    project: Project,
    context: Context,
    *,
    folder: str,
    tables: Mapping[str, str],
    dossier: str | None = None,
    overwrite: bool = False,
    accept: str = "",
    again: str = "",
    prepared_by: str = "",
    approved_by: str = "",
    sign: str | None = None,
    sign_too: str | None = None,
) -> Project:
    """Write a bundle for each table of a set (formulas by name) and one manifest for all.

    The result of the last run is divided: common cells are the same in all bundles. One entry is
    made in the register, for the manifest; the dossier is that of the whole run. Undo cannot cross
    it. The other arguments are those of ``publish``.
    """
    protected = answered_for(project, accept, prepared_by, approved_by)
    chosen = PublicationSet(protected.release.domain, dict(tables))
    place = Path(folder)
    made = set_bundles.files(
        protected.release,
        chosen,
        signing=[Path(key) for key in (sign, sign_too) if key is not None],
        progress=context.progress,
    )
    paths = {place / name: data for name, data in made.items()}
    beside = None if dossier is None else Path(dossier)
    for taken in (*paths, beside):
        if taken is not None and taken.exists() and not overwrite:
            raise InputError("there is a file of that name already", file=taken)
    written = [Whole(path, data, overwrite) for path, data in paths.items()]
    if beside is not None:
        content = confidential.files(
            protected,
            release=public.to_bytes(protected.release),
            trail=[entry.as_json() for entry in context.trail],
            recipe=recipe.to_text(context.trail, seeds=True),
        )
        written.insert(0, Whole(beside, archive.pack(content), overwrite, private=True))
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("the folder cannot be made", file=place, detail=str(error)) from None
    with entered(
        protected,
        made[manifest.NAME],
        register=context.register,
        rule=project.limits.second_release,
        reason=again.strip(),
    ):
        write_together(written)
    return replace(project, protected=protected, published=True)
