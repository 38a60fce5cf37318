"""Times per operation on a CUDA GPU, against code that shares nothing with ours. With a GPU, in the root:

    python -m pytest -c tests/device/pytest.ini --rootdir=. -s tests/device/test_ops_on_gpu.py

Ten cells each of PyTorch and JAX. The framework writes the same profile as a Chrome trace; the union of its
kernels and copies, stream by stream and together, is what our figures must equal. Where the variable
KEEP_PROFILES names a folder, JAX's profiles and our tables are kept there, to be read with xprof elsewhere.
"""

from __future__ import annotations

import gzip
import json
import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.recorder import Recorder, new_run
from jupyter_mlgpu.record.clock import SystemClock
from jupyter_mlgpu.record.record import Record

KEEP = "KEEP_PROFILES"
WORK = ("kernel", "gpu_memcpy", "gpu_memset")


class Watched:
    """A profiler whose session can be looked at after the cell."""

    def __init__(self, framework: str) -> None:
        self.framework = framework
        self.session: Any = None
        self.native: Any = None

    def start(self, shapes: bool = False) -> Any:
        self.session = registry.profiler(self.framework).start(shapes)
        self.native = getattr(self.session, "_ours", None)
        return self.session


def profiled(framework: str, cell: Callable[[], object]) -> tuple[Record, Watched]:
    watched = Watched(framework)
    recorder = Recorder(
        new_run(None),
        clock=SystemClock(),
        probes=(),
        backends=lambda: [registry.backend(framework)],
        versions={},
        profilers=lambda name: watched,
    )
    measurement = recorder.start("cell", ops=True)
    cell()
    return measurement.stop(), watched


def covered(spans: list[tuple[float, float]]) -> float:
    """How long at least one span is open, counted by their beginnings and ends; not by our own code."""
    moments = sorted([(start, 1) for start, _ in spans] + [(end, -1) for _, end in spans])
    total = depth = 0
    before = 0.0
    for moment, step in moments:
        if depth:
            total += moment - before
        depth += step
        before = moment
    return total


def of_torch(native: Any, path: Path) -> dict[str, list[tuple[float, float]]]:
    """Spans in microseconds of each stream, from PyTorch's Chrome trace."""
    native.export_chrome_trace(str(path))
    streams: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for event in json.loads(path.read_text())["traceEvents"]:
        if event.get("ph") == "X" and event.get("cat") in WORK:
            streams[f"stream {event['tid']}"].append((event["ts"], event["ts"] + event["dur"]))
    return streams


def of_jax(data: bytes, folder: Path) -> dict[str, list[tuple[float, float]]]:
    """Spans in microseconds of each stream, from the Chrome trace that JAX writes of a profile."""
    from jax._src.lib import _profiler

    _profiler.ProfilerSession().export(data, str(folder))
    (file,) = folder.rglob("*.trace.json.gz")
    events = json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]
    gpus = {
        event["pid"]
        for event in events
        if event.get("name") == "process_name" and "GPU" in event["args"]["name"]
    }
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events
        if event.get("name") == "thread_name" and event["pid"] in gpus
    }
    streams: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for event in events:
        name = names.get((event.get("pid"), event.get("tid")), "")
        if event.get("ph") == "X" and name.startswith("Stream #"):
            streams[name].append((event["ts"], event["ts"] + event["dur"]))
    return streams


def compare(
    label: str, record: Record, watched: Watched, streams: dict[str, list[tuple[float, float]]]
) -> None:
    busy = covered([span for spans in streams.values() for span in spans]) / 1e6
    lines = sum(covered(spans) for spans in streams.values()) / 1e6
    ours = record.reading("device_time")
    assert ours.value is not None, ours.why_missing
    rows = [row for row in record.ops if row.plane == "device"]
    own = sum(row.self_time for row in rows)
    print(
        f"{label}: busy {ours.value * 1e3:.3f} ms, independent {busy * 1e3:.3f} ms, ratio "
        f"{ours.value / busy:.4f}; self times {own * 1e3:.3f} ms, lines {lines * 1e3:.3f} ms on "
        f"{len(streams)} streams; {ours.samples} intervals; {' '.join(record.notes)[:110]}"
    )
    assert record.mode == "profiled"
    assert ours.value == pytest.approx(busy, rel=0.02)
    assert own == pytest.approx(lines, rel=0.01)


