"""Describes a cell's native lines for front ends that fold them, and drops those of our own profiler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from jupyter_mlgpu.record.native import NativeOutput, StreamLines
from jupyter_mlgpu.record.record import PROFILE_READ, Record

if TYPE_CHECKING:
    from jupyter_mlgpu.explain.logs.catalogue import Definition

#: Verdicts of messages that need no action.
_QUIET = ("harmless", "info")
#: A fact of messages that name a device.
_NAMES_A_DEVICE = "gpu_name"
#: Most lines of our profiler that are passed on; no known run has more.
_MOST = 100


def annotate_native_output(record: Record, streams: Mapping[str, StreamLines]) -> Record:
    """Return the record with the places of its native lines, and without the lines of our own profiler."""
    if not record.logs:
        return record
    from jupyter_mlgpu.explain.logs.catalogue import Catalogue  # few cells have native lines

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
        streams,
        families=tuple(
            sorted({message.path.parent.name for message in quiet if not _names_a_device(message)})
        ),
        naming_devices=tuple(sorted({message.id for message in quiet if _names_a_device(message)})),
        ours=tuple(ours[:_MOST]),
    )
    return replace(record, logs=tuple(logs), native=native if streams else None)


def annotate_again(record: Record) -> Record:
    """Return the record annotated again after all its lines were read."""
    return annotate_native_output(record, record.native.streams if record.native else {})


def _names_a_device(definition: Definition) -> bool:
    return _NAMES_A_DEVICE in definition.tables.get("facts", {})
