"""A server for a look on the loopback, as the window opens one."""

from __future__ import annotations

import json
import tempfile
import threading
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from table_server import czech

from tabprotect.engine.errors import Interrupted
from tabprotect.engine.project.sources import open_table
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


def history(look: TrialServer, key: str) -> dict[str, Any]:
    """What the server says of itself to who has this key."""
    head = {"Authorization": f"Bearer {key}"} if key else {}
    request = urllib.request.Request(f"{look.address}/operator/history", headers=head)
    with urllib.request.urlopen(request, timeout=300) as response:
        found: dict[str, Any] = json.load(response)
    return found


def test_a_look_is_asked_and_leaves_nothing(look: TrialServer, home: Path) -> None:
    before = history(look, look.key)
    assert (before["length"], before["lines"], before["frozen"]) == (0, [], False)
    assert ask(look, "A", "B", "C") == 201
    assert ask(look, "A", "B", "C", "D", "E", "F") == 403
    after = history(look, look.key)
    assert after["names"] == list("ABCDEF") and after["length"] == 2
    assert after["released"] == [0b111]
    # Every sub-table above one of the refused frontier is refused, the whole table too.
    assert after["unreleasable"] and all(0 < one < 0b111111 for one in after["unreleasable"])
    refused, given = after["lines"]
    assert (given["number"], given["user"], given["answer"]) == (1, "ann", "table")
    assert (refused["number"], refused["query"]) == (2, list("ABCDEF"))
    assert [path.stat().st_mode & 0o777 for path in home.iterdir()] == [0o700]
    look.stop()
    look.wait()
    assert not look.running and not list(home.iterdir())
    with pytest.raises(OSError, match="refused"):
        history(look, look.key)


def test_what_a_refusal_told_comes_later(look: TrialServer) -> None:
    ask(look, "A", "B")
    ask(look, "A", "B", "C", "D", "E", "F")
    # The pricing goes on beside the answers: it is there at a later question.
    for _ in range(200):
        price = history(look, look.key)["lines"][0]["price"]
        if price and price["bits"] is not None:
            break
        threading.Event().wait(0.1)
    assert price["bits"] >= 0 and price["largest_move"] is not None


def test_the_history_takes_a_key_of_the_house(look: TrialServer) -> None:
    for key in ("", "tp_nonsense"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            history(look, key)
        refused.value.close()
        assert refused.value.code in (401, 403)


def test_it_answers_to_its_own_name_alone(look: TrialServer) -> None:
    request = urllib.request.Request(look.address, headers={"Host": "elsewhere.example"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=300)
    refused.value.close()
    assert refused.value.code == 400


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
