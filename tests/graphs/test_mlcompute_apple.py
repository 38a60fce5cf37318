"""The engine for Apple's ML Compute: its names are Apple's, and its calls come in the order that Apple
requires.

The framework itself is not here. What stands in for it knows no name but those of the wheel's metadata and of
the headers, listed here, writes down every call, and refuses a call that comes too early.
"""

import ast
import inspect
import json
import re
from pathlib import Path

import pytest

from jupyter_mlgpu.record.errors import DeviceError, GraphError

np = pytest.importorskip("numpy", reason="mlcompute needs NumPy, which is not installed here")
mlc = pytest.importorskip("jupyter_mlgpu.mlcompute")
apple = pytest.importorskip("jupyter_mlgpu.graphs.mlcompute.apple")
apple_layers = pytest.importorskip("jupyter_mlgpu.graphs.mlcompute.apple_layers")
names = pytest.importorskip("jupyter_mlgpu.graphs.mlcompute.names")

TABLE = json.loads((Path(__file__).parent.parent / "data" / "mlcompute_names.json").read_text())
# Selectors that we use and the wheel's metadata does not list, for they need none: from Apple's headers
# (macOS 11.3 SDK) and, where no header was at hand, from Apple's documentation of the class.
FROM_HEADERS = {
    "MLCGraph.graph": "MLCGraph.h",
    "MLCGraph.nodeWithLayer_sources_": "MLCGraph.h",
    "MLCGraph.nodeWithLayer_sources_lossLabels_": "MLCGraph.h",
    "MLCGraph.splitWithSource_splitSectionLengths_dimension_": "MLCGraph.h",
    "MLCGraph.resultTensorsForLayer_": "MLCGraph.h",
    "MLCSelectionLayer.layer": "MLCSelectionLayer.h",
    "MLCTrainingGraph.gradientDataForParameter_layer_": "MLCTrainingGraph.h",
    "MLCTrainingGraph.synchronizeUpdates": "MLCTrainingGraph.h",
    "MLCOptimizer.setLearningRate_": "Apple's documentation of MLCOptimizer: learningRate can be set",
}
# Classes of graphs and optimizers have what their parents have (MLCInferenceGraph.h, MLCTrainingGraph.h,
# ...).
PARENTS = {"MLCInferenceGraph": "MLCGraph", "MLCTrainingGraph": "MLCGraph"} | {
    f"MLC{name}Optimizer": "MLCOptimizer" for name in ("SGD", "Adam", "AdamW", "RMSProp")
}


def known(kind: str, selector: str) -> bool:
    if selector in TABLE["selectors"].get(kind, []) or f"{kind}.{selector}" in FROM_HEADERS:
        return True
    return kind in PARENTS and known(PARENTS[kind], selector)


class Thing:
    """An object of a class of ML Compute, or the class itself."""

    def __init__(self, framework, kind: str, shape=()) -> None:
        self.framework, self.kind, self.shape, self.done = framework, kind, shape, []

    def __getattr__(self, selector: str):
        assert known(self.kind, selector), f"{self.kind} has no {selector}"
        return lambda *arguments: self.framework.called(self, selector, arguments)


