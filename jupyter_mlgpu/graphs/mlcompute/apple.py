"""The engine for Apple's own framework, through pyobjc-framework-MLCompute. Not yet run on a Mac.

It builds the same graph out of MLC objects and lets them compute. The order is from MLCGraph.h,
MLCTrainingGraph.h and Apple's documentation: tensors and layers, nodes, their inference or training graph,
inputs, tensors that stop gradients, compile; then for each execution data, forward, gradient, update. Every
execution is synchronous.

Apple's framework exists from macOS 11.0 on and is deprecated since 14.3. If it does not work, an error says
so.
"""

from __future__ import annotations

import importlib
import math
import platform
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jupyter_mlgpu.graphs.mlcompute.apple_layers import apple_shape, make, value
from jupyter_mlgpu.graphs.mlcompute.engine import Values
from jupyter_mlgpu.graphs.mlcompute.layers.arranging import Split
from jupyter_mlgpu.graphs.mlcompute.layers.base import Layer
from jupyter_mlgpu.graphs.mlcompute.layers.losses import Loss
from jupyter_mlgpu.graphs.mlcompute.names import ENUMERATIONS, insist
from jupyter_mlgpu.graphs.mlcompute.optimizers import SGD, Adam, AdamW, Optimizer, RMSProp
from jupyter_mlgpu.graphs.mlcompute.structure import Program, Step
from jupyter_mlgpu.graphs.mlcompute.tensors import Array, Shape, Tensor
from jupyter_mlgpu.record.errors import DeviceError, GraphError, MissingPackageError

_SYNCHRONOUS = ENUMERATIONS["MLCExecutionOptions"]["Synchronous"]
_FOR_INFERENCE = ENUMERATIONS["MLCExecutionOptions"]["ForwardForInference"]


def framework() -> Any:
    """Return the module MLCompute of pyobjc.

    Raises:
        DeviceError: this is not a Mac, or its system has no ML Compute any more.
        MissingPackageError: pyobjc-framework-MLCompute is not installed.
    """
    if sys.platform != "darwin":
        raise DeviceError(
            f'The engine "apple" is Apple\'s ML Compute, which is part of macOS, and this is '
            f'{platform.system()}: take device("any"), which runs the same graphs with TensorFlow.'
        )
    try:
        ml, objc = importlib.import_module("MLCompute"), importlib.import_module("objc")
    except ImportError as error:
        raise MissingPackageError(
            f"Apple's ML Compute needs pyobjc-framework-MLCompute ({error}): "
            "pip install pyobjc-framework-MLCompute."
        ) from error
    if not hasattr(ml, "MLCGraph"):
        raise DeviceError(
            f"macOS {platform.mac_ver()[0]} has no ML Compute, which Apple has deprecated since 14.3: take "
            'device("any").'
        )
    # The wheel does not describe the output buffer: an array of so many bytes, which is returned.
    objc.registerMetaDataForSelector(
        b"MLCTensor",
        b"copyDataFromDeviceMemoryToBytes:length:synchronizeWithDevice:",
        {"arguments": {2: {"type_modifier": b"o", "c_array_length_in_arg": 3}, 4: {"type": b"Z"}}},
    )
    return ml


class OnDevice:
    """The values of an MLCTensor, copied when they are read."""

    def __init__(self, tensor: Any, shape: Shape, dtype: np.dtype[Any]) -> None:
        self._tensor, self._shape, self._dtype = tensor, shape, dtype

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        size = math.prod(self._shape) * self._dtype.itemsize
        done, data = self._tensor.copyDataFromDeviceMemoryToBytes_length_synchronizeWithDevice_(
            None, size, True
        )
        if not done:
            raise GraphError(f"ML Compute gave no values for a tensor of {list(self._shape)}.")
        array = np.frombuffer(data, self._dtype).reshape(self._shape)
        return array if dtype is None else array.astype(dtype)


