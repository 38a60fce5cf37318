"""All planted programs, a module for each kind of cause."""

from __future__ import annotations

from tests.limits.program import Program
from tests.limits.programs import interpreter, waiting

PROGRAMS: tuple[Program, ...] = (*waiting.PROGRAMS, *interpreter.PROGRAMS)
