"""What was seen of a cell, as you like it: for what judges cells, without running any."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.measure.activity.activity import Activity, Call, Line, Part, State


def part(
    state: State,
    seconds: float = 1.0,
    samples: int = 30,
    *,
    calls: str = "",
    module: str | None = None,
    size: int | None = None,
    line: int | None = 3,
    **more: Any,
) -> Part:
    """Looks that saw the same: a call of `calls` in a line of the cell."""
    call = Call(calls, module, size) if calls or module else None
    where = Line(line) if line is not None else None
    return Part(state, seconds, samples, call=call, line=where, line_call=call, **more)


def activity(*parts: Part, **more: Any) -> Activity:
    """A cell of these parts, whose clocks agree with them unless they are given."""
    seconds = sum(one.seconds for one in (*parts, *more.get("unseen_in", ())))
    worked = sum(one.seconds for one in parts if not one.state.startswith("idle"))
    beside = sum(one.seconds for one in parts if one.state == "idle beside others")
    clocks = {"thread_time": worked, "process_time": worked + beside, "others_time": 0.0, "cores": 4}
    samples = sum(one.samples for one in parts)
    return Activity(**{"seconds": seconds, "samples": samples, "parts": parts, **clocks, **more})
