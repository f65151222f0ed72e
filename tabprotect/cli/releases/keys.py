"""``keys``: those that sign, and the one of the house."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.cli.output import Console
from tabprotect.cli.verbs import Verbs
from tabprotect.engine import house
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle import signature
from tabprotect.engine.paths import is_there
from tabprotect.engine.register.register_chain import mark_of_key
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.project.releasing.rotating import Rotation


def add(verbs: Verbs) -> None:
    """Declare the commands."""
    keys = verbs.group("keys")
    new = keys.add("new", run_new, message("make a key to sign bundles with"))
    new.add_argument(
        "--out", type=Path, required=True, metavar="KEY", help=message("CONFIDENTIAL; the public one: .pub")
    )
    own = keys.add("house", run_house, message("say where the key of the house is; made where there is none"))
    own.add_argument("--out", type=Path, metavar="FILE", help=message("write a copy; CONFIDENTIAL"))
    own.add_argument(
        "--rotate",
        action="store_true",
        help=message("make another key, and mark again what the register has the originals of"),
    )
    own.add_argument(
        "--originals",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE|FOLDER",
        help=message("with --rotate: dossiers and tables beside the dossiers that the register names"),
    )
    own.add_argument("--register", metavar="FILE|URL", help=message("with --rotate: the register"))


def run_new(args: argparse.Namespace, console: Console) -> int:
    """Make a pair of keys."""
    public = signature.new_key(args.out)
    beside = args.out.with_name(args.out.name + signature.PUBLIC_SUFFIX)
    console.result(
        {"private": str(args.out), "public": str(beside), "public_key": public},
        [
            message("Private key (CONFIDENTIAL): {out}", args.out),
            message("Public key, for readers: {beside}", beside),
            message("The same in figures: {public}", public),
            message(
                "Publish it where readers trust you: a signature says which key signed, not whose it is."
            ),
        ],
    )
    return 0


def run_house(args: argparse.Namespace, console: Console) -> int:
    """Say where the house's key is and which one it is; never the key."""
    if args.rotate:
        return _rotated(args, console)
    made = not is_there(house.key_file())
    key, path = house.key(make=True), house.key_file()
    mark = mark_of_key(key)[:16]
    if args.out is not None:
        write_bytes(args.out, f"{key.hex()}\n".encode(), overwrite=False, private=True)
    copy = None if args.out is None else str(args.out)
    console.result(
        {"file": str(path), "mark": mark, "made": made, "copy": copy, "confidential": True},
        [
            message("Key of the house (CONFIDENTIAL): {path}", path)
            + (message(", made now") if made else ""),
            message("Its mark, to compare two copies: {mark}", mark),
            *([] if copy is None else [message("A copy (CONFIDENTIAL): {copy}", copy)]),
            message(
                "Keep a copy where originals are kept. Without it the same table gets other coins, and "
                "the average of both releases tells more than either."
            ),
        ],
    )
    return 0


def _rotated(args: argparse.Namespace, console: Console) -> int:
    # The library behind the register would be a third of the program's start.
    from tabprotect.engine.project.releasing.rotating import rotate

    done = rotate(args.register, args.originals, console)
    path = house.key_file()
    if args.out is not None:
        write_bytes(args.out, f"{house.key().hex()}\n".encode(), overwrite=False, private=True)
    console.result(
        {
            "file": str(path),
            "mark": done.mark,
            "kept": str(done.kept),
            "marked": list(done.marked),
            "unmarked": list(done.unmarked),
            "copy": None if args.out is None else str(args.out),
            "confidential": True,
        },
        [
            message("New key of the house (CONFIDENTIAL): {path}", path),
            message("The old one (CONFIDENTIAL): {kept}", done.kept),
            message("Marked again: {n} of {total} releases", len(done.marked), _all(done)),
            *(
                [
                    message(
                        "Not found again, since their originals are not here: {numbers}. Name their "
                        "dossiers or tables with --originals before the old key is given up.",
                        ", ".join(map(str, done.unmarked)),
                    )
                ]
                if done.unmarked
                else []
            ),
            message(
                "From now on the same table gets other coins: what is published again tells more, "
                "and the register warns of it."
            ),
        ],
    )
    return 0


def _all(done: Rotation) -> int:
    return len(done.marked) + len(done.unmarked)
