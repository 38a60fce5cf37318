"""The sentences of a message: texts of the catalogue with {fields} in them, filled with what was printed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from jupyter_mlgpu.explain.logs.template import Value

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([a-z][a-z0-9_]*)\}")


def fill(text: str, fields: Mapping[str, Value]) -> str:
    """The text with {name} replaced by the fields' values."""
    if "{" not in text:
        return text
    return _PLACEHOLDER.sub(lambda found: str(fields[found[1]]) if found[1] else found[0][0], text)


def placeholders(text: str) -> set[str]:
    """The names of the fields in a text."""
    return {found[1] for found in _PLACEHOLDER.finditer(text) if found[1]}
