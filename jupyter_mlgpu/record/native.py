"""Marks the native lines in a cell's output. A front end folds those that require no action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Struct

from jupyter_mlgpu.record.bounds import Most, Otherwise, Printed
from jupyter_mlgpu.record.decoding import Count

#: Limits of what a browser reads: runs of native lines in a stream, profiler lines, characters in a line.
READ_RUNS, READ_OURS, READ_LINE = 200, 100, 8_000

_Line = Annotated[str, Printed(), Most(READ_LINE), Otherwise("")]


class StreamLines(Struct, frozen=True):
    """The lines of one stream in a cell's output, counted by their ends.

    `native` holds the runs of lines that native code wrote completely, each as the number of its first line
    and the number of lines. A line that a Python print began is in none of them.
    """

    lines: Count
    native: Annotated[tuple[tuple[Count, Count], ...], Most(READ_RUNS), Otherwise(())]


class NativeOutput(Struct, frozen=True):
    """The native lines of a cell's output by stream, and what the message catalogue knows about them.

    `families` are the catalogue's families of the harmless and informational messages. `naming_devices` are
    the ids of those messages that name a device: they are not folded. `ours` are lines that appeared only
    because the package's profiler was on. They are not part of the record's log.
    """

    streams: Mapping[str, StreamLines]
    families: tuple[str, ...] = ()
    naming_devices: tuple[str, ...] = ()
    ours: Annotated[tuple[_Line, ...], Most(READ_OURS)] = ()
