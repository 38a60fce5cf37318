"""The limit of a cell as plain data: what limits it, and which lines of its code took the time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from jupyter_mlgpu.record.decoding import Count, Share
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence

#: The activity that took most of a cell's time.
#: compiling: tracing, compiling, autotuning, first-run preparations.
#: waiting: asleep, or waiting for disk, network, locks or another process.
#: python: in the Python interpreter on one core while the device had nothing to do.
#: input: preparing data: loaders, decoding, tf.data, tokenising.
#: transfer: copying between host and device, or synchronization.
#: launch: starting many small operations, which the device finishes faster than they are dispatched.
#: compute: computing, near this machine's measured peak rate for the number type.
#: bandwidth: moving bytes within the device's memory, near its measured bandwidth.
#: device: working on the device, without knowing which of the two peaks limits it.
#: native: computing in native code on the host while the cell's GPU had nothing to do.
#: memory: short of memory: swapping, allocator retries, spilling.
#: contention: other programs used the processor or the device.
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
    """The main limit of a cell.

    `share` is the part of the wall time that it explains, from 0 to 1. `said` is the answer in one short
    sentence. `next` is one thing to do about it or, if the evidence does not decide, a way to find out.
    `bound` states how fast the cell could be without the limit. `parts` are the shares of each kind, the
    largest first, if the confidence is `open`. `evidence` are the readings that support it, the most
    important first.
    """

    kind: LimitKind
    confidence: Confidence
    said: Sentence
    share: Share | None = None
    evidence: tuple[Reading, ...] = ()
    next: Sentence | None = None
    bound: Sentence | None = None
    parts: Mapping[LimitKind, Share] | None = None

    def __str__(self) -> str:
        return translate(self.said)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Show the sentence at the end of a cell, as IPython asks for it: `repr` has all the evidence."""
        printer.text(str(self))


class HotLine(Struct, frozen=True, omit_defaults=True):
    """A line of a cell's code with the number of stack samples that were in it.

    `share` is that part of the samples, from 0 to 1, and `low` to `high` is its 95 % confidence interval
    (Wilson's). `cell` is the execution count of the cell that contains the line, if it is another cell.
    `calls` is the call that the line made most often, as written in the code.
    """

    line: Annotated[int, Meta(ge=1, le=10**7)]
    samples: Count
    share: Share
    low: Share
    high: Share
    cell: Count | None = None
    calls: Annotated[str, Meta(max_length=80)] | None = None
