"""Figures with their units, formatted in the same way in receipts, tables and sentences."""

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

#: Units with prefixes for powers of 1000, and the short forms used with them.
_DECIMAL = ("FLOP", "FLOP/s", "bytes/s", "1/s")
_SHORT = {"bytes/s": "B/s", "1/s": "/s"}
#: Units of counts, which have no prefixes.
_COUNTED = ("pages", "retries")


def seconds(value: float) -> str:
    """Return a duration such as `812 µs`, `12.3 ms`, `4.56 s` or `2 min 05 s`.

    Cell times are not precise enough for more than three figures.
    """
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
    """Return a duration like `seconds`, but down to nanoseconds and always with three figures below 1 ms.

    It is for single steps, which are timed precisely.
    """
    if value < 0.9995e-6:
        return f"{value * 1e9:.0f} ns"
    if value < 0.9995e-3:
        return f"{value * 1e6:.3g} µs"
    return seconds(value)


def size(value: float) -> str:
    """Return a number of bytes in powers of 1024, such as `512 MiB`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.3g} {unit}"
        value /= 1024
    return f"{value:.3g} TiB"


def percent(share: float) -> str:
    """Return a share as a percentage, such as `86 %`. Only exactly 0 and 1 give `0 %` and `100 %`."""
    # Halves are rounded up, as in the browser.
    figure = min(max(int(share * 100 + 0.5), 1), 99) if 0 < share < 1 else round(share) * 100
    return f"{figure} %"


def with_uncertainty(value: float, uncertainty: float | None, unit: str) -> str:
    """Return a value with its uncertainty, such as `12.3 J ± 0.4` or `3.51 kJ ± 0.04`.

    The uncertainty determines the number of figures. Without one there are three.
    """
    prefix, scale = ("k", 1e3) if abs(value) >= 999.5 else ("", 1.0) if abs(value) >= 0.0995 else ("m", 1e-3)
    value /= scale
    if not uncertainty:
        return f"{value:.3g} {prefix}{unit}" if abs(value) < 999.5 else f"{value:,.0f} {prefix}{unit}"
    uncertainty /= scale
    # One figure of the uncertainty, or two if the first is a 1, because rounding would change it by half.
    first = math.floor(math.log10(uncertainty))
    places = max(0, (1 if uncertainty / 10**first < 1.95 else 0) - first)
    return f"{value:,.{places}f} {prefix}{unit} ± {uncertainty:,.{places}f}"


def decimal(value: float, unit: str) -> str:
    """Return a rate with three figures and a decimal prefix, such as `12.3 GFLOP/s` or `8.31 GB/s`."""
    unit = _SHORT.get(unit, unit)
    for prefix in ("", "k", "M", "G", "T"):
        if abs(value) < 999.5:
            return f"{value:.3g} {prefix}{unit}"
        value /= 1000
    return f"{value:,.0f} P{unit}"


def figure(reading: Reading) -> str:
    """Return a reading's value with its unit, or `not measured`."""
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
    """Return a quantity's name for people."""
    return KNOWN[quantity].title if quantity in KNOWN else quantity.replace("_", " ")


def scope(name: str) -> str:
    """Return the name of a reading's scope for people."""
    return _SCOPES.get(name, name)
