"""The wording of each kind of limit in `record/limit.py`: a word for a line and a sentence for a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from jupyter_mlgpu.record.limit import LimitKind
from jupyter_mlgpu.record.sentence import Sentence, say


class LimitWords(NamedTuple):
    """A `word` that follows a share of the time, and its `meaning` as a sentence."""

    word: Sentence
    meaning: Sentence


#: Waits for a GPU that is not known to have been busy; they are reported as the kind *device*.
WAITING_FOR_GPU = say("waiting for the GPU")

KINDS: Mapping[LimitKind, LimitWords] = {
    "compiling": LimitWords(
        say("compiling"),
        say("Most of the time went into tracing, compiling, tuning and first-run preparation."),
    ),
    "waiting": LimitWords(
        say("waiting"),
        say("Most of the time, the cell slept or waited for a disk, a network, a lock or a process."),
    ),
    "python": LimitWords(
        say("Python"),
        say("Most of the time, Python ran on one core and the device had nothing to do."),
    ),
    "input": LimitWords(
        say("preparing input"),
        say("Most of the time went into preparing data: loading, decoding, shuffling, tokenizing."),
    ),
    "transfer": LimitWords(
        say("copying"),
        say("Most of the time went into copying values between host and device, or waiting for them."),
    ),
    "launch": LimitWords(
        say("launching"),
        say("Most of the time went into launching small operations: the device finished each immediately."),
    ),
    "compute": LimitWords(
        say("peak compute"),
        say("Most of the time went into computing, near the rate measured on this machine."),
    ),
    "bandwidth": LimitWords(
        say("memory traffic"),
        say("Most of the time went into moving bytes in the device's memory, near its measured rate."),
    ),
    "device": LimitWords(
        say("computing"),
        say(
            "Most of the time, native code or a GPU was computing. Samples do not show how near that came to "
            "what the machine can do."
        ),
    ),
    "native": LimitWords(
        say("native code"),
        say("Most of the time, native code computed on the CPU and the GPU had nothing to do."),
    ),
    "memory": LimitWords(
        say("memory shortage"),
        say("Most of the time was lost to a lack of memory: swapping, or an allocator that tried again."),
    ),
    "contention": LimitWords(
        say("other programs"),
        say("Most of the time, other programs were using the processor or the device."),
    ),
    "unknown": LimitWords(
        say("not known"),
        say("The evidence does not show where most of the time went."),
    ),
}

#: Used instead of *compiling* for a cell that mostly imported modules.
IMPORTING = LimitWords(say("importing"), say("Most of the time went into importing modules."))
