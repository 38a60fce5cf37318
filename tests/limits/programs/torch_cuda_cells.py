# Cells with PyTorch on a CUDA GPU, each a second or more on one of NVIDIA's H100 class.
# Each begins with a first operation: CUDA's own start is no part of what is judged.

# %% TORCH_CUDA
import torch
torch.cuda.synchronize()
x = torch.ones(64, 64, device="cuda")
y = (x @ x).sum().item()

# %% cuda-torch-compile-first-call: before
import os, tempfile
os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp()
os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
# %% cuda-torch-compile-first-call: TORCH_CUDA, before
x = torch.rand(16_384, 4_096, device="cuda")

@torch.compile
def fused(x):
    return (torch.softmax(x, dim=1) * torch.sigmoid(x) + torch.exp(-x)).sum()
# %% cuda-torch-compile-first-call: asked
y = fused(x).item()
# %% cuda-torch-compile-first-call: mended
for _ in range(1_500):
    y = fused(x)
torch.cuda.synchronize()

# %% cuda-torch-traced-for-each-length: TORCH_CUDA, before
w = torch.rand(256, 256, device="cuda") / 128

@torch.compile(backend="aot_eager", dynamic=False)
def network(x):
    for layer in range(60):
        x = torch.relu(x @ w) + x
    return x.mean()
# %% cuda-torch-traced-for-each-length: asked
losses = [network(torch.rand(n, 256, device='cuda')).item() for n in range(10, 17)]

# %% cuda-torch-training-step-traced: TORCH_CUDA, before
layers = []
for _ in range(60):
    layers += [torch.nn.Linear(2_048, 2_048), torch.nn.ReLU()]
model = torch.compile(torch.nn.Sequential(*layers).cuda().bfloat16(), backend="aot_eager")
x = torch.rand(4_096, 2_048, device="cuda", dtype=torch.bfloat16)

def step():
    loss = model(x).float().square().mean()
    loss.backward()
    return loss.item()
# %% cuda-torch-training-step-traced: asked
loss = step()
# %% cuda-torch-training-step-traced: mended
for _ in range(60):
    loss = step()

# %% TORCH_CUDA_MODEL
import torch
from torch.utils.data import DataLoader, Dataset
model = torch.nn.Linear(64, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

def train(batch):
    optimizer.zero_grad()
    loss = model(batch.cuda()).square().mean()
    loss.backward()
    optimizer.step()
    return loss.detach()

loss = train(torch.rand(32, 64))
torch.cuda.synchronize()

# %% cuda-torch-training-that-sleeps: TORCH_CUDA_MODEL, before
import time
batches = [torch.rand(32, 64) for _ in range(24)]
# %% cuda-torch-training-that-sleeps: asked
for batch in batches:
    loss = train(batch)
    time.sleep(0.05)
# %% cuda-torch-training-that-sleeps: mended
for epoch in range(150):
    for batch in batches:
        loss = train(batch)

# %% cuda-torch-server-asked-at-each-step: TORCH_CUDA_MODEL, before
import queue, threading, time
questions, answers = queue.Queue(), queue.Queue()

def serve():
    while questions.get() is not None:
        time.sleep(0.25)
        answers.put(torch.rand(32, 64))

threading.Thread(target=serve, daemon=True).start()
# %% cuda-torch-server-asked-at-each-step: asked
for step in range(5):
    questions.put(step)
    loss = train(answers.get())

# %% cuda-torch-metric-in-python: TORCH_CUDA, before
logits = torch.rand(3_000, 40, device="cuda")

def distance(a, b):
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (left != right))
    return row[-1]
# %% cuda-torch-metric-in-python: asked
answer = logits.argmax(dim=1).tolist()
print(distance(answer, answer[::-1]))
# %% cuda-torch-metric-in-python: mended
big = torch.rand(16_384, 16_384, device="cuda")
for _ in range(10):
    answer = (big @ big).argmax(dim=1)
