"""Attacks on a table server by one who asks as everybody may, and what each of them gets.

Differencing, averaging, trackers, mining refusals, ways round by filter and format, and attacks on the
boundary: other sites, other hosts, forged proxies, keys tried in turn. None looks at anything but
responses. What each finds is counted in cells, so that servers can be compared: a cell of at-risk size
that is proved, a cell for which two answers contradict each other (which gives its noise away), a count
of a refused sub-table that was got all the same.
"""

from __future__ import annotations

import json
import sqlite3
import urllib.parse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from pathlib import Path

from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.release.release import Release

Shown = tuple[str, ...]
"""The categories of a cell, in the order of a table's variables."""


@dataclass(frozen=True)
class Heard:
    """A response, as far as an attack looks at it."""

    status: int
    media: str
    content: bytes

    @property
    def json(self) -> dict[str, object]:
        """The content as an object; empty for what is none."""
        try:
            said = json.loads(self.content)
        except ValueError:
            return {}
        return said if isinstance(said, dict) else {}


@dataclass(frozen=True)
class Sent:
    """A request that an attack makes."""

    path: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


Target = Callable[[Sent], Heard]
"""Whatever can be asked."""


def cells_of(said: Mapping[str, object]) -> tuple[Shown, dict[Shown, int]] | None:
    """Variables and counts of a JSON-stat dataset; ``None`` for what is none."""
    names, dimension, values = said.get("id"), said.get("dimension"), said.get("value")
    if not (isinstance(names, list) and isinstance(dimension, dict) and isinstance(values, list)):
        return None
    cells: list[Shown] = [()]
    for name in names:
        categories = dimension[name]["category"]["index"]
        cells = [(*cell, str(category)) for cell in cells for category in categories]
    return tuple(map(str, names)), dict(zip(cells, map(int, values), strict=True))


def asking(table: str, variables: Sequence[str]) -> Sent:
    """The request that has a sub-table decided."""
    return Sent(
        f"/tables/{urllib.parse.quote(table)}/queries",
        "POST",
        {"Content-Type": "application/json"},
        json.dumps({"variables": list(variables)}).encode(),
    )


def sub_table_address(table: str, variables: Sequence[str], **more: str) -> str:
    """The address of a sub-table."""
    said = urllib.parse.urlencode({"variables": ",".join(variables), **more})
    return f"/tables/{urllib.parse.quote(table)}/data?{said}"


def in_other_words(table: str, variables: Sequence[str]) -> list[Sent]:
    """The requests for a sub-table that clients of PxWebApi 2 and 1 would send."""
    place = urllib.parse.quote(table)
    named = [(name.partition("@")[0], name if "@" in name else "") for name in variables]
    asked = [(f"valueCodes[{base}]", "*") for base, _ in named]
    asked += [(f"codelist[{base}]", f"agg_{level}") for base, level in named if level]
    selection = [
        {"variableCode": base, "valueCodes": ["*"], "codelist": f"agg_{level}" if level else None}
        for base, level in named
    ]
    query = [
        {"code": base, "selection": {"filter": f"agg:{level}" if level else "all", "values": ["*"]}}
        for base, level in named
    ]
    posted = {"Content-Type": "application/json"}
    return [
        Sent(f"/v2/tables/{place}/data?{urllib.parse.urlencode(asked)}"),
        Sent(f"/v2/tables/{place}/data", "POST", posted, _bytes({"selection": selection})),
        Sent(f"/v1/en/tables/{place}", "POST", posted, _bytes({"query": query})),
    ]


def _bytes(said: object) -> bytes:
    return json.dumps(said).encode()


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


ATTACK_JOINED = 200_000
"""Cells of two answers joined."""


SMALL = range(1, 3)
"""Counts that the attacker is after."""

CROSSINGS = 16
"""Sub-tables that are asked for as another site would."""

REPEATS = 3
"""Times that one sub-table is asked for, to see whether its noise changes."""

Margin = Mapping[Shown, int]


@dataclass(frozen=True)
class Finding:
    """What one attack came to.

    Attributes
    ----------
    tried
        Requests, or comparisons of answers.
    succeeded
        Cells or counts that were got.
    sentence
        In words.
    """

    name: str
    tried: int
    succeeded: int
    sentence: str


@dataclass
class Loot:
    """All that the attacker has heard: answers by variables, and what was refused."""

    answers: dict[Shown, list[Margin]] = field(default_factory=dict)
    refused: list[Shown] = field(default_factory=list)
    requests: int = 0

    def add(self, names: Shown, cells: Margin) -> None:
        """One more answer."""
        self.answers.setdefault(names, []).append(cells)


