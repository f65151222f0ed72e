"""The command line: ``tabprotect`` and its commands.

Results go to standard output, remarks and progress to standard error. Exit codes: 0 done, 2
usage, 3 bad input, 4 bad parameters, 5 infeasible or refused, 6 bundle fails verification, 7
intact, and not judged whole (``verify``), 130 interrupted, 1 anything unforeseen.
"""

from __future__ import annotations

import argparse
import gc
import io
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence

from tabprotect.cli.output import Console
from tabprotect.cli.verbs import Run, UsageError, whole
from tabprotect.cli.window import UsageFault, show_window
from tabprotect.engine.errors import Answer, InfeasibleError, Interrupted, TabprotectError, internal
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import LANGUAGES, PSEUDO, of_environment, set_language
from tabprotect.version import __version__, compiled, missing_kernels

FIRST: Mapping[str, str] = {
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "workbook"),
    **dict.fromkeys((".sav", ".zsav", ".dta", ".xpt", ".sas7bdat"), "labelled"),
    **dict.fromkeys((".rds", ".rdata", ".rda"), "r"),
    **dict.fromkeys((".parquet", ".pq", ".duckdb"), "connect"),
    ".gpkg": "layer",
    ".xml": "xml",
}
"""What a reader is first asked about a file, by its suffix (`READERS` of the worker)."""

OF_RECORDS: Mapping[str, str] = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".gz", ".tab", ".asc"), "connect"),
    **dict.fromkeys((".rds", ".rdata"), "r"),
}
"""The same where records are counted; as tables these are read here."""

COUNTING = ("tabulate", "record-keys", "--by")
"""Words of a command line that counts records."""


def questions(arguments: Sequence[str]) -> Iterator[str]:
    """Return what a reader will be asked by a command line, file by file."""
    kinds = {**FIRST, **OF_RECORDS} if any(word in arguments for word in COUNTING) else FIRST
    for word in arguments:
        path = word.rpartition("#")[0] or word
        do = kinds.get(os.path.splitext(path)[1].lower(), "")
        if do and os.path.isfile(path):
            yield do


def begin(arguments: Sequence[str]) -> None:
    """Start the reader that a command line will need, if it needs one."""
    do = next(questions(arguments), "")
    if do:
        # Late: it costs a command that reads no foreign file a hundredth of a second.
        from tabprotect.engine.foreign.reader import begin_for

        begin_for(do)


INTERNAL = 1
USAGE = 2

