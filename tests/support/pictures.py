"""Pictures of the documentation: where they go, and how they are kept small."""

from __future__ import annotations

import os
from pathlib import Path

#: `make screenshots` sets this variable.
ASKED = "JUPYTER_MLGPU_SCREENSHOTS" in os.environ
IMAGES = Path(__file__).parents[2] / "docs" / "images"


def folder_for(folder: Path) -> Path:
    """Return the folder of the documentation's pictures if they are to be made, or else this one."""
    return IMAGES if ASKED else folder


def with_few_colours(path: Path, colours: int) -> None:
    """Write a picture again with so many colours: an interface needs few."""
    from PIL import Image

    with Image.open(path) as drawn:
        few = drawn.convert("RGB").quantize(colours, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