torch.cuda.synchronize()

# %% cuda-torch-loader-in-this-process: TORCH_CUDA_MODEL, AUGMENTED, asked
losses = [train(batch) for batch in DataLoader(Augmented(4_000), batch_size=64)]
# %% cuda-torch-loader-in-this-process: mended
table = torch.rand(64_000, 64, device="cuda")
losses = [train(batch) for epoch in range(3) for batch in table.split(64)]
torch.cuda.synchronize()

# %% cuda-torch-loader-with-two-workers: TORCH_CUDA_MODEL, AUGMENTED, asked
loader = DataLoader(Augmented(8_000), batch_size=64, num_workers=2, pin_memory=True)
losses = [train(batch) for batch in loader]

# %% cuda-torch-images-decompressed: TORCH_CUDA, before
import zlib
from torch.utils.data import DataLoader, Dataset
pixels = torch.randint(0, 30, (3 * 256 * 256,), dtype=torch.uint8)
file = zlib.compress(pixels.numpy().tobytes())

class Images(Dataset):
    def __len__(self):
        return 1_200

    def __getitem__(self, index):
        return torch.frombuffer(bytearray(zlib.decompress(file)), dtype=torch.uint8)
# %% cuda-torch-images-decompressed: asked
means = []
for batch in DataLoader(Images(), batch_size=20):
    means.append(batch[:, ::64].cuda().float().mean())

# %% cuda-torch-copied-to-the-gpu-at-each-step: TORCH_CUDA, before
batch = torch.rand(250_000_000)

def upload(batch):
    return batch.to("cuda")

y = upload(batch).sum().item()
# %% cuda-torch-copied-to-the-gpu-at-each-step: asked
losses = []
for step in range(8):
    losses.append(upload(batch).sum().item())
# %% cuda-torch-copied-to-the-gpu-at-each-step: mended
there = batch.cuda()
for step in range(2_500):
    loss = there.sum()
loss = loss.item()

# %% cuda-torch-copied-back-at-each-step: TORCH_CUDA, before
x = torch.rand(250_000_000, device="cuda")

def download(x):
    return x.cpu()

y = download(x)
# %% cuda-torch-copied-back-at-each-step: asked
for step in range(5):
    saved = download(torch.relu(x))

# %% cuda-torch-a-value-read-at-each-step: TORCH_CUDA, before
x = torch.zeros((), device="cuda")

def read(x):
    return x.item()

y = read(x)
# %% cuda-torch-a-value-read-at-each-step: asked
values = []
for step in range(40_000):
    x += 1
    values.append(read(x))

# %% cuda-torch-tiny-kernels: TORCH_CUDA, before
x = torch.zeros((), device='cuda')
# %% cuda-torch-tiny-kernels: asked
for step in range(250_000):
    x = torch.add(x, 1.0)
torch.cuda.synchronize()
# %% cuda-torch-tiny-kernels: mended
x = torch.zeros(1_000_000_000, device="cuda")
for step in range(350):
    x = torch.add(x, 1.0)
torch.cuda.synchronize()

# %% cuda-torch-training-of-a-tiny-network: TORCH_CUDA, before
stack = [torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)]
model = torch.nn.Sequential(*stack).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, foreach=False)
x, y = torch.rand(32, 2, device="cuda"), torch.rand(32, 1, device="cuda")

def step():
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()

loss = step()
# %% cuda-torch-training-of-a-tiny-network: asked
losses = [step() for _ in range(1_500)]
torch.cuda.synchronize()

# %% cuda-torch-small-products-one-by-one: TORCH_CUDA, before
pairs = list(torch.rand(2_000, 16, 16, device='cuda'))
# %% cuda-torch-small-products-one-by-one: asked
for epoch in range(80):
    products = [torch.mm(a, a) for a in pairs]
