# Ordinary cells, in the manner of the guides of TensorFlow and Keras and of PyTorch's tutorials, with made-up data.

# %% TENSORFLOW
import numpy as np
import tensorflow as tf

# %% tf-tensors-and-shapes: TENSORFLOW, asked
a = tf.reshape(tf.range(24.0), (2, 3, 4))
b = tf.ones((2, 4, 5))
for axis in range(3):
    print(tf.reduce_sum(a, axis=axis).shape)
print(tf.matmul(a, b).shape, tf.transpose(a, (2, 0, 1)).shape)
big = tf.random.normal((2_000, 2_000))
print(float(tf.reduce_mean(tf.matmul(big, big, transpose_b=True))))

# %% tf-linear-regression-from-scratch: TENSORFLOW, before
x = tf.random.normal((1_000,), seed=1)
y = 3.0 * x + 2.0 + tf.random.normal((1_000,), seed=2)
w, b = tf.Variable(5.0), tf.Variable(0.0)
# %% tf-linear-regression-from-scratch: asked
for epoch in range(300):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(w * x + b - y))
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(0.1 * dw)
    b.assign_sub(0.1 * db)
print(w.numpy(), b.numpy(), loss.numpy())

# %% tf-eager-beside-a-function: TENSORFLOW, before
import timeit
x = tf.random.normal((100, 100))
# %% tf-eager-beside-a-function: asked
def power(x, y):
    result = tf.eye(100)
    for _ in range(y):
        result = tf.matmul(x / 10, result)
    return result

graph = tf.function(power)
print("eager:", timeit.timeit(lambda: power(x, 100), number=20))
print("graph:", timeit.timeit(lambda: graph(x, 100), number=20))

# %% tf-second-derivatives: TENSORFLOW, before
x = tf.Variable(tf.linspace(-2.0, 2.0, 201))
# %% tf-second-derivatives: asked
curves = []
for repeat in range(60):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.sin(x) * tf.exp(-(x**2))
        first = inner.gradient(y, x)
    second = outer.gradient(first, x)
    curves.append(second.numpy())

# %% tf-jacobian-of-a-layer: TENSORFLOW, before
layer = tf.keras.layers.Dense(30, activation='relu')
x = tf.random.normal((40, 20))
# %% tf-jacobian-of-a-layer: asked
with tf.GradientTape(persistent=True) as tape:
    y = layer(x)
jacobian = tape.jacobian(y, layer.kernel)
print(jacobian.shape, float(tf.norm(jacobian)))

# %% tf-data-pipeline-walked-through: TENSORFLOW, asked
numbers = tf.data.Dataset.range(40_000)
numbers = numbers.map(lambda n: tf.cast(n, tf.float32) ** 2).filter(lambda n: n % 2 == 0)
numbers = numbers.shuffle(1_000).batch(16).prefetch(tf.data.AUTOTUNE)
total = 0.0
for batch in numbers:
    total += float(tf.reduce_sum(batch))
print(total)

# %% tf-data-with-augmentation: TENSORFLOW, before
images = np.random.default_rng(0).random((600, 96, 96, 3), dtype="float32")

def augment(image):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_brightness(image, 0.2)
    image = tf.image.resize(image, (128, 128))
    return tf.image.random_crop(image, (96, 96, 3))
# %% tf-data-with-augmentation: asked
pipeline = tf.data.Dataset.from_tensor_slices(images).map(augment, tf.data.AUTOTUNE).batch(32)
means = [float(tf.reduce_mean(batch)) for batch in pipeline]

