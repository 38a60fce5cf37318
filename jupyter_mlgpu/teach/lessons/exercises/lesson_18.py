"""Lesson 18: a kernel that adds, the fetching of tiles, and reads of shared memory with sums in registers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Arguments, Exercise
from jupyter_mlgpu.teach.lessons.kernels import Thread, simulate
from jupyter_mlgpu.teach.lessons.products import corner


def add_kernel(thread: Thread, memory: Any) -> None:
    """Add two numbers of `memory.x` and `memory.y`, if there are any for this thread."""
    place = thread.block * thread.threads + thread.number
    if place < len(memory.x):
        memory.z[place] = memory.x[place] + memory.y[place]


def fetch(thread: Thread, memory: Any, first: int, n: int, tile: int) -> None:
    """Fetch this thread's number of the tile of `a`, and its number of the tile of `b`."""
    top, side = corner(thread.block, n, tile)
    down, across = divmod(thread.number, tile)
    memory.left[thread.number] = memory.a[(top + down) * n + first + across]
    memory.right[thread.number] = memory.b[(first + down) * n + side + across]


def reads_each(r: int) -> float:
    """Return the shared numbers read for each multiplication by a thread that computes r x r sums."""
    return 2 * r / r**2


def _run_add(answer: Any, arguments: Arguments) -> Any:
    """Simulate the answer; returns None if it does nothing."""
    x: Any = arguments["x"]
    threads: Any = arguments["threads"]
    blocks = -(-len(x) // threads)
    run = simulate(answer, blocks=blocks, threads=threads, x=x, y=arguments["y"], z=np.zeros_like(x))
    if not run.writes:
        return None
    return {
        "z": run.arrays["z"],
        say("accesses past the end"): len(run.warnings),
        say("bytes moved"): run.bytes_moved,
    }


def _run_fetch(answer: Any, arguments: Arguments) -> Any:
    """Simulate the answer in one block, and return the two tiles; None if it fetches nothing."""
    a: Any = arguments["a"]
    block, first, tile = (arguments[name] for name in ("block", "first", "tile"))
    n, size = len(a), tile * tile  # type: ignore[operator]

    def kernel(thread: Thread, memory: Any) -> Iterator[None]:
        if thread.block == block:
            answer(thread, memory, first, n, tile)
            yield
            memory.fetched_left[thread.number] = memory.left[thread.number]
            memory.fetched_right[thread.number] = memory.right[thread.number]

    run = simulate(
        kernel,
        blocks=(n // tile) ** 2,  # type: ignore[operator]
        threads=size,
        shared={"left": size, "right": size},
        a=a,
        b=arguments["b"],
        fetched_left=np.zeros(size),
        fetched_right=np.zeros(size),
    )
    if not run.reads:
        return None
    return {name: run.arrays[f"fetched_{name}"].reshape(tile, tile) for name in ("left", "right")}


def _fresh_addition(draw: random.Random) -> Arguments:
    numbers = np.random.default_rng(draw.getrandbits(32))
    x, y = numbers.normal(size=(2, draw.randint(66, 95))).astype("float32")
    return {"threads": 32, "x": x, "y": y}


def _fresh_tiles(draw: random.Random) -> Arguments:
    tile, tiles = draw.choice([2, 3]), draw.choice([3, 4])
    a, b = np.random.default_rng(draw.getrandbits(32)).normal(size=(2, tile * tiles, tile * tiles))
    down, across, inner = draw.sample(range(tiles), 3)
    return {"a": a, "b": b, "block": down * tiles + across, "first": inner * tile, "tile": tile}


def _fresh_sums(draw: random.Random) -> Arguments:
    return {"r": draw.choice([5, 6, 8, 16])}


EXERCISES = (
    Exercise(
        name="add_kernel",
        task=say("add the two arrays, each thread two numbers at most, and none past the end"),
        reference=add_kernel,
        # The last of two blocks of 4 threads has one thread with nothing to do.
        example={"threads": 4, "x": np.arange(7, dtype="float32"), "y": np.full(7, 10, "float32")},
        fresh=_fresh_addition,
        run=_run_add,
    ),
    Exercise(
        name="fetch",
        task=say("fetch the two tiles of this block, each thread one number of each"),
        reference=fetch,
        # Block 1 computes the upper right tile of c.
        example={
            "a": np.arange(16.0).reshape(4, 4),
            "b": np.arange(100.0, 116).reshape(4, 4),
            "block": 1,
            "first": 2,
            "tile": 2,
        },
        fresh=_fresh_tiles,
        run=_run_fetch,
    ),
    Exercise(
        name="reads_each",
        task=say("return the numbers that are read from shared memory for each multiplication"),
        reference=reads_each,
        example={"r": 4},
        fresh=_fresh_sums,
    ),
)
