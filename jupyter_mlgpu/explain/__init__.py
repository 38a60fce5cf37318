"""What it means, without running anything: log messages, the doctor, comparisons, growth, engines."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

#: Writes a `Collection` of engines' records as a trace; returns how many events that holds. Set by
#: `pipeline.connect`.
save_trace: Callable[[Any, str | os.PathLike[str]], int]
