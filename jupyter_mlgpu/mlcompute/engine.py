"""The contract of engines: what computes a graph. Three keep to it: NumPy, TensorFlow, Apple's ML Compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from jupyter_mlgpu.mlcompute.graph import Step
from jupyter_mlgpu.mlcompute.tensors import Array, Tensor

Values = dict[Tensor, Any]
"""By tensor, anything that NumPy can read."""


class Executable(Protocol):
    """A program compiled for a device.

    `feeds` are the inputs' arrays in the program's order, `count` the number of the execution, from which
    random numbers follow, so that a gradient repeats the forward pass it belongs to.
    """

    #: Whether calls return before the device has finished.
    asynchronous: bool

    def forward(self, feeds: Sequence[Array], training: bool, count: int) -> Values:
        """The program's results. Training, what layers keep (running means) is brought up to date."""

    def gradient(self, feeds: Sequence[Array], count: int, upstream: Mapping[Tensor, Any]) -> Values:
        """Of the sum of the losses and of each `tensor * upstream`, for all float tensors."""

    def update(self, gradients: Values, rate: float, time: int) -> None:
        """The optimizer's step number `time` with these gradients of the trained tensors."""

    def step(self, feeds: Sequence[Array], count: int, rate: float, time: int) -> tuple[Values, Values]:
        """Forward, gradient and update in one; the results, and the gradients of the trained tensors."""

    def times(self, feeds: Sequence[Array], training: bool, count: int) -> dict[Step, float]:
        """Seconds of each step of the program, computed by itself, the device finished before the next."""

    def wait(self) -> None:
        """Until the device has finished."""
