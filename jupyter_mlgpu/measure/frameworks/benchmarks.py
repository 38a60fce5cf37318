"""What a benchmark asks of a framework: small array programs, and the training of whole models.

Each gives a `CaseRunner`: steps of work made ready on one device.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.frameworks.models import Model
from jupyter_mlgpu.measure.frameworks.precision import emulated_by_gpu, emulated_by_processor, features
from jupyter_mlgpu.record.errors import BenchError
from jupyter_mlgpu.record.sentence import Sentence, say

Operation = Literal["add", "mult", "mult-add"]
Direction = Literal["to-device", "from-device", "ping-pong"]

#: Up to this size a product takes less time than giving it to a device does, so several are given at once.
SMALL_PRODUCT = 1024
#: How many.
AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class ConvolutionCase:
    """Images of `size` x `size` with as many channels in as out, a kernel of 3 x 3, the same size out.

    `separable`: each channel by itself (depthwise), then a product over the channels at each point.
    """

    batch: int
    size: int
    channels: int
    separable: bool
    type_: str

    @property
    def flops(self) -> float:
        """A multiplication and an addition as two; the border's zeros count as numbers."""
        points = self.batch * self.size**2
        one = 9 + self.channels if self.separable else 9 * self.channels
        return 2.0 * points * self.channels * one


class CaseRunner(Protocol):
    """A case made ready on one device: its data lies there, and what is compiled ahead is compiled."""

    #: The type in which the arithmetic ran, as `float32`, and where that differs from the one asked for or is
    #: emulated, a sentence that says so.
    type_ran: str
    note: str | None

    def run(self, steps: int) -> None:
        """Do so many steps on the data; need not wait for them. The first call may still compile."""

    def wait(self) -> None:
        """Wait until all steps given so far are done: what was left to the device has then happened."""

    def close(self) -> None:
        """Free what lies on the device."""


class Programs(Protocol):
    """One framework's array programs. Each makes a runner; BenchError where it cannot run there."""

    def gemm(self, device: Device, n: int, type_: str) -> CaseRunner:
        """A step is a product of two n x n matrices of normally distributed numbers."""

    def stream(self, device: Device, operation: Operation, count: int) -> CaseRunner:
        """A step goes once over arrays of `count` float32: x + b, x * b or x * b + c, written to x."""

    def transfer(self, device: Device, direction: Direction, count: int) -> CaseRunner:
        """A step moves `count` float32 once; ping-pong: to and fro, and either side adds 1 to each."""

    def conv(self, device: Device, shape: ConvolutionCase) -> CaseRunner:
        """A step is one convolution, forward."""

    def dispatch(self, device: Device, synchronised: bool) -> CaseRunner:
        """A step adds 1 to a single number; synchronised: and waits for it."""


def _nothing() -> None:
    return None


@dataclass(slots=True)
class Loop(CaseRunner):
    """A runner made of functions: `step` does so many steps, `done` waits, `undo` puts settings back."""

    step: Callable[[int], None]
    done: Callable[[], None]
    type_ran: str = "float32"
    note: str | None = None
    undo: Callable[[], None] = field(default=_nothing)

    def run(self, steps: int) -> None:
        self.step(steps)

    def wait(self) -> None:
        self.done()

    def close(self) -> None:
        """Let go of the arrays, which the functions hold."""
        self.undo()
        self.step, self.done, self.undo = lambda steps: None, _nothing, _nothing


def portions(steps: int, at_once: int) -> tuple[int, int]:
    """How many programs of `at_once` steps, and how many of one, make so many steps."""
    return divmod(steps, at_once)


def repeated(step: Callable[[], object]) -> Callable[[int], None]:
    """A function that does so many of a step."""

    def run(steps: int) -> None:
        for _ in range(steps):
            step()

    return run