class Framework:
    """Stands in for the module MLCompute. `refuses` names a selector that answers as a failure does."""

    def __init__(self, refuses: str = "") -> None:
        self.calls, self.refuses = [], refuses

    def __getattr__(self, kind: str):
        assert kind in {*TABLE["selectors"], *(one.split(".")[0] for one in FROM_HEADERS)}, kind
        return Thing(self, kind)

    def called(self, thing: Thing, selector: str, arguments: tuple):
        assert len(arguments) == selector.count("_"), selector
        self.calls.append(f"{thing.kind}.{selector}")
        if selector == self.refuses:
            return None if selector.startswith(("node", "layer", "device")) else False
        self.check_order(thing, selector)
        thing.done.append(selector)
        if selector.startswith("copyData"):
            return True, bytes(arguments[1])
        if selector.startswith("gradientData"):
            return bytes(4 * int(np.prod(arguments[0].shape)))
        if selector.startswith("split"):
            return [Thing(self, "MLCTensor") for _ in arguments[1]]
        if selector.startswith("resultTensors"):
            return [Thing(self, "MLCTensor") for _ in range(3)]
        if selector.startswith("node"):
            return Thing(self, "MLCTensor")
        if thing.kind == "MLCTensor" and selector.startswith("tensorWith"):
            return Thing(self, "MLCTensor", arguments[0])
        made = ("layer", "descriptor", "optimizer", "graph", "device", "data", "parameter", "slice")
        if selector.startswith(made) or "Descriptor" in selector:
            return Thing(self, thing.kind)
        return True

    def check_order(self, thing: Thing, selector: str) -> None:
        """What Apple's headers say about order, each as: this comes after that."""
        after = {
            "compile": "addInputs",
            "bind": "compile",
            "executeWith": "compile",
            "executeForward": "bind",
            "executeGradient": "executeForward",
            "executeOptimizerUpdate": "executeGradient",
        }
        for begin, before in after.items():
            if selector.startswith(begin):
                assert any(one.startswith(before) for one in thing.done), f"{selector} before {before}"
        early = ("addInputs", "stopGradient", "setTraining", "node", "split")
        if selector.startswith(early) and thing.kind in PARENTS:
            assert not any(one.startswith("compile") for one in thing.done), f"{selector} after compile"


def device(framework):
    made = mlc.Target("GPU", "apple", "GPU", "a stand-in")
    return type(
        "StandIn", (mlc.Target,), {"compile": lambda self, p: apple.AppleExecutable(p, "GPU", framework)}
    )(**vars(made))


def test_every_value_of_an_enumeration_is_the_wheels():
    ours = {
        f"{name}{word}": number
        for name, words in names.ENUMERATIONS.items()
        for word, number in words.items()
    }
    assert ours == TABLE["values"]
    assert len(ours) == 134


def test_every_selector_we_name_is_in_the_wheel_or_in_a_header():
    text = inspect.getsource(apple) + inspect.getsource(apple_layers)
    everywhere = {one for own in TABLE["selectors"].values() for one in own}
    everywhere |= {one.split(".")[1] for one in FROM_HEADERS}
    used = {
        node.attr
        for node in ast.walk(ast.parse(inspect.getsource(apple) + inspect.getsource(apple_layers)))
        if isinstance(node, ast.Attribute) and node.attr.endswith("_") and not node.attr.startswith("_")
    }
    assert len(used) > 50
    assert used <= everywhere
    assert set(re.findall(r"ml\.(MLC\w+)", text)) <= {*TABLE["selectors"], "MLCSelectionLayer"}


