"""Training and inference of the encoders with MLX.

The two convolutional networks are not measured with MLX: it has no such network of its own, and its
convolutions are measured by the family `conv`. The CPU and the GPU of an Apple chip share their memory, so
the data lies on the device wherever it is created.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.frameworks.benchmarks import CaseRunner, Option, Set, Training
from jupyter_mlgpu.measure.frameworks.mlx.backend import native
from jupyter_mlgpu.measure.frameworks.models import Encoder, Model
from jupyter_mlgpu.record.errors import BenchError

OPTIONS: Mapping[str, Option] = {
    "compile": Option("mx.compile: the step's small operations joined"),
    "bf16_weights": Option("everything in bfloat16, weights and optimizer too"),
}

NO_IMAGES = (
    "not measured with MLX: it has no such network of its own; the family conv measures its convolutions"
)


class MlxTraining:
    """An encoder in training or inference on a device of MLX, which is the default device until `close`."""

    def __init__(
        self,
        model: Model,
        batch: int,
        options: Collection[str],
        device: Any = None,
        training: bool = True,
        rate: float | None = None,
    ) -> None:
        import mlx.core as mx
        from mlx import nn, optimizers
        from mlx.utils import tree_flatten

        if not isinstance(model.shape, Encoder):
            raise ValueError(f"{model.title} is {NO_IMAGES}.")
        self._mx, self._before = mx, mx.default_device()
        mx.set_default_device(device or self._before)
        self._model = encoder(model.classes, model.shape)
        self.type_ran = "float32"
        self.note: str | None = None
        if "bf16_weights" in options:
            self._model.set_dtype(mx.bfloat16)
            self.type_ran = "bfloat16"
        self.parameters = sum(one.size for _, one in tree_flatten(self._model.trainable_parameters()))
        self._inputs = mx.random.randint(0, model.shape.vocabulary, (batch, model.shape.tokens))
        self._labels = mx.random.randint(0, model.classes, (batch,))
        self._model.train(training)
        self._optimizer = optimizers.Adam(2e-5 if rate is None else rate)
        self._gradient = nn.value_and_grad(self._model, self._loss)
        self._state = [self._model.state, self._optimizer.state, mx.random.state]
        step = self._train if training else self._infer
        if "compile" in options:
            step = mx.compile(step, inputs=self._state, outputs=self._state)
        self._step = step
        self._last: Any = mx.zeros(())

    def run(self, steps: int) -> None:
        """Run `steps` steps; each is launched at once, because MLX is lazy."""
        for _ in range(steps):
            self._last = self._step()
            self._mx.async_eval(self._last, self._state)

    def wait(self) -> None:
        """Wait until all steps are done."""
        self._mx.eval(self._last, self._state)
        self._mx.synchronize()

    def loss(self) -> float:
        """Return the loss of the last training step (of inference, the mean of all outputs); synchronizes."""
        return float(self._last.mean().item())

    def close(self) -> None:
        """Free the memory on the device."""
        self.wait()
        self._model = self._optimizer = self._inputs = self._labels = self._last = None
        del self._state, self._step, self._gradient
        self._mx.clear_cache()
        self._mx.set_default_device(self._before)

    def _loss(self, inputs: Any, labels: Any) -> Any:
        from mlx import nn

        logits = self._model(inputs).astype(self._mx.float32)
        return nn.losses.cross_entropy(logits, labels, reduction="mean")

    def _train(self) -> Any:
        loss, gradients = self._gradient(self._inputs, self._labels)
        self._optimizer.update(self._model, gradients)
        return loss

    def _infer(self) -> Any:
        return self._model(self._inputs)


def encoder(classes: int, shape: Encoder) -> Any:
    """Return DistilBERT or BERT in MLX with a layer of `classes` outputs over its first token."""
    import mlx.core as mx
    from mlx import nn

    width, heads = shape.width, shape.heads

    class MlxEncoderLayer(nn.Module):  # type: ignore[misc]
        """Attention and a feed-forward part, each added to its input and normalised."""

        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.inner, self.outer = nn.Linear(width, shape.inner), nn.Linear(shape.inner, width)
            self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)
            self.drop = nn.Dropout(shape.dropout)

        def __call__(self, x: Any) -> Any:
            batch, tokens, _ = x.shape
            split = self.qkv(x).reshape(batch, tokens, 3, heads, width // heads).transpose(2, 0, 3, 1, 4)
            weights = (split[0] * (width // heads) ** -0.5) @ split[1].swapaxes(-2, -1)
            mixed = self.drop(mx.softmax(weights, axis=-1)) @ split[2]
            mixed = self.out(mixed.transpose(0, 2, 1, 3).reshape(batch, tokens, width))
            x = self.norm1(x + self.drop(mixed))
            return self.norm2(x + self.drop(self.outer(nn.gelu(self.inner(x)))))

    class MlxNetwork(nn.Module):  # type: ignore[misc]
        """The embeddings, the layers, and the outputs."""

        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(shape.vocabulary, width)
            self.places = nn.Embedding(shape.positions, width)
            if shape.segments:
                self.segments = nn.Embedding(shape.segments, width)
            if shape.pooler:
                self.pooler = nn.Linear(width, width)
            self.norm, self.drop = nn.LayerNorm(width, eps=1e-12), nn.Dropout(shape.dropout)
            self.layers = [MlxEncoderLayer() for _ in range(shape.layers)]
            self.outputs = nn.Linear(width, classes)

        def __call__(self, tokens: Any) -> Any:
            x = self.words(tokens) + self.places.weight[: shape.tokens]
            if shape.segments:  # one text: all tokens are of the first
                x = x + self.segments.weight[0]
            x = self.drop(self.norm(x))
            for layer in self.layers:
                x = layer(x)
            x = x[:, 0]
            if shape.pooler:
                x = mx.tanh(self.pooler(x))
            return self.outputs(self.drop(x))

    return MlxNetwork()


def _sets(model: Model, kind: str) -> tuple[Set, ...]:
    return (), ("compile",), ("bf16_weights", "compile")


def _fastest(model: Model, kind: str) -> tuple[Set, ...]:
    return ("compile",), ("bf16_weights", "compile")


def _start(device: Device, model: Model, batch: int, options: Set, training: bool) -> CaseRunner:
    if not isinstance(model.shape, Encoder):
        raise BenchError(f"{model.title} is {NO_IMAGES}.")
    return MlxTraining(model, batch, options, native(device), training)


TRAINING = Training("mlx", OPTIONS, _sets, _fastest, _start)
