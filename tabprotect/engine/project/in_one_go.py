"""The steps that the command line and the library take in one go: open a table, protect it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.text.opening import is_url
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.command import Order
from tabprotect.engine.project.history import History
from tabprotect.engine.project.opening.examples import PREFIX
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.verbs.cycle_verbs import set_cycles
from tabprotect.engine.project.verbs.release_verbs import (
    protect,
    set_method,
    set_parameters,
    set_policy,
)
from tabprotect.engine.project.verbs.table_verbs import open_table, set_at_risk, set_title


def absolute(source: str) -> str:
    """A path that still means the same file when a recipe is run elsewhere."""
    kept = source.startswith(PREFIX) or is_url(source)
    return source if kept else str(Path(source).absolute())


def opened(source: str, reading: Reading, progress: Progress) -> History:
    """The table that a source means: an example, a file, or a project as it was saved."""
    if source.endswith(storage.SUFFIX):
        return storage.load(Path(source))
    order = open_table(source=absolute(source), **reading.given)
    return History().do(order, progress=progress)[0]


def protected(
    history: History,
    *,
    policy: HousePolicy | None,
    title: str | None,
    at_risk: str | None,
    method: str | None,
    parameters: Mapping[str, object],
    cycles: str | Order | None,
    accept: str | None,
    accept_weak: bool,
    seed: int | None,
    fresh: bool,
    register: str | None = None,
    progress: Progress,
) -> History:
    """The open table protected. What is None stays as it is.

    Parameters
    ----------
    parameters
        Of the method, by name; numbers may be text.
    cycles
        A file of cycles, a kind of design, or the order that sets them.
    register
        That which remembers what was refused; by default the house's own.
    """

    def do(order: Order) -> None:
        nonlocal history
        history, _ = history.do(order, progress=progress, register=register)

    if policy is not None:
        do(set_policy(**policy.as_dict()))
    if title is not None:
        do(set_title(title=title))
    if at_risk is not None:
        do(set_at_risk(rule=at_risk))
    if method is not None:
        do(set_method(method=method))
    if parameters:
        do(set_parameters(**_typed(history.project, parameters)))
    if cycles is not None:
        do(cycle_source(cycles) if isinstance(cycles, str) else cycles)
    do(protect(accept=accept, accept_weak=accept_weak, seed=seed, fresh=fresh))
    return history


def cycle_source(value: str) -> Order:
    """The cycle set of a file where there is one, else of a kind."""
    path = Path(value)
    named = path.suffix or path.exists()
    return set_cycles(file=absolute(value)) if named else set_cycles(kind=value)


def _typed(project: Project, parameters: Mapping[str, object]) -> dict[str, object]:
    """Numbers as numbers; what is none is left for the command to refuse, all at once."""
    kinds = {p.name: p for p in project.protection.parameters}
    out: dict[str, object] = {}
    for name, value in parameters.items():
        try:
            out[name] = kinds[name].check(value)
        except (KeyError, ValueError):
            out[name] = value
    return out
