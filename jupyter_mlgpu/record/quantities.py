"""The one table of what is measured: each quantity's unit, and its title for people.

A quantity of every cell's record is an entry in `QUANTITIES` and a module of its name in
`measure/probes/cell/`, which measures it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from jupyter_mlgpu.record.sentence import Sentence, say


class QuantityDefinition(NamedTuple):
    """The unit in which a quantity's values are, and what people call it."""

    unit: str
    title: Sentence


_Of = QuantityDefinition

#: What every record holds, in the order in which records list them.
QUANTITIES: Mapping[str, QuantityDefinition] = {
    "wall_time": _Of("s", say("Wall time")),
    "cpu_time": _Of("s", say("CPU time")),
    "device_time": _Of("s", say("GPU busy time")),
    # Of a profiled cell alone: the part of it in which nothing ran on a device, from 0 to 1.
    "device_idle": _Of("share", say("Device idle")),
    "peak_memory_process": _Of("bytes", say("Peak memory, process")),
    "peak_memory_allocator": _Of("bytes", say("Peak memory, allocator")),
    "peak_memory_device": _Of("bytes", say("Peak memory, device")),
    # In use when the cell had ended: what `growth.py` compares over the runs of a cell.
    "memory_process": _Of("bytes", say("Memory at the end, process")),
    "memory_allocator": _Of("bytes", say("Memory at the end, allocator")),
    "energy": _Of("J", say("Energy")),
}

#: What a profiled cell's record holds beside them, where its profile tells it: shares are parts of the
#: profiled run, and none of it is a timing.
PROFILED: Mapping[str, QuantityDefinition] = {
    "device_gaps": _Of("share", say("Device idle, from its first to its last operation")),
    # Only copies between host and device ran.
    "device_copies": _Of("share", say("Device only copying")),
    # One thread of the host, the busiest, was in operations of the framework.
    "host_operations": _Of("share", say("Host in operations")),
    # Operations that took less than it takes to start one, or so (measure/ops/operation_rates.py).
    "short_operations": _Of("share", say("Host in short operations")),
    "operation_rate": _Of("1/s", say("Operations per second, profiled")),
    "operation_length": _Of("s", say("Mean operation length, profiled")),
    # What its operations had to do: floating-point operations of one type of numbers; bytes that are read and
    # written, each once; and those of calls on more than a cache holds.
    "flops": _Of("FLOP", say("Floating-point operations")),
    "bytes_moved": _Of("bytes", say("Bytes read and written, at least")),
    "bytes_of_large_calls": _Of("bytes", say("Bytes past the caches, at least")),
}

#: A cell's place under its machine's roof (explain/limits/roofline.py), in light runs of its code.
ROOFLINE: Mapping[str, QuantityDefinition] = {
    "flop_rate": _Of("FLOP/s", say("Arithmetic, in light runs")),
    "peak_flop_rate": _Of("FLOP/s", say("Arithmetic, this machine's roof")),
    "flop_share": _Of("of the roof", say("Arithmetic, share of the roof")),
    "byte_rate": _Of("bytes/s", say("Memory traffic, in light runs")),
    "peak_byte_rate": _Of("bytes/s", say("Memory traffic, this machine's roof")),
    "byte_share": _Of("of the roof", say("Memory traffic, share of the roof")),
}

#: What a limit rests on: readings of a `Limit`, and of no record by themselves.
EVIDENCE: Mapping[str, QuantityDefinition] = {
    "samples_share": _Of("share", say("Share of the samples")),
    "importing_share": _Of("share", say("Importing modules")),
    "time_without": _Of("s", say("Without it, at least")),
    "thread_time": _Of("s", say("CPU time, the cell's thread")),
    "process_time": _Of("s", say("CPU time, process")),
    "processor_wait": _Of("s", say("Waited for a processor")),
    "others_time": _Of("s", say("CPU time, other programs")),
    "time_not_seen": _Of("s", say("Time not seen")),
    "memory_stall": _Of("s", say("Waited for memory")),
    "major_faults": _Of("pages", say("Waits for a page from disk")),
    "compile_time": _Of("s", say("Tracing and compiling, by the frameworks' own clocks")),
    "device_busy": _Of("share", say("Device busy")),
    "host_device_rate": _Of("bytes/s", say("Between host and device")),
    "allocator_retries": _Of("retries", say("Allocator retries")),
}

#: Every quantity known to this version.
KNOWN: Mapping[str, QuantityDefinition] = {**QUANTITIES, **PROFILED, **ROOFLINE, **EVIDENCE}
