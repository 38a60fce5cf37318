"""The parts of a benchmark: a case says what a step does and needs, a runner does steps on one device.

This is the contract between the driver (`measuring.py`), which times and judges, and the cases, which know a
framework. A case is plain data until `prepare` is called; no framework is imported before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jupyter_mlgpu.experiment.bench.quantity import Quantity
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.frameworks.benchmarks import CaseRunner
from jupyter_mlgpu.record.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Needs:
    """The needs of a case: bytes of the device's memory at the peak (an upper estimate), and a device.

    `kinds` are kinds of devices (`Device.kind`: cpu, cuda, rocm, metal); empty means any of them.
    """

    bytes: int
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Work:
    """The work of one step: `items` of `unit` (images, bytes, launches), and its floating-point operations.

    `flops` counts a multiplication and an addition as two; it is None with `why_no_flops`. `formula` says in
    words how both are counted. `moved` is the least number of bytes that a step reads and writes, for the
    roofline; None if it is not known.
    """

    items: float
    unit: str
    flops: float | None = None
    why_no_flops: Sentence | None = None
    formula: str = ""
    moved: float | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One benchmark with all its parameters, for one framework.

    `name` is that of the family (`gemm`, `resnet50`), `parameters` distinguish cases of a family (`{"n":
    1024}`, `{"batch": 128, "mode": "train"}`), `options` are named fast paths (`compile`, `channels_last`).
    `type_asked` is the type of the numbers. `peak_type` is the type of the matrix products in it, with whose
    measured GEMM peak the case is compared: `bfloat16` in mixed precision. `chart` is the parameter on the
    axis of the family's chart. If `burn_s` is set, the case runs for so many seconds, with the sensors read
    after each sample. `slow_to_start`: it compiles for up to a minute before its first step. `profiled`: it
    runs once more under the framework's profiler, to explain its speed by its kernels.

    `start` makes the runner. It raises BenchError with a sentence if the case cannot run on the device.
    """

    name: str
    framework: str
    parameters: Mapping[str, Any]
    work: Work
    needs: Needs
    start: Callable[[Device], CaseRunner] = field(repr=False, compare=False)
    type_asked: str = "float32"
    peak_type: str | None = None
    options: tuple[str, ...] = ()
    chart: str | None = None
    burn_s: float | None = None
    slow_to_start: bool = False
    profiled: bool = False

    def prepare(self, device: Device) -> CaseRunner:
        """Return the case ready to run on a device. This may take long (compiling), and is not timed."""
        return self.start(device)

    @property
    def label(self) -> str:
        """The case in a few words (see the function `label`)."""
        return label(self.name, self.parameters, self.type_asked, self.options)


def label(name: str, parameters: Mapping[str, Any], type_: str, options: Sequence[str]) -> str:
    """Return a label such as `gemm n=1024 float32` or `resnet50 train batch=128 bfloat16 +compile`."""
    named = [str(value) if isinstance(value, str) else f"{key}={value}" for key, value in parameters.items()]
    return " ".join([name, *named, type_, *(f"+{one}" for one in options)])


@dataclass(frozen=True, slots=True)
class CaseRequest:
    """A request for the cases of a family: a framework, a device of it, and whether it must be quick.

    `memory` is the usable memory of the device, in bytes, or the reason why it is not known. A family may
    choose its sizes by it, but need not leave out what does not fit (the driver skips that, with the reason).
    `minutes` is the length of a burn, None for the default.
    """

    framework: str
    device: Device
    quick: bool
    memory: Quantity
    minutes: float | None = None


#: A family of cases: `suite.py` has the name of each and the place of its function.
Family = Callable[[CaseRequest], Iterable[Case]]
