"""Cells of PyTorch in which a CUDA GPU is at work, gets or gives data, or is kept busy by small kernels."""

from __future__ import annotations

from tests.limits.program import BANDWIDTH, COMPUTE, ON_DEVICE, Program
from tests.limits.programs.cuda_torch_idle import START

WAIT = "calls torch.cuda.synchronize"

PROGRAMS = (
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