THREADS = ("OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Of products of matrices, which are small here: on several threads they take forty times as long
beside other work, and sum in an order that is the machine's own. One each, unless it is set."""


VERBOSE = {"-v", "--verbose", "--debug"}
"""Words for all that can be said, errors in the command line itself included."""

LASTING = ("open", "serve", "serve-session")
"""Commands that run as long as somebody works: they give memory back."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    argv
        The arguments without the program's name; ``sys.argv[1:]`` when none are given.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        _keep_output()
    begin(arguments)
    for threads in THREADS:
        os.environ.setdefault(threads, "1")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal without UTF-8 gets escapes, not a crash.
            stream.reconfigure(errors="backslashreplace")
    # What a command makes lives until it ends: the collector would walk over it again and again.
    gc.set_threshold(200_000)
    console = Console(as_json="--json" in arguments, verbose=not VERBOSE.isdisjoint(arguments))
    args = argparse.Namespace()
    set_language(of_environment())
    try:
        set_language(_language(arguments) or of_environment())
        if not arguments:
            return show_window([])
        # No option before the command takes a value.
        chosen = next((a for a in arguments if not a.startswith("-")), None)
        if "--version" in arguments[: arguments.index(chosen) if chosen else None]:
            words = message("compiled: {here} of {all}", **compiled())
            data = {"version": __version__, "compiled": "{here} of {all}".format_map(compiled())}
            console.result(data, [message("tabprotect {version}", __version__), words])
            return 0
        args = whole(chosen).parse_args(arguments)
        if args.run is None:
            asked = args.group or whole()
            raise UsageError(message("a command is missing"), asked.more)
        console = Console(
            as_json=args.json, show_progress=args.progress, quiet=args.quiet, verbose=args.verbose
        )
        if missing_kernels():
            text = message(
                "note: only {here} of {all} compiled parts are here, and what needs the others is refused. "
                "Install a wheel, or install again where there is a C compiler",
                **compiled(),
            )
            console.warn(text)
        run: Run = args.run
        if argv is None and chosen not in LASTING:
            _keep_memory()
        return run(args, console)
    except SystemExit as leave:  # --help and --version
        return leave.code if isinstance(leave.code, int) else USAGE
    except UsageError as error:
        example = args.parser.example if "parser" in args else ""
        return _failed(console, UsageFault(error.message, hint=error.hint or example))
    except TabprotectError as error:
        error.commands = _remedies(error, arguments, args) or error.commands
        return _failed(console, error)
    except KeyboardInterrupt:
        return _failed(console, Interrupted(message("interrupted; nothing was changed")))
    except BrokenPipeError:
        # Whoever read us has enough; nothing may complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERNAL
    except MemoryError:
        return _failed(console, TabprotectError(message("there is not enough memory for this table")))
    except Exception as error:
        return _failed(console, _unforeseen(error, verbose=not VERBOSE.isdisjoint(arguments)))


def _keep_output() -> None:
    """Give results a descriptor of their own: what native libraries print joins the remarks."""
    if sys.stdout is None or sys.stderr is None:
        # Whoever started the program closed one of them.
        nowhere = open(os.devnull, "w")  # noqa: SIM115
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    else:
        own = os.dup(1)
        os.dup2(2, 1)
        sys.stdout = open(own, "w", encoding=sys.stdout.encoding)  # noqa: SIM115


def _keep_memory() -> None:
    """Take memory that was given back again: what a command allocates in one step it needs in the next.

    The C library would return large arrays to the system at once, which clears every page of the next.
    """
    if sys.platform != "linux":
        return
    # Late: whoever asks for the version needs none. Where arrays are made it is loaded anyway.
    import ctypes

    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        # The largest number of mappings, then the free memory from which on some is returned.
        library.mallopt(-4, 0)
        library.mallopt(-1, 2**31 - 1)


def _language(arguments: list[str]) -> str:
    """Take ``--language`` out of the arguments, wherever it stands."""
    at = next((n for n, a in enumerate(arguments) if a.partition("=")[0] == "--language"), None)
    if at is None:
        return ""
    _, given, code = arguments.pop(at).partition("=")
    if not given:
        code = arguments.pop(at) if at < len(arguments) else ""
    if code not in (*LANGUAGES, PSEUDO):
        raise UsageError(
            message(
                "there is no language {code}: take one of {LANGUAGES}", repr(code), joined(LANGUAGES, ", ")
            )
        )
    return code


def _remedies(error: TabprotectError, arguments: list[str], args: argparse.Namespace) -> tuple[str, ...]:
    """The command lines that may succeed where this one was refused; a reason is left to be written."""
    found: list[Answer] = []
    if isinstance(error, InfeasibleError) and "protecting.parameters" in args:
        runnable = error.runnable
        if runnable is None:
            runnable = tuple((one, ()) for one in error.suggestions)
        found = [(one.parameters, words) for one, words in runnable]
    known = args.parser._option_string_actions if "parser" in args else ()
    # What is refused leaves with a reason where nothing else helps.
    answers = () if found else error.answers
    found += [one for one in answers if all(word in known for word in one[1][:1])]
    return tuple(_with_settings([*arguments, *words], settings) for settings, words in found)


def _with_settings(arguments: Sequence[str], changed: Mapping[str, object]) -> str:
    """The command line that was given, with other parameters of the method, or with another method."""
    words, left = ["tabprotect"], iter(arguments)
    other = changed.get("method")
    for word in left:
        option, equals, text = word.partition("=")
        if option not in ("--set", "--keep", "--groupings", "--method", "--seed", "--at-risk"):
            words.append(word)
            continue
        text = text if equals else next(left, "")
        name = text.partition("=")[0] if option == "--set" else option[2:].replace("-", "_")
        # Parameters of one method are none of another.
        if name not in changed and (other is None or name in ("seed", "at_risk")):
            words += [option, text]
    words += [] if other is None else ["--method", str(other)]
    for name, value in changed.items():
        # What is left open is not given.
        if name == "at_risk":
            words += ["--at-risk", str(value)]
        elif value is not None and name != "method":
            words += ["--set", f"{name}={_text(value)}"]
    return shlex.join(words)


def _text(value: object) -> str:
    """A parameter's value as ``--set`` takes it."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _failed(console: Console, error: TabprotectError) -> int:
    console.fail(error)
    return error.exit_code


def _unforeseen(error: Exception, *, verbose: bool) -> TabprotectError:
    found = internal(error)
    found.hint = found.hint or message("please report it") + ("" if verbose else "; -v says more")
    if verbose:
        import traceback

        found.detail = joined(traceback.format_tb(error.__traceback__))
    return found


if __name__ == "__main__":
    sys.exit(main())
