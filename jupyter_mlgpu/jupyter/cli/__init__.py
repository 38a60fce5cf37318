"""The command `jupyter mlgpu`; each subcommand is a module that is imported when it is needed.

Exit status: 0 if all went well, 1 if a cell of the notebook failed or `doctor` found something, 2 if the
command was refused or failed, 130 after Ctrl-C. Errors are one sentence on stderr.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from jupyter_mlgpu import jupyter
from jupyter_mlgpu._version import __version__
from jupyter_mlgpu.jupyter.cli.terminal import PROGRAM, complain
from jupyter_mlgpu.record.errors import MlgpuError, UsageError
from jupyter_mlgpu.record.option_parser import WordsParser, unknown
from jupyter_mlgpu.record.sentence import joined, say

#: Subcommand to what it does, everyday ones first. Its module, in this package or from `teach`, has EXAMPLE,
#: add_arguments and main.
COMMANDS = {
    "run": "run a notebook with tracing on; save it, its records and a report",
    "doctor": "find out what is wrong with this machine's setup, and what to do about it",
    "lessons": "copy the lessons to a folder",
    "strip": "remove receipts from notebooks",
    "explain": "explain the messages in a log, and what to do about them",
    "bench": "measure how fast this machine computes, compared with published figures",
    "mcp": "answer an assistant's questions about saved records and logs",
    "class": "release, collect, grade and report a class's labs",
}
#: Number of everyday subcommands.
_EVERY_DAY = 2
REFUSED = 2
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status; `argv` is the part of the line after `jupyter mlgpu`."""
    try:
        return _run(sys.argv[1:] if argv is None else argv)
    except MlgpuError as error:
        complain(error)
        return REFUSED
    except KeyboardInterrupt:
        complain("interrupted.")
        return INTERRUPTED


def _run(words: Sequence[str]) -> int:
    if not words or words[0].startswith("-"):
        _overview().parse_args(words or ["--help"])
        return 0
    name = words[0]
    if name not in COMMANDS:
        explained = say("`{program} --help` explains each.", program=PROGRAM)
        raise UsageError(joined(unknown(say("command"), name, COMMANDS), explained))
    command = _module(name)
    status: int = command.main(command_parser(name).parse_args(words[1:]))
    return status


def command_parser(name: str) -> argparse.ArgumentParser:
    """Return the parser of the arguments of `jupyter mlgpu NAME`, with the command's help."""
    command = _module(name)
    parser = _parser(
        f"{PROGRAM} {name}",
        description=command.__doc__,
        epilog=command.EXAMPLE,
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    _add_help(parser)
    return parser


def _module(name: str) -> ModuleType:
    match name:
        case "run":
            from jupyter_mlgpu.jupyter.cli import run

            return run
        case "doctor":
            from jupyter_mlgpu.jupyter.cli import doctor

            return doctor
        case "strip":
            from jupyter_mlgpu.jupyter.cli import strip

            return strip
        case "explain":
            from jupyter_mlgpu.jupyter.cli import explain

            return explain
        case "bench":
            from jupyter_mlgpu.jupyter.cli import bench

            return bench
        case "mcp":
            from jupyter_mlgpu.jupyter.cli import mcp

            return mcp
    return jupyter.teaching_commands[name]()


def _overview() -> argparse.ArgumentParser:
    lines = [f"  {name:8} {what}" for name, what in COMMANDS.items()]
    groups = ["every day:", *lines[:_EVERY_DAY], "", "more:", *lines[_EVERY_DAY:]]
    parser = _parser(
        PROGRAM,
        usage=f"{PROGRAM} COMMAND ...",
        description="\n".join(["See what the hardware did, cell by cell.", "", *groups]),
        epilog=f"`{PROGRAM} COMMAND --help` explains a command, with an example.",
    )
    parser.add_argument("--version", action="version", version=f"jupyter_mlgpu {__version__}")
    _add_help(parser)
    return parser


def _add_help(parser: argparse.ArgumentParser) -> None:
    # In its own group at the end: argparse would put it before the everyday options.
    words = parser.add_argument_group("help")
    words.add_argument("-h", "--help", action="help", help="show this help message and exit")


def _parser(program: str, **options: Any) -> WordsParser:
    parser = WordsParser(
        prog=program, formatter_class=argparse.RawDescriptionHelpFormatter, add_help=False, **options
    )
    parser.explained = f"`{program} --help` shows an example."
    return parser
