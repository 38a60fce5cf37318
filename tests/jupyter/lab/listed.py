"""Records for tests of the list that shows them, and the list's controls."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from playwright.sync_api import Locator, expect

from jupyter_mlgpu.record.files import save_records
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import DeviceUse, Outcome, RanOn, Record
from jupyter_mlgpu.show.receipts.bundle import bundle
from jupyter_mlgpu.testing import example_record

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab

LOAD = "%load_ext jupyter_mlgpu"
FILTERS = re.compile("^Filters")


def record(
    number: int,
    name: str,
    *,
    wall: float = 0.5,
    device: float | None = None,
    memory: int = 512,
    energy: float | None = None,
    ran_on: str = "cpu:0",
    code: str | None = None,
    **changes: Any,
) -> Record:
    """A record with the figures that the list shows; `memory` in MiB. Each has a code of its own."""
    made = example_record(number, name=name)
    figures = {
        "wall_time": Reading("wall_time", wall, "s", "cell", "simulated", 1, detail="fake clock"),
        "peak_memory_process": Reading(
            "peak_memory_process", memory * 1024**2, "bytes", "process", "simulated", 1, detail="fake probe"
        ),
    }
    if device is not None:
        figures["device_time"] = Reading(
            "device_time", device, "s", "device", "simulated", 1, detail="fake profiler"
        )
    if energy is not None:
        figures["energy"] = Reading("energy", energy, "J", "device", "simulated", 2, detail="fake counter")
    kind = "cpu" if ran_on.startswith("cpu") else "cuda"
    cell = replace(made.cell, source_digest=code or f"{number:016x}")
    return replace(
        made,
        cell=cell,
        started_at=f"2026-01-01T00:00:{number:02d}.000000Z",
        device=DeviceUse({}, (RanOn("tensorflow", ran_on, kind, None, 5, 1.0),)),
        readings=tuple(figures.get(one.quantity, one) for one in made.readings),
        **changes,
    )


def some_records() -> list[Record]:
    failed: Outcome = "error"
    return [
        record(1, "load()", wall=0.2, device=0.1, memory=900),
        record(2, "model.fit(x, y)", wall=3.0, device=2.0, memory=700, energy=40.0, ran_on="gpu:0"),
        record(3, "model.predict(x)", wall=1.0, memory=800, energy=90.0, ran_on="gpu:0", outcome=failed),
        record(4, "plot()", wall=0.1, memory=100, notes=("Memory grows.",)),
    ]


def open_with(lab: Lab, name: str, records: Iterable[Record], folder: Path, *codes: str) -> None:
    """A live kernel that has loaded some records; cells with `codes` stand below."""
    file = folder / "records.jsonl"
    save_records(str(file), records)
    lab.write(name, LOAD, f"%mlc_trace load {file}", *codes)
    lab.open(name)
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(lab.records.first).to_be_visible()


def open_saved(lab: Lab, name: str, records: Iterable[Record]) -> None:
    """A notebook with receipts and no kernel."""
    lab.write_with_receipts(name, *map(bundle, records))
    lab.open_without_kernel(name)
    expect(lab.records.first).to_be_visible()


def names(lab: Lab) -> Locator:
    return lab.records.locator(".jp-mlgpu-Name")


def sort(lab: Lab, by: str) -> None:
    lab.sidebar.get_by_label("Sort by").select_option(label=by)


def unfold(lab: Lab) -> None:
    lab.sidebar.get_by_role("button", name=FILTERS).click()


def group(lab: Lab, by: str) -> None:
    lab.sidebar.get_by_label("Group by").select_option(label=by)
