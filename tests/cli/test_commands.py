"""Every command: its output, its exit codes, and nothing but JSON where JSON is asked for."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tabprotect import version
from tabprotect.cli import main as main_module
from tabprotect.cli.data import describe
from tabprotect.cli.data import open as open_command
from tabprotect.engine.cycles.designs import DESIGNS
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.project.examples import examples
from tabprotect.engine.project.plugin_pages import registries
from tabprotect.engine.protection.registered import methods
from tabprotect.version import KERNELS, __version__

Run = Callable[..., Any]

TABPROTECT = [sys.executable, "-m", "tabprotect.cli.main"]


HARDLY_A_MOVE = ["--set", "alpha=0.001", "--set", "beta=0.001", "--seed", "1"]
"""What such a release publishes is the original, and readers know it."""


def test_examples_and_describe(run: Run) -> None:
    listed = run("examples", "--json").json["examples"]
    assert [e["name"] for e in listed] == [e.name for e in examples()]
    assert "example:czech-autoworkers" in run("examples").out
    found = run("describe", "--json").json
    (method,) = [m for m in found["methods"] if m["name"] == "cyclic_perturbation"]
    assert {"cycles", "alpha", "beta", "passes", "blocking"} <= {p["name"] for p in method["parameters"]}
    assert {m["name"] for m in found["methods"]} == {*methods(), *methods("magnitudes")}
    assert method["guarantees"]["margins_kept"] and found["version"] == __version__
    assert {d["name"] for d in found["cycle_designs"]} == set(DESIGNS)
    assert "alpha" in run("describe").out
    for name, each in methods().items():
        page = run("describe", name).out
        assert page.startswith(f"# {each.label} (`{name}`)")
        assert all(f"- `{p.name}`: " in page for p in each.parameters)
    for kind in registries().values():
        for name, plugin in kind.items():
            assert f"# {plugin.label} (`{plugin.name}`)\n" in run("describe", name).out
    assert run("describe", "tcap", "--json").json["noun"] == "risk"
    assert "did you mean share_known?" in run("describe", "share_knwon").err
    unknown = run("describe", "nothing")
    assert unknown.code == 4 and "'tabprotect describe' lists all" in unknown.err


def test_tabulate(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "people.csv"
    source.write_text("sex,area,w\nf,n,2\nm,n,1\nf,s,1\nf,n,3\n")
    out = tmp_path / "t.csv"
    found = run("tabulate", source, "--by", "sex,area", "--out", out, "--json")
    assert found.code == 0 and found.json["total"] == 4 and found.json["shape"] == [2, 2]
    assert read_table(out).table.counts.tolist() == [[2, 1], [1, 0]]
    run("tabulate", source, "--by", "sex", "--weight", "w", "--out", out)
    # One variable is a margin, not yet a table for cycles; its counts are right all the same.
    assert out.read_text() == "sex,count\nf,6\nm,1\n"
    wrong = run("tabulate", source, "--by", "sex,aera", "--out", out, "--json")
    assert wrong.code == 3 and "area" in json.dumps(wrong.json["error"])


def test_design_and_check(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "cycles.json"
    made = run("cycles", "design", "--shape", "4,4", "--kind", "bidiagonal", "--out", out, "--json")
    assert made.code == 0 and made.json["cycles"] == 4
    assert set(json.loads(out.read_text())) == {"variables", "shape", "cycles"}
    found = run("cycles", "check", out, "--json").json
    assert found["preserves_margins"] is True and found["violations"] == []
    figures = ("coverage_min", "coverage_max", "rank", "dimension", "distinct_outcomes", "width")
    assert [found[k] for k in figures] == [2, 2, 3, 9, 65, 2]
    assert "blocked_share" not in found
    on = run("cycles", "check", out, "--table", "example:sparse-10x10", "--json")
    assert on.code == 3 and "4 x 4" in on.json["error"]["message"]
    on = run("cycles", "check", out, "--table", "example:duncan-roehrig-4x4", "--json").json
    assert on["blocked_share"] == 0.0 and on["immovable_cells"] == []
    data = json.loads(out.read_text())
    data["cycles"][0]["plus"].pop()
    out.write_text(json.dumps(data))
    broken = run("cycles", "check", out, "--json")
    assert broken.code == 0 and broken.json["preserves_margins"] is False
    assert {v["amount"] for v in broken.json["violations"]} == {-1}
    people = run("cycles", "check", out)
    assert people.out.startswith("BAD")


def test_design_variants(run: Run, tmp_path: Path) -> None:
    bare = run("cycles", "design", "--shape", "2x3")
    assert bare.code == 0 and bare.json["shape"] == [2, 3]
    named = run("cycles", "design", "--table", "example:langsrud-lupp", "--kind", "balanced").json
    assert len(named["variables"]) == 3 and named["variables"] != ["A", "B", "C"]
    fewer = run("cycles", "design", "--shape", "3,3,3", "--keep-order", 1).json
    assert fewer["margins"] == [["A"], ["B"], ["C"]]
    claimed = run("cycles", "design", "--shape", "3,3,3", "--margins", "A,B", "C").json
    assert claimed["margins"] == [["A", "B"], ["C"]]
    beyond = run("cycles", "design", "--shape", "3,3,3", "--keep-order", 1, "--margins", "A,B")
    assert beyond.code == 3
    matrix = tmp_path / "c.mat"
    run("cycles", "design", "--shape", "2,2", "--kind", "elementary", "--out", matrix)
    assert matrix.read_text() == "1 4\n1 -1 -1 1\n"
    for kind in DESIGNS:
        assert run("cycles", "design", "--shape", "4,6", "--kind", kind).code == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["protect"], 2),
        (["dance"], 2),
        (["cycles"], 2),
        (["cycles", "design"], 2),
        (["cycles", "design", "--shape", "4,x"], 2),
        (["cycles", "design", "--shape", "4,4", "--table", "x.csv"], 2),
        (["protect", "example:langsrud-lupp", "--out", "r.zip", "--set", "alpha"], 2),
        (["protect", "example:langsrud-lupp", "--out", "r.zip", "--seed", "x"], 2),
        (["protect", "example:langsrud-lupp", "--out", "r.zip", "--dossier", "r.zip"], 2),
        ([*("protect", "example:langsrud-lupp", "--out", "r.zip"), *(["--set", "alpha=.1"] * 2)], 2),
        (["infer"], 2),
        (["infer", "r.zip", "--published", "t.csv"], 2),
        (["infer", "--published", "t.csv"], 2),
        (["protect", "nothing.csv", "--out", "r.zip"], 3),
        (["protect", "example:nothing", "--out", "r.zip"], 3),
        (["protect", "example:adult-census", "--out", "r.zip"], 3),
        (["protect", "example:langsrud-lupp", "--out", "none/r.zip"], 3),
        (["cycles", "check", "nothing.json"], 3),
        (["infer", "nothing.zip"], 3),
        (["verify", "nothing.zip"], 3),
        (["run", "nothing.toml", "--out", "d"], 3),
        (["tabulate", "nothing.csv", "--by", "a", "--out", "t.csv"], 3),
        (["protect", "example:langsrud-lupp", "--out", "r.zip", "--set", "alpha=2"], 4),
        (["protect", "example:langsrud-lupp", "--out", "r.zip", "--set", "alpha=0.9"], 4),
        (["protect", "example:langsrud-lupp", "--out", "r.zip", "--set", "gamma=1"], 4),
        (["protect", "example:langsrud-lupp", "--out", "r.zip", "--method", "magic"], 4),
        (["protect", "example:langsrud-lupp", "--out", "r.zip", "--seed", "-1"], 4),
        (["protect", "example:langsrud-lupp", "--out", "r.zip", "--at-risk", "many"], 4),
        (["protect", "example:langsrud-lupp", "--out", "r.zip", "--set", "cycles=spiral"], 4),
        (["cycles", "design", "--shape", "1,4"], 4),
        ([*("protect", "example:langsrud-lupp", "--out", "r.zip"), *HARDLY_A_MOVE], 5),
    ],
)
def test_exit_codes(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int
) -> None:
    monkeypatch.chdir(tmp_path)
    people = run(*words)
    # A busy machine says first how far it is.
    assert people.code == code and people.out == "" and "\nerror: " in f"\n{people.err}"
    machine = run(*words, "--json")
    assert machine.code == code
    error = machine.json["error"]
    assert error["exit_code"] == code and error["message"]
    # Whatever failed left nothing behind.
    assert list(tmp_path.iterdir()) == []


def test_all_wrong_parameters_are_named_at_once(run: Run, tmp_path: Path) -> None:
    found = run(
        *("protect", "example:langsrud-lupp", "--out", tmp_path / "r.zip", "--json"),
        *("--set", "alpha=3", "--set", "passes=0", "--set", "colour=red"),
    )
    assert set(found.json["error"]["fields"]) == {"alpha", "passes", "colour"}


def test_a_weak_mechanism_needs_the_decision(run: Run, tmp_path: Path) -> None:
    words = ["protect", "example:langsrud-lupp", *HARDLY_A_MOVE]
    refused = run(*words, "--out", tmp_path / "r.zip")
    assert refused.code == 5 and "a reader would know" in refused.err and "hint:" in refused.err
    taken = run(*words, "--out", tmp_path / "r.zip", "--accept-weak", "--json")
    assert taken.code == 0 and "no reason was given" in taken.json["decisions"][0]
    taken = run(*words, "--out", tmp_path / "r.zip", "--accept", "zq-reason", "--json")
    assert "zq-reason" in taken.json["decisions"][0] and taken.json["verdict"]["accepted"] is False
    seen = run("verify", tmp_path / "r.zip", "--json")
    assert seen.code == 0 and seen.json["verdict"]["accepted"] is False
    both = run(*words, "--out", tmp_path / "r.zip", "--accept", "x", "--accept-weak")
    assert both.code == 2


def test_the_verdict_beside_the_release(run: Run, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('attempts_at_most = 2\nshare = 0.1\nat_risk = "1..3"\n')
    words = ["protect", "example:duncan-roehrig-4x4", "--out", tmp_path / "r.zip"]
    found = run(*words, "--policy", policy, "--seed", "5", "--json").json
    verdict = found["verdict"]
    assert set(verdict) >= {
        *("at_risk", "known", "certain", "limit", "accepted", "attempts_at_most", "way"),
        *("complete", "note", "tables", "staff"),
    }
    assert set(verdict["staff"]) == {*("at_risk_cells", "known", "certain", "stuck", "mean_belief", "worst")}
    assert verdict["attempts_at_most"] == 2 and verdict["staff"]["at_risk_cells"] == 6
    assert verdict["limit"] == pytest.approx(0.1 * verdict["at_risk"])
    assert found["warnings"] == []
    judged = run("verify", tmp_path / "r.zip", "--json").json["verdict"]
    assert "staff" not in judged or judged["staff"] is None
    del verdict["staff"]
    judged.pop("staff", None)
    assert judged == verdict
    quick = run("verify", tmp_path / "r.zip", "--quick")
    assert quick.code == 0 and "--quick" in quick.out
    assert run("verify", tmp_path / "r.zip", "--quick", "--json").json["verdict"] is None
    assert run(*words, "--policy", tmp_path / "none.toml").code == 3
    policy.write_text("share = 7\n")
    assert run(*words, "--policy", policy).code == 4


def test_a_forged_bundle_is_exit_code_6(run: Run, tmp_path: Path) -> None:
    path, forged = tmp_path / "r.zip", tmp_path / "forged.zip"
    coin = "--set", "alpha=0.25", "--set", "beta=0.25"
    assert run("protect", "example:duncan-roehrig-4x4", *coin, "--out", path).code == 0
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(forged, "w") as copy:
        for name in source.namelist():
            data = source.read(name)
            copy.writestr(name, data.replace(b"0.25", b"0.30") if name == "mechanism.json" else data)
    for command in ("verify", "infer"):
        found = run(command, forged, "--json")
        assert found.code == 6 and "mechanism.json was changed" in found.json["error"]["message"]
    assert run("verify", path, "--fingerprint", "0" * 64).code == 6


def test_notes_of_the_file_and_totals(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,x,y,Total\np,5,6,11\nq,7,8,15\nTotal,12,14,26\n")
    out = tmp_path / "r.zip"
    refused = run("protect", table, "--out", out)
    assert refused.code == 3 and "--strip-totals" in refused.err
    taken = run("protect", table, "--out", out, "--strip-totals", "--json")
    assert taken.code == 0 and taken.err.startswith("note: ")


def test_cycles_from_a_file(run: Run, tmp_path: Path) -> None:
    cycles = tmp_path / "c.json"
    run("cycles", "design", "--shape", "4,4", "--kind", "elementary", "--out", cycles)
    found = run(
        *("protect", "example:duncan-roehrig-4x4", "--set", f"cycles={cycles}", "--json"),
        *("--out", tmp_path / "r.zip", "--register", "none"),
    ).json
    assert found["cycles"] == 16 and found["cycles_from"] == "c.json"
    alone = ("--out", tmp_path / "r.zip", "--register", "none")
    kept = run("protect", "example:duncan-roehrig-4x4", *alone, "--json").json
    assert kept["cycles"] == 4 and kept["cycles_from"] == "the example"


def test_help_and_version(run: Run) -> None:
    kernels = f"{len(KERNELS)} of {len(KERNELS)}"
    assert run("--version").out == f"tabprotect {__version__}\ncompiled: {kernels}\n"
    assert run("--version", "--json").json == {"version": __version__, "compiled": kernels}
    found = run("protect", "--help")
    assert found.code == 0 and "--accept-weak" in found.out


def test_the_unforeseen_never_quotes_the_data(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> object:
        raise ValueError(f"count {4700 + 11} is odd")

    monkeypatch.setattr(describe, "examples", broken)
    found = run("examples")
    assert found.code == 1 and "ValueError" in found.err and "Traceback" not in found.err
    debugged = run("examples", "--debug", "--json")
    assert "broken" in debugged.json["error"]["detail"]
    assert "4711" not in found.err + debugged.err + debugged.out


def test_interrupting(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(describe, "examples", interrupted)
    found = run("examples", "--json")
    assert found.code == 130 and found.json["error"]["kind"] == "interrupted"


def test_without_qt_the_window_says_how_to_get_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "tabprotect.gui.frame.app", raising=False)
    monkeypatch.setitem(sys.modules, "PySide6", None)
    monkeypatch.setitem(sys.modules, "PySide6.QtCore", None)
    for words in ([], ["open", "example:langsrud-lupp"]):
        found = run(*words)
        assert found.code == 2 and "tabprotect[gui]" in found.err


def test_open_hands_the_table_to_the_window(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[list[str], dict[str, object]]] = []

    def shown(words: list[str], reading: Mapping[str, object] | None = None) -> int:
        seen.append((words, dict(reading or {})))
        return 0

    monkeypatch.setattr(main_module, "show_window", shown)
    monkeypatch.setattr(open_command, "show_window", shown)
    run()
    run("open")
    run("open", "example:langsrud-lupp")
    run("open", "table.csv", "--drop", "weight")
    assert seen == [
        ([], {}),
        ([], {}),
        (["example:langsrud-lupp"], {}),
        (["table.csv"], {"drop": ("weight",)}),
    ]


def test_a_real_process_and_a_reader_that_leaves(tmp_path: Path) -> None:
    with subprocess.Popen([*TABPROTECT, "describe"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stderr is not None
        child.stdout.close()
        assert child.stderr.read() == b""
    assert child.returncode == 1


def test_a_terminal_without_utf8(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("år,kön,count\na,b,1\na,c,2\nd,b,3\nd,c,4\n", encoding="utf-8")
    command = [*TABPROTECT, "protect", str(table), "--out", str(table.with_name("r.zip")), "--set", "år=1"]
    done = subprocess.run(
        command, capture_output=True, env=os.environ | {"PYTHONIOENCODING": "ascii"}, check=False
    )
    assert done.returncode == 4 and b"\\xe5r: unknown" in done.stderr


def test_a_real_interrupt_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "r.zip"
    command = [*TABPROTECT, "run", "recipe.toml", "--out", str(tmp_path / "out"), "--progress"]
    (tmp_path / "recipe.toml").write_text(
        'recipe = 1\n[[step]]\ndo = "open_table"\nsource = "example:social-assistance"\n'
        + '[[step]]\ndo = "set_cycles"\nkind = "elementary"\n'
        + '[[step]]\ndo = "protect"\naccept_weak = true\n' * 500
    )
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell's background job, as these tests may be, hands on that interrupts are ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as child:
        assert child.stdout is not None and child.stderr is not None
        # The first word of progress: it is at work.
        assert child.stderr.readline()
        child.send_signal(signal.SIGINT)
        said = child.stderr.read()
        assert child.stdout.read() == b""
    assert child.returncode == 130 and b"interrupted" in said
    assert not out.exists() and sorted(p.name for p in tmp_path.iterdir()) == ["recipe.toml"]


def test_what_is_read_is_never_written_over(tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    text = "r,c,count\na,x,9\na,y,8\nb,x,7\nb,y,6\n"
    source.write_text(text)
    method = ["--method", "cyclic_perturbation"]
    other = str(tmp_path / "other.zip")
    for line in (
        ["protect", str(source), *method, "--out", str(source)],
        ["protect", str(source), *method, "--out", other, "--dossier", str(source)],
        ["tabulate", str(source), "--by", "r", "--out", str(source)],
    ):
        assert main_module.main(line) == 2
        assert source.read_text() == text


def test_absurd_numbers_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main_module.main(["cycles", "design", "--shape", "100000,100000", "--kind", "strips"]) == 4
    assert "too many" in capsys.readouterr().err
    assert main_module.main(["infer", "release.zip", "--draws", "0"]) == 2


def test_a_missing_compiled_part_is_said_in_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "KERNELS", (*version.KERNELS, "engine/nowhere"))
    said = run("examples")
    assert (
        said.code == 0
        and len(said.err.splitlines()) == 1
        and "{here} of {all}".format_map(version.compiled()) in said.err
    )


def test_what_needs_a_compiled_part_that_is_not_here_names_it() -> None:
    """The command ends with an error, and so does the library."""
    code = (
        "import sys; sys.modules['tabprotect.engine.cycles.cycle_steps'] = None; "
        "sys.modules['tabprotect.engine.posterior.cell_texts'] = None; "
        "from tabprotect import version; version.KERNELS += ('engine/nowhere',); "
    )
    commands = (
        "from tabprotect.cli.main import main; sys.exit(main(['cycles', 'design', '--shape', '3,3']))",
        "import tabprotect; tabprotect.Belief",
    )
    for command in commands:
        done = subprocess.run([sys.executable, "-c", code + command], capture_output=True, text=True)
        assert done.returncode == 1 and "engine/nowhere" in done.stderr


PRINTING = """
import ctypes
from tabprotect.cli import main
from tabprotect.engine.project import examples

listed = examples.examples
examples.examples = lambda: ctypes.CDLL(None).puts(b"a banner") and listed()
main.main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the C library has another name there")
def test_what_a_native_library_prints_is_no_result() -> None:
    said = subprocess.run(
        [sys.executable, "-c", PRINTING, "examples", "--json"], capture_output=True, text=True, check=True
    )
    assert json.loads(said.stdout)["examples"] and said.stderr == "a banner\n"


def test_standard_output_that_is_closed() -> None:
    words = f"{shlex.join(TABPROTECT)} convert example:langsrud-lupp --out - >&-"
    closed = subprocess.run(words, shell=True, capture_output=True, text=True)
    assert closed.returncode == 0 and not closed.stderr
