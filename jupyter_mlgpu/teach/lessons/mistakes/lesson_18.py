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


def _tile_of(part: Callable[[Any, Any], Any], a: Any, b: Any, row: Any, column: Any, tile: Any) -> Any:
    return sum(
        part(a[row : row + tile, inner : inner + tile], b[inner : inner + tile, column : column + tile])
        for inner in range(0, len(a), tile)
    )


def number_by_number(a: Any, b: Any, row: Any, column: Any, tile: Any) -> Any:
    return _tile_of(lambda left, right: left * right, a, b, row, column, tile)


def other_tile(a: Any, b: Any, row: Any, column: Any, tile: Any) -> Any:
    return sum(
        a[row : row + tile, inner : inner + tile] @ b[column : column + tile, inner : inner + tile]
        for inner in range(0, len(a), tile)
    )


def right_first(a: Any, b: Any, row: Any, column: Any, tile: Any) -> Any:
    return _tile_of(lambda left, right: right @ left, a, b, row, column, tile)


def each_step(r: Any) -> Any:
    return 2 * r


def of_one_tile(r: Any) -> Any:
    return 1 / r


def by_the_sums(r: Any) -> Any:
    return 2 / r**2


COACHING = {
    "places": coaching(
        hints=[
            say("Two things to write: where the block's places begin, and which of them the array has."),
            say(
                "Each block before this one takes as many places as a block has threads; the array ends "
                "before place n."
            ),
            say("`block * threads` places come first; keep those with `place < n`."),
        ],
        mistakes=[
            (say("A thread of the last block takes a place past the end of the array."), past_the_end),
            (say("Your neighbouring threads take places that are far apart."), in_turn),
            (say("Each of your blocks takes the places of the first one."), first_block),
        ],
    ),
    "bytes_asked": coaching(
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
    "one_tile": coaching(
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
    "reads_each": coaching(
        hints=[
            say("Take one step: how many numbers are read, and how many multiplications are done with them?"),
            say("It reads r numbers of each of two tiles, and multiplies each with each: r * r."),
            say("2 r numbers for r² multiplications."),
        ],
        mistakes=[
            (say("You counted the reads of a step, not those for each multiplication."), each_step),
            (say("You counted one of the two tiles."), of_one_tile),
            (
                say("You divided two reads by r², but a step of r² multiplications reads 2 r numbers."),
                by_the_sums,
            ),
        ],
    ),
}
