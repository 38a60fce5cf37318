"""The device that the user asked for, and putting the cells on it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from jupyter_mlgpu.errors import RESTART_MENU, DeviceError, RestartNeededError, UsageError
from jupyter_mlgpu.frameworks.base import Backend, Device, Scope

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


def resolve(word: str, devices: Sequence[Device], whose: str = "") -> Device:
    """The device that a word names among those that exist: `any` is the first GPU, else the first CPU.

    `whose` names the framework in the error, where there are several. Raises DeviceError naming what
    exists, and UsageError for a word that is no device.
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
        f"There is no device {wanted} here{whose}: found {existing}. "
        "Choose one of these; nothing was changed."
    )


class Selection:
    """The device of the cells to come, entered before each of them and left after it.

    One word holds for every framework, or a word for each; a cell may have a word of its own.
    """

    def __init__(self, backends: Callable[[], Sequence[Backend]]) -> None:
        self._backends = backends
        self._word: str | None = None
        self._words: dict[str, str] = {}
        self._here = _ThisThread()

    @property
    def word(self) -> str | None:
        """The device asked for, as it was written."""
        if not self._words:
            return self._word
        each = {name: word for name, word in self._words.items() if word != self._word}
        return ", ".join([*filter(None, [self._word]), *(f"{name} {word}" for name, word in each.items())])

    @property
    def requested(self) -> str | None:
        """The device asked for, numbered where it is known to exist; None if nothing was asked for.

        Where frameworks differ, each with its device: `torch gpu:0, tensorflow cpu:0`.
        """
        chosen = self.chosen()
        names = {device.name for device in chosen}
        has = {device.framework for device in chosen}
        if len(names) == 1 and all(one.name in has for one in self._backends() if one.started()):
            return names.pop()
        if chosen:
            return ", ".join(f"{device.framework} {device.name}" for device in chosen)
        return next((word for word in reversed(self._here.words) if word), self.word)

    def asked(self) -> dict[str, str]:
        """The word asked for of each framework that is loaded, where one was."""
        words = {backend.name: self._word_for(backend) for backend in self._backends()}
        return {name: word for name, word in words.items() if word is not None}

    def chosen(self) -> list[Device]:
        """The device asked for of each framework that is loaded and has it."""
        found: list[Device] = []
        for backend in self._backends():
            word = self._word_for(backend)
            if word is not None:
                with suppress(DeviceError):
                    found.append(resolve(word, backend.devices()))
        return found

    def lacking(self) -> list[str]:
        """The frameworks that have started, and lack the device asked for: their work stays where it is."""
        has = {device.framework for device in self.chosen()}
        wanted = [one for one in self._backends() if self._word_for(one) is not None and one.name not in has]
        return [one.name for one in wanted if one.started()]

    def stays(self, values: Mapping[str, object], chosen: Sequence[Device]) -> list[str]:
        """A sentence for each framework of which some of these values stay on another device than chosen."""
        backends = {backend.name: backend for backend in self._backends()}
        said = []
        for device in chosen:
            with suppress(Exception):  # a note that cannot be made is left out; the cell has run
                said.append(backends[device.framework].stays(values, device))
        return [one for one in said if one is not None]

    def request(self, word: str, framework: str | None = None) -> Device | None:
        """Ask for a device from now on, of one framework or of all.

        Returns the device (of the framework loaded last), or None while no framework is loaded. A cell
        that is running goes on on the new device, unless it is inside a device scope of its own. Raises
        as `resolve` does, and then nothing has changed.
        """
        chosen = self._resolve_all(word, framework)
        if framework is None:
            self._word = _plain(word)
            self._words.clear()
        else:
            self._words[framework] = _plain(word)
        scopes = self._here.scopes
        if scopes and all(scope.holds() for scope in scopes[-1]):
            self._leave_all(scopes[-1])
            scopes[-1] = self._enter_all()
        return chosen

    def request_here(self, word: str) -> Device | None:
        """Ask for a device for the rest of the running cell alone; as `request` otherwise."""
        chosen = self._resolve_all(word, None)
        if not self._here.scopes:
            raise UsageError("There is no running cell to move; leave --this-cell out.")
        self._here.words[-1] = _plain(word)
        self._leave_all(self._here.scopes[-1])
        self._here.scopes[-1] = self._enter_all()
        return chosen

    def check(self) -> None:
        """Raise DeviceError where frameworks have started, and none has the device asked for."""
        self._find_all()

    def enter(self) -> None:
        """Put what this thread runs from now on onto the device asked for; may be nested.

        Raises DeviceError where the device is not there; then nothing was entered, and there is nothing
        to leave.
        """
        self._here.scopes.append(self._enter_all())
        self._here.words.append(None)

    def leave(self) -> list[str]:
        """Put back what the last `enter` found; returns notes for the user."""
        self._here.words.pop()
        return self._leave_all(self._here.scopes.pop())

    def framework_loaded(self, backend: Backend) -> None:
        """The running cell has just imported a framework: the device asked for holds for it too."""
        device = self._find(backend)
        if self._here.scopes and device is not None:
            self._here.scopes[-1].append(backend.enter(device))

    def _resolve_all(self, word: str, framework: str | None) -> Device | None:
        """A device for a word: one that has it is enough where frameworks differ (see `lacking`).

        TensorFlow imports JAX where that is installed, and a JAX that nobody uses must neither refuse for
        TensorFlow nor take the memory of the GPU: a framework that has not started is asked last, and only
        while no other has the device.
        """
        chosen: Device | None = None
        refused: list[DeviceError] = []
        asked = [one for one in self._backends() if framework in (None, one.name)]
        for backend in sorted(asked, key=lambda one: not one.started()):
            if chosen is not None and not backend.started():
                break
            try:
                chosen = _device_of(backend, word, f" for {backend.name}" if len(asked) > 1 else "")
            except DeviceError as error:
                refused.append(error)
        if chosen is None and refused:
            hidden = next((one for one in refused if isinstance(one, RestartNeededError)), None)
            raise hidden or (refused[0] if len(refused) == 1 else _nowhere(word, asked))
        return chosen

    def _word_for(self, backend: Backend) -> str | None:
        here = next((word for word in reversed(self._here.words) if word), None)
        return here or self._words.get(backend.name, self._word)

    def _find(self, backend: Backend) -> Device | None:
        """The device asked for; None if nothing was, or where it may still come.

        Before the framework has started, the user's code may define logical devices. Raises DeviceError
        where it has started without the device.
        """
        word = self._word_for(backend)
        if word is None:
            return None
        try:
            device = resolve(word, backend.devices())
            # A framework that has not started may yet find a GPU, and will take it by itself.
            undecided = parse(word)[0] == "any" and device.name.startswith("cpu") and not backend.started()
            return None if undecided else device
        except DeviceError:
            if backend.started():
                raise
            return None

    def _enter_all(self) -> list[Scope]:
        # All are found before one is entered: what raises here leaves nothing half done.
        found = self._find_all()
        return [backend.enter(device) for backend, device in found if device is not None]

    def _find_all(self) -> list[tuple[Backend, Device | None]]:
        """The device asked for of each framework; where another has it, one that lacks it does without."""
        backends = self._backends()
        found: list[tuple[Backend, Device | None]] = []
        refused: list[DeviceError] = []
        for backend in backends:
            try:
                found.append((backend, self._find(backend)))
            except DeviceError as error:
                refused.append(error)
        if refused and not any(device is not None for _, device in found):
            raise refused[0]
        return found

    def _leave_all(self, scopes: list[Scope]) -> list[str]:
        notes = [scope.leave() for scope in reversed(scopes)]
        return [note for note in notes if note is not None]