def attacked(target: Target, queries: int) -> list[Finding]:
    """Try every attack on a server that can be asked.

    Parameters
    ----------
    queries
        Sub-tables that are asked for, small ones first.
    """
    tables = target(Sent("/tables")).json.get("tables")
    assert isinstance(tables, list)
    table = str(tables[0]["id"])
    said = target(Sent(f"/tables/{table}/metadata")).json.get("variables", [])
    assert isinstance(said, list)
    variables = {str(v["id"]): [str(c["id"]) for c in v["categories"]] for v in said}
    loot = Loot()
    for names in islice(_smallest_first(variables), queries):
        for _ in range(REPEATS):
            heard = target(asking(table, names))
            loot.requests += 1
            # Some servers decide on requests to read.
            if heard.json.get("code") != "not_released":
                heard = target(Sent(sub_table_address(table, names, format="json-stat2")))
                loot.requests += 1
            if heard.status == 200:
                found = cells_of(heard.json)
                if found is not None:
                    loot.add(*found)
            elif heard.json.get("code") == "not_released":
                loot.refused.append(names)
                break
    return [
        *from_answers(loot),
        _tracker(target, table, variables, loot),
        _formats(target, table, loot),
        _mining(loot),
        _boundary(target, table, list(variables), loot),
    ]


def from_answers(loot: Loot) -> list[Finding]:
    """The attacks that need nothing but answers: differencing and averaging."""
    return [_differencing(loot), _averaging(loot)]


def _smallest_first(variables: Mapping[str, object]) -> Iterator[Shown]:
    for size in range(1, len(variables) + 1):
        yield from combinations(variables, size)


def _differencing(loot: Loot) -> Finding:
    """Join every two answers: what their counts and common sums prove of the joined cells."""
    proved: set[tuple[Shown, Shown]] = set()
    pairs = 0
    for (one, ones), (other, others) in combinations(loot.answers.items(), 2):
        if set(one) <= set(other) or set(other) <= set(one):
            continue
        names, cells = _joined(one, ones[0], other, others[0])
        pairs += 1
        proved |= {(names, cell) for cell, (low, high) in cells if low == high and low in SMALL}
    return Finding(
        "differencing",
        pairs,
        len(proved),
        f"{_counts_said(len(proved))} of 1 or 2 proved that no answer shows.",
    )


def _joined(
    one: Shown, ones: Margin, other: Shown, others: Margin
) -> tuple[Shown, list[tuple[Shown, tuple[int, int]]]]:
    """Bounds of each cell of two answers joined (Frechet): from their counts and common sums."""
    common = [name for name in one if name in other]
    at_one, at_other = [one.index(n) for n in common], [other.index(n) for n in common]
    extra = [k for k, name in enumerate(other) if name not in common]
    sums: dict[Shown, int] = {}
    beside: dict[Shown, list[tuple[Shown, int]]] = {}
    for cell, count in others.items():
        key = tuple(cell[k] for k in at_other)
        sums[key] = sums.get(key, 0) + count
        beside.setdefault(key, []).append((cell, count))
    out: list[tuple[Shown, tuple[int, int]]] = []
    for cell, count in ones.items():
        key = tuple(cell[k] for k in at_one)
        for partner, second in beside.get(key, ()):
            low, high = max(0, count + second - sums[key]), min(count, second)
            out.append(((*cell, *(partner[k] for k in extra)), (low, high)))
            if len(out) > ATTACK_JOINED:
                return one, out
    return (*one, *(other[k] for k in extra)), out


def _averaging(loot: Loot) -> Finding:
    """The same count by several ways: asked again, and as sums of larger answers."""
    ways = contradicted = 0
    for names, answers in loot.answers.items():
        seen = list(answers)
        for larger, given in loot.answers.items():
            if set(names) < set(larger):
                seen += [_summed(names, larger, cells) for cells in given[:1]]
        ways += len(seen) - 1
        contradicted += sum(len({way.get(cell, 0) for way in seen}) > 1 for cell in answers[0])
    return Finding(
        "averaging",
        ways,
        contradicted,
        f"{_counts_said(contradicted)} that another way of asking changes: averaging wears noise away.",
    )


def _summed(names: Shown, larger: Shown, cells: Margin) -> Margin:
    at = [larger.index(name) for name in names]
    out: dict[Shown, int] = {}
    for cell, count in cells.items():
        key = tuple(cell[k] for k in at)
        out[key] = out.get(key, 0) + count
    return out


def _tracker(target: Target, table: str, variables: Mapping[str, list[str]], loot: Loot) -> Finding:
    """Refused sub-tables by filters: each category on its own, and from outside the query."""
    tried = got = 0
    for names in loot.refused[:20]:
        for name in names:
            rest = [other for other in names if other != name]
            for category in variables[name][:5]:
                chosen = f"{name}={_quoted(category)}"
                for asked in (list(names), rest):
                    if not asked:
                        continue
                    where = sub_table_address(table, asked, filter=chosen, format="json-stat2")
                    heard = target(Sent(where))
                    tried += 1
                    got += _counts(heard)
    return Finding("tracker", tried, got, f"{_counts_said(got)} of refused sub-tables got by filters.")


