"""The strips in the documentation are those of an H100's seven cells, as they are drawn today.

Where JUPYTER_MLGPU_SCREENSHOTS is set, as `make screenshots` does, they are written.
"""

import os
import re
from pathlib import Path

import pytest

from jupyter_mlgpu.show.receipts import strip
from tests.support.strips import CELLS, judged

pytestmark = pytest.mark.small

IMAGES = Path(__file__).parents[2] / "docs" / "images" / "strips"


@pytest.mark.parametrize("name", [name for name in CELLS if name.endswith("run 1")])
def test_the_how_to_shows_what_is_drawn_today(name):
    slug = re.sub("[^a-z0-9]+", "-", name.removesuffix(", run 1").lower())
    path = IMAGES / f"{slug}.svg"
    drawn = f"{strip.svg(judged(name))}\n"
    if os.environ.get("JUPYTER_MLGPU_SCREENSHOTS"):
        path.write_text(drawn, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == drawn
