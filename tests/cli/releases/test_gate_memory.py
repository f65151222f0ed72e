"""What the gate refused is remembered, and told with what is published after it."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

ONES = "A,B,count\n" + "".join(f"a{i},b{j},1\n" for i in (1, 2) for j in (1, 2, 3))


def test_settings_changed_after_a_refusal_are_told(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is published here knowingly says too much together.
    policy = tmp_path / "policy.toml"
    policy.write_text('together = "warn"\n')
    monkeypatch.setenv("TABPROTECT_POLICY", str(policy))
    table, out = tmp_path / "ones.csv", tmp_path / "r.zip"
    table.write_text(ONES)
    register = ("--register", tmp_path / "register.sqlite")
    assert run("register", "new", register[1]).code == 0
    words = ("protect", table, "--set", "cycles=strips-2", *register, "--out", out, "--json")
    assert run(*words).code == 5
    # What was refused, published against the gate, is what it is.
    accepted = run(*words, "--accept", "a reason").json
    assert accepted["verdict"]["complete"]
    negative = ("--set", "blocking=negative", "--kept-small", "keep")
    changed = run(*words, *negative, "--register", tmp_path / "register.sqlite").json
    # All originals can be listed, and are weighed by the chance that all of their draws are refused.
    assert changed["verdict"]["complete"] and changed["verdict"]["left_out"] == []
    assert changed["decisions"][-1] == (
        "settings were changed after the gate had refused others: cyclic_perturbation"
    )
    with zipfile.ZipFile(out) as bundle:
        stated = json.loads(bundle.read("mechanism.json"))
        assert stated["gate"]["changed_after_refusal"] is True
        [refused] = stated["gate"]["refused_before"]
        assert refused["draws"] == 3 and refused["mechanism"]["blocking"] == "any_zero"
        assert refused["mechanism"]["gate"]["passed"] is False
        assert "what that tells is taken in" in bundle.read("README.md").decode()
    verified = run("verify", out, "--json").json
    assert verified["verdict"]["complete"]
    read = run("infer", out, "--json").json
    assert read["complete"] and "taken in" in read["note"]
    # Settings of which the register kept a digest alone.
    with closing(sqlite3.connect(tmp_path / "register.sqlite")) as kept, kept:
        kept.execute("UPDATE refusal_statement SET stated = ''")
    unknown = run(*words, *negative, "--accept", "a reason", "--again", "a reason").json
    assert unknown["verdict"]["left_out"] == ["attempts"]
    assert "refused for this table before" in unknown["verdict"]["note"]
    assert run("verify", out).code == 7
    assert not run("infer", out, "--json").json["complete"]
    # Without a register nobody remembers.
    forgotten = run("protect", table, *words[2:4], *negative, "--register", "none", "--out", out)
    assert forgotten.code == 0
    assert run("infer", out, "--json").json["complete"]


@pytest.fixture
def refused_ones(run: Run, tmp_path: Path) -> tuple[object, ...]:
    """The words of a command that the gate refuses whatever the coins are."""
    table, register = tmp_path / "ones.csv", tmp_path / "register.sqlite"
    table.write_text(ONES)
    assert run("register", "new", register).code == 0
    words = ("protect", table, "--set", "cycles=strips-2", "--register", register, "--no-page")
    return (*words, "--out", tmp_path / "r.zip", "--json")


@pytest.mark.parametrize("coins", [(), ("--fresh",)], ids=["house", "fresh"])
def test_refused_draws_that_are_not_known_are_told_by_what_is_accepted(
    run: Run, tmp_path: Path, refused_ones: tuple[object, ...], coins: tuple[str, ...]
) -> None:
    """Three draws were refused: of the house's coins two beside what leaves, of fresh ones all."""
    assert run(*refused_ones).code == 5
    with closing(sqlite3.connect(tmp_path / "register.sqlite")) as kept, kept:
        kept.execute("UPDATE refusal_statement SET stated = ''")
    accepted = run(*refused_ones, *coins, "--accept", "a reason").json
    assert accepted["verdict"]["left_out"] == ["attempts"]


