"""Load and unload: the parts of the notebook side put together, and taken apart again."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu import files
from jupyter_mlgpu.errors import RecordError
from jupyter_mlgpu.kit import Kit, install
from jupyter_mlgpu.logs.capture import Capture, Surroundings
from jupyter_mlgpu.notebook import state, transform
from jupyter_mlgpu.notebook.around import AroundCells
from jupyter_mlgpu.notebook.audience import Audience
from jupyter_mlgpu.notebook.channel import Channel, KernelChannel, NoChannel
from jupyter_mlgpu.notebook.commands import Commands
from jupyter_mlgpu.notebook.devices import DeviceCommands
from jupyter_mlgpu.notebook.doctor_light import DoctorLight, captures
from jupyter_mlgpu.notebook.events import CellEvents
from jupyter_mlgpu.notebook.growth_note import with_growth
from jupyter_mlgpu.notebook.idletasks import IdleTasks
from jupyter_mlgpu.notebook.inside import Inside
from jupyter_mlgpu.notebook.logbook import Logbook
from jupyter_mlgpu.notebook.ops_command import Asked
from jupyter_mlgpu.notebook.ours import ours_in, registered_by_us
from jupyter_mlgpu.notebook.sidebar_settings import SidebarSettings
from jupyter_mlgpu.notebook.watch import Watch
from jupyter_mlgpu.record import Record
from jupyter_mlgpu.recorder import Measurement
from jupyter_mlgpu.redact import redact

if TYPE_CHECKING:
    from jupyter_mlgpu.notebook.engine import Engine
    from jupyter_mlgpu.probes.live import LiveCounters, Series

#: Where to append every record as it is made; `jupyter mlgpu run` sets it.
JOURNAL_VARIABLE = "JUPYTER_MLGPU_RECORDS"
_KEPT = "_jupyter_mlgpu"


class _Counters:
    """The live counters, loaded when a browser first watches."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @cached_property
    def _live(self) -> LiveCounters:
        from jupyter_mlgpu.probes.live import LiveCounters

        return LiveCounters(self._kit.gpus)

    def look(self) -> tuple[list[Series], list[float | None]]:
        """See `LiveCounters`."""
        return self._live.look()


