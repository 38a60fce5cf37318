"""Finds the notebooks that run with tracing on, each with its cell, that cell's time and its memory.

Nothing is asked of a kernel. Each rewrites a small file in the machine's memory while it runs; if it dies,
the next kernel reads there what happened (`record/flight`).
"""

from __future__ import annotations

from jupyter_mlgpu.jupyter.assistant import forms
from jupyter_mlgpu.jupyter.assistant.forms import Form
from jupyter_mlgpu.measure.flight_recorder import is_alive
from jupyter_mlgpu.measure.recorder import host_digest
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.flight import flight_files
from jupyter_mlgpu.record.flight.flight_record import FlightRecord, MemorySample


def running() -> tuple[str, Form]:
    """Return a sentence about this user's kernels with tracing on, and the cell and memory of each."""
    here, now = host_digest(), real_time.time()
    alive = [one for one in flight_files.read_all() if is_alive(one, here)]
    alive.sort(key=lambda one: (one.at.phase != "running", -one.at.since))
    return _in_words(alive, now), {"notebooks": [_form(one, now) for one in alive[: forms.ITEMS]]}


def _in_words(alive: list[FlightRecord], now: float) -> str:
    if not alive:
        return "No notebook with tracing on runs on this machine now."
    busy = [one for one in alive if one.at.phase == "running"]
    if len(alive) > 1:
        return f"{len(alive):,} notebooks with tracing on; running a cell: {len(busy):,}."
    seconds = units.seconds(_seconds(alive[0], now))
    cell = _cell(alive[0])
    if busy:
        return f"One notebook with tracing on: it has been running {cell or 'a cell'} for {seconds}."
    if cell is None:
        return "One notebook with tracing on: it has run no cell since tracing began."
    return f"One notebook with tracing on: it is idle; {cell} ended {seconds} ago."


def _form(one: FlightRecord, now: float) -> Form:
    return {
        "run": forms.name(one.state.run),
        "pid": one.state.pid,
        "phase": one.at.phase,
        "cell": _cell(one),
        "title": forms.quoted(one.first_line),
        "seconds_in_phase": _seconds(one, now),
        "memory": None if one.state.sample is None else _memory(one.state.sample, now),
        "why_no_memory": None if one.state.sample else "No sample was taken yet: its cells were too short.",
    }


def _cell(one: FlightRecord) -> str | None:
    if one.at.sequence == 0:
        return None
    return "a cell" if one.at.execution_count is None else f"[{one.at.execution_count}]"


def _seconds(one: FlightRecord, now: float) -> float:
    return max(0.0, now - one.at.since)


def _memory(sample: MemorySample, now: float) -> Form:
    """Return the last sample of memory, in bytes. Unlike a receipt's figure it is no peak."""
    return {
        "unit": "bytes",
        "source": "one sample by the kernel, of its last cell",
        "sample_age_s": max(0.0, now - sample.at),
        "process": sample.process,
        "machine_used": sample.machine_used,
        "machine_total": sample.machine_total,
        "devices": [
            {
                "device": forms.quoted(one.label, forms.NAME),
                "used_by_all_programs": one.used,
                "total": one.total,
            }
            for one in sample.devices
        ],
    }
