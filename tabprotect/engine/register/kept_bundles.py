"""Bundles as a register keeps them: what differs from another of the same method. Confidential.

Most of a bundle is its page, and most of a page is the same in every bundle. Of a bundle the register keeps
the lines that its base has not; put together again they give the very bytes of the zip. Figures of a page
that follow from the release by a posterior are worked out again when the bytes are asked for. A seal under
the key of the house says so, so that what a bundle publishes is read without packing it again.
"""

from __future__ import annotations

import hmac
import json
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, TypeGuard

import sqlalchemy as sa

from tabprotect.engine.bundle.archive import pack, unpack
from tabprotect.engine.bundle.reader_page.page import PAGE, worked_out, worked_out_again
from tabprotect.engine.bundle.verify import checked_before, readable
from tabprotect.engine.errors import BundleError, InputError, ParameterError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.register.register_tables import BASE, BUNDLE, PACKED

MOST_LINES = 2**15
"""Lines of a bundle up to which it is compared; a larger one is kept as it is."""

WORTH = 0.5
"""The share of a bundle that the difference may have; beyond, it is a base itself."""

LONG, BEGINNING = 160, 2**13
"""Bytes of a long line, and of the beginning of a base."""

MOST_BASES = 4
"""Bases that a bundle is compared with, the newest first."""

Files = Mapping[str, bytes]


def keep_bundle(
    connection: sa.Connection, fingerprint: str, content: bytes, *, method: str, key: bytes
) -> None:
    """Hold the bytes of a bundle, by their digest; what is held by that name already stays."""
    if kept_files(connection, fingerprint, key) is not None:
        return
    drop_bundle(connection, fingerprint)
    files = _unpacked(content)
    whole = not files or pack(files) != content
    named = [[name, len(data)] for name, data in files.items()]
    if (span := worked_out(files.get(PAGE, b""))) is not None:
        start, end = span
        files = {**files, PAGE: files[PAGE][:start] + files[PAGE][end:]}
        named = [[name, len(data), *([start] * (name == PAGE))] for name, data in files.items()]
    lines = tuple(b"".join(files.values()).splitlines(keepends=True))
    if whole or len(lines) > MOST_LINES:
        connection.execute(sa.insert(BUNDLE).values(fingerprint=fingerprint, content=content))
        return
    newest = sa.select(BASE.c.digest, BASE.c.content).where(BASE.c.method == method)
    newest = newest.order_by(BASE.c.number.desc()).limit(MOST_BASES)
    bases = [(str(d), bytes(c)) for d, c in connection.execute(newest) if _is_sound(d, c)]
    packed = ((base[0], _packed(named, lines, _lines_of(*base))) for base in bases)
    base, said = min(packed, key=lambda one: len(one[1]), default=("", content))
    if len(said) > WORTH * len(content):
        page = zlib.compress(b"".join(lines), 9)
        base, said = sha256(page).hexdigest(), _packed(named, lines, lines)
        if base not in dict(bases):
            connection.execute(sa.delete(BASE).where(BASE.c.digest == base))
            connection.execute(sa.insert(BASE).values(digest=base, method=method, content=page))
    connection.execute(sa.insert(BUNDLE).values(fingerprint=fingerprint, content=said))
    sealed = {"base": base, "seal": _seal(key, fingerprint, base, said)}
    connection.execute(sa.insert(PACKED).values(fingerprint=fingerprint, **sealed))


def drop_bundle(connection: sa.Connection, fingerprint: str) -> None:
    """Hold the bytes of a bundle no longer."""
    for table in (BUNDLE, PACKED):
        connection.execute(sa.delete(table).where(table.c.fingerprint == fingerprint))


def _held() -> sa.Select[tuple[object, ...]]:
    """The query of what is held, with how it is packed."""
    wanted: sa.Select[tuple[object, ...]] = sa.select(
        BUNDLE.c.fingerprint, BUNDLE.c.content, PACKED.c.base, PACKED.c.seal
    ).select_from(BUNDLE.outerjoin(PACKED, PACKED.c.fingerprint == BUNDLE.c.fingerprint))
    return wanted


def kept_files(connection: sa.Connection, fingerprint: str, key: bytes) -> Files | None:
    """The files of a bundle, if they are held as they were; none of what is no bundle.

    A page whose figures are to be worked out again is not among them.
    """
    found = _kept(connection, fingerprint, key)
    return None if found is None else {name: data for name, (data, at) in found.items() if at is None}


