"""How often JAX's compiled programs ran, from the kernels in a profile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from jupyter_mlgpu.measure.frameworks.jax.programs import runs_of

pytestmark = pytest.mark.small


@dataclass
class Event:
    """A kernel, as JAX's ProfileData has it."""

    name: str
    stats: dict[str, Any] = field(default_factory=dict)


@dataclass
class Line:
    """A stream of a GPU."""

    name: str
    events: list[Event]


@dataclass
class Plane:
    """A device."""

    name: str
    lines: list[Line]


@dataclass
class Data:
    """A profile."""

    planes: list[Plane]


def on_a_gpu(*events: Event) -> Data:
    return Data([Plane("/device:GPU:0", [Line("Stream #1(Compute)", list(events))])])


def kernel(name: str, operation: str, **more: Any) -> Event:
    return Event(name, {"hlo_op": operation, "hlo_module": "jit_matmul", "program_id": 7, **more})


def test_a_product_that_takes_two_kernels_ran_as_often_as_each_of_them():
    once = (kernel("Memset 3", "cublas-gemm.1"), kernel("nvjet_sm90", "cublas-gemm.1"))
    assert runs_of(on_a_gpu(*once * 40)) == {"jit_matmul(7)": 40}


def test_an_operation_that_comes_again_within_a_run_is_outvoted_by_one_that_does_not():
    once = (kernel("add", "add.1"), kernel("add", "add.1"), kernel("mul", "mul.2"))
    assert runs_of(on_a_gpu(*once * 3)) == {"jit_matmul(7)": 3}


def test_where_a_kernel_came_in_some_runs_alone_their_number_is_not_known():
    once = (kernel("mul", "mul.2"), kernel("add", "add.1"))
    assert runs_of(on_a_gpu(*once * 3, kernel("add", "add.1"))) == {"jit_matmul(7)": None}
    numbered = [kernel("add", "add.1", run_id=number) for number in (1, 2, 2)]
    assert runs_of(
        on_a_gpu(*numbered, kernel("mul", "mul.2", run_id=1), kernel("mul", "mul.2", run_id=2))
    ) == {"jit_matmul(7)": 2}


def test_runs_that_are_numbered_are_counted_by_their_numbers():
    events = [kernel("add", "add.1", run_id=number) for number in (1, 1, 2)]
    assert runs_of(on_a_gpu(*events)) == {"jit_matmul(7)": 2}