torch.cuda.synchronize()
# %% cuda-torch-small-products-one-by-one: mended
a = torch.rand(100_000, 64, 64, device="cuda")
for epoch in range(300):
    products = torch.bmm(a, a)
torch.cuda.synchronize()

# %% cuda-torch-products: TORCH_CUDA, before
x = torch.ones(8_192, 8_192, device='cuda', dtype=torch.bfloat16) / 8_192
y = x @ x
# %% cuda-torch-products: asked
for _ in range(800):
    y = y @ x
torch.cuda.synchronize()
# %% cuda-torch-products: mended
import time
y = y @ x
torch.cuda.synchronize()
time.sleep(1)

# %% cuda-torch-sums-of-large-tensors: TORCH_CUDA, before
x = torch.ones(1_000_000_000, device="cuda")
y, z = torch.ones_like(x), torch.empty_like(x)
torch.add(x, y, out=z)
# %% cuda-torch-sums-of-large-tensors: asked
for _ in range(350):
    torch.add(x, y, out=z)
torch.cuda.synchronize()
# %% cuda-torch-sums-of-large-tensors: mended
total = 0
for number in range(20_000_000):
    total += number

# %% cuda-torch-attention: TORCH_CUDA, before
q = torch.rand(8, 16, 8_192, 64, device="cuda", dtype=torch.bfloat16)
attend = torch.nn.functional.scaled_dot_product_attention
y = attend(q, q, q)
# %% cuda-torch-attention: asked
for _ in range(250):
    y = attend(q, q, q)
torch.cuda.synchronize()

# %% cuda-torch-normalisation-of-activations: TORCH_CUDA, before
x = torch.rand(250_000, 4_096, device="cuda", dtype=torch.bfloat16)
norm = torch.nn.LayerNorm(4_096, device="cuda", dtype=torch.bfloat16)
with torch.no_grad():
    y = norm(x)
# %% cuda-torch-normalisation-of-activations: asked
with torch.no_grad():
    for _ in range(600):
        y = norm(x)
torch.cuda.synchronize()

# %% cuda-torch-allocator-near-its-limit: TORCH_CUDA, before
torch.cuda.empty_cache()
whole = torch.cuda.get_device_properties(0).total_memory
torch.cuda.set_per_process_memory_fraction(16 * 2**30 / whole)
# %% cuda-torch-allocator-near-its-limit: asked
for step in range(150):
    x = torch.empty(12 * 2**30 + step * 2**22, dtype=torch.uint8, device="cuda")
    x[::2**20] = 1
    del x
torch.cuda.synchronize()
# %% cuda-torch-allocator-near-its-limit: before mended
torch.cuda.set_per_process_memory_fraction(1.0)
torch.cuda.empty_cache()
# %% cuda-torch-allocator-near-its-limit: before mended
x = torch.ones(2**31, device='cuda')
# %% cuda-torch-allocator-near-its-limit: mended
for step in range(600):
    x += 1
torch.cuda.synchronize()

# %% cuda-torch-another-program-on-the-gpu: TORCH_CUDA, before
x = torch.ones(8_192, 8_192, device='cuda', dtype=torch.bfloat16) / 8_192
y = x @ x
# %% cuda-torch-another-program-on-the-gpu: asked
for _ in range(300):
    y = y @ x
torch.cuda.synchronize()
# %% cuda-torch-another-program-on-the-gpu: mended
for _ in range(300):
    y = y @ x
torch.cuda.synchronize()

# %% cuda-torch-convolutions-tuned-for-each-size: TORCH_CUDA, before
torch.backends.cudnn.benchmark = True
network = torch.nn.Sequential(
    torch.nn.Conv2d(3, 64, 7, stride=2), torch.nn.ReLU(),
    torch.nn.Conv2d(64, 128, 3), torch.nn.ReLU(),
    torch.nn.Conv2d(128, 256, 3, stride=2), torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(256, 10),
).cuda()
optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
labels = torch.arange(32, device="cuda") % 10

