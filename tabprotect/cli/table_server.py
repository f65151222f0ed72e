"""``serve``: the table server for outside users."""

from __future__ import annotations

import argparse

from tabprotect.cli.arguments import absolute, positive
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError, Verbs
from tabprotect.engine.errors import InputError


def add(verbs: Verbs) -> None:
    """Declare the command."""
    serve = verbs.add("serve", run_serve)
    serve.add_argument(
        "source", nargs="?", metavar="SOURCE", help="a table, example:NAME, or service.toml"
    )
    serve.add_argument(
        "--service", metavar="FILE", help="service.toml, which fixes everything else"
    )
    serve.add_argument(
        "--host", default="127.0.0.1", help="the address to listen on (default: this machine alone)"
    )
    serve.add_argument("--port", type=_port, default=8000, help="(default: 8000)")
    serve.add_argument(
        "--database",
        metavar="URL",
        help="the history (confidential): an SQLite file or any SQLAlchemy URL "
        "(default: a file beside the settings)",
    )
    serve.add_argument(
        "--workers", type=positive, default=1, metavar="N", help="processes (default: 1)"
    )


def _port(text: str) -> int:
    if not text.isdigit() or not 0 <= int(text) < 65536:
        raise argparse.ArgumentTypeError(f"not a port: {text!r}")
    return int(text)


def run_serve(args: argparse.Namespace, console: Console) -> int:
    """Serve until interrupted."""
    source, service = args.source, args.service
    if source is not None and source.endswith(".toml"):
        if service is not None:
            raise UsageError("one service.toml is enough")
        source, service = None, source
    if source is None and service is None:
        raise UsageError("name a table or a service.toml")
    if source is not None and service is not None:
        raise UsageError("the table is named in service.toml: leave out SOURCE")
    try:
        # The one place that starts the server: everything else runs where it is not installed.
        from tabprotect.server.running import run
    except ModuleNotFoundError as error:
        raise InputError(
            f"the table server cannot be loaded: {error.name} is not installed",
            hint="install it with: pip install 'tabprotect[server]'",
        ) from None
    console.say(f"http://{args.host}:{args.port}/  (Ctrl+C ends it)")
    run(
        source=None if source is None else absolute(source),
        service=service,
        database=args.database,
        host=args.host,
        port=args.port,
        workers=args.workers,
        progress=console,
    )
    return 0
