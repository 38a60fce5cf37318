"""Loads the extension in a shell and unloads it: creates, starts and stops the objects it consists of."""

from __future__ import annotations

import atexit
import os
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.jupyter.notebook import host_environment
from jupyter_mlgpu.jupyter.notebook.browser import page_requests, state
from jupyter_mlgpu.jupyter.notebook.browser.audience import Audience, request_of
from jupyter_mlgpu.jupyter.notebook.browser.channel import Channel, KernelChannel, NoChannel
from jupyter_mlgpu.jupyter.notebook.browser.doctor_light import DoctorLight, captures
from jupyter_mlgpu.jupyter.notebook.browser.idletasks import IdleTasks
from jupyter_mlgpu.jupyter.notebook.browser.live_counters import LazyCounterReader, LiveCounters
from jupyter_mlgpu.jupyter.notebook.browser.logbook import Logbook
from jupyter_mlgpu.jupyter.notebook.browser.page_updates import PageUpdates
from jupyter_mlgpu.jupyter.notebook.browser.record_pages import RecordPages
from jupyter_mlgpu.jupyter.notebook.browser.sidebar_settings import SidebarSettings
from jupyter_mlgpu.jupyter.notebook.cell import transform
from jupyter_mlgpu.jupyter.notebook.cell.cell_callbacks import CellCallbacks
from jupyter_mlgpu.jupyter.notebook.cell.cell_lines import in_blocks
from jupyter_mlgpu.jupyter.notebook.cell.record_stages import saving_stage
from jupyter_mlgpu.jupyter.notebook.cell.traced_cells import TracedCells
from jupyter_mlgpu.jupyter.notebook.magics.commands import Commands
from jupyter_mlgpu.jupyter.notebook.magics.devices import DeviceCommands
from jupyter_mlgpu.jupyter.notebook.magics.magic_ownership import magic_ownership
from jupyter_mlgpu.jupyter.notebook.registration import registered_magics, transformed_input
from jupyter_mlgpu.measure.capture.capture import Capture
from jupyter_mlgpu.measure.runtime import Runtime, install
from jupyter_mlgpu.measure.uninterrupted import Uninterrupted
from jupyter_mlgpu.record import files, language
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.redact import redact
from jupyter_mlgpu.record.store import Subscriber

if TYPE_CHECKING:
    from jupyter_mlgpu.explain.logs.reader import LogReader

#: Path of a file to which every record is appended; `jupyter mlgpu run` sets it.
JOURNAL_VARIABLE = "JUPYTER_MLGPU_RECORDS"
_ATTRIBUTE = "_jupyter_mlgpu"


