"""The commands behind `%mlc_device` and the sidebar's device list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from jupyter_mlgpu.jupyter.notebook.browser import device_list
from jupyter_mlgpu.jupyter.notebook.cell.transform import THIS_CELL
from jupyter_mlgpu.measure.frameworks import hardware, registry
from jupyter_mlgpu.measure.frameworks.base import Backend, Device
from jupyter_mlgpu.measure.probes.nvml import Nvml
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.device_request import AUTO, DeviceWord, in_words
from jupyter_mlgpu.record.errors import DeviceError, UsageError
from jupyter_mlgpu.record.extras import install_line
from jupyter_mlgpu.record.option_parser import magic_parser, unknown
from jupyter_mlgpu.record.sentence import Sentence, below, joined, listed, say


class DeviceCommands:
    """The commands behind `%mlc_device`. They raise our errors, whose text is written for the user."""

    def __init__(self, runtime: Runtime, tell: Callable[[], None]) -> None:
        """Set the runtime; `tell` informs browsers that a device was selected."""
        self._runtime = runtime
        self._selection = runtime.selection
        self._tell = tell

    def run(self, line: str) -> str:
        """Run `%mlc_device LINE` and return the text to print."""
        help_text = say(
            "Frameworks are {known}; `%mlc_device?` explains.", known=", ".join(registry.FRAMEWORKS)
        )
        parser = magic_parser("%mlc_device", help_text)
        parser.add_argument("words", nargs="*")
        parser.add_argument("--framework", type=str.lower)
        arguments = parser.parse_line(line.removesuffix(THIS_CELL).split())
        word, framework = " ".join(arguments.words), arguments.framework
        if line.endswith(THIS_CELL):
            if framework is not None or word in ("", "status", "list"):
                raise UsageError(say("%%mlc_device takes one device, for example `%%mlc_device cpu`."))
            return self._select_for_cell(DeviceWord.parse(word))
        if word == "":
            return self.status()
        if word == "status":
            from jupyter_mlgpu.jupyter.notebook.magics.memory import report  # rarely used

            return below(self.status(), report())
        if word == "list":
            return self.list(framework)
        return self.select(DeviceWord.parse(word, ("status", "list")), framework)

    def select(self, word: DeviceWord, framework: str | None = None, *, importing: bool = True) -> Sentence:
        """Run `%mlc_device WORD` and return the sentence to print.

        If only a framework knows if the device exists, the framework is imported. With `importing=False`, as
        from the sidebar, DeviceError is raised instead: an import takes seconds and may print, so a user must
        request it in a cell.
        """
        if word == AUTO:
            return self._select_automatic(framework)
        if importing:
            _import_for(word, framework)
        else:
            _refuse_to_import_for(word, framework)
        self._selection.select(word, framework)
        self._tell()
        devices = [one for one in self._selection.devices() if framework in (None, one.framework)]
        if not devices:
            return say("Cells will run on {device} once a framework is imported.", device=word.as_typed)
        return joined(
            say("Cells run on {devices} from now on.", devices=_named(devices)),
            *self._lacking(),
            *_gpu_notes(devices),
            say("Anything already on another device stays there."),
        )

    def _select_automatic(self, framework: str | None) -> Sentence:
        """Run `%mlc_device auto`, which needs no import."""
        if framework is not None and framework not in registry.FRAMEWORKS:
            raise UsageError(unknown(say("framework"), framework, registry.FRAMEWORKS, "--framework"))
        self._selection.select(AUTO, framework)
        self._tell()
        return joined(
            say("Automatic: each framework chooses its own device from now on.")
            if framework is None
            else say(
                "Automatic: {framework} chooses its own device from now on.",
                framework=registry.title(framework),
            ),
            say("Anything already on another device stays there."),
        )

    def status(self) -> Sentence:
        """Run `%mlc_device` and return the text to print."""
        device = in_words(self._selection.requested())
        requested = (
            say("Requested device: {device}.", device=device)
            if device
            else say("Device: Automatic, so each framework chooses its own device.")
        )
        last = self._runtime.store.records()[-1:]
        from jupyter_mlgpu.show.receipts import head  # imported here because loading does not need it

        ran = [say("The last cell {where}.", where=head.where(one)) for one in last if one.device.ran_on]
        return joined(
            requested, *ran, say("`%mlc_device list` shows the devices; `%mlc_device?` explains the options.")
        )

    def list(self, framework: str | None = None) -> str:
        """Run `%mlc_device list`: a line for each device, and one for each kind that is missing."""
        if framework is not None or (not registry.loaded() and len(registry.importable()) == 1):
            _import(framework, "list")
        backends = [one for one in registry.loaded() if framework in (None, one.name)]
        auto = device_list.automatic()
        lines: list[Sentence | str] = [say("{word}{about}", word=f"{auto.word:8}", about=auto.about)]
        lines += [line for backend in backends for line in _lines(backend)]
        if not registry.loaded() and not registry.importable():
            lines += _without_framework()
        if framework is None:
            replayed = [_replayed(one) for replay in self._runtime.replays for one in replay.devices()]
            lines += dict.fromkeys(replayed)  # without duplicates: a file may be replayed again
            lines += [
                say(
                    "{title} is installed but not imported: `%mlc_device list --framework "
                    "{name}` imports it.",
                    title=registry.title(name),
                    name=name,
                )
                for name in registry.importable()
            ]
        return below(*lines)

    def find_gpu(self) -> None:
        """Raise DeviceError if no installed framework has a GPU; imports them one after another."""
        problems = []
        for name in registry.importable():
            try:
                self.select(DeviceWord("gpu"), name)
            except DeviceError as error:
                problems.append(str(error))
            else:
                return
        if len(problems) < 2:
            self.select(DeviceWord("gpu"))  # raises an error that says what is missing or what to install
        raise DeviceError(" ".join(problems))

    def _select_for_cell(self, word: DeviceWord) -> str:
        _import_for(word, None)
        self._selection.select_for_cell(word)
        if word == AUTO:
            return say("In this cell, each framework chooses its own device.")
        devices = self._selection.devices()
        place = _named(devices) if devices else word.as_typed
        return joined(say("This cell runs on {place}.", place=place), *self._lacking(), *_gpu_notes(devices))

    def _lacking(self) -> Sequence[Sentence]:
        """Return a sentence on the frameworks that have no such device."""
        match [registry.title(name) for name in self._selection.lacking()]:
            case []:
                return []
            case [one]:
                return [say("{name} has no such device: its work stays where it was.", name=one)]
            case several:
                return [
                    say(
                        "{names} have no such device: their work stays where it was.",
                        names=listed(several),
                    )
                ]


def _import_for(word: DeviceWord, framework: str | None) -> None:
    if framework is not None or word.needs_framework:
        _import(framework, word.as_typed)


def _import(framework: str | None, word: str) -> None:
    """Import a framework to query its devices, and print that, because it takes a while."""
    if framework is None:
        if registry.loaded():
            return
        installed = registry.importable()
        if len(installed) > 1:
            named = ", ".join(map(registry.title, installed))
            raise DeviceError(
                say(
                    "No framework is imported yet, and several are installed ({names}). Import "
                    "the one you use, or name it, as in `%mlc_device {word} --framework "
                    "{framework}`. Nothing was changed.",
                    names=named,
                    word=word,
                    framework=installed[0],
                )
            )
        framework = next(iter([*installed, *registry.FRAMEWORKS]))
    if framework not in registry.FRAMEWORKS:
        raise UsageError(unknown(say("framework"), framework, registry.FRAMEWORKS, "--framework"))
    if not registry.backend(framework).loaded():
        _import_one(framework)


def _import_one(name: str) -> None:
    if name in registry.importable():
        print(f"Importing {registry.title(name)} to see its devices…", flush=True)
    registry.import_framework(name)


def _refuse_to_import_for(word: DeviceWord, framework: str | None) -> None:
    loaded = [one.name for one in registry.loaded()]
    if framework is not None and framework not in loaded:
        raise DeviceError(
            say(
                "{framework} is not imported in this kernel; nothing was changed.",
                framework=f"{framework!r:.40}",
            )
        )
    if not loaded and word.needs_framework:
        raise DeviceError(
            say(
                "No framework is imported yet, so it is not known whether device {word} "
                "exists. Import a framework in a cell, or run `%mlc_device {word}`, which "
                "imports one. Nothing was changed.",
                word=word.as_typed,
            )
        )


def _gpu_notes(devices: Sequence[Device]) -> list[Sentence]:
    """Return the frameworks' notes on what selecting a GPU changes."""
    gpus = [one for one in devices if one.kind != "cpu" and one.framework in registry.FRAMEWORKS]
    notes = [registry.framework(one.framework).gpu_note for one in gpus]
    return [note for note in notes if note is not None]


