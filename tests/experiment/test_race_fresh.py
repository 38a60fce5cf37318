"""A lane in a process of its own: what it tells, what hides the other devices, and how it may end."""

import json
import sys

import pytest

from jupyter_mlgpu.experiment.race import fresh
from jupyter_mlgpu.experiment.race.job import JOB, MESSAGES, Job, News, NewsReader, NewsWriter
from jupyter_mlgpu.experiment.race.result import Timing
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.record.errors import RaceError

CPU = Device("fake", "cpu:0", "cpu", "cpu")

# What a fresh process does here: a few lines of Python, with `tell` at hand.
START = """
import json, os, signal, sys, time
folder = sys.argv[1]
job = json.load(open(os.path.join(folder, "job.json")))
def tell(what):
    with open(os.path.join(folder, "news.jsonl"), "a") as file:
        file.write(json.dumps(what) + "\\n")
TIMING = {"size": 10, "samples": [1.0, 2.0], "warmups": 2, "steady": True}
"""


@pytest.fixture
def heard():
    return []


def lane(heard, code, silence_s=60.0, **more):
    """The lane and the error of a process that runs these lines."""
    processes = fresh.FreshProcess(
        on_output=heard.append,
        on_error=heard.append,
        silence_s=silence_s,
        interpreter=(sys.executable, "-c", START + code),
        **more,
    )
    return processes.lane(Job("fake", "cpu:0", "x", None, "n", (10, 20), 2), CPU, {})


def test_the_lane_is_what_the_process_told(heard):
    told, error = lane(
        heard,
        "print('seen')\n"
        "tell({'lane': {'device': 'cpu:0', 'kind': 'cpu', 'hardware': 'a CPU', 'timings': [TIMING]}, "
        "'versions': {'fake': '1'}})",
    )
    assert error is None
    assert (told.device, told.hardware, told.timings[0].samples) == ("cpu:0", "a CPU", (1.0, 2.0))
    assert "".join(heard) == "seen\n"


def test_a_process_that_dies_keeps_what_it_measured_and_costs_only_its_lane(heard):
    told, error = lane(
        heard,
        "tell({'timing': TIMING})\n"
        "tell({'run': {'device': 'cpu:0', 'size': 20, 'number': 1, 'repeats': 2}})\n"
        "os.kill(os.getpid(), signal.SIGABRT)",
    )
    assert error is None
    assert [one.size for one in told.timings] == [10]
    assert told.problem == "its process was killed by SIGABRT at n = 20"


def test_a_process_that_exits_without_a_word_is_said(heard):
    told, error = lane(heard, "sys.exit(3)")
    assert (told.timings, told.problem, error) == ((), "its process exited with code 3", None)


def test_a_process_that_hangs_is_ended_and_said(heard):
    told, error = lane(heard, "tell({'timing': TIMING})\ntime.sleep(1000)", silence_s=2.0)
    assert error is None
    assert [one.size for one in told.timings] == [10]
    assert told.problem == "its process was ended because it reported nothing for 2 s"


def test_an_error_of_the_users_code_is_shown_and_ends_the_race(heard):
    told, error = lane(
        heard,
        "tell({'error': {'type': 'NameError', 'text': 'no x', 'traceback': 'Traceback of theirs'}})\n"
        "sys.exit(1)",
    )
    assert isinstance(error, RaceError)
    assert "NameError: no x" in str(error)
    assert "--setup" in str(error)
    assert heard == ["Traceback of theirs"]
    assert told.problem == "ended by an error before the first run"


def test_an_error_of_ours_is_told_as_it_is(heard):
    _, error = lane(heard, "tell({'error': {'type': 'DeviceError', 'text': 'No gpu.', 'traceback': None}})")
    assert str(error) == "No gpu."
    assert heard == []


def test_an_interrupt_ends_the_process_and_keeps_what_was_measured(heard):
    def interrupt(progress):
        raise KeyboardInterrupt

    told, error = lane(
        heard,
        "tell({'timing': TIMING})\n"
        "tell({'run': {'device': 'cpu:0', 'size': 20, 'number': 1, 'repeats': 2}})\n"
        "time.sleep(1000)",
        on_run=interrupt,
    )
    assert isinstance(error, KeyboardInterrupt)
    assert [one.size for one in told.timings] == [10]
    assert told.problem == "interrupted"


def test_the_job_reaches_the_process_whole(tmp_path):
    job = Job("torch", "gpu:0", "x @ x", "import torch", "n", (10, 0.5), 3)
    job.write(tmp_path)
    assert Job.read(tmp_path) == job
    written = json.loads((tmp_path / JOB).read_text())
    assert written["job"]["sizes"] == [10, 0.5]
    assert written["registered"] == ["torch", "jupyter_mlgpu.measure.frameworks.torch:FRAMEWORK"]


def test_a_line_that_is_not_whole_yet_waits(tmp_path):
    listener = NewsReader(tmp_path)
    assert list(listener.news()) == []
    first, second = (News(timing=Timing(size, (1.0,), 2, True)) for size in (10, 0.5))
    NewsWriter(tmp_path).write(first)
    with (tmp_path / MESSAGES).open("a") as file:
        file.write('{"timing": {"size": 0.5, "samples": [1.0]')
    assert list(listener.news()) == [first]
    with (tmp_path / MESSAGES).open("a") as file:
        file.write(', "warmups": 2, "steady": true}}\n')
    assert list(listener.news()) == [second]


def gpus(kind, count=2):
    return [CPU, *(Device("fake", f"gpu:{number}", kind, f"{kind}:{number}") for number in range(count))]


def test_each_process_sees_its_own_device_alone(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    cpu, first, second = devices = gpus("cuda")
    assert fresh.hide_others(cpu, devices) == ("cpu:0", {"CUDA_VISIBLE_DEVICES": "-1"})
    assert fresh.hide_others(first, devices) == ("gpu:0", {"CUDA_VISIBLE_DEVICES": "0"})
    assert fresh.hide_others(second, devices) == ("gpu:0", {"CUDA_VISIBLE_DEVICES": "1"})


def test_a_user_who_hid_devices_keeps_their_numbers(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5, 3")
    devices = gpus("cuda")
    assert fresh.hide_others(devices[2], devices) == ("gpu:0", {"CUDA_VISIBLE_DEVICES": "3"})


def test_where_no_variable_hides_devices_nothing_is_set():
    devices = gpus("metal", 1)
    assert fresh.hide_others(devices[1], devices) == ("gpu:0", {})
    assert fresh.hide_others(CPU, [CPU]) == ("cpu:0", {})
    assert fresh.hide_others(CPU, gpus("rocm")) == ("cpu:0", {"HIP_VISIBLE_DEVICES": "-1"})
