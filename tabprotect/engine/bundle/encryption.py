"""Encrypted dossiers: AES-256-GCM under a key that scrypt derives from a passphrase.

A line that names the form, one of JSON (cost and salt of scrypt, nonce, and 16 bytes derived beside the
key, by which a wrong passphrase is told from a damaged file), then the encrypted zip.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
from pathlib import Path

from tabprotect.engine.errors import BundleError, InputError
from tabprotect.engine.paths import read_text
from tabprotect.languages.messages import message

# The cryptography library is imported where it is used: it would slow the start of every command.

MAGIC = b"tabprotect encrypted dossier 1\n"

KEY = "TABPROTECT_DOSSIER_KEY"
"""The environment variable that names the file of the passphrase by which dossiers are opened."""

COST, MOST_COST, BLOCK = 2**16, 2**20, 8
"""Of scrypt: 64 MiB and about a quarter of a second; and the most that a file may ask for."""

SHORTEST = 12
"""Characters of a passphrase."""

_HEADER = 1000


def is_encrypted(data: bytes) -> bool:
    """Return True if the bytes begin as an encrypted dossier."""
    return data.startswith(MAGIC)


def passphrase(file: Path | str) -> bytes:
    """The passphrase, or key, that is the first line of a file.

    Raises
    ------
    InputError
        When it cannot be read, or is too short to be a secret.
    """
    path = Path(file)
    first = read_text(path, most=_HEADER).partition("\n")[0].strip()
    if len(first) < SHORTEST:
        raise InputError(
            message("a passphrase has {SHORTEST} characters or more", SHORTEST),
            file=path,
            hint=message("write a longer one in its first line, or 64 figures that were drawn"),
        )
    return first.encode("utf-8", "surrogateescape")


def encrypted(data: bytes, secret: bytes) -> bytes:
    """The bytes of a dossier, encrypted; salt and nonce are drawn each time."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    salt, nonce = secrets.token_bytes(16), secrets.token_bytes(12)
    key, check = _derived(secret, salt, COST)
    stated = {"kdf": "scrypt", "n": COST, "salt": salt.hex(), "nonce": nonce.hex(), "check": check.hex()}
    head = MAGIC + json.dumps(stated).encode() + b"\n"
    return head + AESGCM(key).encrypt(nonce, data, head)


def decrypted(data: bytes, secret: bytes) -> bytes:
    """The zip in an encrypted dossier.

    Raises
    ------
    BundleError
        When the passphrase is another, or the file was changed.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    end = data.find(b"\n", len(MAGIC), _HEADER) + 1
    try:
        stated = json.loads(data[len(MAGIC) : end])
        salt, nonce, check = (bytes.fromhex(stated[name]) for name in ("salt", "nonce", "check"))
        cost = int(stated["n"])
        if not (2 <= cost <= MOST_COST and cost & (cost - 1) == 0):
            raise ValueError
        key, own = _derived(secret, salt, cost)
        if not hmac.compare_digest(own, check):
            raise BundleError(
                message("the passphrase is not the one that this dossier was encrypted with"),
                hint=message("nothing was opened; name the file that it was encrypted with"),
            )
        return AESGCM(key).decrypt(nonce, data[end:], data[:end])
    except (InvalidTag, KeyError, TypeError, ValueError):
        raise BundleError(
            message("the encrypted dossier is damaged, or was changed"),
            hint=message("take another copy; the passphrase cannot repair it"),
        ) from None


def opened(data: bytes, name: str) -> bytes:
    """The zip in an encrypted dossier, by the passphrase whose file the environment names.

    Raises
    ------
    BundleError
        When the environment names none, or as :func:`decrypted`.
    """
    if file := os.environ.get(KEY):
        return decrypted(data, passphrase(file))
    raise BundleError(
        message("this dossier is encrypted"),
        hint=message(
            "name the file of its passphrase in {KEY}; or write it in the plain: tabprotect dossier open "
            "{name} --key FILE --out CONFIDENTIAL-dossier.zip",
            KEY,
            name,
        ),
    )


def _derived(secret: bytes, salt: bytes, cost: int) -> tuple[bytes, bytes]:
    """The key of a passphrase, and 16 bytes that tell it from others."""
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    found = Scrypt(salt=salt, length=48, n=cost, r=BLOCK, p=1).derive(secret)
    return found[:32], found[32:]
