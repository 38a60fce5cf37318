"""Lesson 18: the places of a block's threads, what a product reads, a tile of it, and sums in registers."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Arguments, Exercise


def places(block: int, threads: int, n: int) -> Any:
    """Return the places that the threads of a block take of an array of n numbers, none past the end."""
    place = block * threads + np.arange(threads)
    return place[place < n]


def bytes_asked(n: int, tile: int) -> float:
    """Return the bytes that the threads of a product of [n, n] matrices in float32 ask for."""
    return 4 * 2 * n**3 / tile


def one_tile(a: Any, b: Any, row: int, column: int, tile: int) -> Any:
    """Return the tile of `a @ b` that begins at this row and this column."""
    c = np.zeros((tile, tile))
    for inner in range(0, len(a), tile):
        left = a[row : row + tile, inner : inner + tile]
        right = b[inner : inner + tile, column : column + tile]
        c += left @ right
    return c


def reads_each(r: int) -> float:
    """Return the shared numbers read for each multiplication by a thread that computes r x r sums."""
    return 2 * r / r**2


def _fresh_block(draw: random.Random) -> Arguments:
    threads, block = draw.randint(3, 8), draw.randint(1, 4)
    return {"block": block, "threads": threads, "n": block * threads + draw.randint(1, threads - 1)}


def _fresh_size(draw: random.Random) -> Arguments:
    tile = draw.choice([4, 8, 32])
    return {"n": tile * draw.randint(3, 9), "tile": tile}


def _fresh_matrices(draw: random.Random) -> Arguments:
    tile, tiles = draw.choice([2, 3]), draw.randint(2, 4)
    row, column = draw.sample(range(tiles), 2)
    numbers = np.random.default_rng(draw.getrandbits(32))
    a, b = numbers.normal(size=(2, tile * tiles, tile * tiles))
    return {"a": a, "b": b, "row": row * tile, "column": column * tile, "tile": tile}


def _fresh_sums(draw: random.Random) -> Arguments:
    return {"r": draw.choice([5, 6, 8, 16])}


EXERCISES = (
    Exercise(
        name="places",
        task=say("return the places that the threads of this block take, and none that is past the end"),
        reference=places,
        # The last of two blocks of 4 threads; one thread has nothing to do.
        example={"block": 1, "threads": 4, "n": 7},
        fresh=_fresh_block,
    ),
    Exercise(
        name="bytes_asked",
        task=say("return the bytes that the threads ask for"),
        reference=bytes_asked,
        example={"n": 10, "tile": 2},
        fresh=_fresh_size,
    ),
    Exercise(
        name="one_tile",
        task=say("return this tile of the product"),
        reference=one_tile,
        # A step to the right for the columns: the product has the columns of `a` in another order.
        example={
            "a": np.arange(16.0).reshape(4, 4),
            "b": np.roll(np.eye(4), 1, axis=1),
            "row": 2,
            "column": 0,
            "tile": 2,
        },
        fresh=_fresh_matrices,
    ),
    Exercise(
        name="reads_each",
        task=say("return the numbers that are read from shared memory for each multiplication"),
        reference=reads_each,
        example={"r": 4},
        fresh=_fresh_sums,
    ),
)
