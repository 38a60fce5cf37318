"""Lists the types that browsers are sent, and the file of TypeScript in which the readers of each stand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typescript import File, Here, Writer

from jupyter_mlgpu.explain.exits.kernel_exit import KernelExit
from jupyter_mlgpu.jupyter.notebook.browser import messages
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.gpu_work import GpuWork
from jupyter_mlgpu.record.native import READ_LINE, NativeOutput
from jupyter_mlgpu.record.record import Cell, LogLine, Mode, Origin, Outcome, RanOn, Record, Repeat
from jupyter_mlgpu.record.strip import StripSoFar
from jupyter_mlgpu.show.page import view as page_view
from jupyter_mlgpu.show.page.model import Live
from jupyter_mlgpu.show.planning import live
from jupyter_mlgpu.show.receipts import view as receipt_view
from jupyter_mlgpu.show.receipts.head import HeadData

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
        "record/names.ts",
        "What people call frameworks and other libraries: jupyter_mlgpu/measure/frameworks/registry.py.",
        (),
        {
            "FRAMEWORKS": {name: registry.title(name) for name in registry.OWN},
            "LIBRARIES": registry.LIBRARIES,
        },
    ),
    File(
        "record/wire.ts",
        "A record as a kernel sends it and a notebook has it: jupyter_mlgpu/record/record.py.",
        (Record, HeadData),
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
            KernelExit,
        ),
    ),
    File(
        "page/pagetypes.ts",
        "What the kernel sends of a page: jupyter_mlgpu/show/page/view.py.",
        (page_view.PageData,),
        {"PAGE_TYPE": page_view.MIME_TYPE, "SCHEMA": page_view.SCHEMA},
    ),
    File(
        "record/openreceipt.ts",
        "What an open receipt says: jupyter_mlgpu/show/receipts/view.py.",
        (receipt_view.OpenReceiptData,),
    ),
    File(
        "page/graphtypes.ts",
        "What the kernel sends of the graph of a plan: jupyter_mlgpu/show/planning/live.py.",
        (live.GraphData,),
        {"FARTHEST": live.FARTHEST},
    ),
    File(
        "record/recordpagetypes.ts",
        "What the kernel answers about one cell: jupyter_mlgpu/jupyter/notebook/browser/record_pages.py.",
        (messages.RecordPageData, messages.MemorySamplesData),
    ),
)

#: What TypeScript reads by hand, for it makes something else of it.
BY_HAND: Mapping[Any, Here] = {
    Live: Here("IGraph", "readLive", {"IGraph": "page/graph"}, "page/graph"),
    Cell: Here("ICell", "readCell", {"ICell": "record/cell"}, "record/cell"),
    Mapping[str, Any]: Here("[name: string, value: string][]", "readFields", {}, "record/logfields"),
    messages.RecordJson: Here("IRecord", "readKnownRecord", {"IRecord": "record/record"}, "record/record"),
    messages.Lines: Here("ILogLine[]", "readLines", {"ILogLine": "record/logs"}, "record/logs"),
    tuple[LogLine, ...]: Here("ILogLine[]", "readLines", {"ILogLine": "record/logs"}, "record/logs"),
    messages.RestartHint: Here(
        "IRestartHint", "readRestartHint", {"IRestartHint": "kernel/restart"}, "kernel/restart"
    ),
    live.Way: Here("ICorner[]", "readWay", {"ICorner": "page/ways"}, "page/ways"),
}


def written() -> list[tuple[Path, str]]:
    """Return each file's path and text."""
    return list(Writer(BROWSER, FILES, BY_HAND).written())