class AppleExecutable:
    """The program in Apple's ML Compute."""

    asynchronous = False

    def __init__(self, program: Program, kind: str, ml: Any) -> None:
        self._program, self._ml = program, ml
        self._device = ml.MLCDevice.deviceWithType_(value("MLCDeviceType", kind))
        if self._device is None:
            raise DeviceError(f'ML Compute has no {kind} here: take device("any", "apple").')
        self._borrowed: list[Any] = []  # arrays that ML Compute reads without copying
        self._tensors = {tensor: self._tensor(tensor, None) for tensor in program.inputs}
        owners = {
            one: step.layer
            for step in program.steps
            for one in (*step.layer.parameters, *step.layer.statistics)
        }
        self._tensors |= {tensor: self._tensor(tensor, owners.get(tensor)) for tensor in program.own}
        self._layers: dict[Step, Any] = {}
        graph = ml.MLCGraph.graph()
        for step in program.steps:
            if not isinstance(step.layer, Loss):
                self._add(graph, step)
        self._optimizer: Any = optimizer(ml, program.optimizer) if program.optimizer else None
        self._trains = bool(program.losses or program.trained or program.optimizer)
        if self._trains:
            self._graph = ml.MLCTrainingGraph.graphWithGraphObjects_lossLayer_optimizer_(
                [graph], None, self._optimizer
            )
        else:
            self._graph = ml.MLCInferenceGraph.graphWithGraphObjects_([graph])
        for step in program.steps:
            if isinstance(step.layer, Loss):
                self._add(self._graph, step)
        self._groups = self._input_groups()
        self._check(
            self._graph.addInputs_lossLabels_lossLabelWeights_(*map(self._by_name, self._groups)),
            "the inputs",
        )
        self._finish()

    def forward(self, feeds: Sequence[Array], training: bool, count: int) -> Values:
        data, batch = self._data(feeds)
        if not self._trains:
            groups = ({one.name: data[one.name] for one in group} for group in self._groups)
            done = self._graph.executeWithInputsData_lossLabelsData_lossLabelWeightsData_batchSize_options_completionHandler_(  # noqa: E501
                *groups, batch, _SYNCHRONOUS, None
            )
        else:
            self._bind(data, batch)
            options = _SYNCHRONOUS if training else _SYNCHRONOUS | _FOR_INFERENCE
            done = self._graph.executeForwardWithBatchSize_options_completionHandler_(batch, options, None)
        self._check(done, "the forward pass")
        results = self._program.results
        return {
            one: OnDevice(self._tensors[one], _cut(one, batch, self._whole), one.dtype) for one in results
        }

    def step(self, feeds: Sequence[Array], count: int, rate: float, time: int) -> tuple[Values, Values]:
        # In three passes, because gradients can be read only after separate passes (MLCTrainingGraph.h).
        results = self.forward(feeds, True, count)
        gradients = self.gradient(feeds, count, {})
        self.update(gradients, rate, time)
        return results, gradients

    def gradient(self, feeds: Sequence[Array], count: int, upstream: Mapping[Tensor, Any]) -> Values:
        wrong = 'The engine "apple" does not link training graphs: put their layers into one graph.'
        insist(not upstream, wrong)
        _, batch = self._data(feeds)
        done = self._graph.executeGradientWithBatchSize_options_completionHandler_(batch, _SYNCHRONOUS, None)
        self._check(done, "the gradient pass")
        found: Values = dict.fromkeys(self._program.trained)
        for step, layer in self._layers.items():
            for tensor in step.layer.parameters:
                # None for an LSTM's weights, for which the header has no gradients.
                data = self._graph.gradientDataForParameter_layer_(self._tensors[tensor], layer)
                if data is not None:
                    found[tensor] = np.frombuffer(bytes(data), tensor.dtype).reshape(tensor.shape)
        return found

    def update(self, gradients: Values, rate: float, time: int) -> None:
        # The gradients of the last gradient pass are on the device.
        self._optimizer.setLearningRate_(rate)
        done = self._graph.executeOptimizerUpdateWithOptions_completionHandler_(_SYNCHRONOUS, None)
        self._check(done, "the update")
        self._graph.synchronizeUpdates()
        for tensor in self._program.trained:
            tensor._value = OnDevice(self._tensors[tensor], tensor.shape, tensor.dtype)

    def times(self, feeds: Sequence[Array], training: bool, count: int) -> dict[Step, float]:
        raise GraphError("ML Compute tells the time of a whole execution alone: take the option profiling.")

    def wait(self) -> None:
        """Return at once: every execution was synchronous."""

    def _tensor(self, tensor: Tensor, owner: Layer | None) -> Any:
        if tensor.data_type not in ENUMERATIONS["MLCDataType"]:
            raise GraphError(f"ML Compute has no {tensor.data_type}, which {tensor} is: take Float32.")
        shape, kind = list(apple_shape(tensor, owner)), value("MLCDataType", tensor.data_type)
        if tensor.own:
            data = self._wrap(np.ascontiguousarray(np.asarray(tensor._value)))
            return self._ml.MLCTensor.tensorWithShape_data_dataType_(shape, data, kind)
        return self._ml.MLCTensor.tensorWithShape_dataType_(shape, kind)

    def _wrap(self, array: Array) -> Any:
        self._borrowed.append(array)
        return self._ml.MLCTensorData.dataWithImmutableBytesNoCopy_length_(array, array.nbytes)

    def _add(self, graph: Any, step: Step) -> None:
        sources = [self._tensors[one] for one in step.sources]
        if isinstance(step.layer, Split):
            axis = step.layer.dimension % len(step.sources[0].shape)
            lengths = [one.shape[axis] for one in step.results]
            made = graph.splitWithSource_splitSectionLengths_dimension_(sources[0], lengths, axis)
        else:
            layer = make(self._ml, step.layer, self._tensors, list(step.sources))
            self._layers[step] = layer
            if isinstance(step.layer, Loss):
                made = graph.nodeWithLayer_sources_lossLabels_(layer, sources[:1], sources[1:2])
            elif step.updates:
                made = graph.nodeWithLayer_sources_(layer, sources)
            else:
                made = graph.nodeWithLayer_sources_disableUpdate_(layer, sources, True)
            if made is not None and len(step.results) > 1:
                made = graph.resultTensorsForLayer_(layer)
        if made is None:
            raise GraphError(
                f"ML Compute does not take {' and '.join(map(str, step.sources))} for {step.layer.title}."
            )
        results = made if len(step.results) > 1 else [made]
        self._tensors |= dict(zip(step.results, results, strict=True))

    def _input_groups(self) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """Return the inputs, the labels, and the weights of losses."""
        losses = [step.sources for step in self._program.steps if isinstance(step.layer, Loss)]
        labels = [one for sources in losses for one in sources[1:2] if one in self._program.inputs]
        weights = [one for sources in losses for one in sources[2:] if one in self._program.inputs]
        return [one for one in self._program.inputs if one not in (*labels, *weights)], labels, weights

    def _by_name(self, group: Sequence[Tensor]) -> dict[str, Any]:
        return {tensor.name: self._tensors[tensor] for tensor in group}

    def _finish(self) -> None:
        ml, program = self._ml, self._program
        if program.stopped:
            self._check(
                self._graph.stopGradientForTensors_([self._tensors[one] for one in program.stopped]),
                "stopping",
            )
        of_layers = {one for step in program.steps for one in step.layer.parameters}
        if loose := [one for one in program.trained if one not in of_layers]:
            parameters = [ml.MLCTensorParameter.parameterWithTensor_(self._tensors[one]) for one in loose]
            self._check(self._graph.setTrainingTensorParameters_(parameters), "the parameters")
        self._check(self._graph.compileWithOptions_device_(0, self._device), "the graph")

    @property
    def _whole(self) -> int:
        return self._program.inputs[0].shape[0]

    def _data(self, feeds: Sequence[Array]) -> tuple[dict[str, Any], int]:
        """Return the data by name, and Apple's batch size: 0 for the one that the tensors have."""
        self._borrowed = [one for one in self._borrowed if not isinstance(one, dict)]
        names = [tensor.name for tensor in self._program.inputs]
        arrays = dict(zip(names, map(np.ascontiguousarray, feeds), strict=True))
        self._borrowed.append(arrays)
        make_data = self._ml.MLCTensorData.dataWithImmutableBytesNoCopy_length_
        data = {name: make_data(array, array.nbytes) for name, array in arrays.items()}
        first = feeds[0].shape[0] if feeds else 0
        return data, first if feeds and first != self._whole else 0

    def _bind(self, data: Mapping[str, Any], batch: int) -> None:
        inputs = self._by_name(self._program.inputs)
        done = self._graph.bindAndWriteData_forInputs_toDevice_batchSize_synchronous_(
            data, inputs, self._device, batch, True
        )
        self._check(done, "the data")

    def _check(self, done: bool, what: str) -> None:
        if not done:
            raise GraphError(
                f"ML Compute refused {what}; its log (in Console, subsystem MLCompute) may say why."
            )


