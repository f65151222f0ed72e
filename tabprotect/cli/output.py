"""What the command line says: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Mapping

from tabprotect.engine.errors import ParameterError, TabprotectError
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def visible(text: str) -> str:
    """Text that cannot steer a terminal: labels may come from anybody's bundle."""
    return text.translate(_CONTROL)


class Console:
    """Standard output and error of one command.

    With ``as_json`` standard output gets exactly one JSON object, errors included.
    """

    def __init__(self, *, as_json: bool, show_progress: bool | None) -> None:
        self.as_json = as_json
        terminal = sys.stderr.isatty()
        self._shows = terminal if show_progress is None else show_progress
        self._in_place = terminal
        self._last = 0.0
        self._open = False

    def result(self, data: Mapping[str, object], lines: Iterable[str]) -> None:
        """The outcome, as JSON or as lines for people."""
        self.clear()
        if self.as_json:
            print(json.dumps(data, allow_nan=False))
        else:
            for line in lines:
                print(visible(translate(line)))
        sys.stdout.flush()

    def stream(self, pieces: Iterable[str | bytes]) -> None:
        """The outcome in pieces, as it is: of one that is too long to be held at once."""
        for piece in pieces:
            self.clear()
            if isinstance(piece, str):
                sys.stdout.write(piece)
            else:
                sys.stdout.flush()
                sys.stdout.buffer.write(piece)
        sys.stdout.flush()

    def say(self, text: str) -> None:
        """A remark that is no result."""
        self.clear()
        print(translate(text), file=sys.stderr)

    def fail(self, error: TabprotectError) -> None:
        """An error with its place, its details and its remedy."""
        self.clear()
        if self.as_json:
            said = {"error": error.as_json() | {"exit_code": error.exit_code}, **error.figures}
            print(json.dumps(said))
        lead = message("{told} ", tr("error:"))
        out = [f"{lead}{f'{error.place}: ' if error.place else ''}{translate(error.message)}"]
        if isinstance(error, ParameterError):
            fields = (message("{name}: {why}", name, translate(why)) for name, why in error.fields.items())
            out = [lead + f"\n{' ' * len(lead)}".join(fields)]
        if error.detail:
            out += [message("  {line}", translate(line)) for line in error.detail.splitlines()[:20]]
        if error.hint:
            out.append(message("{told} {hint}", tr("hint:"), translate(error.hint)))
        print(joined(map(visible, out), "\n"), file=sys.stderr)

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        """Progress, at most ten times a second (once a second where lines cannot be redrawn)."""
        now = time.monotonic()
        if not self._shows or now - self._last < (0.1 if self._in_place else 1.0):
            return
        self._last = now
        text = message("{stage} {fraction:4.0%}", translate(stage), fraction)
        if self._in_place:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
            self._open = True
        else:
            print(text, file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Wipe the progress line."""
        if self._open:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._open = False
