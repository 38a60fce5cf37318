"""How a framework trains the models of `models.py`: named options, which of them are tried, and the start."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from jupyter_mlgpu.frameworks.base import Device
from jupyter_mlgpu.frameworks.models import Model
from jupyter_mlgpu.frameworks.runner import Runner

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
    start: Callable[[Device, Model, int, Set, bool], Runner]

    def ladder(self, model: Model, device_kind: str, training: bool) -> tuple[Set, ...]:
        """The sets in training or in inference, which has no optimizer, and nothing to write over."""
        found = self.sets(model, device_kind)
        if training:
            return found
        left = (tuple(one for one in each if not self.options[one].training) for each in found)
        return tuple(dict.fromkeys(left))

    def why_not(
        self, model: Model, options: Collection[str], device_kind: str, training: bool = True
    ) -> str | None:
        """Why these options cannot be had together, for this model on this kind of device; else None."""
        for name in options:
            option = self.options.get(name)
            if option is None:
                return f"Unknown option {name!r} for {self.framework}. Choose from {', '.join(self.options)}."
            if option.model not in (None, model.kind):
                return f"{name} is for models of {option.model}s, and {model.title} takes {model.kind}s."
            if option.device not in (None, device_kind):
                wanted = f"{name} needs a device of the kind {option.device}"
                return f"{wanted}; this one is of the kind {device_kind}."
            if option.training and not training:
                return f"{name} is for training, and this is inference."
        for first, second in _EXCLUDE:
            if first in options and second in options:
                return f"{first} and {second} exclude each other: choose one."
        return None


#: What compiles for a minute before its first step.
_COMPILING = {"compile", "reduce_overhead", "max_autotune", "xla"}


def quick(sets: tuple[Set, ...]) -> tuple[Set, ...]:
    """Of a ladder the best set that is ready at once."""
    return tuple(one for one in sets if not _COMPILING & set(one))[-1:]
