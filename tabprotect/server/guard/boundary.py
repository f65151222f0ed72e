"""Where a request comes from: its host, its site, its proxy; and what it may do for that reason.

Whatever is decided may release something for ever. So a decision takes a request that no other site
can make a browser send: ``POST`` with ``application/json`` and no foreign origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from tabprotect.languages.messages import message
from tabprotect.server.problems import HttpProblem
from tabprotect.server.service import Access

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Names of this machine for itself."""

PROTOCOLS = ("/v1/", "/v2/", "/sdmx/")
"""Where programs ask in the words of other services; nothing is decided there."""

READS_ELSEWHERE = ("/config", "/tables", "/bundles", "/openapi.json", *PROTOCOLS)
"""Where pages of other sites may read what is out."""


def checked_host(connection: HTTPConnection, access: Access) -> None:
    """Refuse a request for another host: a name that a page elsewhere makes mean this machine.

    Raises
    ------
    HttpProblem
        ``wrong_host``.
    """
    if "*" not in access.allowed_hosts and _host(connection) not in _names(access):
        raise HttpProblem("wrong_host", message("this server answers by other names"))


def _names(access: Access) -> set[str]:
    return {name.strip().strip("[]").lower() for name in access.allowed_hosts or LOOPBACK}


def _host(connection: HTTPConnection) -> str:
    try:
        return urlsplit(f"//{connection.headers.get('host', '')}").hostname or ""
    except ValueError:
        return ""


def checked_framing(connection: HTTPConnection) -> None:
    """Refuse a request whose end two programs would see at two places.

    Raises
    ------
    HttpProblem
        ``invalid_query``.
    """
    headers = connection.headers
    lengths = len(headers.getlist("content-length")) + len(headers.getlist("transfer-encoding"))
    if lengths > 1:
        raise HttpProblem(
            "invalid_query", message("a request says its length in one way"), headers={"Connection": "close"}
        )


def checked_decision(connection: HTTPConnection) -> None:
    """Refuse to decide on a request that another site may have made a browser send.

    Raises
    ------
    HttpProblem
        ``not_decided`` where it is no ``POST``, ``not_json``, or ``forbidden`` for a foreign origin.
    """
    headers = connection.headers
    if connection.scope["method"] != "POST":
        raise HttpProblem(
            "not_decided",
            message("nobody has asked for this sub-table yet: ask by POST, as application/json"),
        )
    if not own_origin(connection):
        raise HttpProblem("forbidden", message("a page of another site decides nothing here"))
    media = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json":
        raise HttpProblem("not_json", message("a request is sent as application/json"))


def own_origin(connection: HTTPConnection) -> bool:
    """True for a program and for a page of this server's; browsers say which page asks."""
    headers = connection.headers
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return False
    origins = headers.getlist("origin")
    if not origins:
        return True
    try:
        parts = urlsplit(origins[0])
    except ValueError:
        return False
    own = headers.get("host", "").lower()
    return len(origins) == 1 and parts.scheme in ("http", "https") and parts.netloc.lower() == own


def shared_headers(connection: HTTPConnection, access: Access) -> dict[str, str]:
    """Headers by which a page of an allowed origin may read what is out; none for others."""
    origin, path = connection.headers.get("origin", ""), connection.scope["path"]
    reads = connection.scope["method"] in ("GET", "HEAD")
    if not reads or not path.startswith(READS_ELSEWHERE) or not access.allowed_origins:
        return {}
    if "*" in access.allowed_origins:
        return {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}
    if origin not in access.allowed_origins:
        return {"Vary": "Origin"}
    return {
        "Access-Control-Allow-Origin": origin,
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Vary": "Origin",
    }


def is_proxy(address: str, access: Access) -> bool:
    """Return True if an address is one of the trusted proxies'."""
    try:
        own = ip_address(address)
    except ValueError:
        return False
    return any(own in ip_network(one, strict=False) for one in access.trusted_proxy)


def client_address(connection: HTTPConnection, access: Access) -> str:
    """The address of whoever asks: what the nearest trusted proxy has seen, else the connection's."""
    address = connection.client.host if connection.client else "unknown"
    if not is_proxy(address, access):
        return _network(address)
    said = [part.strip() for part in _listed(connection.headers.getlist(access.proxy_header))]
    for hop in reversed(said):
        address = hop
        if not is_proxy(hop, access):
            break
    return _network(address)


def _network(address: str) -> str:
    """Return the /64 of an IPv6 address, which is one customer's; another address as it is."""
    try:
        found = ip_address(address)
    except ValueError:
        return address[:100]
    if found.version == 4 or found.is_loopback:
        return str(found)
    return str(found.ipv4_mapped or ip_network((found, 64), strict=False))


def _listed(headers: Sequence[str]) -> list[str]:
    return [part for header in headers for part in header.split(",") if part.strip()]


def is_secure(connection: HTTPConnection, access: Access) -> bool:
    """Return True if the browser's end of the connection is encrypted."""
    if connection.scope.get("scheme") == "https":
        return True
    near = connection.client.host if connection.client else ""
    said = connection.headers.get("x-forwarded-proto", "").rpartition(",")[2].strip().lower()
    return said == "https" and is_proxy(near, access)


def is_local(connection: HTTPConnection, access: Access) -> bool:
    """Return True if the server was reached on the loopback, by a client on this machine."""
    server = connection.scope.get("server") or ("", None)
    return all(name in LOOPBACK or _loops(name) for name in (server[0], client_address(connection, access)))


def _loops(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