def learn(images):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(network(images), labels)
    loss.backward()
    optimizer.step()
    return loss.detach()

for _ in range(2):
    loss = learn(torch.rand(32, 3, 80, 80, device="cuda"))
torch.cuda.synchronize()
# %% cuda-torch-convolutions-tuned-for-each-size: asked
for size in range(96, 208, 16):
    loss = learn(torch.rand(32, 3, size, size, device="cuda"))
torch.cuda.synchronize()
# %% cuda-torch-convolutions-tuned-for-each-size: before mended
for _ in range(2):
    loss = learn(torch.rand(32, 3, 224, 224, device="cuda"))
torch.cuda.synchronize()
# %% cuda-torch-convolutions-tuned-for-each-size: mended
for step in range(400):
    loss = learn(torch.rand(32, 3, 224, 224, device="cuda"))
torch.cuda.synchronize()

# %% cuda-torch-network-compiled-for-each-depth: TORCH_CUDA, before
class Tagger(torch.nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(256, 256) for _ in range(depth)])
        self.last = torch.nn.Linear(256, 16)

    def forward(self, x):
        for layer in self.layers:
            x = x + torch.nn.functional.gelu(layer(x))
        return self.last(x)

words, tags = torch.rand(64, 256, device="cuda"), torch.arange(64, device="cuda") % 16

def trained(model, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(words), tags)
        loss.backward()
        optimizer.step()
    return loss.item()

loss = trained(Tagger(2).cuda(), steps=2)
loss = trained(torch.compile(Tagger(2).cuda(), backend="aot_eager"), steps=2)
# %% cuda-torch-network-compiled-for-each-depth: asked
losses = {}
for depth in (6, 12, 18):
    model = torch.compile(Tagger(depth).cuda(), backend="aot_eager")
    losses[depth] = trained(model, steps=3)
# %% cuda-torch-network-compiled-for-each-depth: mended
losses = {}
for depth in (6, 12, 18):
    losses[depth] = trained(Tagger(depth).cuda(), steps=250)

# %% cuda-torch-checkpoint-of-another-job: TORCH_CUDA, before
import os, subprocess, sys, tempfile, time
path = os.path.join(tempfile.mkdtemp(), "best")
job = (
    "import os, sys, time; time.sleep(3); open(sys.argv[1] + '.part', 'w').write('1'); "
    "os.rename(sys.argv[1] + '.part', sys.argv[1])"
)
inputs = torch.rand(8_192, 8_192, device="cuda", dtype=torch.bfloat16)
checkpoints = [torch.rand_like(inputs) / 4_096 for _ in range(2)]

def evaluate(weights, layers):
    y = inputs
    for _ in range(layers):
        y = y @ weights
    return y.float().mean().item()

y = evaluate(checkpoints[0], layers=2)
# %% cuda-torch-checkpoint-of-another-job: asked
training = subprocess.Popen([sys.executable, "-c", job, path])
while not os.path.exists(path):
    time.sleep(0.05)
with open(path) as file:
    best = int(file.read())
print(evaluate(checkpoints[best], layers=400))
status = training.wait()
# %% cuda-torch-checkpoint-of-another-job: mended
while not os.path.exists(path):
    time.sleep(0.05)
with open(path) as file:
    best = int(file.read())
print(evaluate(checkpoints[best], layers=400))

# %% cuda-torch-beam-search-in-python: TORCH_CUDA, before
letters = "abcdefghijklmnopqrstuvwxyz '"
sound, head = torch.rand(400, 64, device="cuda"), torch.rand(64, 29, device="cuda")

