"""Layers for sequences, [batch, time, features]: LSTM and multi-head attention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY
from functools import partial

import numpy as np

from jupyter_mlgpu.graphs.mlcompute.layers.base import Layer, Pass
from jupyter_mlgpu.graphs.mlcompute.layers.dense import linear
from jupyter_mlgpu.graphs.mlcompute.layers.elementwise import drop
from jupyter_mlgpu.graphs.mlcompute.names import insist
from jupyter_mlgpu.graphs.mlcompute.ops import Value
from jupyter_mlgpu.graphs.mlcompute.tensors import Tensor

Tensors = Sequence[Tensor]


class LSTM(Layer, sources=(1, 3), title="LSTM", axes="[batch, time, features]"):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997; with the forget gate of Gers et al., 2000).

    For each time, with x the input, h the previous output, c the memory, and * number by number:

        i = sigmoid(W_i x + U_i h + b_i)    how much is let in
        f = sigmoid(W_f x + U_f h + b_f)    how much is kept (Apple's "hidden" gate)
        g = tanh(W_g x + U_g h + b_g)       what would come in (Apple's "cell" gate)
        o = sigmoid(W_o x + U_o h + b_o)    how much is put out
        c' = f * c + i * g,   h' = o * tanh(c')

    Weights are lists of four tensors per layer, in the order i, f, g, o: input weights [hidden, input],
    hidden weights [hidden, hidden], biases [hidden]. A bidirectional layer has eight, the backward ones last;
    it processes the sequence in both directions and returns both outputs, so a layer above it takes 2 *
    hidden. Sources are the sequence and, optionally, the first h and c, [layers * directions, batch, hidden].

    The result is [batch, time, hidden], or only its last time if not `returns_sequences`: [batch, hidden],
    for the backward direction the time that it reaches last. With the result mode `output_and_states` it also
    has the last h and c.
    """

    input_size: int
    hidden_size: int
    layer_count: int = 1
    _: KW_ONLY
    input_weights: Tensors
    hidden_weights: Tensors
    biases: Tensors | None = None
    batch_first: bool = True
    is_bidirectional: bool = False
    returns_sequences: bool = True
    dropout: float = 0.0
    result_mode: str = "output"
    seed: int = 0
    words = {"result_mode": "MLCLSTMResultMode"}

    def settle(self) -> None:
        self.directions, size = 1 + self.is_bidirectional, self.hidden_size
        first, above = 4 * self.directions, 4 * self.directions * (self.layer_count - 1)
        inputs = [(size, self.input_size)] * first + [(size, size * self.directions)] * above
        weights = self.own("input_weights", *inputs) + self.own(
            "hidden_weights", *[(size, size)] * len(inputs)
        )
        self.parameters = weights + self.own("biases", *[(size,)] * len(inputs))

    def compute(self, run: Pass, x: Value, *start: Value) -> Value:
        ops, batch = run.ops, x.shape[0 if self.batch_first else 1]
        states = (self.layer_count * self.directions, batch, self.hidden_size)
        fits = len(start) != 1 and all(tuple(one.shape) == states for one in start)
        insist(fits, f"the first states come as two tensors of {list(states)}")
        # Time comes first, so that a step is a slice of contiguous rows.
        x = ops.transpose(x, (1, 0, 2)) if self.batch_first else x
        last: list[list[Value]] = []
        for layer in range(self.layer_count):
            x = drop(run, ops.stack(x), self.dropout, self.seed + layer) if layer else x
            ways = []
            for way in range(self.directions):
                outputs, *ends = self._pass(run, x, layer * self.directions + way, start, way == 1)
                ways.append(outputs)
                last.append(ends)
            x = [ops.concatenate(both, 1) for both in zip(*ways, strict=True)] if len(ways) > 1 else ways[0]
        if self.returns_sequences:
            x = ops.transpose(ops.stack(x), (1, 0, 2)) if self.batch_first else ops.stack(x)
        else:
            x = ops.concatenate([h for h, _ in last[-self.directions :]], 1)
        return x if self.result_mode == "Output" else [x, *map(ops.stack, zip(*last, strict=True))]

    def _pass(self, run: Pass, x: Value, place: int, start: Sequence[Value], backwards: bool) -> list[Value]:
        """Process the sequence once, and return the output of each time, and the last h and c."""
        ops, size, (time, batch, _) = run.ops, self.hidden_size, x.shape
        four = slice(4 * place, 4 * place + 4)
        inputs, hidden, biases = (
            ops.concatenate([run[one] for one in each[four]], 0) if each else None
            for each in (self.input_weights, self.hidden_weights, self.biases)
        )
        # The contribution of the inputs does not depend on the steps: one product for all times.
        steps, turned = ops.split(linear(ops, x, inputs, biases), time, 0), ops.transpose(hidden, (1, 0))
        first = [ops.slice(one, [slice(place, place + 1)]) for one in start] or [None, None]
        h, c = (None if one is None else ops.reshape(one, (batch, size)) for one in first)
        outputs = []
        for step in reversed(range(time)) if backwards else range(time):
            gates = ops.reshape(steps[step], (batch, 4 * size))
            gates = gates if h is None else gates + ops.matmul(h, turned)
            i, f, g, o = ops.split(gates, 4, 1)
            new = ops.sigmoid(i) * ops.tanh(g)
            c = new if c is None else ops.sigmoid(f) * c + new
            h = ops.sigmoid(o) * ops.tanh(c)
            outputs.append(h)
        return [outputs[::-1] if backwards else outputs, h, c]


