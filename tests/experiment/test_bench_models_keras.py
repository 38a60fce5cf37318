"""The models in Keras on JAX and on TensorFlow, each in a process of its own: Keras keeps its framework."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.timeout(600)  # a process that imports TensorFlow and compiles, beside others

START = """
import json
from dataclasses import replace
import keras
from jupyter_mlgpu.measure.frameworks.models import MODELS, Network, tiny

model = tiny(MODELS["distilbert"])
model = replace(model, shape=replace(model.shape, dropout=0.0))
found = {}


def trained(kind, options):
    keras.utils.set_random_seed(0)
    ours = kind(model, 4, options, rate=0.01)
    ours.run(1)
    ours.wait()
    first = ours.loss()
    ours.run(5)
    told = {"first": first, "last": ours.loss(), "parameters": ours.parameters, "type": ours.type_ran}
    ours.close()
    return told
"""

ON_JAX = """
import jax
import numpy as np
from jax import numpy as jnp
from jupyter_mlgpu.measure.frameworks.jax.training import JaxTraining
from jupyter_mlgpu.measure.frameworks.keras.models import wrong_backend
from jupyter_mlgpu.measure.frameworks.jax.keras_layers import one_pass_norm, shifted_depthwise

found["plain"] = trained(JaxTraining, ())
found["scan"] = trained(JaxTraining, ("donate", "scan"))
found["bf16"] = trained(JaxTraining, ("bf16", "donate"))
found["backend"] = [wrong_backend("jax"), wrong_backend("tensorflow")]

x = jnp.asarray(np.random.default_rng(0).normal(0.3, 2.0, (4, 8, 8, 6)), "float32")
weigh = jnp.asarray(np.random.default_rng(1).normal(size=x.shape), "float32")


def compared(first, second):
    # The greatest difference of what two layers give, of their gradients, and of what they keep.
    for layer in (first, second):
        layer.build(x.shape)
    second.set_weights(first.get_weights())
    told = []
    for layer in (first, second):
        values = [one.value for one in layer.trainable_variables]
        rest = [one.value for one in layer.non_trainable_variables]
        given = {"training": True} if rest else {}

        def score(values, x):
            y, kept = layer.stateless_call(values, rest, x, **given)
            return (y * weigh[:, : y.shape[1], : y.shape[2]]).sum(), (y, kept)

        gradients, (y, kept) = jax.grad(score, argnums=(0, 1), has_aux=True)(values, x)
        told.append(jax.tree.leaves((gradients, y, kept)))
    return max(float(jnp.abs(one - other).max()) for one, other in zip(*told, strict=True))


found["norm"] = compared(keras.layers.BatchNormalization(), one_pass_norm()())
for strides, padding in ((1, "same"), (2, "valid")):
    kinds = (keras.layers.DepthwiseConv2D, shifted_depthwise())
    both = [kind(3, strides, padding, use_bias=False) for kind in kinds]
    found[f"depthwise {strides}"] = compared(*both)

"""

PARAMETERS = """
from jupyter_mlgpu.measure.frameworks.keras.models import build

for name, options in (
    ("resnet50", ()),
    ("resnet50", ("no_bias",)),
    ("mobilenetv2", ("one_pass_norm", "shifted_depthwise")),
):
    made = build(replace(MODELS[name], shape=Network(side=32)), options)
    kinds = [type(one).__name__ for one in made.layers]
    found["+".join((name, *options))] = {
        "parameters": sum(one.value.size for one in made.trainable_variables),
        "layers": {one: kinds.count(one) for one in set(kinds)},
    }
"""

ON_TENSORFLOW = """
from jupyter_mlgpu.measure.frameworks.tensorflow.training import TensorFlowTraining

for options in ((), ("function",), ("bf16", "xla"), ("fp16", "function")):
    found["+".join(options) or "plain"] = trained(TensorFlowTraining, options)
"""


def in_a_process(backend: str, code: str) -> dict:
    environment = os.environ | {"KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-c", START + code + "\nprint(json.dumps(found))"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def jax():
    return in_a_process("jax", ON_JAX)


@pytest.fixture(scope="module")
def tensorflow():
    return in_a_process("tensorflow", ON_TENSORFLOW)


@pytest.mark.slow
@pytest.mark.needs("jax", "keras")
class TestOnJax:
    def test_training_lowers_the_loss(self, jax):
        assert jax["plain"]["last"] < 0.7 * jax["plain"]["first"]

    def test_steps_in_one_call_over_donated_buffers_learn_the_same(self, jax):
        for when in ("first", "last"):
            assert jax["scan"][when] == pytest.approx(jax["plain"][when], rel=1e-3)

    def test_bfloat16_learns_nearly_the_same(self, jax):
        assert jax["bf16"]["type"] == "bfloat16"
        for when in ("first", "last"):
            assert jax["bf16"][when] == pytest.approx(jax["plain"][when], rel=0.05)

    def test_keras_on_another_framework_is_told_with_the_remedy(self, jax):
        assert jax["backend"][0] is None
        assert "KERAS_BACKEND=tensorflow" in jax["backend"][1]

    def test_the_norm_of_one_pass_gives_what_that_of_keras_gives(self, jax):
        assert 0 < jax["norm"] < 1e-4  # outputs, gradients and moving averages; not the same program

    def test_shifted_products_give_what_the_convolution_gives(self, jax):
        assert 0 <= jax["depthwise 1"] < 1e-3
        assert 0 <= jax["depthwise 2"] < 1e-3


@pytest.mark.slow
@pytest.mark.needs("jax", "keras")
def test_networks_of_keras_have_the_published_parameters_also_with_other_layers():
    found = in_a_process("jax", PARAMETERS)
    assert found["resnet50"]["parameters"] == 25_583_592  # with the biases of its convolutions
    assert found["resnet50+no_bias"]["parameters"] == 25_557_032
    other = found["mobilenetv2+one_pass_norm+shifted_depthwise"]
    assert other["parameters"] == 3_504_872
    assert (other["layers"]["OnePassNorm"], other["layers"]["ShiftedDepthwise"]) == (52, 17)
    assert "BatchNormalization" not in other["layers"]


@pytest.mark.slow
@pytest.mark.needs("tensorflow")
class TestOnTensorFlow:
    def test_training_lowers_the_loss(self, tensorflow):
        assert tensorflow["plain"]["last"] < 0.7 * tensorflow["plain"]["first"]

    def test_a_graph_learns_the_same(self, tensorflow):
        for when in ("first", "last"):
            assert tensorflow["function"][when] == pytest.approx(tensorflow["plain"][when], rel=1e-3)

    def test_xla_in_bfloat16_learns_nearly_the_same(self, tensorflow):
        assert tensorflow["bf16+xla"]["type"] == "bfloat16"
        for when in ("first", "last"):
            assert tensorflow["bf16+xla"][when] == pytest.approx(tensorflow["plain"][when], rel=0.05)

    def test_float16_with_its_loss_scaled_learns_nearly_the_same(self, tensorflow):
        assert tensorflow["fp16+function"]["type"] == "float16"
        for when in ("first", "last"):
            assert tensorflow["fp16+function"][when] == pytest.approx(tensorflow["plain"][when], rel=0.05)
