"""``serve`` and ``accounts``: the table server for outside users."""

from __future__ import annotations

import argparse

from tabprotect.cli.arguments import positive
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError, Verbs
from tabprotect.engine.decoding import natural
from tabprotect.engine.errors import needing
from tabprotect.engine.project.sources import absolute
from tabprotect.languages.messages import message

SERVER = ("server", message("the table server"))
"""Its extra, and what it is called. It is loaded where it is started."""


BOUNDARY = (
    (
        "--allowed-hosts",
        "NAME",
        message("names by which it may be asked (default: those of this machine for itself)"),
    ),
    ("--allowed-origins", "ORIGIN", message("origins, https://name, whose pages may read what is out")),
    (
        "--trusted-proxy",
        "ADDRESS",
        message("addresses and networks of proxies in front, which say whose request they pass on"),
    ),
)
"""Options of the boundary: of ``[access]`` in the service file."""


def add(verbs: Verbs) -> None:
    """Declare the command."""
    serve = verbs.add("serve", run_serve)
    serve.add_argument(
        "source", nargs="?", metavar="SOURCE", help=message("a table, example:NAME, or service.toml")
    )
    serve.add_argument("--service", metavar="FILE", help=message("service.toml, which fixes everything else"))
    serve.add_argument(
        "--host", default="127.0.0.1", help=message("the address to listen on (default: this machine alone)")
    )
    serve.add_argument("--port", type=_port, default=8000, help=message("(default: 8000)"))
    serve.add_argument(
        "--database",
        metavar="URL",
        help=message(
            "the history (confidential): an SQLite file or any SQLAlchemy URL "
            "(default: a file beside the settings)"
        ),
    )
    serve.add_argument(
        "--workers", type=positive, default=1, metavar="N", help=message("processes (default: 1)")
    )

    for name, metavar, text in BOUNDARY:
        serve.add_argument(name, nargs="+", default=[], metavar=metavar, help=text)
    serve.add_argument(
        "--secret-file",
        metavar="FILE",
        help=message("the secret that signs sessions (confidential); made where there is none"),
    )

    accounts = verbs.group("accounts")
    adding = accounts.add("add", run_add, message("make an account; its key is shown this once"))
    adding.add_argument("name", metavar="NAME")
    adding.add_argument("--role", default="user", choices=("user", "operator", "auditor"))
    adding.add_argument("--group", default="", help=message("whose limits hold, from service.toml"))
    ending = accounts.add("withdraw", run_withdraw, message("end the key of an account"))
    ending.add_argument("name", metavar="NAME")
    listing = accounts.add("list", run_list, message("all accounts"))
    for parser in (adding, ending, listing):
        parser.add_argument("--database", metavar="URL", help=message("as of serve"))


def _port(text: str) -> int:
    if natural(text) is None or not 0 <= int(text) < 65536:
        raise argparse.ArgumentTypeError(message("not a port: {text}", repr(text)))
    return int(text)


def run_serve(args: argparse.Namespace, console: Console) -> int:
    """Serve until interrupted."""
    source, service = args.source, args.service
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
    console.say(f"http://{args.host}:{args.port}/  (Ctrl+C ends it)")
    run(
        source=None if source is None else absolute(source),
        service=service,
        database=args.database,
        at=Listening(args.host, args.port, args.workers),
        boundary={
            name: getattr(args, name) for name in ("allowed_hosts", "allowed_origins", "trusted_proxy")
        },
        secret_file=None if args.secret_file is None else absolute(args.secret_file),
        progress=console,
    )
    return 0


def run_add(args: argparse.Namespace, console: Console) -> int:
    """Make an account and print its key."""
    with needing(*SERVER):
        from tabprotect.server.hosting.running import accounts_at
    with accounts_at(args.database) as accounts:
        key = accounts.add(args.name, args.role, args.group)
    data = {"name": args.name, "role": args.role, "group": args.group, "key": key}
    console.result(data, [key])
    return 0


def run_withdraw(args: argparse.Namespace, console: Console) -> int:
    """End the key of an account."""
    with needing(*SERVER):
        from tabprotect.server.hosting.running import accounts_at
    with accounts_at(args.database) as accounts:
        accounts.withdraw(args.name)
    console.result({"name": args.name, "withdrawn": True}, [message("{name}: withdrawn", args.name)])
    return 0


def run_list(args: argparse.Namespace, console: Console) -> int:
    """Print every account."""
    with needing(*SERVER):
        from tabprotect.server.hosting.running import accounts_at
    with accounts_at(args.database) as accounts:
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
    return 0
