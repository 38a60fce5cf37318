"""The interface between benchmarks and a framework: small array programs, and the training of whole models.

Each returns a `CaseRunner`, which runs prepared steps on one device.
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

#: Up to this size, computing a product takes less time than launching it, so several are launched together.
SMALL_PRODUCT = 1024
#: The number of products that are launched together.
AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class ConvolutionCase:
    """A 3 x 3 convolution of `size` x `size` images with equal numbers of input and output channels.

    The output has the size of the input. If `separable`, each channel is convolved by itself (depthwise), and
    a product over the channels at each point follows.
    """

    batch: int
    size: int
    channels: int
    separable: bool
    type_: str

    @property
    def flops(self) -> float:
        """Floating-point operations, including those with zeros of the border; a multiply-add is two."""
        points = self.batch * self.size**2
        one = 9 + self.channels if self.separable else 9 * self.channels
        return 2.0 * points * self.channels * one


class CaseRunner(Protocol):
    """A case prepared on one device: its data lies there, and ahead-of-time compilation is done."""

    #: The type in which the arithmetic ran, as `float32`. If it differs from the requested one or is
    #: emulated, `note` is a sentence that says so.
    type_ran: str
    note: str | None

    def run(self, steps: int) -> None:
        """Run `steps` steps, possibly without waiting for them. The first call may still compile."""

    def wait(self) -> None:
        """Wait until all steps launched so far are done."""

    def close(self) -> None:
        """Free the memory on the device."""


class Programs(Protocol):
    """One framework's array programs. Each method raises BenchError if the case cannot run on the device."""

    def gemm(self, device: Device, n: int, type_: str) -> CaseRunner:
        """Return a runner whose step multiplies two n x n matrices of normally distributed numbers."""

    def stream(self, device: Device, operation: Operation, count: int) -> CaseRunner:
        """Return a runner whose step writes x + b, x * b or x * b + c to x; arrays have `count` float32."""

    def transfer(self, device: Device, direction: Direction, count: int) -> CaseRunner:
        """Return a runner whose step copies `count` float32 once.

        A step of ping-pong copies them to the device and back, and adds 1 to each on either side.
        """

    def conv(self, device: Device, shape: ConvolutionCase) -> CaseRunner:
        """Return a runner whose step is one forward convolution."""

    def dispatch(self, device: Device, synchronised: bool) -> CaseRunner:
        """Return a runner whose step adds 1 to a single number, and waits for it if `synchronised`."""


def _nothing() -> None:
    return None


@dataclass(slots=True)
class Loop(CaseRunner):
    """A runner made of functions: `step` runs steps, `done` waits, `undo` restores settings."""

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
        """Restore settings and drop the functions, which hold the arrays."""
        self.undo()
        self.step, self.done, self.undo = lambda steps: None, _nothing, _nothing


def repeated(step: Callable[[], object]) -> Callable[[int], None]:
    """Return a function that calls `step` as many times as its argument says."""

    def run(steps: int) -> None:
        for _ in range(steps):
            step()

    return run


def refuse_type(device: Device, type_: str) -> None:
    """Raise BenchError for tf32 and float64 if the hardware does not support them.

    Metal has no double (Metal Shading Language Specification, 2.1).
    """
    if type_ == "tf32" and device.kind != "cuda":
        raise BenchError(f"tf32 needs an NVIDIA GPU, and {device.name} is not an NVIDIA GPU.")
    if type_ == "float64" and device.kind == "metal":
        raise BenchError("Metal has no float64: such a product would run on the CPU, and is left out here.")


def refuse_transfer_on_cpu(device: Device) -> None:
    """Raise BenchError for a CPU, which needs no copies."""
    if device.kind == "cpu":
        raise BenchError(f"{device.name} works in the host's own memory, so there is nothing to transfer.")


def emulated(device: Device, type_: str, capability: Callable[[], tuple[int, int] | None]) -> str | None:
    """Return a sentence if a type is emulated; `capability` returns an NVIDIA GPU's compute capability."""
    if device.kind == "cuda":
        found = capability()
        return None if found is None else emulated_by_gpu(type_, found)
    return emulated_by_processor(type_, features()) if device.kind == "cpu" else None


#: Names of options that are used together.
Set = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Option:
    """An option. `model` and `device` name the kind that it needs; None means any.

    `slow_to_start`: the first step waits up to a minute for a compiler.
    """

    says: str
    model: str | None = None
    device: str | None = None
    training: bool = False
    slow_to_start: bool = False


#: Pairs of options that contradict each other.
_EXCLUDE = (
    ("bf16", "bf16_weights"),
    ("bf16", "fp16"),
    ("compile", "compile_layers"),
    ("compile", "max_autotune"),
    ("compile", "reduce_overhead"),
    ("compile_layers", "max_autotune"),
    ("compile_layers", "reduce_overhead"),
    ("max_autotune", "reduce_overhead"),
    ("reduce_overhead", "cuda_graphs"),
    ("function", "xla"),
)


@dataclass(frozen=True, slots=True)
class Training:
    """A framework's training and inference of the models.

    `sets` returns the sets of `options` that are measured one after another with a model on a kind of
    device: the plainest first and the best last, so that each difference shows the effect of one option.
    `fastest` returns the few that may be the fastest, depending on the machine; those that start slowly are
    last. `start` prepares a model (device, model, batch, options, training or inference), and raises
    BenchError if it cannot.
    """

    framework: str
    options: Mapping[str, Option]
    sets: Callable[[Model, str], tuple[Set, ...]]
    fastest: Callable[[Model, str], tuple[Set, ...]]
    start: Callable[[Device, Model, int, Set, bool], CaseRunner]

    def ladder(self, model: Model, device_kind: str, training: bool) -> tuple[Set, ...]:
        """Return the sets of options for training or for inference, from the plainest to the best."""
        return self._sets_for(self.sets(model, device_kind), training)

    def candidates(self, model: Model, device_kind: str, training: bool) -> tuple[Set, ...]:
        """Return the sets of options of which one is the fastest on this kind of device."""
        return self._sets_for(self.fastest(model, device_kind), training)

    def slow_to_start(self, options: Collection[str]) -> bool:
        """Return True if the first step with these options waits up to a minute for a compiler."""
        return any(self.options[one].slow_to_start for one in options)

    def _sets_for(self, sets: tuple[Set, ...], training: bool) -> tuple[Set, ...]:
        # Inference has no optimizer and no weights to overwrite, so options for training are left out.
        if training:
            return sets
        left = (tuple(one for one in options if not self.options[one].training) for options in sets)
        return tuple(dict.fromkeys(left))

    def why_not(
        self, model: Model, options: Collection[str], device_kind: str, training: bool = True
    ) -> Sentence | None:
        """Return why these options cannot be combined for this model and kind of device; None if they can."""
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
