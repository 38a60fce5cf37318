"""Writes what others know of our data, as the package has it: the JSON schemas of a record, of a benchmark
and of what the doctor finds, and for the browser the page's types.
`make schemas` runs it.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from jupyter_mlgpu.experiment.bench import run
from jupyter_mlgpu.experiment.bench.result import DERIVED
from jupyter_mlgpu.explain.doctor import diagnose
from jupyter_mlgpu.record.reading import QUANTITIES
from jupyter_mlgpu.record.record import SCHEMA, Record
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.show.page import view
from jupyter_mlgpu.show.page.model import Live

PACKAGE = Path(__file__).resolve().parent.parent / "jupyter_mlgpu"
RECORD = PACKAGE / "record" / "record.schema.json"
BENCH = PACKAGE / "experiment" / "bench" / "bench.schema.json"
DOCTOR = PACKAGE / "explain" / "doctor" / "doctor.schema.json"
BROWSER = PACKAGE.parent / "labextension" / "src"
PAGE = BROWSER / "page" / "pagetypes.ts"
_PARTS = (view.PageData, view.TableData, view.ChartData, view.AxisData, view.SeriesData, view.RuleData, Live)
_SIMPLE = {str: "Sentence", float: "number", int: "number", bool: "boolean", NoneType: "null", Any: "unknown"}

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


def page_types() -> str:
    """The types of a page's data in TypeScript, by the names that they have in the browser."""
    made = [
        "/** What the kernel sends of a page. Made by scripts/schemas.py of the package's page/view.py. */",
        "import type { Sentence } from '../language/sentence';",
        *map(_interface, _PARTS),
    ]
    return "\n\n".join(made) + "\n"


def _interface(kind: type) -> str:
    hints = get_type_hints(kind)
    text = re.sub(r"\s+", " ", (kind.__doc__ or "").replace("`", "")).strip()
    lines = [f"  {_camel(one.name)}: {_typed(hints[one.name])};" for one in dataclasses.fields(kind)]
    return "\n".join([f"/** {text} */", f"export interface {_named(kind)} {{", *lines, "}"])


def _named(kind: type) -> str:
    return f"I{kind.__name__.removesuffix('Data')}"


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


def _typed(kind: Any) -> str:
    """A Python type in TypeScript; every text may be a sentence."""
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if dataclasses.is_dataclass(kind):
        return _named(kind)  # type: ignore[arg-type]
    inner = get_args(kind)
    if get_origin(kind) is Literal:
        return " | ".join(f"'{one}'" for one in inner)
    if get_origin(kind) is UnionType:
        return " | ".join(map(_typed, inner))
    if get_origin(kind) is Mapping:
        return f"Record<string, {_typed(inner[1])}>"
    if inner[-1] is not ...:
        return f"[{', '.join(map(_typed, inner))}]"
    item = _typed(inner[0])
    return f"({item})[]" if get_origin(inner[0]) in (UnionType, Literal) else f"{item}[]"


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
    PAGE.write_text(page_types(), encoding="utf-8")
    for path, schema in ((RECORD, record_schema()), (BENCH, bench_schema()), (DOCTOR, doctor_schema())):
        path.write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
