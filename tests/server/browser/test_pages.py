"""The pages: whole without a script, and signed."""

from __future__ import annotations

import re

from table_server import Serve


def token(text: str) -> str:
    found = re.search(r'name="csrf" value="([0-9a-f]+)"', text)
    assert found
    return found[1]


def test_a_visit(serve: Serve) -> None:
    client = serve()
    first = client.get("/")
    assert first.status_code == 200 and "script" not in first.text
    policy = first.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert all(f'value="{name}"' in first.text for name in "ABCDEF")
    look = client.get("/look?variables=A&variables=B")
    assert "Not asked for yet" in look.text
    form = {"csrf": token(look.text), "variables": ["A", "B"]}
    asked = client("POST", "/ask", data=form)
    assert asked.status_code == 303
    answer = client.get(asked.headers["location"])
    assert "Released." in answer.text and "format=csv" in answer.text
    assert "Released." in client.get("/look?variables=A&variables=B").text
    refused = client("POST", "/ask", data=form | {"variables": list("ABCDE")})
    page = client.get(refused.headers["location"])
    assert "not_released" in page.text and "What of it is released" in page.text
    assert "Never released" in client.get("/look?" + "&".join(f"variables={v}" for v in "ABCDEF")).text
    frontier = client.get("/frontier").text
    assert 'class="released"' in frontier and 'class="refused"' in frontier and "<svg" in frontier
    mine = client.get("/mine").text
    assert "/answers/1" in mine and "/answers/2" in mine
    assert client.get("/style.css").headers["content-type"].startswith("text/css")


def test_a_form_of_another_site_does_nothing(serve: Serve) -> None:
    client = serve()
    client.get("/")
    for form in ({"variables": ["A"]}, {"variables": ["A"], "csrf": "0" * 64}):
        assert client("POST", "/ask", data=form).json()["code"] == "forbidden"
    assert client.get("/tables/czech-autoworkers/frontier").json()["released"] == []
