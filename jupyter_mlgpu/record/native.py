"""Which lines of a cell's output are native: a front end folds those that say nothing to act on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Struct

from jupyter_mlgpu.record.bounds import Most, Otherwise, Printed
from jupyter_mlgpu.record.decoding import Count

#: What a browser reads: runs of native lines in one stream, lines of a profiler of ours, letters of a line.
READ_RUNS, READ_OURS, READ_LINE = 200, 100, 8_000

_Line = Annotated[str, Printed(), Most(READ_LINE), Otherwise("")]


class StreamLines(Struct, frozen=True):
    """Lines of a stream in a cell's output, counted by their ends.

    `native` has the runs of those that native code wrote from their first character to their end, each as the
    number of its first line and how many there are. Of a line that a print began, nothing is in it.
    """

    lines: Count
    native: Annotated[tuple[tuple[Count, Count], ...], Most(READ_RUNS), Otherwise(())]


class NativeOutput(Struct, frozen=True):
    """What of a cell's output is native, by stream, and what the catalogue knows of it.

    `families` are the parts of the catalogue that harmless messages and those for information belong to.
    `naming_devices` are those among them that name a device, by id: they stay in sight. `ours` are lines that
    came only because a profiler of ours was on: they are no part of the record's log.
    """

    streams: Mapping[str, StreamLines]
    families: tuple[str, ...] = ()
    naming_devices: tuple[str, ...] = ()
    ours: Annotated[tuple[_Line, ...], Most(READ_OURS)] = ()
