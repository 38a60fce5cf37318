"""Static graphs over NumPy: building, executing, learning, and what is said where something is wrong."""

import subprocess
import sys
import threading
from pathlib import Path
from xml.etree import ElementTree

import pytest

from jupyter_mlgpu.record.errors import DeviceError, GraphError

np = pytest.importorskip("numpy", reason="mlcompute needs NumPy, which is not installed here")
mlc = pytest.importorskip("jupyter_mlgpu.mlcompute")

CPU = mlc.device("cpu", "numpy")

DATA = Path(__file__).parents[1] / "data"
#: The program that our users came with, and what it prints.
SEED = (DATA / "mlcompute_seed.txt").read_text().replace('"any"', '"any", "numpy"')
PRINTED = (DATA / "mlcompute_seed_printed.txt").read_text()


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def inference(graph, device=CPU, **inputs):
    made = mlc.inference_graph([graph])
    made.add_inputs(inputs)
    made.compile(device)
    return made


def summed(*, types=("Float32", "Float32"), shape=(2,)):
    a, b = (mlc.tensor(shape, one) for one in types)
    graph = mlc.graph()
    return graph, a, b, graph.add_layer(mlc.arithmetic_layer("add"), [a, b])


def line(rows: int = 4, *, optimizer=None, loss=None):
    """y = x w + b, to be fitted."""
    x = mlc.tensor([rows, 2], "Float64")
    w = mlc.tensor([1, 2], "Float64", data=[[0.5, -0.3]])
    b = mlc.tensor([1], "Float64", fill=0.1)
    graph = mlc.graph()
    y = graph.add_layer(mlc.fully_connected_layer(w, b), x)
    labels = mlc.tensor([rows, 1], "Float64")
    training = mlc.training_graph(
        [graph], loss or mlc.loss_layer("mean_squared_error"), optimizer or mlc.sgd_optimizer(0.1)
    )
    training.add_inputs({"x": x}, {"labels": labels})
    training.compile(CPU)
    return training, w, b, y


X = np.array([[1.0, 2], [3, 4], [5, 6], [7, 9]])
Y = np.array([[1.0], [2], [3], [5]])


# The first program.


def test_the_seeds_program_prints_what_it_printed():
    assert run(SEED) == PRINTED


def test_importing_it_imports_no_framework():
    code = "import sys, jupyter_mlgpu.mlcompute; print({'tensorflow', 'keras', 'IPython'} & set(sys.modules))"
    assert run(code) == "set()\n"


def test_tensors_are_numbered_as_they_are_made():
    first = int(mlc.tensor([1]).name.removeprefix("data"))
    _graph, a, b, result = summed()
    assert [one.name for one in (a, b, result)] == [f"data{first + place}" for place in (1, 2, 3)]


def test_values_print_as_c_prints_them(capsys):
    mlc.tensor_data(np.array([1e-7, 123456789.0, 0.1, 3], np.float32)).print()
    mlc.tensor_data(np.array([True, False])).print()
    assert capsys.readouterr().out == "1e-07 1.23457e+08 0.1 3\n1 0\n"


def test_a_device_says_what_it_got():
    assert str(CPU) == "CPU: CPU, through NumPy"
    with pytest.raises(DeviceError, match=r'^NumPy has no GPU, .* take device\("cpu", "numpy"\)\.$'):
        mlc.device("gpu", "numpy")
    with pytest.raises(DeviceError, match="only Apple's ML Compute"):
        mlc.device("ane", "numpy")
    with pytest.raises(GraphError, match=r"device knows no 'gpus': did you mean GPU\?"):
        mlc.device("gpus", "numpy")


# Executing.


def test_only_the_number_of_elements_must_match():
    graph, a, b, result = summed(shape=(2, 1))
    inference(graph, a=a, b=b).execute({"a": [1, 2], "b": np.array([[3, 4]], np.float32)})
    assert result.numpy().tolist() == [[4], [6]]


