"""Several tables of the same records, protected as one from the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import tabprotect as tp
from tabprotect.cli.main import main
from tabprotect.engine.attack import chain
from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.set_bundles import common_cells, verify_set
from tabprotect.engine.bundle.signature import new_key
from tabprotect.engine.bundle.staff.confidential import read as read_dossier
from tabprotect.engine.errors import BundleError, ParameterError
from tabprotect.engine.posterior.factors import chain_posterior
from tabprotect.engine.project.history import History
from tabprotect.engine.project.verbs.publish_verbs import publish
from tabprotect.engine.project.verbs.release_verbs import protect, set_method, set_parameters
from tabprotect.engine.project.verbs.table_verbs import open_table
from tabprotect.engine.tables.publication_set import PublicationSet
from tabprotect.engine.tables.table import Table

TABLES = {"places": "geo*sex", "ages": "geo@n2*age@band4", "coast": "geo@coast*sex + geo@n1*age"}
LEVELS = ["--levels", "n1,n2,n3=geo", "--band", "age:2", "--band", "age:4"]


@pytest.fixture(autouse=True)
def _short_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    # How well a drawn posterior is known is the verdict's matter: here any verdict is accepted.
    for name, few in (("ROUNDS", 1), ("DIRECTIONS", 100), ("SWEEPS", 100)):
        monkeypatch.setattr(chain_posterior, name, few)
    monkeypatch.setattr(chain, "MOST_CELLS", 0)


@pytest.fixture
def records(tmp_path: Path) -> Path:
    generator = np.random.default_rng(4)
    path = tmp_path / "people.csv"
    lines = ["n1,n2,n3,sex,age,k"]
    for _ in range(900):
        n3 = str(generator.choice(["A11", "A12", "A21", "B11", "B12"]))
        age, key = int(generator.integers(0, 12)), round(float(generator.random()), 6)
        lines.append(f"{n3[0]},{n3[:2]},{n3},{generator.choice(['f', 'm'])},{age},{key}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def project(records: Path, tmp_path: Path) -> Path:
    """The records counted, with a grouping across the tree."""
    from tabprotect.engine.project.saving import storage
    from tabprotect.engine.project.verbs.level_verbs import group_categories
    from tabprotect.engine.project.verbs.table_verbs import tabulate

    order = tabulate(
        source=str(records), by=["sex", "age"], record_key="k",
        bands={"age": [2, 4]}, levels={"geo": ["n1", "n2", "n3"]},
    )  # fmt: skip
    history, _ = History().do(order)
    coast = {"sea": ["A11", "A21", "B11"], "land": ["A12", "B12"]}
    history, _ = history.do(group_categories(variable="geo", level="coast", groups=coast))
    storage.save(history, tmp_path / "p.tabprotect")
    return tmp_path / "p.tabprotect"


def words(source: Path, out: Path, *more: str) -> list[str]:
    tables = [w for name, formula in TABLES.items() for w in ("--table", f"{name}={formula}")]
    common = ["--register", "none", "--no-page", "--out", str(out)]
    return ["protect-set", str(source), *tables, *more, *common]


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("cell_key", ["--set", "D=3", "--set", "V=2"]),
        ("suppression", []),
        ("cyclic_perturbation", ["--keep", "geo@n2:sex + geo@coast + age@band4"]),
        ("publish_margins", []),
        ("publish_margins", ["--set", "then=random_rounding base=3"]),
    ],
)
def test_a_set_from_one_run(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], method: str, given: list[str]
) -> None:
    out, dossier = tmp_path / "set", tmp_path / "d.zip"
    line = words(project, out, "--method", method, *given, "--accept", "a trial", "--json")
    assert main([*line, "--dossier", str(dossier)]) == 0
    data = json.loads(capsys.readouterr().out)
    found = verify_set(out)
    assert found.fingerprint == data["fingerprint"] and found.common_cells == data["common_cells"]
    assert set(found.tables.formulas) == set(TABLES) == set(data["tables"])
    if method in ("cyclic_perturbation", "publish_margins"):
        (release,) = found.releases.values()
        assert set(found.releases) == {"all"}
        published = [p.table.domain.names for p in release.tables]
        whole = found.tables.whole
        assert all(any(whole.determines(p, m) for p in published) for m in whole.margins)
    else:
        assert set(found.releases) == set(TABLES)
        for name, publication in found.tables.tables.items():
            names = {p.table.domain.names for p in found.releases[name].tables}
            assert names == set(publication.margins)
            # Each bundle stands alone.
            public.read(out / f"{name}.zip")
        assert found.common_cells > 0
    whole = not data["verdict"]["left_out"]
    assert main(["verify", str(out), "--quick"]) == (0 if whole else 7)
    assert read_dossier(dossier).release.tables
    # Who lives at the coast less the groups of n2 inside it.
    slivers = {(s["group"], tuple(s["left"])) for s in data["slivers"]}
    assert ("geo@n1: A", ("A12",)) not in slivers
    assert any((s["variable"] == "geo" and s["over"] == ["sex"]) or not s["over"] for s in data["slivers"])


def test_records_are_counted_once_with_levels(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "set.toml").write_text('[tables]\na = "geo*sex"\nb = "geo@n2*age@band4"\n')
    out = tmp_path / "set"
    line = ["protect-set", str(records), *LEVELS, "--record-key", "k", "--tables",
            str(tmp_path / "set.toml"), "--method", "cell_key", "--set", "D=3", "--set", "V=2",
            "--accept", "a trial", "--register", "none", "--no-page", "--out", str(out)]  # fmt: skip
    assert main(line) == 0
    assert "cells, " in capsys.readouterr().out
    before = verify_set(out)
    assert before.tables.domain["geo@n2"].categories == ("A1", "A2", "B1")
    # The same again gives the same bytes; a changed bundle is found.
    first = {p.name: p.read_bytes() for p in out.iterdir()}
    assert main(line) == 0
    assert first == {p.name: p.read_bytes() for p in out.iterdir()}
    shutil.copy(out / "a.zip", out / "b.zip")
    with pytest.raises(BundleError, match=r"b\.zip was changed"):
        verify_set(out)
    assert main(["verify", str(out)]) == 6


def test_files_must_agree_on_common_cells(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "same.csv").write_text("x,count\nf,1\nm,1\n")
    assert main(words(project, tmp_path / "set", "--method", "coarsening")) != 0
    capsys.readouterr()
    other = tmp_path / "sex.csv"
    other.write_text("sex,count\nf,1\nm,899\n")
    line = words(project, tmp_path / "set", "--method", "small_count_rounding")
    line.insert(2, str(other))
    assert main(line) == 3
    assert "cells are counted otherwise" in capsys.readouterr().err
    assert not (tmp_path / "set").exists()


def test_files_that_share_margins_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("jobs.csv").write_text("sex,job,count\nf,x,5\nf,y,9\nm,x,1\nm,y,7\n")
    Path("ages.csv").write_text("age,sex,count\n0,m,3\n1,m,5\n0,f,12\n1,f,2\n")
    line = ["protect-set", "jobs.csv", "ages.csv", "--register", "none", "--no-page"]
    line += ["--accept", "a trial"]
    given = ["--method", "suppression", "--out", "set", "--dossier", "d.zip"]
    assert main([*line, *given]) == 0
    found = verify_set(Path("set"))
    assert dict(found.tables.formulas) == {"jobs": "sex*job", "ages": "age*sex"}
    # sex, its total: in both.
    assert found.common_cells == 3
    published = {p.table.domain.names for p in found.releases["ages"].tables}
    assert published == {("sex", "age"), ("sex",), ("age",), ()}
    capsys.readouterr()
    assert main([*line, "--method", "cyclic_perturbation", "--out", "no"]) == 3
    assert "no file holds them all" in capsys.readouterr().err
    assert main([*line, *given[:2], "--out", "no", "--table", "x=age*job"]) == 3
    assert "x: no file holds job × age" in capsys.readouterr().err
    assert not Path("no").exists()


def test_slivers_against_the_definition(project: Path) -> None:
    from tabprotect.engine.project.saving import storage

    table = storage.load(project).project.original
    chosen = PublicationSet(table.domain, TABLES)
    found = chosen.slivers(table, (1, 2))
    by = {(s.group, s.less): s for s in found}

    groups = table.domain["geo"].named
    for (group, less), sliver in by.items():
        wide_name, _, wide = group.partition(": ")
        held = {
            c
            for c, g in zip(table.domain["geo"].categories, groups[wide_name].groups, strict=True)
            if g == wide
        }
        inside = set()
        for one in less:
            narrow_name, _, narrow = one.partition(": ")
            part = {
                c
                for c, g in zip(table.domain["geo"].categories, groups[narrow_name].groups, strict=True)
                if g == narrow
            }
            assert part <= held
            inside |= part
        assert set(sliver.left) == held - inside
        cells = table.margin(["geo", *sliver.over])
        codes = [cells.domain["geo"].code(c) for c in sliver.left]
        sums = np.moveaxis(cells.counts, cells.domain.axis("geo"), 0)[codes].sum(axis=0)
        assert sliver.at_risk == int(((sums >= 1) & (sums <= 2)).sum())
    assert found
    # The same set, published before by other groups of the same name.
    geo = table.domain["geo"]
    moved = geo.grouped(*(type(g)(g.name, g.groups[:1] * 2 + g.groups[2:]) if g.name == "coast" else g for g in geo.coarser), finest=geo.finest)  # fmt: skip
    earlier = PublicationSet(table.domain.with_variable(moved), TABLES)
    more = chosen.slivers(table, (1, 2), [earlier])
    assert len(more) > len(found) and any(
        "earlier set 1" in s.group or "earlier set 1" in " ".join(s.less) for s in more
    )


def test_common_cells_that_differ_are_named(project: Path) -> None:
    from tabprotect.engine.project.saving import storage
    from tabprotect.engine.release.mechanism import Mechanism
    from tabprotect.engine.release.release import Release

    table = storage.load(project).project.original.margin(["geo"])
    changed = Table.dense(table.domain, table.counts + np.array([1, 0, 0, 0, 0]))
    one, two = (Release.of(t, Mechanism("cell_key", t.domain, {})) for t in (table, changed))
    assert common_cells({"a": one, "b": one}) == 5
    with pytest.raises(BundleError, match=r"a and b differ at \(A11\)"):
        common_cells({"a": one, "b": two})


def test_a_set_is_verified_by_its_signer_and_keeps_the_dossier_of_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, dossier = tmp_path / "set", tmp_path / "d.zip"
    keys = [tmp_path / name for name in ("one.key", "two.key", "other.key")]
    first, second, other = map(new_key, keys)
    line = ["protect-set", "example:czech-autoworkers", "--method", "random_rounding",
            "--table", "one=A*B", "--table", "two=B*C", "--register", "none", "--accept", "a trial",
            "--no-page", "--out", str(out), "--dossier", str(dossier)]  # fmt: skip
    assert main([*line, "--sign", str(keys[0]), "--sign", str(keys[1])]) == 0
    kept = dossier.read_bytes()
    capsys.readouterr()
    check = ["verify", str(out), "--quick", "--json"]
    whole = main([*check, "--signer", first])
    said = json.loads(capsys.readouterr().out)
    assert said["signers"] == sorted([first, second])
    assert whole == (7 if said["left_out"] else 0)
    assert main([*check, "--signer", other]) == 6
    assert f"it is not signed by {other}" in capsys.readouterr().err
    assert main([*check, "--fingerprint", "0" * 64]) == 6
    assert "another bundle than the one that was announced" in capsys.readouterr().err
    # Without its dossier a release could never be accounted for: that of the first stays.
    assert main([*line, "--fresh"]) == 0
    assert (tmp_path / "d-1.zip").read_bytes() == kept != dossier.read_bytes()


def test_the_words_of_a_published_set_publish_it_again(tmp_path: Path) -> None:
    history, _ = History().do(open_table(source="example:czech-autoworkers"))
    chosen = PublicationSet(history.project.original.domain, {"one": "A*B", "two": "B*C"})
    for order in (
        set_method(method="random_rounding"),
        # The coins of the house follow from the text, which protect-set writes so.
        set_parameters(margins=chosen.formula),
        protect(accept="a trial"),
        publish(release=str(tmp_path / "set"), tables=dict(chosen.formulas)),
    ):
        before = history
        history, _ = history.do(order, register="none")
    words = order.words(before.project)
    assert words[0] == "protect-set" and not any(word.startswith("margins=") for word in words)
    again = tmp_path / "again"
    words[words.index("--out") + 1] = str(again)
    words[words.index("--dossier") + 1] = str(tmp_path / "d.zip")
    assert main([*words, "--register", "none"]) == 0
    for path in (tmp_path / "set").iterdir():
        assert path.read_bytes() == (again / path.name).read_bytes()


def test_small_counts_of_the_tables_asked_for_take_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, dossier = tmp_path / "set", tmp_path / "d.zip"
    tables = ["--table", "a=party*age", "--table", "b=age*sex"]
    line = ["protect-set", "example:langsrud-lupp", *tables, "--method", "cyclic_perturbation"]
    line += ["--set", "blocking=negative", "--register", "none", "--no-page", "--out", str(out)]
    line += ["--dossier", str(dossier)]
    assert main([*line, "--json"]) == 5
    error = json.loads(capsys.readouterr().out)["error"]
    assert "1 of 1 small counts of age × sex is published as it is: B, young: 1" in error["message"]
    *fewer, other, decided = error["suggestions"]
    assert len(fewer) == 2 and "blocking=exchange" in fewer[0] and "cycles=triangular" in fewer[1]
    assert "--method suppression" in other and decided.endswith("--kept-small keep") and not out.exists()
    assert main([*line, "--kept-small", "keep"]) == 0
    assert any(one.endswith("decided for this release") for one in read_dossier(dossier).record.decisions)
    line = [str(tmp_path / "again") if one == str(out) else one for one in line]
    reason = "agreed with the board"
    assert main([*line, "--accept", reason]) == 0
    decisions = read_dossier(dossier).record.decisions
    assert any(reason in one and "as they are" in one for one in decisions)


@pytest.mark.parametrize("first", [True, False])
def test_a_set_of_magnitudes_is_refused(
    first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.csv").write_text("a,b,x\n" + "".join(f"{n % 2},{n % 3},{n + 1}\n" for n in range(24)))
    for name, more in (("m.parquet", ["--measure", "x"]), ("n.csv", [])):
        assert main(["tabulate", "f.csv", "--by", "a,b", "--out", name, *more]) == 0
    sources = ["m.parquet", "n.csv"] if first else ["n.csv", "m.parquet"]
    assert main(["protect-set", *sources, "--out", "set"]) == 4
    assert "tables: totals and levels of a magnitude" in capsys.readouterr().err
    with pytest.raises(ParameterError, match="tables"):
        tp.protect_set({name: tp.read_table(name) for name in sources})
    assert not Path("set").exists()


def test_men_women_and_all_are_one_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of two files, of one table with the variable, and in the library: the same three tables."""
    counts = {"m": [[14, 9, 23], [31, 12, 8]], "f": [[15, 25, 9], [7, 11, 13]]}
    for sex, rows in counts.items():
        lines = [f"r{i},c{j},{n}" for i, row in enumerate(rows) for j, n in enumerate(row)]
        (tmp_path / f"{sex}.csv").write_text("\n".join(["r,c,count", *lines]) + "\n")
    lines = [
        f"r{i},c{j},{sex},{n}"
        for sex, rows in counts.items()
        for i, row in enumerate(rows)
        for j, n in enumerate(row)
    ]
    (tmp_path / "both.csv").write_text("\n".join(["r,c,sex,count", *lines]) + "\n")
    rest = ["--by", "sex", "--method", "suppression", "--no-page", "--register", "none"]
    parts = [str(tmp_path / f"{sex}.csv") for sex in counts]
    for number, files in enumerate((parts, [str(tmp_path / "both.csv")])):
        assert main(["protect-set", *files, *rest, "--out", str(tmp_path / f"set{number}")]) == 0
        found = verify_set(tmp_path / f"set{number}")
        assert set(found.tables.formulas) == {"all", "all-by-sex"}
        (release,) = found.releases.values()
        by_names = {one.table.domain.names: one.table for one in release.tables}
        assert by_names["r", "c", "sex"].counts[..., 1].tolist() == counts["f"]
        assert by_names["r", "c"].total == 177
    capsys.readouterr()
    tables = {sex: tp.read_table(tmp_path / f"{sex}.csv") for sex in counts}
    own = tp.protect_set(tables, method="suppression", by="sex").release
    assert {one.table.domain.names for one in own.tables} == set(by_names)
    both = tp.protect_set(tp.read_table(tmp_path / "both.csv"), method="suppression", by="sex").release
    assert both.tables[0].table.counts.tolist() == own.tables[0].table.counts.tolist()
    assert (
        main(["protect-set", str(tmp_path / "both.csv"), "--by", "age", "--out", str(tmp_path / "no")]) == 4
    )
    assert "no variable 'age'" in capsys.readouterr().err
    (tmp_path / "f.csv").write_text("r,d,count\nr0,d0,9\n")
    assert main(["protect-set", *parts, *rest, "--out", str(tmp_path / "no")]) == 3
    assert not (tmp_path / "no").exists()


def test_keys_that_are_taken_for_counts_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"r{n % 3},{'mf'[n % 2]},{n * 7919 % 1000003}" for n in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(["region,sex,k", *rows]) + "\n")
    words = [
        "protect-set",
        str(tmp_path / "people.csv"),
        "--table",
        "a=region*sex",
        "--method",
        "suppression",
    ]
    words += ["--no-page", "--register", "none", "--out", str(tmp_path / "set")]
    assert main(words) == 3 and "--record-key NAME" in capsys.readouterr().err
    assert main([*words, "--record-key", "k"]) == 0
