"""Colours for numbers: from light to dark for amounts, and with white in the middle for signed numbers.

The colours are those of C. Brewer, ColorBrewer 2.0 (https://colorbrewer2.org): its Oranges from light to
dark, and around white the blue of its RdBu and the orange of its Dark2. Readers with colour blindness can
tell them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

#: From low to high. Each colour is darker than the one before, so the order is visible without colour.
SEQUENTIAL = ("#fff5eb", "#fdd0a2", "#fd8d3c", "#d94801", "#7f2704")
DIVERGING = ("#2166ac", "#f7f7f7", "#d95f02")

#: At least one of these two has a contrast of 4.58 (the square root of 21) on any ground.
_DARK, _LIGHT = "#000000", "#ffffff"


def colour(palette: Sequence[str], place: float) -> str:
    """Return the colour at a position from 0 to 1 of a palette."""
    steps = [*pairwise(palette)]
    along = min(1.0, max(0.0, place)) * len(steps)
    step = min(int(along), len(steps) - 1)
    start, end = map(_parts, steps[step])
    part = along - step
    return "#" + "".join(
        f"{round(one + (other - one) * part):02x}" for one, other in zip(start, end, strict=True)
    )


def readable_on(ground: str) -> str:
    """Return the text colour on this ground: dark or light, whichever has more contrast."""
    return max((_DARK, _LIGHT), key=lambda text: contrast(text, ground))


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, from 1 to 21 (W3C, WCAG 2.2)."""
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    linear = [
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4
        for one in (part / 255 for part in _parts(colour))
    ]
    return sum(weight * one for weight, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _parts(colour: str) -> list[int]:
    return [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
