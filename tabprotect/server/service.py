"""What a service is, fixed by ``service.toml``: nobody who merely asks can choose any of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_network
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from tabprotect.engine.errors import InputError, ParameterError, TabprotectError
from tabprotect.engine.paths import read_text
from tabprotect.engine.plain_values.decoding import Between, decoded, parsed_toml
from tabprotect.engine.plain_values.encoding import as_json
from tabprotect.engine.project.examples import PREFIX
from tabprotect.engine.query_space.registered import criteria, criterion_named, rules
from tabprotect.engine.sensitivity.small_count import Judged
from tabprotect.engine.ways_to_bound import BOUNDS_WAYS, BoundsWay
from tabprotect.languages.messages import message

PLACES = ("signing", "secret_file")
"""Of ``[access]``: where files of the house are, which nobody is told."""

Beyond = Literal["refusal", "perturbed"]
Blocking = Literal["any_zero", "negative"]
Positive = Annotated[int, Between(1)]


@dataclass(frozen=True)
class TableSource:
    """``[table]``: which table is served.

    Attributes
    ----------
    source
        A file, relative to ``service.toml``, or ``example:NAME``. Never told to anybody.
    id, label
        What users see; by default made from an example's name, else ``table``.
    variables
        Where the source holds records: the columns that the table is over.
    record_key
        Where the source holds records: the column of their keys, by which the rule ``cell_keys``
        answers with noise.
    measure
        Where the source holds sums: what is summed; empty for a table of counts.
    at_risk
        Counts at risk, ``LOW..HIGH``.
    disallowed
        Variables that are not offered, whatever the criterion says.
    """

    source: str = ""
    id: str = ""
    label: str = ""
    variables: tuple[str, ...] = ()
    record_key: str = ""
    measure: str = ""
    at_risk: str = "1..2"
    disallowed: tuple[str, ...] = ()


@dataclass(frozen=True)
class CriterionChoice:
    """``[criterion]``: what must be proved of everything that is out before more goes out.

    Attributes
    ----------
    cells
        ``at_risk``: of the cells at risk; ``all``: of every cell, so that what is decided follows
        from what is out and the asked margin alone.
    """

    name: str = "width"
    threshold: Annotated[int, Between(0)] = 3
    cells: Judged = "at_risk"
    bounds: BoundsWay = "auto"


@dataclass(frozen=True)
class RuleChoice:
    """``[rule]``: whether what may be released is released now, with the rule's parameters."""

    name: str = "myopic"
    parameters: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class BeyondChoice:
    """``[beyond]``: what answers beyond a frozen frontier.

    Attributes
    ----------
    answer
        ``refusal``, or ``perturbed``: from one table perturbed by cycles designed for exactly the
        released margins.
    alpha
        Chance of adding, and of subtracting, each cycle.
    passes
        Rounds over the cycles.
    blocking
        When a step is not applied.
    """

    answer: Beyond = "refusal"
    alpha: Annotated[float, Between(0)] = 0.25
    passes: Annotated[int, Between(0)] = 1
    blocking: Blocking = "negative"


@dataclass(frozen=True)
class RequestLimits:
    """``[limits]`` and ``[groups.NAME]``: all of it is told by ``/config``.

    Attributes
    ----------
    cells
        Of one sub-table.
    requests, window
        Requests of one user or address in so many seconds; ``/config``, ``/health`` and
        ``/metrics`` are not counted.
    body
        Bytes of a request.
    name
        Characters of a user's name.
    quantum
        Seconds: a decision is answered at a multiple of this after its request came in, so that
        its time does not tell of what kind it is; what was released before is answered at once. 0
        answers everything at once.
    """

    cells: Positive = 10_000
    requests: Positive = 300
    window: Positive = 10
    body: Positive = 16_384
    name: Positive = 100
    quantum: Annotated[float, Between(0)] = 0.05


@dataclass(frozen=True)
class Access:
    """``[access]``: who may ask.

    Attributes
    ----------
    anonymous
        Whether queries are answered without a key.
    allowed_hosts
        Names by which it may be asked; by default those of this machine for itself. ``*``: any.
    allowed_origins
        Origins, ``https://name``, whose pages may read what is out; ``*``: any. None decides.
    trusted_proxy
        Addresses and networks of proxies in front, which say whose request they pass on.
    proxy_header
        The header in which they say it.
    secret_file
        The file of the secret that signs sessions and forms, made where there is none; by default
        ``server.secret`` beside this file.
    prices
        Whether the price of each refusal is worked out for the log.
    signing
        File of the private key that signs bundles; empty: they are not signed.
    """

    anonymous: bool = True
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    trusted_proxy: tuple[str, ...] = ()
    proxy_header: str = "X-Forwarded-For"
    secret_file: str = ""
    prices: bool = True
    signing: str = ""