def test_a_graph_runs_again_with_other_data():
    graph, a, b, result = summed()
    made = inference(graph, a=a, b=b)
    for number in (1, 2):
        made.execute({"a": [number, number], "b": [1, 1]})
        assert result.numpy().tolist() == [number + 1] * 2


def test_a_smaller_batch_than_the_graph_was_made_for():
    x = mlc.tensor([4, 2, 3])
    graph = mlc.graph()
    flat = graph.add_layer(mlc.reshape_layer([4, 6]), x)
    parts = graph.add_layer(mlc.split_layer([2, 4]), flat)
    made = inference(graph, x=x)
    made.execute({"x": np.arange(18, dtype=np.float32)}, 3)
    assert flat.numpy().shape == (3, 6)
    assert [one.numpy().shape for one in parts] == [(3, 2), (3, 4)]
    with pytest.raises(GraphError, match=r"batch_size from 0 to 4, the first size of its inputs, not 5"):
        made.execute({"x": np.zeros(30, np.float32)}, 5)


def test_several_graphs_given_in_any_order_are_one():
    a = mlc.tensor([2])
    first, second = mlc.graph(), mlc.graph()
    middle = first.add_layer(mlc.activation_layer("absolute"), a)
    end = second.add_layer(mlc.activation_layer("linear", 2, 1), middle)
    made = mlc.inference_graph([second, first])
    made.add_inputs({"a": a})
    made.compile(CPU)
    made.execute({"a": [-1, 2]})
    assert end.numpy().tolist() == [3, 5]


def test_named_outputs_are_read_by_name():
    graph, a, b, result = summed()
    made = inference(graph, a=a, b=b)
    made.add_outputs({"sum": result})
    made.execute({"a": [1, 2], "b": [3, 4]})
    assert made.outputs["sum"].tolist() == [4, 6]
    with pytest.raises(GraphError, match="given as the output 'a', is no result"):
        made.add_outputs({"a": a})


def test_one_graph_goes_on_where_a_linked_one_ended():
    a = mlc.tensor([2])
    first, second = mlc.graph(), mlc.graph()
    middle = first.add_layer(mlc.activation_layer("absolute"), a)
    end = second.add_layer(mlc.activation_layer("linear", 2, 1), middle)
    maker, user = mlc.inference_graph([first]), mlc.inference_graph([second])
    maker.add_inputs({"a": a})
    user.link_with([maker])
    maker.compile(CPU), user.compile(CPU)
    with pytest.raises(GraphError, match=f"execute needs data for {middle.name}"):
        user.execute({})
    maker.execute({"a": [-1, 2]})
    user.execute({})
    assert end.numpy().tolist() == [3, 5]


def test_the_completion_handler_gets_the_result_and_the_seconds_asked_for():
    graph, a, b, result = summed()
    made = inference(graph, a=a, b=b)
    calls = []
    made.execute({"a": [1, 2], "b": [3, 4]}, completion_handler=lambda *what: calls.append(what))
    made.execute({"a": [1, 2], "b": [3, 4]}, 0, ["profiling"], lambda *what: calls.append(what))
    assert calls[0] == (result, None, None)
    assert calls[1][:2] == (result, None)
    assert calls[1][2] == made.execution_time > 0
    made.wait()


class Device(mlc.Target):
    """A device that works on after a call has returned, until `done` is set."""

    def compile(self, program):
        from jupyter_mlgpu.graphs.mlcompute.numpy_engine import NumpyExecutable

        self.done.clear()
        return type(
            "Slow", (NumpyExecutable,), {"asynchronous": True, "wait": lambda executable: self.done.wait(60)}
        )(program)

    done = threading.Event()


