"""Signatures: whoever changes a signed bundle, or its signer, is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tabprotect.engine.bundle import archive, public, signature
from tabprotect.engine.bundle.archive import unpack
from tabprotect.engine.bundle.verify import KIND, Verifying, verify_bytes
from tabprotect.engine.errors import BundleError, InputError
from tabprotect.engine.protection.problem import Protected
from tests.engine.bundle.test_verify import Files, refused, zipped


@pytest.fixture
def keys(tmp_path: Path) -> tuple[Path, str]:
    return tmp_path / "k", signature.new_key(tmp_path / "k")


@pytest.fixture
def bundle(protected: Protected, keys: tuple[Path, str]) -> Files:
    data = public.verified_bytes(protected.release, signing=keys[:1])
    assert data == public.verified_bytes(protected.release, signing=keys[:1])
    return unpack(data, allowed=lambda name: True)


def test_the_signer_is_named_and_may_be_asked_for(bundle: Files, keys: tuple[Path, str]) -> None:
    found = verify_bytes(zipped(bundle), Verifying(quick=True, signer=keys[1]))
    assert found.signers == (keys[1],)
    assert any(keys[1] in check for check in found.checks)
    with pytest.raises(BundleError, match="not signed by") as error:
        verify_bytes(zipped(bundle), Verifying(quick=True, signer="ab" * 32))
    assert keys[1] in error.value.hint
    unsigned = {n: d for n, d in bundle.items() if n != signature.NAME}
    assert verify_bytes(zipped(unsigned)).signers == ()
    with pytest.raises(BundleError, match="not signed by"):
        verify_bytes(zipped(unsigned), Verifying(quick=True, signer=keys[1]))


def test_another_program_agrees(bundle: Files, keys: tuple[Path, str]) -> None:
    stated = json.loads(bundle[signature.NAME])["signatures"][0]
    public_key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(keys[1]))
    public_key.verify(bytes.fromhex(stated["signature"]), bundle["manifest.json"])


def test_a_forger_who_seals_again_is_found(bundle: Files) -> None:
    changed = {n: d for n, d in bundle.items() if n not in (archive.MANIFEST, signature.NAME)}
    changed["README.md"] += b"!"
    forged = archive.sealed(changed, KIND) | {signature.NAME: bundle[signature.NAME]}
    refused(zipped(forged), "does not belong to this bundle")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{}",
        b'{"signatures": []}',
        b'{"signatures": [1]}',
        b'{"signatures": [{"algorithm": "none", "public_key": "", "signature": ""}]}',
        b'{"signatures": [{"algorithm": "Ed25519", "public_key": "00", "signature": "00"}]}',
        b'{"signatures": [{"algorithm": "Ed25519", "public_key": "%s", "signature": "%s"}]}'
        % (b"ff" * 32, b"00" * 64),
        b'{"signatures": [{"algorithm": "Ed25519", "public_key": ["00"], "signature": 5}]}',
        b'{"signatures": %s}' % json.dumps([{}] * 17).encode(),
    ],
)
def test_what_is_no_signature(bundle: Files, text: bytes) -> None:
    refused(zipped(bundle | {signature.NAME: text}), "signature")


def test_key_files(tmp_path: Path, keys: tuple[Path, str]) -> None:
    private, known = keys
    beside = tmp_path / "k.pub"
    assert private.stat().st_mode & 0o777 == 0o600
    assert beside.stat().st_mode & 0o044
    assert known in (signature.public_key(str(beside)), signature.public_key(known.upper()))
    before = private.read_bytes()
    with pytest.raises(InputError, match="already"):
        signature.new_key(private)
    beside.unlink()
    with pytest.raises(InputError, match="already"):
        signature.new_key(private)
    assert private.read_bytes() == before and not beside.exists()
    other = ec.generate_private_key(ec.SECP256R1())
    (tmp_path / "ec").write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (tmp_path / "text").write_text("hello")
    for wrong in ("ec", "text"):
        with pytest.raises(InputError, match="no private key"):
            signature.private_key(tmp_path / wrong)
        with pytest.raises(InputError, match="no public key"):
            signature.public_key(str(tmp_path / wrong))
    with pytest.raises(InputError, match="no public key"):
        signature.public_key(str(private))
    with pytest.raises(InputError, match="no such file"):
        signature.private_key(tmp_path / "none")


def test_keys_of_small_order_are_refused(bundle: Files) -> None:
    """All points of the curve whose order divides 8, found from the definition (RFC 8032, 5.1)."""
    p = 2**255 - 19
    d = -121665 * pow(121666, -1, p) % p

    def added(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
        (x, y), (u, v) = one, other
        t = d * x * u * y * v % p
        return ((x * v + u * y) * pow(1 + t, -1, p) % p, (y * v + x * u) * pow(1 - t, -1, p) % p)

    # A point of order 8 doubles to one with y = 0: y^2 = -x^2, and so d x^4 - 2 x^2 - 1 = 0.
    root = pow(2, (p - 1) // 4, p)
    points = {(0, 1), (0, p - 1), (root, 0), (p - root, 0)}
    for sign in (1, -1):
        square = (1 + sign * _root(1 + d, p)) * pow(d, -1, p) % p
        for x in (_root(square, p), p - _root(square, p)):
            if x * x % p == square:
                y = _root(-square % p, p)
                points |= {(x, y), (x, p - y)}
    points = {(x, y) for x, y in points if (y * y - x * x - 1 - d * x * x * y * y) % p == 0}
    assert len(points) == 8
    for point in points:
        twice = point
        for _ in range(3):
            twice = added(twice, twice)
        assert twice == (0, 1)
    places = {y + (x & 1) * 2**255 for x, y in points}
    # Encodings that are not reduced, and the other sign of x = 0.
    places |= {
        y + k * p + s * 2**255 for _, y in points for k in (0, 1) for s in (0, 1) if y + k * p < 2**255
    }
    for place in places:
        key = place.to_bytes(32, "little").hex()
        assert signature.is_of_small_order(key)
        with pytest.raises(InputError, match="anybody can sign"):
            signature.public_key(key)
        one = {"algorithm": "Ed25519", "public_key": key, "signature": "01" + "00" * 63}
        stated = {"of": "manifest.json", "signatures": [one]}
        forged = bundle | {signature.NAME: json.dumps(stated).encode()}
        refused(zipped(forged), "anybody can sign")
    assert not signature.is_of_small_order(json.loads(bundle[signature.NAME])["signatures"][0]["public_key"])


def _root(square: int, p: int) -> int:
    """A square root modulo p = 5 mod 8, or something that is none."""
    found = pow(square, (p + 3) // 8, p)
    return found if found * found % p == square % p else found * pow(2, (p - 1) // 4, p) % p
