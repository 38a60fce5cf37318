"""More cells of PyTorch and of JAX on a CUDA GPU, each a second or more on one of NVIDIA's H100 class."""

from __future__ import annotations

from tests.limits.program import BANDWIDTH, COMPUTE, ON_DEVICE, Program
from tests.limits.programs.cuda_jax import START as JAX
from tests.limits.programs.cuda_torch_busy import WAIT
from tests.limits.programs.cuda_torch_idle import MODEL
from tests.limits.programs.cuda_torch_idle import START as TORCH
from tests.limits.programs.torch_working import NEXT

PROGRAMS = (
    Program(
        id="cuda-torch-convolutions-tuned-for-each-size",
        framework="torch-cuda",
        kinds=("compiling",),
        why="cuDNN prepares and tries many ways of each convolution for each size; a second loop has all.",
        clock="again",
        before=[
            TORCH,
            """
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
            """,
        ],
        code="""
            for size in range(96, 208, 16):
                loss = learn(torch.rand(32, 3, size, size, device="cuda"))
            torch.cuda.synchronize()
        """,
        mended_before=[
            """
            for _ in range(2):
                loss = learn(torch.rand(32, 3, 224, 224, device="cuda"))
            torch.cuda.synchronize()
            """,
        ],
        mended="""
            for step in range(400):
                loss = learn(torch.rand(32, 3, 224, 224, device="cuda"))
            torch.cuda.synchronize()
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="cuda-torch-network-compiled-for-each-depth",
        framework="torch-cuda",
        kinds=("compiling",),
        why="Networks of 36 layers in all are traced, forwards and backwards, for three steps of each.",
        clock="without torch.compile",
        before=[
            TORCH,
            """
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
            """,
        ],
        code="""
            losses = {}
            for depth in (6, 12, 18):
                model = torch.compile(Tagger(depth).cuda(), backend="aot_eager")
                losses[depth] = trained(model, steps=3)
        """,
        mended="""
            losses = {}
            for depth in (6, 12, 18):
                losses[depth] = trained(Tagger(depth).cuda(), steps=250)
        """,
        mended_kinds=("launch", "python"),
    ),
    Program(
        id="cuda-torch-checkpoint-of-another-job",
        framework="torch-cuda",
        kinds=("waiting",),
        why="The cell looks for a file that another process writes after 3 s, and then computes for 0.6 s.",
        clock="idle",
        before=[
            TORCH,
            """
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
            """,
        ],
        code="""
            training = subprocess.Popen([sys.executable, "-c", job, path])
            while not os.path.exists(path):
                time.sleep(0.05)
            with open(path) as file:
                best = int(file.read())
            print(evaluate(checkpoints[best], layers=400))
            status = training.wait()
        """,
        mended="""
            while not os.path.exists(path):
                time.sleep(0.05)
            with open(path) as file:
                best = int(file.read())
            print(evaluate(checkpoints[best], layers=400))
        """,
        mended_kinds=COMPUTE,
    ),
    Program(
        id="cuda-torch-beam-search-in-python",
        framework="torch-cuda",
        kinds=("python",),
        why="A beam search keeps its texts in Python's dicts; the GPU has computed all chances before.",
        clock="calls beam_search",
        before=[
            TORCH,
            """
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
            """,
        ],
        code="""
            chances = torch.softmax(sound @ head, dim=1)
            print(beam_search(chances.tolist(), width=100))
        """,
    ),
    Program(
        id="cuda-torch-pictures-turned-by-the-loader",
        framework="torch-cuda",
        kinds=("input",),
        why="The loader turns, blurs and scales each picture on the processor; a step of 25 takes some 3 ms.",
        clock=NEXT,
        before=[
            TORCH,
            """
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
            """,
        ],
        code="""
            losses = [train(batch) for batch in DataLoader(Turned(150), batch_size=25)]
            torch.cuda.synchronize()
        """,
    ),
    Program(
        id="cuda-torch-rows-of-text-by-two-workers",
        framework="torch-cuda",
        kinds=("input",),
        why="Two workers parse 512 numbers of text for each row in Python; the GPU waits for them.",
        clock=NEXT,
        before=[
            MODEL,
            """
            import csv, itertools, tempfile
            from torch.utils.data import IterableDataset, get_worker_info
            file = tempfile.NamedTemporaryFile("w", suffix=".csv")
            block = "".join(
                ",".join(f"{(row + 1) * column % 997 / 1_000:.3f}" for column in range(512)) + "\\n"
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
            """,
        ],
        code="""
            loader = DataLoader(Readings(file.name), batch_size=100, num_workers=2, pin_memory=True)
            losses = [train(batch) for batch in loader]
        """,
        mended_before=[
            """
            loader = DataLoader(Readings(file.name), batch_size=100, num_workers=2)
            table = torch.cat(list(loader)).cuda()
            """,
        ],
        mended="""
            losses = [train(batch) for epoch in range(15) for batch in table.split(100)]
            torch.cuda.synchronize()
        """,
        mended_kinds=("launch", "python"),
    ),
    Program(
        id="cuda-torch-table-of-words-moved-at-each-step",
        framework="torch-cuda",
        kinds=("transfer",),
        why="Half a GB of ordinary memory is copied at each step, which looks up words of it in under 1 ms.",
        clock="calls move",
        before=[
            TORCH,
            """
            table = torch.ones(500_000, 256)
            words = torch.randint(500_000, (200_000,), device="cuda")

            def move(table):
                return table.cuda()

            means = torch.nn.functional.embedding(words, move(table)).mean(dim=1)
            torch.cuda.synchronize()
            """,
        ],
        code="""
            for step in range(24):
                means = torch.nn.functional.embedding(words, move(table)).mean(dim=1)
            torch.cuda.synchronize()
        """,
        mended="""
            there = move(table)
            for step in range(4_000):
                means = torch.nn.functional.embedding(words, there).mean(dim=1)
            torch.cuda.synchronize()
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="cuda-torch-layers-fetched-on-a-second-stream",
        framework="torch-cuda",
        kinds=("transfer",),
        why="67 MB of pinned memory are copied for each layer, which is computed in a fraction of that time.",
        clock="without fetch",
        before=[
            TORCH,
            """
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
            """,
        ],
        code="""
            for token in range(90):
                y = forward(x)
            torch.cuda.synchronize()
        """,
        mended_before=["there = [layer.cuda() for layer in layers]\ntorch.cuda.synchronize()"],
        mended="""
            for token in range(400):
                y = x
                for layer in there:
                    y = torch.relu(y @ layer)
            torch.cuda.synchronize()
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="cuda-torch-texts-written-letter-by-letter",
        framework="torch-cuda",
        kinds=("launch",),
        why="Each letter is some fifteen kernels on at most 384 numbers, started one after the other.",
        clock="calls write",
        before=[
            TORCH,
            """
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
            """,
        ],
        code="""
            texts = []
            for first in range(25):
                letter, state = torch.full_like(letter, first), torch.zeros_like(state)
                text = [letter]
                for position in range(500):
                    letter, state = write(letter, state)
                    text.append(letter)
                texts.append(torch.cat(text))
            torch.cuda.synchronize()
        """,
        mended_before=[
            """
            letter = torch.arange(131_072, device="cuda") % 96
            state = torch.zeros(131_072, 128, device="cuda")
            letter, state = write(letter, state)
            torch.cuda.synchronize()
            """,
        ],
        mended="""
            text = [letter]
            for position in range(500):
                letter, state = write(letter, state)
                text.append(letter)
            torch.cuda.synchronize()
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="cuda-torch-gan-whose-losses-are-logged",
        framework="torch-cuda",
        kinds=("launch", "python"),
        why="Each step is hundreds of kernels for two small networks; modules and Adam are in part Python.",
        clock="calls step",
        before=[
            TORCH,
            """
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
            """,
        ],
        code="losses = [step() for _ in range(800)]",
    ),
    Program(
        id="cuda-torch-diffusion-sampling",
        framework="torch-cuda",
        kinds=COMPUTE,
        why="Each of 400 steps is some 10^12 operations of bfloat16, in six convolutions of 64 images.",
        clock=WAIT,
        before=[
            TORCH,
            """
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
            """,
        ],
        code="images = sample(images, steps=400)\ntorch.cuda.synchronize()",
    ),
    Program(
        id="cuda-torch-prices-of-options",
        framework="torch-cuda",
        kinds=BANDWIDTH,
        why="Each of some twenty operations of a formula reads and writes tensors of 600 MB.",
        clock=WAIT,
        before=[
            TORCH,
            """
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
            """,
        ],
        code="""
            for percent in range(10, 150):
                call = value(percent / 100)
            torch.cuda.synchronize()
        """,
    ),
    Program(
        id="cuda-torch-likelihoods-of-a-gaussian-process",
        framework="torch-cuda",
        kinds=ON_DEVICE,
        why="Each likelihood factors 16,384 rows and columns, 10^12 operations, before its number is read.",
        clock="calls likelihood",
        before=[
            TORCH,
            """
            points, targets = torch.rand(16_384, 8, device="cuda"), torch.rand(16_384, 1, device="cuda")
            squares = torch.cdist(points, points).square()

            def likelihood(length):
                covariance = torch.exp(squares * (-0.5 / length**2))
                covariance.diagonal().add_(1.0)
                factor = torch.linalg.cholesky(covariance)
                white = torch.linalg.solve_triangular(factor, targets, upper=False)
                return -(white.square().sum() / 2 + factor.diagonal().log().sum()).item()

            y = likelihood(1.0)
            """,
        ],
        code="likelihoods = {tenth: likelihood(tenth / 10) for tenth in range(2, 24)}",
    ),
    Program(
        id="cuda-jax-learning-rate-as-a-static-argument",
        framework="jax-cuda",
        kinds=("compiling",),
        why="The rate is static, so each of seven steps is compiled anew; a second loop finds all ready.",
        clock="again",
        before=[
            JAX,
            """
            import functools
            x = jnp.ones((16_384, 1_024))
            layers = [jnp.ones((1_024, 1_024)) / 1_024 for _ in range(2)]

            def loss(layers, y):
                for w in layers:
                    y = jnp.tanh(y @ w)
                return (y**2).mean()

            def descend(layers, x, rate):
                return [w - rate * slope for w, slope in zip(layers, jax.grad(loss)(layers, x))]

            step = functools.partial(jax.jit, static_argnames="rate")(descend)
            layers = jax.block_until_ready(step(layers, x, rate=1.0))
            """,
        ],
        code="""
            for epoch in range(7):
                layers = step(layers, x, rate=0.1 * 0.9**epoch)
            layers = jax.block_until_ready(layers)
        """,
        mended_before=["step = jax.jit(descend)\nlayers = jax.block_until_ready(step(layers, x, rate=0.1))"],
        mended="""
            for epoch in range(1_000):
                layers = step(layers, x, rate=0.1 * 0.9**epoch)
            layers = jax.block_until_ready(layers)
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="cuda-jax-metrics-sent-again-and-again",
        framework="jax-cuda",
        kinds=("waiting",),
        why="A server refuses each loss three times, and the cell sleeps 0.7 s; a step takes under 1 ms.",
        clock="idle",
        before=[
            JAX,
            """
            import time
            class Tracker:
                def __init__(self):
                    self.asked, self.losses = 0, []

                def send(self, loss):
                    self.asked += 1
                    if self.asked % 4:
                        raise ConnectionError("429 Too Many Requests")
                    self.losses.append(loss)

            def send_patiently(tracker, loss, pause=0.1):
                while True:
                    try:
                        return tracker.send(loss)
                    except ConnectionError:
                        time.sleep(pause)
                        pause *= 2

            @jax.jit
            def step(w):
                loss, slope = jax.value_and_grad(lambda w: (jnp.tanh(w @ w) ** 2).mean())(w)
                return w - 0.1 * slope, loss

            w, loss = step(jnp.ones((64, 64)) / 64)
            w, loss = step(w)
            print(float(loss))
            """,
        ],
        code="""
            tracker = Tracker()
            for epoch in range(3):
                w, loss = step(w)
                send_patiently(tracker, float(loss))
        """,
    ),
    Program(
        id="cuda-jax-points-joined-in-python",
        framework="jax-cuda",
        kinds=("python",),
        why="Nested loops of Python look for the nearest of 3,500 points, which the GPU has placed before.",
        clock="calls spanning_tree",
        before=[
            JAX,
            """
            features = jax.random.normal(jax.random.key(0), (3_500, 64))
            place = jax.jit(lambda features: jnp.tanh(features @ jnp.ones((64, 2)) / 8 + features[:, :2]))
            points = place(features).tolist()

            def spanning_tree(points):
                open_ends = {number: (float("inf"), 0) for number in range(1, len(points))}
                last, edges = 0, []
                while open_ends:
                    x, y = points[last]
                    for number, (distance, _) in open_ends.items():
                        a, b = points[number]
                        square = (a - x) * (a - x) + (b - y) * (b - y)
                        if square < distance:
                            open_ends[number] = (square, last)
                    nearest = min(open_ends, key=open_ends.get)
                    edges.append((open_ends.pop(nearest)[1], nearest))
                    last = nearest
                return edges
            """,
        ],
        code="""
            points = place(features).tolist()
            print(spanning_tree(points)[:5])
        """,
    ),
    Program(
        id="cuda-jax-threads-that-count-words",
        framework="jax-cuda",
        kinds=("input", "python"),
        why="Four threads of Python, which run by turns, count words letter by letter; steps wait for them.",
        clock="calls counted",
        before=[
            JAX,
            """
            import queue, threading
            texts = [f"Review {number}: the plot is thin, but its music (and the last scene!) is fine. " * 12
                     for number in range(16_000)]

            def counted(text):
                counts, code = [0.0] * 256, 0
                for letter in text.lower():
                    if letter.isalnum():
                        code = code * 31 + ord(letter)
                    elif code:
                        counts[code % 256] += 1
                        code = 0
                return counts

            def produce(texts, ready):
                for start in range(0, len(texts), 1_000):
                    counts = [counted(text) for text in texts[start:start + 1_000]]
                    ready.put(np.array(counts, dtype="float32"))
                ready.put(None)

            @jax.jit
            def step(w, batch):
                return w - 0.001 * jax.grad(lambda w: (jnp.tanh(batch @ w) ** 2).mean())(w)

            w = step(jnp.ones(256) / 256, np.ones((1_000, 256), "float32"))
            w = step(w, np.ones((1_000, 256), "float32")).block_until_ready()
            """,
        ],
        code="""
            ready = queue.Queue()
            threads = [threading.Thread(target=produce, args=(texts[part::4], ready)) for part in range(4)]
            for thread in threads:
                thread.start()
            at_work = len(threads)
            while at_work:
                if (batch := ready.get()) is None:
                    at_work -= 1
                else:
                    w = step(w, batch)
            w = w.block_until_ready()
        """,
    ),
    Program(
        id="cuda-jax-weights-fetched-after-each-step",
        framework="jax-cuda",
        kinds=("transfer",),
        why="All weights, 400 MB, are copied back after each step, which takes a fraction of a millisecond.",
        clock="calls fetch",
        before=[
            JAX,
            """
            weights = {name: jnp.ones((8_192, 4_096)) for name in ("first", "middle", "last")}
            step = jax.jit(lambda weights: jax.tree.map(lambda w: w * 0.999 + 0.001, weights))

            def fetch(weights):
                return jax.device_get(weights)

            weights = step(step(weights))
            kept = fetch(weights)
            """,
        ],
        code="""
            for epoch in range(12):
                weights = step(weights)
                kept = fetch(weights)
        """,
        mended="""
            for epoch in range(4_000):
                weights = step(weights)
            weights = jax.block_until_ready(weights)
            kept = fetch(weights)
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="cuda-jax-pendulums-one-after-the-other",
        framework="jax-cuda",
        kinds=("launch",),
        why="Each of 30,000 steps is one kernel for one pendulum, and is started on its own.",
        clock="without move",
        before=[
            JAX,
            """
            @jax.jit
            def move(pendulum):
                angle, speed = pendulum
                speed = speed - 0.01 * jnp.sin(angle)
                return angle + 0.01 * speed, speed

            angles = list(jnp.linspace(0.1, 3.0, 100))
            rest = jnp.zeros(())
            pendulum = jax.block_until_ready(move(move((angles[0], rest))))
            """,
        ],
        code="""
            swung = []
            for angle in angles:
                pendulum = angle, rest
                for moment in range(300):
                    pendulum = move(pendulum)
                swung.append(pendulum)
            swung = jax.block_until_ready(swung)
        """,
        mended_before=[
            """
            start = jnp.linspace(0.1, 3.0, 100_000_000), jnp.zeros(100_000_000)
            pendulums = jax.block_until_ready(move(move(start)))
            """,
        ],
        mended="""
            pendulums = start
            for moment in range(1_800):
                pendulums = move(pendulums)
            pendulums = jax.block_until_ready(pendulums)
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="cuda-jax-scan-over-layers",
        framework="jax-cuda",
        kinds=COMPUTE,
        why="Each step of a scan is a product of 10^12 operations; the host starts four scans of 250 steps.",
        clock="calls jax.block_until_ready",
        before=[
            JAX,
            """
            @jax.jit
            def network(x, w):
                layer = lambda x, _: (jnp.tanh(x @ w), None)
                return jax.lax.scan(layer, x, None, length=250)[0]

            x = jax.random.normal(jax.random.key(0), (8_192, 8_192), jnp.bfloat16)
            w = jax.random.normal(jax.random.key(1), (8_192, 8_192), jnp.bfloat16) / 64
            y = network(x, w).block_until_ready()
            """,
        ],
        code="""
            for text in range(4):
                y = network(y, w)
            y = jax.block_until_ready(y)
        """,
    ),
)
