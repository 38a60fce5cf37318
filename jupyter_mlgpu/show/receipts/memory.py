"""Memory now, as `%mlc_device status` prints it: what each device, this process and each allocator say.

Three quantities that are never merged (docs/adr/0001): a device's memory is shared by all programs, a
process's is what the system gave it, and an allocator's is what one framework keeps inside that.
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

#: One row: what it is of, used, free, total, and a remark.
Row = tuple[str, str, str, str, str]

_HEAD: Row = (say("Memory"), say("used"), say("free"), say("total"), "")

NOT_TOLD = say("not reported")


@dataclass(frozen=True, slots=True)
class GpuUser:
    """A process on a GPU, its program's short name and its bytes there; None: not to be told here."""

    pid: int
    program: str | None
    used: int | None
    ours: bool


def amounts(name: str, memory: Memory | GpuMemory, remark: str = "") -> Row:
    """A row with used, free and total memory."""
    return (name, units.size(memory.used), units.size(memory.free), units.size(memory.total), remark)


def in_use(name: str, used: float, remark: str) -> Row:
    """A row of what has no free part nor a total."""
    return (name, units.size(used), "", "", remark)


def unknown(name: str, why: str) -> Row:
    """A row without a figure, with the reason."""
    return (name, NOT_TOLD, "", "", why)


def user(one: GpuUser) -> Row:
    """A row of a process on the GPU above."""
    told = NOT_TOLD if one.used is None else units.size(one.used)
    who = say("this kernel") if one.ours else one.program or ""
    return (say("  process {number}", number=str(one.pid)), told, "", "", who)


def table(rows: Sequence[Row], sentences: Sequence[str]) -> str:
    """The rows under a head, then the sentences, one a line, in the learner's language."""
    shown = text.in_current_language(Table(_HEAD, tuple(rows), figures=_HEAD[1:4]))
    return "\n".join([*text.table(shown), *map(translate, sentences)])