def test_without_waiting_the_handler_comes_when_the_device_has_finished():
    graph, a, b, result = summed()
    device = Device("GPU", "numpy", "", "a slow one", True)
    made = inference(graph, device, a=a, b=b)
    calls = []
    made.execute({"a": [1, 2], "b": [3, 4]}, completion_handler=lambda *what: calls.append(what))
    assert calls == []
    device.done.set()
    made.wait()
    assert calls == [(result, None, None)]
    made.execute({"a": [1, 2], "b": [3, 5]}, completion_handler=lambda *what: calls.append(what))
    assert result.numpy().tolist() == [4, 7]  # reading waits, too
    assert len(calls) == 2


def test_nan_on_a_device_that_works_on_is_told_at_the_latest_when_a_value_is_read():
    graph, a, b, result = summed()
    device = Device("GPU", "numpy", "", "a slow one", True)
    made = inference(graph, device, a=a, b=b)
    device.done.set()
    made.execute({"a": [1, float("nan")], "b": [3, 4]})
    with pytest.raises(GraphError, match="holds NaN in 1 of its numbers"):
        result.numpy()
    assert np.isnan(result.numpy()[1])


def test_a_profiled_run_notes_the_seconds_of_each_layer():
    graph, a, b, _ = summed()
    made = inference(graph, a=a, b=b)
    assert "time" not in made.summary()
    made.execute({"a": [1, 2], "b": [3, 4]}, 0, "per_layer_profiling")
    assert made.steps[0].seconds > 0
    assert "µs" in made.summary()
    assert "µs" in made.picture().svg


# Learning.


def test_one_step_of_gradient_descent():
    training, w, b, _ = line()
    before = w.numpy().copy(), b.numpy().copy()
    training.execute({"x": X}, {"labels": Y})
    errors = X @ before[0].T + before[1] - Y
    assert np.allclose(training.loss.numpy(), (errors**2).mean(), rtol=1e-14)
    assert np.allclose(w.gradient, 2 * (errors * X).mean(0), rtol=1e-14)
    assert np.allclose(w.numpy(), before[0] - 0.1 * w.gradient, rtol=1e-14)
    assert np.allclose(b.numpy(), before[1] - 0.1 * b.gradient, rtol=1e-14)


def test_the_parts_of_a_step_do_what_the_step_does():
    whole, w, b, _ = line(optimizer=mlc.adam_optimizer(0.1))
    parts, other_w, other_b, _ = line(optimizer=mlc.adam_optimizer(0.1))
    for _ in range(3):
        whole.execute({"x": X}, {"labels": Y})
        parts.bind_and_write_data({"x": X, "labels": Y})
        parts.execute_forward()
        parts.execute_gradient()
        parts.execute_optimizer_update()
    assert np.array_equal(w.numpy(), other_w.numpy())
    assert np.array_equal(b.numpy(), other_b.numpy())


def test_the_parts_come_in_their_order():
    training, *_ = line()
    with pytest.raises(GraphError, match="call bind_and_write_data first"):
        training.execute_forward()
    with pytest.raises(GraphError, match="comes after execute_forward"):
        training.execute_gradient()
    with pytest.raises(GraphError, match="comes after execute_gradient"):
        training.execute_optimizer_update()


def test_inference_uses_what_training_has_learnt():
    training, w, b, _y = line()
    graph = mlc.graph()
    x = mlc.tensor([1, 2], "Float64")
    result = graph.add_layer(mlc.fully_connected_layer(w, b), x)
    made = inference(graph, x=x)
    training.execute({"x": X}, {"labels": Y})
    made.execute({"x": [1, 1]})
    assert np.allclose(result.numpy(), w.numpy().sum() + b.numpy())


def test_forward_for_inference_learns_nothing():
    training, w, _, y = line()
    before = w.numpy().copy()
    training.execute({"x": X}, {"labels": Y}, execution_options=["forward_for_inference"])
    assert np.array_equal(w.numpy(), before)
    assert y.numpy().shape == (4, 1)


