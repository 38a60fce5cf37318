"""Profiled cells near one roof are never said to be near the other, with each framework's own profiler.

Large products are near the roof of arithmetic, sums of large arrays near that of memory, and each is far from
the other's.
"""

from __future__ import annotations

import json

import pytest

from jupyter_mlgpu.explain.limits.roofline import ABOVE, NEAR
from jupyter_mlgpu.record import cachefolder
from tests.support.reading import as_read
from tests.support.roofs import undisturbed_roofs

pytestmark = [pytest.mark.kernel, pytest.mark.slow]

SIDE, NUMBERS, COUNT = 1_500, 30_000_000, 20
PRODUCTS, SUMS = 2.0 * SIDE**3 * COUNT, 1.0 * NUMBERS * COUNT
#: Of each cell the limit that is right, its floating-point operations, its set-up, and what it repeats.
CELLS = {
    "torch": [
        ("compute", PRODUCTS,
         f"import torch\na = torch.rand({SIDE}, {SIDE}) / {SIDE // 2}\nb = torch.empty_like(a)",
         "torch.mm(a, a, out=b)"),
        ("bandwidth", SUMS,
         f"import torch\nx, y = torch.rand({NUMBERS}), torch.rand({NUMBERS})\nz = torch.empty_like(x)",
         "torch.add(x, y, out=z)"),
    ],
    "jax": [
        ("compute", PRODUCTS,
         f"import jax, jax.numpy as jnp\na = jnp.ones(({SIDE}, {SIDE})) / {SIDE}\n"
         "f = jax.jit(jnp.matmul)\nb = f(a, a).block_until_ready()",
         "b = f(a, a).block_until_ready()"),
        ("bandwidth", SUMS,
         f"import jax, jax.numpy as jnp\nx, y = jnp.ones({NUMBERS}), jnp.ones({NUMBERS})\n"
         "f = jax.jit(lambda x, y: x + y)\nz = f(x, y).block_until_ready()",
         "z = f(x, y).block_until_ready()"),
    ],
    "tensorflow": [
        ("compute", PRODUCTS,
         f"import tensorflow as tf\na = tf.random.normal(({SIDE}, {SIDE}))\n"
         "f = tf.function(lambda a: tf.linalg.matmul(a, a))\nb = f(a)",
         "b = f(a)"),
        # TensorFlow's profiler tells no operations of a sum, and its bytes are enough.
        ("bandwidth", None,
         f"import tensorflow as tf\nx, y = tf.random.normal(({NUMBERS},)), tf.random.normal(({NUMBERS},))\n"
         "f = tf.function(lambda x, y: x + y)\nz = f(x, y)",
         "z = f(x, y)"),
    ],
}  # fmt: skip
FRAMEWORKS = [pytest.param(name, marks=pytest.mark.needs(name)) for name in CELLS]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_products_and_sums_stand_under_their_own_roofs(start_kernel, tmp_path, framework):
    notebook = start_kernel(**{cachefolder.VARIABLE: str(tmp_path)})
    measured = notebook.run(undisturbed_roofs(framework), timeout=300)
    assert measured.status == "ok"
    assert {"float32", "memory"} <= {
        one["type"] for one in json.loads((tmp_path / "roofs.json").read_text())["roofs"]
    }
    for kind, flops, before, repeated in CELLS[framework]:
        code = f"for _ in range({COUNT}):\n    {repeated}"
        # Three light runs, then a profiled one with shapes.
        for one in (before, code, code, code, f"%%mlc_trace --ops --shapes\n{code}"):
            result = notebook.run(one, timeout=300)
            assert result.status == "ok", result.error
        record = as_read(result.receipt)
        found = {one["quantity"]: one["value"] for one in record["readings"] if one["value"] is not None}
        if flops:
            assert found["flops"] == pytest.approx(flops, rel=0.01)
        mine, other = ("flop_share", "byte_share") if kind == "compute" else ("byte_share", "flop_share")
        assert found[mine] > 3 * found.get(other, 0.0)
        # How near depends on what else the machine does; what is said has to follow from it.
        near = NEAR <= found[mine] <= ABOVE
        said = (record.get("limit") or {}).get("kind")
        assert (said == kind) == near, (found[mine], record.get("limit"))
        assert said not in {"compute", "bandwidth"} - {kind}
