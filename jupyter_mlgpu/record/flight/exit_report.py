"""The report of how a kernel's process ended."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from jupyter_mlgpu.record.decoding import Count, Measured
from jupyter_mlgpu.record.flight.flight_record import MOST_LINES, OomKills, Text

Named = Literal["machine", "container", "crash"]


class ExitReport(Struct, frozen=True):
    """Facts about a kernel's end that its flight record does not hold. None: unknown.

    `status` is the exit status, negative for a signal (as in `subprocess`). `pid` is the id of the process
    that ended. `asked`: a shutdown or restart of the kernel was requested. `at` is the time of its end, in
    seconds since 1970. `oom_before` are the kills counted at its beginning, `oom_kills` those after its end.
    `named` is the reason that the system's log gives for this process: the machine or its container was out
    of memory, or it crashed. `lines` are its last native lines, redacted. `shown`: a page shows the cause
    under the cell that ran.
    """

    schema: Literal[1] = 1
    pid: Count | None = None
    status: Annotated[int, Meta(ge=-128, le=2**31)] | None = None
    asked: bool | None = None
    at: Measured | None = None
    oom_before: OomKills = OomKills()
    oom_kills: OomKills = OomKills()
    named: Named | None = None
    lines: Annotated[tuple[Text, ...], Meta(max_length=MOST_LINES)] | None = None
    shown: bool = False