# %% tf-own-training-loop: TENSORFLOW, before
rng = np.random.default_rng(0)
x, y = rng.random((2_000, 28, 28, 1), dtype="float32"), rng.integers(0, 10, 2_000)
batches = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2_000).batch(64)
model = tf.keras.Sequential([
    tf.keras.Input((28, 28, 1)),
    tf.keras.layers.Conv2D(16, 3, activation="relu"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(64, activation="relu"),
    tf.keras.layers.Dense(10),
])
loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam()

@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        loss = loss_of(labels, model(images, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss
# %% tf-own-training-loop: asked
for images, labels in batches:
    loss = train_step(images, labels)
print(float(loss))

# %% tf-own-training-loop-second-epoch: TENSORFLOW, before
x, y = tf.random.normal((4_096, 200)), tf.random.normal((4_096, 1))
batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
layers = [tf.keras.layers.Dense(256, activation="relu"), tf.keras.layers.Dense(1)]
model = tf.keras.Sequential([tf.keras.Input((200,)), *layers])
optimizer = tf.keras.optimizers.SGD()

@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

for a, b in batches:
    loss = train_step(a, b)
# %% tf-own-training-loop-second-epoch: asked
for epoch in range(4):
    for a, b in batches:
        loss = train_step(a, b)
    print(epoch, float(loss))

# %% tf-ragged-sentences: TENSORFLOW, asked
sentences = ["What makes you think she is a witch?", "She made me a newt.", "A newt?"] * 300
words = tf.strings.split(tf.constant(sentences))
buckets = tf.strings.to_hash_bucket_fast(words, 1_000)
table = tf.Variable(tf.random.normal((1_000, 16)))
vectors = tf.nn.embedding_lookup(table, buckets)
bigrams = tf.strings.join([words[:, :-1], words[:, 1:]], separator="+")
print(tf.reduce_mean(vectors, axis=1).shape, bigrams.shape)

# %% tf-game-of-life: TENSORFLOW, asked
world = tf.cast(tf.random.uniform((1, 256, 256, 1), seed=3) > 0.7, tf.float32)
kernel = tf.reshape(tf.constant([[1.0, 1, 1], [1, 0, 1], [1, 1, 1]]), (3, 3, 1, 1))
for generation in range(200):
    around = tf.nn.conv2d(world, kernel, 1, "SAME")
    world = tf.cast((around == 3) | ((around == 2) & (world == 1)), tf.float32)
print(float(tf.reduce_sum(world)))

# %% tf-mandelbrot: TENSORFLOW, asked
real, imaginary = np.meshgrid(np.linspace(-2, 0.6, 700), np.linspace(-1.2, 1.2, 600))
c = tf.constant(real + 1j * imaginary)
z, count = tf.zeros_like(c), tf.zeros(c.shape)
for step in range(40):
    z = tf.where(tf.abs(z) < 4, z * z + c, z)
    count += tf.cast(tf.abs(z) < 4, tf.float32)

# %% keras-import-and-first-model: asked
import keras
from keras import layers
model = keras.Sequential([keras.Input((784,)), layers.Dense(128, "relu"), layers.Dense(10)])
model.compile("adam", "mse")
model.summary()

# %% DIGITS
import keras
import numpy as np
from keras import layers
rng = np.random.default_rng(0)
x_train, y_train = rng.random((3_000, 28, 28, 1), dtype="float32"), rng.integers(0, 10, 3_000)

def convolutional():
    model = keras.Sequential([
        keras.Input((28, 28, 1)),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.Dropout(0.5),
        layers.Dense(10, activation="softmax"),
    ])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model

# %% keras-first-epoch-of-digits: DIGITS, before
model = convolutional()
# %% keras-first-epoch-of-digits: asked
model.fit(x_train, y_train, batch_size=128, epochs=1, validation_split=0.1)

# %% keras-later-epochs-of-digits: DIGITS, before
model = convolutional()
model.fit(x_train, y_train, batch_size=128, verbose=0)
# %% keras-later-epochs-of-digits: asked
history = model.fit(x_train, y_train, batch_size=128, epochs=2)

# %% keras-evaluate-and-predict: DIGITS, before
model = convolutional()
# %% keras-evaluate-and-predict: asked
print(model.evaluate(x_train, y_train, verbose=0))
guesses = model.predict(x_train[:1_000]).argmax(axis=1)

# %% TABLE
import keras
import numpy as np
from keras import layers
rng = np.random.default_rng(0)
x, y = rng.random((5_000, 20), dtype="float32"), rng.random((5_000, 1), dtype="float32")

def dense(units=32):
    model = keras.Sequential([
        keras.Input((20,)), layers.Dense(units, activation="relu"), layers.Dense(1),
    ])
    model.compile("adam", "mse")
    return model

# %% keras-predictions-in-a-loop: TABLE, before
model = dense()
model.predict(x[:1], verbose=0)
# %% keras-predictions-in-a-loop: asked
answers = [float(model.predict(x[i : i + 1], verbose=0)[0, 0]) for i in range(25)]

# %% keras-many-epochs-of-a-small-table: TABLE, before
model = dense()
model.fit(x[:500], y[:500], verbose=0)
# %% keras-many-epochs-of-a-small-table: asked
history = model.fit(x[:500], y[:500], epochs=20, verbose=0)

# %% keras-search-of-widths: TABLE, asked
results = {}
for units in (8, 16, 64):
    history = dense(units).fit(x, y, epochs=2, batch_size=256, validation_split=0.2, verbose=0)
    results[units] = history.history["val_loss"][-1]

# %% keras-early-stopping: TABLE, before
model = dense(64)
# %% keras-early-stopping: asked
stop = keras.callbacks.EarlyStopping("val_loss", patience=2)
history = model.fit(x, y, epochs=8, validation_split=0.2, callbacks=[stop], verbose=0)

# %% keras-save-and-load: DIGITS, before
import tempfile
folder = tempfile.mkdtemp()
model = convolutional()
# %% keras-save-and-load: asked
for number in range(5):
    model.save(f"{folder}/{number}.keras")
    model = keras.models.load_model(f"{folder}/{number}.keras")

# %% keras-text-vectorization: TABLE, before
texts = ['a film with %d good and %d bad words' % (i, i * 7 % 99) for i in range(8_000)]
# %% keras-text-vectorization: asked
vectorize = layers.TextVectorization(max_tokens=2_000, output_sequence_length=16)
vectorize.adapt(texts)
tokens = vectorize(texts)
print(tokens.shape, vectorize.get_vocabulary()[:10])

# %% keras-recurrent-network: TABLE, before
sequences, labels = rng.integers(0, 500, (640, 40)), rng.integers(0, 2, 640)
stack = [layers.Embedding(500, 32), layers.LSTM(32), layers.Dense(1, "sigmoid")]
model = keras.Sequential([keras.Input((40,), dtype="int32"), *stack])
model.compile("adam", "binary_crossentropy")
# %% keras-recurrent-network: asked
history = model.fit(sequences, labels, batch_size=64, epochs=2, verbose=0)

# %% keras-functional-model-with-two-inputs: TABLE, asked
left, right = keras.Input((10,)), keras.Input((10,))
merged = layers.concatenate([layers.Dense(32, "relu")(left), layers.Dense(32, "relu")(right)])
model = keras.Model([left, right], layers.Dense(1)(merged))
model.compile("adam", "mse")
model.fit([x[:, :10], x[:, 10:]], y, epochs=3, batch_size=128, verbose=0)

# %% keras-own-layer-and-gradients: TABLE, before
import tensorflow as tf

class Scaled(layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer="ones")

    def call(self, inputs):
        return inputs * self.scale

model = keras.Sequential([keras.Input((20,)), Scaled(), layers.Dense(1)])
# %% keras-own-layer-and-gradients: asked
for step in range(60):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x[:256]) - y[:256]) ** 2)
    gradients = tape.gradient(loss, model.trainable_weights)
    for weight, gradient in zip(model.trainable_weights, gradients):
        weight.assign(weight - 0.1 * gradient)

