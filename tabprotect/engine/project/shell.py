"""The command line that does the same as a click: "Copy as command"."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from tabprotect.engine.cycles.designs import DESIGNS
from tabprotect.engine.project.command import Arguments
from tabprotect.engine.project.project import Project
from tabprotect.engine.query_space.lattice import joined

SAVED = "project.tabprotect"
"""Stands for the saved project where no file alone holds what is on the screen."""


def as_command(project: Project, name: str, arguments: Arguments | None = None) -> str:
    """The equivalent of a command on this project; empty where there is none.

    Seeds are left out: a command line ends up in a shell's history.

    Parameters
    ----------
    name
        A command's name, or ``infer``, ``check``, ``compare``, ``widths``, ``frontier``,
        ``optimal`` and ``serve-session`` for the questions the window asks itself.
    """
    given = dict(arguments or {})
    words = _words(project, name, given)
    return shlex.join(["tabprotect", *words]) if words else ""


def _words(project: Project, name: str, given: Arguments) -> list[str]:
    if name in ("open_table", "open_bundle"):
        return ["open", str(given.get("source") or given.get("path") or project.source)]
    if name == "tabulate":
        by = given["by"]
        assert isinstance(by, Sequence)
        words = ["tabulate", str(given["source"]), "--by", ",".join(by)]
        for option in ("weight", "record_key", "design_weight"):
            if given.get(option):
                words += [f"--{option.replace('_', '-')}", str(given[option])]
        if given.get("draw_keys"):
            words.append("--draw-record-keys")
        # Keys and design weights stay with the table only in a project.
        kept = given.get("record_key") or given.get("draw_keys") or given.get("design_weight")
        return [*words, "--out", SAVED if kept else "table.csv"]
    if name == "set_cycles" and "file" not in given and "cycles" not in given:
        shape = ",".join(map(str, project.domain.shape))
        kind = str(given.get("kind") or "default")
        return ["cycles", "design", "--shape", shape, "--kind", kind, "--out", "cycles.json"]
    if name == "check":
        table = [] if project.kind == "reader" else ["--table", _table(project)]
        return ["cycles", "check", "cycles.json", *table]
    if name in ("protect", "publish"):
        return _protect(project, given)
    if name == "infer":
        release = project.source if project.kind == "reader" else "release.zip"
        return ["infer", release, "--prior", str(given.get("prior") or project.priors["user"])]
    if name == "compare":
        return _compare(project)
    if name in ("widths", "frontier", "optimal", "serve-session"):
        return _query_space(project, name, given)
    return []


def _query_space(project: Project, name: str, given: Arguments) -> list[str]:
    plan = project.plan
    words = [name, _table(project), "--at-risk", str(project.at_risk)]
    if name == "serve-session":
        words[1:2] = [str(given["database"]), "--table", _table(project)]
        words += ["--rule", str(given["rule"]), "--query", str(given["query"])]
    if name == "widths":
        return words
    if plan.criterion != "width":
        words += ["--criterion", plan.criterion]
    for margin in plan.margins if name == "frontier" else ():
        words += ["--release", joined(margin)]
    if name == "optimal":
        words += ["--method", str(given.get("method") or "annealing")]
    words += ["--beta", str(plan.threshold)]
    return words if plan.bounds == "auto" else [*words, "--bounds", plan.bounds]


def _compare(project: Project) -> list[str]:
    plan = project.comparison
    if not plan.runs:
        return []
    words = ["compare", _table(project)]
    for run in plan.runs:
        words += ["--run", run]
    words += ["--runs-per-method", str(plan.runs_per_method)]
    given = {
        "--margins": plan.margins,
        "--groupings": plan.groupings,
        "--key": ",".join(plan.key),
        "--sensitive": plan.sensitive,
    }
    for option, value in given.items():
        words += [option, value] if value else []
    return [*words, "--at-risk", str(project.at_risk)]


def _table(project: Project) -> str:
    return SAVED if project.edited or not project.source else project.source


def _protect(project: Project, given: Arguments) -> list[str]:
    table = _table(project)
    words = ["protect", table, "--method", project.method]
    if project.moves is not None and project.cycles_from != "the example":
        if project.cycles_from in DESIGNS or project.cycles_from.startswith("order-"):
            words += ["--set", f"cycles={project.cycles_from}"]
        else:
            # Drawn or imported cycles live in the project; only a saved one has them.
            words[1] = SAVED
    for name, value in project.parameters.items():
        words += ["--set", f"{name}={value}"]
    words += ["--at-risk", str(project.at_risk)]
    if project.title:
        words += ["--title", project.title]
    if given.get("accept"):
        words += ["--accept", str(given["accept"])]
    elif given.get("accept_weak") or (
        project.protected is not None and project.protected.record.decisions
    ):
        words.append("--accept-weak")
    release = str(given.get("release") or "release.zip")
    dossier = str(given.get("dossier") or "release-CONFIDENTIAL-dossier.zip")
    return [*words, "--out", release, "--dossier", dossier]
