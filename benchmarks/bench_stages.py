"""What is measured of a model, stage by stage, each in a process of its own; see `bench_against_torch`."""

from __future__ import annotations

import json
import os
import statistics
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from benchmarks import bench_ratio, machine
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.models import MODELS, Model, tiny

#: Our path that is compared with the reference: the same means, and PyTorch's fused optimizer.
TIE = ("bf16", "fused", "compile")
#: What goes beyond torch.compile, in the order in which it is tried. The first needs no further compiling.
BEYOND = {
    "cuda_graphs": ("bf16", "fused", "compile", "cuda_graphs"),
    "bf16_weights": ("bf16_weights", "fused", "compile", "cuda_graphs"),
    "max_autotune": ("bf16", "fused", "max_autotune", "cuda_graphs"),
}
LADDER = (
    (),
    ("tf32",),
    ("bf16",),
    ("bf16", "LAYOUT"),
    ("bf16", "LAYOUT", "fused"),
    ("bf16", "LAYOUT", "fused", "cuda_graphs"),
    ("bf16_weights", "LAYOUT", "fused"),
)
INFERENCE = ((), ("bf16", "LAYOUT"), ("bf16", "LAYOUT", "cuda_graphs"), ("bf16", "LAYOUT", "compile"))
#: Of Keras's two networks ResNet50 has biases to leave out, and MobileNetV2 depthwise convolutions.
JAX_IMAGES = (
    ("bf16", "donate", "one_pass_norm", "no_bias"),
    ("bf16", "donate"),
    ("bf16", "donate", "one_pass_norm", "no_bias", "scan"),
    ("bf16", "donate", "one_pass_norm"),
)
JAX_DEPTHWISE = (
    ("bf16", "donate", "one_pass_norm"),
    ("bf16", "donate", "one_pass_norm", "shifted_depthwise"),
    ("bf16", "donate"),
    ("bf16", "donate", "one_pass_norm", "scan"),
)
JAX_TEXT = (("bf16", "donate"), ("bf16", "donate", "flash"), ("bf16", "donate", "scan"))

#: Turns of each program in one repeat.
TURNS = 8

#: With fewer seconds left no further step begins: what compiles would not be ready.
LEAST_S, LEAST_COMPILING_S = 4.0, 25.0


