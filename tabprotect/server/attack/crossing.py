"""Attacks on the server's boundary: other sites, other hosts, forged proxies, keys tried in turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tabprotect.server.attack.target import Sent, Shown, Target, asking, sub_table_address

FOREIGN = "http://elsewhere.example"

KEYS_TRIED = 15
"""Keys of one mark."""

FORGED = 30
"""Addresses of proxies that are made up."""

MOST_ASKED = 500
"""Requests to see whether a limit holds."""

DECIDED = (201, 202, 403)


def cross_site(table: str, names: Shown) -> list[Sent]:
    """What a page of another site can make a browser send, and what looks like reading."""
    json_request = asking(table, names)
    address = sub_table_address(table, names)
    foreign = {"Origin": FOREIGN, "Sec-Fetch-Site": "cross-site"}
    return [
        replace(json_request, headers={**foreign, "Content-Type": "text/plain"}),
        replace(json_request, headers={**json_request.headers, **foreign}),
        replace(json_request, headers={**json_request.headers, "Origin": "null"}),
        replace(json_request, headers={"Content-Type": "text/plain"}),
        Sent(address),
        Sent(address, "HEAD"),
        replace(json_request, headers={**json_request.headers, "Host": "elsewhere.example"}),
        Sent(f"/tables/{table}/metadata", headers={"Host": "elsewhere.example"}),
    ]


def crossed(target: Target, table: str, untouched: list[Shown]) -> tuple[int, int]:
    """Requests of other sites and hosts, and those that were decided or answered.

    Parameters
    ----------
    untouched
        Sub-tables that nobody has asked for: one for each request.
    """
    tried = got = 0
    for number, names in enumerate(untouched):
        ways = cross_site(table, names)
        heard = target(ways[number % len(ways)])
        tried += 1
        got += heard.status == 200 or _was_decided(heard.status, heard.json)
    return tried, got


def _was_decided(status: int, said: Mapping[str, object]) -> bool:
    return status in DECIDED and said.get("code") in ("released", "perturbed", "deferred", "not_released")


def past_the_limit(target: Target, limit: int) -> tuple[int, int]:
    """Requests beyond the limit with another forged address each, and those that were answered."""
    plain = Sent("/tables")
    tries = range(min(limit + 50, MOST_ASKED))
    used = next((n for n in tries if target(plain).status == 429), None)
    if used is None:
        return 0, 0
    forged = [Sent("/tables", headers={"X-Forwarded-For": f"203.0.113.{n + 1}"}) for n in range(FORGED)]
    answered = sum(target(one).status == 200 for one in forged)
    # Where the window has ended meanwhile nothing is known.
    held = target(plain).status == 429
    return (used + FORGED, answered) if held else (0, 0)


def keys_tried(target: Target) -> tuple[int, int]:
    """Keys of one mark that are not good, and those looked at beyond ten."""
    looked = sum(
        target(Sent("/tables", headers={"X-API-Key": f"tp_{'0' * 16}_{'x' * 30}{number:02}"})).status == 401
        for number in range(KEYS_TRIED)
    )
    return KEYS_TRIED, max(0, looked - 10)
