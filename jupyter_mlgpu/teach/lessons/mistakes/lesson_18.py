"""Lesson 18: hints and likely mistakes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching
from jupyter_mlgpu.teach.lessons.products import corner


def past_the_end(thread: Any, memory: Any) -> None:
    place = thread.block * thread.threads + thread.number
    memory.z[place] = memory.x[place] + memory.y[place]


def far_apart(thread: Any, memory: Any) -> None:
    blocks = -(-len(memory.x) // thread.threads)
    place = thread.number * blocks + thread.block
    if place < len(memory.x):
        memory.z[place] = memory.x[place] + memory.y[place]


def first_block(thread: Any, memory: Any) -> None:
    if thread.number < len(memory.x):
        memory.z[thread.number] = memory.x[thread.number] + memory.y[thread.number]


Place = Callable[[int, int, int, int, int], tuple[int, int]]


def _fetching(of_a: Place, of_b: Place) -> Callable[..., None]:
    """Return a kernel that fetches the numbers at these rows and columns of the two matrices."""

    def fetch(thread: Any, memory: Any, first: int, n: int, tile: int) -> None:
        places = (*corner(thread.block, n, tile), first, *divmod(thread.number, tile))
        for to, matrix, place in ((memory.left, memory.a, of_a), (memory.right, memory.b, of_b)):
            row, column = place(*places)
            to[thread.number] = matrix[row * n + column]

    return fetch


tile_of_c = _fetching(
    lambda top, side, first, down, across: (top + down, side + across),
    lambda top, side, first, down, across: (top + down, side + across),
)
first_pair = _fetching(
    lambda top, side, first, down, across: (top + down, across),
    lambda top, side, first, down, across: (down, side + across),
)
other_tile = _fetching(
    lambda top, side, first, down, across: (top + down, first + across),
    lambda top, side, first, down, across: (side + down, first + across),
)


def each_step(r: Any) -> Any:
    return 2 * r


def of_one_tile(r: Any) -> Any:
    return 1 / r


def by_the_sums(r: Any) -> Any:
    return 2 / r**2


COACHING = {
    "add_kernel": coaching(
        hints=[
            say("Two things to write: the place of this thread in the array, and whether the array has it."),
            say("Each block before this one takes as many places as a block has threads."),
            say("`thread.block * thread.threads + thread.number`; the mask is `place < len(memory.x)`."),
        ],
        mistakes=[
            (
                say("A thread of the last block takes a place past the end: the mask is missing."),
                past_the_end,
            ),
            (say("Your neighbouring threads take places that are far apart."), far_apart),
            (say("Each of your blocks takes the places of the first one."), first_block),
        ],
    ),
    "fetch": coaching(
        hints=[
            say("Take the NumPy product above: which rows and columns have `left` and `right` there?"),
            say(
                "Row i and column j of a matrix are at place `i * n + j`. The rows of `left` begin "
                "at `top`, its columns at `first`."
            ),
            say(
                "`memory.a[(top + down) * n + first + across]`; for b the row is `first + down`, and the "
                "column is `side + across`."
            ),
        ],
        mistakes=[
            (say("You fetched from where the tile of c is, at `top` and `side`."), tile_of_c),
            (say("You fetched the first pair of tiles each time: `first` is missing."), first_pair),
            (say("You exchanged the rows and the columns of the second matrix's tile."), other_tile),
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
