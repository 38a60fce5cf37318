"""A forecast of memory against what a third batch then really needed, in a real kernel."""

import pytest

pytestmark = pytest.mark.kernel

NUMPY = """
import numpy as np
def train(batch):
    images = np.ones((batch, 256, 1024), dtype="float32")   # 1 MiB an image
    hidden = images * 2
    return float((images + hidden).sum())
"""

TENSORFLOW = """
import tensorflow as tf
weights = tf.ones((1024, 1024))
def train(batch):
    with tf.GradientTape() as tape:
        tape.watch(weights)
        x = tf.ones((batch * 256, 1024))
        for _ in range(3):
            x = tf.tanh(x @ weights)
        loss = tf.reduce_sum(x)
    return tape.gradient(loss, weights)[0, 0].numpy()
"""


def number(result):
    return result.execution_count


@pytest.mark.parametrize(
    "code",
    [pytest.param(NUMPY, id="numpy"), pytest.param(TENSORFLOW, id="tensorflow", marks=pytest.mark.slow)],
)
def test_a_third_batch_needs_what_two_smaller_ones_foretold_within_15_percent(start_kernel, code):
    notebook = start_kernel()
    assert notebook.run(code + "_ = train(1)").status == "ok"
    small = notebook.run("_ = train(32)")
    large = notebook.run("_ = train(64)")
    pairs = f"32={number(small)} 64={number(large)}"
    said = notebook.run(f"%mlc_trace fits 192 {pairs}").text
    assert said.startswith("Batch size 192 needs about "), said
    told = notebook.run(
        "import jupyter_mlgpu\n"
        f"print(jupyter_mlgpu.fits(192, {{32: {number(small)}, 64: {number(large)}}}).needed)"
    )
    third = notebook.run("_ = train(192)")
    assert float(told.text) == pytest.approx(third.value("peak_memory_process"), rel=0.15)
    tight = notebook.run(f"%mlc_trace fits 192 {pairs} --limit {int(float(told.text))}B").text
    assert "too close to the limit; try 96." in tight or "it does not fit; try 96." in tight