def beam_search(rows, width):
    beams = {"": (1.0, 0.0)}
    for row in rows:
        grown = {}
        for text, (blank, letter) in beams.items():
            for index, chance in enumerate(row):
                if index == 0:
                    old = grown.get(text, (0.0, 0.0))
                    grown[text] = (old[0] + (blank + letter) * chance, old[1])
                    continue
                new = letters[index - 1]
                so_far = blank + letter
                if text.endswith(new):
                    old = grown.get(text, (0.0, 0.0))
                    grown[text] = (old[0], old[1] + letter * chance)
                    so_far = blank
                old = grown.get(text + new, (0.0, 0.0))
                grown[text + new] = (old[0], old[1] + so_far * chance)
        best = sorted(grown.items(), key=lambda item: sum(item[1]), reverse=True)[:width]
        total = sum(blank + letter for _, (blank, letter) in best)
        beams = {text: (blank / total, letter / total) for text, (blank, letter) in best}
    return next(iter(beams))

text = beam_search(torch.softmax(sound @ head, dim=1)[:3].tolist(), width=4)
# %% cuda-torch-beam-search-in-python: asked
chances = torch.softmax(sound @ head, dim=1)
print(beam_search(chances.tolist(), width=100))

# %% cuda-torch-pictures-turned-by-the-loader: TORCH_CUDA, before
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
pictures = list(torch.randint(0, 255, (8, 3, 384, 384), dtype=torch.uint8))

