"""Which types browsers are sent, and in which file of theirs the readers of each stand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reader_files import File, Here, Writer

from jupyter_mlgpu.show.page import view
from jupyter_mlgpu.show.page.model import Live
from jupyter_mlgpu.show.planning import live

BROWSER = Path(__file__).resolve().parent.parent / "labextension" / "src"

FILES = (
    File(
        "page/pagetypes.ts",
        "What the kernel sends of a page: jupyter_mlgpu/show/page/view.py.",
        (view.PageData,),
        {"PAGE_TYPE": view.MIME_TYPE, "SCHEMA": view.SCHEMA},
    ),
    File(
        "page/graphtypes.ts",
        "What the kernel sends of the graph of a plan: jupyter_mlgpu/show/planning/live.py.",
        (live.GraphData,),
    ),
)

#: What TypeScript reads by hand, for it makes something else of it.
BY_HAND: Mapping[Any, Here] = {
    Live: Here("IGraph | ILanes", "readLive", {"IGraph": "page/graph", "ILanes": "page/live"}, "page/live"),
    live.Way: Here("ICorner[]", "readWay", {"ICorner": "page/ways"}, "page/ways"),
}


def written() -> list[tuple[Path, str]]:
    """Each file's path and text."""
    return list(Writer(BROWSER, FILES, BY_HAND).written())
