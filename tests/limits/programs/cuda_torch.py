"""Cells of PyTorch on a CUDA GPU, each a second or two on one of NVIDIA's H100 class."""

from __future__ import annotations

from tests.limits.program import BANDWIDTH, COMPUTE, ON_DEVICE, Program
from tests.limits.programs.torch_working import AUGMENTED, NEXT

WAIT = "calls torch.cuda.synchronize"
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
    Program(
        id="cuda-torch-copied-to-the-gpu-at-each-step",
        framework="torch-cuda",
        kinds=("transfer",),
        why="One GB of ordinary memory is copied to the GPU at each step, for a sum of a millisecond.",
        clock="calls upload",
        before=[
            START,
            """
            batch = torch.rand(250_000_000)

            def upload(batch):
                return batch.to("cuda")

            y = upload(batch).sum().item()
            """,
        ],
        code="""
            losses = []
            for step in range(8):
                losses.append(upload(batch).sum().item())
        """,
        mended="""
            there = batch.cuda()
            for step in range(2_500):
                loss = there.sum()
            loss = loss.item()
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="cuda-torch-copied-back-at-each-step",
        framework="torch-cuda",
        kinds=("transfer",),
        why="Activations of one GB are copied back from the GPU at each step, as for a plot.",
        clock="calls download",
        before=[
            START,
            """
            x = torch.rand(250_000_000, device="cuda")

            def download(x):
                return x.cpu()

            y = download(x)
            """,
        ],
        code="for step in range(5):\n    saved = download(torch.relu(x))",
    ),
    Program(
        id="cuda-torch-a-value-read-at-each-step",
        framework="torch-cuda",
        kinds=("transfer", "launch"),
        why="Each step is one tiny kernel and the round trip of its value to the host.",
        clock="calls read",
        before=[
            START,
            """
            x = torch.zeros((), device="cuda")

            def read(x):
                return x.item()

            y = read(x)
            """,
        ],
        code="""
            values = []
            for step in range(40_000):
                x += 1
                values.append(read(x))
        """,
    ),
    Program(
        id="cuda-torch-tiny-kernels",
        framework="torch-cuda",
        kinds=("launch",),
        why="Each kernel adds one number, which the GPU does sooner than the host starts the next.",
        clock="without torch.add",
        before=[START, "x = torch.zeros((), device='cuda')"],
        code="for step in range(250_000):\n    x = torch.add(x, 1.0)\ntorch.cuda.synchronize()",
        mended="""
            x = torch.zeros(1_000_000_000, device="cuda")
            for step in range(350):
                x = torch.add(x, 1.0)
            torch.cuda.synchronize()
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="cuda-torch-training-of-a-tiny-network",
        framework="torch-cuda",
        kinds=("launch", "python"),
        why="Each step is some eighty kernels of two microseconds; optimizer and modules are in part Python.",
        clock="calls step",
        before=[
            START,
            """
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
            """,
        ],
        code="losses = [step() for _ in range(1_500)]\ntorch.cuda.synchronize()",
    ),
    Program(
        id="cuda-torch-small-products-one-by-one",
        framework="torch-cuda",
        kinds=("launch",),
        why="Each product is of 16 rows and columns: the GPU is done with it before the next is started.",
        clock="without torch.mm",
        before=[START, "pairs = list(torch.rand(2_000, 16, 16, device='cuda'))"],
        code="""
            for epoch in range(80):
                products = [torch.mm(a, a) for a in pairs]
            torch.cuda.synchronize()
        """,
        mended="""
            a = torch.rand(100_000, 64, 64, device="cuda")
            for epoch in range(300):
                products = torch.bmm(a, a)
            torch.cuda.synchronize()
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="cuda-torch-products",
        framework="torch-cuda",
        kinds=COMPUTE,
        why="Each product in bfloat16 is 10^12 operations, milliseconds of the GPU, and the host starts 800.",
        clock=WAIT,
        before=[
            START,
            "x = torch.ones(8_192, 8_192, device='cuda', dtype=torch.bfloat16) / 8_192\ny = x @ x",
        ],
        code="for _ in range(800):\n    y = y @ x\ntorch.cuda.synchronize()",
        mended="import time\ny = y @ x\ntorch.cuda.synchronize()\ntime.sleep(1)",
        mended_kinds=("waiting",),
    ),
    Program(
        id="cuda-torch-attention",
        framework="torch-cuda",
        kinds=COMPUTE,
        why="Attention over 8,192 places in 16 heads is 10^12 operations a call.",
        clock=WAIT,
        before=[
            START,
            """
            q = torch.rand(8, 16, 8_192, 64, device="cuda", dtype=torch.bfloat16)
            attend = torch.nn.functional.scaled_dot_product_attention
            y = attend(q, q, q)
            """,
        ],
        code="for _ in range(250):\n    y = attend(q, q, q)\ntorch.cuda.synchronize()",
    ),
    Program(
        id="cuda-torch-sums-of-large-tensors",
        framework="torch-cuda",
        kinds=BANDWIDTH,
        why="Each sum reads 8 GB and writes 4 GB for 10^9 additions.",
        clock=WAIT,
        before=[
            START,
            """
            x = torch.ones(1_000_000_000, device="cuda")
            y, z = torch.ones_like(x), torch.empty_like(x)
            torch.add(x, y, out=z)
            """,
        ],
        code="for _ in range(350):\n    torch.add(x, y, out=z)\ntorch.cuda.synchronize()",
        mended="""
            total = 0
            for number in range(20_000_000):
                total += number
        """,
        mended_kinds=("python",),
    ),
    Program(
        id="cuda-torch-normalisation-of-activations",
        framework="torch-cuda",
        kinds=BANDWIDTH,
        why="A layer norm reads and writes each of 10^9 numbers for a few operations on it.",
        clock=WAIT,
        before=[
            START,
            """
            x = torch.rand(250_000, 4_096, device="cuda", dtype=torch.bfloat16)
            norm = torch.nn.LayerNorm(4_096, device="cuda", dtype=torch.bfloat16)
            with torch.no_grad():
                y = norm(x)
            """,
        ],
        code="""
            with torch.no_grad():
                for _ in range(600):
                    y = norm(x)
            torch.cuda.synchronize()
        """,
    ),
    Program(
        id="cuda-torch-allocator-near-its-limit",
        framework="torch-cuda",
        kinds=("memory",),
        why="Each tensor is larger than all that is cached, so that the allocator gives back and asks again.",
        clock="calls torch.empty",
        before=[
            START,
            """
            torch.cuda.empty_cache()
            whole = torch.cuda.get_device_properties(0).total_memory
            torch.cuda.set_per_process_memory_fraction(16 * 2**30 / whole)
            """,
        ],
        code="""
            for step in range(150):
                x = torch.empty(12 * 2**30 + step * 2**22, dtype=torch.uint8, device="cuda")
                x[::2**20] = 1
                del x
            torch.cuda.synchronize()
        """,
        mended_before=[
            "torch.cuda.set_per_process_memory_fraction(1.0)\ntorch.cuda.empty_cache()",
            "x = torch.ones(2**31, device='cuda')",
        ],
        mended="""
            for step in range(600):
                x += 1
            torch.cuda.synchronize()
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="cuda-torch-another-program-on-the-gpu",
        framework="torch-cuda",
        kinds=("contention",),
        why="Three other processes multiply matrices on the GPU, which is shared by turns.",
        clock="mended",
        load="gpu",
        before=[
            START,
            "x = torch.ones(8_192, 8_192, device='cuda', dtype=torch.bfloat16) / 8_192\ny = x @ x",
        ],
        code="for _ in range(300):\n    y = y @ x\ntorch.cuda.synchronize()",
        mended="for _ in range(300):\n    y = y @ x\ntorch.cuda.synchronize()",
        mended_kinds=ON_DEVICE,
    ),
)
