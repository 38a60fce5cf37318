"""How a kernel's process ended, as far as anybody could see it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from jupyter_mlgpu.record.decoding import Count, Measured
from jupyter_mlgpu.record.flight.flight_record import MOST_LINES, OomKills, Text

Named = Literal["machine", "container", "crash"]


class ExitReport(Struct, frozen=True):
    """What is known beside the account; None where it is not.

    `status` is the exit status, negative for a signal (as `subprocess` has it). `pid` is of the process that
    ended. `asked` says that somebody had the kernel shut down or restarted. `at` is when it ended, in seconds
    since 1970. `oom_before` were counted when it began, `oom_kills` when it had ended. `named` is what
    the system's log names this process for: that the machine or its container was out of memory, or that it
    crashed. `lines` are its last native lines, redacted.
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
