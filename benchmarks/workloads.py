"""The cells of `tracing`: one that does nothing, and training steps with each framework.

Sizes are those of a first lesson: two dense layers of 256, batches of 64. On a GPU one more cell trains
layers of 4096 in batches of 4096: it keeps the GPU busy, while the small steps wait for Python.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Workload:
    """A cell; `{steps}` in its code says how often it does its work, if its length can be chosen."""

    name: str
    code: str

    @property
    def adjustable(self) -> bool:
        """Whether its length can be chosen."""
        return "{steps}" in self.code

    def cell(self, steps: int) -> str:
        """Return the code of the cell."""
        return self.code.format(steps=steps)


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework's cells.

    Attributes:
        setup: the cell that prepares the training.
        profiler: a cell with the framework's own profiler on around `{cell}`.
        session: our class that has the same profiler, whose method `_end` stops it.
        has_gpu: an expression that is true if the framework has a GPU; then `large` is timed, too.
    """

    name: str
    module: str
    setup: str
    workloads: tuple[Workload, ...]
    profiler: str
    session: str
    has_gpu: str = "False"
    large: tuple[Workload, ...] = ()


EMPTY = Workload("empty cell", "pass")
LARGE = "large training steps on the GPU"

# The options that our profiled cells ask for, so that only the tracing around them differs. TensorFlow and
# JAX write their profiles into a folder.
_FOLDER = "import tempfile; profiles = tempfile.mkdtemp()"

TENSORFLOW = Framework(
    "TensorFlow",
    "tensorflow",
    f"""
{_FOLDER}
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
x = tf.random.normal((64 * 2_000, 256))
y = tf.random.uniform((64 * 2_000,), 0, 10, tf.int32)
batch = x[:64], y[:64]

def made():
    layers = keras.layers
    return keras.Sequential([keras.Input((256,)), layers.Dense(256, "relu"), layers.Dense(10)])

loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
fitted = made()
fitted.compile("adam", loss_of)
model, optimizer = made(), keras.optimizers.Adam()

@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

a, b = tf.random.normal((64, 64)), tf.Variable(tf.random.normal((64, 64)))
options = tf.profiler.experimental.ProfilerOptions(
    host_tracer_level=2, python_tracer_level=0, device_tracer_level=1
)
""",
    (
        EMPTY,
        Workload(
            "tf.function steps", "for _ in range({steps}): loss = train_step(*batch)\nloss = float(loss)"
        ),
        Workload("Keras fit", "fitted.fit(x[:64 * {steps}], y[:64 * {steps}], batch_size=64, verbose=0);"),
        # Small operations, so that what tracing adds to each of them shows.
        Workload("eager loop", "for _ in range({steps}): result = tf.nn.relu(a @ b)"),
    ),
    "tf.profiler.experimental.start(profiles, options)\n{cell}\ntf.profiler.experimental.stop()",
    "jupyter_mlgpu.measure.frameworks.tensorflow.profiler:TensorFlowSession",
)

TORCH = Framework(
    "PyTorch",
    "torch",
    """
import torch

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
x, y = torch.randn(64, 256, device=device), torch.randint(0, 10, (64,), device=device)
layers = torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)
model = torch.nn.Sequential(*layers).to(device)
optimizer = torch.optim.Adam(model.parameters())

def train_step(x, y):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss

if torch.cuda.is_available():
    big_x, big_y = torch.randn(4096, 4096, device=device), torch.randint(0, 10, (4096,), device=device)
    layers = torch.nn.Linear(4096, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 10)
    big_model = torch.nn.Sequential(*layers).to(device)
    big_optimizer = torch.optim.Adam(big_model.parameters())

    def big_step():
        big_optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(big_model(big_x), big_y)
        loss.backward()
        big_optimizer.step()
        return loss

activities = [torch.profiler.ProfilerActivity.CPU]
if torch.cuda.is_available():
    activities.append(torch.profiler.ProfilerActivity.CUDA)
""",
    (
        EMPTY,
        Workload("training steps", "for _ in range({steps}): loss = train_step(x, y)\nloss = loss.item()"),
    ),
    "profiler = torch.profiler.profile(activities=activities)\nprofiler.start()\n{cell}\nprofiler.stop()",
    "jupyter_mlgpu.measure.frameworks.torch.profiler:TorchSession",
    "torch.cuda.is_available()",
    (Workload(LARGE, "for _ in range({steps}): loss = big_step()\nloss = loss.item()"),),
)

JAX = Framework(
    "JAX",
    "jax",
    f"""
{_FOLDER}
import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.key(0), 4)
x, y = jax.random.normal(keys[0], (64, 256)), jax.random.randint(keys[1], (64,), 0, 10)
params = [
    (jax.random.normal(keys[2], (256, 256)) / 16, jnp.zeros(256)),
    (jax.random.normal(keys[3], (256, 10)) / 16, jnp.zeros(10)),
]

def loss_of(params, x, y):
    (w1, b1), (w2, b2) = params
    logits = jax.nn.relu(x @ w1 + b1) @ w2 + b2
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], axis=1).mean()

@jax.jit
def train_step(params, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    return loss, jax.tree.map(lambda value, gradient: value - 0.01 * gradient, params, gradients)

if jax.default_backend() == "gpu":
    big_x, big_y = jax.random.normal(keys[0], (4096, 4096)), jax.random.randint(keys[1], (4096,), 0, 10)
    big_params = [
        (jax.random.normal(keys[2], (4096, 4096)) / 64, jnp.zeros(4096)),
        (jax.random.normal(keys[3], (4096, 10)) / 64, jnp.zeros(10)),
    ]

options = jax.profiler.ProfileOptions()
options.python_tracer_level = 0
options.host_tracer_level = 2
""",
    (
        EMPTY,
        Workload(
            "training steps",
            "for _ in range({steps}): loss, params = train_step(params, x, y)\nloss = float(loss)",
        ),
    ),
    "jax.profiler.start_trace(profiles, profiler_options=options)\n{cell}\njax.profiler.stop_trace()",
    "jupyter_mlgpu.measure.frameworks.jax.profiler:JaxSession",
    'jax.default_backend() == "gpu"',
    (
        Workload(
            LARGE,
            "for _ in range({steps}): loss, big_params = train_step(big_params, big_x, big_y)\n"
            "loss = float(loss)",
        ),
    ),
)

FRAMEWORKS = (TORCH, JAX, TENSORFLOW)