def test_a_layer_whose_update_is_disabled_keeps_its_weights():
    x = mlc.tensor([2, 2])
    first, second = (mlc.tensor([2, 2], random="xavier", seed=seed) for seed in (1, 2))
    graph = mlc.graph()
    middle = graph.add_layer(mlc.fully_connected_layer(first), x, disable_update=True)
    graph.add_layer(mlc.fully_connected_layer(second), middle)
    training = mlc.training_graph([graph], mlc.loss_layer("huber"), mlc.sgd_optimizer(0.1))
    training.add_inputs({"x": x}, {"y": mlc.tensor([2, 2])})
    training.compile(CPU)
    before = first.numpy().copy(), second.numpy().copy()
    training.execute({"x": np.ones(4, np.float32)}, {"y": np.zeros(4, np.float32)})
    assert training.parameters == (second,)
    assert np.array_equal(first.numpy(), before[0])
    assert not np.array_equal(second.numpy(), before[1])


def test_no_gradient_goes_through_a_stopped_tensor():
    x = mlc.tensor([2, 2])
    first, second = (mlc.tensor([2, 2], random="xavier", seed=seed) for seed in (1, 2))
    graph = mlc.graph()
    middle = graph.add_layer(mlc.fully_connected_layer(first), x)
    graph.add_layer(mlc.fully_connected_layer(second), middle)
    training = mlc.training_graph([graph], mlc.loss_layer("mean_squared_error"), mlc.sgd_optimizer(0.1))
    training.add_inputs({"x": x}, {"y": mlc.tensor([2, 2])})
    training.stop_gradient_for_tensors([middle])
    training.compile(CPU)
    training.execute({"x": np.ones(4, np.float32)}, {"y": np.zeros(4, np.float32)})
    assert not first.gradient.any()
    assert second.gradient.any()


def test_a_tensor_outside_of_layers_can_learn():
    x = mlc.tensor([3])
    shift = mlc.tensor([1], fill=0.5)
    graph = mlc.graph()
    graph.add_layer(mlc.arithmetic_layer("add"), [x, shift])
    training = mlc.training_graph([graph], mlc.loss_layer("mean_squared_error"), mlc.sgd_optimizer(0.25))
    training.set_training_tensor_parameters([mlc.tensor_parameter(shift)])
    training.add_inputs({"x": x}, {"y": mlc.tensor([3])})
    training.compile(CPU)
    training.execute({"x": [1, 2, 3]}, {"y": [1, 2, 3]})
    assert shift.gradient.tolist() == [1]
    assert shift.numpy().tolist() == [0.25]


def test_linked_training_graphs_learn_what_one_graph_learns():
    def tensors():
        x = mlc.tensor([3, 2], "Float64")
        first = mlc.tensor([2, 2], "Float64", random="xavier", seed=1)
        second = mlc.tensor([2, 2], "Float64", random="xavier", seed=2)
        return x, first, second, mlc.tensor([3, 2], "Float64")

    data = {"x": np.arange(6.0), "y": np.arange(6.0)[::-1] / 6}
    x, first, second, labels = tensors()
    graph = mlc.graph()
    middle = graph.add_layer(mlc.fully_connected_layer(first), x)
    graph.add_layer(mlc.fully_connected_layer(second), middle)
    whole = mlc.training_graph([graph], mlc.loss_layer("mean_squared_error"), mlc.sgd_optimizer(0.1))
    whole.add_inputs({"x": x}, {"y": labels})
    whole.compile(CPU)
    whole.execute({"x": data["x"]}, {"y": data["y"]})
    learnt = first.numpy().copy(), second.numpy().copy()

    x, first, second, labels = tensors()
    graphs = [mlc.graph(), mlc.graph()]
    middle = graphs[0].add_layer(mlc.fully_connected_layer(first), x)
    graphs[1].add_layer(mlc.fully_connected_layer(second), middle)
    maker = mlc.training_graph(graphs[:1], None, mlc.sgd_optimizer(0.1))
    maker.add_inputs({"x": x})
    user = mlc.training_graph(graphs[1:], mlc.loss_layer("mean_squared_error"), mlc.sgd_optimizer(0.1))
    user.add_inputs({}, {"y": labels})
    maker.link_with([user])
    for one in (maker, user):
        one.compile(CPU)
    maker.bind_and_write_data({"x": data["x"]})
    maker.execute_forward()
    user.bind_and_write_data({"y": data["y"]})
    user.execute_forward()
    with pytest.raises(GraphError, match="needs a loss, or a linked graph"):
        maker.execute_gradient()
    user.execute_gradient()
    maker.execute_gradient()
    for one in (maker, user):
        one.execute_optimizer_update()
    assert np.allclose(first.numpy(), learnt[0], rtol=1e-13)
    assert np.allclose(second.numpy(), learnt[1], rtol=1e-13)


