"""``keys``: those that sign, and the one of the house."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

from tabprotect.cli.output import Console
from tabprotect.cli.verbs import Verbs
from tabprotect.engine import house
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle import signature
from tabprotect.languages.said import say


def add(verbs: Verbs) -> None:
    """Declare the commands."""
    keys = verbs.group("keys")
    new = keys.add("new", run_new, say("make a key to sign bundles with"))
    new.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="KEY",
        help=say("CONFIDENTIAL; the public one: .pub"),
    )
    own = keys.add(
        "house", run_house, say("say where the key of the house is; made where there is none")
    )
    own.add_argument("--out", type=Path, metavar="FILE", help=say("write a copy; CONFIDENTIAL"))


def run_new(args: argparse.Namespace, console: Console) -> int:
    """Make a pair of keys."""
    public = signature.new_key(args.out)
    beside = args.out.with_name(args.out.name + signature.PUBLIC_SUFFIX)
    console.result(
        {"private": str(args.out), "public": str(beside), "public_key": public},
        [
            say("Private key (CONFIDENTIAL): {out}", args.out),
            say("Public key, for readers: {beside}", beside),
            say("The same in figures: {public}", public),
            say(
                "Publish it where readers trust you: a signature says which key signed, not whose it is."
            ),
        ],
    )
    return 0


def run_house(args: argparse.Namespace, console: Console) -> int:
    """Say where the house's key is and which one it is; never the key."""
    made = not house.key_file().exists()
    key, path = house.key(make=True), house.key_file()
    mark = hashlib.sha256(b"tabprotect house key " + key).hexdigest()[:16]
    if args.out is not None:
        write_bytes(args.out, f"{key.hex()}\n".encode(), overwrite=False, private=True)
    copy = None if args.out is None else str(args.out)
    console.result(
        {"file": str(path), "mark": mark, "made": made, "copy": copy, "confidential": True},
        [
            say("Key of the house (CONFIDENTIAL): {path}", path)
            + (say(", made now") if made else ""),
            say("Its mark, to compare two copies: {mark}", mark),
            *([] if copy is None else [say("A copy (CONFIDENTIAL): {copy}", copy)]),
            say(
                "Keep a copy where originals are kept. Without it the same table gets other coins, and "
                "the average of both releases tells more than either."
            ),
        ],
    )
    return 0