@dataclass(frozen=True)
class Service:
    """A whole ``service.toml``."""

    title: str = message("Table server")
    languages: tuple[str, ...] = ("en",)
    table: TableSource = field(default_factory=TableSource)
    criterion: CriterionChoice = field(default_factory=CriterionChoice)
    rule: RuleChoice = field(default_factory=RuleChoice)
    beyond: BeyondChoice = field(default_factory=BeyondChoice)
    limits: RequestLimits = field(default_factory=RequestLimits)
    access: Access = field(default_factory=Access)
    groups: Mapping[str, RequestLimits] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def held_to(self) -> CriterionChoice:
        """The criterion that is chosen, or the usual one for what the table holds."""
        if self.table.measure and self.criterion == CriterionChoice():
            found = criterion_named(None, "magnitudes")
            return CriterionChoice(found.name, found.usual)
        return self.criterion

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides answers, as JSON values; where files are is left out."""
        said: dict[str, Any] = as_json(replace(self, table=replace(self.table, source="")))
        for name in ("measure", "record_key"):
            if not said["table"][name]:
                # Services without keep the fingerprint that their history holds.
                del said["table"][name]
        return said | {"access": {n: v for n, v in said["access"].items() if n not in PLACES}}

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the settings: a change of any is an event in the history."""
        text = json.dumps(self.settings, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def of_source(source: str, measure: str = "") -> Service:
    """The service that a table has when nothing else is said of it."""
    return Service(table=TableSource(source=source, measure=measure))


def read(path: Path) -> Service:
    """Read ``service.toml``.

    Raises
    ------
    InputError
        Naming the file, with everything in it that means nothing.
    """
    text = read_text(path)
    try:
        return _checked(_service(parsed_toml(text, "service")), path.parent)
    except InputError as error:
        raise error.in_file(path) from None
    except TabprotectError as error:
        raise InputError(str(error), file=path, hint=error.hint) from None


@dataclass(frozen=True)
class _Head:
    title: str = Service.title
    languages: tuple[str, ...] = Service.languages


@dataclass(frozen=True)
class _File:
    """The sections of the file."""

    service: _Head = field(default_factory=_Head)
    table: TableSource = field(default_factory=TableSource)
    criterion: CriterionChoice = field(default_factory=CriterionChoice)
    rule: Mapping[str, object] = field(default_factory=dict)
    beyond: BeyondChoice = field(default_factory=BeyondChoice)
    limits: RequestLimits = field(default_factory=RequestLimits)
    access: Access = field(default_factory=Access)
    groups: Mapping[str, RequestLimits] = field(default_factory=dict)


def _service(said: Mapping[str, object]) -> Service:
    groups, limits = said.get("groups"), said.get("limits")
    if isinstance(groups, dict) and isinstance(limits, dict):
        # A group has the limits of all but what it says itself.
        own = {name: limits | g if isinstance(g, dict) else g for name, g in groups.items()}
        said = {**said, "groups": own}
    file = decoded(said, _File)
    parameters = dict(file.rule)
    name = decoded(parameters.pop("name", RuleChoice.name), str, "rule.name")
    return Service(
        **vars(file.service),
        table=file.table,
        criterion=file.criterion,
        rule=RuleChoice(name, MappingProxyType(parameters)),
        beyond=file.beyond,
        limits=file.limits,
        access=file.access,
        groups=MappingProxyType(file.groups),
    )


def check_access(access: Access) -> None:
    """Refuse addresses of proxies, and origins, that are none.

    Raises
    ------
    InputError
        Naming the first.
    """
    for network in access.trusted_proxy:
        try:
            ip_network(network, strict=False)
        except ValueError:
            raise InputError(
                message("trusted_proxy: {network} is no address and no network", repr(network)),
                hint=message('write trusted_proxy = ["127.0.0.1"]; the header is proxy_header'),
            ) from None
    for origin in access.allowed_origins:
        parts = urlsplit(origin)
        whole = parts.scheme in ("http", "https") and f"{parts.scheme}://{parts.netloc}" == origin
        if origin != "*" and not whole:
            raise InputError(
                message("allowed_origins: {origin} is no origin", repr(origin)),
                hint=message('write allowed_origins = ["https://statistics.example"]'),
            )


def _checked(service: Service, folder: Path) -> Service:
    if not service.table.source:
        raise InputError(message("[table] names no source"), hint=message('write source = "table.csv"'))
    if service.criterion.bounds not in BOUNDS_WAYS:
        raise InputError(message("[criterion] bounds is unknown"))
    criteria()[service.criterion.name]
    if service.table.measure and service.beyond.answer == "perturbed":
        raise InputError(
            message("[beyond] sums are not perturbed by the server"), hint=message('write answer = "refusal"')
        )
    try:
        rules()[service.rule.name].resolve(service.rule.parameters)
    except ParameterError as error:
        raise InputError(message("[rule] {error}", error), hint=error.hint) from None
    table, access = service.table, service.access
    if not table.source.startswith(PREFIX):
        table = replace(table, source=str((folder / table.source).absolute()))
    if access.signing:
        access = replace(access, signing=str((folder / access.signing).absolute()))
    secret = (folder / (access.secret_file or "server.secret")).absolute()
    access = replace(access, secret_file=str(secret))
    check_access(access)
    return replace(service, table=table, access=access)
