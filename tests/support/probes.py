"""Public fakes of probes."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.sentence import Sentence


class Unavailable:
    """A quantity that is not measured; always says why."""

    def __init__(self, quantity: str, why: Sentence) -> None:
        self.quantity = quantity
        self._why = why

    def start(self) -> Callable[[], Reading]:
        """Begin; what is returned gives the reading when it is called."""
        return lambda: missing(self.quantity, self._why)