def _device_of(backend: Backend, word: str, whose: str) -> Device:
    kind, number = parse(word)
    # The first CPU is there before a framework has started; for others it may have to.
    known = kind == "cpu" and not number
    try:
        devices = backend.devices() if known else backend.find_devices()
    except Exception as error:
        raise DeviceError(
            f"{backend.name} could not start its devices ({error}); nothing was changed."
        ) from error
    try:
        return resolve(word, devices, whose)
    except DeviceError:
        hidden = backend.needs_restart() if kind == "gpu" else None
        if hidden is None:
            raise
        raise _after_a_restart(word, devices, whose, hidden) from None


def _nowhere(word: str, backends: Sequence[Backend]) -> DeviceError:
    found = "; ".join(
        f"{one.name} has {', '.join(device.name for device in one.devices()) or 'none'}" for one in backends
    )
    return DeviceError(
        f"There is no device {_plain(word)} here: {found}. Choose one of these; nothing was changed."
    )


def _after_a_restart(word: str, devices: Sequence[Device], whose: str, hidden: str) -> RestartNeededError:
    found = ", ".join(device.name for device in devices) or "none"
    return RestartNeededError(
        hidden,
        f"Then restart the kernel and run the cells up to this one: {RESTART_MENU}.",
        refusal=f"There is no device {_plain(word)} here{whose} before a restart of the kernel: "
        f"found {found}; nothing was changed.",
    )


def _plain(word: str) -> str:
    return word.strip().lower()


class _ThisThread(threading.local):
    def __init__(self) -> None:
        self.scopes: list[list[Scope]] = []
        self.words: list[str | None] = []
