"""Lesson 18: hints and likely mistakes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching


def past_the_end(block: Any, threads: Any, n: Any) -> Any:
    return block * threads + np.arange(threads)


def in_turn(block: Any, threads: Any, n: Any) -> Any:
    place = block + threads * np.arange(threads)
    return place[place < n]


def first_block(block: Any, threads: Any, n: Any) -> Any:
    place = np.arange(threads)
    return place[place < n]


def one_matrix(n: Any, tile: Any) -> Any:
    return 4 * n**3 / tile


def numbers_only(n: Any, tile: Any) -> Any:
    return 2 * n**3 / tile


def by_the_area(n: Any, tile: Any) -> Any:
    return 4 * 2 * n**3 / tile**2


def _tiled(a: Any, b: Any, tile: Any, part: Callable[[Any, Any], Any], turned: bool = False) -> Any:
    n = len(a)
    c = np.zeros((n, n), a.dtype)
    for row in range(0, n, tile):
        for column in range(0, n, tile):
            for inner in range(0, n, tile):
                left = a[row : row + tile, inner : inner + tile]
                right = b[inner : inner + tile, column : column + tile]
                if turned:
                    right = b[column : column + tile, inner : inner + tile]
                c[row : row + tile, column : column + tile] += part(left, right)
    return c


def number_by_number(a: Any, b: Any, tile: Any) -> Any:
    return _tiled(a, b, tile, lambda left, right: left * right)


def other_tile(a: Any, b: Any, tile: Any) -> Any:
    return _tiled(a, b, tile, lambda left, right: left @ right, turned=True)


def right_first(a: Any, b: Any, tile: Any) -> Any:
    return _tiled(a, b, tile, lambda left, right: right @ left)


def the_ridge(peak: Any, bandwidth: Any, size: Any) -> Any:
    return peak / bandwidth


def divided_by_the_size(peak: Any, bandwidth: Any, size: Any) -> Any:
    return peak / bandwidth / size


def twice(peak: Any, bandwidth: Any, size: Any) -> Any:
    return 2 * peak / bandwidth * size


COACHING = {
    "places": coaching(
        hints=[
            say("Write down the places of block 0, then those of block 1. Where does block 1 begin?"),
            say("Each block before this one takes as many places as a block has threads."),
            say("`block * threads` places come first, and only places smaller than n are left."),
        ],
        mistakes=[
            (say("A thread of the last block takes a place past the end of the array."), past_the_end),
            (say("Your neighbouring threads take places that are far apart."), in_turn),
            (say("Each of your blocks takes the places of the first one."), first_block),
        ],
    ),
    "bytes_read": coaching(
        hints=[
            say("How many numbers would be read without tiles, and how often is a number of a tile used?"),
            say(
                "There are n³ multiplications with two numbers each; each number that is read serves `tile`."
            ),
            say("2 n³ numbers of 4 bytes, divided by `tile`."),
        ],
        mistakes=[
            (say("You counted one of the two matrices."), one_matrix),
            (say("You counted the numbers, not their bytes."), numbers_only),
            (say("You divided by the numbers in a tile; a number is used only `tile` times."), by_the_area),
        ],
    ),
    "tiled": coaching(
        hints=[
            say("Which rows and which columns of the second matrix meet this tile of the first?"),
            say("The columns of `left` are the rows of `right`, and each pair of tiles is a small product."),
            say("`right` has the rows from `inner` and the columns from `column`; add `left @ right`."),
        ],
        mistakes=[
            (
                say("You multiplied the tiles number by number: each pair is a small matrix product."),
                number_by_number,
            ),
            (say("You exchanged the rows and the columns of the second matrix's tile."), other_tile),
            (say("You multiplied the tiles in the wrong order."), right_first),
        ],
    ),
    "tile_at_the_ridge": coaching(
        hints=[
            say("How many operations does the tiled product do for each byte that it reads?"),
            say("2 n³ operations for 2 n³ / tile numbers: that is `tile` operations for each number."),
            say("`tile` / `size` operations for each byte should be the ridge."),
        ],
        mistakes=[
            (
                say("That is the ridge, in operations for each byte; a number has more bytes than one."),
                the_ridge,
            ),
            (
                say("You divided by the bytes of a number: larger numbers need larger tiles."),
                divided_by_the_size,
            ),
            (say("You counted twice: two operations, but two numbers as well."), twice),
        ],
    ),
}
