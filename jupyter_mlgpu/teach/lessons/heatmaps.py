"""Arrays as pictures: yours, should be and the difference, side by side, one square per number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.markup import Markup, element
from jupyter_mlgpu.show.page import svg
from jupyter_mlgpu.teach.lessons.palettes import DIVERGING, SEQUENTIAL, colour

if TYPE_CHECKING:
    import numpy as np

#: Most rows and columns that are drawn. Of a larger array, the upper left corner is shown.
MOST = 32

# In units of the drawing.
_PANEL, _GAP, _TOP, _MARGIN, _LEAST, _SQUARE = 200, 24, 40, 14, 6, 24

_STYLE = "text{text-anchor:start}.small{font-size:11px}"


@dataclass(frozen=True)
class Panel:
    """One array with its title; None is drawn as a question mark."""

    title: str
    array: np.ndarray[Any, Any] | None


def draw(panels: Sequence[Panel], words: str) -> Markup:
    """Return the panels as an SVG.

    Colours run from light for the lowest to dark for the highest number of all panels. If there are numbers
    on both sides of 0, the scale is symmetric and 0 is white. A panel with the title "difference" has a
    symmetric scale of its own.
    """
    arrays = [flat(one.array) for one in panels if one.array is not None]
    rows = min(MOST, max(one.shape[0] for one in arrays))
    columns = min(MOST, max(one.shape[1] for one in arrays))
    side = max(_LEAST, min(_SQUARE, _PANEL / max(rows, columns)))
    wide, high = max(120.0, side * columns), side * rows
    width = 2 * _MARGIN + len(panels) * wide + (len(panels) - 1) * _GAP
    height = _TOP + high + 34
    shared = _scale([flat(one.array) for one in panels if one.array is not None and not _is_difference(one)])
    parts: list[Markup] = []
    for place, panel in enumerate(panels):
        left = _MARGIN + place * (wide + _GAP)
        parts.append(element("text", translate(panel.title), x=f"{left:g}", y=26))
        if panel.array is None:
            parts.extend(_question(left, wide if side * columns >= 120 else side * columns, high))
            continue
        array = flat(panel.array)
        # The scale of a difference is always symmetric around 0.
        scale = _around_zero([array]) if _is_difference(panel) else shared
        low, top = scale
        parts += _squares(array[:MOST, :MOST], left, side, scale)
        says = say("all {value}", value=f"{low:.3g}")
        if low < top:
            says = say("{low} to {high}", low=f"{low:.3g}", high=f"{top:.3g}")
        parts.append(element("text", translate(says), class_="small", x=f"{left:g}", y=f"{height - 12:g}"))
    return svg.frame(translate(words), width, height, *parts, css=_STYLE)


def flat(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the array as rows and columns of floats; all axes but the last are joined."""
    import numpy as np

    real = np.abs(array) if array.dtype.kind == "c" else array.astype(float)
    return real.reshape(-1, real.shape[-1]) if real.ndim > 1 else real.reshape(1, -1)


def _is_difference(panel: Panel) -> bool:
    return panel.title == "difference"


def _range(arrays: Sequence[np.ndarray[Any, Any]]) -> tuple[float, float]:
    import numpy as np

    finite = np.concatenate([one[np.isfinite(one)] for one in arrays])
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)


def _scale(arrays: Sequence[np.ndarray[Any, Any]]) -> tuple[float, float]:
    """Return the lowest and the highest number, symmetric around 0 if both signs occur."""
    low, high = _range(arrays)
    return _around_zero(arrays) if low < 0 < high else (low, high)


def _around_zero(arrays: Sequence[np.ndarray[Any, Any]]) -> tuple[float, float]:
    low, high = _range(arrays)
    most = max(abs(low), abs(high))
    return -most, most


def _squares(
    array: np.ndarray[Any, Any], left: float, side: float, scale: tuple[float, float]
) -> Sequence[Markup]:
    return [
        element(
            "rect",
            x=f"{left + side * column:g}",
            y=f"{_TOP + side * row:g}",
            width=f"{side:g}",
            height=f"{side:g}",
            fill=_colour(value, *scale),
            stroke="#d1d9e0",
            stroke_width="0.5",
        )
        for row, line in enumerate(array.tolist())
        for column, value in enumerate(line)
    ]


def _colour(value: float, low: float, high: float) -> str:
    """Return the colour of a number; NaN is grey, and infinities have the colours at the ends."""
    if math.isnan(value):
        return "#999999"
    place = 0.5 if low == high and math.isfinite(value) else _place(value, low, high)
    return colour(DIVERGING if low == -high else SEQUENTIAL, place)


def _place(value: float, low: float, high: float) -> float:
    if not math.isfinite(value):
        return 0.0 if value < 0 else 1.0
    return min(1.0, max(0.0, (value - low) / (high - low)))


def _question(left: float, wide: float, high: float) -> list[Markup]:
    middle, down = f"{left + wide / 2:g}", f"{_TOP + high / 2 + 8:g}"
    return [
        element(
            "rect",
            x=f"{left:g}",
            y=_TOP,
            width=f"{wide:g}",
            height=f"{high:g}",
            fill="#f6f8fa",
            stroke="#59636e",
            stroke_dasharray="5 4",
        ),
        element("text", "?", x=middle, y=down, text_anchor="middle", style="font-size:22px"),
    ]
