"""The result of `simulate`: what a kernel's warps moved, its arrays afterwards, and what went wrong."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from jupyter_mlgpu.record.displayable import Displayable
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.show.page.model import Page, Table
from jupyter_mlgpu.show.page.rendering import Drawing, page_of
from jupyter_mlgpu.teach.lessons import kernelmaps

#: Bytes of a sector.
SECTOR = 32
#: Warnings that are shown. A mistake in a kernel makes one for nearly every thread.
_SHOWN = 3


class Access(NamedTuple):
    """An access of a warp: the block, the warp there, how many accesses came before it, and the array."""

    block: int
    warp: int
    before: tuple[int, int]
    array: str


@dataclass(repr=False)
class Simulation(Displayable):
    """The counts of a run, its arrays afterwards, and what went wrong."""

    blocks: int
    threads: int
    arrays: dict[str, Any]
    reads: int = 0
    writes: int = 0
    shared_reads: int = 0
    warnings: list[Sentence] = field(default_factory=list)
    accesses: dict[Access, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    @property
    def sectors(self) -> int:
        """The sectors moved, with each access of a warp counted by itself."""
        return sum(len(self._sectors(one)) for one in self.accesses)

    @property
    def bytes_moved(self) -> int:
        """The bytes of these sectors."""
        return SECTOR * self.sectors

    @property
    def bytes_used(self) -> int:
        """The bytes among them that a thread asked for."""
        return sum(len(set(each.values())) * self._size(one) for one, each in self.accesses.items())

    def picture(self, array: str) -> Drawing:
        """Draw the first access of a warp to this array: the sectors moved, and who uses which number."""
        first = next(one for one in self.accesses if one.array == array)
        threads: dict[int, list[int]] = defaultdict(list)
        for thread, place in self.accesses[first].items():
            threads[place].append(thread)
        return kernelmaps.draw(array, self._sectors(first), SECTOR // self._size(first), threads)

    def _size(self, access: Access) -> int:
        size: int = self.arrays[access.array].itemsize
        return size

    def _sectors(self, access: Access) -> list[int]:
        return sorted({one * self._size(access) // SECTOR for one in self.accesses[access].values()})


@page_of.register
def _page(shown: Simulation) -> Page:
    moved, used = shown.bytes_moved, shown.bytes_used
    rows = [
        (say("numbers that threads read from global memory"), shown.reads),
        (say("numbers that they write to it"), shown.writes),
        (say("bytes moved for that, in sectors of 32"), moved),
        (say("bytes used of those"), used),
    ]
    if shown.shared_reads:
        rows.append((say("numbers read from shared memory"), shown.shared_reads))
    head = say(
        "Simulated, not measured: {blocks} blocks of {threads} threads.",
        blocks=str(shown.blocks),
        threads=str(shown.threads),
    )
    warnings = [translate(one) for one in shown.warnings[:_SHOWN]]
    if more := len(shown.warnings) - len(warnings):
        warnings.append(translate(say("And {count} more of these.", count=str(more))))
    table = Table((), tuple((translate(text), f"{count:,}") for text, count in rows))
    return Page((translate(head), table, *warnings))
