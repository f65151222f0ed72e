"""``keys``: those that sign, and the one of the house."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.engine import agency
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle import signature
from tabprotect.engine.options import Options, option_field
from tabprotect.engine.paths import is_there
from tabprotect.engine.register.register_chain import mark_of_key
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, kw_only=True)
class KeysNew(Options):
    """Arguments of ``keys new``."""

    out: Path = option_field(metavar="KEY", help=message("CONFIDENTIAL; the public one: .pub"))


@dataclass(frozen=True, kw_only=True)
class KeysHouse(Options):
    """Arguments of ``keys house``."""

    out: Path | None = option_field(None, metavar="FILE", help=message("write a copy; CONFIDENTIAL"))
    rotate: bool = option_field(
        False, help=message("make another key, and mark again what the register has the originals of")
    )
    originals: Sequence[Path] = option_field(
        (),
        metavar="FILE|FOLDER",
        help=message("with --rotate: dossiers and tables beside the dossiers that the register names"),
        several=True,
    )
    register: str | None = option_field(None, metavar="FILE|URL", help=message("with --rotate: the register"))


@command(
    "keys new",
    help=message("make a key to sign bundles with"),
    example="tabprotect keys new --out CONFIDENTIAL-signing.key",
)
def run_new(asked: KeysNew, console: Console) -> None:
    """Make a pair of keys."""
    public = signature.new_key(asked.out)
    beside = asked.out.with_name(asked.out.name + signature.PUBLIC_SUFFIX)
    console.result(
        {"private": str(asked.out), "public": str(beside), "public_key": public},
        [
            message("Private key (CONFIDENTIAL): {out}", asked.out),
            message("Public key, for readers: {beside}", beside),
            message("The same in figures: {public}", public),
            message(
                "Publish it where readers trust you: a signature says which key signed, not whose it is."
            ),
        ],
    )


@command(
    "keys house",
    help=message("say where the key of the house is; made where there is none"),
    example="tabprotect keys house",
)
def run_house(asked: KeysHouse, console: Console) -> int:
    """Say where the house's key is and which one it is; never the key."""
    if asked.rotate:
        return _rotated(asked, console)
    path = agency.key_file()
    made, key = not is_there(path), agency.key(make=True)
    mark = mark_of_key(key)[:16]
    if asked.out is not None:
        write_bytes(asked.out, f"{key.hex()}\n".encode(), overwrite=False, private=True)
    copy = None if asked.out is None else str(asked.out)
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


def _rotated(asked: KeysHouse, console: Console) -> int:
    # The library behind the register would be a third of the program's start.
    from tabprotect.engine.project.releasing.rotating import rotate

    done = rotate(asked.register, asked.originals, console)
    path = agency.key_file()
    if asked.out is not None:
        write_bytes(asked.out, f"{agency.key().hex()}\n".encode(), overwrite=False, private=True)
    console.result(
        {
            "file": str(path),
            "mark": done.mark,
            "kept": str(done.kept),
            "marked": done.marked,
            "unmarked": done.unmarked,
            "copy": None if asked.out is None else str(asked.out),
            "confidential": True,
        },
        [
            message("New key of the house (CONFIDENTIAL): {path}", path),
            message("The old one (CONFIDENTIAL): {kept}", done.kept),
            message(
                "Marked again: {n} of {total} releases",
                len(done.marked),
                len(done.marked) + len(done.unmarked),
            ),
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
