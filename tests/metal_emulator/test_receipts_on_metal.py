"""Receipts of cells that run on a Metal device, here an emulated one with TensorFlow's own placer."""

from __future__ import annotations

import pytest

from jupyter_mlgpu.show.page.view import MIME_TYPE as PAGE

IMPORT = """
import tensorflow as tf
a = tf.ones((32, 32))
"""

#: Each kernel takes 20 ms of the device's queue, far behind the host.
SLOW = {"METAL_EMULATOR_KERNEL_US": "20000"}


@pytest.fixture(scope="module")
def metal(start_on_metal_for_module):
    notebook = start_on_metal_for_module()
    assert notebook.run(IMPORT).status == "ok"
    return notebook


@pytest.fixture(scope="module")
def slow(start_on_metal_for_module):
    notebook = start_on_metal_for_module(**SLOW)
    assert notebook.run(IMPORT).status == "ok"
    return notebook


def readings(receipt):
    return {one["quantity"]: one for one in receipt["readings"]}


def test_a_cell_on_the_gpu_says_so(metal):
    first, second = (metal.run("b = a @ a") for _ in range(2))
    for one in (first, second):
        assert one.ran_on == {"gpu:0": 1}
        assert one.receipt["device"]["ran_on"][0]["kind"] == "metal"


def test_a_cell_that_uses_nothing_says_so_though_the_device_is_waited_for(metal):
    assert metal.run("q = 1").receipt["device"]["ran_on"] == []


def test_a_cell_on_the_cpu_reads_the_cpu_alone(metal):
    told = metal.run("with tf.device('CPU:0'):\n    c = tf.ones((4, 4)) + 1")
    assert set(told.ran_on) == {"cpu:0"}


def test_the_allocators_zeros_are_no_figures(metal):
    peak = readings(metal.run("b = a @ a").receipt)["peak_memory_allocator"]
    assert peak["value"] is None
    assert "On Metal, TensorFlow's allocator counts nothing" in peak["why_missing"]


def test_wall_time_covers_the_queue_of_the_device(slow):
    told = slow.run("b = a\nfor _ in range(10):\n    b = b @ a")
    assert told.value("wall_time") >= 0.2
    assert told.ran_on == {"gpu:0": 10}


def test_a_user_s_callbacks_are_told_nothing_of_our_fence(metal):
    metal.run(
        "from tensorflow.python.framework import op_callbacks\n"
        "seen = []\n"
        "def note(op_type, inputs, attrs, outputs, op_name=None, graph=None):\n"
        "    seen.append(op_type)\n"
        "op_callbacks.add_op_callback(note)"
    )
    try:
        metal.run("b = a @ a")
        metal.run("q = 1")
        assert metal.evaluate("[one.decode() if isinstance(one, bytes) else one for one in seen]") == [
            "MatMul"
        ]
    finally:
        metal.run("op_callbacks.remove_op_callback(note)")


def test_a_race_names_the_device_it_ran_on(metal):
    told = metal.run("%%mlc_race\na @ a")
    assert told.status == "ok", told
    page = next(data[PAGE] for _, data in told.outputs if PAGE in data)
    assert [one["name"] for one in page["charts"][0]["series"]] == ["cpu:0", "gpu:0"]
    assert "objects created on another device" not in str(page)


def test_a_profile_has_no_shares_where_the_device_is_not_in_it(metal):
    told = metal.run("%%mlc_trace --ops\nb = a @ a").receipt
    assert told["ops"]
    assert {one["share"] for one in told["ops"]} == {None}
    assert any("does not see a Mac's GPU" in note for note in told["notes"])


def test_the_device_is_switched_without_a_restart(metal):
    try:
        assert metal.run("%mlc_device cpu").status == "ok"
        assert set(metal.run("b = tf.ones((4, 4)) + 1").ran_on) == {"cpu:0"}
        assert metal.run("%mlc_device gpu").status == "ok"
        assert set(metal.run("b = tf.ones((4, 4)) + 1").ran_on) == {"gpu:0"}
    finally:
        metal.run("%mlc_device auto")


def test_its_lines_are_explained(start_on_metal):
    notebook = start_on_metal()
    told = notebook.run(IMPORT).receipt
    texts = {one["text"]: one["meaning"] for one in told["logs"]}
    assert any(
        text.startswith("Metal device set to: Apple M0 (emulated)") and meaning
        for text, meaning in texts.items()
    )


def test_the_gpu_is_listed_as_metal(metal):
    listed = metal.run("%mlc_device list")
    assert "gpu:0" in str(listed.outputs)
    assert "etal" in str(listed.outputs)
    assert "run on an emulated device" in str(listed.outputs)


def test_status_says_that_nothing_is_known_of_its_memory(metal):
    told = metal.run("%mlc_device status")
    assert told.status == "ok"
    assert "On Metal, TensorFlow's allocator counts nothing" in str(told.outputs)


def test_growth_is_followed_where_the_allocator_tells_nothing(metal):
    metal.run("kept = []")
    for _ in range(8):
        told = metal.run("kept.append(a @ a)")
        assert told.status == "ok"
        assert not any("grew" in note and "gpu" in note for note in told.receipt["notes"])


def test_a_whole_fit_of_keras_runs_there_and_learns(start_on_metal):
    notebook = start_on_metal(KERAS_BACKEND="tensorflow")
    notebook.run("import keras, numpy as np")
    told = notebook.run(FIT)
    assert told.status == "ok", told.error
    assert told.ran_on.keys() == {"gpu:0", "cpu:0"}
    assert told.ran_on["gpu:0"] > told.ran_on["cpu:0"]
    first, last = notebook.evaluate("[losses[0], losses[-1]]")
    assert last < first


FIT = """
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).random((256, 8)).astype("float32")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(1)])
model.compile("adam", "mse", jit_compile=False)
losses = model.fit(x, x.sum(axis=1), batch_size=32, epochs=3, verbose=0).history["loss"]
"""
