"""The queue of a project's outputs: each with what was flagged, a decision and a comment. CONFIDENTIAL."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path

from tabprotect.engine.atomic import Whole, write_bytes, write_together
from tabprotect.engine.errors import InputError, TabprotectError, in_file
from tabprotect.engine.output_checking.flags_and_decisions import Checked, Status
from tabprotect.engine.paths import is_file, is_there, read_text
from tabprotect.engine.plain_values.decoding import decoded
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.languages.messages import message

FORMAT = "tabprotect-queue-1"
WAITS, DECISIONS = "", ("approve", "reject")


@dataclass(frozen=True)
class Output(Encodable):
    """An output that waits, or was decided on.

    Attributes
    ----------
    number
        1, 2, ... in the order in which they came.
    file
        Its path, as it was given.
    sha256
        Of the file when it was checked; another file takes another decision.
    status
        What the rules say of it, as in ``Checked``.
    flagged
        How many of its cells are flagged.
    decision
        ``approve``, ``reject``, or empty while it waits.
    comment, who, when
        Of the decision.
    """

    number: int
    file: str
    sha256: str
    status: Status
    flagged: int
    decision: str = WAITS
    comment: str = ""
    who: str = ""
    when: str = ""

    @property
    def changed(self) -> bool:
        """Whether the file is another than the one that was checked, or is gone."""
        return _digest(self.file) != self.sha256

    @property
    def is_another(self) -> InputError:
        """The error for a file that is another than the one that was checked."""
        return InputError(
            message("output {number} is another file than the one that was checked", self.number),
            file=self.file,
            hint=message("check it again: tabprotect check {file} --queue QUEUE", self.file),
        )

    @property
    def may_leave(self) -> bool:
        """Whether it was approved, and is still the file that was decided on."""
        return self.decision == "approve" and not self.changed

    @property
    def said(self) -> str:
        """The decision in words."""
        if self.changed:
            return message("changed since it was checked")
        if self.decision == WAITS:
            return message("waits")
        return message("{decision}, {who}: {comment}", self.decision, self.who, self.comment)


@dataclass(frozen=True)
class OutputQueue(Encodable):
    """The outputs of a project, in the order in which they came."""

    outputs: tuple[Output, ...] = ()
    format: str = FORMAT

    @property
    def open(self) -> int:
        """How many wait, were rejected, or are other files than those that were decided on."""
        return sum(not one.may_leave for one in self.outputs)

    @property
    def ready(self) -> tuple[Output, ...]:
        """Those that may leave, of which there is a file: a bundled example is none."""
        return tuple(one for one in self.outputs if one.may_leave and one.sha256)

    def with_output(self, file: str, checked: Checked) -> OutputQueue:
        """The same with an output that was checked; one that is there by its path keeps its number.

        A decision stays while the file and what is flagged of it stay the same.
        """
        there = next((one for one in self.outputs if one.file == file), None)
        number = len(self.outputs) + 1 if there is None else there.number
        new = Output(number, file, _digest(file), checked.status, len(checked.flags))
        if there is not None and (there.sha256, there.flagged) == (new.sha256, new.flagged):
            new = replace(there, status=new.status)
        outputs = [new if one is there else one for one in self.outputs]
        return OutputQueue((*outputs, *([new] if there is None else [])))

    def decided(self, number: int, decision: str, *, comment: str, who: str, when: str) -> OutputQueue:
        """The same with a decision on one output.

        Raises
        ------
        InputError
            For another decision, an output that is not there, or a file that changed since it was checked.
        """
        if decision not in DECISIONS:
            raise InputError(
                message("{what} is no decision", repr(decision)),
                hint=message("decide {DECISIONS}", ", ".join(DECISIONS)),
            )
        if not 1 <= number <= len(self.outputs):
            raise InputError(
                message("there is no output {number}", number),
                hint=message("there are {outputs}", len(self.outputs)),
            )
        one = self.outputs[number - 1]
        if one.changed:
            raise one.is_another
        done = replace(one, decision=decision, comment=comment, who=who, when=when)
        return OutputQueue((*self.outputs[: number - 1], done, *self.outputs[number:]))


def is_queue(path: Path) -> bool:
    """Return True if a file is a queue, by how it begins."""
    if path.suffix.lower() != ".json" or not is_file(path):
        return False
    with path.open("rb") as file:
        return FORMAT.encode() in file.read(200)


def read(path: Path) -> OutputQueue:
    """Read a queue; a file that is not there is an empty one.

    Raises
    ------
    InputError
        When it is no queue.
    """
    if not is_there(path):
        return OutputQueue()
    with in_file(path):
        try:
            given = json.loads(read_text(path))
            if not isinstance(given, dict) or given.get("format") != FORMAT:
                raise ValueError
            found = decoded(given, OutputQueue)
            if [one.number for one in found.outputs] != [*range(1, len(found.outputs) + 1)]:
                raise ValueError
            return found
        except (ValueError, RecursionError, TabprotectError):
            raise InputError(
                message("this is no queue of outputs"),
                hint=message("name a file of its own: --queue outputs.json"),
            ) from None


def write(queue: OutputQueue, path: Path) -> None:
    """Write a queue, for its owner's eyes alone.

    Raises
    ------
    InputError
        When it cannot be written there.
    """
    said = {"format": FORMAT, "outputs": [one.as_json() for one in queue.outputs]}
    write_bytes(path, (json.dumps(said, ensure_ascii=False, indent=1) + "\n").encode(), private=True)


def publish(queue: OutputQueue, folder: Path) -> int:
    """Copy every output that is ready into a folder, all or none; return how many.

    Raises
    ------
    InputError
        Where one is no text, two have the same name, or a file is there already.
    """
    files: dict[str, Whole] = {}
    for one in queue.ready:
        source = Path(one.file)
        data = source.read_bytes()
        if hashlib.sha256(data).hexdigest() != one.sha256:
            raise one.is_another
        if b"\0" in data:
            # Projects, workbooks and tables of sums hold people and firms beside what was checked.
            raise InputError(
                message("output {number} is no text, and may hold more than the table", one.number),
                file=one.file,
                hint=message("save the table as CSV, and check that"),
            )
        if source.name in files:
            raise InputError(
                message("two outputs have the name {name}", source.name),
                file=one.file,
                hint=message("give one another name, and check it again"),
            )
        files[source.name] = Whole(folder / source.name, data, overwrite=False)
    write_together(list(files.values()))
    return len(files)


def _digest(file: str) -> str:
    """SHA-256 of a file; empty for what is none, such as a bundled example."""
    if not is_file(file):
        return ""
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
