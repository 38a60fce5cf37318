"""`images`: small grayscale pictures side by side, of digits and of a network's activations."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.markup import Markup, element

if TYPE_CHECKING:
    import numpy as np

# Width of a picture in CSS pixels, and its width in a terminal in characters.
_SIDE, _COLUMNS = 112, 28
_SHADES = " .:-=+*#%@"
# Visible on white and on black. Without a frame, a white edge cannot be seen on a white page.
_FRAME = "1px solid #777777"


class Images:
    """Arrays as grayscale pictures, each with a frame and a title; white is the array's highest number."""

    def __init__(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._arrays = arrays

    def __repr__(self) -> str:
        return "\n".join(line for title, one in self._arrays.items() for line in (title, *_characters(one)))

    def _repr_html_(self) -> str:
        shown = [_figure(title, one) for title, one in self._arrays.items()]
        return str(element("div", *shown, style="display:flex;flex-wrap:wrap;gap:12px"))


def images(arrays: Mapping[str, object]) -> Images:
    """Show arrays [rows, columns], or what NumPy can convert to one, as grayscale pictures with titles.

    Each has its own scale: black is its lowest number, white its highest. Raises UsageError if an array has
    another number of axes, or is empty.
    """
    import numpy as np

    grey = {}
    for title, one in arrays.items():
        array = np.asarray(one, dtype=float)
        if array.ndim != 2 or not array.size:
            raise UsageError(
                f"{title!r} has shape {list(array.shape)}; a picture needs rows and columns: [rows, columns]."
            )
        low, high = float(np.nanmin(array)), float(np.nanmax(array))
        grey[title] = np.nan_to_num((array - low) / ((high - low) or 1.0))
    return Images(grey)


def _figure(title: str, array: np.ndarray[Any, Any]) -> Markup:
    rows, columns = array.shape
    data = base64.b64encode(_png((array * 255).round().astype("uint8"))).decode()
    words = say(
        "{title}: a grayscale picture of {rows} by {columns} numbers",
        title=title,
        rows=str(rows),
        columns=str(columns),
    )
    size = f"width:{_SIDE}px;height:{_SIDE * rows / columns:g}px;image-rendering:pixelated;border:{_FRAME}"
    picture = element("img", src=f"data:image/png;base64,{data}", alt=translate(words), style=size)
    return element("div", picture, element("div", title), style=f"width:{_SIDE}px")


def _characters(array: np.ndarray[Any, Any]) -> list[str]:
    """Return a picture as lines of characters.

    Characters are about twice as high as wide. Small pictures get two characters per number, larger ones
    leave out rows.
    """
    wide = array.shape[1] <= _COLUMNS // 2
    step = 1 if wide else -(-array.shape[1] // _COLUMNS)
    drawn = array[:: step if wide else 2 * step, ::step]
    return [
        "".join(_SHADES[min(9, int(one * 10))] * (2 if wide else 1) for one in row).rstrip() for row in drawn
    ]


def _png(grey: np.ndarray[Any, Any]) -> bytes:
    """Return an 8-bit grayscale picture as a PNG file (W3C, Portable Network Graphics, chapters 5 and 11)."""
    rows, columns = grey.shape
    lines = b"".join(b"\0" + row.tobytes() for row in grey)  # each line begins with filter type 0: none
    header = struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