class Extension:
    """What `%load_ext jupyter_mlgpu` sets up in a shell."""

    commands: Commands
    settings: SidebarSettings

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        notebook = os.environ.get("JPY_SESSION_NAME")  # set by jupyter_server: the notebook's path
        self.kit = Kit(PurePath(notebook).name if notebook else None)
        journal = os.environ.get(JOURNAL_VARIABLE)
        self._journal = files.Journal(journal) if journal else None
        self._running: Measurement | None = None
        self._run: tuple[int, int] | None = None
        self._progress = ""
        self._logbook = Logbook(self.kit, self._save, self._push, _show_again)
        self._device_told = state.device_state(self.kit)
        kernel = getattr(shell, "kernel", None)
        self.audience = Audience(shell)
        self._engine = _engine(kernel, self.kit.recorder.run.id)
        self.watch = Watch(self.kit.sampler, _Counters(self.kit), self._push, utc=self.kit.recorder.clock.utc)
        self.inside = Inside(self.kit, self.watch.state)
        self.doctor = DoctorLight(lambda: captures(kernel), self._push)
        told = {
            "watch": lambda _: self.watch.renew(),
            "device": lambda content: self.settings.device(content),
            "trace": lambda content: self.settings.trace(content),
            "compare": self._compare,
            "doctor": self.doctor.ask,
            "save": self._save_as_told,
            "records": lambda asked: state.records_before(self.kit, int(asked["before"])),
            **self.inside.answers(),
        }
        self.channel: Channel = (
            KernelChannel(kernel, self.kit.recorder.run.id, self._snapshot, told, self.audience)
            # An engine of ipyparallel has no such thread, and no browser that would listen.
            if getattr(kernel, "iopub_thread", None) is not None
            else NoChannel()
        )
        self._capture = Capture(
            _surroundings(shell),
            now=self.kit.recorder.clock.utc,
            clean=redact,
            on_live=self._logbook.on_live,
            on_late=self._logbook.on_late,
            on_rest=self._logbook.on_rest,
        )
        self._events = CellEvents(
            shell, self.kit, self._capture, on_start=self._on_start, on_record=self._on_record
        )
        self.commands = Commands(self.kit, self._events, self.channel, self._logbook, self._capture)
        self.devices = DeviceCommands(self.kit, self._push_device)
        self._soon = _scheduler(kernel)
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
        self._around = AroundCells(
            shell,
            before=(
                self.audience.cell_begins,
                self.settings.cell_begins,
                self._events.cell_begins,
                self.watch.cell_begins,
            ),
            after=(
                self.audience.cell_ended,
                self._events.cell_ended,
                self._push_device_soon,
                self.idle_tasks.run,
                self.watch.cell_ended,
            ),
        )

    def start(self) -> None:
        """Trace from the next cell on."""
        from jupyter_mlgpu.notebook.magics import MlgpuMagics
        from jupyter_mlgpu.notebook.ops_command import Repeats

        install(self.kit)
        repeats = Repeats(self._shell, self._events)
        self._shell.register_magics(
            MlgpuMagics(self._shell, self.commands, self.devices, repeats, self.catch_up)
        )
        self._shell.input_transformers_cleanup.extend(self._transformers)
        self._events.start()
        self._around.register()
        self.kit.on_progress = self._on_progress
        self.kit.watch_imports()
        atexit.register(self._capture.stop)  # what is written after that goes where it always went
        self.kit.store.subscribe(self._push_record)
        self.kit.store.subscribe(self.inside.record_made)
        if self._engine is not None:
            self.kit.store.subscribe(self._engine.write)
            self.kit.store.on_clear = self._engine.clear
        self.channel.open()

    def stop(self) -> None:
        """Leave the shell as it was found."""
        self.watch.stop()
        self.doctor.stop()
        self.channel.close()
        self.kit.store.unsubscribe(self._push_record)
        self.kit.store.unsubscribe(self.inside.record_made)
        if self._engine is not None:
            self.kit.store.unsubscribe(self._engine.write)
        self.kit.close()
        self._around.unregister()
        self._events.stop()
        atexit.unregister(self._capture.stop)
        self.commands.restore_environment()
        self.commands.stop_sharing()
        for transformer in self._transformers:
            self._shell.input_transformers_cleanup.remove(transformer)
        from jupyter_mlgpu.notebook.magics import MlgpuMagics

        for kind, ours in MlgpuMagics.magics.items():
            there = self._shell.magics_manager.magics[kind]
            for name in ours:
                if registered_by_us(there.get(name)):
                    del there[name]

    def _save_as_told(self, content: Mapping[str, Any]) -> dict[str, Any]:
        self.catch_up()
        return self.commands.save_as_told(content)

    def catch_up(self) -> None:
        """Have all lines of all cells in their records."""
        self._capture.catch_up()

    def stop_tracing(self) -> None:
        """What runs or is written from now on belongs to no record."""
        self._events.set_tracing(False)

    def read_lines_at_once(self) -> None:
        """From now on a cell's end waits until all its lines are read: nobody would see what comes later."""
        self._capture.patient = True

    def _compare(self, content: Mapping[str, Any]) -> dict[str, Any]:
        from jupyter_mlgpu.notebook.compare_command import compare_records  # seldom asked for

        return compare_records(content, self.kit)

    def _on_start(self, measurement: Measurement, wanted: Asked) -> None:
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

    def _on_record(self, record: Record) -> None:
        self._running = None
        record = self._save(with_growth(record, self.kit.store))
        try:
            self.kit.store.add(record)
            self._logbook.cell_ended(record)
        finally:
            if self.audience.asked:
                # Loaded with the first receipt: what draws it is a sixth of what loading would take.
                from jupyter_mlgpu.notebook import receipts

                # Last, for the thread that publishes it takes Python's lock at once, and this one would wait.
                receipts.show(record, last=not self._events.inside_a_cell)

    def _save(self, record: Record) -> Record:
        if self._journal is not None:
            try:
                self._journal.append(record)
            except RecordError as error:
                record = record.with_note(redact(f"This record was not saved: {error}"))
        return record

    def _push(self, event: dict[str, Any]) -> None:
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
        if device != self._device_told:
            self._device_told = device
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


def _show_again(record: Record) -> None:
    from jupyter_mlgpu.notebook import receipts  # loaded with the first one

    receipts.show_again(record)


def _engine(kernel: Any, run: str) -> Engine | None:
    """What is done otherwise in an engine of ipyparallel; None elsewhere."""
    if getattr(kernel, "engine_id", None) is None:
        return None
    from jupyter_mlgpu.notebook.engine import find

    return find(kernel, run)


def _scheduler(kernel: Any) -> Callable[[Callable[[], None]], object]:
    """Has a function called by the main thread's event loop; where there is none, the next cell does."""
    loop = getattr(kernel, "io_loop", None)
    return (lambda do: None) if loop is None else loop.add_callback


def _surroundings(shell: Any) -> Surroundings:
    # Each imports what only it needs: a terminal has no ipykernel.
    if getattr(shell, "kernel", None) is not None:
        from jupyter_mlgpu.notebook.capture_kernel import KernelSurroundings

        return KernelSurroundings()
    from jupyter_mlgpu.notebook.capture_terminal import TerminalSurroundings

    return TerminalSurroundings(shell)


def load(shell: Any) -> None:
    """Set the extension up in a shell; loading it twice changes nothing."""
    if getattr(shell, _KEPT, None) is None:
        extension = Extension(shell)
        extension.start()
        setattr(shell, _KEPT, extension)


def loaded_in(shell: Any) -> Extension | None:
    """The extension of a shell, if it is loaded there."""
    extension: Extension | None = getattr(shell, _KEPT, None)
    return extension


def unload(shell: Any) -> None:
    """Take the extension out of a shell again."""
    extension = getattr(shell, _KEPT, None)
    if extension is not None:
        extension.stop()
        delattr(shell, _KEPT)
