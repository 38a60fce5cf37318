"""What somebody sets in the sidebar: the device of the cells to come, and whether they are traced.

Each is what a magic does, between two cells. On the control channel, with `jupyter_mlgpu_request`:

    {"type": "device", "word": "gpu:0", "framework": "torch"}     framework null: all of them
    {"type": "trace", "on": false}

The answer says only that it was understood. What becomes of it is an event, and stands in snapshots
under "choices":

    {"type": "choices", "choices": {"device": {"word": "gpu:0", "framework": "torch"}, "trace": null,
                                    "said": null}}

`device` and `trace` are what waits for the end of the running cell, null where nothing does. `said` is what
was said of the last one, until the next cell begins: {"sentence": ..., "refused": true, "restart": null},
where `restart` is {"sentence", "by_hand", "verbose"} (see `restart.py`) if a restart would bring the device.
The device or tracing itself comes as a `device` or `trace` event, as a magic's does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.jupyter.notebook.browser.idletasks import IdleTasks
from jupyter_mlgpu.jupyter.notebook.magics.devices import DeviceCommands
from jupyter_mlgpu.jupyter.notebook.magics.restart import hint
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.errors import MlgpuError, RestartNeededError, UsageError
from jupyter_mlgpu.record.sentence import of_error, say

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.browser.messages import (
        RestartHint,
        SaidData,
        SidebarState,
        WaitingDevice,
    )

State = dict[str, Any]

#: Characters of a device's word.
LONGEST = 40


@dataclass(eq=False, repr=False)
class SidebarSettings:
    """Hears browsers on the control thread, and has done what they ask for between two cells."""

    tasks: IdleTasks
    devices: DeviceCommands
    set_tracing: Callable[[bool], object]
    push: Callable[[State], None]

    def __post_init__(self) -> None:
        # Values that are replaced, never changed: two threads look at them.
        self._device: WaitingDevice | None = None
        self._trace: bool | None = None
        self._said: SaidData | None = None

    def state(self) -> SidebarState:
        """What waits, and what was said last."""
        return {"device": self._device, "trace": self._trace, "said": self._said}

    def device(self, content: Mapping[str, Any]) -> State:
        """A browser selects a device. Raises UsageError for what is no device, in one sentence."""
        text, framework = content.get("word"), content.get("framework")
        if not isinstance(text, str) or len(text) > LONGEST or not isinstance(framework, str | None):
            raise UsageError(
                say("A device is chosen by a word, such as `gpu`, and a framework's name or null.")
            )
        word = DeviceWord.parse(text)
        waiting: WaitingDevice = {"word": str(word), "framework": framework}
        self._device, self._said = waiting, None
        self._tell()
        self.tasks.submit("device", lambda: self._select(word, framework, waiting))
        return {}

    def trace(self, content: Mapping[str, Any]) -> State:
        """A browser turns tracing on or off."""
        on = content.get("on")
        if not isinstance(on, bool):
            raise UsageError(say("Tracing is turned on with true and off with false."))
        self._trace = on
        self._tell()
        self.tasks.submit("trace", lambda: self._turn(on))
        return {}

    def cell_begins(self, info: object = None) -> None:
        """What was said last has been read, and what waits holds for this cell."""
        if self._said is not None:
            self._said = None
            self._tell()
        self.tasks.run()

    def _select(self, word: DeviceWord, framework: str | None, waiting: WaitingDevice) -> None:
        try:
            said = _said(self.devices.select(word, framework, importing=False), refused=False)
        except RestartNeededError as error:
            said = _said(error.refusal, refused=True, restart=hint(error))
        except MlgpuError as error:
            said = _said(of_error(error), refused=True)
        except Exception as error:  # a framework that does not start: its own words say why
            why = f"{type(error).__name__}: {error}"
            said = _said(say("{word} could not be chosen ({why}).", word=str(word), why=why), refused=True)
        if self._device is waiting:  # else another one has come meanwhile, and is next
            self._device, self._said = None, said
        self._tell()

    def _turn(self, on: bool) -> None:
        try:
            self.set_tracing(on)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            failed = (
                say("Tracing could not be turned on ({why}).", why=why)
                if on
                else say("Tracing could not be turned off ({why}).", why=why)
            )
            self._said = _said(failed, refused=True)
        if self._trace is on:
            self._trace = None
        self._tell()

    def _tell(self) -> None:
        self.push({"type": "choices", "choices": self.state()})


def _said(sentence: str, *, refused: bool, restart: RestartHint | None = None) -> SaidData:
    return {"sentence": sentence, "refused": refused, "restart": restart}