# %% keras-fit-from-files-of-images: DIGITS, before
import pathlib, tempfile
folder = pathlib.Path(tempfile.mkdtemp())
for label in range(2):
    (folder / str(label)).mkdir()
    for number in range(150):
        pixels = rng.integers(0, 255, (96, 96, 3), dtype="uint8")
        keras.utils.save_img(folder / str(label) / f"{number}.png", pixels)
# %% keras-fit-from-files-of-images: asked
images = keras.utils.image_dataset_from_directory(folder, image_size=(64, 64), verbose=False)
stack = [layers.Rescaling(1 / 255), layers.Conv2D(8, 3), layers.GlobalMaxPooling2D()]
model = keras.Sequential([keras.Input((64, 64, 3)), *stack, layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(images, epochs=2, verbose=0)

# %% torch-import-and-tensors: asked
import torch
tensor = torch.ones(4, 4)
tensor[:, 1] = 0
print(tensor @ tensor.T, tensor.sum().item(), torch.cat([tensor, tensor], dim=1).shape)

# %% torch-polynomial-by-hand: before
import math
import torch
x = torch.linspace(-math.pi, math.pi, 2_000)
y = torch.sin(x)
# %% torch-polynomial-by-hand: asked
a, b, c, d = (torch.randn((), requires_grad=True) for _ in range(4))
for step in range(2_000):
    loss = (a + b * x + c * x**2 + d * x**3 - y).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        for weight in (a, b, c, d):
            weight -= 1e-6 * weight.grad
            weight.grad = None
print(loss.item())

# %% NETWORK
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset
torch.manual_seed(0)
images, labels = torch.rand(2_000, 1, 28, 28), torch.arange(2_000) % 10

def network():
    return nn.Sequential(
        nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
    )

def train(loader, model, optimizer):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()

model = network()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

# %% torch-quickstart-epoch: NETWORK, asked
loader = DataLoader(TensorDataset(images, labels), batch_size=64, shuffle=True)
for epoch in range(3):
    print(epoch, train(loader, model, optimizer))

# %% torch-test-loop: NETWORK, asked
model.eval()
correct = 0
with torch.no_grad():
    for repeat in range(10):
        for x, y in DataLoader(TensorDataset(images, labels), batch_size=250):
            correct += (model(x).argmax(1) == y).type(torch.float).sum().item()
print(correct)

# %% torch-own-dataset-with-transforms: NETWORK, before
class Noisy(Dataset):
    def __len__(self):
        return 2_000

    def __getitem__(self, index):
        image = images[index].flip(-1) if index % 2 else images[index]
        image = image + 0.1 * torch.randn_like(image)
        return (image - image.mean()) / image.std(), labels[index]
# %% torch-own-dataset-with-transforms: asked
for epoch in range(3):
    print(train(DataLoader(Noisy(), batch_size=64, shuffle=True), model, optimizer))

# %% torch-loader-with-workers: NETWORK, asked
loader = DataLoader(TensorDataset(images, labels), batch_size=64, num_workers=2)
print(train(loader, model, optimizer))

# %% torch-convolutional-classifier: NETWORK, before
model = nn.Sequential(
    nn.Conv2d(1, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 5), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(32 * 16, 10),
)
optimizer = torch.optim.Adam(model.parameters())
# %% torch-convolutional-classifier: asked
print(train(DataLoader(TensorDataset(images, labels), batch_size=32), model, optimizer))

# %% torch-names-by-letters: before
import string
import torch
from torch import nn
letters = string.ascii_letters
names = ["Satoshi", "Abarca", "Wagner", "Oleary", "Kowalski", "Nguyen"] * 20
rnn, out = nn.RNN(len(letters), 64), nn.Linear(64, 6)
optimizer = torch.optim.SGD([*rnn.parameters(), *out.parameters()], lr=0.01)

def to_tensor(name):
    tensor = torch.zeros(len(name), 1, len(letters))
    for position, letter in enumerate(name):
        tensor[position][0][letters.find(letter)] = 1
    return tensor
# %% torch-names-by-letters: asked
for epoch in range(10):
    for number, name in enumerate(names):
        _, hidden = rnn(to_tensor(name))
        loss = nn.functional.cross_entropy(out(hidden[0]), torch.tensor([number % 6]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

# %% torch-transformer-encoder: before
import torch
from torch import nn
layer = nn.TransformerEncoderLayer(d_model=128, nhead=4, dim_feedforward=256, batch_first=True)
encoder = nn.TransformerEncoder(layer, num_layers=3)
tokens = torch.rand(16, 64, 128)
# %% torch-transformer-encoder: asked
for step in range(8):
    loss = encoder(tokens).square().mean()
    encoder.zero_grad()
    loss.backward()
print(loss.item())

# %% torch-generative-network: NETWORK, before
generator = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 784), nn.Sigmoid())
critic = nn.Sequential(nn.Linear(784, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1))
ours = torch.optim.Adam(generator.parameters())
theirs = torch.optim.Adam(critic.parameters())
loss_of = nn.BCEWithLogitsLoss()
# %% torch-generative-network: asked
for real in images.flatten(1).repeat(4, 1).split(64):
    fake = generator(torch.randn(len(real), 64))
    loss = loss_of(critic(real), torch.ones(len(real), 1))
    loss = loss + loss_of(critic(fake.detach()), torch.zeros(len(real), 1))
    theirs.zero_grad()
    loss.backward()
    theirs.step()
    loss = loss_of(critic(fake), torch.ones(len(real), 1))
    ours.zero_grad()
    loss.backward()
    ours.step()

# %% torch-compile-beside-eager: NETWORK, before
import time
# %% torch-compile-beside-eager: asked
compiled = torch.compile(model, backend="aot_eager")
for name, one in (("eager", model), ("compiled", compiled)):
    begun = time.perf_counter()
    for step in range(10):
        one(images[:256]).sum().backward()
    print(name, time.perf_counter() - begun)

# %% torch-save-and-load: NETWORK, before
import tempfile
folder = tempfile.mkdtemp()
# %% torch-save-and-load: asked
for number in range(60):
    torch.save(model.state_dict(), f"{folder}/{number}.pt")
    model.load_state_dict(torch.load(f"{folder}/{number}.pt", weights_only=True))

# %% torch-losses-printed-in-pure-python: NETWORK, asked
history = []
for step in range(150):
    loss = nn.functional.cross_entropy(model(images[:32]), labels[:32])
    history.append(loss.item())
    average = sum(history[-50:]) / len(history[-50:])
    if step % 10 == 0:
        print(f"{step:4d} {loss.item():.3f} {average:.3f} {'#' * int(10 * average)}")

# %% torch-nearest-neighbours: NETWORK, asked
flat = images.flatten(1)
for metric in (1.0, 2.0):
    distances = torch.cdist(flat, flat, p=metric)
nearest = distances.topk(6, largest=False).indices[:, 1:]
print((labels[nearest].mode(dim=1).values == labels).float().mean())
