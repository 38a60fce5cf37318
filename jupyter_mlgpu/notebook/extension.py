"""Load and unload: the parts of the notebook side put together, and taken apart again."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

from jupyter_mlgpu import files, kit
from jupyter_mlgpu.backends import registry
from jupyter_mlgpu.errors import RecordError, UsageError
from jupyter_mlgpu.notebook import receipts, transform
from jupyter_mlgpu.notebook.channel import Channel, KernelChannel, NoChannel
from jupyter_mlgpu.notebook.events import CellEvents
from jupyter_mlgpu.record import Record
from jupyter_mlgpu.recorder import Measurement
from jupyter_mlgpu.redact import redact
from jupyter_mlgpu.render import text, words
from jupyter_mlgpu.selection import parse

SNAPSHOT_RECORDS = 500
#: Where to append every record as it is made; `jupyter mlgpu run` sets it.
JOURNAL_VARIABLE = "JUPYTER_MLGPU_RECORDS"
_KEPT = "_jupyter_mlgpu"


class Extension:
    """What `%load_ext jupyter_mlgpu` sets up in a shell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        notebook = os.environ.get("JPY_SESSION_NAME")  # set by jupyter_server: the notebook's path
        self.kit = kit.Kit(PurePath(notebook).name if notebook else None)
        journal = os.environ.get(JOURNAL_VARIABLE)
        self._journal = files.Journal(journal) if journal else None
        self._running: Measurement | None = None
        kernel = getattr(shell, "kernel", None)
        self._channel: Channel = (
            KernelChannel(kernel, self.kit.recorder.run.id, self._snapshot)
            if kernel is not None
            else NoChannel()
        )
        self._events = CellEvents(shell, self.kit, on_start=self._on_start, on_record=self._on_record)

    def start(self) -> None:
        """Trace from the next cell on."""
        from jupyter_mlgpu.notebook.magics import MlgpuMagics

        kit.install(self.kit)
        self._shell.register_magics(MlgpuMagics(self._shell, self))
        self._shell.input_transformers_cleanup.append(transform.drop_trace_line)
        self._events.register()
        self.kit.watch_imports()
        self.kit.store.subscribe(self._push_record)
        self._channel.open()

    def stop(self) -> None:
        """Leave the shell as it was found."""
        self._channel.close()
        self.kit.store.unsubscribe(self._push_record)
        self.kit.close()
        self._events.unregister()
        self._shell.input_transformers_cleanup.remove(transform.drop_trace_line)
        for kind in self._shell.magics_manager.magics.values():
            for name in ("mlc_device", "mlc_trace"):
                kind.pop(name, None)

    # -- what the magics ask for ------------------------------------------------------------------

    def choose_device(self, word: str) -> str:
        """`%mlc_device WORD`; returns the sentence to print."""
        kind, number = parse(word)
        if kind == "gpu" or number is not None:
            self._import_frameworks()  # only the framework knows whether this device exists
        device = self.kit.selection.request(word)
        self._channel.push({"type": "device", "device": self._device()})
        if device is None:
            return f"Cells run on {word} as soon as a framework is imported."
        framework = words.FRAMEWORKS.get(device.framework, device.framework)
        return (
            f"Cells run on {device.name} ({framework}) from now on. "
            "What was made on another device stays there."
        )

    def device_status(self) -> str:
        """`%mlc_device`; returns what to print."""
        requested = self.kit.selection.requested
        asked = (
            f"Device asked for: {requested}." if requested else "No device asked for: the framework chooses."
        )
        last = self.kit.store.records()[-1:]
        ran = f" The last cell {words.where(last[0])}." if last and last[0].device.ran_on else ""
        return f"{asked}{ran} `%mlc_device list` shows the devices, `%mlc_device?` explains."

    def device_list(self) -> str:
        """`%mlc_device list`; returns a line a device."""
        self._import_frameworks()
        lines = []
        for backend in registry.loaded():
            framework = words.FRAMEWORKS.get(backend.name, backend.name)
            devices = backend.devices()
            lines += [f"{one.name:8}{one.kind:8}{framework} {one.native_name}" for one in devices]
            if not any(one.name.startswith("gpu:") for one in devices):
                lines.append(f"gpu:    none: {framework} finds no GPU it can use on this machine.")
        return "\n".join(lines)

    def trace_command(self, command: str, argument: str) -> str:
        """`%mlc_trace COMMAND ARGUMENT`; returns what to print."""
        commands: dict[str, Callable[[], str]] = {
            "on": lambda: self._set_tracing(True),
            "off": lambda: self._set_tracing(False),
            "status": self._trace_status,
            "show": lambda: text.table(self.kit.store.records()),
            "clear": self._clear,
            "save": lambda: self._save(argument),
            "load": lambda: self._load(argument),
        }
        if command not in commands:
            raise UsageError(
                f"Unknown command {command!r} after %mlc_trace. Choose {', '.join(commands)}; "
                "`%mlc_trace?` explains each with an example."
            )
        if command in ("save", "load") and not argument:
            raise UsageError(
                f"%mlc_trace {command} needs a file, for example `%mlc_trace {command} records.jsonl`."
            )
        return commands[command]()

    def _set_tracing(self, on: bool) -> str:
        self._events.tracing = on
        self._channel.push({"type": "trace", "on": on})
        if on:
            return "Tracing is on: every cell gets a receipt, from the next one on."
        return "Tracing is off; the records so far are kept. `%mlc_trace on` turns it on again."

    def _trace_status(self) -> str:
        store = self.kit.store
        dropped = f" ({store.dropped:,} older ones were let go)" if store.dropped else ""
        state = "on" if self._events.tracing else "off"
        count = len(store.records())
        return f"Tracing is {state}, {count:,} records{dropped}. `%mlc_trace?` explains the commands."

    def _clear(self) -> str:
        self.kit.store.clear()
        self._channel.push({"type": "cleared"})
        return "All records of this kernel were forgotten; receipts in the notebook stay."

    def _save(self, path: str) -> str:
        count = files.save_records(path, self.kit.store.records())
        return f"Saved {count:,} records to {path}."

    def _load(self, path: str) -> str:
        records, problems = files.load_records(path)
        new = self.kit.store.extend(records)
        self._channel.push({"type": "hello"})  # there may be thousands: let the browsers ask for a snapshot
        known = f", {len(records) - new:,} of them were here already" if new < len(records) else ""
        return "\n".join(
            [
                f"Loaded {len(records):,} records from {path}{known}; they are shown as loaded.",
                *problems,
            ]
        )

    def _import_frameworks(self) -> None:
        """A user who asks for devices wants the framework; importing it is said, for it takes a while."""
        if registry.loaded():
            return
        for name in registry.BACKENDS:
            if importlib.util.find_spec(name) is not None:
                print(f"Importing {words.FRAMEWORKS.get(name, name)} to see its devices…", flush=True)
            registry.import_framework(name)

    # -- what happens around a cell ---------------------------------------------------------------

    def _on_start(self, measurement: Measurement) -> None:
        self._running = measurement
        self._channel.push({"type": "running", **_running(measurement)})

    def _on_record(self, record: Record) -> None:
        self._running = None
        if self._journal is not None:
            record = self._write_down(record, self._journal)
        self.kit.store.add(record)
        receipts.show(record)

    def _write_down(self, record: Record, journal: files.Journal) -> Record:
        try:
            journal.append(record)
        except RecordError as error:
            return record.with_note(redact(f"This record was not saved: {error}"))
        return record

    def _push_record(self, record: Record) -> None:
        self._channel.push({"type": "record", "record": record.to_json()})

    # -- what a browser is told when it asks ------------------------------------------------------

    def _snapshot(self) -> dict[str, Any]:
        records = self.kit.store.records()
        running = self._running
        run = self.kit.recorder.run
        return {
            "tracing": self._events.tracing,
            "notebook": run.notebook,
            "device": self._device(),
            "running": None if running is None else _running(running),
            "records": [record.to_json() for record in records[-SNAPSHOT_RECORDS:]],
            "older": max(0, len(records) - SNAPSHOT_RECORDS) + self.kit.store.dropped,
            "versions": {"python": sys.version.split()[0]},
        }

    def _device(self) -> dict[str, Any]:
        """The device asked for and those that exist, without starting a framework to find out."""
        for backend in registry.loaded():
            if backend.started():
                devices = [
                    {
                        "framework": one.framework,
                        "device": one.name,
                        "kind": one.kind,
                        "native_name": one.native_name,
                    }
                    for one in backend.devices()
                ]
                requested = self.kit.selection.requested
                return {
                    "requested": requested,
                    "framework": backend.name,
                    "available": devices,
                    "why_missing": None,
                }
            why = f"{words.FRAMEWORKS.get(backend.name, backend.name)} has not used a device yet."
            return {
                "requested": self.kit.selection.word,
                "framework": backend.name,
                "available": None,
                "why_missing": why,
            }
        why = "No framework is loaded yet: `import tensorflow` in a cell."
        requested = self.kit.selection.requested
        return {"requested": requested, "framework": None, "available": None, "why_missing": why}


def _running(measurement: Measurement) -> dict[str, Any]:
    cell = measurement.cell
    return {
        "cell": {
            "sequence": cell.sequence,
            "id": cell.id,
            "execution_count": cell.execution_count,
            "source_digest": cell.source_digest,
            "name": cell.name,
        },
        "started_at": measurement.started_at,
        "elapsed_s": measurement.elapsed(),
    }


def load(shell: Any) -> None:
    """Set the extension up in a shell; loading it twice changes nothing."""
    if getattr(shell, _KEPT, None) is None:
        extension = Extension(shell)
        extension.start()
        setattr(shell, _KEPT, extension)


def unload(shell: Any) -> None:
    """Take the extension out of a shell again."""
    extension = getattr(shell, _KEPT, None)
    if extension is not None:
        extension.stop()
        delattr(shell, _KEPT)
