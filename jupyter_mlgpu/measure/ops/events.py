"""The events of one cell's profile, in one form for all frameworks.

Times are whole nanoseconds since 1970 (UTC) as the profiler reports them. Only differences within one profile
are meaningful.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from msgspec import Struct

from jupyter_mlgpu.record.record import Plane
from jupyter_mlgpu.record.sentence import Sentence, say

Kind = Literal["op", "kernel", "copy", "memset"]

#: The device of events that are the times of a model's layers.
LAYERS = "layers"

#: Number of events of one profile that are kept. An event takes about 250 bytes.
LIMIT = 1_000_000

#: The reason why a profiler's events were not kept.
CUT = say("a profile of more than {limit} events is cut to limit its memory use", limit=LIMIT)


class Event(Struct, frozen=True, gc=False):
    """One run of an operation on one line: a thread of the host or a stream of a device.

    `device` is our short name (`gpu:0`), and `host` on the host's plane: a thread there runs an operation
    of the CPU or launches one on a device, and profilers do not say which. `bytes` are those copied, `flops`
    floating-point operations; both are None if the profiler does not report them. `moved` are the bytes that
    it reads and writes at the least (see `work.py`), `number_type` the type in which it computes: `bfloat16`.
    """

    name: str
    type: str
    plane: Plane
    device: str
    line: str
    start_ns: int
    duration_ns: int
    kind: Kind = "op"
    shapes: str | None = None
    bytes: int | None = None
    flops: float | None = None
    moved: int | None = None
    number_type: str | None = None

    @property
    def end_ns(self) -> int:
        """The end of the event."""
        return self.start_ns + self.duration_ns


@dataclass(frozen=True, slots=True)
class ProgramCost:
    """The work of one run of a compiled program, by the compiler's own figures, and the number of runs.

    `flops` are those of `number_type`. `moved` are the bytes that its parts read and write, `given` the bytes
    of its arguments and results.
    """

    name: str
    runs: int
    flops: float
    moved: int
    given: int
    number_type: str | None


@dataclass(frozen=True, slots=True)
class Profile:
    """The events of one framework from `start_ns` to `end_ns`.

    `left_out` counts events of the profiler that were not kept, with the reason. `whole` is False if the
    profiler did not run to the cell's end. `problems` are sentences for the reader. `xspace` is the profile
    as the framework itself wrote it, a serialised XSpace, if it writes one. `devices_unseen`: a device
    worked that the profiler does not report, so the host's lines do not show the whole cell. `compiled`: the
    host's operations are parts of compiled programs and are not launched one by one. `programs` is the work
    of these programs, if it is reported for whole programs. `why_no_device_time` is the reason, if the
    profile can have none.
    """

    framework: str
    profiler: Sentence
    events: tuple[Event, ...]
    start_ns: int
    end_ns: int
    left_out: int = 0
    why_left_out: Sentence | None = None
    problems: tuple[Sentence, ...] = ()
    whole: bool = True
    xspace: bytes | None = None
    devices_unseen: bool = False
    compiled: bool = False
    programs: tuple[ProgramCost, ...] = ()
    why_no_device_time: Sentence | None = None

    @property
    def complete(self) -> bool:
        """True if every event of the cell is here, so that sums over them are the cell's."""
        return self.whole and self.left_out == 0


class ProfileEvents(NamedTuple):
    """The events in a profiler's own form; `left_out` and `problems` are those of a Profile."""

    events: tuple[Event, ...]
    left_out: int
    problems: tuple[Sentence, ...] = ()


def first_events(events: Iterable[Event], limit: int = LIMIT) -> ProfileEvents:
    """Return the first `limit` events, and how many more there were."""
    first: list[Event] = []
    more = 0
    for event in events:
        if len(first) < limit:
            first.append(event)
        else:
            more += 1
    return ProfileEvents(tuple(first), more)
