"""Checks of the catalogue of messages, by itself and against the messages that people saw.

Every file is checked (schema, languages, placeholders, patterns, examples). Every template of
tests/data/messages.jsonl is filled with random values, three times, and should get its verdict, or be argued
against in a message's file.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jupyter_mlgpu.explain.logs import catalogue as catalogues
from jupyter_mlgpu.explain.logs.catalogue import Catalogue, Definition, Explanation
from jupyter_mlgpu.explain.logs.parse import Message
from jupyter_mlgpu.explain.logs.stream import messages
from jupyter_mlgpu.explain.logs.template import placeholders

TEMPLATES = Path(__file__).parents[1] / "data" / "messages.jsonl"
FACTS = frozenset(
    [
        "gpu_name",
        "system_memory",
        "metal_cache_size",
        "gpu_memory",
        "compute_capability",
        "numa_nodes",
        "cudnn_version",
        "cuda_driver_version",
        "cuda_runtime_version",
        "cpu_instructions",
        "xla_platform",
        "ptxas_version",
        "fallback_operation",
        "fallback_subgraph",
        "fallback_node",
        "eligible_gpus",
        "missing_library",
        "allocator",
        "allocation_requested",
        "mps_allocated",
        "mps_limit",
    ]
)
SEEDS = (1, 2, 3)

_KEYS: Mapping[str, type] = {
    "patterns": list,
    "verdict": str,
    "versions": str,
    "references": list,
    "sources": list,
    "continues": list,
    "fold": bool,
    "profiler": bool,
    "examples": list,
    "disagreements": list,
    "facts": dict,
    **dict.fromkeys(catalogues.LANGUAGES, dict),
}
_REQUIRED = ("patterns", "verdict", "versions", "references", "examples", *catalogues.LANGUAGES)
_ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_SLOT = re.compile(r"\{\{|\}\}|\{([a-z]+)\}")


def messages_in(text: str, catalogue: Catalogue) -> list[tuple[Message, Explanation | None]]:
    """A text's messages, each with what the catalogue says of it."""
    return list(messages([text.encode()], catalogue))


def complaints(definition: Definition, catalogue: Catalogue) -> Iterator[str]:
    """Everything that is wrong with one file."""
    data = definition.tables
    yield from _complaints_of_schema(definition, data)
    fields = [set(pattern.slots) for pattern in definition.patterns]
    common = set.intersection(*fields)
    texts = [data.get(language, {}) for language in catalogues.LANGUAGES]
    for key in ("meaning", "advice"):
        used = [placeholders(str(text.get(key, ""))) for text in texts]
        if used[0] != used[1]:
            yield f"{key}: the languages have other fields: {used}"
        if not set.union(*used) <= common:
            yield f"{key}: {set.union(*used) - common} is not in every pattern"
    for key in ("patterns", "verdict", "sources", "continues", "fold", "profiler"):
        if key in data and list(data).index(key) > list(data).index("examples"):
            yield f"{key!r} should stand before `examples`: what comes after is not read at once"
    if not all(pattern.source for pattern in definition.continuing):
        yield "`continues` has an empty pattern"
    for name, text in data.get("facts", {}).items():
        if name not in FACTS:
            yield f"facts: {name!r} is no name of a fact"
        if not placeholders(text) <= set.union(*fields):
            yield f"facts.{name}: {text!r} names a field that no pattern has"
    for pattern in definition.patterns:
        if not pattern.words and not definition.sources:
            yield f"pattern {pattern.source!r} needs a word of 3 letters next to no slot, or `sources`"
    for example in data.get("examples", ()):
        yield from _complaints_of_example(example, definition, catalogue)


