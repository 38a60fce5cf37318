"""The words of Apple's ML Compute and their values, and what becomes of a word that is not among them.

Source: the metadata of the wheel pyobjc-framework-MLCompute 12.2.2, where `add` of ours is called
MLCArithmeticOperationAdd. A test compares every value with the wheel's. The one word that is not Apple's is
the data type Float64: Apple's framework has none, the other engines do.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from jupyter_mlgpu.errors import GraphError


def _from(first: int, words: str) -> dict[str, int]:
    return {word: number for number, word in enumerate(words.split(), first)}


ENUMERATIONS: dict[str, dict[str, int]] = {
    "MLCActivationType": _from(
        0,
        "None ReLU Linear Sigmoid HardSigmoid Tanh Absolute SoftPlus SoftSign ELU ReLUN LogSigmoid SELU CELU "
        "HardShrink SoftShrink TanhShrink Threshold GELU HardSwish Clamp",
    ),
    "MLCArithmeticOperation": _from(
        0,
        "Add Subtract Multiply Divide Floor Round Ceil Sqrt Rsqrt Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh "
        "Asinh Acosh Atanh Pow Exp Exp2 Log Log2 MultiplyNoNaN DivideNoNaN Min Max",
    ),
    "MLCComparisonOperation": _from(
        0,
        "Equal NotEqual Less Greater LessOrEqual GreaterOrEqual LogicalAND LogicalOR LogicalNOT LogicalNAND "
        "LogicalNOR LogicalXOR",
    ),
    "MLCConvolutionType": _from(0, "Standard Transposed Depthwise"),
    "MLCDataType": {
        "Invalid": 0,
        "Float32": 1,
        "Float16": 3,
        "Boolean": 4,
        "Int64": 5,
        "Int32": 7,
        "Int8": 8,
        "UInt8": 9,
    },
    "MLCDeviceType": _from(0, "CPU GPU Any ANE"),
    "MLCExecutionOptions": {
        "None": 0,
        "SkipWritingInputDataToDevice": 1,
        "Synchronous": 2,
        "Profiling": 4,
        "ForwardForInference": 8,
        "PerLayerProfiling": 16,
    },
    "MLCGradientClippingType": _from(0, "ByValue ByNorm ByGlobalNorm"),
    "MLCGraphCompilationOptions": {
        "None": 0,
        "DebugLayers": 1,
        "DisableLayerFusion": 2,
        "LinkGraphs": 4,
        "ComputeAllGradients": 8,
    },
    "MLCLSTMResultMode": _from(0, "Output OutputAndStates"),
    "MLCLossType": _from(
        0,
        "MeanAbsoluteError MeanSquaredError SoftmaxCrossEntropy SigmoidCrossEntropy CategoricalCrossEntropy "
        "Hinge Huber CosineDistance Log",
    ),
    "MLCPaddingPolicy": _from(0, "Same Valid UsePaddingSize"),
    "MLCPaddingType": _from(0, "Zero Reflect Symmetric Constant"),
    "MLCPoolingType": _from(1, "Max Average L2Norm"),
    "MLCRandomInitializerType": _from(0, "Invalid Uniform GlorotUniform Xavier"),
    "MLCReductionType": _from(0, "None Sum Mean Max Min ArgMax ArgMin L1Norm Any All"),
    "MLCRegularizationType": _from(0, "None L1 L2"),
    "MLCSampleMode": _from(0, "Nearest Linear"),
    "MLCSoftmaxOperation": _from(0, "Softmax LogSoftmax"),
}


def choose(enumeration: str, word: str, where: str, among: Iterable[str] | None = None) -> str:
    """Apple's spelling of a word: `divide_no_nan` is DivideNoNaN. `where` is who asks, for the message.

    Capitals and underscores do not matter. With `among`, only those of the enumeration may be meant.

    Raises:
        GraphError: for any other word; the nearest ones are offered.
    """
    words = {_plain(name): name for name in among or ENUMERATIONS[enumeration]}
    if _plain(str(word)) in words:
        return words[_plain(str(word))]
    near = get_close_matches(_plain(str(word)), words, n=3, cutoff=0.6)
    offered = " or ".join(words[one] for one in near) or ", ".join(words.values())
    raise GraphError(f"{where} knows no {word!r}: did you mean {offered}?" if near else
                     f"{where} knows no {word!r}; it knows {offered}.")  # fmt: skip


def options(enumeration: str, words: str | Iterable[str], where: str) -> frozenset[str]:
    """Several words of an enumeration of flags; one may be given by itself."""
    return frozenset(
        choose(enumeration, word, where) for word in ([words] if isinstance(words, str) else words)
    )


def _plain(word: str) -> str:
    return word.replace("_", "").replace(" ", "").lower()
