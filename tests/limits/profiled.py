"""Profiled cells whose roof is known by construction, in a real kernel under roofs that it measures itself.

    python -m tests.limits.profiled torch        # or tensorflow, jax: on a machine that does little else

Large products are near the roof of arithmetic, sums of large arrays near that of memory, and each beside the
other is far from it. Each cell runs light three times and then profiled with shapes; what its record says is
printed, with the exit status 1 where an answer is wrong.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_mlgpu.record import cachefolder
from tests.limits.program import cell
from tests.support.reading import as_read

_N, _COUNT = 1_500, 20
_NUMBERS = 30_000_000


@dataclass(frozen=True)
class Placed:
    """A cell, its set-up, the limit that is right, and its floating-point operations by construction."""

    id: str
    kind: str
    flops: float
    before: str
    code: str


_TORCH = "import torch\n"
_JAX = "import jax, jax.numpy as jnp\n"
_TENSORFLOW = "import tensorflow as tf\n"
_PRODUCTS, _SUMS = 2.0 * _N**3 * _COUNT, 1.0 * _NUMBERS * _COUNT

CELLS = {
    "torch": (
        Placed(
            "products",
            "compute",
            _PRODUCTS,
            f"{_TORCH}a = torch.rand({_N}, {_N}) / {_N // 2}\nb = torch.empty_like(a)",
            f"for _ in range({_COUNT}):\n    torch.mm(a, a, out=b)",
        ),
        Placed(
            "sums",
            "bandwidth",
            _SUMS,
            f"{_TORCH}x, y = torch.rand({_NUMBERS}), torch.rand({_NUMBERS})\nz = torch.empty_like(x)",
            f"for _ in range({_COUNT}):\n    torch.add(x, y, out=z)",
        ),
    ),
    "jax": (
        Placed(
            "products",
            "compute",
            _PRODUCTS,
            f"{_JAX}a = jnp.ones(({_N}, {_N})) / {_N}\nf = jax.jit(jnp.matmul)\n"
            "b = f(a, a).block_until_ready()",
            f"for _ in range({_COUNT}):\n    b = f(a, a).block_until_ready()",
        ),
        Placed(
            "sums",
            "bandwidth",
            _SUMS,
            f"{_JAX}x, y = jnp.ones({_NUMBERS}), jnp.ones({_NUMBERS})\n"
            "f = jax.jit(lambda x, y: x + y)\nz = f(x, y).block_until_ready()",
            f"for _ in range({_COUNT}):\n    z = f(x, y).block_until_ready()",
        ),
    ),
    "tensorflow": (
        Placed(
            "products",
            "compute",
            _PRODUCTS,
            f"{_TENSORFLOW}a = tf.random.normal(({_N}, {_N}))\n"
            "f = tf.function(lambda a: tf.linalg.matmul(a, a))\n"
            "b = f(a)",
            f"for _ in range({_COUNT}):\n    b = f(a)",
        ),
        # TensorFlow's profiler tells no operations of a sum, and its bytes are enough.
        Placed(
            "sums",
            "bandwidth",
            0.0,
            f"{_TENSORFLOW}x, y = tf.random.normal(({_NUMBERS},)), tf.random.normal(({_NUMBERS},))\n"
            "f = tf.function(lambda x, y: x + y)\nz = f(x, y)",
            f"for _ in range({_COUNT}):\n    z = f(x, y)",
        ),
    ),
}


def asked(notebook: Any, placed: Placed, light: int = 3) -> dict[str, Any]:
    """The receipt of the profiled run of a cell, after light runs, with its sentences as texts."""
    codes = [placed.before, *[placed.code] * light, f"%%mlc_trace --ops --shapes\n{placed.code}"]
    for code in map(cell, codes):
        result = notebook.run(code, timeout=300)
        if result.status != "ok":
            raise RuntimeError(f"{placed.id} failed: {result.error}")
    record: dict[str, Any] = as_read(result.receipt)
    return record


def values(record: dict[str, Any]) -> dict[str, float]:
    """The record's readings that have a value."""
    return {one["quantity"]: one["value"] for one in record["readings"] if one["value"] is not None}


def main(words: Sequence[str]) -> int:
    """Measure the roofs of a framework, ask its two cells and print their records."""
    from tests.support.kernels import Notebook
    from tests.support.shared_kernels import LOAD

    (framework,) = words
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        environment = {cachefolder.VARIABLE: folder, "TF_CPP_MIN_LOG_LEVEL": "3"}
        notebook = Notebook(Path(folder), environment)
        notebook.connect()
        try:
            notebook.run(LOAD)
            notebook.run(f"%mlc_bench gemm bandwidth --quick --framework {framework}", timeout=300)
            for one in CELLS[framework]:
                record = asked(notebook, one)
                limit = record.get("limit") or {}
                wrong += limit.get("kind") != one.kind
                print(json.dumps({"id": one.id, "right": one.kind, "limit": limit, "values": values(record)}))
        finally:
            notebook.close()
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
