"""Profiles of JAX 0.11.2 on an NVIDIA H200, read by us and by XProf: the same kernels, counts and times."""

import json
import shutil
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from jupyter_mlgpu.measure.frameworks.jax import profile_reader as read_jax
from jupyter_mlgpu.measure.ops.busy import device_busy
from jupyter_mlgpu.measure.ops.events import Profile
from jupyter_mlgpu.measure.ops.table import rows

RECORDED = Path(__file__).parent.parent / "data" / "h200"


@pytest.mark.needs("jax", "xprof")
@pytest.mark.parametrize("name", ["jax-convolutions", "jax-sums"])
def test_the_kernels_of_a_recorded_gpu_are_those_of_xprof(name, tmp_path):
    from jax.profiler import ProfileData
    from xprof.convert import raw_to_tool_data

    file = shutil.copy(RECORDED / f"{name}.xplane.pb", tmp_path)  # XProf writes beside what it reads
    table = json.loads(raw_to_tool_data.xspace_to_tool_data([str(file)], "kernel_stats", {})[0])
    columns = [column["id"] for column in table["cols"]]
    calls: Counter[str] = Counter()
    times: dict[str, float] = defaultdict(float)
    for row in table["rows"]:
        kernel = dict(zip(columns, [cell["v"] for cell in row["c"]], strict=True))
        calls[kernel["kernel_name"]] += int(kernel["occurrences"])
        times[kernel["kernel_name"]] += float(kernel["total_duration_us"])
    data = ProfileData.from_serialized_xspace(Path(file).read_bytes())
    profile = Profile("jax", "JAX's profiler", read_jax.read(data).events, 0, 2**62)
    ours = [row for row in rows(profile) if row.plane == "device" and row.name in times]
    assert len(ours) == len(times) > 0
    for row in ours:
        assert row.count == calls[row.name]
        assert row.total_time * 1e6 == pytest.approx(times[row.name], rel=1e-3)
    assert [row.name for row in ours] == sorted(times, key=lambda one: -times[one])
    (busy,) = device_busy(profile)
    assert busy.busy_ns / 1e3 >= max(times.values())
