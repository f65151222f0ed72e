"""Other ways for a table to leave, where it may not leave as it is beside earlier releases. Confidential.

Each is made as it would be run, with its coins and after all that was refused before, and read with all
that left: what is offered leaves as it is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from tabprotect.engine.disclosure.gate import decided
from tabprotect.engine.disclosure.policy import KeptSmall
from tabprotect.engine.errors import KEPT_SMALL, Suggestion, TabprotectError, attempted
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.magnitude_ways import protected_magnitudes, remedies_for, with_method
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.releasing.judgement import beside_other_measures
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.protection.subtables import MARGINS
from tabprotect.engine.register.left_before import LeftBefore, left_before
from tabprotect.engine.register.people.reading_together import LookedUp
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.languages.messages import message, uncapital

INSTEAD = ("random_rounding", "cell_key", "discrete_laplace", "cyclic_perturbation", "suppression")
"""Methods that stand beside others: what they say of a count is said cell by cell, or by kept sums; the last
shows true counts alone, as readers of sums of the same records are taken to know them."""

MOST_HIDDEN = 0.5
"""The share of hidden sums beyond which hiding more is no way to publish a table."""

ROUNDS = 6
"""How often the sums that would be known are hidden, too."""

HIDE_TOO = message("Hide what earlier releases hide, too")

Attempt = Callable[[Mapping[str, object]], Protected]
"""Protects a table by other settings, as they would be run."""


def ways_beside(
    project: Project,
    protected: Attempt,
    looked_up: LookedUp,
    before: LeftBefore,
    *,
    kept_small: KeptSmall,
    certain: int = 0,
    tables: bool = False,
    register: str | None = None,
    progress: Progress,
) -> tuple[tuple[Suggestion, tuple[str, ...]], ...]:
    """The first settings by which a table leaves beside earlier releases, and words that go with them.

    What keeps small sums comes after what does not, with the words by which these go out. Nothing where
    no way is found.

    Parameters
    ----------
    protected
        Protects by other settings.
    looked_up
        What the register holds, with what was refused just now.
    before
        What stands against it.
    kept_small
        What was decided about small sums that are published exactly.
    certain
        See :func:`told_before`.
    tables
        Whether it leaves as a set of tables.
    """

    def leaves(done: Protected | TabprotectError) -> bool:
        if isinstance(done, TabprotectError):
            return False
        policy = project.limits
        try:
            done = decided(beside_other_measures(done, policy, looked_up), policy, "")
            problem, release = done.record.problem, done.release
            found = left_before(
                problem, release=release, policy=policy, looked_up=looked_up, progress=progress
            )
            found.admit(policy, "")
        except TabprotectError:
            return False
        return True

    if project.magnitudes is not None:
        hidden = _sums_hidden_too(project, before, looked_up, progress)
        if hidden is not None:
            return ((hidden, ()),)
        return tuple((one, ()) for one in remedies_for(project, progress, register=register))
    said = (kept_small, project.limits.kept_small)
    keeping: tuple[tuple[Suggestion, tuple[str, ...]], ...] = ()
    others = () if certain or not _may_be_weighed(looked_up) else _ways(project, tables=tables)
    for one in chain(others, _left_by_other_rules(project, before, looked_up)):
        found = attempted(partial(protected, one.parameters))
        words = KEPT_SMALL[1] if "keep" not in said and _keeps_small(found) else ()
        if words and keeping:
            continue
        if leaves(found):
            if not words:
                return ((one, ()),)
            keeping = ((one, words),)
    return keeping


def told_before(
    project: Project, before: LeftBefore, looked_up: LookedUp, register: str | None, progress: Progress
) -> int:
    """How many small counts are certain from what left before alone, if more than this table may tell; else 0.

    Nothing that is drawn for the table takes that back.
    """
    if project.protected is None or before.together is None:
        return 0
    limits = project.limits.of_release(project.protected.release, project.at_risk)
    alone = left_before(project.problem, register, policy=limits, looked_up=looked_up, progress=progress)
    tables = () if alone.together is None else alone.together.tables
    return max((one.certain for one in tables if one.certain > one.allowed(limits)), default=0)


def _left_by_other_rules(project: Project, before: LeftBefore, looked_up: LookedUp) -> Iterator[Suggestion]:
    """The same release as an earlier one of the very table by the method, under the rule that it left by."""
    for one, release in looked_up.releases(before.read):
        stated, gate = release.mechanism.method == project.method, release.mechanism.gate
        if stated and one.relation == "original" and gate is not None and gate.at_risk != project.at_risk:
            named = message("Publish it once more by the rule of no. {number}", one.entry.number)
            yield Suggestion(named, {"at_risk": gate.at_risk.text})


def _keeps_small(done: Protected | TabprotectError) -> bool:
    verdict = None if isinstance(done, TabprotectError) else done.record.verdict
    return verdict is not None and bool(verdict.exact_small_margins)


def _may_be_weighed(looked_up: LookedUp) -> bool:
    """Return False where what was refused beside earlier releases is known too badly to weigh it with them."""
    refused = [one for one in looked_up.refused.values() if one.beside]
    if not refused:
        return True
    read = (likelihood_of(release) for _, release in looked_up.releases(looked_up.earlier) if release.tables)
    return all(one.stated for one in refused) and not any(
        isinstance(one, CellFactors) and one.rerun is not None for one in read
    )


def _ways(project: Project, *, tables: bool) -> Iterator[Suggestion]:
    """What is tried for counts, in order."""
    problem = project.problem
    margins = {MARGINS.name: project.given[MARGINS.name]} if tables and MARGINS.name in project.given else {}
    for name in INSTEAD:
        other = methods()[name]
        if name == project.method or other.unmet(problem):
            continue
        given = margins if any(one.name == MARGINS.name for one in other.parameters) else {}
        if margins and not given:
            continue
        yield Suggestion(message("Take {label} instead", uncapital(other.label)), {"method": name, **given})


def _line(labels: Sequence[str], command: str) -> str:
    return ",".join([*(f'"{one}"' if "," in one or '"' in one else one for one in labels), command])


def _sums_hidden_too(
    project: Project, before: LeftBefore, looked_up: LookedUp, progress: Progress
) -> Suggestion | None:
    """Sums to hide besides, until what is hidden is known by no reader of all."""
    if project.method != "suppression" or not before.sums.cells or project.given.get("statuses"):
        return None
    releases = {one.entry.number: release for one, release in looked_up.releases(looked_up.earlier)}
    lines: dict[str, None] = {}
    policy, own = project.limits, project.protected
    for _ in range(ROUNDS):
        if own is None:
            return None
        tables = {number: one.magnitude_table for number, one in releases.items() if one.magnitudes}
        tables[0] = own.release.magnitude_table
        found = {_sum_line(tables[number], cell, tables[0]) for number, cell in before.sums.cells} - {""}
        if found <= set(lines):
            return None
        lines |= dict.fromkeys(sorted(found))
        given = {"statuses": "\n".join(lines)}
        tried = attempted(partial(_sums_by, project, given, looked_up))
        if isinstance(tried, TabprotectError):
            return None
        own = tried
        if own.release.magnitude_table.hidden.mean() > MOST_HIDDEN:
            return None
        problem = tried.record.problem
        before = left_before(
            problem, release=tried.release, policy=policy, looked_up=looked_up, progress=progress
        )
        if not before.sums.cells:
            passed = attempted(partial(before.admit, policy, ""))
            return None if isinstance(passed, TabprotectError) else Suggestion(HIDE_TOO, given)
    return None


def _sums_by(project: Project, given: Mapping[str, object], looked_up: LookedUp) -> Protected:
    other = with_method(project, project.method, {**project.given, **given})
    done = beside_other_measures(protected_magnitudes(other), project.limits, looked_up)
    return decided(done, project.limits, "")


def _sum_line(table: PublishedMagnitudes, cell: int, own: PublishedMagnitudes) -> str:
    """The line that hides the sum of a table in another one; empty where that has no such sum."""
    labels = {
        variable.name: variable.nodes[node][1] if node < len(variable.nodes) - 1 else ""
        for variable, node in zip(table.variables, table.nodes[:, cell].tolist(), strict=True)
    }
    if any(variable.name not in labels for variable in own.variables):
        return ""
    if any(
        labels[variable.name] and labels[variable.name] not in {name for _, name in variable.nodes}
        for variable in own.variables
    ):
        return ""
    return _line([labels[variable.name] for variable in own.variables], "u")