class MultiheadAttention(Layer, sources=(3, 5), takes="any", title="multi-head attention"):
    """softmax(Q K^T / sqrt(d)) V for several heads at once (Vaswani et al., Attention is all you need, 2017).

    Q, K and V are the query, key and value, each times its weights. A head takes its d = dimension / heads of
    the numbers, and the concatenated results of the heads are multiplied with the fourth weights. Weights are
    four tensors [dimension, dimension] for query, key, value and output, biases four of [dimension].

    Sources are query [batch, L, dimension], key and value [batch, S, dimension] and, optionally, masks: of
    keys, [batch, S], and of attention, [1, L, S]. Where a Boolean mask is true, there is no attention; a mask
    of floats is added before the softmax. (Apple's header refers to PyTorch's page, and this is PyTorch's
    rule.) `attention_biases`, a key and a value [1, 1, dimension], and `adds_zero_attention`, zeros, each add
    one more key at the end.
    """

    model_dimension: int
    head_count: int
    _: KW_ONLY
    weights: Tensors
    biases: Tensors | None = None
    attention_biases: Tensors | None = None
    adds_zero_attention: bool = False
    dropout: float = 0.0
    seed: int = 0
    axes = "[batch, length, dimension]"

    def settle(self) -> None:
        size = self.model_dimension
        even = size % self.head_count == 0
        insist(even, f"{self.title} cannot give {self.head_count} heads {size} numbers.")
        own = self.own("weights", *[(size, size)] * 4) + self.own("biases", *[(size,)] * 4)
        self.parameters = own + self.own("attention_biases", *[(1, 1, size)] * 2)

    def compute(self, run: Pass, query: Value, key: Value, value: Value, *masks: Value) -> Value:
        ops, size = run.ops, self.model_dimension
        weights = [run[one] for one in self.weights]
        biases = [run[one] for one in self.biases] if self.biases else [None] * 4
        q, *both = map(partial(linear, ops), (query, key, value), weights[:3], biases[:3])
        batch, length, _ = q.shape
        for place, more in enumerate(self.attention_biases or ()):
            row = ops.constant(np.zeros((batch, 1, size), q.dtype.name)) + run[more]
            both[place] = ops.concatenate([both[place], row], 1)
        if self.adds_zero_attention:
            both = [ops.pad(one, [(0, 0), (0, 1), (0, 0)]) for one in both]
        heads = (self.head_count, size // self.head_count)
        q, k, v = (
            ops.transpose(ops.reshape(one, (batch, one.shape[1], *heads)), (0, 2, 1, 3)) for one in (q, *both)
        )
        scores = ops.matmul(q * (1 / math.sqrt(heads[1])), ops.transpose(k, (0, 1, 3, 2)))
        for mask in masks:
            wide = (mask.shape[0], 1, 1, mask.shape[1]) if len(mask.shape) == 2 else (1, *mask.shape)
            scores = self._masked(run, scores, ops.reshape(mask, wide))
        seen = drop(run, ops.softmax(scores, 3), self.dropout, self.seed)
        mixed = ops.reshape(ops.transpose(ops.matmul(seen, v), (0, 2, 1, 3)), (batch, length, size))
        return linear(ops, mixed, weights[3], biases[3])

    def _masked(self, run: Pass, scores: Value, mask: Value) -> Value:
        ops, boolean = run.ops, mask.dtype.name == "bool"
        # Keys of the layer's own are never masked.
        ends = [(0, 0), (0, 0), (0, 0), (0, scores.shape[3] - mask.shape[3])]
        mask = ops.pad(ops.cast(mask, np.dtype(scores.dtype.name)) if boolean else mask, ends)
        return ops.where(ops.less(0.0, mask), -math.inf, scores) if boolean else scores + mask
