"""Advice that earlier runs of the same code have shown not to help, replaced by what may."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from jupyter_mlgpu.explain.limits.remedies import COMPILES_EACH_TIME
from jupyter_mlgpu.explain.limits.words import is_importing
from jupyter_mlgpu.record.record import Record


def advised_again(record: Record, runs: Iterable[Record]) -> Record:
    """The record, whose advice is not to run it again where an earlier run of the code compiled as well."""
    if record.limit is None or not _compiled(record):
        return record
    earlier = any(_compiled(one) for one in runs if one.cell.sequence < record.cell.sequence)
    return replace(record, limit=replace(record.limit, next=COMPILES_EACH_TIME)) if earlier else record


def _compiled(record: Record) -> bool:
    return record.limit is not None and record.limit.kind == "compiling" and not is_importing(record.limit)