def refuse_type(device: Device, type_: str) -> None:
    """Refuse tf32 and float64 where the hardware has none.

    Metal has no double (Metal Shading Language Specification, 2.1).
    """
    if type_ == "tf32" and device.kind != "cuda":
        raise BenchError(f"tf32 is a mode of NVIDIA's GPUs, and {device.name} is none.")
    if type_ == "float64" and device.kind == "metal":
        raise BenchError("Metal has no float64: such a product would run on the CPU, and is left out here.")


def host_is_device(device: Device) -> None:
    """Refuse to move data where there is nothing between host and device."""
    if device.kind == "cpu":
        raise BenchError(f"{device.name} works in the host's own memory, so there is nothing to transfer.")


def emulated(device: Device, type_: str, capability: Callable[[], tuple[int, int] | None]) -> str | None:
    """A sentence where a type is emulated; `capability` tells the compute capability of an NVIDIA GPU."""
    if device.kind == "cuda":
        found = capability()
        return None if found is None else emulated_by_gpu(type_, found)
    return emulated_by_processor(type_, features()) if device.kind == "cpu" else None


#: Names of options that are on together.
Set = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that can be switched on; `model` and `device` name the kind that it needs, None any."""

    says: str
    model: str | None = None
    device: str | None = None
    training: bool = False


#: Pairs that ask for two different things at once.
_EXCLUDE = (
    ("bf16", "bf16_weights"),
    ("bf16", "fp16"),
    ("compile", "max_autotune"),
    ("compile", "reduce_overhead"),
    ("max_autotune", "reduce_overhead"),
    ("reduce_overhead", "cuda_graphs"),
    ("function", "xla"),
)


@dataclass(frozen=True, slots=True)
class Training:
    """What a framework can do with the models: training, and inference.

    `sets` gives the sets of `options` that are measured one after another for a model on a kind of device, so
    that each difference shows what one option does: the plainest first and the best last. `start` makes a
    model ready (device, model, batch, options, whether it trains), and raises BenchError where it cannot.
    """

    framework: str
    options: Mapping[str, Option]
    sets: Callable[[Model, str], tuple[Set, ...]]
    start: Callable[[Device, Model, int, Set, bool], CaseRunner]

    def ladder(self, model: Model, device_kind: str, training: bool) -> tuple[Set, ...]:
        """The sets in training or in inference, which has no optimizer, and nothing to write over."""
        found = self.sets(model, device_kind)
        if training:
            return found
        left = (tuple(one for one in each if not self.options[one].training) for each in found)
        return tuple(dict.fromkeys(left))

    def why_not(
        self, model: Model, options: Collection[str], device_kind: str, training: bool = True
    ) -> Sentence | None:
        """Why these options cannot be had together, for this model on this kind of device; else None."""
        for name in options:
            option = self.options.get(name)
            if option is None:
                return say(
                    "Unknown option {name} for {framework}. Choose from {known}.",
                    name=repr(name),
                    framework=self.framework,
                    known=", ".join(self.options),
                )
            if option.model not in (None, model.kind):
                return say(
                    "{name} is for models that take {kind}s, but {model} takes {taken}s.",
                    name=name,
                    kind=option.model or "",
                    model=model.title,
                    taken=model.kind,
                )
            if option.device not in (None, device_kind):
                return say(
                    "{name} needs a {wanted} device, but this is a {found} device.",
                    name=name,
                    wanted=option.device or "",
                    found=device_kind,
                )
            if option.training and not training:
                return say("{name} is for training, but this is inference.", name=name)
        for first, second in _EXCLUDE:
            if first in options and second in options:
                return say(
                    "{first} and {second} are mutually exclusive: choose one.", first=first, second=second
                )
        return None


#: What compiles for a minute before its first step.
_COMPILING = {"compile", "reduce_overhead", "max_autotune", "xla"}


def quick(sets: tuple[Set, ...]) -> tuple[Set, ...]:
    """Of a ladder the best set that is ready at once."""
    return tuple(one for one in sets if not _COMPILING & set(one))[-1:]
