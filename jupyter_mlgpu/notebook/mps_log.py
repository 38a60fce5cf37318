"""What PyTorch prints of its work on a Mac's GPU in a profiled cell, in that cell's record."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from jupyter_mlgpu.record import Record

if TYPE_CHECKING:
    from jupyter_mlgpu.logs.capture import Capture

_VARIABLE = "PYTORCH_MPS_LOG_PROFILE_INFO"


def with_mps_log(record: Record, capture: Capture, environ: Mapping[str, str] = os.environ) -> Record:
    """The record with the operations that PyTorch's MPS log tells; as it was where that is not asked for.

    It is asked for by `--ops` over the cell and by the variable. Called when the cell's lines were read.
    """
    if record.mode != "profiled" or not environ.get(_VARIABLE) or "torch" not in record.versions:
        return record
    try:
        return _with_rows(record, capture, environ)
    except Exception as error:  # the record is worth more than this table
        return record.with_note(f"PyTorch's MPS log of this cell could not be read ({error!r}).")


def _with_rows(record: Record, capture: Capture, environ: Mapping[str, str]) -> Record:
    from jupyter_mlgpu.logs import mps_profile  # seldom asked for

    texts = []
    for _, stream, data, gone in capture.raw(record.cell.sequence):
        if stream == "stderr":
            texts.append(data.decode(errors="replace"))
            if gone:
                record = record.with_note(
                    f"The first {gone:,} bytes of this cell's native lines were let go: the operations of "
                    "PyTorch's MPS log are of the others."
                )
    seen = mps_profile.read((line for text in texts for line in text.splitlines()), environ)
    for note in seen.notes:
        record = record.with_note(note)
    return replace(record, ops=(*seen.ops, *record.ops))
