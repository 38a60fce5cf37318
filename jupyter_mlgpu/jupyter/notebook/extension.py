"""Load and unload: the parts of the notebook side put together, and taken apart again."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu import jupyter
from jupyter_mlgpu.jupyter.notebook import surroundings
from jupyter_mlgpu.jupyter.notebook.browser import state
from jupyter_mlgpu.jupyter.notebook.browser.audience import Audience
from jupyter_mlgpu.jupyter.notebook.browser.channel import Channel, KernelChannel, NoChannel
from jupyter_mlgpu.jupyter.notebook.browser.doctor_light import DoctorLight, captures
from jupyter_mlgpu.jupyter.notebook.browser.idletasks import IdleTasks
from jupyter_mlgpu.jupyter.notebook.browser.logbook import Logbook
from jupyter_mlgpu.jupyter.notebook.browser.record_pages import RecordPages
from jupyter_mlgpu.jupyter.notebook.browser.sidebar_settings import SidebarSettings
from jupyter_mlgpu.jupyter.notebook.browser.watch import LazyCounters, Watch
from jupyter_mlgpu.jupyter.notebook.cell import transform
from jupyter_mlgpu.jupyter.notebook.cell.cell_callbacks import CellCallbacks
from jupyter_mlgpu.jupyter.notebook.cell.cell_lines import in_blocks
from jupyter_mlgpu.jupyter.notebook.cell.events import CellEvents
from jupyter_mlgpu.jupyter.notebook.cell.receipt_threshold import ReceiptThreshold
from jupyter_mlgpu.jupyter.notebook.cell.record_stages import EndedCell, NotebookSession, saving
from jupyter_mlgpu.jupyter.notebook.magics import record_files
from jupyter_mlgpu.jupyter.notebook.magics.commands import Commands
from jupyter_mlgpu.jupyter.notebook.magics.devices import DeviceCommands
from jupyter_mlgpu.jupyter.notebook.magics.ops_command import OperationsRequest
from jupyter_mlgpu.jupyter.notebook.magics.ours import ours_in
from jupyter_mlgpu.jupyter.notebook.post_mortem import PostMortem
from jupyter_mlgpu.jupyter.notebook.registration import registered_magics, transformed_input
from jupyter_mlgpu.measure.capture.capture import Capture
from jupyter_mlgpu.measure.kit import Kit, install
from jupyter_mlgpu.measure.recorder import Measurement
from jupyter_mlgpu.measure.uninterrupted import Uninterrupted
from jupyter_mlgpu.record import files
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.redact import redact
from jupyter_mlgpu.record.store import Subscriber
from jupyter_mlgpu.record.strip import SHORTEST, StripSoFar

if TYPE_CHECKING:
    from jupyter_mlgpu.explain.logs.reader import LogReader

#: Where to append every record as it is made; `jupyter mlgpu run` sets it.
JOURNAL_VARIABLE = "JUPYTER_MLGPU_RECORDS"
_ATTRIBUTE = "_jupyter_mlgpu"


class Extension:
    """What `%load_ext jupyter_mlgpu` sets up in a shell."""

    commands: Commands
    settings: SidebarSettings
    _ends: ExitStack

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._streams = (sys.stdout, sys.stderr)
        notebook = os.environ.get("JPY_SESSION_NAME")  # set by jupyter_server: the notebook's path
        self.kit = Kit(PurePath(notebook).name if notebook else None)
        self.kit.on_progress = self._on_progress
        self.kit.of_user = surroundings.cells_of(shell)
        self.kit.in_blocks = partial(in_blocks, shell=shell, of_user=self.kit.of_user)
        journal = os.environ.get(JOURNAL_VARIABLE)
        self._journal = files.Journal(journal) if journal else None
        self._running: Measurement | None = None
        self._run: tuple[int, int] | None = None
        self._progress = ""
        self._logbook = Logbook(self.kit, saving(self._journal), self._push, _show_again)
        self._device_sent = state.device_state(self.kit)
        kernel = getattr(shell, "kernel", None)
        self.audience = Audience(shell)
        self._engine = surroundings.engine(kernel, self.kit.recorder.run.id)
        if self._engine is not None:
            self.kit.store.on_clear = self._engine.clear
        self.watch = Watch(
            self.kit.sampler,
            LazyCounters(self.kit.gpus),
            self._push,
            utc=self.kit.recorder.clock.utc,
            strip=self._strip_so_far,
        )
        self.record_pages = RecordPages(self.kit, self.watch.state)
        self._receipt_threshold = ReceiptThreshold()
        self.doctor = DoctorLight(lambda: captures(kernel), self._push)
        told = {
            "watch": lambda _: self.watch.renew(),
            "device": lambda content: self.settings.device(content),
            "trace": lambda content: self.settings.trace(content),
            "receipts": self._receipt_threshold.set,
            "compare": self._compare,
            "doctor": self.doctor.ask,
            "save": self._save,
            "records": lambda asked: state.records_before(self.kit, int(asked["before"])),
            **self.record_pages.answers(),
        }
        self.channel: Channel = (
            KernelChannel(kernel, self.kit.recorder.run.id, self._snapshot, told, self.audience)
            if surroundings.has_browsers(kernel)
            else NoChannel()
        )
        self._capture = Capture(
            surroundings.capture_surroundings(shell),
            now=self.kit.recorder.clock.utc,
            new_reader=_log_reader,
            on_live=self._logbook.on_live,
            on_late=self._logbook.on_late,
            on_rest=self._logbook.on_rest,
        )
        self._events = CellEvents(
            shell, self.kit, self._capture, on_start=self._on_start, on_record=self._on_record
        )
        self._post_mortem = PostMortem(shell, self.kit, self._capture)
        self.commands = Commands(self.kit, self._events, self.channel, self._logbook, self._capture)
        self.devices = DeviceCommands(self.kit, self._push_device)
        self._soon = surroundings.scheduler(kernel)
        self.idle_tasks = IdleTasks(lambda: self._events.inside_a_cell, self._soon)
        self.settings = SidebarSettings(
            self.idle_tasks,
            self.devices,
            lambda on: self.commands.trace("on" if on else "off", ""),
            self._push,
        )

        self._transformers = [
            partial(transform.drop_trace_line, ours=ours_in(shell)),
            partial(transform.device_line, ours=ours_in(shell)),
        ]
        # Before a cell is measured, and after it was: what somebody chose meanwhile.
        self._callbacks = CellCallbacks(
            shell,
            before=(
                self.audience.cell_begins,
                self.settings.cell_begins,
                self._load_what_draws,
                self._events.cell_begins,
                self._account_begins,
                self.watch.cell_begins,
            ),
            after=(
                self.audience.cell_ended,
                self._events.cell_ended,
                self._account_ended,
                self._push_device_soon,
                self.idle_tasks.run,
                self.watch.cell_ended,
            ),
        )

    def start(self) -> None:
        """Trace from the next cell on. Raises what a part of it raises; then the shell is as it was found."""
        with ExitStack() as ends:
            self._begin(ends)
            self._ends = ends.pop_all()
        install(self.kit)

    def stop(self) -> None:
        """Leave the shell as it was found. A part that fails keeps no other from ending; then it raises."""
        self._ends.close()

    def _begin(self, ends: ExitStack) -> None:
        """Begin each part, its end put down first, for it may fail half-way; they end the other way round."""
        from jupyter_mlgpu.jupyter.notebook.magics.magics import MlgpuMagics
        from jupyter_mlgpu.jupyter.notebook.magics.ops_command import RepeatedCell

        repeats = RepeatedCell(
            self._shell, self._events, lambda one: self.kit.store.get(one.key), self._show_receipt
        )
        magics = MlgpuMagics(self._shell, self.commands, self.devices, repeats, self.catch_up)
        ends.callback(self.commands.stop_sharing)
        ends.callback(self.commands.restore_environment)
        ends.enter_context(registered_magics(self._shell, magics))
        ends.enter_context(transformed_input(self._shell, self._transformers))
        ends.callback(self._events.stop)
        self._events.start()
        ends.callback(self._post_mortem.stop)
        self._post_mortem.start()
        ends.callback(self._callbacks.unregister)
        self._callbacks.register()
        ends.callback(self.kit.close)
        self.kit.watch_imports()
        ends.callback(atexit.unregister, self._stop_capture)
        atexit.register(self._stop_capture)  # what is written after that goes where it always went
        for subscriber in self._subscribers():
            ends.callback(self.kit.store.unsubscribe, subscriber)
            self.kit.store.subscribe(subscriber)
        ends.callback(self.channel.close)
        self.channel.open()
        ends.callback(self.doctor.stop)
        ends.callback(self.watch.stop)

    def _stop_capture(self) -> None:
        with suppress(Exception):  # the process ends
            self._capture.stop()

    def _subscribers(self) -> list[Subscriber]:
        """Who is given each record; in an engine its journal, too."""
        engine = [] if self._engine is None else [self._engine.write]
        return [self._push_record, self.record_pages.record_made, *engine]

    def _save(self, content: Mapping[str, Any]) -> dict[str, Any]:
        self.catch_up()
        return record_files.save_as_asked(content, self.kit)

    def catch_up(self) -> None:
        """Have all lines of all cells in their records."""
        self._capture.catch_up()

    def stop_tracing(self) -> None:
        """What runs or is written from now on belongs to no record."""
        self._events.set_tracing(False)

    def read_lines_at_once(self) -> None:
        """From now on a cell's end waits until all of it is known: nobody would see what comes later."""
        self._capture.patient = self.kit.recorder.patient = True

    def _compare(self, content: Mapping[str, Any]) -> dict[str, Any]:
        from jupyter_mlgpu.jupyter.notebook.magics.compare_command import compare_records  # seldom asked for

        return compare_records(content, self.kit)

    def _load_what_draws(self, info: Any) -> None:
        """Before the first cell that may have a receipt, for its code may leave no file that can be opened.

        Not with the extension: what draws is a sixth of what loading would take. Nor is it part of the
        cell's time, which begins behind this.
        """
        if self._events.tracing and self.audience.asked:
            with suppress(OSError):  # none could be opened before: then the receipt is left out
                from jupyter_mlgpu.jupyter.notebook.cell import receipts

                receipts.cell_begins()

    def _account_begins(self, info: Any) -> None:
        self._post_mortem.cell_begins(info, nested=self._events.nested)

    def _account_ended(self, result: object) -> None:
        self._post_mortem.cell_ended(nested=self._events.inside_a_cell)

    def _on_start(self, measurement: Measurement, wanted: OperationsRequest) -> None:
        self._running, self._run, self._progress = measurement, wanted.run, ""
        if self._engine is not None:
            self._engine.cell_begins(measurement)
        self._logbook.cell_begins(measurement.cell.sequence)
        self._push({"type": "running", **state.running_state(measurement, wanted.run)})

    def _on_progress(self, sentence: str) -> None:
        self._progress = sentence
        if self._running is not None:
            sequence = self._running.cell.sequence
            self._push({"type": "progress", "sequence": sequence, "progress": sentence or None})

    def _on_record(self, record: Record, cell: EndedCell) -> None:
        session = NotebookSession(
            self.kit,
            self._capture,
            self._shell.user_ns,
            self._journal,
            died_before=self._post_mortem.before,
            store=self._store,
            show=self._show,
            revise=self._logbook.on_change,
        )
        jupyter.cell_ended(record, cell, session)

    def _store(self, record: Record) -> None:
        self._running = None
        self.kit.store.add(record)
        self._logbook.cell_ended(record)
        self._post_mortem.record_made(record)

    def _show(self, record: Record, cell: EndedCell) -> None:
        if record.repeat is None and self._receipt_threshold.wants(record, cell.code):
            self._show_receipt(record)

    def _show_receipt(self, record: Record) -> None:
        if self.audience.asked:
            from jupyter_mlgpu.jupyter.notebook.cell import receipts

            # Last, for the thread that publishes it takes Python's lock at once, and this one would wait.
            receipts.show(record, last=not self._events.inside_a_cell, streams=self._streams)

    def _strip_so_far(self) -> StripSoFar | None:
        running = self._running
        if running is None or running.profiling or running.elapsed() < SHORTEST:
            return None
        return running.strip_so_far()

    def _push(self, event: Mapping[str, Any]) -> None:
        self.channel.push(event)

    def _push_record(self, record: Record) -> None:
        place = self.kit.store.place(record.key)
        self.channel.push(lambda: {"type": "record", "place": place, "record": state.told(record)})

    def _push_device_soon(self, result: object = None) -> None:
        # When the cell has been answered: no receipt says it, and looking takes a while.
        self._soon(self._push_device)

    def _push_device(self) -> None:
        """Tell the browsers of devices that a cell has brought to light, such as the first import does."""
        try:
            device = state.device_state(self.kit)
        except Exception:  # a framework that is half imported: the next cell's end is soon enough
            return
        if device != self._device_sent:
            self._device_sent = device
            self.channel.push({"type": "device", "device": device})

    def _snapshot(self) -> dict[str, Any]:
        at = self._running
        return state.snapshot(
            self.kit,
            tracing=self._events.tracing,
            running=None if at is None else state.running_state(at, self._run, self._progress),
            logbook=self._logbook,
            counters=self.watch.state(),
            choices=self.settings.state(),
            doctor=self.doctor.state(),
        )


def _log_reader() -> LogReader:
    # The catalogue takes a moment to read: who prints no native line never waits for it.
    from jupyter_mlgpu.explain.logs.catalogue import Catalogue
    from jupyter_mlgpu.explain.logs.reader import LogReader

    return LogReader(Catalogue.load(), clean=redact)


def _show_again(record: Record) -> None:
    from jupyter_mlgpu.jupyter.notebook.cell import receipts  # loaded with the first one

    receipts.show_again(record)


def load(shell: Any) -> None:
    """Set the extension up in a shell; loading it twice changes nothing."""
    if getattr(shell, _ATTRIBUTE, None) is None:
        extension = Extension(shell)
        extension.start()
        setattr(shell, _ATTRIBUTE, extension)


def loaded_in(shell: Any) -> Extension | None:
    """The extension of a shell, if it is loaded there."""
    extension: Extension | None = getattr(shell, _ATTRIBUTE, None)
    return extension


def unload(shell: Any) -> None:
    """Take the extension out of a shell again."""
    extension = getattr(shell, _ATTRIBUTE, None)
    if extension is not None:
        with Uninterrupted():  # a part that ends half-way could not be ended again
            delattr(shell, _ATTRIBUTE)
            extension.stop()
