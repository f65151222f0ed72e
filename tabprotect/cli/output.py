"""What the command line says: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from os.path import exists
from pathlib import Path

from tabprotect.engine.errors import ParameterError, TabprotectError
from tabprotect.engine.plain_values.encoding import as_json
from tabprotect.languages.messages import Forecast, joined, message
from tabprotect.languages.translation import tr, translate

_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def visible(text: str) -> str:
    """Text that cannot steer a terminal: labels may come from anybody's bundle."""
    return text.translate(_CONTROL)


FIRST = 5.0
"""Seconds after which a command says what it is at; then after twice the time each."""


LEAST_SHARE = 0.01
"""The share of a stage from which on its pace is told."""


class Console:
    """Standard output and error of one command.

    With ``as_json`` standard output gets exactly one JSON object, errors included. ``quiet`` leaves out
    remarks and progress; ``verbose`` says each step with its second, and errors at full length.
    """

    def __init__(
        self, *, as_json: bool, show_progress: bool | None = None, quiet: bool = False, verbose: bool = False
    ) -> None:
        self.as_json, self._quiet, self._verbose = as_json, quiet, verbose
        self.rehearsal: Mapping[Path, Path] | None = None
        terminal = sys.stderr.isatty()
        self._shows = terminal and not quiet if show_progress is None else show_progress
        self._in_place = terminal
        self._next = FIRST if show_progress is None and not (terminal or quiet) else float("inf")
        """Seconds after which it is said what takes so long, where no line shows it."""
        self._begun, self._stage = time.monotonic(), ""
        self._entered = self._begun
        self._last = 0.0
        self._open = False
        self._foretold: set[str] = set()
        """How long stages take that has been said."""

    def result(
        self, data: Mapping[str, object] | Callable[[], Mapping[str, object]], lines: Iterable[str]
    ) -> None:
        """The outcome, as JSON or as lines for people; data that take work are made where they are asked for."""
        self.clear()
        if callable(data):
            data = data() if self.as_json else {}
        if self.rehearsal is not None:
            would = [(str(f), at.stat().st_size) for f, at in self.rehearsal.items() if exists(at)]
            data = {**data, "dry_run": True, "would_write": [{"file": f, "bytes": n} for f, n in would]}
            each = (message("would write {file}: {n:,} bytes", file, n) for file, n in would)
            lines = [*lines, message("Dry run: nothing was kept, and no refusal is remembered."), *each]
        if self.as_json:
            print(json.dumps(data, allow_nan=False, default=as_json))
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
        if not self._quiet:
            self.warn(text)

    def warn(self, text: str) -> None:
        """A remark that is said however quiet the command is to be."""
        self.clear()
        print(translate(text), file=sys.stderr)

    def fail(self, error: TabprotectError) -> None:
        """An error with its place, its details and its remedy."""
        self.clear()
        if self.as_json:
            said = {"error": as_json(error) | {"exit_code": error.exit_code}, **error.figures}
            print(json.dumps(said, default=as_json))
        lead = message("{told} ", tr("error:"))
        out = [f"{lead}{f'{error.place}: ' if error.place else ''}{translate(error.message)}"]
        if isinstance(error, ParameterError):
            fields = (message("{name}: {why}", name, translate(why)) for name, why in error.fields.items())
            out = [lead + f"\n{' ' * len(lead)}".join(fields)]
        if error.detail:
            out += [
                message("  {line}", translate(line))
                for line in error.detail.splitlines()[: None if self._verbose else 20]
            ]
        if error.hint:
            out.append(message("{told} {hint}", tr("hint:"), translate(error.hint)))
        out += [message("  {line}", line) for line in error.commands]
        print(joined(map(visible, out), "\n"), file=sys.stderr)

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        """Progress, at most ten times a second (once a second where lines cannot be redrawn)."""
        now = time.monotonic()
        if stage != self._stage:
            self._stage, self._entered = stage, now
            if isinstance(stage, Forecast) and stage.about not in self._foretold:
                self._foretold.add(stage.about)
                told = message("{stage}: this takes {about}; Ctrl+C stops it", stage.stage, stage.about)
                self.say(told)
            if self._verbose:
                self.warn(message("[{seconds:7.2f} s] {stage}", now - self._begun, translate(stage)))
        if now - self._begun >= self._next:
            seconds = now - self._begun
            self._next = 2 * seconds
            told = message("{stage}: {seconds:,} s so far", stage, int(seconds))
            self.warn(joined((told, *self._to_go(now, fraction)), ", "))
        if not self._shows or now - self._last < (0.1 if self._in_place else 1.0):
            return
        self._last = now
        text = message("{stage} {fraction:4.0%}", translate(stage), fraction)
        if self._in_place:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
            self._open = True
        else:
            print(text, file=sys.stderr, flush=True)

    def _to_go(self, now: float, fraction: float) -> Iterable[str]:
        """How much longer a stage takes at most, at its pace; nothing while that cannot be told."""
        spent = now - self._entered
        if LEAST_SHARE <= fraction < 1 and spent >= 1:
            left = spent * (1 - fraction) / fraction
            yield message("at most about {seconds:,} s to go", math.ceil(left))

    def clear(self) -> None:
        """Wipe the progress line."""
        if self._open:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._open = False
