"""The contract of the array programs: what each framework writes in its own words, and what they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from jupyter_mlgpu.errors import BenchError
from jupyter_mlgpu.frameworks.base import Device
from jupyter_mlgpu.frameworks.precision import emulated_by_processor, features
from jupyter_mlgpu.frameworks.runner import Runner

Operation = Literal["add", "mult", "mult-add"]
Direction = Literal["to-device", "from-device", "ping-pong"]

#: Up to this size a product takes less time than giving it to a device does, so several are given at once.
SMALL_PRODUCT = 1024
#: How many.
AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Convolution:
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


class Programs(Protocol):
    """One framework's array programs. Each makes a runner; BenchError where it cannot run there."""

    def gemm(self, device: Device, n: int, type_: str) -> Runner:
        """A step is a product of two n x n matrices of normally distributed numbers."""
        ...

    def stream(self, device: Device, operation: Operation, count: int) -> Runner:
        """A step goes once over arrays of `count` float32: x + b, x * b or x * b + c, written to x."""
        ...

    def transfer(self, device: Device, direction: Direction, count: int) -> Runner:
        """A step moves `count` float32 once; ping-pong: to and fro, and either side adds 1 to each."""
        ...

    def conv(self, device: Device, shape: Convolution) -> Runner:
        """A step is one convolution, forward."""
        ...

    def dispatch(self, device: Device, synchronised: bool) -> Runner:
        """A step adds 1 to a single number; synchronised: and waits for it."""
        ...


def _nothing() -> None:
    return None


@dataclass(slots=True)
class Loop:
    """A runner made of functions: `step` does so many steps, `done` waits, `undo` puts settings back."""

    step: Callable[[int], None]
    done: Callable[[], None]
    type_ran: str = "float32"
    note: str | None = None
    undo: Callable[[], None] = field(default=_nothing)

    def run(self, steps: int) -> None:
        """See `jupyter_mlgpu.frameworks.runner.Runner`."""
        self.step(steps)

    def wait(self) -> None:
        """See `jupyter_mlgpu.frameworks.runner.Runner`."""
        self.done()

    def close(self) -> None:
        """See `jupyter_mlgpu.frameworks.runner.Runner`; lets go of the arrays, which the functions hold."""
        self.undo()
        self.step, self.done, self.undo = lambda steps: None, _nothing, _nothing


def portions(steps: int, at_once: int) -> tuple[int, int]:
    """How many programs of `at_once` steps, and how many of one, make so many steps."""
    return divmod(steps, at_once)


def only_cuda(device: Device, type_: str) -> None:
    """Refuse tf32 where there is none."""
    if type_ == "tf32" and device.kind != "cuda":
        raise BenchError(f"tf32 is a mode of NVIDIA's GPUs, and {device.name} is none.")


def no_doubles_on_metal(device: Device, type_: str) -> None:
    """Refuse float64 where the hardware has none (Metal Shading Language Specification, 2.1: no double)."""
    if type_ == "float64" and device.kind == "metal":
        raise BenchError("Metal has no float64: such a product would run on the CPU, and is left out here.")


def host_is_device(device: Device) -> None:
    """Refuse to move data where there is nothing between host and device."""
    if device.kind == "cpu":
        raise BenchError(f"{device.name} works in the host's own memory, so there is nothing to transfer.")


def note_of_cpu(device: Device, type_: str) -> str | None:
    """Whether a type is emulated, where the device is a processor."""
    return emulated_by_processor(type_, features()) if device.kind == "cpu" else None
