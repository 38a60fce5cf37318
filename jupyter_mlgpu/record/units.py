"""Figures with their units, as people write them: the same ones in receipts, tables and sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping

from jupyter_mlgpu.record.quantities import KNOWN
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence, say

_SCOPES: Mapping[str, Sentence] = {
    "cell": say("cell"),
    "process": say("process"),
    "device": say("device"),
    "machine": say("machine"),
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
        return say("not measured")
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
    return KNOWN[quantity].title if quantity in KNOWN else quantity.replace("_", " ")


def scope(name: str) -> str:
    """What a reading covers, for people."""
    return _SCOPES.get(name, name)