def _complaints_of_schema(definition: Definition, data: Mapping[str, Any]) -> Iterator[str]:
    if not _ID.fullmatch(definition.id):
        yield "the file's name should be lower case words with hyphens"
    for key, value in data.items():
        if key not in _KEYS:
            yield f"{key!r} is no key of a message"
        elif not isinstance(value, _KEYS[key]):
            yield f"{key!r} should be {_KEYS[key].__name__}"
        elif (
            isinstance(value, list) and key != "disagreements" and not all(isinstance(v, str) for v in value)
        ):
            yield f"{key!r} should hold texts"
        elif value in ("", [], {}):
            yield f"{key!r} is empty"
    for key in _REQUIRED:
        if key not in data:
            yield f"{key!r} is missing"
    if definition.verdict not in catalogues.VERDICTS:
        yield f"verdict {definition.verdict!r} should be one of {', '.join(catalogues.VERDICTS)}"
    if not 1 <= len(data.get("examples", ())) <= 4:
        yield "there should be 1 to 4 examples"
    for language in catalogues.LANGUAGES:
        table = data.get(language, {})
        for key in ("meaning", "advice"):
            text = table.get(key)
            if not isinstance(text, str) or not text.strip():
                yield f"[{language}] {key} is missing"
            elif bool(_CHINESE.search(text)) != (language == "zh"):
                yield f"[{language}] {key} is in the wrong language"
        if set(table) - {"meaning", "advice"}:
            yield f"[{language}] has other keys than meaning and advice"
    for argued in data.get("disagreements", ()):
        if not isinstance(argued, dict) or set(argued) != {"template", "because"}:
            yield "[[disagreements]] needs `template` and `because`"


def _complaints_of_example(example: str, definition: Definition, catalogue: Catalogue) -> Iterator[str]:
    all_of_it = [message for message, _ in messages_in(example, catalogue)]
    found = [[each.id for each in catalogue.explain_all(message)] for message in all_of_it]
    if len(found) != 1:
        yield f"example {example[:70]!r} is {len(found)} messages, not one: {[m.text for m in all_of_it]}"
    elif not found[0]:
        body, origin = all_of_it[0].body, all_of_it[0].origin
        yield f"example {example[:70]!r} is not matched: its body is {body!r}, from {origin}"
    elif found[0][0] != definition.id:
        yield f"example {example[:70]!r} is explained by {found[0]} (most literal characters first)"


def templates() -> list[dict[str, Any]]:
    """The messages that people saw, with slots."""
    return [json.loads(line) for line in TEMPLATES.read_text(encoding="utf-8").splitlines()]


def filled(template: str, chance: random.Random) -> str:
    """A template with fresh values in its slots."""
    date = f"{chance.randint(2017, 2026)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
    clock = f"{chance.randint(0, 23):02}:{chance.randint(0, 59):02}:{chance.randint(0, 59):02}"

    def value(found: re.Match[str]) -> str:
        if found[0] in ("{{", "}}"):
            return found[0][0]
        if found[1] == "ts":
            # Python's logging writes milliseconds after a comma, TensorFlow microseconds after a point.
            if template.startswith("WARNING:{ts}:"):
                return f"{date} {clock},{chance.randint(0, 999):03}"
            return f"{date} {clock}.{chance.randint(0, 999999):06}"
        values = {
            "clock": clock,
            "ptr": f"0x{chance.getrandbits(chance.choice((28, 40, 47))):x}",
            "home": chance.choice(("/home/ada", "/Users/grace.h", "/root", "/Users/李")),
            "bus": f"0000:{chance.randint(0, 255):02x}:{chance.randint(0, 31):02x}.0",
            "loc": str(chance.randint(1, 4000)),
            "float": f"{chance.uniform(0.01, 900):.{chance.randint(1, 3)}f}",
            "int": str(chance.randint(1, 99999)),
            "big": str(chance.randint(10_000, 99_999_999_999)),
        }
        return values[found[1]]

    return _SLOT.sub(value, template)


def verdict_of(text: str, catalogue: Catalogue) -> tuple[str, str | None]:
    """The verdict and id of a text's only, or last known, message; "unknown" and None for none."""
    known = [explanation for _, explanation in messages_in(text, catalogue) if explanation]
    last = known[-1] if known else None
    return (last.verdict, last.id) if last else ("unknown", None)


def disagreements(catalogue: Catalogue, seed: int) -> Iterator[tuple[dict[str, Any], str, str, str | None]]:
    """Each template that does not get its verdict: the template, its filled text, our verdict and id."""
    chance = random.Random(seed)
    for template in templates():
        text = filled(template["template"], chance)
        verdict, name = verdict_of(text, catalogue)
        if verdict != template["verdict"]:
            yield template, text, verdict, name


def argued(catalogue: Catalogue) -> dict[int, str]:
    """Template -> id of the message whose file argues for another verdict than the template's."""
    return {
        each["template"]: definition.id
        for definition in catalogue.definitions.values()
        for each in definition.tables.get("disagreements", ())
    }
