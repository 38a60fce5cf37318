"""Writes the JSON schemas of what the package saves, as its types have them; `make schemas` runs it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec

from jupyter_mlgpu.record import QUANTITIES, SCHEMA, Record
from jupyter_mlgpu.sentence import Sentence

PACKAGE = Path(__file__).resolve().parent.parent / "jupyter_mlgpu"
RECORD = PACKAGE / "record.schema.json"

_SENTENCE = {
    "description": "A sentence: a text, or what it was made of, so that it can be said in other languages.",
    "oneOf": [
        {"type": "string"},
        {
            "type": "object",
            "required": ["text", "template"],
            "properties": {
                "text": {"type": "string"},
                "template": {"type": "string"},
                "plural": {"type": "string"},
                "fields": {
                    "type": "object",
                    "additionalProperties": {
                        "anyOf": [{"type": ["string", "integer"]}, {"$ref": "#/$defs/Sentence"}]
                    },
                },
            },
        },
    ],
}
# What no single field tells: a reading has a value, or a reason why there is none.
_VALUE_OR_REASON = [
    {"required": ["value"], "properties": {"value": {"type": "number"}, "why_missing": {"type": "null"}}},
    {
        "required": ["why_missing"],
        "properties": {
            "value": {"type": "null"},
            "uncertainty": {"type": "null"},
            "why_missing": {"not": {"type": "null"}},
        },
    },
]


def record_schema() -> dict[str, Any]:
    """The schema of a record."""
    _, parts = msgspec.json.schema_components([Record], schema_hook=_of_ours, ref_template="#/$defs/{name}")
    record = parts.pop("Record")
    record["properties"] = (
        {"schema": {"const": SCHEMA}} | record["properties"] | {"schema": {"const": SCHEMA}}
    )
    record["properties"]["cut"] = {
        "description": "Only in a receipt cut to size: what was left out, and how many.",
        "type": "object",
        "additionalProperties": {"type": "integer"},
    }
    record["required"] = ["schema", *record["required"]]
    parts["Reading"]["oneOf"] = _VALUE_OR_REASON
    parts["Reading"]["properties"]["quantity"]["examples"] = list(QUANTITIES)
    parts["Sentence"] = _SENTENCE
    made: dict[str, Any] = _plain(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **record,
            "title": f"jupyter_mlgpu record, schema {SCHEMA}",
            "$comment": "One object a line of a records file; keys that a reader does not know are ignored.",
            "$defs": parts,
        }
    )
    return made


def _of_ours(kind: type) -> dict[str, Any]:
    if kind is Sentence:
        return {"$ref": "#/$defs/Sentence"}
    raise NotImplementedError(f"{kind} has no schema")


def _plain(value: Any) -> Any:
    """The same, descriptions without line ends."""
    if isinstance(value, dict):
        return {
            name: re.sub(r"\s+", " ", one) if name == "description" and isinstance(one, str) else _plain(one)
            for name, one in value.items()
        }
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def main() -> None:
    """Write them."""
    RECORD.write_text(json.dumps(record_schema(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
