"""A project about a magnitude table: its steps, its file, and its recipe against the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabprotect.cli.main import main
from tabprotect.engine.bundle import public
from tabprotect.engine.errors import InputError, ParameterError, RefusedError
from tabprotect.engine.project import recipe_text
from tabprotect.engine.project.history import History
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.recipes import replay
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.verbs.level_verbs import unsafe_at_level
from tabprotect.engine.project.verbs.magnitude_verbs import set_rules
from tabprotect.engine.project.verbs.publish_verbs import open_bundle, publish
from tabprotect.engine.project.verbs.release_verbs import protect, protect_words, set_method, set_parameters
from tabprotect.engine.project.verbs.table_verbs import open_table, tabulate
from tabprotect.engine.register.people.counts_and_magnitudes import known_beside

FIRMS = """nace,region,ent,turnover
10,N,a,900
10,N,b,60
10,N,c,40
10,S,d,30
10,S,e,25
10,S,f,35
20,N,a,70
20,N,g,66
20,N,h,64
20,S,i,12
20,S,k,11
20,S,l,14
30,N,m,44
30,N,o,43
30,N,p,50
30,S,q,21
30,S,r,22
30,S,s,23
"""


@pytest.fixture
def firms(tmp_path: Path) -> Path:
    path = tmp_path / "firms.csv"
    path.write_text(FIRMS)
    return path


def steps(*orders: object, history: History | None = None) -> History:
    history = history or History()
    for order in orders:
        history, _ = history.do(order)  # type: ignore[arg-type]
    return history


def tabulated(firms: Path) -> History:
    given = {"by": ["nace", "region"], "measure": "turnover", "holding": "ent"}
    return steps(tabulate(source=str(firms), **given), set_rules(rules=["p=10"]))  # type: ignore[arg-type]


def hidden_of(project: Project) -> list[dict[str, str]]:
    release = project.magnitude_release
    assert release is not None
    table = release.magnitude_table
    return [table.index(n) for n in table.hidden.nonzero()[0].tolist()]


def test_rules_methods_and_results_are_steps_that_can_be_undone(firms: Path) -> None:
    history = steps(protect(), history=tabulated(firms))
    done = history.project.protected_magnitudes
    assert done is not None and done.record.primary.sum() == 1
    assert {"nace": "10", "region": "N"} in hidden_of(history.project)
    changed = steps(set_rules(rules=["p=10", "n=4"]), history=history)
    assert changed.project.protected_magnitudes is None
    back, changes = changed.undo()
    assert back.project.protected_magnitudes is done and "release" in changes
    noisy = steps(set_method(method="multiplicative_noise"), set_parameters(least=0.1), history=history)
    assert dict(noisy.project.parameters) == {"least": 0.1}
    with pytest.raises(ParameterError):
        steps(set_parameters(least=0.9), history=noisy)
    with pytest.raises(InputError, match="none of sums"):
        set_rules(rules=["p=10"]).run(Project())


def test_a_saved_project_is_the_same_project(firms: Path, tmp_path: Path) -> None:
    history = steps(protect(), history=tabulated(firms))
    path = tmp_path / "p.tabprotect"
    storage.save(history, path)
    opened = storage.load(path)
    rows = opened.project.magnitudes.table.rows  # type: ignore[union-attr]
    # What rules go by is the measure itself, and not another variable of equal values.
    assert rows.shadow is rows.own and rows.cost is rows.own
    assert hidden_of(opened.project) == hidden_of(history.project)
    assert storage.to_bytes(opened) == storage.to_bytes(history)
    assert steps(protect(), history=opened).project.protected_magnitudes is not None


def test_a_recipe_publishes_what_the_command_line_publishes(
    firms: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RefusedError):
        steps(
            set_parameters(choice="cheapest"),
            protect(),
            publish(release=str(tmp_path / "no.zip")),
            history=tabulated(firms),
        )
    out, dossier = tmp_path / "r.zip", tmp_path / "d.zip"
    statuses = tmp_path / "given.hst"
    statuses.write_text("30;S;p\n")
    told_so = {
        "choice": "cheapest",
        "statuses": str(statuses),
        "zeros": "5",
        "missing": "safe",
        "publish": "n,mean",
    }
    history = steps(
        set_parameters(**told_so),
        protect(),
        publish(release=str(out), dossier=str(dossier), accept="seen", no_page=True),
        history=tabulated(firms),
    )
    assert history.project.published and history.undo_label == ""
    recipe = tmp_path / "recipe.toml"
    said = recipe_text.to_text(history.trail, seeds=False)
    recipe.write_text(said.replace('do = "protect"', 'do = "protect"\naccept = "seen"'))
    (tmp_path / "again").mkdir()
    _, written = replay.run_file(recipe, tmp_path / "again")
    table = tmp_path / "t.parquet"
    asked = ["--by", "nace,region", "--measure", "turnover", "--holding", "ent"]
    assert main(["tabulate", str(firms), *asked, "--out", str(table)]) == 0
    told = ["--rule", "p=10", "--accept", "seen", "--no-page", "--register", "none", "--json"]
    told += ["--publish", told_so.pop("publish")]
    told += [word for name, value in told_so.items() for word in ("--set", f"{name}={value}")]
    cli = tmp_path / "cli.zip"
    capsys.readouterr()
    assert main(["protect", str(table), *told, "--out", str(cli)]) == 0
    assert json.loads(capsys.readouterr().out)["primary"] == 1
    assert out.read_bytes() == cli.read_bytes() and public.read(cli).magnitude_table.means is not None
    words = protect_words(history.project)
    assert words[words.index("--publish") + 1] == "n,mean" and "zeros=5" in words
    # It left before: that alone is stated besides.
    assert (
        public.read(written[0]).magnitude_table.value.tolist()
        == public.read(cli).magnitude_table.value.tolist()
    )
    reader = steps(open_bundle(path=str(out))).project
    assert reader.kind == "reader" and hidden_of(reader) == hidden_of(history.project)
    house = steps(open_table(source=str(table))).project
    assert house.magnitudes is not None and house.original.total == 18


@pytest.mark.parametrize(
    "chosen",
    [
        [set_parameters(choice="cheapest")],
        [set_method(method="cell_key")],
        [set_method(method="multiplicative_noise"), set_parameters(least=0.001, most=0.01)],
    ],
)
def test_a_reason_for_publishing_again_accepts_nothing(
    firms: Path, tmp_path: Path, chosen: list[object]
) -> None:
    history = steps(*chosen, protect(), history=tabulated(firms))
    with pytest.raises(RefusedError):
        steps(publish(release=str(tmp_path / "r.zip"), again="every year"), history=history)
    assert not (tmp_path / "r.zip").exists()


def test_a_reason_for_publishing_again_answers_for_no_failed_verdict_of_counts(
    firms: Path, tmp_path: Path
) -> None:
    """Changed counts are not weighed with sums of the same records: for that alone it answers."""
    firms.write_text(FIRMS + "40,N,t,31\n40,S,u,30\n40,S,v,29\n")
    sums = steps(set_method(method="multiplicative_noise"), protect(), history=tabulated(firms))
    steps(publish(release=str(tmp_path / "sums.zip"), accept="looked at"), history=sums)
    counts = steps(
        tabulate(source=str(firms), by=["nace", "region"]),
        set_method(method="discrete_laplace"),
        set_parameters(epsilon=14.0),
        protect(draft=True),
    )
    protected = counts.project.protected
    assert protected is not None and protected.verdict.passed is False
    assert not known_beside(protected.record.problem.table, protected.release.tables)
    with pytest.raises(RefusedError):
        steps(publish(release=str(tmp_path / "c.zip"), again="every year"), history=counts)
    assert not (tmp_path / "c.zip").exists()


def cells_of(history: History) -> dict[tuple[tuple[str, str], ...], tuple[int, int, int]]:
    table = history.project.magnitudes.table  # type: ignore[union-attr]
    cells = table.cells
    return {
        tuple(sorted(table.index(n).items())): (
            int(cells.value[n]),
            int(cells.units[n]),
            int(cells.holdings[n]),
        )
        for n in range(len(cells))
    }


def test_variables_are_changed_as_if_the_records_had_been_coded_so(firms: Path, tmp_path: Path) -> None:
    """Merged, renamed, left out, reordered, grouped, counted at a level: contributors counted anew."""
    coded = tmp_path / "coded.csv"
    lines = (line for line in FIRMS.splitlines() if not line.startswith("30,N"))
    text = "\n".join(lines).replace("\n10,", "\nlow,").replace("\n20,", "\nlow,")
    coded.write_text(text.replace("nace", "branch").replace(",N,", ",North,") + "\n")
    given = {"by": ["branch", "region"], "measure": "turnover", "holding": "ent"}
    wanted = cells_of(steps(tabulate(source=str(coded), **given)))  # type: ignore[arg-type]
    history = tabulated(firms)
    for name, arguments in (
        ("map_categories", {"variable": "nace", "mapping": {"10": "10", "20": "10", "30": "30"}}),
        ("rename_category", {"variable": "nace", "category": "10", "to": "low"}),
        ("rename_category", {"variable": "region", "category": "N", "to": "North"}),
        ("reorder_categories", {"variable": "region", "categories": ["S", "North"]}),
        ("rename_variable", {"variable": "nace", "to": "branch"}),
    ):
        history, _ = history.apply(name, arguments)
        assert history.project.magnitudes is not None and history.project.protected is None
    found = cells_of(history)
    # The contributor of 10 and 20 in the north counts once: a, with 900 and 70.
    north = (("branch", "low"), ("region", "North"))
    assert found[north] == wanted[north] == (1200, 6, 5)
    assert history.project.original.total == 18
    grouped, _ = history.apply(
        "group_categories", {"variable": "branch", "level": "all", "groups": {"every": ["low", "30"]}}
    )
    assert cells_of(grouped)[("branch@all", "every"), ("region", "S")] == (193, 9, 9)
    coarse, _ = grouped.apply("take_level", {"variable": "branch", "level": "all"})
    assert cells_of(coarse)[("branch", "every"), ("region", "S")] == (193, 9, 9)
    left = history.apply("map_categories", {"variable": "branch", "mapping": {"30": ""}})[0]
    assert cells_of(left)[("branch", "Total"), ("region", "Total")] == (1327, 12, 11)
    every = {"level": "all", "groups": {"every": ["10", "20", "30"]}}
    assert unsafe_at_level(tabulated(firms).project, "nace", "all", every) == (1, 0)
    with pytest.raises(InputError, match="those of its records"):
        history.apply("set_count", {"index": [0, 0], "count": 3})
