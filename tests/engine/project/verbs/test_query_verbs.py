"""The release plan: what it admits, what it refuses, what drops it, and that files keep it."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tabprotect.engine.bundle import public
from tabprotect.engine.cycles.cycle_report import check_cycles
from tabprotect.engine.errors import InputError, ParameterError, RefusedError, TabprotectError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.margins import sums
from tabprotect.engine.progress import Cancellable
from tabprotect.engine.project.copy_as_command import line
from tabprotect.engine.project.history import History
from tabprotect.engine.project.plans import ReleasePlan
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.recipe_text import to_text
from tabprotect.engine.project.recipes.replay import from_text
from tabprotect.engine.project.releasing.query_space_state import evidence_of, judge_margins, released_set
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.verbs.query_verbs import frontier, widths
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.tables.publication import Publication

CZECH = ("open_table", {"source": "example:czech-autoworkers"})


def apply(project: Project, name: str, arguments: dict[str, Any] | None = None) -> History:
    return History(project).apply(name, arguments)[0]


def after(project: Project, *steps: tuple[str, dict[str, Any]]) -> Project:
    for name, given in steps:
        project = apply(project, name, given).project
    return project


@pytest.fixture(scope="module")
def czech() -> Project:
    return after(Project(), CZECH)


def release(*names: str) -> tuple[str, dict[str, Any]]:
    return "release_margin", {"variables": list(names)}


def test_margins_are_released_one_by_one_and_larger_ones_take_smaller_ones_in(czech: Project) -> None:
    done, changes = History(czech).apply(*release("B", "A"))
    assert done.project.plan.margins == (("A", "B"),)
    assert changes == {"plan"} and done.undo_label == "release B × A"
    further = after(done.project, release("D"), release("C", "A", "B"))
    assert further.plan.margins == (("D",), ("A", "B", "C"))
    assert after(further, release("A", "C")).plan.margins == further.plan.margins
    assert czech.plan.margins == ()


def test_what_is_not_safe_is_refused_and_names_the_cells(czech: Project) -> None:
    before = after(czech, release("A", "B", "C"))
    with pytest.raises(RefusedError) as caught:
        apply(before, *release("A", "B", "C", "D", "E", "F"))
    assert "threshold is 3" in caught.value.message
    # The whole table gives every at-risk cell away.
    lines = caught.value.detail.splitlines()
    assert len(lines) == 3
    assert "count 1, bounds 1 to 1" in lines[0]
    assert before.plan.margins == (("A", "B", "C"),)


def test_every_single_release_is_judged_as_its_bounds_say(czech: Project) -> None:
    state = released_set(czech)
    for size in (1, 4, 5, 6):
        for names in combinations("ABCDEF", size):
            allowed = judge_margins(czech, [names]).width >= 3
            assert state.allows(state.evidence.lattice.query(names)) == allowed
            if allowed:
                assert after(czech, release(*names)).plan.margins == (names,)
            else:
                with pytest.raises(RefusedError):
                    apply(czech, *release(*names))


@pytest.mark.parametrize(
    ("variables", "words"),
    [(["A", "X"], "no variable 'X'"), (["A", "A"], "named twice"), ("A", "must be a list")],
)
def test_bad_margins(czech: Project, variables: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        apply(czech, "release_margin", {"variables": variables})
    with pytest.raises(InputError, match=words):
        apply(czech, "set_release_plan", {"margins": [["B"], variables]})


def test_a_plan_is_set_as_a_whole_or_not_at_all(czech: Project) -> None:
    planned = after(czech, ("set_release_plan", {"margins": [["A", "B"], ["C", "B"], ["B"]]}))
    assert planned.plan.margins == (("A", "B"), ("B", "C"))
    with pytest.raises(RefusedError):
        apply(planned, "set_release_plan", {"margins": [["A"], list("ABCDEF")]})
    assert planned.plan.margins == (("A", "B"), ("B", "C"))
    cleared = apply(planned, "set_release_plan", {"margins": []})
    assert cleared.project.plan.margins == () and cleared.undo_label == "clear the release plan"


def test_the_threshold_decides_and_all_wrong_fields_are_named(czech: Project) -> None:
    strict = after(czech, ("set_release_criterion", {"threshold": 100}))
    assert strict.plan == ReleasePlan(threshold=100)
    after(strict, release("C", "D", "E"))
    with pytest.raises(RefusedError):
        apply(strict, *release("A", "B", "C"))
    with pytest.raises(ParameterError) as caught:
        apply(czech, "set_release_criterion", {"threshold": -1, "criterion": "luck", "bounds": "guess"})
    assert set(caught.value.fields) == {"threshold", "criterion", "bounds"}
    with pytest.raises(InputError, match="threshold: must be a whole number"):
        apply(czech, "set_release_criterion", {"threshold": True})


def test_a_stricter_threshold_keeps_the_plan_but_nothing_more_may_go_out(czech: Project) -> None:
    planned = after(czech, release("A", "B", "C"), ("set_release_criterion", {"threshold": 50}))
    assert planned.plan.margins == (("A", "B", "C"),)
    state = released_set(planned)
    assert state.judgement.verdict == "bad" and len(state.allowed) == 0
    with pytest.raises(RefusedError):
        apply(planned, *release("D"))


def test_changed_counts_drop_the_plan_and_other_choices_do_not(czech: Project) -> None:
    planned = after(czech, ("set_release_criterion", {"threshold": 5}), release("A", "B"))
    changed = after(planned, ("set_count", {"index": [0] * 6, "count": 45}))
    assert changed.plan == ReleasePlan(threshold=5)
    assert after(planned, ("set_at_risk", {"rule": "1..3"})).plan == planned.plan
    assert after(planned, ("set_title", {"title": "t"})).plan == planned.plan
    assert after(planned, CZECH).plan == ReleasePlan()


def test_the_state_is_the_same_in_whatever_order_margins_came(czech: Project) -> None:
    one = released_set(after(czech, release("A", "B"), release("C", "D"), release("B", "C")))
    other = released_set(
        after(czech, ("set_release_plan", {"margins": [["C", "D"], ["B", "C"], ["A", "B"]]}))
    )
    assert one.released == other.released
    assert one.allowed.tolist() == other.allowed.tolist()
    assert one.unreleasable == other.unreleasable
    assert evidence_of(czech) is evidence_of(after(czech, release("A")))


def test_undo_recipe_and_file_bring_the_plan_back(tmp_path: Path) -> None:
    history = History()
    for name, given in (CZECH, ("set_release_criterion", {"threshold": 4}), release("A", "F")):
        history, _ = history.apply(name, given)
    assert history.undo_label == "release A × F"
    undone, changes = history.undo()
    assert undone.project.plan.margins == () and changes == {"plan"}
    again = History()
    for order in from_text(to_text(history.trail, seeds=False)):
        again, _ = again.do(order)
    assert again.project.plan == history.project.plan
    path = tmp_path / "p.tabprotect"
    storage.save(history, path)
    assert storage.load(path).project.plan == history.project.plan


def test_a_table_without_at_risk_cells_says_so_and_cancel_changes_nothing(czech: Project) -> None:
    safe = after(czech, ("set_at_risk", {"rule": "100000"}))
    with pytest.raises(InputError, match="no small counts"):
        apply(safe, *release("A"))
    with pytest.raises(InputError, match="no table is open"):
        apply(Project(), *release("A"))
    stop = Cancellable()
    stop.cancel()
    fresh = after(czech, ("set_at_risk", {"rule": "1..4"}))
    with pytest.raises(TabprotectError):
        evidence_of(fresh, stop)
    assert evidence_of(fresh).cells.size > 3


def test_copied_as_a_command(czech: Project) -> None:
    planned = after(czech, release("A", "B"), release("C"))
    base = "tabprotect {} example:czech-autoworkers --at-risk 1..2"
    assert line(widths(planned)) == base.format("widths")
    assert line(frontier(planned)) == base.format("frontier") + " --release A,B --release C --beta 3"
    exact = after(planned, ("set_release_criterion", {"bounds": "integer", "threshold": 7}))
    assert (
        line(frontier(exact))
        == base.format("frontier") + " --release A,B --release C --beta 7 --bounds integer"
    )


def test_a_plan_is_released_as_it_stands(tmp_path: Path, czech: Project) -> None:
    with pytest.raises(InputError, match="no margin is planned"):
        apply(czech, "use_release_plan")
    project = czech
    for margin in (("A", "B", "C"), ("D", "E")):
        name, given = release(*margin)
        project = apply(project, name, given).project
    project = apply(project, "use_release_plan").project
    assert project.method == "publish_margins"
    assert dict(project.parameters)["margins"] == "A:B:C + D:E"
    project = apply(project, "protect", {"seed": 1, "accept": "a plan"}).project
    path = tmp_path / "release.zip"
    project = apply(project, "publish", {"release": str(path)}).project
    assert project.published
    read = public.read(path)
    assert [p.table.domain.names for p in read.tables] == [("A", "B", "C"), ("D", "E")]
    assert read.tables[0].table == czech.original.margin(("A", "B", "C"))
    assert read.mechanism.parameters["released_frontier"] == [["A", "B", "C"], ["D", "E"]]
    assert read.domain == czech.original.domain
    # A reader of it knows the categories of the whole, and can ask about every inner cell.
    reader = apply(Project(), "open_bundle", {"path": str(path)}).project
    assert reader.domain.size == 64


def test_beyond_the_plan_one_perturbed_table_answers(tmp_path: Path, czech: Project) -> None:
    with pytest.raises(InputError, match="no margin is planned"):
        apply(czech, "perturb_beyond_plan")
    project = czech
    for margin in (("A", "B", "C"), ("D", "E"), ("F",)):
        name, given = release(*margin)
        project = apply(project, name, given).project
    project = apply(project, "perturb_beyond_plan").project
    assert project.method == "cyclic_perturbation"
    assert dict(project.parameters) == {"keep": "A:B:C + D:E + F"}
    report = check_cycles(project.cycles)
    assert (report.rank, report.known_functionals) == (52, 0) and report.preserves_margins
    project = apply(project, "protect", {"seed": 1, "accept": "a plan"}).project
    path = tmp_path / "release.zip"
    project = apply(project, "publish", {"release": str(path)}).project
    # One bundle holds both: the perturbed table, and the planned margins as they are.
    read = public.read(path)
    assert read.table.domain == czech.original.domain and read.table != czech.original
    shown = {p.table.domain.names: p.table for p in read.tables}
    for names in (("A", "B", "C"), ("D", "E"), ("F",)):
        assert shown[names] == czech.original.margin(names)
    gate = read.mechanism.gate
    assert gate is not None and gate.passed
    # A reader computes what to believe of the table, and of any sum of it.
    posterior = infer(likelihood_of(read))
    assert (posterior.probability(czech.original.counts) > 0).all()
    pair = sums(posterior, Publication.of(read.domain, "A:B + A:D - 1"))
    assert [one.way for one in pair] == ["exact", "exact"]
    assert (pair[0].chances.max(axis=1) == 1).all() and (pair[1].chances.max(axis=1) < 1).all()


def test_margins_can_be_rounded_first(czech: Project) -> None:
    name, given = release("A", "B")
    project = apply(apply(czech, name, given).project, "use_release_plan", {"then": "random_rounding base=5"})
    asked = {"seed": 1, "accept": "a plan"}
    result = apply(project.project, "protect", asked).project.protected
    assert result is not None
    assert not (result.release.table.counts % 5).any()
