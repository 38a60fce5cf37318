"""Shows one line on what runs now if it takes more than two seconds, and removes it at the end.

The sidebar gets the same text at the same times.
"""

from __future__ import annotations

import sys
from typing import Any

from IPython.display import display

from jupyter_mlgpu.measure import runtime
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.show.markup import joined

#: Seconds before the first text is shown.
PATIENCE_S = 2.0
#: Fewest seconds between two texts, because showing one disturbs the timing of what runs.
INTERVAL_S = 0.5


class ProgressLine:
    """The line: in a notebook an output that is updated, in a terminal the cursor's line.

    The notebook's empty output is created at once, so a saved notebook does not depend on the machine's
    speed.
    """

    def __init__(self, shell: Any) -> None:
        self._begun = real_time.monotonic()
        self._last = self._begun + PATIENCE_S - INTERVAL_S
        self._width = 0
        self._handle: Any = None
        if getattr(shell, "kernel", None) is not None:
            self._handle = display(_bundle(""), raw=True, display_id=True)  # type: ignore[no-untyped-call]

    def say(self, text: str) -> None:
        """Show a text instead of the previous one, unless that was shown just before."""
        now = real_time.monotonic()
        if now - self._last >= INTERVAL_S:
            self._last = now
            self._show(text)

    def clear(self) -> None:
        """Remove the line."""
        if self._width:
            self._show("")

    def _show(self, text: str) -> None:
        if self._handle is not None:
            self._handle.update(_bundle(text), raw=True)
        elif (stream := sys.stderr) is not None and stream.isatty():
            stream.write(f"\r{text.ljust(self._width)}\r{text}")
            stream.flush()
        self._width = len(text)
        runtime.current().on_progress(text)


def _bundle(text: str) -> dict[str, str]:
    return {"text/plain": text, "text/html": str(joined(text))}
