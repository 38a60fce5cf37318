"""What the kernel tells, as people read it: a sentence is its text, whatever it was made of."""

from typing import Any

from jupyter_mlgpu.record.sentence import from_json


def as_read(data: Any) -> Any:
    """JSON-ready data with the text of each sentence in its place."""
    if isinstance(data, dict):
        if "template" in data:
            return str(from_json(data))
        return {name: as_read(value) for name, value in data.items()}
    return [as_read(value) for value in data] if isinstance(data, list) else data
