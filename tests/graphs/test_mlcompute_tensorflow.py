"""Static graphs over TensorFlow: one compiled function on a device, and what a traced cell tells of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import jupyter_mlgpu.mlcompute as mlc
from jupyter_mlgpu.record.errors import DeviceError, GraphError

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("two_devices")]

DATA = Path(__file__).parents[1] / "data"
#: The program that our users came with, and what it prints.
SEED = (DATA / "mlcompute_seed.txt").read_text()
PRINTED = (DATA / "mlcompute_seed_printed.txt").read_text()


def test_the_seeds_program_prints_what_it_printed() -> None:
    done = subprocess.run([sys.executable, "-c", SEED], capture_output=True, text=True, check=True)
    assert done.stdout == PRINTED


def test_a_gpu_that_is_not_there_is_one_sentence() -> None:
    import tensorflow as tf

    if tf.config.list_physical_devices("GPU"):
        pytest.skip("this machine has a GPU")
    with pytest.raises(
        DeviceError,
        match=r"^There is no GPU here that TensorFlow [\d.]+ can use; it finds CPU alone, so take "
        r'device\("any"\) or device\("cpu"\)\.$',
    ):
        mlc.device("gpu")


def test_any_device_says_what_it_got() -> None:
    import tensorflow as tf

    kind = "GPU" if tf.config.list_physical_devices("GPU") else "CPU"
    assert str(mlc.device("any")) == f"Any: {kind}, through TensorFlow {tf.__version__}"


def classifier(engine: str, optimizer: object, seed: int = 0) -> tuple[object, list[object]]:
    """A small network with every kind of state: weights, running figures, slots of the optimizer."""
    rng = np.random.default_rng(seed)

    def weights(*shape: int) -> object:
        made = mlc.tensor(shape, "Float64", data=rng.normal(0, 0.5, shape))
        tensors.append(made)
        return made

    tensors: list[object] = []
    x = mlc.tensor([6, 5], "Float64")
    graph = mlc.graph()
    value = graph.add_layer(mlc.fully_connected_layer(weights(4, 5), weights(4)), x)
    mean, variance = mlc.tensor([4], "Float64", fill=0), mlc.tensor([4], "Float64", fill=1)
    tensors += [mean, variance]
    value = graph.add_layer(
        mlc.batch_normalization_layer(4, mean, variance, beta=weights(4), gamma=weights(4)), value
    )
    value = graph.add_layer(mlc.activation_layer("tanh"), value)
    graph.add_layer(mlc.fully_connected_layer(weights(3, 4)), value)
    training = mlc.training_graph([graph], mlc.loss_layer("softmax_cross_entropy"), optimizer)
    training.add_inputs({"x": x}, {"y": mlc.tensor([6], "Int32")})
    training.compile(mlc.device("cpu", engine))
    return training, tensors


OPTIMIZERS = {
    "sgd": lambda: mlc.sgd_optimizer(0.1),
    "nesterov": lambda: mlc.sgd_optimizer(0.1, 0.9, True, regularization_type="l2", regularization_scale=0.1),
    "adam": lambda: mlc.adam_optimizer(0.1, gradient_clipping="by_global_norm", maximum_clipping_norm=0.3),
    "amsgrad": lambda: mlc.adam_optimizer(0.1, uses_ams_grad=True, gradient_rescale=0.5),
    "adamw": lambda: mlc.adamw_optimizer(0.1, regularization_scale=0.2),
    "rmsprop": lambda: mlc.rmsprop_optimizer(0.05, 0.5, is_centered=True),
    "clipped": lambda: mlc.sgd_optimizer(
        0.1, 0.5, gradient_clipping="by_value", gradient_clip_min=-0.02, gradient_clip_max=0.02
    ),
    "l1": lambda: mlc.sgd_optimizer(0.1, regularization_type="l1", regularization_scale=0.03),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_numpy_and_tensorflow_learn_the_same(name: str) -> None:
    rng = np.random.default_rng(1)
    data = [(rng.normal(size=(6, 5)), rng.integers(0, 3, 6).astype(np.int32)) for _ in range(4)]
    ends = []
    for engine in ("numpy", "tensorflow"):
        training, tensors = classifier(engine, OPTIMIZERS[name]())
        for x, y in data[:3]:
            training.execute({"x": x}, {"y": y})
        training.optimizer.learning_rate *= 0.5
        training.bind_and_write_data({"x": data[3][0], "y": data[3][1]})
        training.execute_forward()
        training.execute_gradient()
        training.execute_optimizer_update()
        ends.append([training.loss.numpy(), *(one.numpy() for one in tensors)])
    for mine, other in zip(*ends, strict=True):
        assert np.abs(mine - other).max() <= 1e-9 * (1 + np.abs(other).max())


@pytest.mark.needs("torch")
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_take_the_steps_that_pytorchs_take(name: str) -> None:
    import torch

    rng = np.random.default_rng(2)
    start, target = rng.normal(size=5), rng.normal(size=5)
    w = mlc.tensor([5], "Float64", data=start)
    x, graph = mlc.tensor([5], "Float64"), mlc.graph()
    graph.add_layer(mlc.arithmetic_layer("multiply"), [x, w])
    training = mlc.training_graph([graph], mlc.loss_layer("mean_squared_error"), OPTIMIZERS[name]())
    training.set_training_tensor_parameters([mlc.tensor_parameter(w)])
    training.add_inputs({"x": x}, {"y": mlc.tensor([5], "Float64")})
    training.compile(mlc.device("cpu", "numpy"))
    other = torch.tensor(start, requires_grad=True)
    theirs = {
        "sgd": lambda: torch.optim.SGD([other], 0.1),
        "nesterov": lambda: torch.optim.SGD([other], 0.1, 0.9, nesterov=True, weight_decay=0.1),
        "adam": lambda: torch.optim.Adam([other], 0.1),
        "amsgrad": lambda: torch.optim.Adam([other], 0.1, amsgrad=True),
        "adamw": lambda: torch.optim.AdamW([other], 0.1, weight_decay=0.2),
        "rmsprop": lambda: torch.optim.RMSprop([other], 0.05, momentum=0.5, centered=True),
        "clipped": lambda: torch.optim.SGD([other], 0.1, 0.5),
        "l1": lambda: torch.optim.SGD([other], 0.1),
    }[name]()
    for _ in range(5):
        data = rng.normal(size=5)
        training.execute({"x": data}, {"y": target})
        theirs.zero_grad()
        ((torch.tensor(data) * other - torch.tensor(target)) ** 2).mean().backward()
        if name == "adam":
            torch.nn.utils.clip_grad_norm_([other], 0.3)
        if name == "clipped":
            torch.nn.utils.clip_grad_value_([other], 0.02)
        if name == "amsgrad":
            other.grad *= 0.5
        if name == "l1":
            other.grad += 0.03 * torch.sign(other.detach())
        theirs.step()
        # clip_grad_norm_ divides by the norm plus 1e-6.
        assert np.abs(w.numpy() - other.detach().numpy()).max() < (1e-5 if name == "adam" else 1e-12)


def test_graphs_that_share_a_tensor_learn_from_each_other() -> None:
    w, b = mlc.tensor([1, 2], fill=0.5), mlc.tensor([1], fill=0)
    x, graph = mlc.tensor([3, 2]), mlc.graph()
    result = graph.add_layer(mlc.fully_connected_layer(w, b), x)
    training = mlc.training_graph([graph], mlc.loss_layer("mean_squared_error"), mlc.sgd_optimizer(0.1))
    training.add_inputs({"x": x}, {"y": mlc.tensor([3, 1])})
    inference = mlc.inference_graph([graph])
    inference.add_inputs({"x": x})
    for one in (training, inference):
        one.compile(mlc.device("any"))
    data = np.ones(6, np.float32)
    inference.execute({"x": data})
    assert result.numpy().tolist() == [[1], [1], [1]]
    training.execute({"x": data}, {"y": np.zeros(3, np.float32)})
    inference.execute({"x": data[:2]}, 1)
    assert np.allclose(result.numpy(), [[w.numpy().sum() + b.numpy()[0]]])
    assert result.numpy()[0, 0] < 1
    # Another engine, and back.
    training.compile(mlc.device("cpu", "numpy"))
    training.execute({"x": data}, {"y": np.zeros(3, np.float32)})
    inference.execute({"x": data})
    assert np.allclose(result.numpy(), w.numpy().sum() + b.numpy()[0])


def test_dropout_drops_others_each_time_and_the_same_for_the_gradient() -> None:
    x, label, graph = mlc.tensor([100, 50]), mlc.tensor([100, 50]), mlc.graph()
    kept = graph.add_layer(mlc.dropout_layer(0.25, seed=3), x)
    training = mlc.training_graph([graph], mlc.loss_layer("mean_squared_error", "sum"))
    training.add_inputs({"x": x}, {"y": label})
    training.compile(mlc.device("cpu"))
    data = np.ones(5000, np.float32)
    training.bind_and_write_data({"x": data, "y": 0 * data})
    training.execute_forward()
    first = kept.numpy().copy()
    training.execute_gradient()
    assert abs((first == 0).mean() - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 5000)
    assert np.allclose(x.gradient, 2 * first / 0.75)
    training.execute_forward()
    assert not np.array_equal(kept.numpy(), first)


def test_a_profiled_run_notes_seconds_of_the_whole_and_of_each_layer() -> None:
    x, graph = mlc.tensor([8, 3, 16, 16]), mlc.graph()
    middle = graph.add_layer(mlc.convolution_layer(mlc.tensor([4, 3, 3, 3], fill=0.1)), x)
    graph.add_layer(mlc.activation_layer("relu"), middle)
    made = mlc.inference_graph([graph])
    made.add_inputs({"x": x})
    made.compile(mlc.device("any"))
    handled = []
    made.execute(
        {"x": np.ones(6144, np.float32)},
        0,
        ["synchronous", "profiling", "per_layer_profiling"],
        lambda *what: handled.append(what),
    )
    assert all(step.seconds > 0 for step in made.steps)
    assert handled[0][2] == made.execution_time > 0


def test_nan_is_told_with_the_layer_that_made_it() -> None:
    x, graph = mlc.tensor([2]), mlc.graph()
    graph.add_layer(mlc.arithmetic_layer("sqrt"), x)
    made = mlc.inference_graph([graph])
    made.add_inputs({"x": x})
    made.compile(mlc.device("cpu"))
    with pytest.raises(GraphError, match=r"sqrt gave NaN in 1 of the 2 numbers"):
        made.execute({"x": [-1, 1]})


@pytest.mark.slow
def test_a_traced_cell_names_the_operations_of_a_graph(start_kernel) -> None:
    notebook = start_kernel()
    prepared = notebook.run(SEED + "i")
    assert prepared.status == "ok", prepared
    shown = [data for kind, data in prepared.outputs if kind == "execute_result"]
    assert '<img src="data:image/svg+xml;base64,' in shown[0]["text/html"]
    run = 'i.execute({"data1": d1, "data2": d2, "data3": d3})'
    light = notebook.run(run)
    assert light.status == "ok", light
    assert sum(light.ran_on.values()) > 0
    assert set(light.ran_on) == {"cpu:0"}
    profiled = notebook.run(f"%%mlc_trace --ops\n{run}")
    assert profiled.status == "ok", profiled
    added = {
        one["name"]: one["type"] for one in profiled.receipt["ops"] if one["name"].startswith("add_data")
    }
    assert added == {"add_data4/add": "AddV2", "add_data5/add": "AddV2"}