def torch_cells(torch: Any) -> dict[str, Callable[[], object]]:
    big = torch.randn(4096, 4096, device="cuda")
    half = big.half()
    small = torch.randn(64, device="cuda")
    images = torch.randn(64, 64, 56, 56, device="cuda")
    convolution = torch.nn.Conv2d(64, 64, 3, padding=1).cuda()
    pinned = torch.randn(4096, 4096).pin_memory()
    other = torch.cuda.Stream()
    model = torch.nn.Sequential(
        torch.nn.Conv2d(64, 32, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(10)
    ).cuda()
    model(images)
    optimizer = torch.optim.Adam(model.parameters())
    encoder = torch.nn.TransformerEncoderLayer(256, 8, batch_first=True).cuda()
    sequences = torch.randn(32, 128, 256, device="cuda")

    def two_streams() -> None:
        other.wait_stream(torch.cuda.current_stream())
        for _ in range(20):
            big @ big
            with torch.cuda.stream(other):
                half @ half

    def training() -> None:
        for _ in range(10):
            optimizer.zero_grad()
            model(images).square().mean().backward()
            optimizer.step()

    def small_kernels() -> None:
        x = small
        for _ in range(3000):
            x = x + 1

    def copies() -> None:
        for _ in range(10):
            pinned.to("cuda", non_blocking=True)
            big.to("cpu")

    def waiting() -> None:
        for _ in range(100):
            (big[:512, :512] @ big[:512, :512]).sum().item()

    return {
        "matrix products": lambda: [big @ big for _ in range(20)],
        "half-precision products": lambda: [half @ half for _ in range(50)],
        "convolutions": lambda: [convolution(images) for _ in range(30)],
        "small kernels": small_kernels,
        "copies": copies,
        "memory sets": lambda: [torch.zeros(4096, 4096, device="cuda") for _ in range(50)],
        "two streams": two_streams,
        "a training step": training,
        "an encoder": lambda: [encoder(sequences) for _ in range(20)],
        "waiting for every result": waiting,
    }


def jax_cells(jax: Any) -> dict[str, Callable[[], object]]:
    import numpy as np

    jnp = jax.numpy
    gpu = jax.devices("gpu")[0]
    big = jax.device_put(jnp.ones((4096, 4096)), gpu)
    half = big.astype(jnp.bfloat16)
    small = jax.device_put(jnp.ones(64), gpu)
    images = jax.device_put(jnp.ones((32, 64, 56, 56)), gpu)
    kernel = jax.device_put(jnp.ones((64, 64, 3, 3)), gpu)
    host = np.ones((4096, 4096), np.float32)
    product = jax.jit(lambda x: x @ x)
    convolution = jax.jit(lambda x, k: jax.lax.conv(x, k, (1, 1), "SAME"))
    increase = jax.jit(lambda x: x + 1)
    loop = jax.jit(lambda x: jax.lax.fori_loop(0, 50, lambda _, y: jnp.sin(y @ y / 4096), x))
    loss = jax.jit(jax.grad(lambda w, x: jnp.tanh(x @ w).mean()))
    others = {
        "sorting": jax.jit(lambda x: jnp.sort(x, axis=0)),
        "sums": jax.jit(lambda x: x.sum(0) + x.max(1)),
        "elementwise": jax.jit(lambda x: jnp.exp(jnp.sin(x)) * 2),
    }

    def small_kernels() -> None:
        x = small
        for _ in range(2000):
            x = increase(x)
        x.block_until_ready()

    def training() -> None:
        w = big
        for _ in range(20):
            w = w - 0.1 * loss(w, big)
        w.block_until_ready()

    def copies() -> None:
        for _ in range(10):
            np.asarray(jax.device_put(host, gpu))

    def repeated(function: Callable[..., Any], *inputs: Any) -> Callable[[], object]:
        return lambda: jax.block_until_ready([function(*inputs) for _ in range(20)])

    return {
        "matrix products": repeated(product, big),
        "half-precision products": repeated(product, half),
        "convolutions": repeated(convolution, images, kernel),
        "small kernels": small_kernels,
        "copies": copies,
        "a loop in a program": repeated(loop, big),
        "a training step": training,
        **{name: repeated(function, big) for name, function in others.items()},
    }


def test_pytorchs_device_time_and_self_times_are_those_of_its_chrome_trace(torch, tmp_path):
    cells = torch_cells(torch)
    assert len(cells) == 10
    for number, (label, cell) in enumerate(cells.items()):
        cell()
        torch.cuda.synchronize()
        record, watched = profiled("torch", cell)
        compare(f"PyTorch, {label}", record, watched, of_torch(watched.native, tmp_path / f"{number}.json"))


def test_pytorchs_top_ten_is_that_of_key_averages_on_the_gpu_and_on_the_host(torch):
    cell = torch_cells(torch)["a training step"]
    cell()
    torch.cuda.synchronize()
    record, watched = profiled("torch", cell)
    averages = watched.native.key_averages()
    on_gpu = [
        one
        for one in averages
        if "CUDA" in str(one.device_type) and not getattr(one, "is_user_annotation", 0)
    ]
    theirs = sorted(on_gpu, key=lambda one: -one.self_device_time_total)[:10]
    mine = [row for row in record.ops if row.plane == "device"][:10]
    for row, one in zip(mine, theirs, strict=True):
        print(f"{row.name[:60]:60} {row.self_time * 1e6:12.1f} us {one.self_device_time_total:12.1f} us")
        assert row.name == one.key
        assert row.count == one.count
        assert row.self_time * 1e6 == pytest.approx(one.self_device_time_total, rel=0.01)
    on_host = [one for one in averages if str(one.device_type) == "DeviceType.CPU"]
    theirs = sorted(on_host, key=lambda one: -one.self_cpu_time_total)[:10]
    mine = [row for row in record.ops if row.plane == "host"][:10]
    for row, one in zip(mine, theirs, strict=True):
        print(f"{row.name[:60]:60} {row.self_time * 1e6:12.1f} us {one.self_cpu_time_total:12.1f} us")
        assert row.name == one.key
        assert row.self_time * 1e6 == pytest.approx(one.self_cpu_time_total, rel=0.01, abs=1)


def test_jaxs_device_time_and_self_times_are_those_of_its_chrome_trace(jax, tmp_path):
    cells = jax_cells(jax)
    assert len(cells) == 10
    for number, (label, cell) in enumerate(cells.items()):
        cell()
        record, watched = profiled("jax", cell)
        keep(label, record, watched.session._xspace)
        compare(f"JAX, {label}", record, watched, of_jax(watched.session._xspace, tmp_path / str(number)))


def keep(label: str, record: Record, data: bytes) -> None:
    if KEEP in os.environ:
        folder = Path(os.environ[KEEP])
        name = f"jax_{label.replace(' ', '_')}"
        (folder / f"{name}.xplane.pb").write_bytes(data)
        (folder / f"{name}.json").write_text(json.dumps(record.to_json()["ops"]))


def test_a_profiled_cell_that_leaves_the_gpu_alone_makes_no_context_and_knows_no_time_of_it(torch):
    import subprocess
    import sys

    code = (
        "import torch\n"
        "from jupyter_mlgpu.measure.frameworks import registry\n"
        "session = registry.profiler('torch').start()\n"
        "torch.ones(3) + 1\n"
        "profile = session.stop()\n"
        "assert profile.events\n"
        "assert not [one for one in profile.events if one.plane == 'device']\n"
        "assert not torch.cuda.is_initialized()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
