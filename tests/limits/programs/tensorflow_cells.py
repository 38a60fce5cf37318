# Cells with TensorFlow and Keras.
# keras-models-in-a-loop is timed by what every trace of a `tf.function` goes through, in TensorFlow 2.19.

# %% tf-first-call-of-a-deep-function: before
import tensorflow as tf
w = tf.random.normal((256, 256)) / 16
x = tf.random.normal((64, 256))

@tf.function
def deep(x):
    for layer in range(300):
        x = tf.nn.tanh(tf.matmul(x, w)) + x
    return x
# %% tf-first-call-of-a-deep-function: asked
y = deep(x)
# %% tf-first-call-of-a-deep-function: mended
for _ in range(15):
    y = deep(x)

# %% tf-retraced-for-each-number: before
import tensorflow as tf
x = tf.random.normal((32, 32))

@tf.function
def scaled(x, factor):
    for _ in range(5):
        x = tf.nn.relu(x * factor) - tf.reduce_mean(x)
    return x
# %% tf-retraced-for-each-number: asked
for step in range(40):
    y = scaled(x, step)
# %% tf-retraced-for-each-number: mended
x = tf.random.normal((2048, 1024))
y = scaled(x, tf.constant(0.0))
for step in range(60):
    y = scaled(x, tf.constant(float(step)))

# %% tf-retraced-for-each-shape: before
import tensorflow as tf
w = tf.random.normal((16, 16))
sentences = [tf.random.normal((length, 16)) for length in range(5, 45)]

@tf.function
def attend(x):
    for head in range(4):
        x = tf.matmul(tf.nn.softmax(tf.matmul(x, x, transpose_b=True)), tf.matmul(x, w))
    return tf.reduce_mean(x)
# %% tf-retraced-for-each-shape: asked
means = [attend(sentence) for sentence in sentences]
# %% tf-retraced-for-each-shape: before mended
padded = tf.random.normal((1_500, 16))
mean = attend(padded)
# %% tf-retraced-for-each-shape: mended
means = [attend(padded) for _ in range(50)]

# %% tf-xla-first-call: before
import tensorflow as tf
w = tf.random.normal((512, 512)) / 23
x = tf.random.normal((64, 512))

@tf.function(jit_compile=True)
def network(x):
    for layer in range(8):
        x = tf.nn.gelu(tf.matmul(x, w)) + tf.nn.softmax(x)
    return tf.reduce_sum(x)
# %% tf-xla-first-call: asked
y = network(x)
# %% tf-xla-first-call: mended
for _ in range(120):
    y = network(x)

