"""The device on which the user wants the cells to come, and putting them there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from jupyter_mlgpu.measure.frameworks.base import Backend, Device, Scope
from jupyter_mlgpu.record.device_request import AUTO, EVERY, DeviceWord, names
from jupyter_mlgpu.record.errors import RESTART_MENU, DeviceError, RestartNeededError, UsageError
from jupyter_mlgpu.record.sentence import Sentence, say


@dataclass(slots=True)
class _Cell:
    """A cell that runs: the scopes it was put into, and the word that it has of its own."""

    scopes: list[Scope]
    word: DeviceWord | None = None


class DeviceSelection:
    """The device of the cells to come, entered before each of them and left after it.

    One word holds for every framework, or a word for each; a cell may have a word of its own. Without one,
    or with `auto`, a framework is left alone and chooses by itself (adr/0041).
    """

    def __init__(self, backends: Callable[[], Sequence[Backend]]) -> None:
        self._backends = backends
        self._words: dict[str, DeviceWord] = {}
        self._thread = _ThisThread()

    def words(self) -> dict[str, str]:
        """Framework -> the word selected for it from now on; under `EVERY`, for all others."""
        return {framework: str(word) for framework, word in self._words.items()}

    def requested(self) -> dict[str, str]:
        """Framework -> the device selected for it, numbered where it is known to exist; see `DeviceUse`."""
        devices = self.devices()
        has = {device.framework: device.name for device in devices}
        if len(set(has.values())) == 1 and all(one.name in has for one in self._backends() if one.started()):
            return {EVERY: devices[0].name}
        own = self._word_of_the_cell()
        return has or (self.words() if own is None else {} if own == AUTO else {EVERY: str(own)})

    def word(self, framework: str) -> DeviceWord | None:
        """The word that holds for a framework in this thread now; None where it chooses by itself."""
        word = self._word_of_the_cell() or self._words.get(framework) or self._words.get(EVERY)
        return None if word == AUTO else word

    def devices(self) -> list[Device]:
        """The device selected of each framework that is loaded and has it."""
        found: list[Device] = []
        for backend in self._backends():
            word = self.word(backend.name)
            if word is not None:
                with suppress(DeviceError):
                    found.append(word.find(backend.devices()))
        return found

    def lacking(self) -> list[str]:
        """The frameworks that have started, and lack the device selected: their work stays where it is."""
        has = {device.framework for device in self.devices()}
        wanted = [one for one in self._backends() if self.word(one.name) is not None and one.name not in has]
        return [one.name for one in wanted if one.started()]

    def stays(self, values: Mapping[str, object], devices: Sequence[Device]) -> list[Sentence]:
        """A sentence for each framework of which some of these values stay on another device than these."""
        backends = {backend.name: backend for backend in self._backends()}
        said = []
        for device in devices:
            with suppress(Exception):  # a note that cannot be made is left out; the cell has run
                said.append(backends[device.framework].misplaced_note(values, device))
        return [one for one in said if one is not None]

    def select(self, word: DeviceWord, framework: str | None = None) -> None:
        """Put the cells to come onto a device, of one framework or of all.

        A cell that is running goes on on the new device, unless it is inside a device scope of its own.
        Raises DeviceError where no framework that is loaded has the device, and then nothing has changed.
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
        """Put the rest of the running cell alone onto a device; as `select` otherwise."""
        self._refuse_missing(word, None)
        if not self._thread.cells:
            raise UsageError("There is no running cell to move; leave --this-cell out.")
        cell = self._thread.cells[-1]
        cell.word = word
        self._move(cell)

    def check(self) -> None:
        """Raise DeviceError where frameworks have started, and none has the device selected."""
        self._find_all()

    def enter(self) -> None:
        """Put what this thread runs from now on onto the device selected; may be nested.

        Raises DeviceError where the device is not there; then nothing was entered, and there is nothing
        to leave.
        """
        self._thread.cells.append(_Cell(_enter_all(self._find_all())))

    def leave(self) -> list[Sentence]:
        """Put back what the last `enter` found; returns notes for the user."""
        return _leave_all(self._thread.cells.pop().scopes)

    def framework_loaded(self, backend: Backend) -> None:
        """The running cell has just imported a framework: the device selected holds for it too."""
        device = self._find(backend)
        if self._thread.cells and device is not None:
            self._thread.cells[-1].scopes.append(backend.enter(device))

    def _word_of_the_cell(self) -> DeviceWord | None:
        return next((cell.word for cell in reversed(self._thread.cells) if cell.word), None)

    def _refuse_missing(self, word: DeviceWord, framework: str | None) -> None:
        """Raise DeviceError for a word that no framework has a device for; one that has it is enough.

        TensorFlow imports JAX where that is installed, and a JAX that nobody uses must neither refuse for
        TensorFlow nor take the memory of the GPU: a framework that has not started is asked last, and only
        while no other has the device.
        """
        if word == AUTO:
            return
        found = False
        refused: list[DeviceError] = []
        backends = [one for one in self._backends() if framework in (None, one.name)]
        for backend in sorted(backends, key=lambda one: not one.started()):
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
            hidden = next((one for one in refused if isinstance(one, RestartNeededError)), None)
            each = "; ".join(f"{one.name} has {names(one.devices())}" for one in backends)
            nowhere = say(
                "There is no device {word} here: {found}. Choose one of these; nothing was changed.",
                word=str(word),
                found=each,
            )
            raise hidden or (refused[0] if len(refused) == 1 else DeviceError(nowhere))

    def _find(self, backend: Backend) -> Device | None:
        """The device selected; None if none was, or where it may still come.

        Before the framework has started, the user's code may define logical devices. Raises DeviceError
        where it has started without the device.
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
        """The device selected of each framework; where another has it, one that lacks it does without."""
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
        devices = self._find_all()  # first: what raises leaves nothing half done
        _leave_all(cell.scopes)
        cell.scopes = _enter_all(devices)


def _enter_all(devices: Sequence[tuple[Backend, Device]]) -> list[Scope]:
    return [backend.enter(device) for backend, device in devices]


def _leave_all(scopes: list[Scope]) -> list[Sentence]:
    notes = [scope.leave() for scope in reversed(scopes)]
    return [note for note in notes if note is not None]


def _require(backend: Backend, word: DeviceWord, whose: str) -> None:
    """Raise DeviceError, with what to do, for a device that a framework lacks; it may start for that."""
    # The first CPU is there before a framework has started.
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
    except DeviceError:
        hidden = backend.needs_restart() if word.kind == "gpu" else None
        if hidden is None:
            raise
        raise RestartNeededError(
            hidden,
            say("Then restart the kernel and run the cells up to this one: {menu}.", menu=RESTART_MENU),
            refusal=say(
                "There is no device {word} here{whose} until the kernel is restarted: found "
                "{found}; nothing was changed.",
                word=str(word),
                whose=whose,
                found=names(devices),
            ),
        ) from None


class _ThisThread(threading.local):
    def __init__(self) -> None:
        self.cells: list[_Cell] = []
