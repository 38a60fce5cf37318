"""Products of matrices by tiles, for lesson 18: kernels to simulate, and strides measured on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from jupyter_mlgpu.record.displayable import Displayable
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.page.model import Page, Table
from jupyter_mlgpu.show.page.rendering import page_of
from jupyter_mlgpu.show.page.scales import written
from jupyter_mlgpu.teach.lessons import recordings
from jupyter_mlgpu.teach.lessons.kernels import Thread, simulate
from jupyter_mlgpu.teach.lessons.simulations import Simulation


def corner(block: int, n: int, tile: int) -> tuple[int, int]:
    """Return the first row and the first column of a block's tile of an [n, n] matrix."""
    down, across = divmod(block, n // tile)
    return down * tile, across * tile


def simulate_product(
    kernel: Callable[..., Iterator[None]],
    a: Any,
    b: Any,
    tile: int,
    *,
    threads: int | None = None,
    skip_barrier: int | None = None,
    backwards: bool = False,
) -> Simulation:
    """Run `kernel(thread, memory, n, tile)`, which writes `a @ b` to `memory.c`, with a block for each tile.

    `memory.left` and `memory.right` are a tile of shared memory each. A block has a thread for each number of
    the tile, or as many as `threads`. With `skip_barrier`, 1 or 2, the threads run on at the first or the
    second `yield` of each turn, as if it was not in the kernel.
    """
    n = len(a)
    run = partial(kernel, n=n, tile=tile)
    return simulate(
        run if skip_barrier is None else partial(_without_barrier, run, skip_barrier),
        blocks=(n // tile) ** 2,
        threads=threads or tile * tile,
        shared={"left": tile * tile, "right": tile * tile},
        backwards=backwards,
        a=a,
        b=b,
        c=0 * a,
    )


def _without_barrier(
    kernel: Callable[..., Iterator[None]], skipped: int, thread: Thread, memory: Any
) -> Iterator[None]:
    """Run a kernel with two barriers in each turn, of which it skips one."""
    for number, _ in enumerate(kernel(thread, memory), 1):
        if number % 2 != skipped % 2:
            yield


def sums_in_registers(thread: Thread, memory: Any, n: int, tile: int, r: int) -> Iterator[None]:
    """Compute r x r numbers of a product, with (tile / r)² threads for each tile."""
    import numpy as np

    top, side = corner(thread.block, n, tile)
    apart = tile // r
    down, across = divmod(thread.number, apart)
    rows, columns = range(down, tile, apart), range(across, tile, apart)
    total = np.zeros((r, r))
    for first in range(0, n, tile):
        for place in range(thread.number, tile * tile, thread.threads):  # r * r numbers of each tile
            row, column = divmod(place, tile)
            memory.left[place] = memory.a[(top + row) * n + first + column]
            memory.right[place] = memory.b[(first + row) * n + side + column]
        yield
        for inner in range(tile):
            of_a = [memory.left[row * tile + inner] for row in rows]
            of_b = [memory.right[inner * tile + column] for column in columns]
            total += np.outer(of_a, of_b)  # r * r multiplications for 2 * r numbers read
        yield
    for row, sums in zip(rows, total, strict=True):
        for column, one in zip(columns, sums, strict=True):
            memory.c[(top + row) * n + side + column] = one


@dataclass(frozen=True, repr=False)
class Strides(Displayable):
    """Copies in which reading or writing has a stride: the GB/s used, by name and stride."""

    recording: recordings.Recording


def recorded_strides() -> Strides:
    """Return how many times as long a GPU took for copies with a stride as for those without."""
    return Strides(recordings.read(recordings.FOLDER / "18_strides.json"))


@page_of.register
def _page(shown: Strides) -> Page:
    lines = shown.recording.data["lines"]
    reading, writing = (
        {int(stride): rate for stride, rate in lines[name]} for name in ("reading", "writing")
    )
    head = (
        say("stride"),
        say("reading: bytes, by sectors"),
        say("time, measured"),
        say("writing: bytes, by sectors"),
        say("bytes, if read first"),
        say("time, measured"),
    )
    rows = []
    for stride in reading:
        sectors = min(stride, 8)  # a sector has 8 numbers of float32
        rule = written((sectors + 1) / 2)
        with_reading = written((2 * sectors + 1) / 2 if stride > 1 else 1)
        took = [f"{line[1] / line[stride]:.1f}" for line in (reading, writing)]
        rows.append((f"{stride:g}", rule, took[0], rule, with_reading, took[1]))
    table = Table(tuple(map(translate, head)), tuple(rows), tuple(map(translate, head)))
    return Page((str(shown.recording), table))
