"""Steps of the command line and the library in one go: open or count a table, protect it, publish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os.path import exists
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.engine.agency import register_address
from tabprotect.engine.errors import ParameterError, about
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.options import options_of
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.command import Context, Order
from tabprotect.engine.project.history import History
from tabprotect.engine.project.options import Drawing, MagnitudeTabulation, Protecting, Publishing, Tabulation
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.sources import absolute
from tabprotect.engine.project.verbs.table_verbs import (
    counted,
    open_table,
    set_at_risk,
    set_metadata,
    set_people,
    set_roles,
    set_title,
    tabulate,
)
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.microdata.record_files import GivenRecords
    from tabprotect.engine.register.people.reading_together import LookedUp


def opened(source: str, reading: Reading, progress: Progress) -> History:
    """The table of a source: an example, a file, or a saved project."""
    if source.endswith(storage.SUFFIX):
        if given := reading.given:
            raise ParameterError(dict.fromkeys(given, message("a project is opened as it was saved")))
        return storage.load(Path(source))
    order = open_table(source=absolute(source), **reading.given)
    return History().do(order, progress=progress)[0]


def tabulated(asked: Tabulation, progress: Progress) -> History:
    """The counts of records."""
    asked = replace(asked, source=absolute(asked.source), code_lists=_absolute_lists(asked))
    return History().do(tabulate.order(asked.given), progress=progress)[0]


def tabulated_frame(records: GivenRecords, asked: MagnitudeTabulation, progress: Progress) -> History:
    """The counts, or sums, of records in memory."""
    return History(counted(records, Context(progress), replace(asked, code_lists=_absolute_lists(asked))))


def _absolute_lists(asked: Tabulation) -> Mapping[str, str] | None:
    lists = {name: absolute(str(file)) for name, file in (asked.code_lists or {}).items()}
    return lists or asked.code_lists


def protected(
    history: History, asked: Protecting, progress: Progress, looked_up: LookedUp | None = None
) -> History:
    """The open table protected; parameters that are numbers may be text. ``looked_up`` as in a context."""
    # Late: a table is opened, counted and converted without it.
    from tabprotect.engine.project.verbs.release_verbs import protect, set_method, set_parameters, set_policy

    def do(order: Order) -> None:
        nonlocal history
        history, _ = history.do(order, progress=progress, register=asked.register, looked_up=looked_up)

    asked.check_given(history.project.measure)
    parameters = dict(asked.parameters or {})
    if asked.policy is not None:
        do(set_policy(**asked.policy.as_json()))
    if asked.title is not None:
        do(set_title(title=asked.title))
    if asked.about is not None:
        do(set_metadata(said=asked.about))
    if asked.at_risk is not None:
        do(set_at_risk(rule=asked.at_risk))
    if asked.people is not None:
        each = [asked.people] if isinstance(asked.people, str) else asked.people
        do(set_people(people=" ".join(each)))
    if asked.sensitive is not None or asked.key_variables is not None:
        do(set_roles(sensitive=asked.sensitive, key_variables=asked.key_variables))
    if asked.method is not None:
        do(set_method(method=asked.method))
    if history.project.magnitudes is not None:
        if order := _rules(history.project, asked):
            do(order)
        if asked.publish is not None:
            parameters["publish"] = asked.publish
        if asked.at_risk is not None and not {**history.project.parameters, **parameters}.get("publish"):
            raise ParameterError({"at_risk": message("goes with publish: no counts are published")})
    elif parameters:
        parameters = _typed(history.project, parameters)
    if parameters:
        do(set_parameters(**parameters))
    if asked.cycles is not None:
        with about(kind="cycles"):
            do(cycle_source(asked.cycles))
    run = {one.name: getattr(asked, one.name) for one in options_of(Drawing)}
    do(protect.order(run))
    return history


def published(
    history: History,
    asked: Publishing,
    *,
    register: str | None = None,
    looked_up: LookedUp | None = None,
    progress: Progress,
) -> History:
    """The protected table published; ``looked_up`` as in a command's context.

    Raises
    ------
    ParameterError
        For the names of who answers for it, where nothing keeps them.
    """
    from tabprotect.engine.project.verbs.publish_verbs import publish

    names = [name for name in ("prepared_by", "approved_by") if getattr(asked, name)]
    kept = asked.dossier is not None or register_address(register) is not None
    if names and not kept and history.project.limits.signatures < 2:
        raise ParameterError(
            dict.fromkeys(names, message("goes with a dossier or a register, which keep it"))
        )
    sign, too, key = (file and absolute(file) for file in (asked.sign, asked.sign_too, asked.dossier_key))
    order = publish.order(replace(asked, sign=sign, sign_too=too, dossier_key=key).given)
    return history.do(order, progress=progress, register=register, looked_up=looked_up)[0]


def cycle_source(given: str | Mapping[str, object]) -> Order:
    """The cycle set of a file if there is one, else the kind of cycle set; or cycles out of JSON."""
    from tabprotect.engine.project.verbs.cycle_verbs import set_cycles

    if not isinstance(given, str):
        return set_cycles(cycles=given)
    path = Path(given)
    named = path.suffix or exists(path)
    return set_cycles(file=absolute(given)) if named else set_cycles(kind=given)


def _rules(project: Project, asked: Protecting) -> Order | None:
    """Return what is said of rules, weights and last year's bundle; ``None`` where nothing is.

    Raises
    ------
    ParameterError
        For last year's bundle where the method hides nothing.
    """
    # Late: who protects counts does not wait for it.
    from tabprotect.engine.project.verbs.magnitude_verbs import set_rules
    from tabprotect.engine.protection.registered import methods

    if asked.like is not None and not methods("magnitudes")[project.method].takes_rules:
        raise ParameterError({"like": message("goes with methods that hide sums")})
    if not (asked.rule or asked.weights or asked.like):
        return None
    assert project.magnitudes is not None
    return set_rules(
        rules=asked.rules or project.magnitudes.rules,
        weights=asked.weights,
        like=None if asked.like is None else absolute(asked.like),
    )


def _typed(project: Project, parameters: Mapping[str, object]) -> dict[str, object]:
    """Turn number texts into numbers; other texts are left for the command to refuse, all at once."""
    kinds = {p.name: p for p in project.protection.parameters}
    out: dict[str, object] = {}
    for name, value in parameters.items():
        try:
            out[name] = kinds[name].check(value)
        except (KeyError, ValueError):
            out[name] = value
    return out
