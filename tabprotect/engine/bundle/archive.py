"""Zip archives: the same files give the same bytes, and foreign archives are opened without trust.

Each has a manifest with the SHA-256 and size of every file, and the versions that wrote it.
"""

from __future__ import annotations

import hashlib
import io
import json
import stat
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

from tabprotect.engine.budgets import (
    MAX_ARCHIVE,
    MAX_JSON,
    MAX_JSON_ITEMS,
    MAX_JSON_LISTS,
    MAX_MEMBER,
    MAX_UNPACKED,
)
from tabprotect.engine.bundle import encryption
from tabprotect.engine.errors import BundleError, InputError
from tabprotect.engine.paths import check_file, is_folder, unreadable
from tabprotect.engine.plain_values.encoding import as_json
from tabprotect.languages.messages import message
from tabprotect.version import __version__

MAX_RATIO = 150
"""The largest ratio of unpacked to packed size; a file beyond it and above a mebibyte is a zip bomb."""

MAX_DIRECTORY = 2**20
"""The most bytes of a zip's central directory."""

MAX_MEMBERS = 4096
"""The most files in one zip."""


README = "README.md"

MANIFEST = "manifest.json"
FORMAT_VERSION = 2

_MEBIBYTE = 2**20

_SMALLEST, _QUICK = 6, 4
"""Compression levels; the quick one, for large files, is a thirtieth larger in a third of the time."""


def pack(files: Mapping[str, bytes]) -> bytes:
    """Make a zip of the files in the given order, with fixed times, attributes and compression.

    Files that would exceed the largest ratio are stored uncompressed.
    """
    stored: set[str] = set()
    while True:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name, data in files.items():
                info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
                info.create_system = 3
                info.external_attr = (stat.S_IFREG | 0o644) << 16
                packed = name in stored or name.endswith(".zip")
                info.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
                level = _QUICK if len(data) > _MEBIBYTE else _SMALLEST
                archive.writestr(info, data, compresslevel=level)
            implausible = {m.filename for m in archive.infolist() if _implausible(m)}
        if not implausible - stored:
            return out.getvalue()
        stored |= implausible


CONFIDENTIAL = "CONFIDENTIAL/"
"""The folder of every file in a dossier, which marks them as confidential wherever they are unpacked."""

NO_BUNDLE = message("take the zip file that was published; what a table holds says: tabprotect describe FILE")
A_DOSSIER = message("this is a dossier: tabprotect report FILE --edition staff --out report.html")


