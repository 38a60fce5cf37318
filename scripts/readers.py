"""Which types browsers are sent, and in which file of theirs the readers of each stand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reader_files import File, Writer
from reader_values import Here

from jupyter_mlgpu.explain.deaths.death import Death
from jupyter_mlgpu.jupyter.notebook.browser import messages
from jupyter_mlgpu.record.gpu_work import GpuWork
from jupyter_mlgpu.record.native import READ_LINE, NativeOutput
from jupyter_mlgpu.record.record import Cell, LogLine, Mode, Origin, Outcome, RanOn, Repeat
from jupyter_mlgpu.record.strip import StripSoFar
from jupyter_mlgpu.show.exporting.compact import TimelineData
from jupyter_mlgpu.show.page import view
from jupyter_mlgpu.show.page.model import Live
from jupyter_mlgpu.show.planning import live

BROWSER = Path(__file__).resolve().parent.parent / "labextension" / "src"

FILES = (
    File(
        "record/recordtypes.ts",
        "Parts of a record that the kernel sends: jupyter_mlgpu/record.",
        (Cell, StripSoFar, GpuWork, NativeOutput, Repeat, LogLine, RanOn),
        {"TEXT_LIMIT": READ_LINE},
        {"Outcome": Outcome, "Mode": Mode, "Origin": Origin},
    ),
    File(
        "kernel/messages.ts",
        "What a kernel tells, and the server of its machine and of kernels that died.",
        (
            messages.DeviceStatusData,
            messages.SidebarState,
            messages.RunningData,
            messages.CountersEventData,
            messages.WatchData,
            messages.RecordsData,
            messages.SnapshotData,
            messages.RecordEvent,
            messages.LinesEvent,
            messages.DeviceEvent,
            messages.SidebarEvent,
            messages.DoctorEvent,
            messages.ProgressEvent,
            messages.TraceEvent,
            Death,
        ),
    ),
    File(
        "record/recordpagetypes.ts",
        "What the kernel answers about one cell: jupyter_mlgpu/jupyter/notebook/browser/record_pages.py.",
        (messages.RecordPageData, messages.LooksData),
    ),
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
    Cell: Here("ICell", "readCell", {"ICell": "record/record"}, "record/record"),
    Mapping[str, Any]: Here("[name: string, value: string][]", "readFields", {}, "record/logfields"),
    messages.RecordJson: Here("IRecord", "readKnownRecord", {"IRecord": "record/record"}, "record/record"),
    messages.PageJson: Here("Record<string, unknown>", "object", {}, "language/untrusted"),
    TimelineData: Here("ITimeline", "readTimeline", {"ITimeline": "record/timeline"}, "record/timeline"),
    messages.Lines: Here("ILogLine[]", "readLines", {"ILogLine": "record/logs"}, "record/logs"),
    tuple[LogLine, ...]: Here("ILogLine[]", "readLines", {"ILogLine": "record/logs"}, "record/logs"),
    messages.RestartHint: Here(
        "IRestartHint", "readRestartHint", {"IRestartHint": "kernel/restart"}, "kernel/restart"
    ),
    live.Way: Here("ICorner[]", "readWay", {"ICorner": "page/ways"}, "page/ways"),
}


def written() -> list[tuple[Path, str]]:
    """Each file's path and text."""
    return list(Writer(BROWSER, FILES, BY_HAND).written())