class Extension:
    """The objects that `%load_ext jupyter_mlgpu` sets up in a shell.

    They are created in the order of their dependencies. `cells` traces cells. `updates` and `channel` send
    data to the JupyterLab pages that are open. `commands` and `devices` implement the magics, and `settings`
    implements the controls of the sidebar.
    """

    _cleanups: ExitStack

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        kernel = getattr(shell, "kernel", None)
        notebook = os.environ.get("JPY_SESSION_NAME")  # set by jupyter_server: the notebook's path
        self.runtime = Runtime(PurePath(notebook).name if notebook else None)
        # `of_user` tells the user's code from other code by its file name. `in_blocks` converts the line
        # numbers of traced blocks, and of training, to those of the cells that the user sees.
        self.runtime.of_user = host_environment.cells_of(shell)
        self.runtime.in_blocks = partial(in_blocks, shell=shell, of_user=self.runtime.of_user)
        schedule = host_environment.scheduler(kernel)
        self.updates = PageUpdates(self.runtime, schedule)
        self.runtime.on_progress = self.updates.progress
        self.audience = Audience(shell)
        # None unless this shell is an engine of ipyparallel.
        self._engine = host_environment.engine(kernel, self.runtime.recorder.run.id)
        if self._engine is not None:
            self.runtime.store.on_clear = self._engine.clear

        journal_path = os.environ.get(JOURNAL_VARIABLE)
        journal = files.Journal(journal_path) if journal_path else None
        self._logbook = Logbook(self.runtime, saving_stage(journal), self.updates.push, _show_again)
        # The logbook receives native lines of the running cell (`on_live`), lines that come after a cell has
        # ended (`on_late`), and all lines of a cell that had too many to be read at its end (`on_rest`).
        self._capture = Capture(
            host_environment.capture_environment(shell),
            now=self.runtime.recorder.clock.utc,
            new_reader=_log_reader,
            on_live=self._logbook.on_live,
            on_late=self._logbook.on_late,
            on_rest=self._logbook.on_rest,
        )
        self.cells = TracedCells(
            shell,
            self.runtime,
            self._capture,
            journal=journal,
            logbook=self._logbook,
            updates=self.updates,
            audience=self.audience,
            engine=self._engine,
        )

        self.live_counters = LiveCounters(
            self.runtime.sampler,
            LazyCounterReader(self.runtime.gpus),
            self.updates.push,
            utc=self.runtime.recorder.clock.utc,
            strip=self.updates.strip_so_far,
        )
        self.record_pages = RecordPages(self.runtime, self.live_counters.state)
        self.doctor = DoctorLight(partial(captures, kernel), self.updates.push)
        self.devices = DeviceCommands(self.runtime, self.updates.devices)
        self.idle_tasks = IdleTasks(self._is_cell_running, schedule)
        self.settings = SidebarSettings(self.idle_tasks, self.devices, self._set_tracing, self.updates.push)
        self.channel = self.updates.channel = self._new_channel(kernel)
        self.commands = Commands(self.runtime, self.cells.events, self.channel, self._logbook, self._capture)
        is_our_magic = magic_ownership(shell)
        self._transformers = [
            partial(transform.drop_trace_line, ours=is_our_magic),
            partial(transform.device_line, ours=is_our_magic),
        ]
        # A setting that arrives from the sidebar is applied between cells: before the next cell is measured
        # (`settings.cell_begins`), or when the running cell has ended (`idle_tasks.run`).
        self._callbacks = CellCallbacks(
            shell,
            before=(
                self.audience.cell_begins,
                self.settings.cell_begins,
                self.cells.prepare_receipts,
                self.cells.events.cell_begins,
                self.cells.record_cell_start,
                self.live_counters.cell_begins,
            ),
            after=(
                self.audience.cell_ended,
                self.cells.events.cell_ended,
                self.cells.record_cell_end,
                self.updates.devices_soon,
                self.idle_tasks.run,
                self.live_counters.cell_ended,
            ),
            take_interrupt=self.cells.after_reply.take_interrupt,
        )

    def start(self) -> None:
        """Trace from the next cell on. If this fails, the shell is restored before the error is raised."""
        with ExitStack() as cleanups:
            self._start_all(cleanups)
            self._cleanups = cleanups.pop_all()
        install(self.runtime)
        language.current_language()  # looks for catalogues now: a cell may make files impossible to open

    def stop(self) -> None:
        """Restore the shell. If a cleanup raises, the others still run before the error is raised."""
        self._cleanups.close()

    def catch_up(self) -> None:
        """Read all native lines that have not been read yet, and add them to the records of their cells."""
        self._capture.catch_up()

    def stop_tracing(self) -> None:
        """Stop tracing. Later cells get no record, and later output is added to none."""
        self.cells.events.set_tracing(False)

    def read_lines_at_once(self) -> None:
        """Make the end of each cell wait until its record is complete.

        `jupyter mlgpu run` needs this, because it shows no update that comes after a cell has ended.
        """
        self._capture.patient = self.runtime.recorder.patient = True

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state for a page that has just been opened or has missed an event."""
        return state.snapshot(
            self.runtime,
            tracing=self.cells.events.tracing,
            running=self.updates.running(),
            logbook=self._logbook,
            counters=self.live_counters.state(),
            choices=self.settings.state(),
            doctor=self.doctor.state(),
        )

    def _start_all(self, cleanups: ExitStack) -> None:
        """Start everything, and register a cleanup for each step in `cleanups`, which runs them in reverse.

        A cleanup is registered before its step, because the step may fail when it is only partly done.
        """
        from jupyter_mlgpu.jupyter.notebook.magics.magics import MlgpuMagics
        from jupyter_mlgpu.jupyter.notebook.magics.ops_command import RepeatedCell

        cells, store = self.cells, self.runtime.store
        repeats = RepeatedCell(
            self._shell, cells.events, lambda record: store.get(record.key), cells.show_receipt
        )
        magics = MlgpuMagics(self._shell, self.commands, self.devices, repeats, self.catch_up)
        cleanups.callback(self.commands.stop_sharing)
        cleanups.callback(self.commands.restore_environment)
        cleanups.enter_context(registered_magics(self._shell, magics))
        cleanups.enter_context(transformed_input(self._shell, self._transformers))
        cleanups.callback(cells.after_reply.stop)
        loaded_by_a_request = bool(request_of(self._shell))
        cells.after_reply.start(handles_request=loaded_by_a_request)
        self.runtime.finish_records = cells.after_reply.run_now
        cleanups.callback(cells.events.stop)
        cells.events.start()
        cleanups.callback(cells.post_mortem.stop)
        cells.post_mortem.start()
        cleanups.callback(self._callbacks.unregister)
        self._callbacks.register()
        cleanups.callback(self.runtime.close)
        self.runtime.watch_imports()
        cleanups.callback(atexit.unregister, self._stop_capture)
        # What is printed while Python exits has to reach the original descriptors, so capturing ends first.
        atexit.register(self._stop_capture)
        for subscriber in self._subscribers():
            cleanups.callback(store.unsubscribe, subscriber)
            store.subscribe(subscriber)
        cleanups.callback(self.channel.close)
        self.channel.open()
        cleanups.callback(self.doctor.stop)
        cleanups.callback(self.live_counters.stop)
        if loaded_by_a_request:
            cells.after_reply.run(cells.import_what_cells_need)

    def _new_channel(self, kernel: Any) -> Channel:
        if not host_environment.has_browsers(kernel):
            return NoChannel()
        answers = page_requests.answers(
            self.runtime,
            watch=self.live_counters,
            settings=self.settings,
            receipt_threshold=self.cells.receipt_threshold,
            doctor=self.doctor,
            record_pages=self.record_pages,
            catch_up=self.catch_up,
        )
        return KernelChannel(kernel, self.runtime.recorder.run.id, self.snapshot, answers, self.audience)

    def _subscribers(self) -> list[Subscriber]:
        """Return the functions that the store calls with each record.

        In an engine of ipyparallel, the last one writes the record to the engine's journal.
        """
        engine = [] if self._engine is None else [self._engine.write]
        return [self.updates.record_made, self.record_pages.record_made, *engine]

    def _stop_capture(self) -> None:
        with suppress(Exception):  # the process is ending: nobody could handle an error
            self._capture.stop()

    def _is_cell_running(self) -> bool:
        return self.cells.events.inside_a_cell

    def _set_tracing(self, on: bool) -> None:
        self.commands.trace("on" if on else "off", "")


def _log_reader() -> LogReader:
    # Reading the catalogue of known log messages takes time, so it is loaded with the first native line.
    from jupyter_mlgpu.explain.logs.catalogue import Catalogue
    from jupyter_mlgpu.explain.logs.reader import LogReader

    return LogReader(Catalogue.load(), clean=redact)


def _show_again(record: Record) -> None:
    from jupyter_mlgpu.jupyter.notebook.cell import receipts  # already imported by the first receipt

    receipts.update_receipt(record)


def load(shell: Any) -> None:
    """Load the extension in a shell; loading it twice changes nothing."""
    if getattr(shell, _ATTRIBUTE, None) is None:
        extension = Extension(shell)
        extension.start()
        setattr(shell, _ATTRIBUTE, extension)


def loaded_in(shell: Any) -> Extension | None:
    """Return the extension of a shell, or None if it is not loaded there."""
    extension: Extension | None = getattr(shell, _ATTRIBUTE, None)
    return extension


def unload(shell: Any) -> None:
    """Unload the extension from a shell."""
    extension = getattr(shell, _ATTRIBUTE, None)
    if extension is not None:
        with Uninterrupted():  # after an interrupted `stop`, the remaining cleanups could not be run any more
            delattr(shell, _ATTRIBUTE)
            extension.stop()
