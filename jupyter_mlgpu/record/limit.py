"""What limits a cell, as plain data: the answer, and which lines of its code took the time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

from jupyter_mlgpu.record.decoding import Count, Share
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence

#: What a cell spent most of its time on.
#: compiling: tracing, compiling, autotuning, first-run preparations.
#: waiting: asleep, on disk, network, locks, another process.
#: python: in the interpreter on one core while the device had nothing to do.
#: input: getting data ready: loaders, decoding, tf.data, tokenising.
#: transfer: copying between host and device, or waiting for values to come back.
#: launch: starting many small operations: the device is quicker than its dispatch.
#: compute: computing, near the machine's own measured roof for that type.
#: bandwidth: moving bytes within the device's memory, near its measured roof.
#: device: working on the device, and which roof is not known.
#: native: computing in native code on the host, while the cell's GPU had nothing to do.
#: memory: short of memory: swapping, allocator retries, spilling.
#: contention: other programs had the processor or the device.
#: unknown: the evidence does not decide.
LimitKind = Literal[
    "compiling",
    "waiting",
    "python",
    "input",
    "transfer",
    "launch",
    "compute",
    "bandwidth",
    "device",
    "native",
    "memory",
    "contention",
    "unknown",
]
Confidence = Literal["sure", "likely", "open"]


class Limit(Struct, frozen=True, omit_defaults=True):
    """What held a cell up most.

    `share` is the part of the wall time that it explains, from 0 to 1. `said` is the answer in one short
    sentence, `next` one thing to do about it or, where the evidence does not decide, what would. `bound` says
    how fast the cell could be without it. `parts` are the shares of each kind, the largest first, where none
    of them has half of the time. `evidence` are the readings that it rests on, the weightiest first.
    """

    kind: LimitKind
    confidence: Confidence
    said: Sentence
    share: Share | None = None
    evidence: tuple[Reading, ...] = ()
    next: Sentence | None = None
    bound: Sentence | None = None
    parts: Mapping[LimitKind, Share] | None = None


class HotLine(Struct, frozen=True, omit_defaults=True):
    """A line of a cell's code, and in how many of the samples of the stack the cell was at it.

    `share` is that part of the samples, from 0 to 1, and `low` to `high` the interval in which it lies with
    95 % confidence (Wilson's). `cell` is the execution count of the cell that the line stands in, where that
    is another one. `calls` is what the line was calling most often, as it is written in the code.
    """

    line: Annotated[int, Meta(ge=1, le=10**7)]
    samples: Count
    share: Share
    low: Share
    high: Share
    cell: Count | None = None
    calls: Annotated[str, Meta(max_length=80)] | None = None
