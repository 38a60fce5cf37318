"""In a race the clock is read when the device is done: for JAX, which runs ahead, and MLX, which puts off."""

from __future__ import annotations

import pytest

from jupyter_mlgpu.experiment.race import cell
from jupyter_mlgpu.experiment.race.runner import RaceRunner
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.clock import SystemClock
from tests.measure.contract.conftest import framework


class WatchedClock(SystemClock):
    """Notes something at every reading."""

    def __init__(self, sample):
        self.seen = []
        self._sample = sample

    def monotonic_ns(self):
        self.seen.append(self._sample())
        return super().monotonic_ns()


def lane(name, body, sample, namespace):
    backend = registry.backend(name)
    raced = cell.PlainCell(cell.from_source(body, "<cell>"), setup=None, variable=None)
    raced.namespace.update(namespace)
    clock = WatchedClock(lambda: sample(raced.namespace))
    runner = RaceRunner(backend, raced, sizes=(None,), repeats=3, clock=clock)
    made, error = runner.lane(backend.find_devices()[0])
    assert error is None
    return made, clock.seen


@pytest.mark.needs("jax")
def test_a_jax_result_is_ready_when_the_clock_is_read():
    jax = framework("jax")
    product = jax.jit(lambda x: jax.lax.fori_loop(0, 30, lambda _, y: y @ y / 500, x))
    x = jax.numpy.ones((500, 500))
    handed_over = []

    def kept(value):
        handed_over.append(value)
        return value

    made, ready = lane(
        "jax",
        "kept(product(x))",
        lambda space: all(one.is_ready() for one in handed_over),
        {"product": product, "x": x, "kept": kept},
    )
    assert len(made.timings[0].samples) == 3
    assert all(ready)


@pytest.mark.needs("mlx")
def test_an_mlx_result_is_worked_out_when_the_clock_is_read():
    mx = framework("mlx.core")
    mx.eval(mx.ones(1))
    kept = []
    made, memory = lane(
        "mlx",
        "kept.append(mx.ones((1024, 1024)) + len(kept))\nkept[-1]",
        lambda space: (len(kept), mx.get_active_memory()),
        {"mx": mx, "kept": kept},
    )
    assert len(made.timings[0].samples) == 3
    first = min(used for count, used in memory if count == 0)
    for count, used in memory:
        assert used - first >= count * 4 * 1024**2
