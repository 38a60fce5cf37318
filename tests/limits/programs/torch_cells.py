# Cells with PyTorch on the CPU.

# %% torch-compile-first-call: before
import os, tempfile
os.environ['TORCHINDUCTOR_CACHE_DIR'] = tempfile.mkdtemp()
# %% torch-compile-first-call: before
import torch
x = torch.rand(3_000, 1_000)

@torch.compile
def fused(x):
    return (torch.sigmoid(x) * x + torch.exp(-x)).sum()
# %% torch-compile-first-call: asked
y = fused(x)
# %% torch-compile-first-call: mended
for _ in range(800):
    y = fused(x)

# %% torch-compile-again-for-each-length: before
import torch
w = torch.rand(32, 32) / 8

@torch.compile(backend="eager", dynamic=False)
def network(x):
    for layer in range(80):
        x = torch.relu(x @ w) + x
    return x.mean()
# %% torch-compile-again-for-each-length: asked
losses = [network(torch.rand(length, 32)) for length in range(10, 16)]

# %% torch-compile-of-a-training-step: before
import torch
layers = []
for _ in range(40):
    layers += [torch.nn.Linear(512, 512), torch.nn.ReLU()]
model = torch.compile(torch.nn.Sequential(*layers), backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.rand(64, 512)

def step():
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss
# %% torch-compile-of-a-training-step: asked
loss = step()
# %% torch-compile-of-a-training-step: mended
for epoch in range(20):
    loss = step()

# %% torch-export: before
import torch
layers = []
for _ in range(150):
    layers += [torch.nn.Linear(64, 64), torch.nn.GELU()]
model = torch.nn.Sequential(*layers)
# %% torch-export: asked
program = torch.export.export(model, (torch.rand(8, 64),))

# %% torch-tiny-additions: before
import torch
x = torch.tensor(0.0)
# %% torch-tiny-additions: asked
for step in range(250_000):
    x = torch.add(x, 1.0)
# %% torch-tiny-additions: mended
x = torch.zeros(10_000_000)
for step in range(80):
    x = torch.add(x, 1.0)

# %% torch-small-products-one-by-one: before
import torch
pairs = [(torch.rand(4, 4), torch.rand(4, 4)) for _ in range(20_000)]
# %% torch-small-products-one-by-one: asked
for epoch in range(15):
    products = [torch.mm(a, b) for a, b in pairs]
# %% torch-small-products-one-by-one: mended
a, b = torch.rand(40_000, 32, 32), torch.rand(40_000, 32, 32)
for epoch in range(4):
    products = torch.bmm(a, b)

# %% torch-recurrent-network-by-hand: before
import torch
w, u = torch.rand(16, 16) / 16, torch.rand(16, 16) / 16
x = torch.rand(16)
# %% torch-recurrent-network-by-hand: asked
with torch.no_grad():
    state = torch.zeros(16)
    for step in range(120_000):
        state = torch.tanh(torch.add(torch.matmul(w, x), torch.matmul(u, state)))

# %% torch-training-of-a-tiny-network: before
import torch
model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, foreach=False)
x, y = torch.rand(32, 2), torch.rand(32, 1)

def step():
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()
# %% torch-training-of-a-tiny-network: asked
losses = [step() for _ in range(1_500)]

# %% torch-products: before
import torch
x = torch.rand(1_500, 1_500) / 750
# %% torch-products: asked
y = x
for _ in range(20):
    y = torch.mm(y, x)
# %% torch-products: mended
import time
y = torch.mm(x[:8], x)
time.sleep(0.5)

# %% torch-training-of-a-convolutional-network: before
import torch
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 32, 3), torch.nn.ReLU(),
    torch.nn.Conv2d(32, 64, 3, stride=2), torch.nn.ReLU(),
    torch.nn.Flatten(), torch.nn.Linear(64 * 30 * 30, 10),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
images, labels = torch.rand(64, 3, 64, 64), torch.arange(64) % 10

def step():
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.item()

loss = step()
# %% torch-training-of-a-convolutional-network: asked
losses = [step() for _ in range(6)]

# %% torch-sums-of-large-tensors: before
import torch
x, y = torch.rand(30_000_000), torch.rand(30_000_000)
z = torch.empty_like(x)
# %% torch-sums-of-large-tensors: asked
for _ in range(60):
    torch.add(x, y, out=z)

# %% torch-attention: before
import torch
q = torch.rand(2, 8, 2_048, 64)
# %% torch-attention: asked
for _ in range(8):
    y = torch.nn.functional.scaled_dot_product_attention(q, q, q)

