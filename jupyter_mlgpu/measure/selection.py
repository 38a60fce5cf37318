"""The device that the user selects for the cells to come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct

from jupyter_mlgpu.measure.frameworks.base import Backend, Device, Scope
from jupyter_mlgpu.record.device_request import AUTO, EVERY, DeviceWord, names
from jupyter_mlgpu.record.errors import (
    RESTART_MENU,
    DeviceError,
    OtherGpuError,
    RestartNeededError,
    UsageError,
)
from jupyter_mlgpu.record.sentence import Sentence, say


class _Cell(Struct):
    """A running cell: the device scopes it has entered, and its own device word."""

    scopes: list[Scope]
    word: DeviceWord | None = None


class DeviceSelection:
    """The selected device, entered before each cell and left after it.

    A device word holds for every framework, or there is one for each; a cell may have its own. Without a
    word, or with `auto`, a framework chooses by itself (adr/0041).
    """

    def __init__(self, backends: Callable[[], Sequence[Backend]]) -> None:
        self._backends = backends
        self._words: dict[str, DeviceWord] = {}
        self._thread = _ThisThread()

    def words(self) -> dict[str, str]:
        """Return the device word of each framework; the key `EVERY` stands for all others."""
        return {framework: str(word) for framework, word in self._words.items()}

    def requested(self) -> dict[str, str]:
        """Return the device selected for each framework, with its number if it exists; see `DeviceUse`."""
        devices = self.devices()
        has = {device.framework: device.name for device in devices}
        if len(set(has.values())) == 1 and all(
            backend.name in has for backend in self._backends() if backend.started()
        ):
            return {EVERY: devices[0].name}
        own = self._word_of_the_cell()
        return has or (self.words() if own is None else {} if own == AUTO else {EVERY: str(own)})

    def word(self, framework: str) -> DeviceWord | None:
        """Return the word that holds for a framework in this thread, None if it chooses by itself."""
        word = self._word_of_the_cell() or self._words.get(framework) or self._words.get(EVERY)
        return None if word == AUTO else word

    def devices(self) -> list[Device]:
        """Return the selected device of each loaded framework that has it."""
        found: list[Device] = []
        for backend in self._backends():
            word = self.word(backend.name)
            if word is not None:
                with suppress(DeviceError):
                    found.append(word.find(backend.devices()))
        return found

    def lacking(self) -> list[str]:
        """Return the frameworks that have started without the selected device: their work does not move."""
        has = {device.framework for device in self.devices()}
        wanted = [
            backend
            for backend in self._backends()
            if self.word(backend.name) is not None and backend.name not in has
        ]
        return [backend.name for backend in wanted if backend.started()]

    def stays(self, values: Mapping[str, object], devices: Sequence[Device]) -> list[Sentence]:
        """Return a sentence for each framework with values on another device than the given one."""
        backends = {backend.name: backend for backend in self._backends()}
        notes = []
        for device in devices:
            with suppress(Exception):  # a note that cannot be made is left out; the cell has run
                notes.append(backends[device.framework].misplaced_note(values, device))
        return [note for note in notes if note is not None]

    def select(self, word: DeviceWord, framework: str | None = None) -> None:
        """Select a device for the cells to come, for one framework or for all.

        A running cell goes on on the new device, unless it is inside a device scope of the user's. Raises
        DeviceError if no loaded framework has the device; then nothing has changed.
        """
        self._refuse_missing(word, framework)
        if framework is None:
            self._words = {} if word == AUTO else {EVERY: word}
        else:
            self._words = {**self._words, framework: word}
        cells = self._thread.cells
        if cells and all(scope.holds() for scope in cells[-1].scopes):
            self._move(cells[-1])

    def select_for_cell(self, word: DeviceWord) -> None:
        """Select a device for the rest of the running cell only; otherwise like `select`."""
        self._refuse_missing(word, None)
        if not self._thread.cells:
            raise UsageError("There is no running cell to move; leave --this-cell out.")
        cell = self._thread.cells[-1]
        cell.word = word
        self._move(cell)

    def check(self) -> None:
        """Raise DeviceError if frameworks have started and none of them has the selected device."""
        self._find_all()

    def enter(self) -> None:
        """Enter the selected device for what this thread runs from now on; may be nested.

        Raises DeviceError if the device does not exist; then nothing was entered and nothing is to be left.
        """
        self._thread.cells.append(_Cell(_enter_all(self._find_all())))

    def leave(self) -> list[Sentence]:
        """Undo the last `enter`. Returns notes for the user."""
        return _leave_all(self._thread.cells.pop().scopes)

    def framework_loaded(self, backend: Backend) -> None:
        """Enter the selected device for a framework that the running cell has just imported."""
        device = self._find(backend)
        if self._thread.cells and device is not None:
            self._thread.cells[-1].scopes.append(backend.enter(device))

    def _word_of_the_cell(self) -> DeviceWord | None:
        return next((cell.word for cell in reversed(self._thread.cells) if cell.word), None)

    def _refuse_missing(self, word: DeviceWord, framework: str | None) -> None:
        """Raise DeviceError if no framework has a device for the word; one framework that has it is enough.

        TensorFlow imports JAX if that is installed. A JAX that is not used must neither raise here nor take
        the GPU's memory. So frameworks that have not started are asked last, and only if no other has the
        device.
        """
        if word == AUTO:
            return
        found = False
        refused: list[DeviceError] = []
        backends = [backend for backend in self._backends() if framework in (None, backend.name)]
        for backend in sorted(backends, key=lambda backend: not backend.started()):
            if found and not backend.started():
                break
            try:
                _require(
                    backend,
                    word,
                    say(" for {framework}", framework=backend.name) if len(backends) > 1 else "",
                )
                found = True
            except DeviceError as error:
                refused.append(error)
        if refused and not found:
            # These say what to do, and the names of devices alone would not.
            helps = (RestartNeededError, OtherGpuError)
            helpful = next((error for error in refused if isinstance(error, helps)), None)
            each = "; ".join(f"{backend.name} has {names(backend.devices())}" for backend in backends)
            nowhere = say(
                "There is no device {word} here: {found}. Choose one of these; nothing was changed.",
                word=word.as_typed,
                found=each,
            )
            raise helpful or (refused[0] if len(refused) == 1 else DeviceError(nowhere))

    def _find(self, backend: Backend) -> Device | None:
        """Return the selected device, None if none is selected or if it may still appear.

        Before a framework has started, the user's code may define logical devices. Raises DeviceError if the
        framework has started without the device.
        """
        word = self.word(backend.name)
        if word is None:
            return None
        try:
            return word.find(backend.devices())
        except DeviceError:
            if backend.started():
                raise
            return None

    def _find_all(self) -> list[tuple[Backend, Device]]:
        """Return each framework's selected device. Raises DeviceError only if no framework has it."""
        found: list[tuple[Backend, Device]] = []
        refused: list[DeviceError] = []
        for backend in self._backends():
            try:
                device = self._find(backend)
            except DeviceError as error:
                refused.append(error)
            else:
                found += [(backend, device)] if device is not None else []
        if refused and not found:
            raise refused[0]
        return found

    def _move(self, cell: _Cell) -> None:
        devices = self._find_all()  # before anything is left: it may raise
        _leave_all(cell.scopes)
        cell.scopes = _enter_all(devices)


