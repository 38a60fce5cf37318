"""Explain the messages of a log: what happened, how bad it is, and what to do. Nothing is sent anywhere."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

from jupyter_mlgpu.explain.logs.catalogue import LANGUAGES, Catalogue, Explanation
from jupyter_mlgpu.explain.logs.fold import shape_of
from jupyter_mlgpu.explain.logs.stream import messages
from jupyter_mlgpu.jupyter.cli.terminal import until_nobody_reads
from jupyter_mlgpu.record import incoming
from jupyter_mlgpu.record.errors import UsageError

EXAMPLE = """\
examples:
  jupyter mlgpu explain training.log
  python train.py 2>&1 | jupyter mlgpu explain
  jupyter mlgpu explain --json training.log
"""

#: With --json, equal messages are merged if fewer than this many different ones are between them.
WINDOW = 1_000
#: Most bytes of a log file, to stop at endless files. A log is read in blocks; more can be piped in.
MOST_BYTES = 100_000_000_000
STANDARD_INPUT = Path("-")
_WHAT = "a log"
_OPEN_FILES = (Path("/dev/fd"), Path("/proc/self/fd"))
_BLOCK = 256 * 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: Seconds after which the progress is shown, and seconds between two updates.
_PATIENCE = 2.0
_EVERY = 0.2
# In ASCII, so an object is one line for every reader and in every encoding.
_ENCODE = json.JSONEncoder(check_circular=False).encode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `jupyter mlgpu explain`."""
    parser.add_argument(
        "file", nargs="?", type=Path, metavar="FILE", help="a log file; `-` or no file reads standard input"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per message, in order")
    parser.add_argument(
        "--language", choices=LANGUAGES, help="English or Chinese (default: from the environment)"
    )


def main(arguments: argparse.Namespace) -> int:
    """Explain a log and return the exit status."""
    if hasattr(sys.stdout, "reconfigure"):  # escape characters that the terminal's encoding lacks
        sys.stdout.reconfigure(errors="backslashreplace")
    language = arguments.language or _language_of_the_environment()
    with until_nobody_reads(), _opened(arguments.file) as file:
        # JSON on a terminal scrolls, so it needs no progress.
        shows_progress = sys.stderr.isatty() and not (arguments.json and sys.stdout.isatty())
        blocks = _blocks(file, arguments.file or STANDARD_INPUT, shows_progress=shows_progress)
        parts = _as_json(blocks, language) if arguments.json else _as_text(blocks, language)
        for part in parts:
            sys.stdout.write(part)
        sys.stdout.flush()
    return 0


def _language_of_the_environment() -> str:
    chosen = next(filter(None, (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return "zh" if chosen.lower().startswith("zh") else "en"


@contextmanager
def _opened(path: Path | None) -> Iterator[BinaryIO]:
    if path is None or path == STANDARD_INPUT:
        stdin: TextIO | None = sys.stdin  # None where it was closed
        if stdin is None or (stdin.isatty() and path is None):
            raise UsageError(
                "Nothing to explain: name a file, pipe a log into the command, or type `-` to paste a log."
            )
        yield stdin.buffer
    elif path.parent in _OPEN_FILES:  # from `explain <(zcat training.log.gz)` in a shell
        try:
            handed = path.open("rb")
        except OSError as error:
            raise incoming.unreadable(path, _WHAT, error) from error
        with handed:
            yield handed
    else:
        with incoming.opened(path, most=MOST_BYTES, what=_WHAT) as file:
            yield file


def _blocks(file: BinaryIO, named: Path, *, shows_progress: bool) -> Iterator[bytes]:
    """Yield the file in blocks, with progress on stderr if wanted; raises UsageError if reading fails."""
    size = os.fstat(file.fileno()).st_size if shows_progress else 0
    start = last_shown = time.monotonic()
    done = 0
    block = _read(file, named)
    if block.startswith(_BYTE_ORDER_MARK):
        block = block[len(_BYTE_ORDER_MARK) :]
    while block:
        yield block
        done += len(block)
        now = time.monotonic()
        if shows_progress and now - start > _PATIENCE and now - last_shown > _EVERY:
            last_shown = now
            of = f" of {size / 1e6:,.0f}" if size else ""
            print(f"\r{done / 1e6:,.0f}{of} MB read …", end="", file=sys.stderr, flush=True)
        block = _read(file, named)
    if last_shown > start:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _read(file: BinaryIO, named: Path) -> bytes:
    try:
        block: bytes = getattr(file, "read1", file.read)(_BLOCK)
    except OSError as error:  # a failing disk, or a file that can be opened but not read
        raise incoming.unreadable(named, _WHAT, error) from error
    return block


def _as_text(blocks: Iterable[bytes], language: str) -> Iterator[str]:
    from jupyter_mlgpu.explain.logs.reader import LogReader
    from jupyter_mlgpu.jupyter.cli import explained

    catalogue = Catalogue.load()
    reader = LogReader(catalogue)
    for block in blocks:
        reader.feed("", block, "")
    return explained.report(reader.finish(), catalogue, language)


def _as_json(blocks: Iterable[bytes], language: str) -> Iterator[str]:
    window: OrderedDict[object, _CountedMessage] = OrderedDict()
    for message, known in messages(blocks, Catalogue.load()):
        # All states of a progress bar count as one message.
        text = shape_of(message) if message.overwritten and not known else message.body
        key = (message.level, message.origin, text)
        counted = window.get(key)
        if counted:
            counted.count += 1
            continue
        window[key] = _CountedMessage(message.text, known)
        if len(window) > WINDOW:
            yield _json_line(window.popitem(last=False)[1], language)
    for counted in window.values():
        yield _json_line(counted, language)


@dataclass(slots=True)
class _CountedMessage:
    """A message in the window, and the number of times it came."""

    text: str
    known: Explanation | None
    count: int = 1


def _json_line(message: _CountedMessage, language: str) -> str:
    known = message.known
    data = {
        "text": message.text,
        "id": known.id if known else None,
        "verdict": known.verdict if known else "unknown",
        "meaning": known.meaning(language) if known else None,
        "advice": known.advice(language) if known else None,
        "fields": known.fields if known else {},
        "count": message.count,
    }
    return _ENCODE(data) + "\n"
