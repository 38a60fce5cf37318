"""The memory table of `%mlc_device status`, for each device, this process and each allocator.

These three quantities are never merged (docs/adr/0001). All programs share a device's memory. A process's
memory is what the system gave it. An allocator's memory is what one framework keeps inside that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_mlgpu.measure.probes.memory import Memory
from jupyter_mlgpu.measure.probes.nvml import GpuMemory
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.page import text
from jupyter_mlgpu.show.page.model import Table

#: One row: name, used, free, total, and a remark.
Row = tuple[str, str, str, str, str]

_HEAD: Row = (say("Memory"), say("used"), say("free"), say("total"), "")

NOT_TOLD = say("not reported")


@dataclass(frozen=True, slots=True)
class GpuUser:
    """A process on a GPU, its program's short name and its bytes there. None: not available here."""

    pid: int
    program: str | None
    used: int | None
    ours: bool


def amounts(name: str, memory: Memory | GpuMemory, remark: str = "") -> Row:
    """Return a row with used, free and total memory."""
    return (name, units.size(memory.used), units.size(memory.free), units.size(memory.total), remark)


def in_use(name: str, used: float, remark: str) -> Row:
    """Return a row for memory that has neither a free part nor a total."""
    return (name, units.size(used), "", "", remark)


def limit(name: str, total: float, remark: str) -> Row:
    """Return a row for memory of which only the total is known."""
    return (name, "", "", units.size(total), remark)


def unknown(name: str, why: str) -> Row:
    """Return a row without a figure, with the reason."""
    return (name, NOT_TOLD, "", "", why)


def user(one: GpuUser) -> Row:
    """Return a row for a process on the GPU above."""
    amount = NOT_TOLD if one.used is None else units.size(one.used)
    who = say("this kernel") if one.ours else one.program or ""
    return (say("  process {number}", number=str(one.pid)), amount, "", "", who)


def table(rows: Sequence[Row], sentences: Sequence[str]) -> str:
    """Return the rows under a head, then the sentences, one per line, in the current language."""
    translated = text.in_current_language(Table(_HEAD, tuple(rows), figures=_HEAD[1:4]))
    return "\n".join([*text.table(translated), *map(translate, sentences)])
