"""A server for a look on the loopback, and following one: what the window is made of."""

from __future__ import annotations

import json
import tempfile
import threading
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from table_server import czech

from tabprotect.engine.errors import InputError, Interrupted
from tabprotect.engine.project.sources import open_table
from tabprotect.server import client
from tabprotect.server.client import standing
from tabprotect.server.hosting.trial_server import TrialServer
from tabprotect.server.service import Access

HOME = "look"

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where histories of looks lie."""
    folder = tmp_path / HOME
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def look(home: Path) -> Iterator[TrialServer]:
    service = replace(czech(), access=Access(prices=True))
    found = TrialServer(service, open_table("example:czech-autoworkers")).start()
    yield found
    found.stop()
    found.wait()


def ask(look: TrialServer, *variables: str) -> int:
    body = json.dumps({"variables": variables, "user": "ann"}).encode()
    request = urllib.request.Request(f"{look.address}/tables/czech-autoworkers/queries", body, JSON)
    try:
        with urllib.request.urlopen(request, timeout=300) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_a_look_is_followed_and_leaves_nothing(look: TrialServer, home: Path) -> None:
    before = standing(look.address, look.key)
    assert (before.length, before.lines, before.frozen) == (0, (), False)
    assert ask(look, "A", "B", "C") == 201
    assert ask(look, "A", "B", "C", "D", "E", "F") == 403
    after = standing(look.address + "/", look.key)
    lattice = after.released.lattice
    assert lattice.names == tuple("ABCDEF")
    assert [lattice.names_of(q) for q in after.released] == [("A", "B", "C")]
    assert lattice.query("ABCDEF") in after.unreleasable and after.length == 2
    refused, given = after.lines
    assert (given.number, given.user, given.answer) == (1, "ann", "table")
    assert (refused.number, lattice.names_of(refused.query)) == (2, tuple("ABCDEF"))
    assert [path.stat().st_mode & 0o777 for path in home.iterdir()] == [0o700]
    look.stop()
    look.wait()
    assert not look.running and not list(home.iterdir())
    with pytest.raises(InputError, match="does not answer"):
        standing(look.address, look.key)


def test_what_a_refusal_told_comes_later(look: TrialServer) -> None:
    ask(look, "A", "B")
    ask(look, "A", "B", "C", "D", "E", "F")
    # The pricing goes on beside the answers: whoever follows sees it with a later question.
    for _ in range(200):
        line = standing(look.address, look.key).lines[0]
        if line.bits is not None:
            break
        threading.Event().wait(0.1)
    assert line.bits is not None and line.bits >= 0 and line.move is not None


def test_following_takes_a_key_of_the_house(look: TrialServer) -> None:
    for key in ("", "tp_nonsense"):
        with pytest.raises(InputError, match="does not take this key"):
            standing(look.address, key)


def test_it_answers_to_its_own_name_alone(look: TrialServer) -> None:
    request = urllib.request.Request(look.address, headers={"Host": "elsewhere.example"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=300)
    refused.value.close()
    assert refused.value.code == 400


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"names": ["A"], "told": [0], "axes": [3]},
        {"names": ["A"] * 60, "told": [0] * 60, "axes": [1 << v for v in range(60)]},
        {"names": ["A"], "told": [0], "axes": [1], "released": [2], "unreleasable": []},
    ],
)
def test_what_a_stranger_says_is_checked(said: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_content", lambda *_: json.dumps(said).encode())
    with pytest.raises(InputError, match="no table server"):
        standing("http://127.0.0.1:1", "")


def test_what_is_cancelled_leaves_nothing(home: Path) -> None:
    class Cancelled:
        def report(self, stage: str, fraction: float, partial: object = None) -> None:
            if stage == "starting the server":
                raise Interrupted

    look = TrialServer(czech(), open_table("example:czech-autoworkers"))
    with pytest.raises(Interrupted):
        look.start(Cancelled())
    look.wait()
    assert not look.running and not list(home.iterdir())
