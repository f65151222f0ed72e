"""What a service is, fixed by ``service.toml``: nobody who merely asks can choose any of it."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args, get_type_hints

from tabprotect.engine.errors import InputError, ParameterError, TabprotectError
from tabprotect.engine.project.opening.examples import PREFIX
from tabprotect.engine.query_space.registered import criteria, rules
from tabprotect.engine.query_space.ways_to_bound import BOUNDS_WAYS, BoundsWay
from tabprotect.engine.sensitivity.cells_to_judge import Judged

Beyond = Literal["refusal", "perturbed"]
Blocking = Literal["any_zero", "negative"]


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
    at_risk
        Counts at risk, ``LOW..HIGH``.
    disallowed
        Variables that are not offered, whatever the criterion says.
    """

    source: str = ""
    id: str = ""
    label: str = ""
    variables: tuple[str, ...] = ()
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
    threshold: int = 3
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
    alpha: float = 0.25
    passes: int = 1
    blocking: Blocking = "negative"


@dataclass(frozen=True)
class Limits:
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

    cells: int = 10_000
    requests: int = 300
    window: int = 10
    body: int = 16_384
    name: int = 100
    quantum: float = 0.05


@dataclass(frozen=True)
class Access:
    """``[access]``: who may ask.

    Attributes
    ----------
    anonymous
        Whether queries are answered without a key.
    trusted_proxy
        Name of a header with the address of the client, set by a proxy in front; empty: none is
        believed.
    prices
        Whether the price of each refusal is worked out for the log.
    signing
        File of the private key that signs bundles; empty: they are not signed.
    """

    anonymous: bool = True
    trusted_proxy: str = ""
    prices: bool = True
    signing: str = ""


@dataclass(frozen=True)
class Service:
    """A whole ``service.toml``."""

    title: str = "Table server"
    languages: tuple[str, ...] = ("en",)
    table: TableSource = field(default_factory=TableSource)
    criterion: CriterionChoice = field(default_factory=CriterionChoice)
    rule: RuleChoice = field(default_factory=RuleChoice)
    beyond: BeyondChoice = field(default_factory=BeyondChoice)
    limits: Limits = field(default_factory=Limits)
    access: Access = field(default_factory=Access)
    groups: Mapping[str, Limits] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def settings(self) -> dict[str, object]:
        """All that decides answers, as JSON values; where files are is left out."""
        said = {
            "title": self.title,
            "languages": list(self.languages),
            "table": asdict(replace(self.table, source="")),
            "criterion": asdict(self.criterion),
            "rule": {"name": self.rule.name, "parameters": dict(self.rule.parameters)},
            "beyond": asdict(self.beyond),
            "limits": asdict(self.limits),
            "access": asdict(replace(self.access, signing="")),
            "groups": {name: asdict(limits) for name, limits in self.groups.items()},
        }
        plain: dict[str, object] = json.loads(json.dumps(said))
        return plain

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the settings: a change of any is an event in the history."""
        text = json.dumps(self.settings, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def of_source(source: str) -> Service:
    """The service that a table has when nothing else is said of it."""
    return Service(table=TableSource(source=source))


def read(path: Path) -> Service:
    """Read ``service.toml``.

    Raises
    ------
    InputError
        Naming the file, with the first thing in it that means nothing.
    """
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"the service cannot be read: {error.strerror}", file=path) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"this is no TOML: {error}", file=path) from None
    try:
        return _checked(_service(said), path.parent)
    except InputError as error:
        raise error.in_file(path) from None
    except TabprotectError as error:
        raise InputError(str(error), file=path, hint=error.hint) from None


def _service(said: Mapping[str, object]) -> Service:
    top = dict(said)
    groups = _mapping(top.pop("groups", {}), "groups")
    rule = dict(_mapping(top.pop("rule", {}), "rule"))
    name = rule.pop("name", "myopic")
    parts = {
        section: _filled(kind, _mapping(top.pop(section, {}), section), section)
        for section, kind in (
            ("table", TableSource),
            ("criterion", CriterionChoice),
            ("beyond", BeyondChoice),
            ("limits", Limits),
            ("access", Access),
        )
    }
    head = _filled(_Head, _mapping(top.pop("service", {}), "service"), "service")
    if top:
        raise InputError(f"[{next(iter(top))}] means nothing", hint=f"there are {_SECTIONS}")
    if not isinstance(name, str):
        raise InputError("[rule] name is not a text")
    known = parts["limits"]
    assert isinstance(known, Limits)
    return Service(
        title=head.title,
        languages=head.languages,
        rule=RuleChoice(name, MappingProxyType(rule)),
        groups=MappingProxyType(
            {
                group: _filled(Limits, _mapping(g, f"groups.{group}"), f"groups.{group}", known)
                for group, g in groups.items()
            }
        ),
        **parts,
    )


@dataclass(frozen=True)
class _Head:
    title: str = "Table server"
    languages: tuple[str, ...] = ("en",)


_SECTIONS = "[service], [table], [criterion], [rule], [beyond], [limits], [access], [groups.NAME]"


def _mapping(value: object, section: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise InputError(f"{section} is not a section", hint=f"write [{section}]")
    return value


def _filled(kind: Any, said: Mapping[str, object], section: str, start: Any = None) -> Any:
    """A section: every key known, every value of its kind."""
    hints = get_type_hints(kind)
    known = {f.name for f in fields(kind)}
    found: dict[str, object] = {}
    for key, value in said.items():
        if key not in known:
            there = ", ".join(sorted(known))
            raise InputError(f"[{section}] has no {key!r}", hint=f"there are {there}")
        found[key] = _value(hints[key], value, f"[{section}] {key}")
    return replace(start if start is not None else kind(), **found)


def _value(hint: Any, value: object, where: str) -> object:
    if get_args(hint) and all(isinstance(choice, str) for choice in get_args(hint)):
        if value not in get_args(hint):
            raise InputError(f"{where} is {value!r}", hint=f"one of {', '.join(get_args(hint))}")
        return value
    if hint == tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise InputError(f"{where} is not a list of texts")
        return tuple(value)
    if hint is float and type(value) is int:
        value = float(value)
    if type(value) is not hint:
        raise InputError(f"{where} is {value!r}", hint=f"it must be of the kind {hint.__name__}")
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
        raise InputError(f"{where} is below 0")
    return value


def _checked(service: Service, folder: Path) -> Service:
    if not service.table.source:
        raise InputError("[table] names no source", hint='write source = "table.csv"')
    if service.criterion.bounds not in BOUNDS_WAYS:
        raise InputError("[criterion] bounds is unknown")
    criteria()[service.criterion.name]
    try:
        rules()[service.rule.name].resolve(service.rule.parameters)
    except ParameterError as error:
        raise InputError(f"[rule] {error}", hint=error.hint) from None
    for limits in (service.limits, *service.groups.values()):
        if min(limits.cells, limits.requests, limits.window, limits.body, limits.name) < 1:
            raise InputError("a limit is below 1", hint="only quantum may be 0")
    table, access = service.table, service.access
    if not table.source.startswith(PREFIX):
        table = replace(table, source=str((folder / table.source).absolute()))
    if access.signing:
        access = replace(access, signing=str((folder / access.signing).absolute()))
    return replace(service, table=table, access=access)