def _kept(
    connection: sa.Connection, fingerprint: str, key: bytes
) -> dict[str, tuple[bytes, int | None]] | None:
    """The files of a bundle, and where figures of them are to be worked out again."""
    found = connection.execute(_held().where(BUNDLE.c.fingerprint == fingerprint)).first()
    if found is None or not _is_held(found, key):
        return None
    if found.base is None:
        return {name: (data, None) for name, data in _unpacked(bytes(found.content)).items()}
    base: object = connection.execute(sa.select(BASE.c.content).where(BASE.c.digest == found.base)).scalar()
    if not _is_sound(str(found.base), base):
        return None
    lines = _lines_of(str(found.base), base)
    names, spans = json.loads(zlib.decompressobj(zdict=_dictionary(lines)).decompress(found.content))
    text = b"".join(
        one.encode("latin-1") if isinstance(one, str) else b"".join(lines[slice(*one)]) for one in spans
    )
    files, start = {}, 0
    for name, size, *at in names:
        files[name], start = (text[start : start + size], at[0] if at else None), start + size
    return files


def kept_bundle(
    connection: sa.Connection, fingerprint: str, key: bytes, progress: Progress = SILENT
) -> bytes | None:
    """The bytes of a bundle, if they are held as they were, or can be made again."""
    held = sa.select(BUNDLE.c.content).where(BUNDLE.c.fingerprint == fingerprint)
    if _is_sound(fingerprint, whole := connection.execute(held).scalar()):
        return whole
    found = _kept(connection, fingerprint, key)
    if not found:
        return None
    files = {name: data for name, (data, _) in found.items()}
    if (at := found.get(PAGE, (b"", None))[1]) is not None:
        try:
            release = checked_before(files)
        except (BundleError, InputError, ParameterError):
            return None
        figures = worked_out_again(release, readable(release) if release.tables else None, progress)
        files[PAGE] = files[PAGE][:at] + figures + files[PAGE][at:]
    content = pack(files)
    return content if _is_sound(fingerprint, content) else None


def sound_bundles(connection: sa.Connection, key: bytes) -> set[str]:
    """The fingerprints of all bundles that are held as they were."""
    digests = connection.execute(sa.select(BASE.c.digest, BASE.c.content))
    bases = {None, *(str(digest) for digest, content in digests if _is_sound(digest, content))}
    held = connection.execute(_held())
    return {str(one.fingerprint) for one in held if one.base in bases and _is_held(one, key)}


def seal_again(connection: sa.Connection, old: bytes, new: bytes) -> None:
    """Seal what is held under another key; what is not as it was stays so."""
    for one in connection.execute(_held().where(PACKED.c.base.is_not(None))).all():
        if _is_held(one, old):
            seal = _seal(new, one.fingerprint, one.base, one.content)
            own = PACKED.c.fingerprint == one.fingerprint
            connection.execute(sa.update(PACKED).where(own).values(seal=seal))


def _is_held(row: Any, key: bytes) -> bool:
    """Return True if what is held by a fingerprint is as it was entered."""
    if row.base is None:
        return _is_sound(row.fingerprint, row.content)
    return isinstance(row.content, bytes) and row.seal == _seal(key, row.fingerprint, row.base, row.content)


def _is_sound(digest: str, content: object) -> TypeGuard[bytes]:
    return isinstance(content, bytes) and sha256(content).hexdigest() == digest


def _seal(key: bytes, fingerprint: str, base: str, content: bytes) -> str:
    said = f"tabprotect register bundle\n{fingerprint} {base} {sha256(content).hexdigest()}"
    return hmac.new(key, said.encode(), sha256).hexdigest()


def _unpacked(content: bytes) -> Files:
    """The files of a bundle; none of what is no bundle, such as the manifest of a set."""
    try:
        return unpack(content, allowed=lambda _: True)
    except BundleError:
        return {}


@lru_cache(maxsize=16)
def _lines_of(digest: str, content: bytes) -> tuple[bytes, ...]:
    """The lines of a base, by its digest."""
    return tuple(zlib.decompress(content).splitlines(keepends=True))


def _packed(named: Sequence[Sequence[object]], lines: Sequence[bytes], base: tuple[bytes, ...]) -> bytes:
    """The names and sizes of files, and their lines as spans of those of a base, with the text of those that it has not."""
    place = {line: number for number, line in reversed(list(enumerate(base)))}
    spans: list[list[int] | str] = []
    for line in lines:
        last = spans[-1] if spans else ""
        if not isinstance(last, str) and base[last[1] : last[1] + 1] == (line,):
            last[1] += 1
        elif line in place:
            spans.append([place[line], place[line] + 1])
        else:
            spans.append(line.decode("latin-1"))
    packer = zlib.compressobj(9, zdict=_dictionary(base))
    return packer.compress(json.dumps([named, spans]).encode()) + packer.flush()


@lru_cache(maxsize=16)
def _dictionary(base: tuple[bytes, ...]) -> bytes:
    """Long lines of a base, and how it begins: what a line that differs is made of."""
    long = b"".join(line for line in base if len(line) >= LONG)
    return b"".join(base)[:BEGINNING] + long[-(2**15 - BEGINNING) :]
