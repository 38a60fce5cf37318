"""Apple's ML Compute as a small library to learn from: tensors, layers, graphs, and engines.

    import jupyter_mlgpu.mlcompute as mlc

    a, b = mlc.tensor([3]), mlc.tensor([3])
    g = mlc.graph()
    c = g.add_layer(mlc.arithmetic_layer("add"), [a, b])
    i = mlc.inference_graph([g])
    i.add_inputs({"a": a, "b": b})
    i.compile(mlc.device("any"))
    i.execute({"a": [1, 2, 3], "b": [4, 5, 6]})
    c.print()

Names are Apple's, in Python's spelling. The class of each layer, in layers/, says what it computes. Importing
this package imports no framework; a device does.
"""

from jupyter_mlgpu import record as _record
from jupyter_mlgpu.graphs.mlcompute import optimizers
from jupyter_mlgpu.graphs.mlcompute.device import Target as Target
from jupyter_mlgpu.graphs.mlcompute.device import device as device
from jupyter_mlgpu.graphs.mlcompute.execution import InferenceGraph
from jupyter_mlgpu.graphs.mlcompute.layers import (
    arranging,
    dense,
    elementwise,
    losses,
    reducing,
    sequences,
    windows,
)
from jupyter_mlgpu.graphs.mlcompute.structure import Graph
from jupyter_mlgpu.graphs.mlcompute.tensors import Tensor as Tensor
from jupyter_mlgpu.graphs.mlcompute.tensors import TensorData, TensorParameter
from jupyter_mlgpu.graphs.mlcompute.tensors import tensor as tensor
from jupyter_mlgpu.graphs.mlcompute.training import TrainingGraph
from jupyter_mlgpu.record.errors import GraphError as GraphError

tensor_data = TensorData
graph = Graph
tensor_parameter = TensorParameter

inference_graph = InferenceGraph
training_graph = TrainingGraph

activation_layer = elementwise.Activation
arithmetic_layer = elementwise.Arithmetic
batch_normalization_layer = reducing.BatchNormalization
comparison_layer = elementwise.Comparison
concatenation_layer = arranging.Concatenation
convolution_layer = windows.Convolution
dropout_layer = elementwise.Dropout
embedding_layer = dense.Embedding
fully_connected_layer = dense.FullyConnected
gather_layer = arranging.Gather
gram_matrix_layer = dense.GramMatrix
group_normalization_layer = reducing.GroupNormalization
instance_normalization_layer = reducing.InstanceNormalization
layer_normalization_layer = reducing.LayerNormalization
loss_layer = losses.Loss
lstm_layer = sequences.LSTM
matmul_layer = dense.MatMul
multihead_attention_layer = sequences.MultiheadAttention
padding_layer = arranging.Padding
pooling_layer = windows.Pooling
reduction_layer = reducing.Reduction
reshape_layer = arranging.Reshape
scatter_layer = arranging.Scatter
selection_layer = elementwise.Selection
slice_layer = arranging.Slice
softmax_layer = reducing.Softmax
split_layer = arranging.Split
transpose_layer = arranging.Transpose
upsample_layer = arranging.Upsample

adam_optimizer = optimizers.Adam
adamw_optimizer = optimizers.AdamW
rmsprop_optimizer = optimizers.RMSProp
sgd_optimizer = optimizers.SGD


def explain(tensor: Tensor) -> str:
    """Return the history of a tensor: its layer, and below it, indented, what that was made of.

    It includes the values of the last execution.
    """
    return _record.renderer().tensor_history(tensor)
