"""Controls for notebooks without our sidebar: VS Code, Colab, and others that show ipywidgets.

They draw the sidebar's own views: labextension/src/anywidget, bundled into static/widgets.js, which anywidget
sends to the page. They get the same events as browsers (`channel.py`), and a choice made in them is handled
like one in the sidebar (`sidebar_settings.py`). The running cell is sent by `live_cell.py`.

Traits change only in the main thread, in a cell or between two, so observers are never called in another
thread. A failure here costs a control its newest state, and has no effect on cells.
"""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from anywidget import AnyWidget
from IPython.core.getipython import get_ipython
from traitlets import Bool, Dict, Int, List, Unicode

from jupyter_mlgpu.jupyter.notebook.browser.channel import KernelChannel
from jupyter_mlgpu.jupyter.notebook.browser.live_cell import LiveCell
from jupyter_mlgpu.jupyter.notebook.browser.state import device_state
from jupyter_mlgpu.jupyter.notebook.extension import loaded_in
from jupyter_mlgpu.record import translation
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.decoding import to_json
from jupyter_mlgpu.record.errors import MissingPackageError, UsageError
from jupyter_mlgpu.record.stderr import say_on_stderr
from jupyter_mlgpu.show.receipts import view
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, bundle

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from jupyter_mlgpu.jupyter.notebook.browser.channel import Event
    from jupyter_mlgpu.jupyter.notebook.extension import Extension
    from jupyter_mlgpu.record.record import Record

SCRIPT = Path(__file__).parents[1] / "static" / "widgets.js"

#: Average seconds between two states of a control. After SAVED seconds without one, the first few may follow
#: at once. Jupyter's server drops a kernel's messages beyond a megabyte a second, and the user's output with
#: them.
INTERVAL = 0.25
SAVED = 1.0

#: Most records that a TraceView shows, and most bytes that they have together as JSON.
SHOWN = 20
LIMIT = 200_000


