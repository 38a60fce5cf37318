"""A training step on two real engines with TensorFlow: computing and communicating, apart."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jupyter_mlgpu
from jupyter_mlgpu.show.engines.page import phases_table
from jupyter_mlgpu.teach import lessons
from tests.support.ports import free_ports

pytestmark = [pytest.mark.kernel, pytest.mark.needs("tensorflow"), pytest.mark.slow]

STEPS = 3
#: Seconds that engine 1 is made slower, each step.
SLOWER = 0.3

SET_UP = """
import json, os, time
os.environ["TF_CONFIG"] = json.dumps(
    {"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}}
)
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
"""

MODEL = """
import jupyter_mlgpu

weights = tf.Variable(tf.zeros([64, 10]))
images = tf.random.stateless_normal([128, 64], [rank, 7])  # each engine has images of its own
labels = tf.random.stateless_uniform([128], [rank, 8], 0, 10, tf.int32)


@tf.function
def gradient():
    def own():
        with tf.GradientTape() as tape:
            scores = images @ weights
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores))
        return tape.gradient(loss, weights)

    return strategy.run(own)


@tf.function
def mean_of_all(mine):
    return strategy.reduce(tf.distribute.ReduceOp.MEAN, mine, axis=None)


mean_of_all(gradient())  # the first call makes the graphs
"""

TRAIN = """
for step in range(steps):
    with jupyter_mlgpu.trace("compute"):
        mine = gradient()
        if rank == 1:  # the planted slowness: it begins when the other one has computed
            while not os.path.exists(f"{folder}/{step}"):
                time.sleep(0.005)
            time.sleep(slower)
    if rank == 0:
        open(f"{folder}/{step}", "w").close()
    with jupyter_mlgpu.trace("communicate"):
        both = mean_of_all(mine)
    with jupyter_mlgpu.trace("update"):
        weights.assign_sub(0.2 * both)
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A client of two engines that have trained a few steps together."""
    folder = tmp_path_factory.mktemp("steps")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
        started = lessons.engines(2)
        try:
            client = started.client
            client[:].push({"workers": [f"127.0.0.1:{port}" for port in free_ports(2)]}, block=True)
            client[:].push({"steps": STEPS, "slower": SLOWER, "folder": str(folder)}, block=True)
            for number in client.ids:
                client[number].push({"rank": number}, block=True)
            for cell in ("%load_ext jupyter_mlgpu", SET_UP, MODEL, TRAIN):
                client[:].execute(cell, silent=False, block=True)
            yield client
        finally:
            started.stop()


def test_the_engines_have_learnt_the_same_from_each_other(trained: Any) -> None:
    trained[:].execute("total = float(tf.reduce_sum(tf.abs(weights)))", block=True)
    first, second = trained[:].pull("total", block=True)
    assert first == second > 0


def test_a_slow_engine_shows_up_as_the_waiting_of_the_other(trained: Any) -> None:
    found = jupyter_mlgpu.collect(trained)
    fast, slow = found.phases
    assert (fast.computes, fast.exchanges) == (slow.computes, slow.exchanges) == (STEPS, STEPS)
    planted = STEPS * SLOWER * 1e9
    assert slow.compute_ns >= planted
    assert fast.waiting_ns >= planted / 2 > slow.waiting_ns
    assert fast.communicate_ns >= fast.waiting_ns
    assert fast.unsure_ns == 0  # both read the clock of this machine
    assert "Communication includes waiting" in repr(found)
    print(f"\n    {phases_table(found).rows}")


def test_a_trace_for_perfetto_has_both_apart_in_each_engine(trained: Any, tmp_path: Path) -> None:
    jupyter_mlgpu.collect(trained).save(tmp_path / "x.json")
    trace = json.loads((tmp_path / "x.json").read_text())
    processes = {
        event["pid"]: event["args"]["name"]
        for event in trace["traceEvents"]
        if event["name"] == "process_name"
    }
    for number in (0, 1):
        (process,) = [pid for pid, name in processes.items() if name.startswith(f"engine {number},")]
        slices = [one for one in trace["traceEvents"] if one["ph"] == "X" and one["pid"] == process]
        named = [one for one in slices if one["cat"] == "block"]
        named.sort(key=lambda one: one["ts"])
        parts = ["compute", "communicate", "update"] * STEPS
        assert [one["name"].split(" ", 1)[1] for one in named] == parts
        # They lie inside the cell that trained, one after the other.
        (cell,) = [one for one in slices if one["cat"] == "cell" and "for step" in one["name"]]
        assert all(cell["ts"] <= one["ts"] and one["dur"] <= cell["dur"] for one in named)
        for one, following in itertools.pairwise(named):
            assert one["ts"] + one["dur"] <= following["ts"]
    told = trace["otherData"]["engines"]
    assert all(one["phases"]["exchanges"] == STEPS for one in told)
