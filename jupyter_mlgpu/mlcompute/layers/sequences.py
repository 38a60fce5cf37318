"""Layers for sequences, [batch, time, features]: LSTM and multi-head attention."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from jupyter_mlgpu.errors import GraphError
from jupyter_mlgpu.mlcompute.layers.base import Layer, Run, Spec, number, weights
from jupyter_mlgpu.mlcompute.layers.dense import linear
from jupyter_mlgpu.mlcompute.layers.elementwise import drop
from jupyter_mlgpu.mlcompute.names import choose
from jupyter_mlgpu.mlcompute.ops import Value
from jupyter_mlgpu.mlcompute.tensors import Tensor


class LSTM(Layer):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997; with the forget gate of Gers et al., 2000).

    For each time, with x the input, h what was put out before, c the memory, and * number by number:

        i = sigmoid(W_i x + U_i h + b_i)    how much is let in
        f = sigmoid(W_f x + U_f h + b_f)    how much is kept (Apple's "hidden" gate)
        g = tanh(W_g x + U_g h + b_g)       what would come in (Apple's "cell" gate)
        o = sigmoid(W_o x + U_o h + b_o)    how much is put out
        c' = f * c + i * g,   h' = o * tanh(c')

    Weights are lists of four tensors a layer, in the order i, f, g, o: input weights [hidden, input], hidden
    weights [hidden, hidden], biases [hidden]. A bidirectional layer has eight, the backward ones last; it
    runs over the sequence from both ends and puts out both, so that a layer above it takes 2 * hidden.
    Sources are the sequence and, if wanted, the first h and c, [layers * directions, batch, hidden].

    The result is [batch, time, hidden], or the end of it if not `returns_sequences`: [batch, hidden], of the
    backward direction the end that it reaches last. With the result mode `output_and_states` come the last h
    and c, too.
    """

    least, most = 1, 3
    title = "LSTM"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        layer_count: int = 1,
        *,
        input_weights: Sequence[Tensor],
        hidden_weights: Sequence[Tensor],
        biases: Sequence[Tensor] | None = None,
        batch_first: bool = True,
        is_bidirectional: bool = False,
        returns_sequences: bool = True,
        dropout: float = 0.0,
        result_mode: str = "output",
        seed: int = 0,
    ) -> None:
        self.input_size, self.hidden_size, self.layer_count = input_size, hidden_size, layer_count
        self.batch_first, self.directions = batch_first, 1 + is_bidirectional
        self.returns_sequences = returns_sequences
        self.dropout, self.seed = number(dropout, "dropout", "lstm_layer", 0, 1), seed
        self.mode = choose("MLCLSTMResultMode", result_mode, "lstm_layer")
        self.gates: list[tuple[list[Tensor], list[Tensor], list[Tensor]]] = []
        count = 4 * layer_count * self.directions
        lists = {"input weights": input_weights, "hidden weights": hidden_weights, "biases": biases}
        for name, given in lists.items():
            if given is not None and len(given) != count:
                raise GraphError(
                    f"lstm_layer needs {count} {name}, four a layer and direction, not {len(given)}."
                )
        for start in range(0, count, 4):
            below = input_size if start < 4 * self.directions else hidden_size * self.directions
            shapes = {"input weights": (hidden_size, below), "hidden weights": (hidden_size,) * 2}
            four = [
                [
                    weights("lstm_layer", name, one, shapes.get(name, (hidden_size,)))
                    for one in given[start : start + 4]
                ]
                for name, given in lists.items()
                if given is not None
            ]
            self.gates.append((four[0], four[1], four[2] if biases is not None else []))
        self.parameters = tuple(one for gates in self.gates for four in gates for one in four)

    def results(self, *sources: Tensor) -> list[Spec]:
        self.need_floats(*sources, *self.parameters)
        self.need_rank(
            sources[0], 3, "[batch, time, features]" if self.batch_first else "[time, batch, features]"
        )
        first, second, features = sources[0].shape
        batch = first if self.batch_first else second
        if features != self.input_size:
            self.refuse(sources[:1], f"it was made for {self.input_size} features")
        states = (self.layer_count * self.directions, batch, self.hidden_size)
        if any(source.shape != states for source in sources[1:]) or len(sources) == 2:
            self.refuse(sources, f"the first states come as two tensors of {list(states)}")
        wide = self.directions * self.hidden_size
        data_type = sources[0].data_type
        output = Spec((first, second, wide) if self.returns_sequences else (batch, wide), data_type)
        return (
            [output] if self.mode == "Output" else [output, Spec(states, data_type), Spec(states, data_type)]
        )

    def compute(self, run: Run, *sources: Value) -> list[Value]:
        ops, x = run.ops, sources[0]
        # Time first, so that a step is a slice of rows that lie together.
        x = ops.transpose(x, (1, 0, 2)) if self.batch_first else x
        last: list[tuple[Value, Value]] = []
        for layer in range(self.layer_count):
            x = drop(run, x, self.dropout, self.seed + layer) if layer else x
            ways = []
            for backwards in range(self.directions):
                place = layer * self.directions + backwards
                start = [ops.slice(one, [slice(place, place + 1)]) for one in sources[1:]]
                outputs, states = self._pass(run, x, place, start, backwards == 1)
                ways.append(outputs)
                last.append(states)
            x = [ops.concatenate(both, 1) for both in zip(*ways, strict=True)] if len(ways) > 1 else ways[0]
            x = _stack(run, x) if layer < self.layer_count - 1 or self.returns_sequences else x
        if not self.returns_sequences:
            ends = [h for h, _ in last[-self.directions :]]
            x = ops.concatenate(ends, 1) if len(ends) > 1 else ends[0]
        elif self.batch_first:
            x = ops.transpose(x, (1, 0, 2))
        if self.mode == "Output":
            return [x]
        return [x, *(_stack(run, states) for states in zip(*last, strict=True))]

    def _pass(
        self, run: Run, x: Value, place: int, start: Sequence[Value], backwards: bool
    ) -> tuple[list[Value], tuple[Value, Value]]:
        """Once over the sequence: the output of each time, and the last h and c."""
        ops, size = run.ops, self.hidden_size
        time, batch, _ = x.shape
        inputs, hidden, biases = (
            ops.concatenate([run[one] for one in four], 0) if four else None for four in self.gates[place]
        )
        # What the inputs contribute does not depend on the steps: one product for all times.
        fed = linear(ops, x, inputs, biases)
        turned = ops.transpose(hidden, (1, 0))
        h, c = (ops.reshape(one, (batch, size)) for one in start) if start else (None, None)
        outputs = []
        for step in reversed(range(time)) if backwards else range(time):
            gates = ops.reshape(ops.slice(fed, [slice(step, step + 1)]), (batch, 4 * size))
            gates = gates if h is None else gates + ops.matmul(h, turned)
            i, f, g, o = (
                ops.slice(gates, [slice(None), slice(gate * size, (gate + 1) * size)]) for gate in range(4)
            )
            new = ops.sigmoid(i) * ops.tanh(g)
            c = new if c is None else ops.sigmoid(f) * c + new
            h = ops.sigmoid(o) * ops.tanh(c)
            outputs.append(h)
        return outputs[::-1] if backwards else outputs, (h, c)