def test_a_class_that_weighs_nothing_teaches_nothing():
    x = mlc.tensor([2, 3], "Float64")
    w = mlc.tensor([3, 3], "Float64", random="xavier", seed=1)
    graph = mlc.graph()
    graph.add_layer(mlc.fully_connected_layer(w), x)
    training = mlc.training_graph([graph], mlc.loss_layer("softmax_cross_entropy"), mlc.sgd_optimizer(0.1))
    training.add_inputs({"x": x}, {"y": mlc.tensor([2], "Int32")}, {"w": mlc.tensor([2], "Float64")})
    training.compile(CPU)
    training.execute({"x": np.ones(6)}, {"y": [0, 1]}, {"w": [0, 0]})
    assert training.loss.numpy() == 0
    assert not w.gradient.any()


def test_dropout_drops_the_share_it_was_given_and_keeps_the_mean():
    x = mlc.tensor([200, 50], "Float64")
    graph = mlc.graph()
    kept = graph.add_layer(mlc.dropout_layer(0.3, seed=5), x)
    label = mlc.tensor([200, 50], "Float64")
    training = mlc.training_graph([graph], mlc.loss_layer("mean_squared_error", "sum"))
    training.add_inputs({"x": x}, {"y": label})
    training.compile(CPU)
    data = np.random.default_rng(0).uniform(1, 2, (200, 50))
    training.bind_and_write_data({"x": data, "y": np.zeros_like(data)})
    training.execute_forward()
    values = kept.numpy()
    dropped = values == 0
    assert abs(dropped.mean() - 0.3) < 5 * np.sqrt(0.3 * 0.7 / data.size)  # five standard deviations
    assert np.allclose(values[~dropped], data[~dropped] / 0.7)
    training.execute_gradient()
    assert np.allclose(x.gradient, 2 * values * ~dropped / 0.7)  # the same ones were dropped
    training.execute_forward()
    assert not np.array_equal(kept.numpy() == 0, dropped)  # others the next time
    training.execute_forward(0, "forward_for_inference")
    assert np.array_equal(kept.numpy(), data)


def test_batch_normalisation_keeps_running_figures():
    x = mlc.tensor([4, 2], "Float64")
    mean, variance = mlc.tensor([2], "Float64", fill=0), mlc.tensor([2], "Float64", fill=1)
    graph = mlc.graph()
    result = graph.add_layer(mlc.batch_normalization_layer(2, mean, variance, momentum=0.9), x)
    training = mlc.training_graph([graph])
    training.add_inputs({"x": x})
    training.compile(CPU)
    training.bind_and_write_data({"x": X})
    training.execute_forward()
    assert np.allclose(mean.numpy(), 0.1 * X.mean(0))
    assert np.allclose(variance.numpy(), 0.9 + 0.1 * X.var(0))
    kept = mean.numpy().copy()
    training.execute_forward(0, ["forward_for_inference"])
    assert np.array_equal(mean.numpy(), kept)
    assert np.allclose(result.numpy(), (X - kept) / np.sqrt(variance.numpy() + 1e-5))


# What is wrong is said where it is first known.


def built(build):
    return pytest.raises(GraphError, match=build)


