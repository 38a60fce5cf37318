"""Energy, the GPU's memory and live counters in a real kernel, with a fake NVIDIA driver or without one."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from jupyter_mlgpu.measure.probes.energy.counters import NOT_FOUND_YET

pytestmark = pytest.mark.kernel

FAKE = str(Path(__file__).parents[1] / "support" / "fake_nvml")
NAMES = "[t.name for t in __import__('threading').enumerate() if 'mlgpu-sampler' in t.name]"
THREADS = f"print({NAMES})"
#: What NVML is asked for at the first cell takes a moment: a cell that waits for the answer.
#: The sampler's thread stays for a moment where a user's stays for seconds.
FOUND = "kit = get_ipython()._jupyter_mlgpu.runtime\ngpus = kit.gpus.get()\nkit.sampler._linger = 0.2"


def fake_driver(**more):
    path = os.pathsep.join(filter(None, [FAKE, os.environ.get("PYTHONPATH")]))
    return {"PYTHONPATH": path, **more}


def with_counters_found(notebook):
    """Its energy counters are found out beside the first cells."""
    notebook.run(FOUND)
    deadline = time.monotonic() + 30
    while reading(notebook.run("found = True"), "energy")["why_missing"] == NOT_FOUND_YET:
        assert time.monotonic() < deadline, "the energy counters were not found out"
    return notebook


@pytest.fixture
def gpu(reload_kernel):
    return with_counters_found(reload_kernel(**fake_driver()))


@pytest.fixture
def no_gpu(reload_kernel):
    return with_counters_found(reload_kernel(**fake_driver(FAKE_NVML="none")))


def reading(result, quantity):
    return next(one for one in result.receipt["readings"] if one["quantity"] == quantity)


def of_device(result):
    energy = [one for one in result.receipt["readings"] if one["quantity"] == "energy"]
    return next(one for one in energy if one["scope"] == "device")


def watch(notebook):
    return notebook.ask("jupyter_mlgpu_request", {"type": "watch"})


def counters(notebook):
    deltas = notebook.deltas()
    return [event for delta in deltas for event in delta["events"] if event["type"] == "counters"]


def wait_for_counters(notebook, number):
    deadline = time.monotonic() + 60
    while len(found := counters(notebook)) < number:
        assert time.monotonic() < deadline, f"{len(found)} events of {number}"
    return found


def wait_until_there_is_no_thread(notebook):
    deadline = time.monotonic() + 30
    # Asked without a cell: at each one the kernel's account is looked at.
    while notebook.evaluate(NAMES):
        assert time.monotonic() < deadline, "the sampler's thread did not end"


def test_without_a_driver_the_gpus_memory_and_energy_say_why_they_are_missing(no_gpu):
    result = no_gpu.run("x = 1")
    why = "No NVIDIA driver responds here (Driver Not Loaded)."
    memory, energy = reading(result, "peak_memory_device"), reading(result, "energy")
    assert (memory["value"], memory["why_missing"]) == (None, why)
    # A processor whose counter may be read has an energy of its own, which is no GPU's.
    assert energy["scope"] != "device"
    assert energy["value"] is not None or why in energy["why_missing"] or "Too short" in energy["why_missing"]


@pytest.mark.slow
def test_without_a_driver_no_thread_of_ours_is_left_when_no_cell_runs(no_gpu):
    assert no_gpu.run("x = 1").status == "ok"
    wait_until_there_is_no_thread(no_gpu)


def test_a_cell_of_two_seconds_has_the_energy_of_its_gpu_within_the_uncertainty(gpu):
    cell = "import time\nbegun = time.perf_counter()\ntime.sleep(2)\nprint(time.perf_counter() - begun)"
    for _ in range(3):  # where the first look comes late on a busy machine, the energy is too uncertain
        energy = of_device(result := gpu.run(cell))
        if energy["value"] is not None:
            break
    assert energy["detail"] == "NVML energy counter, all processes on GPU 0 (Fake GPU)"
    seconds = reading(result, "wall_time")["value"]
    assert abs(energy["value"] - 300 * seconds) <= energy["uncertainty"] + 300 * (
        seconds - float(result.text)
    )
    assert energy["uncertainty"] <= 0.1 * energy["value"]


def test_a_short_cell_has_no_energy_but_the_gpus_memory(gpu):
    result = gpu.run("x = 1")
    energy, memory = reading(result, "energy"), reading(result, "peak_memory_device")
    assert energy["value"] is None
    assert "Too short to measure" in energy["why_missing"]
    assert (memory["value"], memory["scope"]) == (2 * 1024**3, "device")
    assert memory["samples"] >= 2


def test_the_peak_of_the_gpus_memory_is_what_came_and_went_within_the_cell(gpu):
    result = gpu.run(
        "import pynvml, time\npynvml.used = 9 * 1024**3\ntime.sleep(0.5)\npynvml.used = 2 * 1024**3"
    )
    assert reading(result, "peak_memory_device")["value"] == 9 * 1024**3


def test_the_counter_is_read_by_the_samplers_thread_and_not_before_a_short_cell_may_run(gpu):
    gpu.run("import pynvml, threading; pynvml.readers.clear()")
    for _ in range(5):
        gpu.run("x = 1")
    told = gpu.run("print(set(pynvml.readers) - {'jupyter_mlgpu-sampler'})")
    assert told.text == "set()\n"


def test_the_samplers_thread_is_there_while_a_cell_runs_and_gone_after_it(gpu):
    assert gpu.run(THREADS).text == "['jupyter_mlgpu-sampler']\n"
    gpu.run("%mlc_trace off")
    wait_until_there_is_no_thread(gpu)


def test_a_cell_that_raises_or_is_interrupted_leaves_no_thread(gpu):
    assert gpu.run("1 / 0").error == "ZeroDivisionError: division by zero"
    message = gpu.send("import time\nprint('begun', flush=True)\ntime.sleep(60)")
    gpu.hear_until(lambda heard: heard["msg_type"] == "stream")
    gpu.manager.interrupt_kernel()
    result = gpu.wait(message)
    assert result.error.startswith("KeyboardInterrupt")
    assert result.receipt["outcome"] == "interrupted"
    gpu.run("%mlc_trace off")
    wait_until_there_is_no_thread(gpu)


def test_a_driver_that_fails_in_the_middle_of_a_cell_costs_its_readings_only(start_kernel):
    gpu = start_kernel(**fake_driver())
    gpu.run(FOUND)
    result = gpu.run(
        "import pynvml, time\n"
        "def fail(handle): raise pynvml.NVMLError('GPU is lost')\n"
        "time.sleep(0.5)\n"
        "pynvml.nvmlDeviceGetTotalEnergyConsumption = pynvml.nvmlDeviceGetMemoryInfo = fail\n"
        "time.sleep(1)\n"
        "print('done')"
    )
    assert (result.status, result.text) == ("ok", "done\n")
    for quantity in ("energy", "peak_memory_device"):
        assert reading(result, quantity)["value"] is None
        assert "GPU is lost" in reading(result, quantity)["why_missing"]


def test_a_browser_that_watches_is_sent_counters_also_while_a_cell_runs(gpu, gate):
    message = gpu.send(gate.cell)
    answer = watch(gpu)
    assert answer["status"] == "ok"
    assert answer["watching"] is True
    events = wait_for_counters(gpu, 4)
    gate.open()
    gpu.wait(message)
    assert events[0]["series"]
    names = [(one["device"], one["quantity"], one["unit"]) for one in events[0]["series"]]
    values = dict(zip(names, events[3]["values"], strict=True))
    assert values["GPU 0 (Fake GPU)", "power", "W"] == 300
    assert values["GPU 0 (Fake GPU)", "memory", "bytes"] == 2 * 1024**3
    assert values["machine", "memory", "bytes"] > values["process", "memory", "bytes"] > 0
    assert 0 <= values["machine", "utilisation", "share"] <= 1


def test_a_page_that_is_reloaded_finds_the_counters_history_in_the_snapshot(gpu):
    assert gpu.ask("jupyter_mlgpu_snapshot_request")["counters"] is None
    watch(gpu)
    events = wait_for_counters(gpu, 3)
    state = gpu.ask("jupyter_mlgpu_snapshot_request")["counters"]
    assert state["watching"] is True
    assert [event["t"] for event in events] == [at for at, _ in state["history"]][: len(events)]
    assert state["t"] >= events[-1]["t"]
    assert len(state["series"]) == len(events[-1]["values"])


@pytest.mark.slow
def test_a_kernel_that_nobody_watches_sends_no_counters_and_has_no_thread(no_gpu):
    wait_until_there_is_no_thread(no_gpu)
    time.sleep(1.5)
    assert counters(no_gpu) == []


def test_unloading_ends_the_watch(gpu):
    watch(gpu)
    wait_for_counters(gpu, 1)
    gpu.run("%unload_ext jupyter_mlgpu")
    wait_until_there_is_no_thread(gpu)


def test_a_request_that_is_not_understood_is_an_answer_and_breaks_nothing(no_gpu):
    for kind in ("dance", None, ["watch"], {"a": 1}):
        answer = no_gpu.ask("jupyter_mlgpu_request", {"type": kind})
        assert answer["status"] == "error", kind
    assert watch(no_gpu)["status"] == "ok"