def _stack(run: Run, values: Sequence[Value]) -> Value:
    parts = [run.ops.reshape(one, (1, *one.shape)) for one in values]
    return run.ops.concatenate(parts, 0) if len(parts) > 1 else parts[0]


class MultiheadAttention(Layer):
    """softmax(Q K^T / sqrt(d)) V for several heads at once (Vaswani et al., Attention is all you need, 2017).

    Q, K and V are the query, key and value, each times its weights; a head sees its d = dimension / heads of
    the numbers, and the heads' results side by side go through the fourth weights. Weights are four tensors
    [dimension, dimension] for query, key, value and output, biases four of [dimension].

    Sources are query [batch, L, dimension], key and value [batch, S, dimension] and, if wanted, masks: of
    keys, [batch, S], and of attention, [1, L, S]. Where a Boolean mask is true, nothing is seen; a mask of
    floats is added before the softmax. (Apple's header points to PyTorch's page, and that is PyTorch's rule.)
    `attention_biases`, a key and a value [1, 1, dimension], and `adds_zero_attention`, zeros, stand as one
    more key at the end.
    """

    least, most = 3, 5
    title = "multi-head attention"

    def __init__(
        self,
        model_dimension: int,
        head_count: int,
        *,
        weights: Sequence[Tensor],
        biases: Sequence[Tensor] | None = None,
        attention_biases: Sequence[Tensor] | None = None,
        adds_zero_attention: bool = False,
        dropout: float = 0.0,
        seed: int = 0,
    ) -> None:
        if model_dimension % head_count:
            raise GraphError(
                f"multihead_attention_layer cannot give {head_count} heads {model_dimension} numbers."
            )
        self.dimension, self.heads = model_dimension, head_count
        self.adds_zero_attention = adds_zero_attention
        self.dropout, self.seed = number(dropout, "dropout", "multihead_attention_layer", 0, 1), seed
        self.weights = _several("weights", weights, 4, (model_dimension, model_dimension))
        self.biases = _several("biases", biases, 4, (model_dimension,))
        self.attention_biases = _several("attention biases", attention_biases, 2, (1, 1, model_dimension))
        self.parameters = (*self.weights, *self.biases, *self.attention_biases)

    def results(self, *sources: Tensor) -> list[Spec]:
        query, key, value, *masks = sources
        self.need_floats(query, key, value, *self.parameters)
        for source in (query, key, value):
            self.need_rank(source, 3, "[batch, length, dimension]")
        batch, length, dimension = query.shape
        wanted = (batch, key.shape[1], self.dimension)
        if dimension != self.dimension or key.shape != wanted or value.shape != wanted:
            self.refuse(
                (query, key, value), f"the last size must be {self.dimension}, and key and value alike"
            )
        for mask in masks:
            if mask.shape not in ((batch, key.shape[1]), (1, length, key.shape[1])):
                self.refuse(
                    [mask],
                    f"a mask is of keys, {[batch, key.shape[1]]}, or of attention, "
                    f"{[1, length, key.shape[1]]}",
                )
            if mask.data_type not in ("Boolean", query.data_type):
                self.refuse([mask], f"a mask is Boolean or {query.data_type}, not {mask.data_type}")
        return [Spec((batch, length, self.dimension), query.data_type)]

    def compute(self, run: Run, *sources: Value) -> Value:
        ops, each = run.ops, self.dimension // self.heads
        biases = [run[one] for one in self.biases] or [None] * 4
        projected = [
            linear(ops, source, run[matrix], bias)
            for source, matrix, bias in zip(sources, self.weights[:3], biases[:3], strict=False)
        ]
        batch, length, _ = projected[0].shape
        for place, more in enumerate(self.attention_biases, 1):
            row = ops.constant(np.zeros((batch, 1, self.dimension), projected[0].dtype.name)) + run[more]
            projected[place] = ops.concatenate([projected[place], row], 1)
        if self.adds_zero_attention:
            projected[1:] = [ops.pad(one, [(0, 0), (0, 1), (0, 0)]) for one in projected[1:]]
        q, k, v = (
            ops.transpose(ops.reshape(one, (batch, one.shape[1], self.heads, each)), (0, 2, 1, 3))
            for one in projected
        )
        scores = ops.matmul(q * (1 / math.sqrt(each)), ops.transpose(k, (0, 1, 3, 2)))
        for mask in sources[3:]:
            shape = (mask.shape[0], 1, 1, mask.shape[1]) if len(mask.shape) == 2 else (1, 1, *mask.shape[1:])
            scores = self._masked(run, scores, ops.reshape(mask, shape))
        seen = drop(run, ops.softmax(scores, 3), self.dropout, self.seed)
        mixed = ops.reshape(ops.transpose(ops.matmul(seen, v), (0, 2, 1, 3)), (batch, length, self.dimension))
        return linear(ops, mixed, run[self.weights[3]], biases[3])

    def _masked(self, run: Run, scores: Value, mask: Value) -> Value:
        ops = run.ops
        more = scores.shape[3] - mask.shape[3]  # keys of the layer's own are always seen
        boolean = mask.dtype.name == "bool"
        if more:
            ends = [(0, 0), (0, 0), (0, 0), (0, more)]
            mask = ops.pad(ops.cast(mask, np.dtype(np.int32)), ends) if boolean else ops.pad(mask, ends)
            mask = ops.less(0, mask) if boolean else mask
        return ops.where(mask, -math.inf, scores) if boolean else scores + mask


def _several(
    name: str, given: Sequence[Tensor] | None, count: int, shape: Sequence[int]
) -> tuple[Tensor, ...]:
    if given is None:
        return ()
    if len(given) != count:
        raise GraphError(f"multihead_attention_layer needs {count} {name}, not {len(given)}.")
    return tuple(weights("multihead_attention_layer", name, one, shape) for one in given)
