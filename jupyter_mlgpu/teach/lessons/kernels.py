"""`simulate`: runs a kernel, written as a Python function of one thread, and counts what its warps move.

The model is the rule of NVIDIA's CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory": an
access of a warp is served with as many transactions as it touches sectors of 32 bytes. The model has no
caches and no clock, so all counts are exact and nothing is measured.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.simulations import Access, Simulation

#: Threads of a warp.
WARP = 32


class Thread(NamedTuple):
    """A thread: its number in its block, the block's number, and how many threads a block has."""

    number: int
    block: int
    threads: int


class _Memory:
    """An array of global memory, which begins at a sector: each access is counted."""

    def __init__(self, name: str, run: _Run) -> None:
        self._name, self._run = name, run

    def __len__(self) -> int:
        return len(self._run.made.arrays[self._name])

    def __getitem__(self, place: int) -> Any:
        self._run.made.reads += 1
        if not self._run.access(self._name, place, len(self)):
            return float("nan")
        return self._run.made.arrays[self._name][place]

    def __setitem__(self, place: int, value: Any) -> None:
        self._run.made.writes += 1
        if self._run.access(self._name, place, len(self)):
            self._run.made.arrays[self._name][place] = value


class _Shared:
    """An array of a block's shared memory, without a value until a thread writes one."""

    def __init__(self, name: str, length: int, run: _Run) -> None:
        self._name, self._numbers, self._run = name, [float("nan")] * length, run

    def __getitem__(self, place: int) -> float:
        self._run.made.shared_reads += 1
        self._run.readers[self._name, place].add(self._run.thread.number)
        return self._numbers[place]

    def __setitem__(self, place: int, value: float) -> None:
        self._run.writers[self._name, place].add(self._run.thread.number)
        self._numbers[place] = value


class _Run:
    """The accesses of a block between two barriers, and the errors found in them."""

    def __init__(self, made: Simulation) -> None:
        self.made = made
        self.thread = Thread(0, 0, made.threads)
        self._stage = 0
        self.next_stage()

    def next_stage(self) -> None:
        """Begin to count accesses, readers and writers anew."""
        self._stage += 1
        self._before: defaultdict[Thread, int] = defaultdict(int)
        self.readers: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
        self.writers: defaultdict[tuple[str, int], set[int]] = defaultdict(set)

    def access(self, array: str, place: int, length: int) -> bool:
        """Count an access of global memory; returns whether the array has that place."""
        thread = self.thread
        key = Access(thread.block, thread.number // WARP, (self._stage, self._before[thread]), array)
        self._before[thread] += 1
        if not 0 <= place < length:
            self.made.warnings.append(
                say(
                    "Thread {thread} of block {block} accesses {array}[{place}]; the last place is {last}.",
                    thread=str(thread.number),
                    block=str(thread.block),
                    array=array,
                    place=str(place),
                    last=str(length - 1),
                )
            )
            return False
        self.made.accesses[key][thread.number] = place
        return True

    def report_races(self) -> None:
        """Report cells that one thread writes and another reads or writes, with no barrier between them."""
        for (array, place), writers in self.writers.items():
            others = self.readers[array, place] | writers
            if len(others) > 1:
                writer = min(writers)
                self.made.warnings.append(
                    say(
                        "A race: in block {block}, thread {writer} writes {array}[{place}], and thread "
                        "{other} uses it with no barrier in between.",
                        block=str(self.thread.block),
                        writer=str(writer),
                        array=array,
                        place=str(place),
                        other=str(min(others - {writer})),
                    )
                )


def simulate(
    kernel: Callable[[Thread, Any], Iterator[None] | None],
    *,
    blocks: int,
    threads: int,
    shared: Mapping[str, int] | None = None,
    backwards: bool = False,
    **arrays: Any,
) -> Simulation:
    """Run `kernel(thread, memory)` for each thread of each block, and return the counts.

    `memory` has the `arrays`, which are copied and seen as one long row each, and arrays of shared memory by
    their lengths. A `yield` in the kernel is a barrier. Between two barriers the threads run one after the
    other, from the last to the first if `backwards`.
    """
    import numpy as np

    made = Simulation(blocks, threads, {name: np.array(one).reshape(-1) for name, one in arrays.items()})
    run = _Run(made)
    order: Sequence[int] = range(threads)[:: -1 if backwards else 1]
    for block in range(blocks):
        memory = SimpleNamespace(**{name: _Memory(name, run) for name in made.arrays})
        vars(memory).update({name: _Shared(name, length, run) for name, length in (shared or {}).items()})
        running = {number: _started(kernel, Thread(number, block, threads), memory) for number in order}
        while running:
            for number in tuple(running):
                run.thread = Thread(number, block, threads)
                if next(running[number], "done") == "done":
                    del running[number]
            run.report_races()
            run.next_stage()
    return made


def _started(kernel: Callable[..., Any], thread: Thread, memory: Any) -> Iterator[None]:
    """Run the kernel from barrier to barrier."""
    if inspect.isgeneratorfunction(kernel):
        yield from kernel(thread, memory)
    else:
        kernel(thread, memory)
