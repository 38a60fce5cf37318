"""Apple's ML Compute as a small library to learn from: tensors, layers, graphs, and engines that compute them.

    import jupyter_mlgpu.mlcompute as mlc

    a, b = mlc.tensor([3]), mlc.tensor([3])
    g = mlc.graph()
    c = g.add_layer(mlc.arithmetic_layer("add"), [a, b])
    i = mlc.inference_graph([g])
    i.add_inputs({"a": a, "b": b})
    i.compile(mlc.device("any"))
    i.execute({"a": [1, 2, 3], "b": [4, 5, 6]})
    c.print()

Names are Apple's, in Python's spelling. What each layer computes stands in its class, in layers/. Importing this
imports no framework; a device does.
"""

from jupyter_mlgpu.errors import GraphError
from jupyter_mlgpu.mlcompute.device import Device, device
from jupyter_mlgpu.mlcompute.execution import InferenceGraph as inference_graph
from jupyter_mlgpu.mlcompute.execution import TrainingGraph as training_graph
from jupyter_mlgpu.mlcompute.graph import Graph as graph
from jupyter_mlgpu.mlcompute.layers.arranging import Concatenation as concatenation_layer
from jupyter_mlgpu.mlcompute.layers.arranging import Gather as gather_layer
from jupyter_mlgpu.mlcompute.layers.arranging import Padding as padding_layer
from jupyter_mlgpu.mlcompute.layers.arranging import Reshape as reshape_layer
from jupyter_mlgpu.mlcompute.layers.arranging import Scatter as scatter_layer
from jupyter_mlgpu.mlcompute.layers.arranging import Slice as slice_layer
from jupyter_mlgpu.mlcompute.layers.arranging import Split as split_layer
from jupyter_mlgpu.mlcompute.layers.arranging import Transpose as transpose_layer
from jupyter_mlgpu.mlcompute.layers.arranging import Upsample as upsample_layer
from jupyter_mlgpu.mlcompute.layers.dense import Embedding as embedding_layer
from jupyter_mlgpu.mlcompute.layers.dense import FullyConnected as fully_connected_layer
from jupyter_mlgpu.mlcompute.layers.dense import GramMatrix as gram_matrix_layer
from jupyter_mlgpu.mlcompute.layers.dense import MatMul as matmul_layer
from jupyter_mlgpu.mlcompute.layers.elementwise import Activation as activation_layer
from jupyter_mlgpu.mlcompute.layers.elementwise import Arithmetic as arithmetic_layer
from jupyter_mlgpu.mlcompute.layers.elementwise import Comparison as comparison_layer
from jupyter_mlgpu.mlcompute.layers.elementwise import Dropout as dropout_layer
from jupyter_mlgpu.mlcompute.layers.elementwise import Selection as selection_layer
from jupyter_mlgpu.mlcompute.layers.losses import Loss as loss_layer
from jupyter_mlgpu.mlcompute.layers.reducing import BatchNormalization as batch_normalization_layer
from jupyter_mlgpu.mlcompute.layers.reducing import GroupNormalization as group_normalization_layer
from jupyter_mlgpu.mlcompute.layers.reducing import InstanceNormalization as instance_normalization_layer
from jupyter_mlgpu.mlcompute.layers.reducing import LayerNormalization as layer_normalization_layer
from jupyter_mlgpu.mlcompute.layers.reducing import Reduction as reduction_layer
from jupyter_mlgpu.mlcompute.layers.reducing import Softmax as softmax_layer
from jupyter_mlgpu.mlcompute.layers.sequences import LSTM as lstm_layer
from jupyter_mlgpu.mlcompute.layers.sequences import MultiheadAttention as multihead_attention_layer
from jupyter_mlgpu.mlcompute.layers.windows import Convolution as convolution_layer
from jupyter_mlgpu.mlcompute.layers.windows import Pooling as pooling_layer
from jupyter_mlgpu.mlcompute.optimizers import SGD as sgd_optimizer
from jupyter_mlgpu.mlcompute.optimizers import Adam as adam_optimizer
from jupyter_mlgpu.mlcompute.optimizers import AdamW as adamw_optimizer
from jupyter_mlgpu.mlcompute.optimizers import RMSProp as rmsprop_optimizer
from jupyter_mlgpu.mlcompute.tensors import Tensor, TensorData, tensor, tensor_data, tensor_parameter