def load(path: Path) -> bytes:
    """All bytes of an archive file, read once, so that what is checked is what is used; of an encrypted
    dossier those of the zip in it, where the environment names its passphrase.

    Raises
    ------
    InputError
        When there is no such file, or it cannot be read.
    BundleError
        When it is absurdly large, or encrypted and not opened.
    """
    if is_folder(path):
        bundles = sorted(one.name for one in path.glob("*.zip"))
        raise InputError(
            message("this is a folder, not a zip file"),
            file=path,
            hint=message("take a bundle in it: {path}", path / bundles[0])
            if bundles
            else message("choose a file"),
        )
    check_file(path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_ARCHIVE + 1)
    except OSError as error:
        raise unreadable(path, error) from None
    if len(data) > MAX_ARCHIVE:
        raise BundleError(
            message("{name}: larger than {MAX_ARCHIVE} MiB: refused", path.name, MAX_ARCHIVE // _MEBIBYTE)
        )
    return encryption.opened(data, str(path)) if encryption.is_encrypted(data) else data


PROJECT_SUFFIX, PROJECT = ".tabprotect", "project.json"
"""The end of a project file's name, and what it holds. CONFIDENTIAL."""


def begins_as_dossier(data: bytes) -> bool:
    """Return True if the first file of a zip is one of a dossier; nothing is unpacked."""
    return data[30:].startswith(CONFIDENTIAL.encode())


def holds_project(path: Path) -> bool:
    """Return True for the file of a project, by its name and by what it lists; nothing is unpacked."""
    if path.suffix != PROJECT_SUFFIX:
        return False
    try:
        with zipfile.ZipFile(path) as opened:
            return PROJECT in opened.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def unpack(data: bytes, *, allowed: Callable[[str], bool]) -> dict[str, bytes]:
    """Unpack a zip of unknown origin. Nothing is written to disk.

    Parameters
    ----------
    allowed
        The names that may occur; every other one is refused.

    Raises
    ------
    BundleError
        For anything but a plain zip of plainly named files of plausible sizes.
    """
    _check_directory(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > MAX_MEMBERS:
                raise BundleError(message("the zip has {members} files: refused", len(members)))
            seen: set[str] = set()
            for member in members:
                _check_member(member, allowed)
                if member.filename in seen:
                    raise BundleError(message("the zip holds {filename} twice", repr(member.filename)))
                seen.add(member.filename)
            if sum(m.file_size for m in members) > MAX_UNPACKED:
                raise BundleError(message("the zip unpacks to more than 1 GiB: refused as a zip bomb"))
            return {m.filename: _read(archive, m) for m in members}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise BundleError(message("the zip is damaged or is none: {error}", error)) from None
    except (OSError, RuntimeError) as error:
        raise BundleError(message("the zip cannot be unpacked: {error}", error)) from None


def _check_directory(data: bytes) -> None:
    """Refuse a central directory that would fill the memory before any file is read."""
    end = data.rfind(b"PK\x05\x06", max(len(data) - 2**16 - 22, 0))
    if end < 0 or len(data) < end + 22:
        raise BundleError(message("this is no zip file, or its end is missing"), hint=NO_BUNDLE)
    if len(data) != end + 22:
        raise BundleError(message("extra data after the end of the zip"))
    if data[:4] != b"PK\x03\x04":
        raise BundleError(message("there is something before the beginning of the zip: refused"))
    if data[max(end - 20, 0) : end].startswith(b"PK\x06\x07"):
        raise BundleError(message("zip64 archives are not accepted"))
    if int.from_bytes(data[end + 12 : end + 16], "little") > MAX_DIRECTORY:
        raise BundleError(message("the zip lists an absurd number of files: refused"))


def _check_member(member: zipfile.ZipInfo, allowed: Callable[[str], bool]) -> None:
    # orig_filename shows what a NUL byte in the name would hide.
    name = member.orig_filename
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or ":" in name or "\x00" in name:
        raise BundleError(
            message("the zip holds the name {name}, which leads out of it: refused", repr(name))
        )
    mode = member.external_attr >> 16
    if stat.S_ISLNK(mode):
        raise BundleError(message("{name} is a link: refused", repr(name)))
    if member.is_dir() or (stat.S_IFMT(mode) not in (0, stat.S_IFREG)):
        raise BundleError(message("{name} is not a plain file: refused", repr(name)))
    if member.flag_bits & 0x1:
        raise BundleError(message("{name} is encrypted: refused", repr(name)))
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise BundleError(message("{name} is compressed in an unusual way: refused", repr(name)))
    if member.comment:
        raise BundleError(message("{name} carries a comment: refused", repr(name)))
    # What this program never writes could carry what no line of a bundle shows.
    if member.extra or mode & 0o7777 not in (0, 0o600, 0o644):
        raise BundleError(message("{name} has more than a name and a content: refused", repr(name)))
    if not allowed(name):
        raise BundleError(
            message("the zip holds {name}, which does not belong in it", repr(name)),
            hint=A_DOSSIER if name.startswith(CONFIDENTIAL) else NO_BUNDLE,
        )
    if member.file_size > MAX_MEMBER or _implausible(member):
        raise BundleError(
            message(
                "{name} unpacks from {compress_size:,} to {file_size:,} bytes: refused as a zip bomb",
                repr(name),
                member.compress_size,
                member.file_size,
            )
        )


def _implausible(member: zipfile.ZipInfo) -> bool:
    return member.file_size > _MEBIBYTE and member.file_size > MAX_RATIO * member.compress_size


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    with archive.open(member) as file:
        data = file.read(member.file_size + 1)
    if len(data) != member.file_size:
        raise BundleError(message("{filename} does not have the size the zip says", repr(member.filename)))
    return data


def sha256(data: bytes) -> str:
    """The SHA-256 digest in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def dump_json(data: object) -> bytes:
    """JSON for people: indented, UTF-8, a newline at the end."""
    text = json.dumps(data, ensure_ascii=False, indent=2, default=as_json) + "\n"
    # A file name need not be valid text; what is not is written as a JSON escape.
    return text.encode(errors="backslashreplace")


def parse_json(name: str, data: bytes) -> object:
    """Parse JSON from an archive: no repeated keys, no NaN, no depth that would exhaust the stack.

    Raises
    ------
    BundleError
        Naming the file, and the line if known.
    """

    if len(data) > MAX_JSON:
        raise BundleError(message("{name}: larger than {MAX_JSON} MiB: refused", name, MAX_JSON // _MEBIBYTE))
    # Counted before parsing, since a few bytes of JSON become many bytes of memory.
    if data.count(b"[") + data.count(b"{") > MAX_JSON_LISTS or data.count(b",") > MAX_JSON_ITEMS:
        raise BundleError(message("{name}: it has an absurd number of lists: refused", name))

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise BundleError(message("{name}: an object names a key twice", name))
        return found

    def constant(text: str) -> object:
        raise BundleError(message("{name}: {text} is not JSON", name, text))

    try:
        found: object = json.loads(data.decode(), object_pairs_hook=once, parse_constant=constant)
        if b"\\ud" in data or b"\\uD" in data:
            # Lone surrogates would break whatever writes them again.
            json.dumps(found, ensure_ascii=False).encode()
        return found
    except UnicodeEncodeError:
        raise BundleError(message("{name}: a text holds half a character", name)) from None
    except json.JSONDecodeError as error:
        raise BundleError(
            message("{name}, line {lineno}: not valid JSON ({msg})", name, error.lineno, error.msg)
        ) from None
    except UnicodeDecodeError as error:
        raise BundleError(message("{name}: not UTF-8 at byte {start}", name, error.start)) from None
    except RecursionError:
        raise BundleError(message("{name}: nested too deeply", name)) from None
    except ValueError as error:
        raise BundleError(message("{name}: {error}", name, error)) from None


def written_by() -> str:
    """The program and its version, as bundles say it."""
    return message("tabprotect {version}", __version__)


def written_elsewhere(files: Mapping[str, bytes]) -> str:
    """Say what wrote a bundle by its own word, if not this version; empty otherwise."""
    if MANIFEST not in files:
        return ""
    manifest = parse_json(MANIFEST, files[MANIFEST])
    by = manifest.get("written_by") if isinstance(manifest, dict) else None
    return by if isinstance(by, str) and by != written_by() else ""


def sealed(files: Mapping[str, bytes], kind: str) -> dict[str, bytes]:
    """The files with their manifest at the end.

    Parameters
    ----------
    kind
        The kind of archive, such as ``"tabprotect release"``.
    """
    manifest = {
        "format": kind,
        "format_version": FORMAT_VERSION,
        "written_by": written_by(),
        "files": {name: {"bytes": len(data), "sha256": sha256(data)} for name, data in files.items()},
    }
    return {**files, MANIFEST: dump_json(manifest)}


def check_manifest(files: Mapping[str, bytes], kind: str, *, beside: str = "") -> None:
    """Compare every file with the manifest, except those that stand beside it.

    This finds damage and careless edits, but not a forger who recomputes the hashes: for that, compare
    the fingerprint of the whole zip with one published elsewhere.

    Raises
    ------
    BundleError
        Naming what is missing, unlisted or changed.
    """
    if MANIFEST not in files:
        raise BundleError(message("{MANIFEST} is missing: this is no {kind}", MANIFEST, kind), hint=NO_BUNDLE)
    manifest = parse_json(MANIFEST, files[MANIFEST])
    if not isinstance(manifest, dict) or manifest.get("format") != kind:
        raise BundleError(message("{MANIFEST}: this is no {kind}", MANIFEST, kind), hint=NO_BUNDLE)
    version = manifest.get("format_version")
    if version != FORMAT_VERSION:
        raise BundleError(
            message(
                "{MANIFEST}: format version {get} is unknown; this program reads version {FORMAT_VERSION}",
                MANIFEST,
                repr(manifest.get("format_version")),
                FORMAT_VERSION,
            ),
            hint=message("open it with the tabprotect that wrote it"),
        )
    listed = manifest.get("files")
    if not isinstance(listed, dict):
        raise BundleError(message('{MANIFEST}: "files" is missing', MANIFEST))
    there = set(files) - {MANIFEST, beside}
    if unlisted := sorted(there - set(listed)):
        raise BundleError(message("{unlisted} is not listed in {MANIFEST}", unlisted[0], MANIFEST))
    if missing := sorted(set(listed) - there):
        raise BundleError(message("{missing} is listed in {MANIFEST} but missing", missing[0], MANIFEST))
    for name, data in files.items():
        if name in (MANIFEST, beside):
            continue
        entry = listed[name]
        if not isinstance(entry, dict) or entry.get("sha256") != sha256(data):
            raise BundleError(
                message("{name} was changed: its SHA-256 is not the one in {MANIFEST}", name, MANIFEST)
            )
        if entry.get("bytes") != len(data):
            raise BundleError(message("{name}: {MANIFEST} names another size", name, MANIFEST))
