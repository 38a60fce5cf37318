"""Make Apple's layers: for each of our classes, the call that makes the MLCLayer. Not yet run on a Mac.

Names are those of pyobjc, a selector with `_` for `:`. A test compares every one with the metadata of
pyobjc-framework-MLCompute 12.2.2 (tests/data/mlcompute_names.json) and Apple's headers.

Shapes of weights follow code that ran on Apple's framework: filters are [1, inputs * outputs, height, width],
numbers per channel [1, channels, 1, 1], and a fully connected layer has a kernel of inputs x outputs. No page
documents the order of the weights of a fully connected layer; ours are passed as they are, [outputs, inputs].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from jupyter_mlgpu.graphs.mlcompute.layers import (
    arranging,
    dense,
    elementwise,
    losses,
    reducing,
    sequences,
    windows,
)
from jupyter_mlgpu.graphs.mlcompute.layers.base import Layer
from jupyter_mlgpu.graphs.mlcompute.names import ENUMERATIONS
from jupyter_mlgpu.graphs.mlcompute.tensors import Shape, Tensor
from jupyter_mlgpu.record.errors import GraphError

Tensors = Mapping[Tensor, Any]
"""Apple's tensor for each of ours."""


def value(enumeration: str, word: str) -> int:
    """Return the number of a word in an enumeration."""
    return ENUMERATIONS[enumeration][word]


def apple_shape(tensor: Tensor, layer: Layer | None) -> Shape:
    """Return the shape in which Apple's framework takes the tensor, if it belongs to this layer."""
    shape = tensor.shape
    if isinstance(layer, windows.Convolution | dense.FullyConnected):
        if len(shape) == 1:
            return (1, shape[0], 1, 1)
        return (1, shape[0] * shape[1], *(shape[2:] or (1, 1)))
    if isinstance(layer, reducing.Channelwise):
        return (1, shape[0], 1, 1)
    return shape


def make(ml: Any, layer: Layer, tensors: Tensors, sources: list[Tensor]) -> Any:
    """Return the MLCLayer.

    Raises:
        GraphError: Apple's framework has no such layer, or refused this one.
    """
    for kind, function in _LAYERS.items():
        if isinstance(layer, kind):
            made = function(ml, layer, tensors, sources)
            if made is None:
                raise GraphError(f"ML Compute refused a layer: {layer.title} {dict(layer.details())}.")
            return made
    raise GraphError(f"ML Compute has no {layer.title} that we know of.")


def _optional(tensors: Tensors, tensor: Tensor | None) -> Any:
    return None if tensor is None else tensors[tensor]


def _activation(ml: Any, layer: Any, tensors: Tensors, sources: list[Tensor]) -> Any:
    kind = value("MLCActivationType", layer.activation)
    descriptor = ml.MLCActivationDescriptor.descriptorWithType_a_b_(kind, layer.a, layer.b)
    return ml.MLCActivationLayer.layerWithDescriptor_(descriptor)


def _fully_connected(ml: Any, layer: Any, tensors: Tensors, sources: list[Tensor]) -> Any:
    outputs, inputs = layer.weights.shape
    make_descriptor = ml.MLCConvolutionDescriptor
    descriptor = make_descriptor.descriptorWithKernelWidth_kernelHeight_inputFeatureChannelCount_outputFeatureChannelCount_(  # noqa: E501
        outputs, inputs, inputs, outputs
    )
    return ml.MLCFullyConnectedLayer.layerWithWeights_biases_descriptor_(
        tensors[layer.weights], _optional(tensors, layer.biases), descriptor
    )


def _convolution(ml: Any, layer: Any, tensors: Tensors, sources: list[Tensor]) -> Any:
    make_descriptor = ml.MLCConvolutionDescriptor
    descriptor = make_descriptor.descriptorWithType_kernelSizes_inputFeatureChannelCount_outputFeatureChannelCount_groupCount_strides_dilationRates_paddingPolicy_paddingSizes_(  # noqa: E501
        value("MLCConvolutionType", layer.convolution_type),
        list(layer.kernel),
        sources[0].shape[1],
        layer.outputs,
        layer.group_count,
        list(layer.strides),
        list(layer.dilation_rates),
        value("MLCPaddingPolicy", layer.padding_policy),
        list(layer.padding_sizes),
    )
    return ml.MLCConvolutionLayer.layerWithWeights_biases_descriptor_(
        tensors[layer.weights], _optional(tensors, layer.biases), descriptor
    )