def test_shapes_that_do_not_fit_are_refused_when_the_layer_is_added():
    graph = mlc.graph()
    a, b = mlc.tensor([6, 2]), mlc.tensor([5, 2])
    with built(
        rf"^add cannot take {a.name} \[6, 2\] and {b.name} \[5, 2\]: shapes fit where .* 5 and 6 are not\.$"
    ):
        graph.add_layer(mlc.arithmetic_layer("add"), [a, b])
    assert graph.steps == []


def test_each_mistake_in_building_is_one_sentence():
    graph, layer = mlc.graph(), mlc.arithmetic_layer
    a, text = mlc.tensor([2, 3]), mlc.tensor([2, 3], "Int32")
    picture, w = mlc.tensor([1, 3, 5, 5]), mlc.tensor([4, 2, 3, 3], fill=1)
    wrong = {
        r"arithmetic knows no 'ad': did you mean Add": lambda: layer("ad"),
        r"activation knows no 'reluu': did you mean ReLU": lambda: mlc.activation_layer("reluu"),
        r"loss knows no 'xyz'; it knows MeanAbsoluteError, ": lambda: mlc.loss_layer("xyz"),
        r"add takes 2 tensors and was given data\d+ \[2, 3\]\.": lambda: graph.add_layer(layer("add"), [a]),
        r"different types, Float32 and Int32": lambda: graph.add_layer(layer("add"), [a, text]),
        r"sin cannot take .*: it needs floats, and these are Int32": lambda: graph.add_layer(
            layer("sin"), text
        ),
        r"add_layer takes a layer and tensors": lambda: graph.add_layer("add", [a, a]),
        r"its weights \[4, 2, 3, 3\] with 1 group are for 2 channels": lambda: graph.add_layer(
            mlc.convolution_layer(w), picture
        ),
        r"a window of 7 does not fit in 5": lambda: graph.add_layer(mlc.pooling_layer("max", 7), picture),
        r"needs 4 axes, \[batch, channels, height, width\], and finds 2": lambda: graph.add_layer(
            mlc.pooling_layer("max", 2), a
        ),
        r"weights of shape \[any, any\] and was given": lambda: mlc.fully_connected_layer(w),
        r"tensor of floats with values for its weights and was given": lambda: mlc.fully_connected_layer(a),
        r"its 6 numbers do not make \[4, 2\]": lambda: graph.add_layer(mlc.reshape_layer([4, 2]), a),
        r"multi-head attention cannot take .* and .* and .*: ": lambda: graph.add_layer(
            mlc.multihead_attention_layer(3, 1, weights=[mlc.tensor([3, 3], fill=1)] * 4),
            [mlc.tensor([2, 4, 3]), a, a],
        ),
        r"5 does not divide its 3 along 1": lambda: graph.add_layer(mlc.split_layer(5), a),
        r"dimension 0 must stay first, and \[1, 0\] moves it": lambda: graph.add_layer(
            mlc.transpose_layer([1, 0]), a
        ),
        r"there is no dimension 2 among its 2": lambda: graph.add_layer(mlc.softmax_layer("softmax", 2), a),
        r"rows \[2, 3\] do not meet columns \[2, 3\]": lambda: graph.add_layer(mlc.matmul_layer(), [a, a]),
        r"dropout takes a rate from 0 on and below 1, not 1": lambda: mlc.dropout_layer(1),
        r"embedding cannot take .*: it chooses by Int32 or Int64, and finds Float32": lambda: graph.add_layer(
            mlc.embedding_layer(mlc.tensor([2, 2], fill=0)), a
        ),
        r"labels must have the predictions' shape": lambda: graph.add_layer(
            mlc.loss_layer("huber"), [a, mlc.tensor([3, 2])]
        ),
        r"SGD clips by a norm with a maximum_clipping_norm above 0": lambda: mlc.sgd_optimizer(
            0.1, gradient_clipping="by_norm"
        ),
        r"tensor takes a shape of whole numbers from 1 on": lambda: mlc.tensor([2, 0]),
        r"tensor knows no 'Float33': did you mean Float32": lambda: mlc.tensor([2], "Float33"),
        r"tensor_data takes numbers": lambda: mlc.tensor_data(["a"]),
        r"cannot give 4 heads 6 numbers": lambda: mlc.multihead_attention_layer(6, 4, weights=[]),
        r"LSTM needs 4 input weights": lambda: mlc.lstm_layer(1, 1, input_weights=[], hidden_weights=[]),
    }
    for sentence, mistake in wrong.items():
        with pytest.raises(GraphError, match=sentence) as caught:
            mistake()
        assert str(caught.value)[-1] in ".?"
        assert "\n" not in str(caught.value)


