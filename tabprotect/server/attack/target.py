"""What is attacked: a server at an address, or the answers that a database says went out."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tabprotect.engine.errors import InputError

PATIENCE = 30
"""Seconds to wait for an answer."""

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


def server_at(url: str, key: str = "", patience: float = PATIENCE) -> Target:
    """A server at an address. Nothing is sent anywhere else: redirections are not followed.

    Parameters
    ----------
    url
        ``http://host:port``.
    key
        Of an account, where the server wants one.
    patience
        Seconds to wait for an answer.

    Raises
    ------
    InputError
        For what is no address; when asked, where nobody answers.
    """
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise InputError(f"{url!r} is no address of a server", hint="http://host:port")
    opener = urllib.request.build_opener(_Stay)
    own = {"Authorization": f"Bearer {key}"} if key else {}

    def send(sent: Sent) -> Heard:
        headers = {**sent.headers, **own}
        place = url.rstrip("/") + sent.path
        request = urllib.request.Request(place, sent.body, headers, method=sent.method)
        try:
            with opener.open(request, timeout=patience) as response:
                return Heard(response.status, response.headers.get("content-type", ""), response.read())
        except urllib.error.HTTPError as error:
            with error:
                return Heard(error.code, error.headers.get("content-type", ""), error.read())
        except OSError as error:
            raise InputError(
                f"the server does not answer: {error}", hint="is it running at this address?"
            ) from None

    return send


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *given: object) -> None:
        return None


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
