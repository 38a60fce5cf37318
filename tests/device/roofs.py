"""Where known cells stand under a GPU's own roof, as JSON; needs a CUDA GPU and no Jupyter.

    python -m tests.device.roofs torch > torch.json        # in the root; each framework in its own process
    python -m tests.device.roofs jax > jax.json

It measures the roofs (`bench --quick`), then runs cells whose limit is true by construction: light twice,
profiled with shapes, and light once more. `checks` says for each what had to come, and whether it did. Exit
status: 0 where all of them hold, else 1. The roofs go into a folder of its own.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Step = Callable[[], Any]


@dataclass(frozen=True)
class Planted:
    """A cell, the limits that are right for it, and the operations that it has by construction."""

    step: Step
    kinds: tuple[str, ...]
    flops: float | None = None


def of_torch() -> dict[str, Planted]:
    """Products in three types, a sum of large arrays, small operations, copies, and a loop of Python."""
    import torch

    n, count = 8192, 40
    products = {}
    for name, dtype in (("bfloat16", torch.bfloat16), ("float32", torch.float32)):
        a, b = (torch.randn(n, n, device="cuda", dtype=dtype) for _ in range(2))
        out = torch.empty_like(a)
        products[name] = (a, b, out)

    def product(type_: str, *, tf32: bool = False) -> Step:
        def step() -> None:
            torch.backends.cuda.matmul.allow_tf32 = tf32
            a, b, out = products[type_]
            for _ in range(count):
                torch.mm(a, b, out=out)
            torch.cuda.synchronize()

        return step

    x, y = (torch.randn(1 << 28, device="cuda") for _ in range(2))
    z = torch.empty_like(x)
    small = torch.ones(16, device="cuda")
    host = torch.ones(1 << 28)

    def add() -> None:
        for _ in range(100):
            torch.add(x, y, out=z)
        torch.cuda.synchronize()

    def many() -> None:
        value = small
        for _ in range(30_000):
            value = value * 1.0001
        torch.cuda.synchronize()

    def copy() -> None:
        for _ in range(4):
            host.cuda()
        torch.cuda.synchronize()

    work = 2.0 * n**3 * count
    return {
        "product-bfloat16": Planted(product("bfloat16"), ("compute",), work),
        "product-float32": Planted(product("float32"), ("compute",), work),
        "product-tf32": Planted(product("float32", tf32=True), ("compute",), work),
        "sum-of-large-arrays": Planted(add, ("bandwidth",), 100.0 * (1 << 28)),
        "small-operations": Planted(many, ("launch", "python")),
        "copies": Planted(copy, ("transfer",)),
        "python": Planted(python, ("python",)),
    }


def of_jax() -> dict[str, Planted]:
    """The same for JAX; its product in float32 is worked out in tf32 unless it asks for more."""
    import jax
    import jax.numpy as jnp

    n, count = 8192, 40
    multiply = jax.jit(jnp.matmul)
    exactly = jax.jit(lambda a, b: jnp.matmul(a, b, precision="highest"))
    total = jax.jit(lambda x, y: x + y)
    times = jax.jit(lambda x: x * 1.0001)
    # By chance, as the benchmark's are: a GPU multiplies ones at less power, and so at a higher clock.
    halves = jax.random.normal(jax.random.key(0), (n, n), jnp.bfloat16)
    whole = jax.random.normal(jax.random.key(0), (n, n), jnp.float32)
    x, y, small = jnp.ones(1 << 28), jnp.ones(1 << 28), jnp.ones(16)

    def product(function: Callable[..., Any], a: Any) -> Step:
        def step() -> None:
            for _ in range(count):
                last = function(a, a)
            last.block_until_ready()

        return step

    def add() -> None:
        for _ in range(100):
            last = total(x, y)
        last.block_until_ready()

    def many() -> None:
        value = small
        for _ in range(30_000):
            value = times(value)
        value.block_until_ready()

    work = 2.0 * n**3 * count
    return {
        "product-bfloat16": Planted(product(multiply, halves), ("compute",), work),
        "product-float32": Planted(product(exactly, whole), ("compute",), work),
        "product-tf32": Planted(product(multiply, whole), ("compute",), work),
        "sum-of-large-arrays": Planted(add, ("bandwidth",), 100.0 * (1 << 28)),
        "small-operations": Planted(many, ("launch", "python")),
        "python": Planted(python, ("python",)),
    }


def python() -> int:
    """Nothing for the device to do."""
    return sum(number * number % 7 for number in range(12_000_000))


def asked(name: str, planted: Planted) -> dict[str, Any]:
    """Two light runs of a cell, a profiled one and a light one: what their records say, and the checks."""
    from jupyter_mlgpu import pipeline
    from jupyter_mlgpu.measure import runtime as kits

    runtime = kits.current()

    def run(ops: bool) -> Any:
        measurement = runtime.recorder.start(name, source=name, ops=ops, shapes=ops)
        planted.step()
        record = pipeline.explained(measurement.stop(), measurement.activity, runtime)
        runtime.store.add(record)
        return record

    planted.step()  # what compiles, compiles here
    run(False)
    run(False)
    profiled = run(True)
    light = run(False)
    flops = profiled.find("flops")
    checks = {
        "profiled run has a limit": profiled.limit is not None,
        "profiled run is right": profiled.limit is not None and profiled.limit.kind in planted.kinds,
        "its trace is the evidence": profiled.limit is not None
        and any(one.source == "profiler" for one in profiled.limit.evidence),
    }
    if planted.flops is not None:
        counted = None if flops is None or flops.value is None else flops.value / planted.flops
        checks["operations are counted"] = counted is not None and 0.99 <= counted <= 1.01
        checks["light run is right, too"] = light.limit is not None and light.limit.kind in planted.kinds
        found = profiled.find("flop_rate")
        checks["rate is of light runs"] = found is not None and found.samples == 1
    return {
        "right": planted.kinds,
        "checks": checks,
        "profiled": told(profiled),
        "light": told(light),
    }


def told(record: Any) -> dict[str, Any]:
    """What a record says of its limit and its place under the roof."""
    from jupyter_mlgpu.record.decoding import to_json

    limit = record.limit
    return {
        "kind": None if limit is None else limit.kind,
        "confidence": None if limit is None else limit.confidence,
        "share": None if limit is None else limit.share,
        "said": None if limit is None else str(limit.said),
        "evidence": [] if limit is None else [to_json(one) for one in limit.evidence],
        "why_no_limit": record.why_no_limit,
        "notes": [str(one) for one in record.notes],
        "readings": {
            f"{one.quantity} {one.device or ''}".strip(): one.value
            if one.value is not None
            else str(one.why_missing)
            for one in record.readings
        },
        "worked_in": getattr(record.facts.get("worked_in"), "value", None),
        "operations": [
            [row.device, row.name[:80], row.count, row.self_time, row.flops] for row in record.ops[:12]
        ],
    }


def main(words: list[str] | None = None) -> int:
    """Measure, ask and print; see above."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("framework", choices=("torch", "jax"))
    parser.add_argument("--only", help="the one cell of this name")
    given = parser.parse_args(words)
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    os.environ["JUPYTER_MLGPU_CACHE"] = tempfile.mkdtemp(prefix="roofs-")
    importlib.import_module(given.framework)
    import jupyter_mlgpu
    from jupyter_mlgpu.experiment.bench import roofs
    from jupyter_mlgpu.measure import runtime as kits
    from jupyter_mlgpu.record import roofs as kept
    from jupyter_mlgpu.record.decoding import to_json

    # The first takes its minute to load libraries and to tune products; what it has no time for has no roof.
    jupyter_mlgpu.bench("gemm", "bandwidth", framework=given.framework, quick=True)
    run = jupyter_mlgpu.bench("gemm", "bandwidth", framework=given.framework, quick=True)
    problem = roofs.keep(run, kits.current().recorder.run.host_digest)
    cells: Mapping[str, Planted] = {"torch": of_torch, "jax": of_jax}[given.framework]()
    answers = {name: asked(name, planted) for name, planted in cells.items() if given.only in (None, name)}
    wrong = [
        f"{name}: {check}"
        for name, one in answers.items()
        for check, holds in one["checks"].items()
        if not holds
    ]
    found = {
        "framework": given.framework,
        "versions": dict(run.versions),
        "machine": to_json(run.machine),
        "roofs": [to_json(one) for one in kept.read()],
        "problem": problem,
        "cells": answers,
        "wrong": wrong,
    }
    json.dump(found, sys.stdout, indent=1)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
