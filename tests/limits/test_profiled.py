"""Profiled cells near one roof are never said to be near the other, with each framework's own profiler."""

from __future__ import annotations

import json

import pytest

from jupyter_mlgpu.explain.limits.roofline import ABOVE, NEAR
from jupyter_mlgpu.record import cachefolder
from tests.limits.profiled import CELLS, asked, values

pytestmark = [pytest.mark.kernel, pytest.mark.slow]
FRAMEWORKS = [pytest.param(name, marks=pytest.mark.needs(name)) for name in CELLS]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_products_and_sums_stand_under_their_own_roofs(start_kernel, tmp_path, framework):
    notebook = start_kernel(**{cachefolder.VARIABLE: str(tmp_path)})
    measured = notebook.run(f"%mlc_bench gemm bandwidth --quick --framework {framework}", timeout=300)
    assert measured.status == "ok"
    assert {"float32", "memory"} <= {
        one["type"] for one in json.loads((tmp_path / "roofs.json").read_text())["roofs"]
    }
    for placed in CELLS[framework]:
        record = asked(notebook, placed)
        found = values(record)
        if placed.flops:
            assert found["flops"] == pytest.approx(placed.flops, rel=0.01)
        mine, other = (
            ("flop_share", "byte_share") if placed.kind == "compute" else ("byte_share", "flop_share")
        )
        assert found[mine] > 3 * found.get(other, 0.0)
        # How near depends on what else the machine does; what is said has to follow from it.
        near = NEAR <= found[mine] <= ABOVE
        kind = (record.get("limit") or {}).get("kind")
        assert (kind == placed.kind) == near, (found[mine], record.get("limit"))
        assert kind not in {"compute", "bandwidth"} - {placed.kind}
