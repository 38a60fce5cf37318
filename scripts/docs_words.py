"""The reference of what one types and reads: magics, commands, the record's schema, the settings."""

from __future__ import annotations

import argparse
import inspect
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from docs_markdown import code, fence, magic_help, page, plain, table

from constraints import ROOT
from jupyter_mlgpu.jupyter import cli
from jupyter_mlgpu.jupyter.notebook.magics.magics import MlgpuMagics

#: How wide the help of a command is, in characters.
_WIDTH = 100
_SETTINGS = ROOT / "labextension" / "schema" / "sidebar.json"
_SCHEMA = ROOT / "jupyter_mlgpu" / "record" / "record.schema.json"


def pages() -> dict[str, str]:
    """The pages, by their place in the site."""
    return {
        "reference/magics.md": magics(),
        "reference/commands.md": commands(),
        "reference/record.md": record(),
        "reference/settings.md": settings(),
    }


def magics() -> str:
    """Every magic with the help that `%NAME?` shows."""
    parts = []
    for name, kinds in magic_names().items():
        help_text = inspect.cleandoc(getattr(MlgpuMagics, name).__doc__ or "")
        parts.append(page(f"({anchor(name)})=\n## {code(' and '.join(kinds))}", magic_help(help_text)))
    return page(
        "# Magics",
        "Available after `%load_ext jupyter_mlgpu`. In a notebook, a magic's name with a question mark "
        "(`%mlc_trace?`) shows the same help.",
        *parts,
    )


def anchor(magic: str) -> str:
    """The name of the place at which a magic is explained."""
    return f"magic-{magic.replace('_', '-')}"


def magic_names() -> dict[str, tuple[str, ...]]:
    """Each magic, and how it is written: `%name` for a line, `%%name` for a cell."""
    found: dict[str, tuple[str, ...]] = {}
    for kind, marks in (("line", "%"), ("cell", "%%")):
        for name in MlgpuMagics.magics[kind]:
            found[name] = (*found.get(name, ()), marks + name)
    return dict(sorted(found.items()))


def commands() -> str:
    """Every command of `jupyter mlgpu` with its help."""
    parts = [page(f"(command-{name})=\n## jupyter mlgpu {name}", *_helps(name)) for name in cli.COMMANDS]
    rows = [(f"[{name}](#command-{name})", plain(what)) for name, what in cli.COMMANDS.items()]
    return page(
        "# Commands",
        "`jupyter mlgpu COMMAND`, or `jupyter-mlgpu COMMAND`; add `--help` for the text shown here. "
        "In a checkout set up by `make`, they are in `.venv/bin`.",
        plain((cli.__doc__ or "").partition("\n\n")[2]),
        table(("command", "does"), rows),
        *parts,
    )


def _helps(name: str) -> Iterator[str]:
    with _columns(_WIDTH):
        parser = cli.command_parser(name)
        yield fence(parser.format_help())
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for below, one in action.choices.items():
                    yield f"### jupyter mlgpu {name} {below}"
                    yield fence(one.format_help())


@contextmanager
def _columns(width: int) -> Iterator[None]:
    """argparse takes the width of its help from here."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(width)
    try:
        yield
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


def record() -> str:
    """The record's schema as tables, and as it stands."""
    text = _SCHEMA.read_text(encoding="utf-8")
    schema = json.loads(text)
    rows = [(code(name), kind, plain(about)) for name, kind, about in _fields(schema, "", schema["$defs"])]
    return page(
        "# The record",
        "A records file (`%mlc_trace save`, `jupyter mlgpu run`) has one JSON object per line, in UTF-8. "
        "Times are in seconds, sizes in bytes, energies in joules.",
        plain(schema["description"]),
        "`a[]` is each entry of a list, `a.*` each value of an object with arbitrary keys.",
        table(("field", "type", "meaning"), rows),
        "## The schema",
        fence(text, "json"),
    )


def _fields(schema: dict[str, Any], above: str, parts: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    required = set(schema.get("required", ()))
    for name, field in schema.get("properties", {}).items():
        path, one = f"{above}{name}", _whole(field, parts)
        about = one.get("description", "") + ("" if name in required else " May be absent.")
        yield path, _kind(one), about.strip()
        yield from _fields(one, f"{path}.", parts)
        for inside, mark in (("items", "[]."), ("additionalProperties", ".*.")):
            if isinstance(found := one.get(inside), dict):
                yield from _fields(_whole(found, parts), f"{path}{mark}", parts)


def _whole(schema: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    """A schema with what it refers to in its place; of several, such as one or null, all in one."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return {"type": "sentence"} if name == "Sentence" else parts[name]
    several = [_whole(one, parts) for one in schema.get("anyOf", ())]
    kinds = [one.get("type", _kind(one)) for one in several]
    return {**{key: value for one in several for key, value in one.items()}, **schema} | (
        {"type": kinds} if kinds else {}
    )


def _kind(schema: dict[str, Any]) -> str:
    if "const" in schema:
        return f"always {code(json.dumps(schema['const']))}"
    if "enum" in schema:
        return ", ".join(code(json.dumps(one)) for one in schema["enum"])
    kinds = schema.get("type", "any")
    return " or ".join([kinds] if isinstance(kinds, str) else kinds)


def settings() -> str:
    """The settings and keys of JupyterLab's extension."""
    schema = json.loads(_SETTINGS.read_text(encoding="utf-8"))
    rows = []
    for name, one in schema["properties"].items():
        default = code(json.dumps(one["default"]))
        rows.append((code(name), plain(one["title"]), _choices(one), default, plain(one["description"])))
    keys = [(code(one["command"]), " ".join(one["keys"])) for one in schema["jupyter.lab.shortcuts"]]
    return page(
        "# Settings",
        f"In JupyterLab under Settings > Settings Editor > {schema['title']}. {schema['description']}",
        table(("setting", "title", "values", "default", "note"), rows),
        "## Keys",
        "Press them one after another, while a cell is selected and not being edited.",
        table(("command", "keys"), keys),
    )


def _choices(schema: dict[str, Any]) -> str:
    if "oneOf" in schema:
        return ", ".join(f"{code(one['const'])} ({plain(one['title'])})" for one in schema["oneOf"])
    if "maximum" in schema:
        return f"{schema['minimum']} to {schema['maximum']}"
    return _kind(schema)
