"""The device that the user asked for, and putting the cells on it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from jupyter_mlgpu.backends.base import Backend, Device, Scope
from jupyter_mlgpu.errors import DeviceError, UsageError

WORDS = "cpu, gpu, any, or a numbered device such as cpu:1 or gpu:0"
_WORD = re.compile(r"(cpu|gpu|any)(?::(\d+))?")


def parse(word: str) -> tuple[str, int | None]:
    """`gpu:1` as ("gpu", 1), `any` as ("any", None); raises UsageError with the valid words."""
    match = _WORD.fullmatch(word.strip().lower())
    if match is None or (match[1] == "any" and match[2] is not None):
        raise UsageError(
            f"Unknown device {word.strip()!r}. Choose {WORDS}; "
            "in a notebook `%mlc_device list` shows what exists."
        )
    return match[1], int(match[2]) if match[2] else None


def resolve(word: str, devices: Sequence[Device]) -> Device:
    """The device that a word names among those that exist: `any` is the first GPU, else the first CPU.

    Raises DeviceError naming what exists, and UsageError for a word that is no device.
    """
    kind, number = parse(word)
    if kind == "any":
        kind = "gpu" if any(device.name.startswith("gpu:") for device in devices) else "cpu"
    wanted = f"{kind}:{number or 0}"
    for device in devices:
        if device.name == wanted:
            return device
    existing = ", ".join(device.name for device in devices) or "none"
    raise DeviceError(
        f"There is no device {wanted} here: found {existing}. Choose one of these; nothing was changed."
    )


class Selection:
    """The device of the cells to come, entered before each of them and left after it."""

    def __init__(self, backends: Callable[[], Sequence[Backend]]) -> None:
        self._backends = backends
        self._word: str | None = None
        self._here = _ThisThread()

    @property
    def word(self) -> str | None:
        """The device asked for, as it was written."""
        return self._word

    @property
    def requested(self) -> str | None:
        """The device asked for, numbered where it is known to exist; None if nothing was asked for."""
        if self._word is None:
            return None
        for backend in self._backends():
            with suppress(DeviceError):
                return resolve(self._word, backend.devices()).name
        return self._word

    def request(self, word: str) -> Device | None:
        """Ask for a device from now on; returns it, or None while no framework is loaded.

        A cell that is running goes on on the new device, unless it is inside a device scope of its
        own. Raises as `resolve` does, and then nothing has changed.
        """
        parse(word)
        chosen: Device | None = None
        for backend in self._backends():
            chosen = resolve(word, backend.devices())
        self._word = word.strip().lower()
        scopes = self._here.scopes
        if scopes and all(scope.holds() for scope in scopes[-1]):
            self._leave_all(scopes[-1])
            scopes[-1] = self._enter_all()
        return chosen

    def enter(self) -> None:
        """Put what this thread runs from now on onto the device asked for; may be nested.

        Raises DeviceError where the device is not there; then nothing was entered, and there is nothing
        to leave.
        """
        self._here.scopes.append(self._enter_all())

    def leave(self) -> list[str]:
        """Put back what the last `enter` found; returns notes for the user."""
        return self._leave_all(self._here.scopes.pop())

    def framework_loaded(self, backend: Backend) -> None:
        """The running cell has just imported a framework: the device asked for holds for it too."""
        device = self._find(backend)
        if self._here.scopes and device is not None:
            self._here.scopes[-1].append(backend.enter(device))

    def _find(self, backend: Backend) -> Device | None:
        """The device asked for; None if nothing was, or where it may still come.

        Before the framework has started, the user's code may define logical devices. Raises DeviceError
        where it has started without the device.
        """
        if self._word is None:
            return None
        try:
            return resolve(self._word, backend.devices())
        except DeviceError:
            if backend.started():
                raise
            return None

    def _enter_all(self) -> list[Scope]:
        # All are found before one is entered: what raises here leaves nothing half done.
        found = [(backend, self._find(backend)) for backend in self._backends()]
        return [backend.enter(device) for backend, device in found if device is not None]

    def _leave_all(self, scopes: list[Scope]) -> list[str]:
        notes = [scope.leave() for scope in reversed(scopes)]
        return [note for note in notes if note is not None]


class _ThisThread(threading.local):
    def __init__(self) -> None:
        self.scopes: list[list[Scope]] = []
