"""The table of measured quantities, with the unit and title of each.

A quantity of every cell's record is an entry in `QUANTITIES` and a module of the same name in
`measure/probes/cell/`, which measures it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from jupyter_mlgpu.record.sentence import Sentence, say


class QuantityDefinition(NamedTuple):
    """The unit of a quantity's values, and its title for people."""

    unit: str
    title: Sentence


_Of = QuantityDefinition

#: Quantities of every record, in the order in which records list them.
QUANTITIES: Mapping[str, QuantityDefinition] = {
    "wall_time": _Of("s", say("Wall time")),
    "cpu_time": _Of("s", say("CPU time")),
    "device_time": _Of("s", say("GPU busy time")),
    # Only for profiled cells: the share of the cell, from 0 to 1, in which nothing ran on a device.
    "device_idle": _Of("share", say("Device idle")),
    "peak_memory_process": _Of("bytes", say("Peak memory, process")),
    # The peak above what the process had when the cell began; measured with the peak.
    "memory_growth": _Of("bytes", say("Memory growth, process")),
    "peak_memory_allocator": _Of("bytes", say("Peak memory, allocator")),
    "peak_memory_device": _Of("bytes", say("Peak memory, device")),
    # In use at the end of the cell. `growth.py` compares it over the runs of a cell.
    "memory_process": _Of("bytes", say("Memory at the end, process")),
    "memory_allocator": _Of("bytes", say("Memory at the end, allocator")),
    "energy": _Of("J", say("Energy")),
}

#: Further quantities of a profiled cell, if its profile contains them. Shares are parts of the profiled run,
#: and none of these is a timing.
PROFILED: Mapping[str, QuantityDefinition] = {
    "device_gaps": _Of("share", say("Device idle, from its first to its last operation")),
    # Time in which only copies between host and device ran.
    "device_copies": _Of("share", say("Device only copying")),
    # Time that the busiest thread of the host spent in operations of the framework.
    "host_operations": _Of("share", say("Host in operations")),
    # Operations shorter than the time it takes to start one, approximately (measure/ops/operation_rates.py).
    "short_operations": _Of("share", say("Host in short operations")),
    "operation_rate": _Of("1/s", say("Operations per second, profiled")),
    "operation_length": _Of("s", say("Mean operation length, profiled")),
    # Work of its operations: floating-point operations of one number type, bytes read and written (each
    # counted once), and bytes of the calls that work on more than a cache holds.
    "flops": _Of("FLOP", say("Floating-point operations")),
    "bytes_moved": _Of("bytes", say("Bytes read and written, at least")),
    "bytes_of_large_calls": _Of("bytes", say("Bytes past the caches, at least")),
}

#: Rates of a cell compared with its machine's peak rates (explain/limits/roofline.py), in light runs.
ROOFLINE: Mapping[str, QuantityDefinition] = {
    "flop_rate": _Of("FLOP/s", say("Arithmetic, in light runs")),
    "peak_flop_rate": _Of("FLOP/s", say("Arithmetic, this machine's roof")),
    "flop_share": _Of("of the roof", say("Arithmetic, share of the roof")),
    "byte_rate": _Of("bytes/s", say("Memory traffic, in light runs")),
    "peak_byte_rate": _Of("bytes/s", say("Memory traffic, this machine's roof")),
    "byte_share": _Of("of the roof", say("Memory traffic, share of the roof")),
}

#: Quantities that occur only in the evidence of a `Limit`.
EVIDENCE: Mapping[str, QuantityDefinition] = {
    "samples_share": _Of("share", say("Share of the samples")),
    "importing_share": _Of("share", say("Importing modules")),
    "gpu_wait_share": _Of("share", say("Waiting for the GPU")),
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
