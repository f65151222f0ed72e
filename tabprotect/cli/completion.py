"""``completion``: what a shell needs to complete commands, options and their choices; a man page."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import COMMANDS, Parser, Verbs, declare, whole
from tabprotect.engine.options import Options, position
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import translate
from tabprotect.version import __version__

BASH = """\
# source <(tabprotect completion bash)
_tabprotect() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
  local verb="" one
  for one in "${{COMP_WORDS[@]:1:$((COMP_CWORD-1))}}"; do
    case "$one" in -*) ;; *) verb="$one"; break ;; esac
  done
  case "$verb $prev" in
{choices}
  esac
  if [ -z "$words" ]; then
    case "$verb" in
{verbs}
      *) words="{commands}" ;;
    esac
    case "$cur" in -*|"") ;; *) [ -n "$verb" ] && words="" ;; esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [ ${{#COMPREPLY[@]}} -eq 0 ] && COMPREPLY=($(compgen -f -- "$cur"))
}}
complete -o filenames -F _tabprotect tabprotect
"""


@dataclass(frozen=True, kw_only=True)
class Completion(Options):
    """Arguments of ``completion``."""

    shell: str = position(
        choices=("bash", "zsh", "fish", "man"),
        metavar="bash|zsh|fish|man",
        help=message("the shell that reads the script; or man for a page of the manual"),
    )


@dataclass(frozen=True, kw_only=True)
class Help(Options):
    """Arguments of ``help``."""

    of: Sequence[str] = position((), metavar="COMMAND", help=message("a command, or one below another"))


@command("help", example="tabprotect help protect")
def run_help(asked: Help, console: Console) -> None:
    """Print what ``--help`` does."""
    console.clear()
    whole(asked.of[0] if asked.of else None).parse_args([*asked.of, "--help"])


@command("completion", example="tabprotect completion bash")
def run(asked: Completion, console: Console) -> None:
    """Print the script, or the page."""
    every = dict(commands())
    text = {"bash": bash, "zsh": zsh, "fish": fish, "man": man}[asked.shell](every)
    console.result({"shell": asked.shell, "script": text}, text.splitlines())


def commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command with its whole parser; those below a command are named after both."""
    top = Parser(prog="tabprotect", allow_abbrev=False)
    verbs = Verbs(top)
    for commands in COMMANDS.values():
        for name, (_, help) in commands.items():
            declare(name, verbs.mention(name, help))
    yield from _below(top)


def _below(
    parser: argparse.ArgumentParser, before: str = ""
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield f"{before}{name}", below
                yield from _below(below, f"{before}{name} ")


def _options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [a for a in parser._actions if a.option_strings and a.help != argparse.SUPPRESS]


def _words(parser: argparse.ArgumentParser) -> list[str]:
    """Return what may follow a command: the commands below it, its choices, its options."""
    found = [name for name, _ in _below(parser) if " " not in name]
    for action in parser._actions:
        if not action.option_strings and action.choices is not None and not found:
            found += map(str, action.choices)
    return [*found, *(word for a in _options(parser) for word in a.option_strings if word[:2] == "--")]


def bash(every: dict[str, argparse.ArgumentParser]) -> str:
    """A script for bash."""
    top = {name: parser for name, parser in every.items() if " " not in name}
    choices = [
        f'    "{name} {action.option_strings[-1]}") words="{joined(map(str, action.choices), " ")}" ;;'
        for name, parser in top.items()
        for action in _options(parser)
        if action.choices is not None
    ]
    verbs = [f'      {name}) words="{" ".join(_words(parser))}" ;;' for name, parser in top.items()]
    return BASH.format(choices="\n".join(choices), verbs="\n".join(verbs), commands=" ".join(top))


def zsh(every: dict[str, argparse.ArgumentParser]) -> str:
    """A script for zsh, which takes that of bash."""
    return "#compdef tabprotect\nautoload -U +X bashcompinit && bashcompinit\n" + bash(every)


def fish(every: dict[str, argparse.ArgumentParser]) -> str:
    """A script for fish."""
    top = {name: parser for name, parser in every.items() if " " not in name}
    lines = ["# tabprotect completion fish | source"]
    for name, parser in top.items():
        said = _quoted(translate(parser.description or ""))
        lines.append(f"complete -c tabprotect -n __fish_use_subcommand -a {name} -d {said}")
        here = f"-n '__fish_seen_subcommand_from {name}'"
        for below in (word for word in _words(parser) if not word.startswith("-")):
            lines.append(f"complete -c tabprotect {here} -a {_quoted(below)}")
        for action in _options(parser):
            long = next((w[2:] for w in action.option_strings if w[:2] == "--"), "")
            chosen = f" -x -a {_quoted(' '.join(map(str, action.choices)))}" if action.choices else ""
            lines.append(
                f"complete -c tabprotect {here} -l {long}{chosen} -d {_quoted(translate(action.help or ''))}"
            )
    return "\n".join(lines) + "\n"


def man(every: dict[str, argparse.ArgumentParser]) -> str:
    """A page of section 1 of the manual."""
    what = translate(message("Protect tables of counts and magnitudes; without a command the window opens."))
    lines = [
        f'.TH TABPROTECT 1 "" "tabprotect {__version__}"',
        ".SH NAME",
        f"tabprotect \\- {_roff(what)}",
        ".SH SYNOPSIS",
        ".B tabprotect",
        "COMMAND [OPTIONS]",
        ".SH COMMANDS",
    ]
    for name, parser in every.items():
        lines += [".SS " + name, _roff(translate(parser.description or ""))]
        for action in _options(parser):
            taken = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
            lines += [".TP", f".B {_roff(', '.join(action.option_strings))}{_roff(str(taken))}"]
            lines.append(_roff(translate(action.help or "")) or "\\&")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    plain = re.sub(r"\s+", " ", text).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{plain}'"


def _roff(text: str) -> str:
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain[:1] in (".", "'") else plain
