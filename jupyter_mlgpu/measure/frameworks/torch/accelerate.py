"""A tracker for Accelerate. It is called only for logs, so its records span from one log to the next."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.measure.training_records import TrainingRecords


def accelerate_tracker(records: TrainingRecords) -> Any:
    """Return an `accelerate.tracking.GeneralTracker` that ends a record at each log and begins the next.

    Accelerate calls trackers only in the main process.
    """
    from accelerate.tracking import GeneralTracker

    class _AccelerateTracker(GeneralTracker):  # type: ignore[misc]
        name = "jupyter_mlgpu"
        requires_logging_directory = False

        def __init__(self) -> None:
            super().__init__()
            self._logs = 0
            self._since, self._position = "start", 0
            self._logged = False

        @property
        def tracker(self) -> TrainingRecords:
            """The tracker's own object, in Accelerate's terms."""
            return records

        @records.hook
        def start(self) -> None:
            self._begin("start", 0)

        @records.hook
        def log(self, values: Any, step: int | None = None, **more: Any) -> None:
            self._logs += 1
            now, position = (f"log {self._logs}", self._logs) if step is None else (f"step {step}", step)
            if not records.is_open:  # cut off by the end of a cell
                self._begin(now, position)
                return
            self._logged = True
            # A step number that decreases starts a new count.
            same_record = records.every is not None and 0 <= position - self._position < records.every
            if not same_record and records.end(f"{self._since} to {now}"):
                self._begin(now, position)

        @records.hook
        def finish(self) -> None:
            if self._logged:
                records.end(f"{self._since} to the end")
            records.give_up()

        def _begin(self, since: str, position: int) -> None:
            self._since, self._position, self._logged = since, position, False
            records.begin(f"{since} to the next log")

    return _AccelerateTracker()
