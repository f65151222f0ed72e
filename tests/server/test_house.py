"""Accounts, roles, the pages of the house, freezing, and what lies beyond the frontier."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from table_server import Client, Serve, czech

from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.project.sources import open_table
from tabprotect.engine.query_space.table_server.decision import REFUSED
from tabprotect.server.service import Access, BeyondChoice, RuleChoice

TABLE = "/tables/czech-autoworkers"


def token(client: Client, path: str = "/") -> str:
    found = re.search(r'name="csrf" value="([0-9a-f]+)"', client.get(path).text)
    assert found
    return found[1]


def sign_in(client: Client, name: str, role: Any) -> str:
    key = client.server.accounts.add(name, role)
    form = {"csrf": token(client, "/sign-in"), "key": key}
    assert client("POST", "/sign-in", data=form).status_code == 303
    return key


def test_keys(serve: Serve, tmp_path: Path) -> None:
    client = serve(replace(czech(), access=Access(anonymous=False, prices=False)))
    for path in (f"{TABLE}/data?variables=A", "/queries/1", f"/bundles/{'0' * 64}"):
        refused = client.get(path)
        assert (refused.status_code, refused.json()["code"]) == (401, "unauthorised")
        assert refused.headers["www-authenticate"] == "Bearer"
    assert client.ask("A").status_code == 401
    key = client.server.accounts.add("ann")
    headers = {"Authorization": f"Bearer {key}"}
    body = {"variables": ["A", "B"]}
    asked = client("POST", f"{TABLE}/queries", json=body, headers=headers)
    assert asked.status_code == 201
    assert client.server.table.entry(asked.json()["number"]).line.user == "ann"  # type: ignore[union-attr]
    given = client.get(f"{TABLE}/data?variables=A,B", headers={"X-API-Key": key})
    assert given.headers["cache-control"].startswith("private")
    other = client("POST", f"{TABLE}/queries", json=body | {"user": "bob"}, headers=headers)
    assert other.json()["code"] == "forbidden"
    # Of a key only a slow hash is kept, and it ends when it is withdrawn.
    files = list(tmp_path.glob("server0.sqlite*"))
    kept = b"".join(file.read_bytes() for file in files)
    assert key.split("_", 2)[2].encode() not in kept and b"$argon2id$" in kept
    # What was committed last lies beside the file, for nobody else either.
    assert len(files) > 1 and {file.stat().st_mode & 0o777 for file in files} == {0o600}
    client.server.accounts.withdraw("ann")
    assert client.get(f"{TABLE}/data?variables=A,B", headers=headers).status_code == 401
    wrong = {"Authorization": f"Bearer {key[:-1]}x"}
    assert client.get("/tables", headers=wrong).json()["code"] == "unauthorised"


def test_roles(serve: Serve) -> None:
    client = serve()
    pages = ["/operator", "/operator/log", "/operator/replay", "/operator/verify"]
    acting = ["/operator/what-if", "/operator/accounts"]
    for page in pages + acting:
        assert client.get(page).json()["code"] == "unauthorised"
    sign_in(client, "ann", "user")
    for page in pages + acting:
        assert client.get(page).json()["code"] == "forbidden"
    sign_in(client, "eve", "auditor")
    assert all(client.get(page).status_code == 200 for page in pages)
    assert all(client.get(page).json()["code"] == "forbidden" for page in acting)
    form = {"csrf": token(client)}
    for page in ("/operator/freeze", "/operator/vacuum", "/operator/accounts"):
        assert client("POST", page, data=form).json()["code"] == "forbidden"
    assert not client.server.table.state.frozen
    sign_in(client, "olga", "operator")
    assert all(client.get(page).status_code == 200 for page in pages + acting)
    assert client("POST", "/operator/vacuum", data={"csrf": token(client)}).status_code == 303


def test_the_house_sees_what_was_asked_and_what_would_be(serve: Serve) -> None:
    client = serve(replace(czech(), access=Access(prices=True)))
    client.ask("A", "B", "C", user="ann")
    client.ask("A", "B", "C", "D", "E", user="bob")
    client.server.table.wait()
    sign_in(client, "olga", "operator")
    log = client.get("/operator/log").text
    assert "bob" in log and REFUSED in log and " bits; a cell moves by " in log
    early = client.get("/operator/replay?until=1").text
    assert "After line 1: 8 sub-tables released" in early
    assert "not a number" in client.get("/operator/log?before=x").json()["detail"]
    what_if = client.get("/operator/what-if?variables=A&variables=D").text
    assert "It is a candidate" in what_if and "could not be any more" in what_if
    made = client(
        "POST", "/operator/accounts", data={"csrf": token(client), "name": "<b>zoe</b>", "role": "auditor"}
    ).text
    key = re.search(r"tp_[0-9a-f]{16}_[\w-]+", made)
    assert key and "<b>" not in made and key[0] not in client.get("/operator/accounts").text
    account = client.server.accounts.by_key(key[0])
    assert account is not None and account.role == "auditor"
    last = client.server.table.log(10**6, 1)
    assert client.server.table.length == 3 and not last
    (entry, _), *_ = client.server.table.log(3, 1)
    assert (entry.line.user, entry.line.kind) == ("olga", "account")
    verified = client.get("/operator/verify").text
    assert "3 lines" in verified and entry.chain in verified


@pytest.mark.parametrize("beyond", ["perturbed", "refusal"])
def test_beyond_a_frozen_frontier(serve: Serve, beyond: Any, tmp_path: Path) -> None:
    client = serve(replace(czech(), beyond=BeyondChoice(beyond)))
    client.ask("A", "C")
    client.ask("D", "E", "F")
    sign_in(client, "olga", "operator")
    assert client("POST", "/operator/freeze", data={"csrf": token(client)}).status_code == 303
    truth = open_table("example:czech-autoworkers").table
    # What was released stays exact.
    inside = client.ask("D", "F").json()
    assert inside["decision"] == "release"
    assert inside["answer"]["data"]["value"] == truth.margin(["D", "F"]).counts.ravel().tolist()
    if beyond == "refusal":
        assert client.ask("A", "B").json()["code"] == "not_released"
        return
    first, second = client.ask("A", "B", "C").json(), client.ask("A", "B").json()
    assert (first["decision"], first["code"]) == ("perturb", "perturbed")
    assert first["answer"]["bundle"] == second["answer"]["bundle"]
    counts = [np.array(a["answer"]["data"]["value"]) for a in (first, second)]
    one, other = counts[0].reshape(2, 2, 2), counts[1].reshape(2, 2)
    # All answers agree with each other and with every true margin that is out.
    assert np.array_equal(one.sum(axis=2), other)
    assert np.array_equal(one.sum(axis=1), truth.margin(["A", "C"]).counts)
    assert not np.array_equal(one, truth.margin(["A", "B", "C"]).counts)
    bundle = client.get(f"/bundles/{first['answer']['bundle']}").content
    found = verify_bytes(bundle)
    assert found.release.mechanism.method == "cyclic_perturbation"
    assert found.release.mechanism.gate is not None and found.release.mechanism.gate.passed
    assert np.array_equal(found.release.table.margin(["A", "B"]).counts, other)
    # A second process, and one that starts later, answer from the very same table.
    later = serve(client.server.service, str(tmp_path / "server0.sqlite"))
    assert later.ask("A", "B").json()["answer"] == second["answer"]
    assert later.get(f"{TABLE}/frontier").json()["perturbed"] == first["answer"]["bundle"]


def test_votes(serve: Serve) -> None:
    client = serve(czech(rule=RuleChoice("by_demand", {"requests": 3})))
    keys = [client.server.accounts.add(name) for name in ("ann", "bob", "cid")]
    ann, bob, cid = ({"Authorization": f"Bearer {key}"} for key in keys)
    place = f"{TABLE}/queries"
    put_off = client("POST", place, json={"variables": ["A", "B"]}, headers=ann)
    votes = put_off.headers["location"] + "/votes"
    # One who has asked already has voted.
    for headers in (ann, ann):
        again = client("POST", votes, headers=headers, json={})
        assert (again.status_code, again.json()["decision"]) == (200, "defer")
    assert client("POST", votes, headers=bob, json={}).status_code == 202
    assert client("POST", votes, headers=cid, json={}).json()["decision"] == "release"
    page = client.get(put_off.headers["location"].replace("queries", "answers"))
    assert "Released." in page.text
    assert client("POST", "/queries/99/votes", json={}).json()["code"] == "not_found"
