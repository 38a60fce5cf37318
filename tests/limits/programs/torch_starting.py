"""Cells of PyTorch that compile, or that start many small operations."""

from __future__ import annotations

from tests.limits.program import ON_DEVICE, Program

PROGRAMS = (
    Program(
        id="torch-compile-first-call",
        framework="torch",
        kinds=("compiling",),
        why="The first call compiles C++; a second call only runs what was compiled.",
        clock="again",
        before=[
            # What earlier runs have compiled is not found.
            "import os, tempfile\nos.environ['TORCHINDUCTOR_CACHE_DIR'] = tempfile.mkdtemp()",
            """
            import torch
            x = torch.rand(3_000, 1_000)

            @torch.compile
            def fused(x):
                return (torch.sigmoid(x) * x + torch.exp(-x)).sum()
            """,
        ],
        code="y = fused(x)",
        mended="for _ in range(800):\n    y = fused(x)",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="torch-compile-again-for-each-length",
        framework="torch",
        kinds=("compiling",),
        why="Each length is compiled anew, for dynamic shapes are off; a second loop finds all ready.",
        clock="again",
        before=[
            """
            import torch
            w = torch.rand(32, 32) / 8

            @torch.compile(backend="eager", dynamic=False)
            def network(x):
                for layer in range(80):
                    x = torch.relu(x @ w) + x
                return x.mean()
            """,
        ],
        code="losses = [network(torch.rand(length, 32)) for length in range(10, 16)]",
    ),
    Program(
        id="torch-compile-of-a-training-step",
        framework="torch",
        kinds=("compiling",),
        why="Forward and backward pass of 40 layers are traced in the first step; the next ones only run.",
        clock="again",
        before=[
            """
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
            """,
        ],
        code="loss = step()",
        mended="for epoch in range(20):\n    loss = step()",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="torch-export",
        framework="torch",
        kinds=("compiling",),
        why="Exporting traces the model of 300 layers without running it.",
        clock="calls torch.export.export",
        before=[
            """
            import torch
            layers = []
            for _ in range(150):
                layers += [torch.nn.Linear(64, 64), torch.nn.GELU()]
            model = torch.nn.Sequential(*layers)
            """,
        ],
        code="program = torch.export.export(model, (torch.rand(8, 64),))",
    ),
    Program(
        id="torch-tiny-additions",
        framework="torch",
        kinds=("launch",),
        why="Each operation adds one number; all of its time is that of starting it.",
        clock="without torch.add",
        before=["import torch\nx = torch.tensor(0.0)"],
        code="for step in range(250_000):\n    x = torch.add(x, 1.0)",
        mended="x = torch.zeros(10_000_000)\nfor step in range(80):\n    x = torch.add(x, 1.0)",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="torch-small-products-one-by-one",
        framework="torch",
        kinds=("launch",),
        why="Each product is of four rows and columns: its 128 operations take less time than its call.",
        clock="without torch.mm",
        before=["import torch\npairs = [(torch.rand(4, 4), torch.rand(4, 4)) for _ in range(20_000)]"],
        code="""
            for epoch in range(15):
                products = [torch.mm(a, b) for a, b in pairs]
        """,
        mended="""
            a, b = torch.rand(40_000, 32, 32), torch.rand(40_000, 32, 32)
            for epoch in range(4):
                products = torch.bmm(a, b)
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="torch-recurrent-network-by-hand",
        framework="torch",
        kinds=("launch",),
        why="Each of 120,000 steps has four operations on 16 numbers.",
        clock="without torch.tanh, torch.matmul, torch.add",
        before=[
            """
            import torch
            w, u = torch.rand(16, 16) / 16, torch.rand(16, 16) / 16
            x = torch.rand(16)
            """,
        ],
        code="""
            with torch.no_grad():
                state = torch.zeros(16)
                for step in range(120_000):
                    state = torch.tanh(torch.add(torch.matmul(w, x), torch.matmul(u, state)))
        """,
    ),
    Program(
        id="torch-training-of-a-tiny-network",
        framework="torch",
        kinds=("launch", "python"),
        why="Each step has some fifty operations on a few numbers; optimizer and modules are in part Python.",
        clock="calls step",
        before=[
            """
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
            """,
        ],
        code="losses = [step() for _ in range(1_500)]",
    ),
)
