"""Receipts of cells with MLX on a Mac, whose GPU is emulated (tests/mlx_emulator)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.mlx_emulator import EMULATE
from tests.support.shared_kernels import LOAD

pytestmark = [pytest.mark.kernel, pytest.mark.needs("mlx")]

ROOT = Path(__file__).parents[2]
IMPORT = """
import mlx.core as mx
import mlx.nn as nn
import numpy as np
x = mx.random.normal((400, 400)) / 20
mx.eval(x)
"""


def test_the_contract_suite_passes_on_the_emulated_mac():
    suite = ["-p", "tests.mlx_emulator.plugin", "tests/measure/contract", "-k", "mlx", "-v", "-n", "0"]
    done = subprocess.run([sys.executable, "-m", "pytest", *suite], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:]
    assert "exercised_on_such_hardware[mlx-metal] PASSED" in done.stdout


@pytest.fixture(scope="module")
def mac(start_for_module):
    notebook = start_for_module(extension=False)
    for cell in (EMULATE, LOAD, IMPORT):
        assert notebook.run(cell).status == "ok"
    notebook.open_page()
    return notebook


def places(result):
    return {(one["device"], one["evidence"]) for one in result.receipt["device"]["ran_on"] or ()}


def line(result):
    (text,) = [data["text/plain"] for kind, data in result.outputs if kind == "display_data"]
    return text.splitlines()[0]


def advice(result):
    return (result.receipt.get("limit") or {}).get("next") or ""


@pytest.mark.parametrize(
    "cell",
    [
        "for _ in range(4): mx.eval(x @ x)",
        "print((x @ x).mean())",
        "(x @ x).sum().item()",
        "np.array(x @ x).shape",
        "len((x @ x).tolist())",
        "x @ x",
        "nn.Linear(400, 300)(x)",
    ],
)
def test_a_cell_that_computed_on_the_gpu_used_it(mac, cell):
    told = mac.run(cell)
    assert places(told) == {("gpu:0", "driver")}
    assert "used gpu:0" in line(told)


def test_a_cell_that_computed_nothing_names_what_is_to_come_and_claims_no_place(mac):
    told = mac.run("lazy = x\nfor _ in range(6): lazy = mx.tanh(lazy @ lazy)")
    assert "`lazy` not computed yet (MLX is lazy)" in line(told)
    assert not places(told)
    assert not told.receipt["notes"]


def test_the_cell_that_computes_it_says_whose_work_it_was_and_does_not_wait(mac):
    asked = mac.run("late = x\nfor _ in range(200): late = mx.tanh(late @ late)")
    told = mac.run("print(late.sum())")
    (note,) = told.receipt["notes"]
    assert f"what cell [{asked.execution_count}] had asked for (`late`)" in str(note)
    assert told.receipt["limit"]["kind"] == "device"
    assert "waiting" not in line(told)
    assert places(told) == {("gpu:0", "driver")}


@pytest.mark.parametrize(
    "cell",
    [
        "with mx.stream(mx.cpu): mx.eval(mx.exp(x) + 1)",
        "mx.eval(mx.linalg.svd(x[:300, :300], stream=mx.cpu))",
        "cpu = mx.new_stream(mx.cpu)\nmx.eval(mx.exp(x, stream=cpu))",
    ],
)
def test_what_the_cell_sends_to_the_cpu_itself_is_no_work_of_the_gpu(mac, cell):
    told = mac.run(cell)
    assert not places(told)
    assert "names a device or stream of MLX itself" in str(told.receipt["device"]["why_missing"])
    assert "Waited for the GPU" not in str(told.receipt.get("limit"))


def test_a_default_device_that_changes_leaves_the_place_open(mac):
    told = mac.run("mx.set_default_device(mx.cpu)\nmx.eval(mx.exp(x))")
    assert not places(told)
    assert "default device changed" in str(told.receipt["device"]["why_missing"])
    assert places(mac.run("mx.eval(mx.exp(x))")) == {("cpu:0", "default device")}
    mac.run("mx.set_default_device(mx.gpu)")


def test_a_selected_device_is_the_one_that_was_used(mac):
    assert places(mac.run("%%mlc_device cpu\nmx.eval(mx.exp(x) + 2)")) == {("cpu:0", "default device")}
    assert places(mac.run("%%mlc_device gpu\nmx.eval(mx.exp(x) + 2)")) == {("gpu:0", "driver")}


def test_the_times_of_layers_are_no_gpu_time_and_no_timing(mac):
    told = mac.run("%%mlc_trace --ops\nm = nn.Sequential(nn.Linear(400, 64), nn.ReLU())\nmx.eval(m(x))")
    receipt = told.receipt
    assert receipt["mode"] == "profiled"
    assert {row["name"] for row in receipt["ops"]} >= {"Sequential", "layers.0"}
    assert all(row["plane"] == "host" and row["device"] == "layers" for row in receipt["ops"])
    assert mac.run("vars(nn.Linear)['__call__'].__code__.co_filename").text == ""
    assert "layer_times" not in mac.evaluate("vars(nn.Linear)['__call__'].__code__.co_filename")


def test_an_interrupt_puts_the_methods_of_layers_back(mac):
    told = mac.run("%%mlc_trace --ops\nimport os, signal\nmx.eval(m(x))\nos.kill(os.getpid(), signal.SIGINT)")
    assert "KeyboardInterrupt" in told.error
    assert "layer_times" not in mac.evaluate("vars(nn.Linear)['__call__'].__code__.co_filename")


def test_advice_is_what_mlx_can_follow(mac):
    told = mac.run("for _ in range(100): mx.eval(x @ x)")
    assert "mx.eval" in str(advice(told))
    assert "nvidia" not in str(advice(told))