# %% TORCH_MODEL
import torch
from torch.utils.data import DataLoader, Dataset
model = torch.nn.Linear(64, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

def train(batch):
    optimizer.zero_grad()
    loss = model(batch).square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()

loss = train(torch.rand(32, 64))

# %% AUGMENTED
class Augmented(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        values = [((index + column) % 17) / 17 for column in range(64)]
        for _ in range(100):
            values = [value * 1.01 - 0.5 if value > 0.5 else value * 0.99 for value in values]
        return torch.tensor(values)

# %% torch-loader-in-this-process: TORCH_MODEL, AUGMENTED, asked
losses = [train(batch) for batch in DataLoader(Augmented(5_000), batch_size=32)]
# %% torch-loader-in-this-process: mended
table = torch.rand(32_000, 64)
losses = [train(batch) for epoch in range(4) for batch in table.split(16)]

# %% torch-loader-with-two-workers: TORCH_MODEL, AUGMENTED, asked
loader = DataLoader(Augmented(3_000), batch_size=32, num_workers=2)
losses = [train(batch) for batch in loader]
# %% torch-loader-with-two-workers: mended
table = torch.rand(32_000, 64)
losses = [train(batch) for epoch in range(4) for batch in table.split(16)]

# %% torch-loader-of-a-slow-disk: TORCH_MODEL, before
import time
class Slow(Dataset):
    def __len__(self):
        return 480

    def __getitem__(self, index):
        time.sleep(0.002)
        return torch.zeros(64)
# %% torch-loader-of-a-slow-disk: asked
losses = [train(batch) for batch in DataLoader(Slow(), batch_size=32)]

# %% torch-loader-that-decompresses: before
import zlib
import torch
from torch.utils.data import DataLoader, Dataset
pixels = torch.randint(0, 30, (3 * 256 * 256,), dtype=torch.uint8)
file = zlib.compress(pixels.numpy().tobytes())

class Images(Dataset):
    def __len__(self):
        return 1_200

    def __getitem__(self, index):
        return torch.frombuffer(bytearray(zlib.decompress(file)), dtype=torch.uint8)
# %% torch-loader-that-decompresses: asked
means = [batch[:, ::64].float().mean() for batch in DataLoader(Images(), batch_size=20)]
# %% torch-loader-that-decompresses: mended
batch = next(iter(DataLoader(Images(), batch_size=20)))
for epoch in range(15):
    order = batch.sort()

# %% torch-tokenizing-before-an-embedding: before
import torch
embedding = torch.nn.EmbeddingBag(20_000, 16)
texts = ["A longer text, of words & signs (some of them repeated) number %d. " % i * 20
         for i in range(2_500)]
vocabulary = {}

def encode(text):
    tokens, word = [], ""
    for letter in text.lower():
        if letter.isalnum():
            word += letter
        else:
            tokens += [part for part in (word, letter) if part.strip()]
            word = ""
    stems = [token.removesuffix("s").removesuffix("ed").removesuffix("ing") for token in tokens]
    return [vocabulary.setdefault(stem, len(vocabulary)) for stem in stems]
# %% torch-tokenizing-before-an-embedding: asked
for text in texts:
    tokens = torch.tensor([encode(text)[:50]])
    with torch.no_grad():
        vector = embedding(tokens)

# %% torch-tensors-of-arrays-and-back: before
import numpy as np
import torch
data = np.ones((25_000_000,))
# %% torch-tensors-of-arrays-and-back: asked
for step in range(6):
    tensor = torch.tensor(data)
    back = np.array(tensor.numpy())
# %% torch-tensors-of-arrays-and-back: mended
tensor = torch.from_numpy(data[:1_000_000])
total = sum(number for number in range(10_000_000))

# %% torch-training-that-sleeps: TORCH_MODEL, before
import time
batches = [torch.rand(32, 64) for _ in range(20)]
# %% torch-training-that-sleeps: asked
for batch in batches:
    loss = train(batch)
    time.sleep(0.05)
# %% torch-training-that-sleeps: mended
for epoch in range(200):
    for batch in batches:
        loss = train(batch)

# %% torch-edit-distance-of-answers: before
import torch
logits = torch.rand(2_200, 40)

def distance(a, b):
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (left != right))
    return row[-1]
# %% torch-edit-distance-of-answers: asked
answer = logits.argmax(dim=1).tolist()
print(distance(answer, answer[::-1]))

# %% busy-machine-torch: before
import torch
x = torch.rand(6_000_000)
# %% busy-machine-torch: asked
y = torch.sort(x)
# %% busy-machine-torch: mended
for _ in range(3):
    y = torch.sort(x)
