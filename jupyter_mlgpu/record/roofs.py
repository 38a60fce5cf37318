"""The measured peak rates (roofs) of this machine, kept so that a cell can be compared with them.

A roof is the best rate of matrix products in one number type, or of memory traffic, that the package's
benchmark reached on one device with one version of one framework. A busy machine lowers a figure and nothing
raises it, so the higher one is kept, and none that something disturbed. They are stored in `roofs.json` in
the user's cache folder, which only the user can read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from jupyter_mlgpu.record import decoding, files, incoming
from jupyter_mlgpu.record.cachefolder import folder
from jupyter_mlgpu.record.decoding import Count, Name
from jupyter_mlgpu.record.errors import RecordError, UsageError
from jupyter_mlgpu.record.redact import redact
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.record.visible import visible_line

FILE = "roofs.json"
KIND = "jupyter_mlgpu roofs"
SCHEMA = 1
#: The `type` of a roof for memory traffic, in bytes a second.
MEMORY = "memory"
#: Most roofs in a file. Machines of a class that share a folder have some each, and the newest stay.
MOST = 1_000
_MOST_BYTES = 1_000_000

_Text = Annotated[str, Meta(max_length=200)]


class Roof(Struct, frozen=True):
    """The best rate that one device has reached.

    `machine` is the digest of the host's name that records have, `device` the package's short name (`gpu:0`),
    and `hardware` the maker's name. `rate` is in FLOP/s of products in `type`, or in bytes/s if `type` is
    `memory`. `case` says what was measured, `samples` how often, `measured_at` when (UTC). `version` is the
    framework's. `noisy`: something disturbed the benchmark. Earlier versions saved such figures, too.
    """

    machine: _Text
    framework: Name
    device: Name
    hardware: _Text | None
    type: Name
    rate: Annotated[float, Meta(gt=0, le=1e18)]
    samples: Count
    measured_at: _Text
    version: _Text
    case: _Text
    noisy: bool = False

    @property
    def key(self) -> tuple[str | None, ...]:
        """The fields that identify a roof."""
        return (self.machine, self.framework, self.device, self.hardware, self.type)


class _File(Struct, frozen=True):
    schema: int
    kind: str
    roofs: tuple[Roof, ...]


class Roofs:
    """The roofs that were read. `problem` is the reason if the file could not be used."""

    def __init__(self, roofs: Iterable[Roof] = (), problem: Sentence | None = None) -> None:
        self._roofs = {one.key: one for one in roofs}
        self.problem = problem

    def find(
        self, machine: str, framework: str, device: str, hardware: str | None, type_: str
    ) -> Roof | None:
        """Return the roof of products in this type (or of `MEMORY`), or None if none was measured."""
        return self._roofs.get((machine, framework, device, hardware, type_))

    def __iter__(self) -> Iterator[Roof]:
        return iter(self._roofs.values())


def path() -> Path:
    return folder() / FILE


def read() -> Roofs:
    """Return the stored roofs, or none with a sentence in `problem` if the file is damaged or foreign."""
    file = path()
    if not file.exists():
        return Roofs()
    try:
        data = incoming.read_json(file, most=_MOST_BYTES, what="a file of measured roofs")
        kind = data.get("kind") if isinstance(data, dict) else None
        if kind != KIND:
            raise RecordError("it is no file of measured roofs")
        decoding.check_schema(data, SCHEMA, "the file")
        return Roofs(one for one in decoding.decode(_File, data, "the file").roofs if not one.noisy)
    except (RecordError, UsageError) as error:
        why = redact(str(error).replace(visible_line(file.parent), ""))
        return Roofs(
            problem=say(
                "{file} in your cache folder is not used ({why}); `%mlc_bench --quick` writes a new one.",
                file=FILE,
                why=why,
            )
        )


def keep(measured: Sequence[Roof]) -> None:
    """Add roofs to the file, which is created if needed. Raises RecordError if it cannot be written."""
    if not measured:
        return
    known = {one.key: one for one in read()}
    for one in measured:
        old = known.pop(one.key, None)
        better = old is not None and old.version == one.version and old.rate > one.rate
        known[one.key] = old if old is not None and better else one
    data = _File(SCHEMA, KIND, tuple(known.values())[-MOST:])
    text = json.dumps(decoding.to_json(data), indent=1, ensure_ascii=False)
    files.write_atomically(path(), (text + "\n").encode(), follow=False, private=True)
