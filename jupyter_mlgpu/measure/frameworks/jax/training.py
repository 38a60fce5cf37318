"""Training and inference with Keras on JAX: one compiled step, written with Keras's stateless calls.

`model.fit` copies each batch from the host and computes metrics. Here the batch lies on the device, and the
step is a function from all weights to all weights, compiled as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.frameworks.benchmarks import CaseRunner, Option, Set, Training
from jupyter_mlgpu.measure.frameworks.jax.array_programs import native
from jupyter_mlgpu.measure.frameworks.keras.models import build, draw, optimizer, run_on
from jupyter_mlgpu.measure.frameworks.models import Model

OPTIONS: Mapping[str, Option] = {
    "bf16": Option("Keras's policy mixed_bfloat16: layers in bfloat16, weights and optimizer in float32"),
    "donate": Option("the step may write new weights over the old ones (donated buffers)", training=True),
    "one_pass_norm": Option("batch normalisation that reads its input once for both moments", model="image"),
    "no_bias": Option("no bias in convolutions whose batch normalisation takes it away again", model="image"),
    "shifted_depthwise": Option(
        "depthwise convolutions as sums of shifted products, which XLA joins", model="image"
    ),
    "flash": Option("cuDNN's fused attention; it has no dropout of the weights", model="text", device="cuda"),
    "scan": Option(
        "all steps of a measurement in one call of the compiled program (lax.fori_loop)", training=True
    ),
}


class JaxTraining:
    """A Keras model in training or inference on a device of JAX; None is JAX's default device."""

    def __init__(
        self,
        model: Model,
        batch: int,
        options: Collection[str],
        device: Any = None,
        training: bool = True,
        rate: float | None = None,
    ) -> None:
        import jax

        self._jax, self._options, self._training = jax, frozenset(options), training
        self.type_ran = "bfloat16" if "bf16" in options else "float32"
        self.note = "Keras's fused attention drops no weights of it." if "flash" in options else None
        device = device or jax.devices()[0]
        with jax.default_device(device):
            self._model = build(model, options)
            self._optimizer = self._make_optimizer(model, rate)
            self._data = jax.device_put(draw(model, batch), device)
            values = [one.value for one in self._model.trainable_variables]
            rest = [one.value for one in self._model.non_trainable_variables]
            steps = [one.value for one in self._optimizer.variables]
            self._state: Any = jax.device_put((values, rest, steps, jax.numpy.zeros(())), device)
        self.parameters = sum(one.size for one in values)
        self._call = self._compiled()

    def run(self, steps: int) -> None:
        """Run `steps` steps; they may still be running when this returns."""
        if not self._training:
            values, rest, optimizer_state, _ = self._state
            for _ in range(steps):
                last = self._call(values, rest, self._data)
            self._state = (values, rest, optimizer_state, last)
        elif "scan" in self._options:
            self._state = self._call(self._state, self._data, steps)
        else:
            for _ in range(steps):
                self._state = self._call(self._state, self._data)

    def wait(self) -> None:
        """Wait until all steps are done."""
        self._jax.block_until_ready(self._state)

    def loss(self) -> float:
        """Return the loss of the last training step (of inference, the mean of all outputs); synchronizes."""
        return float(self._state[3].mean())

    def close(self) -> None:
        """Free the memory on the device."""
        self.wait()
        self._state = self._data = self._model = self._optimizer = self._call = None

    def _compiled(self) -> Any:
        jax = self._jax
        if not self._training:
            return jax.jit(self._logits)
        donated = {"donate_argnums": 0} if "donate" in self._options else {}
        if "scan" not in self._options:
            return jax.jit(self._step, **donated)

        def several(state: Any, data: Any, steps: Any) -> Any:
            # An argument and not a constant: a program compiled once runs any number of steps.
            return jax.lax.fori_loop(0, steps, lambda _, now: self._step(now, data), state)

        return jax.jit(several, **donated)

    def _logits(self, values: Any, rest: Any, data: Any) -> Any:
        return self._model.stateless_call(values, rest, data[0], training=False)[0]

    def _step(self, state: Any, data: Any) -> Any:
        values, rest, optimizer_state, _ = state
        gradient_of = self._jax.value_and_grad(self._loss, has_aux=True)
        (loss, rest), gradients = gradient_of(values, rest, data)
        values, optimizer_state = self._optimizer.stateless_apply(optimizer_state, gradients, values)
        return values, rest, optimizer_state, loss

    def _loss(self, values: Any, rest: Any, data: Any) -> tuple[Any, Any]:
        jnp = self._jax.numpy
        inputs, labels = data
        logits, rest = self._model.stateless_call(values, rest, inputs, training=True)
        chances = self._jax.nn.log_softmax(logits.astype(jnp.float32))
        return -jnp.take_along_axis(chances, labels[:, None], axis=1).mean(), rest

    def _make_optimizer(self, model: Model, rate: float | None) -> Any:
        found = optimizer(model, rate)
        found.build(self._model.trainable_variables)
        return found


def _sets(model: Model, kind: str) -> tuple[Set, ...]:
    if kind != "cuda":
        return (), ("donate",)
    plain = ("bf16", "donate")
    if model.kind == "text":
        return ("bf16",), plain, (*plain, "flash"), (*plain, "flash", "scan")
    # ResNet50 has biases that can be left out, and MobileNetV2 depthwise convolutions.
    other = "no_bias" if model.name == "resnet50" else "shifted_depthwise"
    norm = (*plain, "one_pass_norm")
    return ("bf16",), plain, norm, (*norm, other), (*norm, other, "scan")


def _fastest(model: Model, kind: str) -> tuple[Set, ...]:
    # Measured on an H200: `scan` is the fastest, with text by 1 %.
    return _sets(model, kind)[-1:]


def _start(device: Device, model: Model, batch: int, options: Set, training: bool) -> CaseRunner:
    run_on("jax")
    return JaxTraining(model, batch, options, native(device), training)


TRAINING = Training("jax", OPTIONS, _sets, _fastest, _start)
