"""What the kernel tells, as people read it: a sentence is its text, whatever it was made of."""

from typing import Any

from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import from_json


def receipt_as_read(data: Any) -> dict[str, Any]:
    """The record of a receipt with all its readings, as a kernel tells it, and with what was cut from it."""
    told: dict[str, Any] = as_read(Record.from_json(data).to_json())
    return told | {name: data[name] for name in ("cut",) if name in data}


def as_read(data: Any) -> Any:
    """JSON-ready data with the text of each sentence in its place."""
    if isinstance(data, dict):
        if "template" in data:
            return str(from_json(data))
        return {name: as_read(value) for name, value in data.items()}
    return [as_read(value) for value in data] if isinstance(data, list) else data
