"""Cells that run Python itself on one core."""

from __future__ import annotations

from tests.limits.program import ON_DEVICE, Program

PROGRAMS = (
    Program(
        id="nested-loops",
        framework="python",
        kinds=("python",),
        why="Two nested loops of Python's own integers; nothing else is called.",
        clock="main",
        code="""
            count = 0
            for i in range(2_500):
                for j in range(2_500):
                    if (i * j) % 7 == 3:
                        count += 1
        """,
        mended="""
            import numpy as np
            i = np.arange(4_000)
            count = int(((i[:, None] * i[None, :]) % 7 == 3).sum())
        """,
        mended_kinds=ON_DEVICE,
        needs=("numpy",),
    ),
    Program(
        id="sum-of-a-range",
        framework="python",
        kinds=("python",),
        why="`sum` adds sixty million of Python's integers in C, and does not let go of the interpreter.",
        clock="main",
        code="total = sum(range(60_000_000))",
        mended="import time\ntotal = 60_000_000 * (60_000_000 - 1) // 2\ntime.sleep(1)",
        mended_kinds=("waiting",),
    ),
    Program(
        id="sorted-by-a-key",
        framework="python",
        kinds=("python",),
        why="A lambda is called for each of 700,000 items, and Python compares its results.",
        clock="main",
        before=["import random\nrandom.seed(0)\nwords = [str(random.random()) for _ in range(700_000)]"],
        code="ordered = sorted(words, key=lambda word: (word[5:], len(word)))",
    ),
    Program(
        id="recursion",
        framework="python",
        kinds=("python",),
        why="A function of another cell calls itself three million times.",
        clock="main",
        before=["def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)"],
        code="print(fib(33))",
        mended="import time\ntime.sleep(0.6)\nprint(3524578)",
        mended_kinds=("waiting",),
    ),
    Program(
        id="dict-of-counts",
        framework="python",
        kinds=("python",),
        why="Each of four million steps looks up and stores a number in a dict.",
        clock="main",
        code="""
            counts = {}
            for number in range(4_000_000):
                key = number % 1013
                counts[key] = counts.get(key, 0) + 1
        """,
        mended="import numpy as np\ncounts = np.bincount(np.arange(25_000_000) % 1013)",
        mended_kinds=ON_DEVICE,
        needs=("numpy",),
    ),
    Program(
        id="list-of-dicts-and-their-cycles",
        framework="python",
        kinds=("python",),
        why="Objects that point to each other are made and collected by the interpreter's own collector.",
        clock="main",
        before=[
            """
            import gc

            class Node:
                def __init__(self, parent):
                    self.parent = parent
                    self.children = [self]
            """,
        ],
        code="""
            root = None
            for round in range(8):
                nodes = []
                for number in range(80_000):
                    nodes.append(Node(nodes[-1] if nodes else None))
                gc.collect()
        """,
    ),
    Program(
        id="class-of-a-simulation",
        framework="python",
        kinds=("python",),
        why="A million steps of a method that only Python's interpreter runs.",
        clock="main",
        before=[
            """
            class Particle:
                def __init__(self, x, v):
                    self.x, self.v = x, v

                def step(self, dt):
                    self.v -= 9.81 * dt
                    self.x += self.v * dt
                    if self.x < 0:
                        self.x, self.v = -self.x, -0.9 * self.v
            """,
        ],
        code="""
            particles = [Particle(float(height), 0.0) for height in range(50)]
            for step in range(100_000):
                for particle in particles:
                    particle.step(1e-3)
        """,
        mended="""
            import numpy as np
            x, v = np.linspace(0, 50, 2_000_000), np.zeros(2_000_000)
            for step in range(150):
                v -= 9.81e-3
                x += v * 1e-3
                v = np.where(x < 0, -0.9 * v, v)
                x = np.abs(x)
        """,
        mended_kinds=ON_DEVICE,
        needs=("numpy",),
    ),
    Program(
        id="list-comprehensions",
        framework="python",
        kinds=("python",),
        why="A product of matrices, written with lists.",
        clock="main",
        before=[
            """
            import random
            random.seed(0)
            n = 200
            A = [[random.random() for _ in range(n)] for _ in range(n)]
            B = [[random.random() for _ in range(n)] for _ in range(n)]
            """,
        ],
        code="C = [[sum(a * b for a, b in zip(row, column)) for column in zip(*B)] for row in A]",
        mended="""
            import numpy as np
            A, B = np.tile(A, (10, 10)), np.tile(B, (10, 10))
            for _ in range(5):
                C = A @ B
        """,
        mended_kinds=ON_DEVICE,
        needs=("numpy",),
    ),
    Program(
        id="chain-of-generators",
        framework="python",
        kinds=("python",),
        why="Each number passes through three generators.",
        clock="main",
        before=[
            """
            def numbers(n):
                for i in range(n):
                    yield i

            def squares(source):
                for i in source:
                    yield i * i

            def odd(source):
                for i in source:
                    if i % 2:
                        yield i
            """,
        ],
        code="total = sum(odd(squares(numbers(7_000_000))))",
        mended="import numpy as np\ntotal = int((np.arange(60_000_000) ** 2)[1::2].sum())",
        mended_kinds=ON_DEVICE,
        needs=("numpy",),
    ),
    Program(
        id="string-by-letters",
        framework="python",
        kinds=("python",),
        why="A text is built and taken apart letter by letter.",
        clock="main",
        code="""
            def backwards(length):
                text = ""
                for number in range(length):
                    text += chr(97 + number % 26)
                result = ""
                for letter in reversed(text):
                    result += letter
                return result

            vowels = sum(letter in "aeiou" for letter in backwards(3_500_000))
        """,
    ),
    Program(
        id="regex-that-goes-back",
        framework="python",
        kinds=("python",),
        why="The pattern's nested repetition is tried in all its ways, by the interpreter's own `re`.",
        clock="main",
        before=["import re"],
        code="""
            pattern = re.compile(r"(a+)+$")
            print(pattern.match("a" * 24 + "b"))
        """,
    ),
    Program(
        id="json-of-results",
        framework="python",
        kinds=("python",),
        why="The interpreter turns 200,000 of its own objects into text.",
        clock="main",
        before=[
            "import json",
            "results = [{'epoch': i, 'loss': 1 / (i + 1), 'tags': ['a', 'b']} for i in range(200_000)]",
        ],
        code="text = json.dumps(results, indent=2)\nprint(len(text))",
    ),
    Program(
        id="fractions",
        framework="python",
        kinds=("python",),
        why="Exact fractions are added by a module that is written in Python.",
        clock="main",
        before=["from fractions import Fraction"],
        code="""
            total = Fraction(0)
            for number in range(1, 250_000):
                total = total % 1 + Fraction(1, number % 97 + 1)
        """,
    ),
    Program(
        id="array-element-by-element",
        framework="numpy",
        kinds=("python", "launch"),
        why="The interpreter reads and writes one number of the array at a time.",
        clock="main",
        before=["import numpy as np\nimage = np.zeros((1_600, 1_600))"],
        code="""
            for row in range(image.shape[0]):
                for column in range(image.shape[1]):
                    image[row, column] = (row * column) % 255
        """,
        mended="""
            for _ in range(8):
                image = np.fromfunction(lambda row, column: (row * column) % 255, (1_600, 1_600))
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="pandas-apply",
        framework="numpy",
        kinds=("python",),
        why="A function of Python is called for each of 150,000 rows.",
        clock="main",
        needs=("pandas",),
        before=[
            """
            import numpy as np, pandas as pd
            frame = pd.DataFrame({"a": np.arange(150_000), "b": np.arange(150_000) % 7})
            """,
        ],
        code="frame['c'] = frame.apply(lambda row: row['a'] * 2 if row['b'] > 3 else row['a'], axis=1)",
        mended="""
            a, b = frame["a"].to_numpy(), frame["b"].to_numpy()
            for _ in range(1_600):
                frame["c"] = np.where(b > 3, a * 2.0, np.sqrt(a))
        """,
    ),
    Program(
        id="pandas-rows",
        framework="numpy",
        kinds=("python",),
        why="Each row of the table becomes an object of Python.",
        clock="main",
        needs=("pandas",),
        before=["import pandas as pd\nframe = pd.DataFrame({'x': range(40_000), 'y': range(40_000)})"],
        code="""
            total = 0
            for index, row in frame.iterrows():
                total += row["x"] * row["y"]
        """,
    ),
)