def _pooling(ml: Any, layer: Any, tensors: Tensors, sources: list[Tensor]) -> Any:
    window: list[Any] = [list(layer.kernel), list(layer.strides), list(layer.dilation_rates)]
    window += [value("MLCPaddingPolicy", layer.padding_policy), list(layer.padding_sizes)]
    descriptors = ml.MLCPoolingDescriptor
    if layer.pooling_type == "Average":
        descriptor = descriptors.averagePoolingDescriptorWithKernelSizes_strides_dilationRates_paddingPolicy_paddingSizes_countIncludesPadding_(  # noqa: E501
            *window, layer.count_includes_padding
        )
    elif layer.pooling_type == "Max":
        descriptor = (
            descriptors.maxPoolingDescriptorWithKernelSizes_strides_dilationRates_paddingPolicy_paddingSizes_(
                *window
            )
        )
    else:
        descriptor = descriptors.l2NormPoolingDescriptorWithKernelSizes_strides_dilationRates_paddingPolicy_paddingSizes_(  # noqa: E501
            *window
        )
    return ml.MLCPoolingLayer.layerWithDescriptor_(descriptor)


def _padding(ml: Any, layer: Any, tensors: Tensors, sources: list[Tensor]) -> Any:
    sizes, layers = list(layer.sizes), ml.MLCPaddingLayer
    if layer.padding_type == "Reflect":
        return layers.layerWithReflectionPadding_(sizes)
    if layer.padding_type == "Symmetric":
        return layers.layerWithSymmetricPadding_(sizes)
    if layer.padding_type == "Zero":
        return layers.layerWithZeroPadding_(sizes)
    return layers.layerWithConstantPadding_constantValue_(sizes, layer.value)


def _batch_normalization(ml: Any, layer: Any, tensors: Tensors, sources: list[Tensor]) -> Any:
    layers = ml.MLCBatchNormalizationLayer
    return layers.layerWithFeatureChannelCount_mean_variance_beta_gamma_varianceEpsilon_momentum_(
        layer.feature_channel_count,
        tensors[layer.mean],
        tensors[layer.variance],
        _optional(tensors, layer.beta),
        _optional(tensors, layer.gamma),
        layer.variance_epsilon,
        layer.momentum,
    )


def _lstm(ml: Any, layer: Any, tensors: Tensors, sources: list[Tensor]) -> Any:
    inputs, hidden, biases = (
        [tensors[one] for one in some or ()]
        for some in (layer.input_weights, layer.hidden_weights, layer.biases)
    )
    descriptors = ml.MLCLSTMDescriptor
    descriptor = descriptors.descriptorWithInputSize_hiddenSize_layerCount_usesBiases_batchFirst_isBidirectional_returnsSequences_dropout_resultMode_(  # noqa: E501
        layer.input_size,
        layer.hidden_size,
        layer.layer_count,
        bool(biases),
        layer.batch_first,
        layer.is_bidirectional,
        layer.returns_sequences,
        layer.dropout,
        value("MLCLSTMResultMode", layer.result_mode),
    )
    return ml.MLCLSTMLayer.layerWithDescriptor_inputWeights_hiddenWeights_biases_(
        descriptor, inputs, hidden, biases or None
    )


def _attention(ml: Any, layer: Any, tensors: Tensors, sources: list[Tensor]) -> Any:
    descriptors = ml.MLCMultiheadAttentionDescriptor
    descriptor = descriptors.descriptorWithModelDimension_keyDimension_valueDimension_headCount_dropout_hasBiases_hasAttentionBiases_addsZeroAttention_(  # noqa: E501
        *[layer.model_dimension] * 3,
        layer.head_count,
        layer.dropout,
        bool(layer.biases),
        bool(layer.attention_biases),
        layer.adds_zero_attention,
    )
    return ml.MLCMultiheadAttentionLayer.layerWithDescriptor_weights_biases_attentionBiases_(
        descriptor,
        *(
            [tensors[one] for one in some or ()] or None
            for some in (layer.weights, layer.biases, layer.attention_biases)
        ),
    )


def _embedding(ml: Any, layer: Any, tensors: Tensors, sources: list[Tensor]) -> Any:
    count, dimension = layer.weights.shape
    descriptors = ml.MLCEmbeddingDescriptor
    descriptor = descriptors.descriptorWithEmbeddingCount_embeddingDimension_paddingIndex_maximumNorm_pNorm_scalesGradientByFrequency_(  # noqa: E501
        count, dimension, layer.padding_index, None, None, False
    )
    return ml.MLCEmbeddingLayer.layerWithDescriptor_weights_(descriptor, tensors[layer.weights])


def _loss(ml: Any, layer: Any, tensors: Tensors, sources: list[Tensor]) -> Any:
    descriptors = ml.MLCLossDescriptor
    descriptor = descriptors.descriptorWithType_reductionType_weight_labelSmoothing_classCount_epsilon_delta_(
        value("MLCLossType", layer.loss_type),
        value("MLCReductionType", layer.reduction_type),
        layer.weight,
        layer.label_smoothing,
        layer.class_count or (sources[0].shape[1] if len(sources[0].shape) > 1 else 1),
        layer.epsilon,
        layer.delta,
    )
    if len(sources) == 3:
        return ml.MLCLossLayer.layerWithDescriptor_weights_(descriptor, tensors[sources[2]])
    return ml.MLCLossLayer.layerWithDescriptor_(descriptor)


