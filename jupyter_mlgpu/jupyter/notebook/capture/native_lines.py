"""What a front end needs to fold a cell's native lines, and what only our own profiler brought of them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from jupyter_mlgpu.explain.logs.catalogue import Catalogue, Definition
from jupyter_mlgpu.record.native import NativeOutput, StreamLines
from jupyter_mlgpu.record.record import PROFILE_READ, Record

#: Verdicts of messages that ask for nothing.
_QUIET = ("harmless", "info")
#: The fact of a message that names a device.
_NAMES_A_DEVICE = "gpu_name"
#: Lines of ours that are told; nobody has more.
_MOST = 100


def annotate_native_output(record: Record, shown: Mapping[str, StreamLines]) -> Record:
    """The record with which lines of its output are native, and without those of a profiler of ours."""
    if not record.logs:
        return record
    known = Catalogue.load().definitions
    by_us = any(name.endswith(PROFILE_READ) for name in record.facts)
    logs, ours, quiet = [], [], []
    for line in record.logs:
        definition = known.get(line.id or "")
        if by_us and definition is not None and definition.profiler:
            ours.append(line.text)
            continue
        logs.append(line)
        if definition is not None and line.verdict in _QUIET:
            quiet.append(definition)
    native = NativeOutput(
        shown,
        families=tuple(sorted({one.path.parent.name for one in quiet if not _names_a_device(one)})),
        naming_devices=tuple(sorted({one.id for one in quiet if _names_a_device(one)})),
        ours=tuple(ours[:_MOST]),
    )
    return replace(record, logs=tuple(logs), native=native if shown else None)


def annotate_again(record: Record) -> Record:
    """The same once more, of a record that has all its lines now."""
    return annotate_native_output(record, record.native.streams if record.native else {})


def _names_a_device(definition: Definition) -> bool:
    return _NAMES_A_DEVICE in definition.tables.get("facts", {})
