"""Cells with NumPy and pandas: large and small arrays, and data that are got ready."""

from __future__ import annotations

from tests.limits.program import BANDWIDTH, COMPUTE, ON_DEVICE, Program

PROGRAMS = (
    Program(
        id="numpy-products",
        framework="numpy",
        kinds=COMPUTE,
        why="Each product of 1,500 rows and columns is seven thousand million operations; Python starts ten.",
        clock="calls np.matmul",
        before=["import numpy as np\na = np.random.default_rng(0).random((1_500, 1_500)) / 750"],
        code="b = a\nfor _ in range(10):\n    b = np.matmul(b, a)",
        mended="import time\nb = np.matmul(a[:8], a)\ntime.sleep(0.5)",
        mended_kinds=("waiting",),
    ),
    Program(
        id="numpy-singular-values",
        framework="numpy",
        kinds=COMPUTE,
        why="LAPACK takes a matrix of 900 rows and columns apart, four times.",
        clock="calls np.linalg.svd",
        before=["import numpy as np\na = np.random.default_rng(0).random((900, 900))"],
        code="for _ in range(4):\n    u, s, v = np.linalg.svd(a)",
    ),
    Program(
        id="numpy-sums-of-large-arrays",
        framework="numpy",
        kinds=BANDWIDTH,
        why="Each step reads 400 MB and writes 200 MB for 25 million sums.",
        clock="calls np.add",
        before=["import numpy as np\na = np.ones(25_000_000)\nb = np.ones_like(a)\nc = np.empty_like(a)"],
        code="for _ in range(20):\n    np.add(a, b, out=c)",
        mended="total = 0\nfor number in range(12_000_000):\n    total += number",
        mended_kinds=("python",),
    ),
    Program(
        id="numpy-sort",
        framework="numpy",
        kinds=ON_DEVICE,
        why="A single call sorts 15 million numbers.",
        clock="calls np.sort",
        before=["import numpy as np\na = np.random.default_rng(0).random(15_000_000)"],
        code="b = np.sort(a)\nc = np.sort(a[::-1])",
    ),
    Program(
        id="numpy-fourier",
        framework="numpy",
        kinds=ON_DEVICE,
        why="Ten calls transform two million numbers each.",
        clock="calls np.fft.fft",
        before=["import numpy as np\na = np.random.default_rng(0).random(2**21)"],
        code="for _ in range(10):\n    b = np.fft.fft(a)",
    ),
    Program(
        id="numpy-tiny-vectors",
        framework="numpy",
        kinds=("launch", "python"),
        why="Each operation is on three numbers, so that calling it is all of its time.",
        clock="without np.cross, np.dot, np.add",
        before=["import numpy as np\na, b = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.1, 0.2])"],
        code="""
            position = np.zeros(3)
            for step in range(25_000):
                force = np.cross(a, b) * np.dot(a, b)
                position = np.add(position, force)
        """,
        mended="""
            many, others = np.tile(a, (250_000, 1)), np.tile(b, (250_000, 1))
            for _ in range(50):
                positions = np.cross(many, others) * (many * others).sum(axis=1)[:, None]
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="csv-read-by-pandas",
        framework="numpy",
        kinds=("input",),
        why="A table of 900,000 lines is read from text; its mean is all that is computed.",
        clock="calls pd.read_csv",
        needs=("pandas",),
        before=[
            """
            import tempfile
            import numpy as np, pandas as pd
            file = tempfile.NamedTemporaryFile(suffix=".csv")
            table = np.random.default_rng(0).random((900_000, 6))
            pd.DataFrame(table, columns=list("abcdef")).to_csv(file.name, index=False)
            """,
        ],
        code="""
            frame = pd.read_csv(file.name)
            means = frame.mean()
        """,
        mended="""
            for _ in range(4):
                means = np.sort(table, axis=0).mean(axis=0)
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="images-decompressed-before-a-product",
        framework="numpy",
        kinds=("input",),
        why="Seven hundred images are decompressed by zlib and cast; one small product is made of each.",
        clock="calls load",
        before=[
            """
            import zlib
            import numpy as np
            noise = np.random.default_rng(0).integers(0, 30, (256, 256, 3), dtype="uint8")
            files = [zlib.compress(noise.tobytes())] * 700
            weights = np.ones((256 * 256 * 3, 2), dtype="float32")

            def load(file):
                pixels = np.frombuffer(zlib.decompress(file), dtype="uint8")
                return pixels.astype("float32") / 255
            """,
        ],
        code="""
            scores = []
            for file in files:
                image = load(file)
                scores.append(image @ weights)
        """,
        mended_before=["images = np.stack([load(file) for file in files[:50]])"],
        mended="for epoch in range(200):\n    scores = images @ weights",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="many-small-files",
        framework="numpy",
        kinds=("input", "waiting"),
        why="Eight thousand files are opened and read; the sum of each is a microsecond's work.",
        clock="calls np.fromfile",
        before=[
            """
            import tempfile
            from pathlib import Path
            import numpy as np
            folder = tempfile.TemporaryDirectory()
            paths = [Path(folder.name) / f"{number}.bin" for number in range(8_000)]
            for path in paths:
                path.write_bytes(b"1" * 4_096)
            """,
        ],
        code="""
            sums = []
            for epoch in range(4):
                for path in paths:
                    sums.append(int(np.fromfile(path, dtype="uint8")[::64].sum()))
        """,
        mended_before=["everything = np.concatenate([np.fromfile(path, dtype='uint8') for path in paths])"],
        mended="for epoch in range(4):\n    order = np.sort(everything)",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="words-into-numbers",
        framework="numpy",
        kinds=("input", "python"),
        why="A tokenizer of Python splits 50,000 reviews; NumPy then counts tokens in a millisecond.",
        clock="calls tokenize",
        before=[
            """
            import re
            import numpy as np
            text = "The film isn't bad, but its second half (90 minutes!) drags on and on; 3 stars. "
            reviews = [text * (1 + number % 5) for number in range(50_000)]
            vocabulary = {}

            def tokenize(review):
                words = re.findall(r"[a-z]+|[0-9]+|[^ ]", review.lower())
                return [vocabulary.setdefault(word, len(vocabulary)) for word in words]
            """,
        ],
        code="""
            batches = [tokenize(review) for review in reviews]
            counts = np.bincount(np.concatenate([np.array(batch) for batch in batches[:200]]))
        """,
    ),
)
