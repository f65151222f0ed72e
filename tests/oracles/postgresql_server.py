"""A PostgreSQL server of its own, for tests that need a live one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa

USER = "keeper"


class Server:
    """A cluster in a folder of its own, reached by a socket there; never as root."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            # The server refuses root; Debian's package comes with a user for it.
            self._as = {"user": "postgres", "group": "postgres", "extra_groups": []}
            shutil.chown(folder, "postgres", "postgres")
        self._process: subprocess.Popen[bytes] | None = None
        options = ("--no-sync", "--no-locale", "-E", "UTF8", "-A", "trust", "-U", USER)
        done = subprocess.run(
            [program("initdb"), "-D", str(folder / "data"), *options],
            cwd=folder,
            capture_output=True,
            **self._as,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://{USER}@/{database}?host={quote(str(self.folder))}"

    def start(self) -> None:
        options = ("listen_addresses=", f"unix_socket_directories={self.folder}", "fsync=off")
        given = [word for option in options for word in ("-c", option)]
        with open(self.folder / "log", "wb") as log:
            self._process = subprocess.Popen(
                [program("postgres"), "-D", str(self.folder / "data"), *given],
                cwd=self.folder,
                **self._as,
                stdout=log,
                stderr=log,
            )
        last = time.monotonic() + 300
        while not (self.folder / ".s.PGSQL.5432").exists() or not self._answers():
            if self._process.poll() is not None or time.monotonic() > last:
                raise RuntimeError((self.folder / "log").read_text(errors="replace"))
            time.sleep(0.05)

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(300)
            self._process = None

    def database(self, name: str) -> str:
        """A new database; its address."""
        engine = sa.create_engine(psycopg(self.url()), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(sa.text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return self.url(name)

    def _answers(self) -> bool:
        engine = sa.create_engine(psycopg(self.url()))
        try:
            engine.connect().close()
            return True
        except sa.exc.OperationalError:
            return False
        finally:
            engine.dispose()


def program(name: str) -> str:
    """Debian keeps the server's programs off the path."""
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    found = str(versions[-1]) if versions else shutil.which(name)
    assert found, "PostgreSQL is not installed: see packaging/apt-packages-test.txt"
    return found


def psycopg(url: str) -> str:
    return url.replace("postgresql:", "postgresql+psycopg:")


@contextmanager
def running_server() -> Iterator[Server]:
    """A server that is started, and gone afterwards."""
    # Not in pytest's folder: other users may not enter it, and a socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    found = Server(folder)
    try:
        found.start()
        yield found
    finally:
        found.stop()
        shutil.rmtree(folder)