class Turned(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        picture = pictures[index % 8][None].float() / 255
        angle = torch.rand(1) / 2
        cosine, sine, none = angle.cos(), angle.sin(), torch.zeros(1)
        turn = torch.stack([cosine, -sine, none, sine, cosine, none]).view(1, 2, 3)
        grid = F.affine_grid(turn, picture.shape, align_corners=False)
        turned = F.grid_sample(picture, grid, align_corners=False)
        sharp = turned - F.avg_pool2d(turned, 7, stride=1, padding=3)
        scaled = F.interpolate(turned + 0.1 * sharp, (224, 224), mode="bicubic")
        return (scaled - scaled.mean()) / scaled.std()

model = torch.nn.Conv2d(3, 16, 7, stride=4).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

def train(batch):
    optimizer.zero_grad()
    loss = model(batch.cuda().squeeze(1)).square().mean()
    loss.backward()
    optimizer.step()
    return loss.detach()

for batch in DataLoader(Turned(25), batch_size=25):
    loss = train(batch)
torch.cuda.synchronize()
# %% cuda-torch-pictures-turned-by-the-loader: asked
losses = [train(batch) for batch in DataLoader(Turned(150), batch_size=25)]
torch.cuda.synchronize()

# %% cuda-torch-rows-of-text-by-two-workers: TORCH_CUDA_MODEL, before
import csv, itertools, tempfile
from torch.utils.data import IterableDataset, get_worker_info
file = tempfile.NamedTemporaryFile("w", suffix=".csv")
block = "".join(
    ",".join(f"{(row + 1) * column % 997 / 1_000:.3f}" for column in range(512)) + "\n"
    for row in range(100)
)
for _ in range(160):
    size = file.write(block)
file.flush()

class Readings(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        mine = get_worker_info()
        with open(self.path, newline="") as lines:
            for words in csv.reader(itertools.islice(lines, mine.id, None, mine.num_workers)):
                values = [float(word) for word in words]
                means = [sum(values[start:start + 8]) / 8 for start in range(0, 512, 8)]
                largest = max(values)
                yield torch.tensor([mean / largest for mean in means])

loss = train(torch.rand(100, 64))
torch.cuda.synchronize()
# %% cuda-torch-rows-of-text-by-two-workers: asked
loader = DataLoader(Readings(file.name), batch_size=100, num_workers=2, pin_memory=True)
losses = [train(batch) for batch in loader]
# %% cuda-torch-rows-of-text-by-two-workers: before mended
loader = DataLoader(Readings(file.name), batch_size=100, num_workers=2)
table = torch.cat(list(loader)).cuda()
# %% cuda-torch-rows-of-text-by-two-workers: mended
losses = [train(batch) for epoch in range(15) for batch in table.split(100)]
torch.cuda.synchronize()

# %% cuda-torch-table-of-words-moved-at-each-step: TORCH_CUDA, before
table = torch.ones(500_000, 256)
words = torch.randint(500_000, (200_000,), device="cuda")

def move(table):
    return table.cuda()

means = torch.nn.functional.embedding(words, move(table)).mean(dim=1)
torch.cuda.synchronize()
# %% cuda-torch-table-of-words-moved-at-each-step: asked
for step in range(24):
    means = torch.nn.functional.embedding(words, move(table)).mean(dim=1)
torch.cuda.synchronize()
# %% cuda-torch-table-of-words-moved-at-each-step: mended
there = move(table)
for step in range(4_000):
    means = torch.nn.functional.embedding(words, there).mean(dim=1)
torch.cuda.synchronize()

# %% cuda-torch-layers-fetched-on-a-second-stream: TORCH_CUDA, before
side = torch.cuda.Stream()
layers = [torch.empty(4_096, 4_096, pin_memory=True).fill_(1 / 4_096) for _ in range(12)]
places = [torch.ones(4_096, 4_096, device="cuda") / 4_096 for _ in range(2)]
x = torch.ones(256, 4_096, device="cuda")

def fetch(place, layer):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        place.copy_(layer, non_blocking=True)
    return place

def forward(x):
    fetch(places[0], layers[0])
    for number in range(12):
        torch.cuda.current_stream().wait_stream(side)
        if number < 11:
            fetch(places[(number + 1) % 2], layers[number + 1])
        x = torch.relu(x @ places[number % 2])
    return x

y = forward(x)
torch.cuda.synchronize()
# %% cuda-torch-layers-fetched-on-a-second-stream: asked
for token in range(90):
    y = forward(x)
torch.cuda.synchronize()
# %% cuda-torch-layers-fetched-on-a-second-stream: before mended
there = [layer.cuda() for layer in layers]
torch.cuda.synchronize()
# %% cuda-torch-layers-fetched-on-a-second-stream: mended
for token in range(400):
    y = x
    for layer in there:
        y = torch.relu(y @ layer)
torch.cuda.synchronize()

# %% cuda-torch-texts-written-letter-by-letter: TORCH_CUDA, before
table, head = torch.rand(96, 128, device="cuda"), torch.rand(128, 96, device="cuda")
w, u = torch.rand(128, 384, device="cuda") / 64, torch.rand(128, 384, device="cuda") / 64

def write(letter, state):
    x = torch.embedding(table, letter)
    keep, reset, new = torch.chunk(torch.mm(x, w), 3, dim=1)
    keep_more, reset_more, new_more = torch.chunk(torch.mm(state, u), 3, dim=1)
    keep = torch.sigmoid(keep + keep_more)
    reset = torch.sigmoid(reset + reset_more)
    new = torch.tanh(new + reset * new_more)
    state = new + keep * (state - new)
    return torch.argmax(torch.mm(state, head), dim=1), state

letter, state = torch.tensor([0], device="cuda"), torch.zeros(1, 128, device="cuda")
letter, state = write(letter, state)
torch.cuda.synchronize()
# %% cuda-torch-texts-written-letter-by-letter: asked
texts = []
for first in range(25):
    letter, state = torch.full_like(letter, first), torch.zeros_like(state)
    text = [letter]
    for position in range(500):
        letter, state = write(letter, state)
        text.append(letter)
    texts.append(torch.cat(text))
torch.cuda.synchronize()
# %% cuda-torch-texts-written-letter-by-letter: before mended
letter = torch.arange(131_072, device="cuda") % 96
state = torch.zeros(131_072, 128, device="cuda")
letter, state = write(letter, state)
torch.cuda.synchronize()
# %% cuda-torch-texts-written-letter-by-letter: mended
text = [letter]
for position in range(500):
    letter, state = write(letter, state)
    text.append(letter)
torch.cuda.synchronize()

# %% cuda-torch-gan-whose-losses-are-logged: TORCH_CUDA, before
from torch.nn import LeakyReLU, Linear, Sequential
maker = Sequential(Linear(16, 64), LeakyReLU(), Linear(64, 64), LeakyReLU(), Linear(64, 2)).cuda()
critic = Sequential(Linear(2, 64), LeakyReLU(), Linear(64, 64), LeakyReLU(), Linear(64, 1)).cuda()
adams = [torch.optim.Adam(network.parameters(), lr=0.001) for network in (maker, critic)]
real = torch.rand(64, 2, device="cuda")
yes, no = torch.ones(64, 1, device="cuda"), torch.zeros(64, 1, device="cuda")
difference = torch.nn.functional.binary_cross_entropy_with_logits

def step():
    made = maker(torch.randn(64, 16, device="cuda"))
    critic_loss = difference(critic(real), yes) + difference(critic(made.detach()), no)
    adams[1].zero_grad()
    critic_loss.backward()
    adams[1].step()
    maker_loss = difference(critic(made), yes)
    adams[0].zero_grad()
    maker_loss.backward()
    adams[0].step()
    return critic_loss.item(), maker_loss.item()

losses = [step() for _ in range(3)]
# %% cuda-torch-gan-whose-losses-are-logged: asked
losses = [step() for _ in range(800)]

# %% cuda-torch-diffusion-sampling: TORCH_CUDA, before
def filled(*shape):
    numbers = torch.randn(*shape, device="cuda", dtype=torch.bfloat16)
    return numbers.to(memory_format=torch.channels_last)

filters = [filled(512, 512, 3, 3) / 50 for _ in range(6)]

@torch.no_grad()
def sample(x, steps):
    for step in range(steps):
        noise = x
        for weights in filters:
            noise = torch.nn.functional.conv2d(noise, weights, padding=1)
            noise = torch.nn.functional.silu(noise, inplace=True)
        x = torch.add(x, noise, alpha=-0.01)
        x += torch.randn_like(x) * 0.01
    return x

images = sample(filled(64, 512, 32, 32), steps=2)
torch.cuda.synchronize()
# %% cuda-torch-diffusion-sampling: asked
images = sample(images, steps=400)
torch.cuda.synchronize()

# %% cuda-torch-prices-of-options: TORCH_CUDA, before
price = torch.rand(150_000_000, device="cuda") + 9.5
strike = torch.rand(150_000_000, device="cuda") + 9.5
years = torch.rand(150_000_000, device="cuda") + 0.1

def normal(x):
    return (torch.erf(x * 0.7071) + 1) * 0.5

def value(volatility, rate=0.03):
    spread = torch.sqrt(years) * volatility
    near = (torch.log(price / strike) + years * (rate + volatility**2 / 2)) / spread
    call = price * normal(near)
    call -= strike * torch.exp(years * -rate) * normal(near - spread)
    return call

call = value(0.2)
torch.cuda.synchronize()
# %% cuda-torch-prices-of-options: asked
for percent in range(10, 150):
    call = value(percent / 100)
torch.cuda.synchronize()

# %% cuda-torch-likelihoods-of-a-gaussian-process: TORCH_CUDA, before
points, targets = torch.rand(16_384, 8, device="cuda"), torch.rand(16_384, 1, device="cuda")
squares = torch.cdist(points, points).square()

def likelihood(length):
    covariance = torch.exp(squares * (-0.5 / length**2))
    covariance.diagonal().add_(1.0)
    factor = torch.linalg.cholesky(covariance)
    white = torch.linalg.solve_triangular(factor, targets, upper=False)
    return -(white.square().sum() / 2 + factor.diagonal().log().sum()).item()

y = likelihood(1.0)
# %% cuda-torch-likelihoods-of-a-gaussian-process: asked
likelihoods = {tenth: likelihood(tenth / 10) for tenth in range(2, 24)}