def test_a_layer_joins_one_graph_once():
    layer, a = mlc.activation_layer("relu"), mlc.tensor([2])
    mlc.graph().add_layer(layer, a)
    with pytest.raises(GraphError, match="This relu is in a graph already"):
        mlc.graph().add_layer(layer, a)


def test_executing_before_compiling_is_refused():
    graph, a, b, _ = summed()
    made = mlc.inference_graph([graph])
    made.add_inputs({"a": a, "b": b})
    with pytest.raises(
        GraphError, match=r"execute comes after compile: call compile\(mlc.device\('any'\)\) first"
    ):
        made.execute({"a": [1, 2], "b": [3, 4]})


def test_what_is_missing_is_named_when_the_graph_is_compiled():
    graph, a, b, _ = summed()
    made = mlc.inference_graph([graph])
    made.add_inputs({"a": a})
    with pytest.raises(GraphError, match=rf"add takes {b.name} \[2\], which has no values and is no input"):
        made.compile(CPU)
    with pytest.raises(GraphError, match="the graph has no layer"):
        mlc.inference_graph([mlc.graph()]).compile(CPU)
    with pytest.raises(GraphError, match=r"compile takes a device, .*, and was given 'cpu'"):
        made.compile("cpu")


def test_a_tensor_of_another_graph_is_named_as_such():
    _other, _a, _b, result = summed()
    graph = mlc.graph()
    graph.add_layer(mlc.activation_layer("relu"), result)
    with pytest.raises(
        GraphError, match="is made by add in another graph: give that graph, too, or link them"
    ):
        mlc.inference_graph([graph]).compile(CPU)


def test_graphs_that_wait_for_each_other_are_a_circle():
    a = mlc.tensor([2])
    one, two = mlc.graph(), mlc.graph()
    first = one.add_layer(mlc.activation_layer("relu"), a)
    second = two.add_layer(mlc.activation_layer("relu"), first)
    one.add_layer(mlc.activation_layer("relu"), second)
    with pytest.raises(GraphError, match="in a circle"):
        mlc.inference_graph([one]).link_with([mlc.inference_graph([two])])
    with pytest.raises(GraphError, match="neither takes a result of the other"):
        mlc.inference_graph([mlc.graph()]).link_with([mlc.inference_graph([two])])


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"a": [1, 2]}, r"execute needs data for b, data\d+ \[2\], and was given a\."),
        ({"a": [1, 2], "c": [1, 2]}, r"execute knows no 'c'; it knows a, b\."),
        ({"a": [1, 2], "b": [1, 2, 3]}, r"takes 2 values and was given 3, of shape \[3\]\."),
        (
            {"a": [1, 2], "b": np.array([1.0, 2.0])},
            r"takes Float32 and was given float64 .*astype\('float32'\)\.",
        ),
        (
            {"a": [1, 2], "b": [1, float("nan")]},
            r"The data given to data\d+ \[2\] holds NaN in 1 of its numbers\.",
        ),
    ],
)
def test_data_that_does_not_fit_is_refused_when_it_is_given(data, sentence):
    graph, a, b, _ = summed()
    with pytest.raises(GraphError, match=sentence):
        inference(graph, a=a, b=b).execute(data)