def _cut(tensor: Tensor, batch: int, whole: int) -> Shape:
    """Return the shape of a result for a smaller batch."""
    return (tensor.shape[0] * batch // whole, *tensor.shape[1:]) if batch and tensor.shape else tensor.shape


def optimizer(ml: Any, ours: Optimizer) -> Any:
    """Return the MLCOptimizer for one of our optimizers."""
    descriptors = ml.MLCOptimizerDescriptor
    word = "L2" if isinstance(ours, AdamW) else ours.regularization_type
    descriptor = descriptors.descriptorWithLearningRate_gradientRescale_appliesGradientClipping_gradientClippingType_gradientClipMax_gradientClipMin_maximumClippingNorm_customGlobalNorm_regularizationType_regularizationScale_(  # noqa: E501
        ours.learning_rate,
        ours.gradient_rescale,
        bool(ours.gradient_clipping),
        value("MLCGradientClippingType", ours.gradient_clipping or "ByValue"),
        ours.gradient_clip_max,
        ours.gradient_clip_min,
        ours.maximum_clipping_norm,
        ours.custom_global_norm,
        value("MLCRegularizationType", word),
        ours.regularization_scale,
    )
    if isinstance(ours, SGD):
        return ml.MLCSGDOptimizer.optimizerWithDescriptor_momentumScale_usesNesterovMomentum_(
            descriptor, ours.momentum_scale, ours.uses_nesterov_momentum
        )
    if isinstance(ours, Adam):
        kind = ml.MLCAdamWOptimizer if isinstance(ours, AdamW) else ml.MLCAdamOptimizer
        return kind.optimizerWithDescriptor_beta1_beta2_epsilon_usesAMSGrad_timeStep_(
            descriptor, ours.beta1, ours.beta2, ours.epsilon, ours.uses_ams_grad, 1
        )
    assert isinstance(ours, RMSProp)
    return ml.MLCRMSPropOptimizer.optimizerWithDescriptor_momentumScale_alpha_epsilon_isCentered_(
        descriptor, ours.momentum_scale, ours.alpha, ours.epsilon, ours.is_centered
    )