class _Control(AnyWidget):
    """A control of this kernel. Each kind has one instance: creating it again returns the same one."""

    shows = Unicode(help="The view that the page draws: `devices` or `records`.").tag(sync=True)
    language = Unicode(help="A code such as `en` or `zh`; empty: that of the page.").tag(sync=True)
    catalogue = Dict(help="The catalogue of the language of a page that asked for it.").tag(sync=True)
    ended = Bool(False, help="The extension was unloaded: there is nothing new any more.").tag(sync=True)
    _esm = Unicode().tag(sync=True)

    #: By class name, because anywidget gives each widget a class of its own.
    _controls: ClassVar[dict[str, _Control]] = {}
    _extension: Extension

    def __new__(cls, language: str = "") -> Self:
        extension, _ = _loaded(cls.__name__)
        existing = _Control._controls.get(cls.__name__)
        if isinstance(existing, cls) and existing._extension is extension and existing.comm is not None:
            return existing
        new: Self = super().__new__(cls)
        return new

    def __init__(self, language: str = "") -> None:
        name = type(self).__name__
        if _Control._controls.get(name) is self:
            self.language = language or self.language
            return
        self._extension, self._channel = _loaded(name)
        self._next = real_time.monotonic() - SAVED
        super().__init__(_esm=_script(), language=language, **self._state())
        self.on_msg(self._on_message)
        self._channel.listeners.append(self._hear)
        _Control._controls[name] = self

    def __repr__(self) -> str:
        """Return the text that a saved notebook shows without the widget."""
        return f"{type(self).__name__}: shown while the notebook has its kernel."

    def close(self) -> None:
        """Remove it from every page; `%unload_ext` leaves it on the pages as it is."""
        self._stop_listening()
        super().close()

    def _on_message(self, _: object, content: object, buffers: object) -> None:
        """Handle an untrusted message from a page, in any thread."""
        match content:
            case {"speaks": str(language)}:
                self._extension.idle_tasks.submit(
                    f"{self.shows}: catalogue", lambda: self._load_catalogue(language)
                )
            case _:
                self._handle_choice(content)

    def _load_catalogue(self, language: str) -> None:
        with suppress(Exception):  # then the page shows English
            if messages := translation.messages(language):
                self.catalogue = {"messages": messages}

    def _handle_choice(self, content: object) -> None:
        """Handle a choice made on a page; the message is not trusted."""

    def _state(self) -> dict[str, Any]:
        """Return the current values of the traits."""
        raise NotImplementedError

    def _concerns(self, event: Event) -> bool:
        """Return True if an event may change the state."""
        raise NotImplementedError

    def _hear(self, event: Event) -> None:
        # Called in any thread, inside the code that made the event, so it must not raise.
        with suppress(Exception):
            if not callable(event) and event["type"] == "goodbye":
                self._stop_listening()
                self._extension.idle_tasks.submit(self.shows, self._end)
            elif not self._concerns(event):
                return
            elif threading.current_thread() is threading.main_thread() and self._delay() <= 0:
                self._tell()
            else:
                self._extension.idle_tasks.submit(self.shows, self._send_when_due)

    def _send_when_due(self) -> None:
        """Send the state from the main thread, after a delay if another state was sent just before."""
        with suppress(Exception):
            rest = self._delay()
            if rest > 0:
                with suppress(RuntimeError):  # without an event loop it is sent at once
                    asyncio.get_running_loop().call_later(rest, self._tell)
                    return
            self._tell()

    def _delay(self) -> float:
        """Return the seconds until the next state may be sent; 0 or less means now."""
        return self._next - real_time.monotonic()

    def _tell(self) -> None:
        self._next = max(self._next, real_time.monotonic() - SAVED) + INTERVAL
        try:
            with self.hold_sync():
                for name, value in self._state().items():
                    setattr(self, name, value)
        except Exception as error:  # ours, or of a user's observer of a trait
            say_on_stderr(
                f"jupyter_mlgpu could not update a {type(self).__name__} ({type(error).__name__}: {error})."
            )

    def _end(self) -> None:
        with suppress(Exception):
            self.ended = True

    def _stop_listening(self) -> None:
        with suppress(ValueError):
            self._channel.listeners.remove(self._hear)


class DevicePicker(_Control):
    """Choose the device for the next cells with a click: what `%mlc_device` does, for VS Code and Colab.

    It shows a button for each device that can be requested, the device of each framework, and the kernel's
    reply to the last choice. A choice applies from the next cell on. While a cell runs, it waits for the
    cell to end, and the control says so. It never imports a framework: `%mlc_device gpu` in a cell does
    that. If the device needs a restart of the kernel, the control says so, and how to do it.

    Each kernel has one picker: `DevicePicker()` in another cell shows it there too. `language` is a code
    such as `"en"` or `"zh"`; the default is the page's own language.

    Raises UsageError outside a notebook, or if `%load_ext jupyter_mlgpu` has not run.

    Example:

        %load_ext jupyter_mlgpu
        import jupyter_mlgpu

        jupyter_mlgpu.DevicePicker()
    """

    device = Dict(help="The devices, and which were asked for: see `state.device_state`.").tag(sync=True)
    choices = Dict(help="Waiting choices and the last answer: see `sidebar_settings.py`.").tag(sync=True)
    heard = Int(0, help="How many clicks have arrived.").tag(sync=True)

    _clicks = 0

    def _state(self) -> dict[str, Any]:
        return {
            "shows": "devices",
            "device": to_json(device_state(self._extension.runtime)),
            "choices": to_json(self._extension.settings.state()),
            "heard": self._clicks,
        }

    def _concerns(self, event: Event) -> bool:
        return not callable(event) and event["type"] in ("device", "choices")

    def _handle_choice(self, content: object) -> None:
        """Handle a click: `{"word": "gpu", "framework": null}`, as in the sidebar."""
        self._clicks += 1
        with suppress(Exception):  # our pages send only valid devices
            if isinstance(content, dict):
                self._extension.settings.device(content)
        self._extension.idle_tasks.submit(f"{self.shows}: heard", self._tell)


