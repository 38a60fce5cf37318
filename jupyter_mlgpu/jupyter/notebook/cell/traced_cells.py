"""Handles a traced cell from its start to its receipt, and calls everything concerned in the right order.

`CellEvents` calls `TracedCells` when a cell begins, and when the cell's record has been made. The pipeline
then completes the record, and calls `TracedCells` again to store the record and to show its receipt.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu import jupyter
from jupyter_mlgpu.jupyter.notebook.browser.audience import Audience
from jupyter_mlgpu.jupyter.notebook.browser.logbook import Logbook
from jupyter_mlgpu.jupyter.notebook.browser.page_updates import PageUpdates
from jupyter_mlgpu.jupyter.notebook.cell.after_reply import AfterReply
from jupyter_mlgpu.jupyter.notebook.cell.events import CellEvents
from jupyter_mlgpu.jupyter.notebook.cell.receipt_threshold import ReceiptThreshold
from jupyter_mlgpu.jupyter.notebook.cell.record_stages import EndedCell, NotebookSession
from jupyter_mlgpu.jupyter.notebook.magics.ops_command import OperationsRequest
from jupyter_mlgpu.jupyter.notebook.post_mortem import PostMortem
from jupyter_mlgpu.measure.capture.capture import Capture
from jupyter_mlgpu.measure.recorder import Measurement
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.record.files import Journal
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.redact import redact

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.engine import EngineSide


@dataclass(eq=False, repr=False)
class TracedCells:
    """Handles the traced cells of one shell. `events` reports the start and the end of each."""

    shell: Any
    runtime: Runtime
    capture: Capture
    _: KW_ONLY
    journal: Journal | None
    logbook: Logbook
    updates: PageUpdates
    audience: Audience
    engine: EngineSide | None

    def __post_init__(self) -> None:
        self.receipt_threshold = ReceiptThreshold()
        self.post_mortem = PostMortem(self.shell, self.runtime, self.capture)
        # An engine of ipyparallel has no idle state that its client waits for.
        self.after_reply = AfterReply(None if self.engine else getattr(self.shell, "kernel", None))
        self.events = CellEvents(
            self.shell,
            self.runtime,
            self.capture,
            self.after_reply,
            on_start=self._on_start,
            on_record=self._on_record,
        )
        self._streams = (sys.stdout, sys.stderr)
        self._has_imported = False

    def prepare_receipts(self, info: Any) -> None:
        """Tell the module `receipts` that a cell begins; called before every cell."""
        if self.events.tracing and self.audience.output_requested:
            with suppress(OSError):  # no file descriptor is free: the cell gets no receipt
                self.import_what_cells_need()
                from jupyter_mlgpu.jupyter.notebook.cell import receipts

                receipts.cell_begins()

    def import_what_cells_need(self) -> None:
        """Import what is needed after the first cell, most of it to make its receipt.

        This comes after the reply to the cell that loads the extension, or before the first cell. After the
        first cell it could fail, because the cell may have used up all file descriptors.
        """
        if self._has_imported:
            return
        with suppress(OSError):  # no file descriptor is free: the next cell tries again
            import jupyter_mlgpu.explain.limits.stage
            import jupyter_mlgpu.explain.logs.reader
            import jupyter_mlgpu.jupyter.notebook.cell.cell_places
            import jupyter_mlgpu.jupyter.notebook.cell.receipts
            import jupyter_mlgpu.measure.activity.external_readers
            import jupyter_mlgpu.measure.activity.stack_sampler  # noqa: F401

            redact("a text")  # imports what all texts need
            self._has_imported = True

    def record_cell_start(self, info: Any) -> None:
        """Record a cell's start in the flight recorder, the file that survives the kernel if it dies."""
        self.post_mortem.cell_begins(info, nested=self.events.nested)

    def record_cell_end(self, result: object) -> None:
        """Record a cell's end in the flight recorder."""
        self.post_mortem.cell_ended(nested=self.events.inside_a_cell or self.events.in_another_thread)

    def show_receipt(self, record: Record) -> None:
        """Show a receipt under the running cell, if a client has requested output (`Audience`)."""
        if self.audience.output_requested:
            from jupyter_mlgpu.jupyter.notebook.cell import receipts

            receipts.show(record, streams=self._streams, flushed=self.after_reply.has_replied)

    def _on_start(self, measurement: Measurement, request: OperationsRequest) -> None:
        if self.engine is not None:
            self.engine.cell_begins(measurement)
        self.logbook.cell_begins(measurement.sequence)
        self.updates.cell_begins(measurement, request.run)

    def _on_record(self, record: Record, cell: EndedCell) -> None:
        session = NotebookSession(
            self.runtime,
            self.capture,
            self.shell.user_ns,
            self.journal,
            died_before=self.post_mortem.before,
            store=self._store,
            show=self._show,
            revise=self.logbook.on_change,
        )
        jupyter.cell_ended(record, cell, session)

    def _store(self, record: Record) -> None:
        self.updates.cell_ended()
        self.runtime.store.add(record)
        self.logbook.cell_ended(record)
        self.post_mortem.record_made(record)

    def _show(self, record: Record, cell: EndedCell) -> None:
        if record.repeat is None and self.receipt_threshold.wants(record, cell.code):
            self.show_receipt(record)