def test_the_layer_that_first_gave_nan_is_named():
    x = mlc.tensor([3])
    graph = mlc.graph()
    middle = graph.add_layer(mlc.arithmetic_layer("log"), x)
    graph.add_layer(mlc.activation_layer("relu"), middle)
    made = inference(graph, x=x)
    with pytest.raises(
        GraphError,
        match=rf"^log gave NaN in 1 of the 3 numbers of {middle.name} \[3\], made of {x.name} \[3\]; ",
    ):
        made.execute({"x": [1, -1, 2]})
    assert np.isnan(middle.numpy()).sum() == 1  # still there to be looked at


def test_nan_that_a_layer_takes_away_is_no_error():
    graph, x, y = mlc.graph(), mlc.tensor([2]), mlc.tensor([2])
    result = graph.add_layer(mlc.arithmetic_layer("multiply_no_nan"), [x, y])
    inference(graph, x=x, y=y).execute({"x": [float("nan"), 2], "y": [0, 3]})
    assert result.numpy().tolist() == [0, 6]


def test_a_number_that_chooses_nothing_is_refused():
    words, table = mlc.tensor([3], "Int32"), mlc.tensor([4, 2], fill=0)
    graph = mlc.graph()
    graph.add_layer(mlc.embedding_layer(table), words)
    with pytest.raises(GraphError, match=r"embedding chooses by .* from 0 to 3, and was given 1 to 4"):
        inference(graph, words=words).execute({"words": [1, 4, 2]})


def test_a_value_asked_for_too_early_says_what_is_to_do():
    _graph, _a, _b, result = summed()
    with pytest.raises(
        GraphError, match=r"\[2\] has no values yet: add makes it, so execute a graph with it first"
    ):
        result.print()
    with pytest.raises(GraphError, match="has no gradient: call execute_gradient"):
        _ = result.gradient


# To see it.


def test_the_summary_is_a_table_of_layers():
    training, _w, _b, _y = line()
    text = training.summary()
    assert "fully connected" in text
    assert "mean squared error loss" in text
    assert "2 layers, 3 weights" in text
    assert "device: CPU: CPU, through NumPy" in text
    assert repr(training) == text


def test_explain_walks_back_to_the_inputs():
    training, w, _b, y = line()
    training.execute({"x": X}, {"labels": Y})
    told = mlc.explain(y)
    assert told.splitlines()[0].startswith(f"{y.name} [4, 1] Float64 = ")
    assert ", by fully connected of " in told
    assert "is an input = 1 2 3 4 5 6 ... (mean 4.625)" in told
    assert f"{w.name} [1, 2] Float64 has values of its own = " in told


def test_the_drawing_is_an_image_with_every_layer():
    training, *_ = line()
    picture = training.picture()
    words = "".join(ElementTree.fromstring(picture.svg).itertext())
    assert "fully connected" in words
    assert "[4, 1]" in words
    assert '<img src="data:image/svg+xml;base64,' in training._repr_html_()
    assert 'alt="A graph of 2 layers, device: CPU: CPU, through NumPy. Green boxes' in training._repr_html_()


# The tape itself.


def test_gradients_of_the_tape_are_limits_of_differences():
    from jupyter_mlgpu.graphs.mlcompute.tape import NumpyOps, Value, backward

    ops, rng = NumpyOps(), np.random.default_rng(0)
    x = rng.uniform(0.5, 1.5, (3, 4))

    def function(value):
        one = ops.exp(ops.sin(value)) / (1.0 + value * value)
        two = ops.matmul(one, ops.transpose(value, (1, 0))) - 2.0 / ops.slice(value, [slice(None), slice(1)])
        return ops.sum(ops.max(ops.concatenate([two, 3.0 - value], 1), (1,)) * 0.5, (0,))

    start = Value(x)
    gradient = backward([(function(start), np.ones(()))])[start]
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = 1e-6
        difference = (function(Value(x + step)).array - function(Value(x - step)).array) / 2e-6
        assert abs(gradient[place] - difference) < 1e-8
