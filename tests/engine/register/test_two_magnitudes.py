"""Two magnitudes of the same records: why no verdict is on both, against a list of all originals."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from magnitude_cases import table_of

from tabprotect.cli.main import main
from tabprotect.engine.errors import InputError
from tabprotect.engine.protection.problem import MagnitudeProblem
from tabprotect.engine.release.release import Release

TURNOVER = np.array([[30, 20], [10, 40]])
A_HEAD = 10
EMPLOYEES = TURNOVER // A_HEAD


def fitting(true: np.ndarray, *, hidden: bool) -> np.ndarray:
    """All tables, int64 (tables, 2, 2), that agree with the margins, and with what else is shown."""
    first = np.arange(min(true[0].sum(), true[:, 0].sum()) + 1)
    rest = true[1, 1] - true[0, 0] + first
    cells = [first, true[0].sum() - first, true[:, 0].sum() - first, rest]
    every = np.stack(cells, axis=1)[rest >= 0].reshape(-1, 2, 2)
    return every if hidden else every[(every == true).all(axis=(1, 2))]


@pytest.mark.parametrize(("hidden", "left"), [(False, 1), (True, 5)])
def test_what_one_magnitude_tells_of_another_follows_from_no_release(hidden: bool, left: int) -> None:
    turnover, employees = fitting(TURNOVER, hidden=True), fitting(EMPLOYEES, hidden=hidden)
    pairs = [(x, y) for x in turnover for y in employees]
    # Who knows nothing of how they go together learns nothing of the other from either.
    possible = {int(x[0, 0]) for x, _ in pairs}
    assert len(possible) == len(turnover) == 41 and len(pairs) == 41 * len(employees)
    # Who knows what is earned a head reads it off, or comes near, though the same cells are hidden.
    known = {int(x[0, 0]) for x, y in pairs if (x == A_HEAD * y).all()}
    assert len(known) == left and int(TURNOVER[0, 0]) in known


def test_a_release_of_two_magnitudes_is_refused_by_name() -> None:
    table = table_of({(i, j, f"u{i}{j}"): int(TURNOVER[i, j]) for i in (0, 1) for j in (0, 1)}, (2, 2))
    one = Release.of_magnitudes(MagnitudeProblem(table=table).published(table.cells.value), "suppression")
    with pytest.raises(InputError, match="one magnitude"):
        replace(one, magnitudes=(one.magnitude_table, one.magnitude_table))


def test_the_remedy_for_a_second_magnitude_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "nace,ent,turnover,staff\n" + "".join(f"{n % 2},e{n},{40 + n},{4 + n}\n" for n in range(12))
    Path("f.csv").write_text(rows)
    tabulate = ["tabulate", "f.csv", "--by", "nace", "--holding", "ent", "--out", "m.parquet", "--measure"]
    assert main([*tabulate, "turnover, staff"]) == 4
    said = capsys.readouterr().err
    assert "measure: a table is of one magnitude, and turnover, staff are several" in said
    assert "--accept REASON" in said and not Path("m.parquet").exists()
    noise = ["--method", "multiplicative_noise", "--set", "least=0.1", "--set", "most=0.25"]
    for name, alone in (("turnover", True), ("staff", False)):
        assert main([*tabulate[:-2], f"{name}.parquet", "--measure", name]) == 0
        protect = ["protect", f"{name}.parquet", "--rule", "p=10", *noise, "--out", f"{name}.zip"]
        assert main(protect) == (0 if alone else 5)
        if not alone:
            assert "what earlier releases tell together" in capsys.readouterr().err
            assert main([*protect, "--accept", "staff are on the sign"]) == 0


def quarters(
    monkeypatch: pytest.MonkeyPatch, folder: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., list[str]]:
    """Protects turnover, or another measure, that grew by so much a head: what is left out, or ``refused``."""
    monkeypatch.chdir(folder)
    Path("policy.toml").write_text('[standing]\npattern_choice = "the readers are few"\n')

    def protected(
        name: str,
        add: int,
        *,
        measure: str = "turnover",
        method: str = "suppression",
        of: tuple[str, ...] = (),
    ) -> list[str]:
        rows = "".join(f"{n % 3},a{n // 8},e{n},{40 + n * n + add * (n + 1)}\n" for n in range(24))
        Path(f"{name}.csv").write_text(f"nace,area,ent,{measure}\n{rows}")
        tabulate = ["tabulate", f"{name}.csv", "--by", "nace,area", "--holding", "ent", "--measure", measure]
        assert main([*tabulate, "--out", f"{name}.parquet"]) == 0
        words = ["protect", f"{name}.parquet", "--method", method, "--rule", "p=10", *of, "--json"]
        capsys.readouterr()
        code = main([*words, "--policy", "policy.toml", "--out", f"{name}.zip"])
        found = json.loads(capsys.readouterr().out)
        return found["verdict"]["left_out"] if code == 0 else [found["error"]["kind"]]

    return protected


def test_sums_of_another_quarter_tell_nothing_of_these(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    protected = quarters(monkeypatch, tmp_path, capsys)
    assert "other_releases" not in protected("first", 0)
    assert "other_releases" not in protected("next", 3)
    # Another measure goes together with this one in a way that readers may know.
    assert protected("staff", 3, measure="staff") == ["refused"]


NOISE = {"method": "multiplicative_noise", "of": ("--set", "least=0.1", "--set", "most=0.25")}


def test_noise_of_another_quarter_tells_nothing_of_these(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    protected = quarters(monkeypatch, tmp_path, capsys)
    assert "other_releases" not in protected("first", 0)
    # Of the same quarter exact sums and noisy ones tell something together.
    assert protected("again", 0, **NOISE) == ["refused"]
    assert protected("next", 3, **NOISE) == []
    assert protected("third", 5, **NOISE) == []
    # Other factors would be a second noise on nearly the same.
    assert protected("fourth", 7, **(NOISE | {"of": ("--set", "least=0.2", "--set", "most=0.5")})) == [
        "refused"
    ]
    assert protected("fifth", 9, **(NOISE | {"of": (*NOISE["of"], "--seed", "5")})) == ["refused"]
