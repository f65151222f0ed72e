"""The mutation run: what it changes, which tests it runs, and that it says what survives."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def mutants() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "tests" / "mutants.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a < b", ["(a <= b)"]),
        ("a is None", ["(a is not None)"]),
        ("a < b == c", ["(a <= b == c)", "(a < b != c)"]),
        ("a and b", ["(a or b)"]),
        ("not a", ["(a)"]),
        ("a - b", ["(a + b)"]),
        ("a | b", ["(a & b)"]),
        ("'a' + b", []),
        ("f(a, b, c=d)", ["f(b, c=d)", "f(a, c=d)", "f(a, b)"]),
        ("{'a': b, **c}", ["{**c}", "{'a': b}"]),
        ("f'{a + b}'", []),
        ("x: int | None = (a >\n b)", ["x: int | None = ((a >= b))"]),
        ("def f(a: g(b) = c < d) -> e(f): pass", ["def f(a: g(b) = (c <= d)) -> e(f): pass"]),
        ("'é', a * b", ["'é', (a + b)"]),
    ],
)
def test_one_operator_argument_or_entry_is_changed(
    mutants: ModuleType, text: str, expected: list[str]
) -> None:
    found = [m.applied(text) for m in mutants.mutants_of("file.py", text)]
    assert sorted(found) == sorted(expected)


def test_every_mutant_is_a_program_of_its_own(mutants: ModuleType) -> None:
    path = "tabprotect/gui/pages/release/page.py"
    text = (ROOT / path).read_text()
    found = mutants.mutants_of(path, text)
    # A call of the page that says less is among them, as were the faults planted by hand.
    called = [n for n in mutants.expressions(ast.parse(text)) if isinstance(n, ast.Call)]
    with_keywords = {ast.get_source_segment(text, n) for n in called if n.keywords}
    assert with_keywords and with_keywords <= {m.before for m in found}
    for mutant in found[::20]:
        changed = mutant.applied(text)
        assert changed != text
        compile(changed, path, "exec")


def test_a_sample_is_the_same_for_the_same_seed(mutants: ModuleType) -> None:
    scope = ["tabprotect/gui/pages/protect"]
    first, again, other = (mutants.sampled(ROOT, scope, 50, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert len({str(m) for m in first}) > 40


def test_the_nearest_tests_come_first(mutants: ModuleType) -> None:
    near, far = mutants.suites(ROOT, "tabprotect/gui/pages/release/page.py")
    assert near and all(name.startswith("tests/gui/pages/release/") for name in near)
    assert "tests/gui/test_new_statistician.py" in far and not set(near) & set(far)


def test_what_survives_is_said_and_the_checkout_stays(
    mutants: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "source"
    files = {
        "tabprotect/__init__.py": "",
        "tabprotect/gui/pages/sums/page.py": (
            "def at_least(a, b):\n    return a >= b\n\n\ndef more(a, b):\n    return a > b\n"
        ),
        "tests/gui/pages/sums/test_sums.py": (
            "from tabprotect.gui.pages.sums.page import at_least, more\n\n\n"
            "def test_sums():\n    assert at_least(1, 1) and more(2, 1)\n"
        ),
        "resources/text": "",
    }
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    (tmp_path / "copy").mkdir()
    copied = mutants.Copy.made(source, tmp_path / "copy", 60.0)
    chosen = mutants.sampled(source, ["tabprotect/gui/pages"], 10, 1)
    results = tmp_path / "results.jsonl"
    verdicts = mutants.run(chosen, copied, results)
    assert {m.line: v for m, v in verdicts.items()} == {2: "killed", 6: "survived"}
    assert "page.py:6: a > b  ->  (a >= b)" in capsys.readouterr().out
    for name, text in files.items():
        assert (source / name).read_text() == text
    # A run that goes on tries nothing twice: there is no tree here that could be tested.
    gone = mutants.Copy(tmp_path / "nowhere", 1.0)
    assert mutants.run(chosen, gone, results) == verdicts
