"""Signatures of bundles: Ed25519 (RFC 8032) over the bytes of the manifest.

The manifest lists the SHA-256 of every other file, so that its signature covers them all. A
signature tells which key signed; the owner of the key must be made known elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.engine.atomic import Whole, write_together
from tabprotect.engine.bundle import archive
from tabprotect.engine.bundle.archive import dump_json, parse_json
from tabprotect.engine.errors import BundleError, InputError
from tabprotect.engine.paths import read_text
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

LONGEST = 10_000
"""The most bytes of a key file."""


# The cryptography library is imported where it is used: most bundles have no signature, and it
# would slow the start of every command.

NAME = "signature.json"
ALGORITHM = "Ed25519"
KEY_BYTES, SIGNATURE_BYTES = 32, 64
MOST_SIGNATURES = 16

PUBLIC_SUFFIX = ".pub"

_SMALL_ORDER = frozenset(
    bytes.fromhex(place)
    for place in (
        "00" * 32,
        "01" + "00" * 31,
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ec" + "ff" * 30 + "7f",
        "ed" + "ff" * 30 + "7f",
        "ee" + "ff" * 30 + "7f",
    )
)
"""The points whose order divides 8, without the sign of x: with such a key anybody can make signatures
that hold for any manifest (Chalkias, Garillot, Nikolaenko: Taming the many EdDSAs, 2020)."""


def new_key(path: Path) -> str:
    """Write a new private key (PKCS 8, PEM, mode 0600) with its public key beside it (``.pub``).

    Returns
    -------
    str
        The public key in hexadecimal.

    Raises
    ------
    InputError
        When files of these names exist, or they cannot be written.
    """
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    public = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    beside = path.with_name(path.name + PUBLIC_SUFFIX)
    write_together(
        [Whole(beside, public, overwrite=False), Whole(path, private, overwrite=False, private=True)]
    )
    return key.public_key().public_bytes_raw().hex()


def private_key(path: Path) -> Ed25519PrivateKey:
    """Read a private key from a file.

    Raises
    ------
    InputError
        When it cannot be read, or holds no Ed25519 private key.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    text = read_text(path, most=LONGEST)
    try:
        found = load_pem_private_key(text.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        found = None
    if not isinstance(found, Ed25519PrivateKey):
        raise InputError(
            message("this is no private key to sign with"), file=path, hint=message("make one with: keys new")
        )
    return found


def public_of(path: Path) -> str:
    """The public key, in hexadecimal, of the private one in a file.

    Raises
    ------
    InputError
        As :func:`private_key`.
    """
    return private_key(path).public_key().public_bytes_raw().hex()


def public_key(given: str) -> str:
    """A public key in hexadecimal, given as its file or in hexadecimal.

    Raises
    ------
    InputError
        For anything else, including a private key.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    if _is_hex(given.strip(), KEY_BYTES):
        return _sound(given.strip().lower(), None)
    path = Path(given)
    text = read_text(path, most=LONGEST)
    if _is_hex(text.strip(), KEY_BYTES):
        return _sound(text.strip().lower(), path)
    try:
        found = load_pem_public_key(text.encode())
    except (ValueError, UnsupportedAlgorithm):
        found = None
    if not isinstance(found, Ed25519PublicKey):
        raise InputError(
            message("this is no public key of a signer"),
            file=path,
            hint=message("take the file {PUBLIC_SUFFIX}", PUBLIC_SUFFIX),
        )
    return _sound(found.public_bytes_raw().hex(), path)


def is_of_small_order(key: str) -> bool:
    """Return True if a public key in hexadecimal is a point whose order divides 8: everybody's key."""
    data = bytearray.fromhex(key)
    data[-1] &= 0x7F
    return bytes(data) in _SMALL_ORDER


def _sound(key: str, path: Path | None) -> str:
    if is_of_small_order(key):
        raise InputError(
            message("this key is nobody's: anybody can sign with it"),
            file=path,
            hint=message("ask the publisher for the key"),
        )
    return key


def _is_hex(text: object, size: int) -> bool:
    try:
        return isinstance(text, str) and text.isascii() and len(bytes.fromhex(text)) == size
    except ValueError:
        return False


def signed(files: Mapping[str, bytes], keys: Sequence[Ed25519PrivateKey]) -> dict[str, bytes]:
    """The files of a bundle followed by signatures of their manifest."""
    signatures = [
        {
            "algorithm": ALGORITHM,
            "public_key": key.public_key().public_bytes_raw().hex(),
            "signature": key.sign(files[archive.MANIFEST]).hex(),
        }
        for key in keys
    ]
    stated = {"of": archive.MANIFEST, "signatures": signatures}
    return {**files, NAME: dump_json(stated)}


def signers(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """The public keys that signed, each once; empty if there is no signature.

    Raises
    ------
    BundleError
        When a signature is malformed, or not valid for its key and this manifest.
    """
    if NAME not in files:
        return ()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    stated = parse_json(NAME, files[NAME])
    listed = stated.get("signatures") if isinstance(stated, dict) else None
    if not isinstance(listed, list) or not 0 < len(listed) <= MOST_SIGNATURES:
        raise BundleError(message("{NAME}: there is no list of signatures", NAME))
    found: dict[str, None] = {}
    for one in listed:
        sound = isinstance(one, dict) and one.get("algorithm") == ALGORITHM
        if not (
            sound
            and _is_hex(one.get("public_key"), KEY_BYTES)
            and _is_hex(one.get("signature"), SIGNATURE_BYTES)
        ):
            raise BundleError(message("{NAME}: this is no signature by {ALGORITHM}", NAME, ALGORITHM))
        if is_of_small_order(one["public_key"]):
            raise BundleError(message("{NAME}: this key is nobody's: anybody can sign with it", NAME))
        try:
            public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(one["public_key"]))
            public.verify(bytes.fromhex(one["signature"]), files[archive.MANIFEST])
        except (InvalidSignature, ValueError):
            raise BundleError(message("{NAME}: the signature does not belong to this bundle", NAME)) from None
        found[one["public_key"].lower()] = None
    return tuple(found)