# %% keras-first-fit: before
import keras
import numpy as np
model = keras.Sequential([
    keras.Input((784,)),
    *[keras.layers.Dense(256, activation="relu") for _ in range(6)],
    keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
x = np.random.default_rng(0).random((128, 784), dtype="float32")
y = np.arange(128) % 10
# %% keras-first-fit: asked
history = model.fit(x, y, batch_size=128, verbose=0)
# %% keras-first-fit: mended
history = model.fit(np.tile(x, (150, 1)), np.tile(y, 150), batch_size=128, verbose=0)

# %% keras-models-in-a-loop: before
import keras
import numpy as np
x = np.random.default_rng(0).random((32, 20), dtype="float32")
y = x.sum(axis=1)

def build(units):
    layers = [keras.layers.Dense(units, activation="relu") for _ in range(4)]
    model = keras.Sequential([keras.Input((20,)), *layers, keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model
# %% keras-models-in-a-loop: asked
losses = {}
for units in (8, 16):
    history = build(units).fit(x, y, epochs=1, verbose=0)
    losses[units] = history.history["loss"][-1]

# %% tf-function-made-in-a-loop: before
import tensorflow as tf
x = tf.random.normal((64, 64))
# %% tf-function-made-in-a-loop: asked
for step in range(25):
    @tf.function
    def update(x):
        for _ in range(4):
            x = tf.nn.sigmoid(x) * tf.reduce_max(x)
        return x
    x = update(x)
# %% tf-function-made-in-a-loop: before mended
update(x)
# %% tf-function-made-in-a-loop: mended
for step in range(25):
    x = update(x)

# %% tf-gradients-of-an-unrolled-network: before
import tensorflow as tf
recurrent = tf.Variable(tf.random.normal((32, 32)) / 6)
sequence = tf.random.normal((60, 8, 32))

@tf.function
def gradients(sequence):
    with tf.GradientTape() as tape:
        state = tf.zeros((8, 32))
        for step in range(60):
            state = tf.tanh(sequence[step] + tf.matmul(state, recurrent))
        loss = tf.reduce_mean(state**2)
    return tape.gradient(loss, recurrent)
# %% tf-gradients-of-an-unrolled-network: asked
g = gradients(sequence)

# %% tf-tiny-additions: before
import tensorflow as tf
x = tf.constant(0.0)
# %% tf-tiny-additions: asked
for step in range(20_000):
    x = tf.add(x, 1.0)
# %% tf-tiny-additions: mended
x = tf.zeros(4_000_000)
for step in range(400):
    x = tf.add(x, 1.0)

# %% tf-rows-one-by-one: before
import tensorflow as tf
table = tf.random.normal((6_000, 32))
# %% tf-rows-one-by-one: asked
rows = []
for index in range(6_000):
    row = tf.gather(table, index)
    centred = tf.subtract(row, tf.reduce_mean(row))
    rows.append(tf.divide(centred, tf.sqrt(tf.reduce_mean(tf.square(centred)))))
# %% tf-rows-one-by-one: mended
table = tf.random.normal((200_000, 32))
for _ in range(20):
    centred = tf.subtract(table, tf.reduce_mean(table, axis=1, keepdims=True))
    rows = tf.divide(centred, tf.sqrt(tf.reduce_mean(tf.square(centred), axis=1, keepdims=True)))

# %% tf-eager-training-of-a-line: before
import tensorflow as tf
x = tf.linspace(-1.0, 1.0, 64)
y = 3.0 * x + 1.0
a, b = tf.Variable(0.0), tf.Variable(0.0)

def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((a * x + b - y) ** 2)
    for variable, gradient in zip((a, b), tape.gradient(loss, (a, b))):
        variable.assign_sub(0.1 * gradient)
    return loss
# %% tf-eager-training-of-a-line: asked
losses = [step() for _ in range(800)]
# %% tf-eager-training-of-a-line: mended
import time
fast = tf.function(step)
fast()
for epoch in range(10):
    time.sleep(0.1)
    losses = [fast() for _ in range(50)]

# %% keras-model-on-single-samples: before
import keras
import numpy as np
model = keras.Sequential([
    keras.Input((8,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1),
])
samples = np.random.default_rng(0).random((500, 8), dtype="float32")

def predict(sample):
    return model(sample[None])
# %% keras-model-on-single-samples: asked
answers = [predict(sample) for sample in samples]

# %% tf-products: before
import tensorflow as tf
x = tf.random.normal((1_500, 1_500)) / 40
# %% tf-products: asked
y = x
for _ in range(10):
    y = tf.matmul(y, x)
# %% tf-products: mended
import time
y = tf.matmul(x[:8], x)
time.sleep(0.5)

# %% tf-convolutions: before
import tensorflow as tf
images = tf.random.normal((32, 64, 64, 32))
filters = tf.random.normal((3, 3, 32, 32))
# %% tf-convolutions: asked
for _ in range(60):
    y = tf.nn.conv2d(images, filters, strides=1, padding='SAME')

# %% keras-fit-of-wide-layers: before
import keras
import numpy as np
x = np.random.default_rng(0).random((6_144, 1_024), dtype="float32")
model = keras.Sequential([
    keras.Input((1_024,)),
    *[keras.layers.Dense(1_024, activation="relu") for _ in range(3)],
    keras.layers.Dense(10),
])
model.compile("sgd", "mse")
history = model.fit(x[:512], np.zeros((512, 10)), batch_size=512, verbose=0)
# %% keras-fit-of-wide-layers: asked
history = model.fit(x, np.zeros((6_144, 10)), batch_size=512, verbose=0)

# %% tf-additions-of-large-arrays: before
import tensorflow as tf
x = tf.random.normal((20_000_000,))
y = tf.ones_like(x)
# %% tf-additions-of-large-arrays: asked
for _ in range(90):
    y = tf.add(x, y)

# %% tf-sort: before
import tensorflow as tf
x = tf.random.normal((4_000_000,))
# %% tf-sort: asked
for _ in range(2):
    y = tf.sort(x)

# %% KERAS_MODEL
import keras
import numpy as np
import tensorflow as tf
layers = [keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)]
model = keras.Sequential([keras.Input((64,)), *layers])
model.compile("sgd", "mse")
history = model.fit(np.zeros((32, 64), "float32"), np.zeros((32, 1), "float32"), verbose=0)

# %% keras-fit-from-a-generator: KERAS_MODEL, before
lines = [",".join(str((row * column) % 17 / 16) for column in range(1_024)) for row in range(320)]

def batches():
    while True:
        for start in range(0, len(lines), 32):
            rows = [[float(word) for word in line.split(",")] for line in lines[start:start + 32]]
            table = np.array(rows, dtype="float32").reshape(-1, 64, 16).mean(axis=2)
            yield table, table[:, :1]

history = model.fit(batches(), steps_per_epoch=1, verbose=0)
# %% keras-fit-from-a-generator: asked
history = model.fit(batches(), steps_per_epoch=80, verbose=0)
# %% keras-fit-from-a-generator: mended
ready = next(batches())
data = np.tile(ready[0], (20, 512)), np.tile(ready[1], (20, 1))
wide = tf.random.normal((64 * 512, 256))
for _ in range(5):
    y = tf.matmul(data[0], wide)

# %% tf-data-of-a-python-function: KERAS_MODEL, before
def augment(row):
    values = row.numpy().tolist()
    for _ in range(100):
        values = [value * 1.01 - 0.5 if value > 0.5 else value * 0.99 for value in values]
    return np.array(values, dtype="float32")

def augmented(count):
    table = np.random.default_rng(0).random((count, 64), dtype="float32")
    rows = tf.data.Dataset.from_tensor_slices(table)
    rows = rows.map(lambda row: tf.py_function(augment, [row], tf.float32))
    rows = rows.map(lambda row: tf.ensure_shape(row, (64,)))
    return rows.map(lambda row: (row, row[:1])).batch(32)

history = model.fit(augmented(32), verbose=0)
ready = augmented(1_600).cache()
history = model.fit(ready, verbose=0)
# %% tf-data-of-a-python-function: asked
history = model.fit(augmented(1_600), verbose=0)
# %% tf-data-of-a-python-function: mended
history = model.fit(ready, verbose=0)

# %% tf-data-from-generator: before
import zlib
import numpy as np
import tensorflow as tf
noise = np.random.default_rng(0).integers(0, 30, (256, 256, 3), dtype="uint8")
files = [zlib.compress(noise.tobytes())] * 900

def images():
    for file in files:
        yield np.frombuffer(zlib.decompress(file), "uint8").reshape(256, 256, 3)
# %% tf-data-from-generator: asked
spec = tf.TensorSpec((256, 256, 3), tf.uint8)
means = []
for batch in tf.data.Dataset.from_generator(images, output_signature=spec).batch(10):
    means.append(tf.reduce_mean(batch[:, ::16, ::16]))

# %% keras-pydataset-that-decodes: KERAS_MODEL, before
import json
text = json.dumps([[(row * column) % 7 / 6 for column in range(64)] for row in range(600)])

class Rows(keras.utils.PyDataset):
    def __init__(self, count):
        super().__init__()
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        table = np.array(json.loads(text)[index:index + 32], dtype="float32")
        return table, table[:, :1]

history = model.fit(Rows(1), verbose=0)
ready = np.concatenate([Rows(1)[0][0]] * 60)
history = model.fit(ready, ready[:, :1], verbose=0)
# %% keras-pydataset-that-decodes: asked
history = model.fit(Rows(60), verbose=0)
# %% keras-pydataset-that-decodes: mended
history = model.fit(ready, ready[:, :1], verbose=0)

# %% tf-data-of-png-files: before
import numpy as np
import tensorflow as tf
noise = np.random.default_rng(0).integers(0, 200, (200, 200, 3), dtype="uint8")
png = tf.io.encode_png(noise).numpy()
files = tf.data.Dataset.from_tensors(png).repeat(4_500)
decode = lambda file: tf.image.resize(tf.io.decode_png(file, channels=3), (64, 64))
images = files.map(decode).batch(50).cache()
w = tf.Variable(tf.random.normal((64 * 64 * 3, 32)) / 100)

@tf.function
def train(batch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.matmul(tf.reshape(batch, (-1, 64 * 64 * 3)) / 255.0, w) ** 2)
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss

loss = train(tf.zeros((50, 64, 64, 3)))
# %% tf-data-of-png-files: asked
for batch in images:
    loss = train(batch)
# %% tf-data-of-png-files: mended
for epoch in range(6):
    for batch in images:
        loss = train(batch)

# %% keras-fit-on-a-slow-source: KERAS_MODEL, before
import time
def batches():
    while True:
        time.sleep(0.025)
        yield np.zeros((32, 64), "float32"), np.zeros((32, 1), "float32")

history = model.fit(batches(), steps_per_epoch=1, verbose=0)
# %% keras-fit-on-a-slow-source: asked
history = model.fit(batches(), steps_per_epoch=40, verbose=0)

# %% keras-callback-that-sleeps: KERAS_MODEL, before
import time
class Report(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(0.025)
# %% keras-callback-that-sleeps: asked
x, y = np.zeros((1_280, 64), "float32"), np.zeros((1_280, 1), "float32")
history = model.fit(x, y, batch_size=32, callbacks=[Report()], verbose=0)
# %% keras-callback-that-sleeps: mended
x, y = np.zeros((1_280, 64), "float32"), np.zeros((1_280, 1), "float32")
history = model.fit(x, y, batch_size=32, epochs=10, verbose=0)

# %% keras-callback-in-python: KERAS_MODEL, before
class Count(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        self.digits = 0
        for number in range(600_000):
            self.digits += len(str(number * batch))

x, y = np.zeros((384, 64), "float32"), np.zeros((384, 1), "float32")
history = model.fit(x, y, batch_size=32, verbose=0)
# %% keras-callback-in-python: asked
history = model.fit(x, y, batch_size=32, callbacks=[Count()], verbose=0)

# %% tf-results-looped-over-in-python: before
import tensorflow as tf
logits = tf.random.normal((400_000, 10))
labels = tf.argmax(tf.random.normal((400_000, 10)), axis=1).numpy().tolist()
# %% tf-results-looped-over-in-python: asked
predicted = tf.argmax(logits, axis=1).numpy().tolist()
confusion = [[0] * 10 for _ in range(10)]
for epoch in range(8):
    for label, guess in zip(labels, predicted):
        confusion[label][guess] += 1
# %% tf-results-looped-over-in-python: mended
for _ in range(60):
    predicted = tf.argmax(logits, axis=1)
    confusion = tf.math.confusion_matrix(labels[:10], predicted[:10])

# %% tf-tensors-of-arrays-and-back: before
import numpy as np
import tensorflow as tf
data = np.ones((25_000_000,))
# %% tf-tensors-of-arrays-and-back: asked
for step in range(6):
    tensor = tf.constant(data)
    back = np.array(tensor)
# %% tf-tensors-of-arrays-and-back: mended
tensor = tf.constant(data[:1_000_000])
total = sum(number for number in range(10_000_000))

# %% busy-machine-tensorflow: before
import tensorflow as tf
x = tf.constant(0.0)
# %% busy-machine-tensorflow: asked
for step in range(15_000):
    x = tf.add(x, 1.0)
# %% busy-machine-tensorflow: mended
for step in range(40_000):
    x = tf.add(x, 1.0)