class TraceView(_Control):
    """The newest receipts of this notebook, live: what the sidebar shows, for VS Code and Colab.

    Each line opens to show everything measured in a cell. A new record appears when its cell ends; that of
    a block inside a long cell (`with jupyter_mlgpu.trace("name")`) appears while the cell still runs. A line
    above them has the running cell's time so far, its CPU cores and memory, and the utilization of its GPUs.
    If the kernel sends nothing for five seconds, the line says so. Twenty records are shown, fewer if they
    are large. The number of older ones is given, and `jupyter_mlgpu.records()` has them all. Log lines are
    explained in English.

    Each kernel has one view: `TraceView()` in another cell shows it there too. `language` is a code such as
    `"en"` or `"zh"`; the default is the page's own language.

    Raises UsageError outside a notebook, or if `%load_ext jupyter_mlgpu` has not run.

    Example:

        %load_ext jupyter_mlgpu
        import jupyter_mlgpu

        jupyter_mlgpu.TraceView()
    """

    newest: List[Any] = List(
        help="The newest records, oldest first, as in receipts; `open` is the content of the open receipt."
    ).tag(sync=True)
    older = Int(0, help="How many records came before them.").tag(sync=True)

    _read: Sequence[tuple[Record, dict[str, Any], int]] = ()
    _live: LiveCell | None = None

    def __init__(self, language: str = "") -> None:
        super().__init__(language)
        self._live = self._live or LiveCell(
            self._extension.updates,
            self._extension.live_counters,
            self.send,
            self._channel.call_later,
            now=real_time.monotonic,
        )

    def _state(self) -> dict[str, Any]:
        store = self._extension.runtime.store
        records = store.records()
        known = {id(one[0]): one for one in self._read}
        read = [known.get(id(record)) or _read(record) for record in records[-SHOWN:]]
        while sum(size for _, _, size in read) > LIMIT:
            del read[0]
        self._read = read
        return {
            "shows": "records",
            "newest": [data for _, data, _ in read],
            "older": store.dropped + len(records) - len(read),
        }

    def _concerns(self, event: Event) -> bool:
        # Only record events are callable (see `Event`). Loading a file of records pushes "hello".
        return callable(event) or event["type"] in ("cleared", "hello")

    def _hear(self, event: Event) -> None:
        super()._hear(event)
        with suppress(Exception):
            if self._live is not None:
                self._live.hear(event)

    def _stop_listening(self) -> None:
        super()._stop_listening()
        if self._live is not None:
            self._live.stop()


def _read(record: Record) -> tuple[Record, dict[str, Any], int]:
    """Return a record, the content of its closed and open receipt, and the size of both in bytes."""
    data = bundle(record)[MIME_TYPE]
    data["open"] = to_json(view.data(record, data.get("cut")), texts=False)
    return record, data, len(json.dumps(data, ensure_ascii=False).encode())


def _loaded(name: str) -> tuple[Extension, KernelChannel]:
    """Return this notebook's extension and its channel; raises UsageError if it is not loaded."""
    shell = get_ipython()
    if shell is None or getattr(shell, "kernel", None) is None:
        raise UsageError(
            f"{name} works only in notebooks. In an IPython terminal, use `%mlc_device` and "
            "`%mlc_trace show`; in a script, `jupyter_mlgpu.records()` has what was measured."
        )
    extension = loaded_in(shell)
    if extension is None or not isinstance(extension.channel, KernelChannel):
        raise UsageError(
            f"{name} needs the extension, which is not loaded in this kernel: run "
            "`%load_ext jupyter_mlgpu` in a cell, then run this cell again."
        )
    return extension, extension.channel


def _script() -> str:
    try:
        return SCRIPT.read_text(encoding="utf-8")
    except OSError as error:
        raise MissingPackageError(
            f"The controls' own script cannot be read ({error}); it is created when jupyter_mlgpu is built. "
            "Reinstall jupyter_mlgpu, or run `make install` in a checkout."
        ) from error
