"""All planted programs: those of plain Python by their cause, those of a framework by cause and framework."""

from __future__ import annotations

from tests.limits.program import Program
from tests.limits.programs import (
    compiling_tensorflow,
    device_tensorflow,
    input_tensorflow,
    interpreter,
    launch_tensorflow,
    other_tensorflow,
    waiting,
)

PROGRAMS: tuple[Program, ...] = (
    *waiting.PROGRAMS,
    *interpreter.PROGRAMS,
    *compiling_tensorflow.PROGRAMS,
    *launch_tensorflow.PROGRAMS,
    *device_tensorflow.PROGRAMS,
    *input_tensorflow.PROGRAMS,
    *other_tensorflow.PROGRAMS,
)
