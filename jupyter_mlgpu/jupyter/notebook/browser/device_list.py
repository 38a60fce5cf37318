"""Lists the devices that can be chosen, for `%mlc_device list`, the sidebar, the dialog and the widget.

No framework is started for it. The devices of a framework that has not started are not known, and the list
says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from jupyter_mlgpu.measure.frameworks import hardware, registry
from jupyter_mlgpu.measure.frameworks.base import Backend, Device
from jupyter_mlgpu.measure.selection import DeviceSelection
from jupyter_mlgpu.record.device_request import AUTO, EVERY
from jupyter_mlgpu.record.sentence import Sentence, listed, say

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.browser.messages import PickerData


class Choice(Struct, frozen=True):
    """A word for `%mlc_device`, with the hardware's name or what choosing the word does."""

    word: str
    about: Sentence | str = ""


class Picker(Struct, frozen=True):
    """The choices of one control: the devices of a framework, or of all frameworks if `framework` is None."""

    framework: str | None
    current: str
    words: tuple[Choice, ...]
    missing: tuple[Sentence, ...] = ()

    def to_json(self) -> PickerData:
        """Return the message for browsers."""
        return {
            "framework": self.framework,
            "chosen": self.current,
            "words": [{"word": one.word, "about": one.about} for one in self.words],
            "missing": list(self.missing),
        }


def automatic() -> Choice:
    """Return the choice that leaves the device to each framework, first in every list."""
    return Choice(str(AUTO), say("each framework chooses its own device"))


def pickers(selection: DeviceSelection) -> list[Picker]:
    """Return a control for each framework that has started if there are several, else one control."""
    loaded = registry.loaded()
    started = [one for one in loaded if one.started()]
    if len(started) > 1:
        return [_picker(one.name, *offered(one, one.devices()), selection, [one]) for one in started]
    if started:
        return [_picker(None, *offered(started[0], started[0].devices()), selection, started)]
    choices = [Choice("cpu", hardware.cpu().hardware or "")]
    if loaded:
        choices.append(Choice("gpu", say("searched for when chosen")))
        missing = [say("{name} has not used a device yet.", name=registry.title(loaded[-1].name))]
    else:
        missing = [_nothing_imported()]
    return [_picker(None, choices, missing, selection, loaded)]


def kind_of_new_work(selection: DeviceSelection) -> Literal["cpu", "gpu"] | None:
    """Return the kind of device that new work goes to; None if it is unknown or differs between frameworks.

    Without a framework, it is the CPU unless another device was chosen. PyTorch's code chooses itself.
    """
    loaded = registry.loaded()
    backends = [one for one in loaded if one.started()] or loaded
    if not backends:
        return "gpu" if selection.words().get(EVERY, "").startswith("gpu") else "cpu"
    kinds = {_kind(one, selection) for one in backends}
    return kinds.pop() if len(kinds) == 1 else None


def _kind(backend: Backend, selection: DeviceSelection) -> Literal["cpu", "gpu"] | None:
    word = selection.word(backend.name)
    if word is not None and word.kind != "auto":
        return word.kind
    if not backend.started():
        return None
    if all(one.kind == "cpu" for one in backend.devices()):
        return "cpu"
    default = backend.default_device()
    if default is not None:
        return "cpu" if default.kind == "cpu" else "gpu"
    return "gpu" if registry.framework(backend.name).gpu_by_default else None


def offered(backend: Backend, devices: Sequence[Device]) -> tuple[list[Choice], list[Sentence]]:
    """Return the devices of a framework that can be chosen, and sentences on why there is no GPU among them.

    A GPU that needs a restart can be requested: the refusal explains how to restart, and offers it.
    """
    choices = [Choice(one.name, _hardware(backend, one)) for one in devices]
    if any(one.name.startswith("gpu:") for one in devices):
        return choices, []
    restart = backend.needs_restart()
    if restart is not None:
        choices.append(Choice("gpu", say("after a kernel restart")))
    return choices, [restart or backend.why_no_gpu()]


def _picker(
    framework: str | None,
    choices: Sequence[Choice],
    missing: Sequence[Sentence],
    selection: DeviceSelection,
    backends: Sequence[Backend],
) -> Picker:
    chosen = _chosen(selection, backends)
    every = [automatic(), *choices]
    if all(one.word != chosen for one in every):  # `gpu:3`, typed in a cell, waits for its device
        every.append(Choice(chosen))
    return Picker(framework, chosen, tuple(every), tuple(missing))


def _chosen(selection: DeviceSelection, backends: Sequence[Backend]) -> str:
    """Return the chosen word, or the device that it means if that is known."""
    has = {one.framework: one.name for one in selection.devices()}
    words = [has.get(one.name) or str(selection.word(one.name) or AUTO) for one in backends]
    return next((one for one in words if one != str(AUTO)), None) or (
        str(AUTO) if backends else selection.words().get(EVERY, str(AUTO))
    )


def _hardware(backend: Backend, device: Device) -> str:
    with suppress(Exception):  # the driver may fail; the kind is known anyway
        return backend.details(device).hardware or device.kind
    return device.kind


def _nothing_imported() -> Sentence:
    installed = [registry.title(name) for name in registry.importable()]
    if not installed:
        return say("No framework is installed in this kernel's Python, so GPU availability is not known.")
    return say(
        "No framework is imported yet, so GPU availability is not known. Installed: {names}.",
        names=listed(installed),
    )
