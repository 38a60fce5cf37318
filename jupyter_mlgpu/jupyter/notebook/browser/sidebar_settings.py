"""Applies the sidebar's settings: the device of the next cells, and tracing on or off.

Each does the same as a magic, between two cells. On the control channel, with `jupyter_mlgpu_request`:

    {"type": "device", "word": "gpu:0", "framework": "torch"}     framework null: all of them
    {"type": "trace", "on": false}

The answer only confirms that the request is valid. The result is an event, in snapshots under "choices":

    {"type": "choices", "choices": {"device": {"word": "gpu:0", "framework": "torch"}, "trace": null,
                                    "said": null}}

`device` and `trace` are the settings that wait for the end of the running cell, else null. `said` is the
answer to the last setting, until the next cell begins: {"sentence": ..., "refused": true, "restart": null}.
`restart` is {"sentence", "by_hand", "verbose"} (see `restart.py`) if a restart would make the device usable.
The new device or tracing state itself is a `device` or `trace` event, as for a magic.
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

#: Most characters of a device's word.
LONGEST = 40


@dataclass(eq=False, repr=False)
class SidebarSettings:
    """Takes settings from browsers on the control thread, and applies them between two cells."""

    tasks: IdleTasks
    devices: DeviceCommands
    set_tracing: Callable[[bool], object]
    push: Callable[[State], None]

    def __post_init__(self) -> None:
        # These values are replaced, never mutated, because two threads read them.
        self._device: WaitingDevice | None = None
        self._trace: bool | None = None
        self._answer: SaidData | None = None

    def state(self) -> SidebarState:
        """Return the settings that wait, and the last answer."""
        return {"device": self._device, "trace": self._trace, "said": self._answer}

    def device(self, content: Mapping[str, Any]) -> State:
        """Queue the device that a browser selected; raises UsageError if the message names no device."""
        text, framework = content.get("word"), content.get("framework")
        if not isinstance(text, str) or len(text) > LONGEST or not isinstance(framework, str | None):
            raise UsageError(
                say("A device is chosen by a word, such as `gpu`, and a framework's name or null.")
            )
        word = DeviceWord.parse(text)
        waiting: WaitingDevice = {"word": str(word), "framework": framework}
        self._device, self._answer = waiting, None
        self._tell()
        self.tasks.submit("device", lambda: self._select(word, framework, waiting))
        return {}

    def trace(self, content: Mapping[str, Any]) -> State:
        """Queue tracing on or off as a browser selected."""
        on = content.get("on")
        if not isinstance(on, bool):
            raise UsageError(say("Tracing is turned on with true and off with false."))
        self._trace = on
        self._tell()
        self.tasks.submit("trace", lambda: self._turn(on))
        return {}

    def cell_begins(self, info: object = None) -> None:
        """Drop the last answer, which has been read, and apply waiting settings to this cell."""
        if self._answer is not None:
            self._answer = None
            self._tell()
        self.tasks.run()

    def _select(self, word: DeviceWord, framework: str | None, waiting: WaitingDevice) -> None:
        try:
            answer = _answer(self.devices.select(word, framework, importing=False), refused=False)
        except RestartNeededError as error:
            answer = _answer(error.refusal, refused=True, restart=hint(error))
        except MlgpuError as error:
            answer = _answer(of_error(error), refused=True)
        except Exception as error:  # the framework does not start; its own message says why
            why = f"{type(error).__name__}: {error}"
            answer = _answer(
                say("{word} could not be chosen ({why}).", word=str(word), why=why), refused=True
            )
        if self._device is waiting:  # else a newer choice has replaced it and comes next
            self._device, self._answer = None, answer
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
            self._answer = _answer(failed, refused=True)
        if self._trace is on:
            self._trace = None
        self._tell()

    def _tell(self) -> None:
        self.push({"type": "choices", "choices": self.state()})


def _answer(sentence: str, *, refused: bool, restart: RestartHint | None = None) -> SaidData:
    return {"sentence": sentence, "refused": refused, "restart": restart}
