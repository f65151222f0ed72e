"""A table server for a look: on this machine's loopback, its history gone when it ends."""

from __future__ import annotations

import socket
import threading
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import uvicorn

from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.sources import Opened
from tabprotect.languages.messages import message
from tabprotect.server.application import application, started
from tabprotect.server.hosting.running import OPTIONS, Options
from tabprotect.server.server import Server
from tabprotect.server.service import Service

HOST = "127.0.0.1"

LEAVE = 1
"""Seconds that answers under way get when it ends."""

REST = 0.02
"""Seconds between two looks at whether it answers yet."""

OPERATOR = "operator"


class TrialServer:
    """One server in a thread of its own. It reads a table that is open, and writes nothing to it.

    Attributes
    ----------
    address
        ``http://127.0.0.1:PORT``, a free port; empty until it has started.
    key
        Of an operator. Confidential.
    """

    def __init__(self, service: Service, opened: Opened) -> None:
        self.address = self.key = ""
        self._service, self._opened = service, opened
        self._ending = threading.Event()
        self._uvicorn: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Return True if it answers, or is about to."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, progress: Progress = SILENT) -> TrialServer:
        """Return when it answers.

        Raises
        ------
        InputError, InfeasibleError
            When the table or the criterion cannot be used.
        Interrupted
            When cancelled; nothing is left.
        """
        # Only who runs the program may read what lies in it.
        folder = TemporaryDirectory(prefix="tabprotect-look-")
        try:
            database = str(Path(folder.name) / "history.sqlite")
            secret = str(Path(folder.name) / "server.secret")
            # By no name of elsewhere: a page could make that mean this machine.
            access = replace(self._service.access, secret_file=secret, allowed_hosts=())
            service = replace(self._service, access=access)
            server = started(service, database, progress, self._opened)
        except BaseException:
            folder.cleanup()
            raise
        self.key = server.accounts.add(OPERATOR, "operator")
        door = socket.create_server((HOST, 0))
        port = door.getsockname()[1]
        app = application(server)
        options: Options = {**OPTIONS, "timeout_graceful_shutdown": LEAVE}
        self._uvicorn = uvicorn.Server(uvicorn.Config(app, log_config=None, ws="none", **options))
        self._thread = threading.Thread(
            target=self._serve, args=(server, door, folder), name="tabprotect-look", daemon=True
        )
        self._thread.start()
        try:
            progress.report(message("starting the server"), 0.9)
            while not self._uvicorn.started and self.running:
                time.sleep(REST)
                progress.report(message("starting the server"), 0.9)
        except BaseException:
            self.stop()
            raise
        if not self._uvicorn.started:
            raise InputError(message("the server did not start"), hint=message("try once more"))
        self.address = f"http://{HOST}:{port}"
        if self._ending.is_set():
            self.stop()
        return self

    def stop(self) -> None:
        """End it; returns at once."""
        self._ending.set()
        if self._uvicorn is not None:
            self._uvicorn.should_exit = True

    def wait(self, seconds: float = 10.0) -> None:
        """Wait until it has ended."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _serve(self, server: Server, door: socket.socket, folder: TemporaryDirectory[str]) -> None:
        assert self._uvicorn is not None
        try:
            self._uvicorn.run(sockets=[door])
        finally:
            door.close()
            server.close()
            folder.cleanup()
