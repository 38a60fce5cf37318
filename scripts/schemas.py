"""Writes what others know of our data, as the package has it: the JSON schemas of a record, of a benchmark
and of what the doctor finds, and for the browser the readers of what it is sent. `make schemas` runs it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import readers

from jupyter_mlgpu.experiment.bench import run
from jupyter_mlgpu.experiment.bench.result import DERIVED
from jupyter_mlgpu.explain.doctor import diagnose
from jupyter_mlgpu.record.not_measured import Saved
from jupyter_mlgpu.record.quantities import QUANTITIES
from jupyter_mlgpu.record.record import SCHEMA, Record
from jupyter_mlgpu.record.sentence import Sentence

PACKAGE = Path(__file__).resolve().parent.parent / "jupyter_mlgpu"
RECORD = PACKAGE / "record" / "record.schema.json"
BENCH = PACKAGE / "experiment" / "bench" / "bench.schema.json"
DOCTOR = PACKAGE / "explain" / "doctor" / "doctor.schema.json"
BROWSER = PACKAGE.parent / "labextension" / "src"
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


# A finding has lines for a shell, and how sure it is; nothing else has the second.
_REMEDY_OF_A_FINDING = {
    "if": {"properties": {"status": {"const": "finding"}}},
    "then": {"properties": {"remedy": {"type": "string", "minLength": 1}, "confidence": {"type": "string"}}},
    "else": {"properties": {"confidence": {"type": "null"}}},
}


def record_schema() -> dict[str, Any]:
    """The schema of a record."""
    record, parts = _schema_of(Record)
    saved, more = _schema_of(Saved)
    record["properties"] |= saved["properties"]
    parts |= more
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
    comment = "One object a line of a records file; keys that a reader does not know are ignored."
    return _schema(f"jupyter_mlgpu record, schema {SCHEMA}", comment, record, parts)


def bench_schema() -> dict[str, Any]:
    """The schema of what `jupyter mlgpu bench --out` writes: every key is there."""
    bench, parts = _schema_of(run.BenchRun)
    parts["Quantity"]["oneOf"] = _VALUE_OR_REASON
    parts["CaseResult"]["properties"]["derived"] = {
        "description": "What follows from the samples, for who reads the file.",
        "properties": {
            "label": {"type": "string"},
            "interval": {"type": ["array", "null"], "items": {"type": "number"}},
            "spread_name": {"type": "string"},
            **{name: {"$ref": "#/$defs/Quantity"} for name in DERIVED},
        },
    }
    bench["properties"] = {
        "schema": {"const": run.SCHEMA},
        "kind": {"const": run.KIND},
        **bench["properties"],
    }
    for part in (bench, *parts.values(), parts["CaseResult"]["properties"]["derived"]):
        part |= {"type": "object", "required": list(part["properties"]), "additionalProperties": False}
    comment = "Times are seconds a step; a figure that is not known is null, with the reason."
    return _schema(f"jupyter_mlgpu bench, schema {run.SCHEMA}", comment, bench, parts)


def doctor_schema() -> dict[str, Any]:
    """The schema of what `jupyter mlgpu doctor --json` prints."""
    result, parts = _schema_of(diagnose.CheckResult)
    result["properties"]["id"]["pattern"] = "^[a-z0-9]+(-[a-z0-9]+)*$"
    result |= {"required": list(result["properties"]), "allOf": [_REMEDY_OF_A_FINDING]}
    whole = {
        "type": "object",
        "required": ["schema", "checks"],
        "properties": {
            "schema": {"const": diagnose.SCHEMA},
            "checks": {"type": "array", "items": {"$ref": "#/$defs/CheckResult"}},
        },
    }
    comment = "Findings first, causes before what follows from them; unknown keys are ignored."
    title = f"jupyter_mlgpu doctor, schema {diagnose.SCHEMA}"
    return _schema(title, comment, whole, {"CheckResult": result, **parts})


def _schema_of(kind: type) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema of a type, and of its parts by their names."""
    _, parts = msgspec.json.schema_components([kind], schema_hook=_of_ours, ref_template="#/$defs/{name}")
    return parts.pop(kind.__name__), parts


def _schema(title: str, comment: str, whole: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = _plain(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **whole,
            "title": title,
            "$comment": comment,
            "$defs": {**parts, "Sentence": _SENTENCE},
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
    """Write all of it."""
    for path, text in readers.written():
        path.write_text(text, encoding="utf-8")
    for path, schema in ((RECORD, record_schema()), (BENCH, bench_schema()), (DOCTOR, doctor_schema())):
        path.write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
