"""Figures with their units, as people write them: the same ones in receipts, tables and sentences."""

from __future__ import annotations

import math

from jupyter_mlgpu.record.reading import Reading

TITLES = {
    "wall_time": "Wall time",
    "cpu_time": "CPU time",
    "device_time": "GPU busy time",
    "device_idle": "Device idle",
    "peak_memory_process": "Peak memory, process",
    "peak_memory_allocator": "Peak memory, allocator",
    "peak_memory_device": "Peak memory, device",
    "memory_process": "Memory at the end, process",
    "memory_allocator": "Memory at the end, allocator",
    "energy": "Energy",
    # What a limit rests on.
    "samples_share": "Share of the samples",
    "importing_share": "Importing modules",
    "time_without": "Without it, at least",
    "thread_time": "CPU time, the cell's thread",
    "process_time": "CPU time, process",
    "processor_wait": "Waited for a processor",
    "others_time": "CPU time, other programs",
    "time_not_seen": "Time not seen",
    "memory_stall": "Waited for memory",
    "major_faults": "Waits for a page from disk",
    "compile_time": "Tracing and compiling, by the frameworks' own clocks",
    "device_busy": "Device busy",
    "host_device_rate": "Between host and device",
    "allocator_retries": "Allocator retries",
    # What a profile tells of the profiled run, and where a cell stands under its machine's roof.
    "device_gaps": "Device idle, from its first to its last operation",
    "device_copies": "Device only copying",
    "host_operations": "Host in operations",
    "short_operations": "Host in short operations",
    "operation_rate": "Operations per second, profiled",
    "operation_length": "Mean operation length, profiled",
    "flops": "Floating-point operations",
    "bytes_moved": "Bytes read and written, at least",
    "bytes_of_large_calls": "Bytes past the caches, at least",
    "flop_rate": "Arithmetic, in light runs",
    "peak_flop_rate": "Arithmetic, this machine's roof",
    "flop_share": "Arithmetic, share of the roof",
    "byte_rate": "Memory traffic, in light runs",
    "peak_byte_rate": "Memory traffic, this machine's roof",
    "byte_share": "Memory traffic, share of the roof",
}

#: Units with prefixes for powers of 1000, and how those are written that are short then.
_DECIMAL = ("FLOP", "FLOP/s", "bytes/s", "1/s")
_SHORT = {"bytes/s": "B/s", "1/s": "/s"}
#: Units of what is counted, which have no prefixes.
_COUNTED = ("pages", "retries")


def seconds(value: float) -> str:
    """`812 µs`, `12.3 ms`, `4.56 s`, `2 min 05 s`: three figures are what a cell's time is good for."""
    if value < 0.9995e-3:
        return f"{value * 1e6:.0f} µs"
    if value < 0.9995:
        return f"{value * 1e3:.3g} ms"
    if value < 59.95:
        return f"{value:.3g} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def duration(value: float) -> str:
    """As `seconds`, but three figures with a unit from nanoseconds up: of a step, where they all count."""
    if value < 0.9995e-6:
        return f"{value * 1e9:.0f} ns"
    if value < 0.9995e-3:
        return f"{value * 1e6:.3g} µs"
    return seconds(value)


def size(value: float) -> str:
    """`512 MiB`: bytes in powers of 1024."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.3g} {unit}"
        value /= 1024
    return f"{value:.3g} TiB"


def percent(share: float) -> str:
    """`86 %`: a part of a whole; neither all nor nothing unless it is exactly that."""
    # Halves upwards, as the browser rounds.
    figure = min(max(int(share * 100 + 0.5), 1), 99) if 0 < share < 1 else round(share) * 100
    return f"{figure} %"


def with_uncertainty(value: float, uncertainty: float | None, unit: str) -> str:
    """`12.3 J ± 0.4`, `3.51 kJ ± 0.04`: no more figures than the uncertainty leaves; three without one."""
    prefix, scale = ("k", 1e3) if abs(value) >= 999.5 else ("", 1.0) if abs(value) >= 0.0995 else ("m", 1e-3)
    value /= scale
    if not uncertainty:
        return f"{value:.3g} {prefix}{unit}" if abs(value) < 999.5 else f"{value:,.0f} {prefix}{unit}"
    uncertainty /= scale
    # One figure of the uncertainty, two where the first is a 1: there rounding would change it by half.
    first = math.floor(math.log10(uncertainty))
    places = max(0, (1 if uncertainty / 10**first < 1.95 else 0) - first)
    return f"{value:,.{places}f} {prefix}{unit} ± {uncertainty:,.{places}f}"


def decimal(value: float, unit: str) -> str:
    """`12.3 GFLOP/s`, `8.31 GB/s`: three figures with a prefix for a power of 1000."""
    unit = _SHORT.get(unit, unit)
    for prefix in ("", "k", "M", "G", "T"):
        if abs(value) < 999.5:
            return f"{value:.3g} {prefix}{unit}"
        value /= 1000
    return f"{value:,.0f} P{unit}"


def figure(reading: Reading) -> str:
    """A reading's value with its unit, or `not measured`."""
    if reading.value is None:
        return "not measured"
    if reading.unit == "s":
        return seconds(reading.value)
    if reading.unit == "bytes":
        return size(reading.value)
    if reading.unit in ("share", "of the roof"):
        return f"{reading.value * 100:.3g} %"
    if reading.unit in _DECIMAL:
        return decimal(reading.value, reading.unit)
    if reading.unit in _COUNTED:
        return f"{reading.value:,.0f} {reading.unit}"
    return with_uncertainty(reading.value, reading.uncertainty, reading.unit)


def title(quantity: str) -> str:
    """A quantity's name for people."""
    return TITLES.get(quantity, quantity.replace("_", " "))
