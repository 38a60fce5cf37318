"""Activity of a cell as you like it, to test code that judges cells without running any."""

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
    """Return samples that agree: a call of `calls` in a line of the cell."""
    call = Call(calls, module, size) if calls or module else None
    where = Line(line) if line is not None else None
    return Part(state, seconds, samples, call=call, line=where, line_call=call, **more)


def activity(*parts: Part, **more: Any) -> Activity:
    """Return the activity of a cell with these parts. Clocks agree with them unless they are given."""
    seconds = sum(part.seconds for part in (*parts, *more.get("unsampled_in", ())))
    worked = sum(part.seconds for part in parts if not part.state.startswith("idle"))
    others = sum(part.seconds for part in parts if part.state == "idle beside others")
    clocks = {"thread_time": worked, "process_time": worked + others, "others_time": 0.0, "cores": 4}
    samples = sum(part.samples for part in parts)
    return Activity(**{"seconds": seconds, "samples": samples, "parts": parts, **clocks, **more})
