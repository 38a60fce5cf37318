"""Cells of PyTorch in which a CUDA GPU is idle: they compile, wait, run Python, or get data ready."""

from __future__ import annotations

from tests.limits.program import ON_DEVICE, Program
from tests.limits.programs.torch_working import AUGMENTED, NEXT

#: A first operation: CUDA's own start is no part of what is judged.
START = """
    import torch
    torch.cuda.synchronize()
    x = torch.ones(64, 64, device="cuda")
    y = (x @ x).sum().item()
"""
MODEL = """
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
"""

PROGRAMS = (
    Program(
        id="cuda-torch-compile-first-call",
        framework="torch-cuda",
        kinds=("compiling",),
        why="The first call compiles kernels; a second call only runs them.",
        clock="again",
        before=[
            """
            import os, tempfile
            os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp()
            os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
            """,
            START,
            """
            x = torch.rand(16_384, 4_096, device="cuda")

            @torch.compile
            def fused(x):
                return (torch.softmax(x, dim=1) * torch.sigmoid(x) + torch.exp(-x)).sum()
            """,
        ],
        code="y = fused(x).item()",
        mended="for _ in range(1_500):\n    y = fused(x)\ntorch.cuda.synchronize()",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="cuda-torch-traced-for-each-length",
        framework="torch-cuda",
        kinds=("compiling",),
        why="Each length is traced anew, for dynamic shapes are off; a second loop finds all ready.",
        clock="again",
        before=[
            START,
            """
            w = torch.rand(256, 256, device="cuda") / 128

            @torch.compile(backend="aot_eager", dynamic=False)
            def network(x):
                for layer in range(60):
                    x = torch.relu(x @ w) + x
                return x.mean()
            """,
        ],
        code="losses = [network(torch.rand(n, 256, device='cuda')).item() for n in range(10, 17)]",
    ),
    Program(
        id="cuda-torch-training-step-traced",
        framework="torch-cuda",
        kinds=("compiling",),
        why="Forward and backward pass of 60 layers are traced in the first step; the next ones only run.",
        clock="again",
        before=[
            START,
            """
            layers = []
            for _ in range(60):
                layers += [torch.nn.Linear(2_048, 2_048), torch.nn.ReLU()]
            model = torch.compile(torch.nn.Sequential(*layers).cuda().bfloat16(), backend="aot_eager")
            x = torch.rand(4_096, 2_048, device="cuda", dtype=torch.bfloat16)

            def step():
                loss = model(x).float().square().mean()
                loss.backward()
                return loss.item()
            """,
        ],
        code="loss = step()",
        mended="for _ in range(60):\n    loss = step()",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="cuda-torch-training-that-sleeps",
        framework="torch-cuda",
        kinds=("waiting",),
        why="The loop sleeps 50 ms after each step; a step takes less than one.",
        clock="idle",
        before=[MODEL, "import time\nbatches = [torch.rand(32, 64) for _ in range(24)]"],
        code="""
            for batch in batches:
                loss = train(batch)
                time.sleep(0.05)
        """,
        mended="for epoch in range(150):\n    for batch in batches:\n        loss = train(batch)",
    ),
    Program(
        id="cuda-torch-server-asked-at-each-step",
        framework="torch-cuda",
        kinds=("waiting",),
        why="Each step waits a quarter of a second for an answer from a thread that sleeps.",
        clock="idle",
        before=[
            MODEL,
            """
            import queue, threading, time
            questions, answers = queue.Queue(), queue.Queue()

            def serve():
                while questions.get() is not None:
                    time.sleep(0.25)
                    answers.put(torch.rand(32, 64))

            threading.Thread(target=serve, daemon=True).start()
            """,
        ],
        code="""
            for step in range(5):
                questions.put(step)
                loss = train(answers.get())
        """,
    ),
    Program(
        id="cuda-torch-metric-in-python",
        framework="torch-cuda",
        kinds=("python",),
        why="A metric is computed by two nested loops of Python; the GPU has had a single product before.",
        clock="calls distance",
        before=[
            START,
            """
            logits = torch.rand(3_000, 40, device="cuda")

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
        mended="""
            big = torch.rand(16_384, 16_384, device="cuda")
            for _ in range(10):
                answer = (big @ big).argmax(dim=1)
            torch.cuda.synchronize()
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="cuda-torch-loader-in-this-process",
        framework="torch-cuda",
        kinds=("input",),
        why="Each sample is made in loops of Python by the loader; a step of the model takes a millisecond.",
        clock=NEXT,
        before=[MODEL, AUGMENTED],
        code="losses = [train(batch) for batch in DataLoader(Augmented(4_000), batch_size=64)]",
        mended="""
            table = torch.rand(64_000, 64, device="cuda")
            losses = [train(batch) for epoch in range(3) for batch in table.split(64)]
            torch.cuda.synchronize()
        """,
        mended_kinds=("launch", "python"),
    ),
    Program(
        id="cuda-torch-loader-with-two-workers",
        framework="torch-cuda",
        kinds=("input",),
        why="Two workers make each sample in loops of Python; the GPU waits for them at every step.",
        clock=NEXT,
        before=[MODEL, AUGMENTED],
        code="""
            loader = DataLoader(Augmented(8_000), batch_size=64, num_workers=2, pin_memory=True)
            losses = [train(batch) for batch in loader]
        """,
    ),
    Program(
        id="cuda-torch-images-decompressed",
        framework="torch-cuda",
        kinds=("input",),
        why="The loader decompresses each image by zlib; the GPU takes the mean of a batch.",
        clock=NEXT,
        before=[
            START,
            """
            import zlib
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
        code="""
            means = []
            for batch in DataLoader(Images(), batch_size=20):
                means.append(batch[:, ::64].cuda().float().mean())
        """,
    ),
)
