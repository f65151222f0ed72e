"""``serve`` and ``accounts`` from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_accounts(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    database = tmp_path / "h.sqlite"
    made = run("accounts", "add", "olga", "--role", "operator", "--database", database, "--json")
    assert made.code == 0 and made.json["key"].startswith("tp_")
    again = run("accounts", "add", "olga", "--database", database)
    assert again.code == 3 and "there is an account" in again.err
    assert run("accounts", "withdraw", "olga", "--database", database).code == 0
    listed = run("accounts", "list", "--database", database, "--json").json["accounts"]
    assert listed == [{"name": "olga", "role": "operator", "group": "", "withdrawn": True}]
    assert made.json["key"] not in run("accounts", "list", "--database", database).out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "name a table"),
        (["a.toml", "--service", "b.toml"], 2, "one service.toml"),
        (["a.csv", "--service", "b.toml"], 2, "leave out SOURCE"),
        (["a.csv", "--port", "70000"], 2, "between 0 and 65535"),
        (["nowhere.toml"], 3, "there is no such file"),
        (["example:nothing"], 3, "nothing"),
    ],
)
def test_what_cannot_be_served(run, words: list[str], code: int, said: str) -> None:  # type: ignore[no-untyped-def]
    failed = run("serve", *words)
    assert failed.code == code and said in failed.err