def _named(devices: list[Device]) -> str:
    return ", ".join(f"{one.name} ({registry.title(one.framework)})" for one in devices)


def _lines(backend: Backend) -> list[str]:
    framework = registry.title(backend.name)
    try:
        devices = backend.find_devices()
    except Exception as error:  # a plug-in does not start; its own message says why
        return [say("{framework} could not start its devices: {error}", framework=framework, error=error)]
    lines = [_line(backend, one) for one in devices]
    _, missing = device_list.offered(backend, devices)
    return [*lines, *(say("gpu:    none: {why}", why=one) for one in missing)]


def _without_framework() -> list[Sentence]:
    """Return the machine's hardware, and what to install so that cells can use it."""
    named = [("cpu", hardware.cpu()), *(("gpu", one) for one in hardware.nvidia_gpus(Nvml()))]
    lines = [say("{word}{about}", word=f"{word:8}", about=one.hardware or "") for word, one in named]
    first = registry.BENCHMARKED_FIRST
    return [
        *lines,
        say(
            "No framework is installed in this kernel's Python, so there is no device to "
            "choose: run `%{line}`, or install another framework ({others}), and restart the kernel.",
            line=install_line(first),
            others=", ".join(f"[{name}]" for name in registry.OWN if name != first),
        ),
    ]


def _replayed(device: Device) -> str:
    return say(
        "{device}; cells do not run there", device=f"{device.name:8}{device.kind}  {device.native_name}"
    )


def _line(backend: Backend, device: Device) -> str:
    details = backend.details(device)
    memory = None if details.memory is None else say("{size} memory", size=units.size(details.memory))
    most = backend.usable_memory(device)
    usable = most and say(
        "at most {size} recommended for the GPU ({source})", size=units.size(most.bytes), source=most.source
    )
    tested = sorted({str(one.verified) for one in backend.capabilities(device) if one.verified})
    verification = tested or [say("not yet tested on such hardware")]
    known = [part for part in (details.hardware, memory, usable, details.driver) if part]
    name = f"{device.name:8}{device.kind:8}{registry.title(device.framework)} {device.native_name}"
    return reduce(lambda one, more: say("{one}; {more}", one=one, more=more), [*known, *verification], name)
