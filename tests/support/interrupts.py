"""A Ctrl-C at a point that a test chooses, where a real one would come by chance."""

from __future__ import annotations

import itertools
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any


def interrupted_at_each_line(
    call: Callable[[], Any], *modules: ModuleType, steps: str = "line"
) -> Iterator[int]:
    """Call a function again and again, with a Ctrl-C before one more line of these modules each time.

    With `steps="opcode"`, before one more step of the interpreter. Yields after each call that a Ctrl-C came
    in, whether or not it was raised there.
    """
    files = {Path(str(module.__file__)).name for module in modules}
    handler, tracing = signal.signal(signal.SIGINT, signal.default_int_handler), sys.gettrace()
    try:
        for line in itertools.count(1):
            passed = 0

            def trace(frame: FrameType, event: str, argument: Any, line: int = line) -> Any:
                nonlocal passed
                if Path(frame.f_code.co_filename).name not in files:
                    return None
                frame.f_trace_opcodes = steps == "opcode"
                passed += event == steps
                if event == steps and passed == line:
                    signal.raise_signal(signal.SIGINT)
                return trace

            # Python 3.12 reports steps only where a frame wanted them before this call.
            sys._getframe().f_trace_opcodes = steps == "opcode"
            sys.settrace(trace)
            try:
                call()
            except KeyboardInterrupt:
                pass
            finally:
                sys.settrace(tracing)
            if passed < line:
                return
            yield line
    finally:
        signal.signal(signal.SIGINT, handler)
