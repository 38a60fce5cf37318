"""A browser asks a real kernel about one cell, also while another one runs."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.kernel

#: Puts a record of this run into the kernel, with a profile of as many events as are wanted.
PROFILED = """
from msgspec.structs import replace

from jupyter_mlgpu.measure.ops.events import Event, Profile
from jupyter_mlgpu.testing import example_record

def profiled(events, number=1000):
    kit = get_ipython()._jupyter_mlgpu.runtime
    record = replace(example_record(number, run=kit.recorder.run.id), mode="profiled")
    made = (Event(f"op {n % 50}", "op", "host", "host", "thread 1", n * 10, 8) for n in range(events))
    kit.profiles.add(record.key, (Profile("torch", "fake profiler", tuple(made), 0, events * 10),))
    kit.store.add(record)
    print(record.run.id)
"""


@pytest.fixture
def notebook(reload_kernel):
    return reload_kernel()


def asked(notebook, kind, run, sequence=1000):
    return notebook.ask("jupyter_mlgpu_request", {"type": kind, "run": run, "sequence": sequence})


def test_a_large_profile_is_answered_while_a_cell_runs(notebook, tmp_path):
    run = notebook.run(f"{PROFILED}\nprofiled(100_000)").text.strip()
    gate = tmp_path / "gate"
    wait = f"while not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.01)"
    busy = notebook.send(f"import pathlib, time\n{wait}")
    answer = asked(notebook, "inside", run)
    assert answer["status"] == "ok"
    assert answer["timeline"] == "kept"
    trace = asked(notebook, "inside_trace", run)
    assert len(json.loads(trace["trace"])["traceEvents"]) == trace["events"] == 50_000
    assert asked(notebook, "inside_record", run)["record"]["cell"]["sequence"] == 1000
    gate.touch()
    assert notebook.wait(busy).status == "ok"


def test_a_cell_that_was_watched_has_its_looks_at_memory(notebook):
    notebook.ask("jupyter_mlgpu_request", {"type": "watch"})
    code = (
        "watch = get_ipython()._jupyter_mlgpu.live_counters\n"
        "import time\n"
        "end = time.monotonic() + 60\n"
        "before = len(watch.state()['history']) if watch.state() else 0\n"
        "while len((watch.state() or {'history': []})['history']) < before + 4 and time.monotonic() < end:\n"
        "    time.sleep(0.05)"
    )
    record = notebook.run(code).receipt
    wall = next(one["value"] for one in record["readings"] if one["quantity"] == "wall_time")
    answer = asked(notebook, "inside", record["run"]["id"], record["cell"]["sequence"])
    samples = answer["samples"]
    assert answer["timeline"] == "light"
    assert len(samples["samples"]) >= 3
    assert all(0 <= at <= wall for at, _ in samples["samples"])
    process = [one["device"] for one in samples["series"]].index("process")
    assert all(values[process] > 10 * 1024**2 for _, values in samples["samples"])
    notebook.run("%mlc_trace export watched.json")
    events = json.loads((notebook.folder / "watched.json").read_text())["traceEvents"]
    drawn = [one for one in events if one["name"].startswith("process memory, ") and one["ph"] == "C"]
    assert [one["args"]["bytes"] for one in drawn][: len(samples["samples"])] == [
        values[process] for _, values in samples["samples"]
    ]
    assert any(one["name"].startswith("machine utilisation, ") for one in events)
    notebook.run("%mlc_trace clear")
    forgotten = asked(notebook, "inside", record["run"]["id"], record["cell"]["sequence"])
    assert (forgotten["samples"], forgotten["why_no_samples"]) == (None, "gone")


@pytest.mark.parametrize("kind", ["inside", "inside_trace", "inside_record"])
def test_what_names_no_record_is_answered_with_a_sentence(notebook, kind):
    for content in ({}, {"run": 7, "sequence": 1}, {"run": "x", "sequence": [1]}):
        answer = notebook.ask("jupyter_mlgpu_request", {"type": kind, **content})
        assert (answer["status"], answer["evalue"][-1]) == ("error", ".")
    assert notebook.ask("jupyter_mlgpu_request", {"type": "watch"})["status"] == "ok"