def test_a_machine_without_apples_framework_gets_one_sentence(monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(DeviceError, match=r"part of macOS, and this is .*: take device\(\"any\"\)"):
        mlc.device("gpu", "apple")


def test_inference_calls_in_apples_order():
    a, b, graph = mlc.tensor([6, 1]), mlc.tensor([6, 1]), mlc.graph()
    result = graph.add_layer(mlc.arithmetic_layer("add"), [a, b])
    made = mlc.inference_graph([graph])
    made.add_inputs({"a": a, "b": b})
    framework = Framework()
    made.compile(device(framework))
    made.execute({"a": np.ones(6, np.float32), "b": np.ones(6, np.float32)})
    assert result.numpy().shape == (6, 1)
    of_graphs = [one for one in framework.calls if "Graph" in one.split(".")[0]]
    assert of_graphs == [
        "MLCGraph.graph",
        "MLCGraph.nodeWithLayer_sources_",
        "MLCInferenceGraph.graphWithGraphObjects_",
        "MLCInferenceGraph.addInputs_lossLabels_lossLabelWeights_",
        "MLCInferenceGraph.compileWithOptions_device_",
        "MLCInferenceGraph.executeWithInputsData_lossLabelsData_lossLabelWeightsData_batchSize_options_completionHandler_",
    ]
    assert framework.calls[-1].startswith("MLCTensor.copyDataFromDeviceMemoryToBytes")


def trained(optimizer, **more):
    x, w, b = mlc.tensor([4, 3]), mlc.tensor([2, 3], fill=0.5), mlc.tensor([2], fill=0)
    graph = mlc.graph()
    graph.add_layer(mlc.fully_connected_layer(w, b), x)
    training = mlc.training_graph([graph], mlc.loss_layer("softmax_cross_entropy"), optimizer)
    training.add_inputs({"x": x}, {"y": mlc.tensor([4], "Int32")}, **more)
    return training, w


def test_a_training_step_is_data_forward_gradient_update():
    training, w = trained(mlc.adam_optimizer(0.01))
    framework = Framework()
    training.compile(device(framework))
    training.execute({"x": np.ones(12, np.float32)}, {"y": np.zeros(4, np.int32)})
    calls = [one.split(".")[1] for one in framework.calls if one.startswith("MLCTrainingGraph")]
    assert calls == [
        "graphWithGraphObjects_lossLayer_optimizer_",
        "nodeWithLayer_sources_lossLabels_",
        "addInputs_lossLabels_lossLabelWeights_",
        "compileWithOptions_device_",
        "bindAndWriteData_forInputs_toDevice_batchSize_synchronous_",
        "executeForwardWithBatchSize_options_completionHandler_",
        "executeGradientWithBatchSize_options_completionHandler_",
        *["gradientDataForParameter_layer_"] * 2,
        "executeOptimizerUpdateWithOptions_completionHandler_",
        "synchronizeUpdates",
    ]
    assert w.gradient.shape == w.numpy().shape == (2, 3)


@pytest.mark.parametrize(
    "optimizer",
    [
        mlc.sgd_optimizer(0.1, 0.9, True, gradient_clipping="by_norm", maximum_clipping_norm=1.0),
        mlc.adamw_optimizer(0.1),
        mlc.rmsprop_optimizer(0.1, is_centered=True),
    ],
)
def test_every_optimizer_has_its_class(optimizer):
    training, _ = trained(optimizer)
    training.stop_gradient_for_tensors([training.steps[0].results[0]])
    framework = Framework()
    training.compile(device(framework))
    assert any(
        type(optimizer).__name__ in one and "optimizerWithDescriptor_" in one for one in framework.calls
    )
    assert "MLCTrainingGraph.stopGradientForTensors_" in framework.calls


def zoo():
    """Every layer once."""
    graph, x, sequence = mlc.graph(), mlc.tensor([2, 4, 8, 8]), mlc.tensor([2, 5, 4])

    def ones(*shape):
        return mlc.tensor(shape, fill=1)

    def add(layer, *sources):
        return graph.add_layer(layer, list(sources))

    add(mlc.convolution_layer(ones(3, 4, 3, 3), ones(3)), x)
    add(mlc.convolution_layer(ones(4, 3, 3, 3), convolution_type="transposed"), x)
    add(mlc.convolution_layer(ones(8, 1, 3, 3), convolution_type="depthwise"), x)
    for kind in ("max", "average", "l2_norm"):
        add(mlc.pooling_layer(kind, 2), x)
    for kind in ("zero", "reflect", "symmetric", "constant"):
        add(mlc.padding_layer(kind, [1, 1, 1, 1]), x)
    add(mlc.upsample_layer(16), x)
    add(mlc.batch_normalization_layer(4, ones(4), ones(4), beta=ones(4), gamma=ones(4)), x)
    add(mlc.instance_normalization_layer(4, beta=ones(4), gamma=ones(4)), x)
    add(mlc.group_normalization_layer(4, 2, beta=ones(4), gamma=ones(4)), x)
    add(mlc.layer_normalization_layer([8], beta=ones(8), gamma=ones(8)), x)
    add(mlc.dropout_layer(0.5), x)
    add(mlc.gram_matrix_layer(), x)
    add(mlc.softmax_layer(), x)
    add(mlc.reduction_layer("mean", [2, 3]), x)
    add(mlc.matmul_layer(), x, x)
    add(mlc.activation_layer("gelu"), x)
    add(mlc.arithmetic_layer("add"), x, x)
    condition = add(mlc.comparison_layer("less"), x, x)
    add(mlc.selection_layer(), condition, x, x)
    add(mlc.split_layer(2), x)
    add(mlc.concatenation_layer(), x, x)
    add(mlc.reshape_layer([2, -1]), x)
    add(mlc.transpose_layer([0, 2, 3, 1]), x)
    add(mlc.slice_layer([0, 0, 0, 0], [2, 4, 4, 4]), x)
    places = mlc.tensor([2, 5, 4], "Int32")
    add(mlc.gather_layer(1), sequence, places)
    add(mlc.scatter_layer(1, "sum"), sequence, places, sequence)
    add(mlc.embedding_layer(ones(7, 3)), places)
    four = [ones(3, 4) for _ in range(4)], [ones(3, 3) for _ in range(4)]
    lstm = mlc.lstm_layer(
        4, 3, input_weights=four[0], hidden_weights=four[1], result_mode="output_and_states"
    )
    add(lstm, sequence)
    attention = mlc.multihead_attention_layer(4, 2, weights=[ones(4, 4) for _ in range(4)])
    add(attention, sequence, sequence, sequence)
    add(mlc.fully_connected_layer(ones(3, 4)), sequence)
    labels = mlc.tensor([2, 4, 8, 8])
    add(mlc.loss_layer("huber"), x, labels)
    return graph, {"x": x, "sequence": sequence, "places": places, "labels": labels}


def test_every_layer_becomes_a_layer_of_apples():
    graph, inputs = zoo()
    kinds = {type(step.layer).__name__ for step in graph.steps}
    made = mlc.inference_graph([graph])
    made.add_inputs(inputs)
    framework = Framework()
    made.compile(device(framework))
    assert kinds == {kind.__name__ for kind in apple_layers._LAYERS} | {"Split"}
    layers = {one.split(".")[0] for one in framework.calls if re.match(r"MLC\w+Layer\.", one)}
    assert len(layers) == len(apple_layers._LAYERS)


def test_weights_have_the_shapes_that_apple_takes():
    training, w = trained(mlc.sgd_optimizer(0.1))
    assert apple_layers.apple_shape(w, training.steps[0].layer) == (1, 6, 1, 1)
    assert apple_layers.apple_shape(training.steps[0].layer.biases, training.steps[0].layer) == (1, 2, 1, 1)
    assert apple_layers.apple_shape(w, None) == (2, 3)


@pytest.mark.parametrize(
    ("refuses", "sentence"),
    [
        ("nodeWithLayer_sources_", r"ML Compute does not take data\d+ \[4, 3\] for fully connected\."),
        ("layerWithWeights_biases_descriptor_", r"ML Compute refused a layer: fully connected"),
        ("compileWithOptions_device_", "ML Compute refused the graph; its log"),
        ("deviceWithType_", r'ML Compute has no GPU here: take device\("any", "apple"\)\.'),
    ],
)
def test_what_apple_refuses_is_one_sentence(refuses, sentence):
    training, _ = trained(mlc.sgd_optimizer(0.1))
    with pytest.raises((GraphError, DeviceError), match=sentence):
        training.compile(device(Framework(refuses)))


def test_a_type_that_apple_lacks_is_refused():
    x, graph = mlc.tensor([2], "Float64"), mlc.graph()
    graph.add_layer(mlc.activation_layer("relu"), x)
    made = mlc.inference_graph([graph])
    made.add_inputs({"x": x})
    with pytest.raises(
        GraphError, match=r"ML Compute has no Float64, which data\d+ \[2\] is: take Float32\."
    ):
        made.compile(device(Framework()))