def _enter_all(devices: Sequence[tuple[Backend, Device]]) -> list[Scope]:
    return [backend.enter(device) for backend, device in devices]


def _leave_all(scopes: list[Scope]) -> list[Sentence]:
    notes = [scope.leave() for scope in reversed(scopes)]
    return [note for note in notes if note is not None]


def _require(backend: Backend, word: DeviceWord, whose: str) -> None:
    """Raise DeviceError, with what to do, if a framework lacks a device. May start the framework."""
    # The first CPU exists before a framework has started.
    known = word.kind == "cpu" and not word.number
    try:
        devices = backend.devices() if known else backend.find_devices()
    except Exception as error:
        raise DeviceError(
            say(
                "{framework} could not start its devices ({error}); nothing was changed.",
                framework=backend.name,
                error=error,
            )
        ) from error
    try:
        word.find(devices, whose)
    except OtherGpuError:
        raise
    except DeviceError:
        # What a restart would show is an NVIDIA GPU (`hardware.hidden_by_cuda`).
        may_be_hidden = word.kind == "gpu" and word.named in (None, "cuda")
        hidden = backend.needs_restart() if may_be_hidden else None
        if hidden is None:
            raise
        raise RestartNeededError(
            hidden,
            say("Then restart the kernel and run the cells up to this one: {menu}.", menu=RESTART_MENU),
            refusal=say(
                "There is no device {word} here{whose} until the kernel is restarted: found "
                "{found}; nothing was changed.",
                word=word.as_typed,
                whose=whose,
                found=names(devices),
            ),
        ) from None


class _ThisThread(threading.local):
    def __init__(self) -> None:
        self.cells: list[_Cell] = []
