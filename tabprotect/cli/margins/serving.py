"""``serve`` and ``accounts``: the table server for outside users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.errors import needing
from tabprotect.engine.options import Options, option_field, position
from tabprotect.engine.project.sources import absolute
from tabprotect.languages.messages import message

SERVER = ("server", message("the table server"))
"""Its extra, and what it is called. It is loaded where it is started."""


@dataclass(frozen=True, kw_only=True)
class Serve(Options):
    """Arguments of ``serve``."""

    source: str | None = position(
        None, metavar="SOURCE", help=message("a table, example:NAME, or service.toml")
    )
    service: str | None = option_field(
        None, metavar="FILE", help=message("service.toml, which fixes everything else")
    )
    measure: str | None = option_field(
        None,
        metavar="NAME",
        needs="source",
        help=message("the table holds sums of this measure: by who contributes to them"),
    )
    host: str = option_field(
        "127.0.0.1", help=message("the address to listen on (default: this machine alone)")
    )
    port: int = option_field(8000, low=0, high=65535, help=message("(default: 8000)"))
    database: str | None = option_field(
        None,
        metavar="URL",
        help=message(
            "the history (confidential): an SQLite file or any SQLAlchemy URL "
            "(default: a file beside the settings)"
        ),
    )
    workers: int = option_field(1, metavar="N", help=message("processes (default: 1)"), low=1)
    allowed_hosts: Sequence[str] = option_field(
        (),
        several=True,
        metavar="NAME",
        help=message("names by which it may be asked (default: those of this machine for itself)"),
    )
    allowed_origins: Sequence[str] = option_field(
        (),
        several=True,
        metavar="ORIGIN",
        help=message("origins, https://name, whose pages may read what is out"),
    )
    trusted_proxy: Sequence[str] = option_field(
        (),
        several=True,
        metavar="ADDRESS",
        help=message("addresses and networks of proxies in front, which say whose request they pass on"),
    )
    secret_file: str | None = option_field(
        None,
        metavar="FILE",
        help=message("the secret that signs sessions (confidential); made where there is none"),
    )


@dataclass(frozen=True, kw_only=True)
class Accounts(Options):
    """Whose accounts they are."""

    database: str | None = option_field(None, metavar="URL", help=message("as of serve"))


@dataclass(frozen=True, kw_only=True)
class AccountsAdd(Accounts):
    """Arguments of ``accounts add``."""

    name: str = position(metavar="NAME")
    role: Literal["user", "operator", "auditor"] = option_field("user")
    group: str = option_field("", help=message("whose limits hold, from service.toml"))


@dataclass(frozen=True, kw_only=True)
class AccountsWithdraw(Accounts):
    """Arguments of ``accounts withdraw``."""

    name: str = position(metavar="NAME")


@command("serve", example="tabprotect serve example:czech-autoworkers")
def run_serve(asked: Serve, console: Console) -> None:
    """Serve until interrupted."""
    source, service = asked.source, asked.service
    if source is not None and source.endswith(".toml"):
        if service is not None:
            raise UsageError(message("one service.toml is enough"))
        source, service = None, source
    if source is None and service is None:
        raise UsageError(message("name a table or a service.toml"))
    if source is not None and service is not None:
        raise UsageError(message("the table is named in service.toml: leave out SOURCE"))
    with needing(*SERVER):
        from tabprotect.server.hosting.running import Listening, run
    run(
        source=None if source is None else absolute(source),
        service=service,
        measure=asked.measure,
        database=asked.database,
        at=Listening(asked.host, asked.port, asked.workers),
        boundary={
            name: list(getattr(asked, name)) for name in ("allowed_hosts", "allowed_origins", "trusted_proxy")
        },
        secret_file=None if asked.secret_file is None else absolute(asked.secret_file),
        ready=lambda: console.say(f"http://{asked.host}:{asked.port}/  (Ctrl+C ends it)"),
        progress=console,
    )


@command(
    "accounts add",
    help=message("make an account; its key is shown this once"),
    example="tabprotect accounts add anna --role operator",
    writes=True,
)
def run_add(asked: AccountsAdd, console: Console) -> None:
    """Make an account and print its key."""
    with needing(*SERVER):
        from tabprotect.server.hosting.running import accounts_at
    with accounts_at(asked.database) as accounts:
        key = accounts.add(asked.name, asked.role, asked.group)
    data = {"name": asked.name, "role": asked.role, "group": asked.group, "key": key}
    console.result(data, [key])


@command(
    "accounts withdraw",
    help=message("end the key of an account"),
    example="tabprotect accounts withdraw anna",
    writes=True,
)
def run_withdraw(asked: AccountsWithdraw, console: Console) -> None:
    """End the key of an account."""
    with needing(*SERVER):
        from tabprotect.server.hosting.running import accounts_at
    with accounts_at(asked.database) as accounts:
        accounts.withdraw(asked.name)
    console.result({"name": asked.name, "withdrawn": True}, [message("{name}: withdrawn", asked.name)])


@command("accounts list", help=message("all accounts"), example="tabprotect accounts list")
def run_list(asked: Accounts, console: Console) -> None:
    """Print every account."""
    with needing(*SERVER):
        from tabprotect.server.hosting.running import accounts_at
    with accounts_at(asked.database) as accounts:
        found = accounts.every()
    rows = [{"name": a.name, "role": a.role, "group": a.group, "withdrawn": a.withdrawn} for a in found]
    lines = [
        (
            message("{name}: {role}, withdrawn", a.name, a.role)
            if a.withdrawn
            else message("{name}: {role}", a.name, a.role)
        )
        for a in found
    ]
    console.result({"accounts": rows}, lines or [message("there are no accounts")])
