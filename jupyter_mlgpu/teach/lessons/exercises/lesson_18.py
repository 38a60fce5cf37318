"""Lesson 18: the places of a block's threads, the tiled product, what it reads, and the tile it needs."""

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


def bytes_read(n: int, tile: int) -> float:
    """Return the bytes that a product of [n, n] matrices in float32 reads, with tiles of that side."""
    return 4 * 2 * n**3 / tile


def tiled(a: Any, b: Any, tile: int) -> Any:
    """Return the product of two square matrices, computed tile by tile."""
    n, c = len(a), np.zeros_like(a)
    for row in range(0, n, tile):
        for column in range(0, n, tile):
            for inner in range(0, n, tile):
                left = a[row : row + tile, inner : inner + tile]
                right = b[inner : inner + tile, column : column + tile]
                c[row : row + tile, column : column + tile] += left @ right
    return c


def tile_at_the_ridge(peak: float, bandwidth: float, size: int) -> float:
    """Return the side of the tiles with which a product reaches the ridge of a roofline.

    `peak` is in TFLOP/s, `bandwidth` in TB/s, `size` in bytes for each number.
    """
    ridge = peak / bandwidth  # operations per byte
    # 2 n³ operations for 2 n³ / tile numbers read: tile / size operations per byte
    return ridge * size


def _fresh_block(draw: random.Random) -> Arguments:
    threads, block = draw.randint(3, 8), draw.randint(1, 4)
    return {"block": block, "threads": threads, "n": block * threads + draw.randint(1, threads - 1)}


def _fresh_size(draw: random.Random) -> Arguments:
    tile = draw.choice([4, 8, 32])
    return {"n": tile * draw.randint(3, 9), "tile": tile}


def _fresh_matrices(draw: random.Random) -> Arguments:
    tile = draw.choice([2, 3])
    n = tile * draw.randint(2, 4)
    numbers = np.random.default_rng(draw.getrandbits(32))
    return {"a": numbers.normal(size=(n, n)), "b": numbers.normal(size=(n, n)), "tile": tile}


def _fresh_machine(draw: random.Random) -> Arguments:
    return {
        "peak": draw.uniform(1, 900),
        "bandwidth": draw.uniform(0.1, 0.9),
        "size": draw.choice([2, 8]),
    }


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
        name="bytes_read",
        task=say("return the bytes that the product reads"),
        reference=bytes_read,
        example={"n": 10, "tile": 2},
        fresh=_fresh_size,
    ),
    Exercise(
        name="tiled",
        task=say("return the product, computed tile by tile"),
        reference=tiled,
        # A step to the right for the columns: the product has the columns of `a` in another order.
        example={
            "a": np.arange(16.0).reshape(4, 4),
            "b": np.roll(np.eye(4), 1, axis=1),
            "tile": 2,
        },
        fresh=_fresh_matrices,
    ),
    Exercise(
        name="tile_at_the_ridge",
        task=say("return the side of the tiles with which the product reaches the ridge"),
        reference=tile_at_the_ridge,
        example={"peak": 20.0, "bandwidth": 2.0, "size": 4},
        fresh=_fresh_machine,
    ),
)