def test_every_fresh_refusal_counts(run: Run, tmp_path: Path, refused_ones: tuple[object, ...]) -> None:
    """Who draws anew until something passes has refused more than three draws."""
    fresh = (*refused_ones, "--fresh")
    assert run(*fresh).code == run(*fresh).code == 5
    with closing(sqlite3.connect(tmp_path / "register.sqlite")) as kept, kept:
        [(refused,)] = kept.execute("SELECT count(*) FROM refused_mechanism")
    assert refused == 2
    negative = (*refused_ones, "--set", "blocking=negative", "--kept-small", "keep")
    after = run(*negative)
    # All draws of one mechanism, whatever their coins, are weighed at once.
    assert after.code == 0 and after.json["verdict"]["left_out"] == []
    with zipfile.ZipFile(tmp_path / "r.zip") as bundle:
        [refused] = json.loads(bundle.read("mechanism.json"))["gate"]["refused_before"]
    assert refused["draws"] == 6 and "changed_after_refusal" not in refused["mechanism"]["gate"]
    assert run("verify", tmp_path / "r.zip").code == 0


def test_refusals_are_found_again_under_new_names(
    run: Run, tmp_path: Path, refused_ones: tuple[object, ...]
) -> None:
    """What was refused is of other names: it is known that it was, and not worked out what it tells."""
    assert run(*refused_ones).code == 5
    renamed = tmp_path / "renamed.csv"
    renamed.write_text(ONES.replace("A,B", "C,D").replace("a", "x").replace("b", "y"))
    words = [renamed if word == tmp_path / "ones.csv" else word for word in refused_ones]
    other = run(*words, "--set", "blocking=negative", "--accept", "a reason", "--kept-small", "keep").json
    assert other["verdict"]["left_out"] == ["attempts"]
    assert "settings were changed" in str(other["decisions"])


def test_what_left_is_published_again_as_it_was(run: Run, tmp_path: Path) -> None:
    """The very draw was no choice: what was refused after it left tells nothing of it."""
    register, first, again = (tmp_path / name for name in ("r.sqlite", "1.zip", "2.zip"))
    assert run("register", "new", register).code == 0
    table = tmp_path / "own.csv"
    assert run("convert", "example:duncan-roehrig-4x4", "--out", table).code == 0
    words = ("protect", table, "--register", register, "--no-page", "--json")
    beyond = (*words, "--set", "alpha=.013", "--set", "beta=.013", "--out", tmp_path / "beyond.zip")
    assert run(*words, "--out", first).code == 0
    refused = run(*beyond)
    assert refused.code == 5 and run(*beyond).json == refused.json
    found = run(*words, "--out", again).json
    assert found["warnings"] == found["decisions"] == []
    assert again.read_bytes() == first.read_bytes()
    # Other settings were chosen after the refusal.
    other = run(*words, "--set", "passes=2", "--again", "a reason", "--out", again)
    assert "settings were changed" in str(other.json)


def test_a_set_that_is_refused_is_remembered_where_its_register_is(
    run: Run, tmp_path: Path, house_folder: Path
) -> None:
    table, register = tmp_path / "ones.csv", tmp_path / "register.sqlite"
    # Sums of three: of sums that are small themselves the set takes a reason before anything is drawn.
    table.write_text(ONES + "".join(f"a3,b{j},1\n" for j in (1, 2, 3)))
    words = ("protect-set", table, "--table", "t=A*B", "--set", "cycles=strips-2")
    assert run("register", "new", register).code == 0
    for place in ("none", register):
        assert run(*words, "--register", place, "--out", tmp_path / "set").code == 5
        assert not (house_folder / "register.sqlite").exists()
    with closing(sqlite3.connect(register)) as connection, connection:
        [(refused,)] = connection.execute("SELECT count(*) FROM refused_mechanism")
    assert refused == 1


SEED = "--seed", "1234567890123456789012345678901234567890"


def test_a_set_beside_another_says_that_it_was_not_read_with_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has the set alone cannot judge it either: the reader's exit says so."""
    monkeypatch.setenv("TABPROTECT_HOME", str(tmp_path / "house"))
    cells = [(a, b, c) for a in range(3) for b in range(4) for c in range(3)]
    rows = [f"a{a},b{b},c{c},{(7 * a + 5 * b + 3 * c) % 17}" for a, b, c in cells]
    table, first, second = tmp_path / "t.csv", tmp_path / "first", tmp_path / "second"
    table.write_text("\n".join(["a,b,c,count", *rows]))
    words = ("protect-set", table, "--table", "ab=a*b", "--table", "bc=b*c", "--no-page", *SEED)
    words += ("--json", "--method", "random_rounding")
    assert run(*words, "--set", "base=5", "--out", first).code == 0
    assert run("verify", first).code == 0
    assert run(*words, "--set", "base=3", "--out", second).code == 5
    found = run(*words, "--set", "base=3", "--again", "asked for", "--out", second)
    verdict = found.json["verdict"]
    assert found.code == 0 and verdict["left_out"] == ["other_releases"]
    assert verdict["accepted"] and not verdict["complete"]
    assert run("verify", second).code == 7
