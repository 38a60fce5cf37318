"""Cells of PyTorch on large tensors, and cells that wait for data, for copies or for Python."""

from __future__ import annotations

from tests.limits.program import BANDWIDTH, COMPUTE, ON_DEVICE, Program

NEXT = "calls torch.utils.data.dataloader._BaseDataLoaderIter.__next__"
#: A small model, and a first step of it.
MODEL = """
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
"""
AUGMENTED = """
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
"""

PROGRAMS = (
    Program(
        id="torch-products",
        framework="torch",
        kinds=COMPUTE,
        why="Each product of 1,500 rows and columns is seven thousand million operations; Python starts 20.",
        clock="calls torch.mm",
        before=["import torch\nx = torch.rand(1_500, 1_500) / 750"],
        code="y = x\nfor _ in range(20):\n    y = torch.mm(y, x)",
        mended="import time\ny = torch.mm(x[:8], x)\ntime.sleep(0.5)",
        mended_kinds=("waiting",),
    ),
    Program(
        id="torch-training-of-a-convolutional-network",
        framework="torch",
        kinds=COMPUTE,
        why="Each of six steps convolves 64 images forwards and backwards: some 10^10 operations.",
        clock="calls step",
        before=[
            """
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
            """,
        ],
        code="losses = [step() for _ in range(6)]",
    ),
    Program(
        id="torch-sums-of-large-tensors",
        framework="torch",
        kinds=BANDWIDTH,
        why="Each step reads 240 MB and writes 120 MB for thirty million sums.",
        clock="calls torch.add",
        before=[
            "import torch\nx, y = torch.rand(30_000_000), torch.rand(30_000_000)\nz = torch.empty_like(x)"
        ],
        code="for _ in range(60):\n    torch.add(x, y, out=z)",
    ),
    Program(
        id="torch-attention",
        framework="torch",
        kinds=COMPUTE,
        why="Attention over 2,048 places in 8 heads is 10^10 operations a call; Python starts eight.",
        clock="calls torch.nn.functional.scaled_dot_product_attention",
        before=["import torch\nq = torch.rand(2, 8, 2_048, 64)"],
        code="for _ in range(8):\n    y = torch.nn.functional.scaled_dot_product_attention(q, q, q)",
    ),
    Program(
        id="torch-loader-in-this-process",
        framework="torch",
        kinds=("input",),
        why="Each sample is made in loops of Python by the loader; a step of the model takes 0.1 ms.",
        clock=NEXT,
        before=[MODEL, AUGMENTED],
        code="losses = [train(batch) for batch in DataLoader(Augmented(5_000), batch_size=32)]",
        mended="""
            table = torch.rand(32_000, 64)
            losses = [train(batch) for epoch in range(4) for batch in table.split(16)]
        """,
        mended_kinds=("launch", "python"),
    ),
    Program(
        id="torch-loader-with-two-workers",
        framework="torch",
        kinds=("input",),
        why="Two workers make each sample in loops of Python; the training waits for them at every step.",
        clock=NEXT,
        before=[MODEL, AUGMENTED],
        code="""
            loader = DataLoader(Augmented(3_000), batch_size=32, num_workers=2)
            losses = [train(batch) for batch in loader]
        """,
        mended="""
            table = torch.rand(32_000, 64)
            losses = [train(batch) for epoch in range(4) for batch in table.split(16)]
        """,
        mended_kinds=("launch", "python"),
    ),
    Program(
        id="torch-loader-of-a-slow-disk",
        framework="torch",
        kinds=("input", "waiting"),
        why="Each sample comes after 2 ms, in which the loader's `__getitem__` sleeps.",
        clock=NEXT,
        before=[
            MODEL,
            """
            import time
            class Slow(Dataset):
                def __len__(self):
                    return 480

                def __getitem__(self, index):
                    time.sleep(0.002)
                    return torch.zeros(64)
            """,
        ],
        code="losses = [train(batch) for batch in DataLoader(Slow(), batch_size=32)]",
    ),
    Program(
        id="torch-loader-that-decompresses",
        framework="torch",
        kinds=("input",),
        why="The loader decompresses each image by zlib; what is done with a batch is a mean.",
        clock=NEXT,
        before=[
            """
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
            """,
        ],
        code="means = [batch[:, ::64].float().mean() for batch in DataLoader(Images(), batch_size=20)]",
        mended="""
            batch = next(iter(DataLoader(Images(), batch_size=20)))
            for epoch in range(15):
                order = batch.sort()
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="torch-tokenizing-before-an-embedding",
        framework="torch",
        kinds=("input", "python"),
        why="A tokenizer of Python splits each text; the embedding of its tokens takes a fraction of that.",
        clock="calls encode",
        before=[
            """
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
            """,
        ],
        code="""
            for text in texts:
                tokens = torch.tensor([encode(text)[:50]])
                with torch.no_grad():
                    vector = embedding(tokens)
        """,
    ),
    Program(
        id="torch-tensors-of-arrays-and-back",
        framework="torch",
        kinds=("transfer", *ON_DEVICE),
        why="An array of 200 MB is copied into a tensor and out of it, and nothing is computed.",
        clock="calls torch.tensor, np.array",
        before=["import numpy as np\nimport torch\ndata = np.ones((25_000_000,))"],
        code="""
            for step in range(6):
                tensor = torch.tensor(data)
                back = np.array(tensor.numpy())
        """,
        mended="""
            tensor = torch.from_numpy(data[:1_000_000])
            total = sum(number for number in range(10_000_000))
        """,
        mended_kinds=("python",),
    ),
    Program(
        id="torch-training-that-sleeps",
        framework="torch",
        kinds=("waiting",),
        why="The loop sleeps 50 ms after each step, as one that is polite to a shared machine does.",
        clock="idle",
        before=[MODEL, "import time\nbatches = [torch.rand(32, 64) for _ in range(20)]"],
        code="""
            for batch in batches:
                loss = train(batch)
                time.sleep(0.05)
        """,
        mended="for epoch in range(200):\n    for batch in batches:\n        loss = train(batch)",
    ),
    Program(
        id="torch-edit-distance-of-answers",
        framework="torch",
        kinds=("python",),
        why="A metric is computed by two nested loops of Python after a single product.",
        clock="calls distance",
        before=[
            """
            import torch
            logits = torch.rand(2_200, 40)

            def distance(a, b):
                row = list(range(len(b) + 1))
                for i, left in enumerate(a, 1):
                    before, row[0] = row[0], i
                    for j, right in enumerate(b, 1):
                        before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (left != right))
                return row[-1]
            """,
        ],
        code="""
            answer = logits.argmax(dim=1).tolist()
            print(distance(answer, answer[::-1]))
        """,
    ),
)
