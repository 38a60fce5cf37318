"""Folds what frameworks print during a command: it goes to a log file, not between our own lines.

The descriptors 1 and 2 lead straight to the file, because a pipe would need a thread or a process that reads
it, and takes time from what is measured. Lines of a process that crashes are in the file, too.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from jupyter_mlgpu.explain.logs.catalogue import Catalogue
from jupyter_mlgpu.explain.logs.reader import LogReader
from jupyter_mlgpu.measure.capture.flushing import flush_native
from jupyter_mlgpu.record.sentence import Sentence, joined, say, say_count
from jupyter_mlgpu.record.visible import visible_line

#: Verdicts of messages that ask for nothing.
_QUIET = ("harmless", "info")


@dataclass(frozen=True, slots=True)
class FoldedOutput:
    """The file that has the output, and the stream on which the command itself goes on to write."""

    path: Path
    terminal: TextIO

    def summary(self) -> Sentence | None:
        """Return how many messages were printed and how to read them. Without any, remove the file."""
        data = self.path.read_bytes()
        if not data:
            self.path.unlink()
            return None
        reader = LogReader(Catalogue.load())
        reader.feed("stderr", data, "")
        lines = reader.finish().lines
        count = sum(one.count for one in lines)
        quiet = sum(one.count for one in lines if one.verdict in _QUIET)
        printed = say_count(
            "Meanwhile {count} message was printed, {quiet} of which needs no action.",
            "Meanwhile {count} messages were printed, {quiet} of which need no action.",
            count,
            quiet=quiet,
        )
        where = say("`jupyter mlgpu explain {path}` shows them.", path=visible_line(self.path))
        return joined(printed, where)


@contextmanager
def folded_output() -> Iterator[FoldedOutput]:
    """Lead the descriptors 1 and 2 to a new temporary file, and restore them in the end.

    If the block raises an exception, what was printed is shown after all, since it may say why.
    """
    descriptor, name = tempfile.mkstemp(prefix="jupyter_mlgpu-bench-", suffix=".log")
    path = Path(name)
    _flush()
    before = {number: os.dup(number) for number in (1, 2)}
    terminal = os.fdopen(os.dup(2), "w", buffering=1, encoding=sys.stderr.encoding, errors="backslashreplace")
    try:
        for number in before:
            os.dup2(descriptor, number)
        yield FoldedOutput(path, terminal)
    except BaseException:
        _restore(before)
        sys.stderr.write(path.read_text(errors="replace"))
        path.unlink()
        raise
    finally:
        _restore(before)
        terminal.close()
        os.close(descriptor)


def _restore(before: dict[int, int]) -> None:
    _flush()
    for number, was in before.items():
        os.dup2(was, number)
        os.close(was)
    before.clear()


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    flush_native()
