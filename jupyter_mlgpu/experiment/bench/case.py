"""What a benchmark is made of: a case says what a step does and needs, a runner does steps on one device.

This is the contract between the driver (`measuring.py`), which times and judges, and the cases, which know a
framework. A case is plain data until `prepare` is called; nothing imports a framework before.
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
    """What must be there: bytes of the device's memory at the peak (an estimate from above), and a device.

    `kinds` are kinds of devices (`Device.kind`: cpu, cuda, rocm, metal); empty: any of them will do.
    """

    bytes: int
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Work:
    """What one step does: `items` of `unit` (images, bytes, launches), and its floating-point operations.

    `flops` counts a multiplication and an addition as two; None with `why_no_flops`. `formula` says in words
    how both are counted. `moved` is how many bytes a step has to read and write at the least, for the
    roofline; None where that is not worked out.
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

    `name` is that of the family (`gemm`, `resnet50`), `parameters` what sets it apart within it (`{"n":
    1024}`, `{"batch": 128, "mode": "train"}`), `options` named fast paths (`compile`, `channels_last`).
    `type_asked` is the type of the numbers; `peak_type` the type of the products in it, with whose measured
    GEMM peak the case is compared: `bfloat16` in mixed precision. `chart` is the parameter along which a
    chart of the family is drawn.

    `start` makes the runner: it may raise BenchError where the case cannot run there, in a sentence.
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

    def prepare(self, device: Device) -> CaseRunner:
        """The case ready to run on a device; may take long (compiling), and is not timed."""
        return self.start(device)

    @property
    def label(self) -> str:
        """The case in a few words (see `label`)."""
        return label(self.name, self.parameters, self.type_asked, self.options)


def label(name: str, parameters: Mapping[str, Any], type_: str, options: Sequence[str]) -> str:
    """`gemm n=1024 float32`, `resnet50 train batch=128 bfloat16 +compile`: words stand without their name."""
    named = [str(value) if isinstance(value, str) else f"{key}={value}" for key, value in parameters.items()]
    return " ".join([name, *named, type_, *(f"+{one}" for one in options)])


@dataclass(frozen=True, slots=True)
class CaseRequest:
    """For which cases a family is asked: a framework, a device of it, and whether it must be quick.

    `memory` is what may be used on the device, in bytes, or why it is not known: a family may choose its
    sizes by it, but need not leave out what does not fit (the driver skips that, with the reason).
    """

    framework: str
    device: Device
    quick: bool
    memory: Quantity


#: A family of cases: `suite.py` has the name of each and where such a function is.
Family = Callable[[CaseRequest], Iterable[Case]]