class Training(Protocol):
    """What can be run a number of steps at a time."""

    def run(self, steps: int) -> None: ...
    def wait(self) -> None: ...
    def loss(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Setting:
    """One model with its batch, on a device; `until` is when the process must have ended (time.time)."""

    model: str
    batch: int
    device: str
    small: bool
    repeats: int
    block_s: float
    until: float
    beyond: tuple[str, ...]

    @property
    def measured(self) -> Model:
        """The model, or the tiny one of its kind."""
        return tiny(MODELS[self.model]) if self.small else MODELS[self.model]

    def own(self, options: Sequence[str]) -> tuple[str, ...]:
        """The options with what stands for the kind of model: the layout of images, the attention of text."""
        layout = "channels_last" if self.measured.kind == "image" else "flash"
        return tuple(layout if one == "LAYOUT" else one for one in options)


class Book:
    """The results in a file, written after each step, so that whatever ends the program costs one step."""

    def __init__(self, folder: Path) -> None:
        self._data, self._text = folder / "results.json", folder / "results.md"
        packages = ("torch", "jax", "keras", "numpy", "triton")
        self.results: dict[str, Any] = {"schema": 1, "machine": machine.describe(packages), "steps": {}}
        if self._data.exists():
            self.results = json.loads(self._data.read_text(encoding="utf-8"))

    def done(self, key: str) -> bool:
        """Whether a step was measured already, here or in a run before."""
        return "items_per_s" in self.results["steps"].get(key, {})

    def about(self, name: str, value: str) -> None:
        """One more fact of the machine."""
        self.results["machine"][name] = value

    def write(self, key: str, step: dict[str, Any]) -> None:
        """Keep a step, on the disk too."""
        self.results["steps"][key] = step
        text = json.dumps(self.results, indent=1, ensure_ascii=False) + "\n"
        half = self._data.with_suffix(".half")
        half.write_text(text, encoding="utf-8")
        os.replace(half, self._data)
        self._text.write_text(bench_ratio.markdown(self.results), encoding="utf-8")
        told = f"{step['items_per_s']:,.0f}/s" if "items_per_s" in step else step.get("why", "")
        found = f", {bench_ratio.Ratio(**step['ratio'])} of the reference" if "ratio" in step else ""
        print(f"{key}: {told}{found} [{step.get('took_s', 0):.0f} s]", flush=True)


def tie(setting: Setting, book: Book) -> None:
    """Our path and what goes beyond it, each in turns with the reference."""
    names = ["compile", *setting.beyond]
    if all(book.done(_key(setting, "tie", name)) for name in names):
        return
    from benchmarks.bench_reference import Reference

    begun = time.perf_counter()
    reference = Reference(setting.model, setting.batch, setting.device, setting.small)
    warm(reference)
    print(f"{setting.model}: the reference is ready after {time.perf_counter() - begun:.0f} s", flush=True)
    kept: list[Any] = []  # our path, as long as the next step can use what it has compiled
    for name in names:
        options = (*setting.own(("LAYOUT",)), *(TIE if name == "compile" else BEYOND[name]))
        measure = partial(_in_turns_with, setting, reference, kept, name, options)
        attempt(setting, book, "tie", name, options, measure, compiling=name != "cuda_graphs")


def _in_turns_with(
    setting: Setting, reference: Training, kept: list[Any], name: str, options: Sequence[str]
) -> dict[str, Any]:
    if name == "cuda_graphs" and kept:
        kept[0].record()  # of what is compiled already
    else:
        while kept:
            kept.pop().close()
        kept.append(_torch(setting, options))
    ours = kept[0]
    warm(ours)
    steps = max(2, round(_steps(setting, reference) / TURNS))
    sides = take_turns(reference, ours, steps, setting.repeats)
    return {**bench_ratio.turns(*sides, setting.batch), "loss": ours.loss(), "steps": steps * TURNS}


def take_turns(
    reference: Training, ours: Training, steps: int, repeats: int, turns: int = TURNS
) -> tuple[list[float], list[float]]:
    """Seconds a step of both in each repeat, in which each has several turns of so many steps.

    Which begins alternates from turn to turn, so that a processor that gets slower, or is away for a moment,
    is so for both.
    """
    sides: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        of_turns: tuple[list[float], list[float]] = ([], [])
        for turn in range(turns):
            both = ((reference, of_turns[0]), (ours, of_turns[1]))
            for one, times in both if turn % 2 == 0 else both[::-1]:
                times.append(timed(one, steps))
        for side, times in zip(sides, of_turns, strict=True):
            side.append(statistics.fmean(times))
    return sides


def ladder(setting: Setting, book: Book) -> None:
    """One option after another, without compiling: what each adds."""
    _alone(setting, book, "options", [setting.own(one) for one in LADDER], True)


def inference(setting: Setting, book: Book) -> None:
    """The same without training."""
    _alone(setting, book, "inference", [setting.own(one) for one in INFERENCE], False)


def jax(setting: Setting, book: Book) -> None:
    """Keras on JAX, the best first."""
    kinds = {"resnet50": JAX_IMAGES, "mobilenetv2": JAX_DEPTHWISE}.get(setting.model, JAX_TEXT)
    for options in kinds:
        measure = partial(_on_jax, setting, options)
        attempt(setting, book, "jax", "+".join(options), options, measure, "jax", compiling=True)


def _on_jax(setting: Setting, options: Sequence[str]) -> dict[str, Any]:
    from jupyter_mlgpu.measure.frameworks.jax.training import JaxTraining
    from jupyter_mlgpu.measure.frameworks.keras.models import wrong_backend

    if why := wrong_backend("jax"):
        raise RuntimeError(why)
    return _by_itself(setting, JaxTraining(setting.measured, setting.batch, options))


def warm_up(setting: Setting, book: Book) -> None:
    """Fill the compiler's cache on the disk, for the process that measures."""
    from benchmarks.bench_reference import Reference

    for one in (
        Reference(setting.model, setting.batch, setting.device, setting.small),
        _torch(setting, (*setting.own(("LAYOUT",)), *TIE)),
    ):
        one.run(1)
        one.wait()


STAGES: dict[str, Callable[[Setting, Book], None]] = {
    "warm": warm_up,
    "tie": tie,
    "jax": jax,
    "options": ladder,
    "inference": inference,
}


def _alone(
    setting: Setting, book: Book, stage: str, kinds: Sequence[tuple[str, ...]], training: bool
) -> None:
    for options in kinds:

        def measure(options: tuple[str, ...] = options) -> dict[str, Any]:
            return _by_itself(setting, _torch(setting, options, training))

        name, compiling = "+".join(options) or "eager float32", "compile" in options
        attempt(setting, book, stage, name, options, measure, training=training, compiling=compiling)


def attempt(
    setting: Setting,
    book: Book,
    stage: str,
    name: str,
    options: Sequence[str],
    measure: Callable[[], dict[str, Any]],
    framework: str = "torch",
    training: bool = True,
    compiling: bool = False,
) -> None:
    """Measure one step and write it down; what stands against it is written in its place."""
    key, begun = _key(setting, stage, name), time.perf_counter()
    if book.done(key):
        return
    left, least = setting.until - time.time(), LEAST_COMPILING_S if compiling else LEAST_S
    kind = "cuda" if setting.device == "cuda" else "cpu"
    why: str | None = registry.training(framework).why_not(setting.measured, options, kind, training)
    found: dict[str, Any] = {"batch": setting.batch, "options": list(options)}
    if why is None and left < least:
        why = f"not begun: {left:.0f} s were left, and it needs {least:.0f} s at least"
    if why is not None:
        found["why"] = why
    else:
        try:
            found |= measure()
        except Exception as error:  # of any framework: the other steps are worth having
            traceback.print_exc()
            said = str(error).strip().splitlines() or ["no message"]
            found["why"] = f"{type(error).__name__}: {said[0][:300]}"
    book.write(key, {**found, "took_s": round(time.perf_counter() - begun, 1)})


def _by_itself(setting: Setting, ours: Any) -> dict[str, Any]:
    warm(ours)
    steps = _steps(setting, ours)
    samples = [timed(ours, steps) for _ in range(setting.repeats)]
    found = {**bench_ratio.alone(samples, setting.batch), "loss": ours.loss(), "steps": steps}
    ours.close()
    return found


def warm(one: Training, most: int = 8) -> None:
    """Compile, then steps until two blocks of them take the same within 2 %, eight blocks at most."""
    one.run(2)
    one.wait()
    before = timed(one, 5)
    for _ in range(most):
        now = timed(one, 5)
        if abs(now - before) <= 0.02 * before:
            return
        before = now


def timed(one: Training, steps: int) -> float:
    """Seconds a step, over so many of them."""
    one.wait()
    begun = time.perf_counter()
    one.run(steps)
    one.wait()
    return (time.perf_counter() - begun) / steps


def _steps(setting: Setting, one: Training) -> int:
    """How many steps make a block."""
    return max(2, round(setting.block_s / timed(one, 2)))


def _torch(setting: Setting, options: Sequence[str], training: bool = True) -> Any:
    from jupyter_mlgpu.measure.frameworks.torch.training import TorchTraining

    return TorchTraining(setting.measured, setting.batch, options, setting.device, training)


def _key(setting: Setting, stage: str, name: str) -> str:
    return f"{setting.model}/{stage}/{name}"
