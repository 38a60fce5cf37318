"""How often JAX's compiled programs ran, from the kernels in a profile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from jupyter_mlgpu.measure.frameworks.jax.programs import run_counts

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
    assert run_counts(on_a_gpu(*once * 40)) == {"jit_matmul(7)": 40}


def test_an_operation_that_comes_again_within_a_run_is_outvoted_by_one_that_does_not():
    once = (kernel("add", "add.1"), kernel("add", "add.1"), kernel("mul", "mul.2"))
    assert run_counts(on_a_gpu(*once * 3)) == {"jit_matmul(7)": 3}


def started(*names: str) -> Plane:
    """The host, which has started these programs one after the other."""
    runs = [Event("Execute", {"run_id": 7 * place, "name": name}) for place, name in enumerate(names)]
    return Plane("/host:CPU", [Line("python3", [*runs, Event("Handle inputs")])])


def test_on_a_gpu_the_host_tells_how_often_a_program_was_started():
    twice_a_run = on_a_gpu(*[kernel("sort", "sort.1")] * 6)
    twice_a_run.planes.append(started("jit_matmul", "jit_other", "jit_matmul", "jit_matmul"))
    assert run_counts(twice_a_run) == {"jit_matmul(7)": 3}
    one_not_seen = on_a_gpu(*[kernel("add", "add.1")] * 5)
    one_not_seen.planes.append(started(*["jit_matmul"] * 4))
    assert run_counts(one_not_seen) == {"jit_matmul(7)": None}


def test_of_two_programs_of_one_name_the_host_does_not_tell_which_it_started():
    other = [kernel("add", "add.1") for _ in range(2)]
    for event in other:
        event.stats["program_id"] = 8
    both = on_a_gpu(*[kernel("add", "add.1")] * 3, *other)
    both.planes.append(started(*["jit_matmul"] * 5))
    assert run_counts(both) == {"jit_matmul(7)": 3, "jit_matmul(8)": 2}


def test_where_a_kernel_came_in_some_runs_alone_their_number_is_not_known():
    once = (kernel("mul", "mul.2"), kernel("add", "add.1"))
    assert run_counts(on_a_gpu(*once * 3, kernel("add", "add.1"))) == {"jit_matmul(7)": None}
    numbered = [kernel("add", "add.1", run_id=number) for number in (1, 2, 2)]
    assert run_counts(
        on_a_gpu(*numbered, kernel("mul", "mul.2", run_id=1), kernel("mul", "mul.2", run_id=2))
    ) == {"jit_matmul(7)": 2}


def test_runs_that_are_numbered_are_counted_by_their_numbers():
    events = [kernel("add", "add.1", run_id=number) for number in (1, 1, 2)]
    assert run_counts(on_a_gpu(*events)) == {"jit_matmul(7)": 2}
