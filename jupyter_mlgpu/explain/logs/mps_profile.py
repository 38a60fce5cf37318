"""Read PyTorch's own log of its work on a Mac's GPU (MPS) into rows of a table of operations.

With PYTORCH_MPS_LOG_PROFILE_INFO set before PyTorch first uses the GPU, it prints a line to standard error
when an operation, a copy, or an operation that fell back to the CPU has ended:

    aten::add_dense:MPS:Float[2, 3]:MPS:Float[2, 3] (id=K7, run=2, gpu=0.013 ms, cpu=0.005 ms)
    BlitCopySync: MPS:Float[2, 3] --> CPU:Float[2, 3] (len=24 bytes, gpu=0.009 ms, cpu=0.002 ms)
    CPU Fallback::aten::linalg_svd:MPS:Float[9, 9] (id=1, run=1, CopyOverhead=324 bytes, cpu=1.250 ms)

K is a Metal kernel, G an MPSGraph. Formats and flags are those of PyTorch's aten/src/ATen/mps/MPSProfiler.h
and MPSProfiler.mm (read at commit 05b8ccb; this has not been run on a Mac). The tables that PyTorch prints
when its process ends cover the whole process, and are not read.

The GPU time of such a line is that of the command buffer: GPUEndTime - GPUStartTime. PyTorch puts several
operations into one buffer (MPSStream.mm: SyncType::NONE and COMMIT_ADAPTIVE do not commit), and each of them
is then given the whole buffer's time. With WAIT_UNTIL_COMPLETED (PYTORCH_MPS_TRACE_SIGNPOSTS=4) each
operation has a buffer of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from jupyter_mlgpu.record.record import OpStat
from jupyter_mlgpu.record.sentence import Sentence, say

VARIABLE = "PYTORCH_MPS_LOG_PROFILE_INFO"
SIGNPOSTS = "PYTORCH_MPS_TRACE_SIGNPOSTS"
#: Operations, copies and fallbacks (1 + 2 + 4) when they have ended, with GPU time (128) apart from
#: scheduling (256).
BEST = 391

GPU = say("from PyTorch's own MPS log, GPU time")
CPU = say("from PyTorch's own MPS log, CPU time")

#: The number of rows that are returned: those with the most time.
ROWS = 300

#: The longest line, in characters, that may be PyTorch's.
_LONGEST = 4_000

_LINES = 1 | 2 | 4
_TIMES = 128 | 256
_SCHEDULING_APART = 256
_WAIT_UNTIL_COMPLETED = 4

_TAIL = r"(?:, gpu=(?P<gpu>\d+\.\d+) ms)?(?:, cpu=(?P<cpu>\d+\.\d+) ms)?\)\s*$"
_OPERATION = re.compile(r"aten::(?P<key>\S.*) \(id=(?P<kind>[GK])\d+, run=\d+" + _TAIL)
_COPY = re.compile(
    r"(?P<how>Blit|Mem)Copy(?P<sync>Sync)?: (?P<source>\w+)[:(].*? --> (?P<target>\w+)[:(].* \(len=[^,)]+"
    + _TAIL
)
_FALLBACK = re.compile(r"CPU Fallback::(?P<key>\S.*) \(id=\d+, run=\d+, CopyOverhead=[^,)]+" + _TAIL)
#: The suffix that buildKernelString adds to a name: `:MPS:Float[2, 3]` for each tensor.
_TENSORS = re.compile(r":(?:MPS|CPU|undefined)\b.*")
_KINDS = {"K": "kernel", "G": "graph"}


@dataclass(frozen=True, slots=True)
class MpsProfile:
    """The rows that the lines of a cell contain, and sentences on their meaning."""

    ops: tuple[OpStat, ...] = ()
    notes: tuple[Sentence, ...] = ()


@dataclass(slots=True)
class _Row:
    count: int = 0
    milliseconds: float = 0.0


@dataclass(slots=True)
class _Table:
    # By name, type, and True if the time is the GPU's.
    rows: dict[tuple[str, str, bool], _Row] = field(default_factory=dict)
    untimed: int = 0

    def add(self, name: str, kind: str, on_gpu: bool, milliseconds: str | None) -> None:
        if milliseconds is None:
            self.untimed += 1
            return
        row = self.rows.setdefault((name, kind, on_gpu), _Row())
        row.count += 1
        row.milliseconds += float(milliseconds)


def read(lines: Iterable[str], environ: Mapping[str, str]) -> MpsProfile:
    """Return the operations in the lines of one cell; `environ` has the variables as PyTorch found them.

    A row's self and total time are the sum over its lines, each of which is rounded to a microsecond. Its
    share, from 0 to 1, is relative to all rows on the same plane; None if times may count more than once.
    Other lines are ignored.
    """
    flags = _number(environ.get(VARIABLE, ""))
    if not flags & _LINES or not flags & _TIMES:
        return MpsProfile(notes=(_no_times(environ.get(VARIABLE, "")),))
    table = _Table()
    for line in lines:
        _line(line, table)
    if not table.rows:
        return MpsProfile(notes=(_NOTHING, *_untimed(table.untimed)))
    alone = bool(_number(environ.get(SIGNPOSTS, "")) & _WAIT_UNTIL_COMPLETED)
    on_gpu = any(gpu for _, _, gpu in table.rows)
    notes = [*_untimed(table.untimed)]
    if on_gpu and not alone:
        notes.append(_TOGETHER)
    if on_gpu and not flags & _SCHEDULING_APART:
        notes.append(
            say(
                "These GPU times include scheduling: {variable}={best} excludes it.",
                variable=VARIABLE,
                best=BEST,
            )
        )
    found = sorted(table.rows.items(), key=lambda one: (-one[1].milliseconds, one[0]))
    if len(found) > ROWS:
        notes.append(
            say(
                "The {count} operations with the least time in PyTorch's MPS log are left out.",
                count=len(found) - ROWS,
            )
        )
    sums = {gpu: sum(row.milliseconds for (_, _, one), row in found if one == gpu) for gpu in (True, False)}
    return MpsProfile(tuple(_stat(*key, row, sums, alone) for key, row in found[:ROWS]), tuple(notes))


_NOTHING = say(
    "PyTorch logged no Mac GPU work in this cell although {variable} is set: it must be set "
    "before PyTorch first uses the GPU, so restart the kernel if it was set later.",
    variable=VARIABLE,
)
_TOGETHER = say(
    "PyTorch's MPS log gives each operation the GPU time of its whole command buffer, which "
    "others may share, so these times may be counted more than once: also setting "
    "{variable}={value} before the kernel starts gives each operation its own buffer, but is "
    "slower.",
    variable=SIGNPOSTS,
    value=_WAIT_UNTIL_COMPLETED,
)


def _no_times(value: str) -> Sentence:
    return say(
        "{variable}={value} prints no times while a cell runs: set it to {best} before the "
        "kernel starts to see Mac GPU times.",
        variable=VARIABLE,
        value=value,
        best=BEST,
    )


def _untimed(count: int) -> tuple[Sentence, ...]:
    return (
        (say("PyTorch's MPS log gives no time for {count} calls; they are not in the table.", count=count),)
        if count
        else ()
    )


def _line(line: str, table: _Table) -> None:
    if len(line) > _LONGEST or not ("(id=" in line or "(len=" in line):
        return
    # A fallback's key may begin with aten::, too, so this form is tried first.
    if found := _FALLBACK.search(line):
        table.add(_TENSORS.sub("", found["key"]), "CPU fallback", False, found["cpu"])
    elif found := _COPY.search(line):
        name = f"{found['how']}Copy{found['sync'] or ''} {found['source']} to {found['target']}"
        # A copy through shared memory is done by the CPU.
        on_gpu = found["how"] == "Blit"
        table.add(name, "copy", on_gpu, found["gpu"] if on_gpu else found["cpu"])
    elif found := _OPERATION.search(line):
        # A graph's key is that of PyTorch's cache: the operation's name, a colon, and what it was compiled
        # for.
        name = _TENSORS.sub("", found["key"]) if found["kind"] == "K" else found["key"].partition(":")[0]
        table.add(f"aten::{name}", _KINDS[found["kind"]], True, found["gpu"])


def _stat(name: str, kind: str, on_gpu: bool, row: _Row, sums: Mapping[bool, float], alone: bool) -> OpStat:
    seconds = row.milliseconds / 1e3
    total = sums[on_gpu]
    return OpStat(
        name=name,
        type=kind,
        device="gpu:0" if on_gpu else "host",
        count=row.count,
        self_time=seconds,
        total_time=seconds,
        profiler=GPU if on_gpu else CPU,
        plane="device" if on_gpu else "host",
        share=row.milliseconds / total if total and (alone or not on_gpu) else None,
    )


def _number(text: str) -> int:
    """Parse like C's strtol(text, 0): decimal, or with 0x or 0 before it; 0 if there is no number."""
    found = re.match(r"\s*[+]?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*)", text)
    if not found:
        return 0
    digits = found[1].lower()
    return int(digits, 16 if digits.startswith("0x") else 8 if digits.startswith("0") else 10)