def _formats(target: Target, table: str, loot: Loot) -> Finding:
    """Refused sub-tables by every format, method, spelling and header, and in other services' words."""
    formats = target(Sent("/config")).json.get("formats", [])
    assert isinstance(formats, list)
    tried = got = 0
    for names in loot.refused[:5]:
        body = json.dumps({"variables": list(names)}).encode()
        ways = [Sent(sub_table_address(table, names, format=str(name))) for name in formats]
        for name in ("matrix", "JSON-STAT2", "csv/../csv", "json-px"):
            ways.append(Sent(sub_table_address(table, names, format=name)))
        plain = sub_table_address(table, names)
        for media in ("*/*", "text/csv", "application/json;q=0.1, text/html", "image/png"):
            ways.append(Sent(plain, headers={"Accept": media}))
        json_body = {"Content-Type": "application/json"}
        ways += [
            Sent(plain, headers={"Range": "bytes=0-100"}),
            Sent(plain, headers={"If-None-Match": "*"}),
            Sent(plain, headers={"X-HTTP-Method-Override": "POST"}),
            Sent(plain.replace("/data?", "/data/?")),
            Sent(plain.replace("/data?", "//data?")),
            Sent(f"/tables/{table}/data", "POST", json_body, body),
            Sent(f"/tables/{table}/queries", "POST", json_body, body),
            Sent(sub_table_address(table, tuple(reversed(names)))),
            *in_other_words(table, names),
        ]
        for way in ways:
            tried += 1
            got += _counts(target(way))
    return Finding("formats", tried, got, f"{_counts_said(got)} of refused sub-tables got by another way in.")


def _boundary(target: Target, table: str, variables: list[str], loot: Loot) -> Finding:
    """Other sites, other hosts, forged addresses, keys tried in turn."""
    asked = {*loot.answers, *loot.refused}
    largest = (n for k in range(len(variables), 0, -1) for n in combinations(variables, k))
    frozen = target(Sent(f"/tables/{table}/frontier")).json.get("frozen")
    # Beyond a frozen frontier everything is decided: it is there to be read.
    number = 0 if frozen else CROSSINGS
    untouched = list(islice((n for n in largest if n not in asked), number))
    found = [crossed(target, table, untouched), keys_tried(target)]
    limits = target(Sent("/config")).json.get("limits")
    requests = limits.get("requests") if isinstance(limits, dict) else None
    if isinstance(requests, int):
        # Last: whoever is limited hears nothing for a while.
        found.append(past_the_limit(target, requests))
    tried, got = (sum(one[k] for one in found) for k in (0, 1))
    return Finding(
        "boundary",
        tried,
        got,
        f"{got} requests went through that another site, a forged address or a wrong key made.",
    )


def _mining(loot: Loot) -> Finding:
    """Refusals tell of the original; no count is got, so that none counts as a success."""
    smallest = [names for names in loot.refused if not any(set(other) < set(names) for other in loot.refused)]
    return Finding(
        "refusals",
        len(loot.refused),
        0,
        f"{len(loot.refused)} refusals were told, {len(smallest)} of them of smallest sub-tables. "
        "What they tell is in the house's log; under the simulatable rule it is nothing.",
    )


def _quoted(category: str) -> str:
    return '"' + category.replace('"', '""') + '"' if "," in category else category


def _counts(heard: Heard) -> int:
    """How many counts a response gives that should have been refused."""
    if heard.status not in (200, 201, 206):
        return 0
    answer = heard.json.get("answer")
    said = answer.get("data") if isinstance(answer, dict) else heard.json
    found = cells_of(said) if isinstance(said, dict) else None
    # Whatever else came is at least one.
    return len(found[1]) if found is not None else 1


def _counts_said(number: int) -> str:
    return "1 count" if number == 1 else f"{number} counts"


def attacked_answers(database: Path) -> list[Finding]:
    """Try the attacks that need nothing but the answers, on all of each table's history."""
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute(
            "SELECT history, content FROM answer_bundle ORDER BY fingerprint"
        ).fetchall()
    loots: dict[int, Loot] = {}
    for history, content in rows:
        _add(loots.setdefault(history, Loot()), verify_bytes(content).release)
    return [finding for loot in loots.values() for finding in from_answers(loot)]


def _add(loot: Loot, release: Release) -> None:
    for published in release.tables:
        domain = published.table.domain
        counts = published.table.counts.reshape(-1).tolist()
        cells = {domain.labels(domain.unflat(k)): count for k, count in enumerate(counts)}
        loot.add(domain.names, cells)