def _reshape(ml: Any, layer: Any, tensors: Tensors, sources: list[Tensor]) -> Any:
    size, known = math.prod(sources[0].shape), math.prod(one for one in layer.shape if one != -1)
    return ml.MLCReshapeLayer.layerWithShape_([size // known if one == -1 else one for one in layer.shape])


_LAYERS: dict[type[Layer], Callable[[Any, Any, Tensors, list[Tensor]], Any]] = {
    elementwise.Arithmetic: lambda ml, layer, tensors, sources: ml.MLCArithmeticLayer.layerWithOperation_(
        value("MLCArithmeticOperation", layer.operation)
    ),
    elementwise.Comparison: lambda ml, layer, tensors, sources: ml.MLCComparisonLayer.layerWithOperation_(
        value("MLCComparisonOperation", layer.operation)
    ),
    elementwise.Activation: _activation,
    elementwise.Dropout: lambda ml, layer, tensors, sources: ml.MLCDropoutLayer.layerWithRate_seed_(
        layer.rate, layer.seed
    ),
    elementwise.Selection: lambda ml, layer, tensors, sources: ml.MLCSelectionLayer.layer(),
    dense.FullyConnected: _fully_connected,
    dense.MatMul: lambda ml, layer, tensors, sources: ml.MLCMatMulLayer.layerWithDescriptor_(
        ml.MLCMatMulDescriptor.descriptorWithAlpha_transposesX_transposesY_(
            layer.alpha, layer.transposes_x, layer.transposes_y
        )
    ),
    dense.GramMatrix: lambda ml, layer, tensors, sources: ml.MLCGramMatrixLayer.layerWithScale_(layer.scale),
    dense.Embedding: _embedding,
    windows.Convolution: _convolution,
    windows.Pooling: _pooling,
    arranging.Padding: _padding,
    arranging.Upsample: lambda ml, layer, tensors, sources: (
        ml.MLCUpsampleLayer.layerWithShape_sampleMode_alignsCorners_(
            list(layer.shape), value("MLCSampleMode", layer.sample_mode), layer.aligns_corners
        )
    ),
    arranging.Concatenation: lambda ml, layer, tensors, sources: ml.MLCConcatenationLayer.layerWithDimension_(
        layer.dimension % len(sources[0].shape)
    ),
    arranging.Reshape: _reshape,
    arranging.Transpose: lambda ml, layer, tensors, sources: ml.MLCTransposeLayer.layerWithDimensions_(
        list(layer.dimensions)
    ),
    arranging.Slice: lambda ml, layer, tensors, sources: ml.MLCSliceLayer.sliceLayerWithStart_end_stride_(
        list(layer.start), list(layer.end), list(layer.stride)
    ),
    arranging.Gather: lambda ml, layer, tensors, sources: ml.MLCGatherLayer.layerWithDimension_(
        layer.dimension % len(sources[0].shape)
    ),
    arranging.Scatter: lambda ml, layer, tensors, sources: (
        ml.MLCScatterLayer.layerWithDimension_reductionType_(
            layer.dimension % len(sources[2].shape), value("MLCReductionType", layer.reduction_type)
        )
    ),
    reducing.Reduction: lambda ml, layer, tensors, sources: (
        ml.MLCReductionLayer.layerWithReductionType_dimensions_(
            value("MLCReductionType", layer.reduction_type),
            [one % len(sources[0].shape) for one in layer.dimensions],
        )
    ),
    reducing.Softmax: lambda ml, layer, tensors, sources: ml.MLCSoftmaxLayer.layerWithOperation_dimension_(
        value("MLCSoftmaxOperation", layer.operation), layer.dimension % len(sources[0].shape)
    ),
    reducing.BatchNormalization: _batch_normalization,
    reducing.InstanceNormalization: lambda ml, layer, tensors, sources: (
        ml.MLCInstanceNormalizationLayer.layerWithFeatureChannelCount_beta_gamma_varianceEpsilon_(
            layer.feature_channel_count,
            _optional(tensors, layer.beta),
            _optional(tensors, layer.gamma),
            layer.variance_epsilon,
        )
    ),
    reducing.GroupNormalization: lambda ml, layer, tensors, sources: (
        ml.MLCGroupNormalizationLayer.layerWithFeatureChannelCount_groupCount_beta_gamma_varianceEpsilon_(
            layer.feature_channel_count,
            layer.group_count,
            _optional(tensors, layer.beta),
            _optional(tensors, layer.gamma),
            layer.variance_epsilon,
        )
    ),
    reducing.LayerNormalization: lambda ml, layer, tensors, sources: (
        ml.MLCLayerNormalizationLayer.layerWithNormalizedShape_beta_gamma_varianceEpsilon_(
            list(layer.normalized_shape),
            _optional(tensors, layer.beta),
            _optional(tensors, layer.gamma),
            layer.variance_epsilon,
        )
    ),
    sequences.LSTM: _lstm,
    sequences.MultiheadAttention: _attention,
    losses.Loss: _loss,
}
