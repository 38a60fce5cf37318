"""Pages of the documentation that are made of what the package says of itself, in MyST's Markdown.

The reference has the public names with their docstrings, the magics, the commands, the record's schema and
the settings. Troubleshooting has every message of the catalogue and every check of the doctor, in English and
Chinese: a message with the first example that was really printed, a check with a finding that it makes of a
reported fault, one of those in tests/explain/doctor/broken.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import inspect
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from types import ModuleType
from typing import Any

from msgspec import Struct
from tracked import tracked

from constraints import ROOT
from jupyter_mlgpu.explain.doctor.check import Check
from jupyter_mlgpu.explain.doctor.diagnose import CheckResult, diagnose, find_checks
from jupyter_mlgpu.explain.logs.catalogue import VERDICTS, Catalogue, Definition
from jupyter_mlgpu.explain.logs.stream import messages as messages_of
from jupyter_mlgpu.jupyter import cli
from jupyter_mlgpu.jupyter.notebook.magics.magics import MlgpuMagics
from jupyter_mlgpu.record.translation import translated
from tests.explain.doctor.conftest import changed

#: By the page's name: its title, what stands above, and modules and their public names. A module alone stands
#: for all of its own.
PAGES: Mapping[str, Any] = tomllib.loads((ROOT / "docs" / "_reference.toml").read_text(encoding="utf-8"))
#: Left out of the index: signatures that name the other class of that name would lead to either.
_NOT_INDEXED = {"jupyter_mlgpu.explain.doctor.diagnose.CheckResult"}


def pages() -> dict[str, str]:
    """Return every page by its place in the site."""
    found = {
        f"reference/{name}.md": page(f"# {one['title']}", one["above"], *map(described, names_of(one)))
        for name, one in PAGES.items()
    }
    found |= {
        "reference/magics.md": magics(),
        "reference/commands.md": commands(),
        "reference/record.md": record(),
        "reference/settings.md": settings(),
    }
    for language, folder in (("en", "troubleshooting"), ("zh", "zh/troubleshooting")):
        definitions = by_family()
        found[f"{folder}/messages.md"] = _messages(language, definitions)
        found[f"{folder}/doctor.md"] = doctor(language)
        for family, members in definitions.items():
            found[f"{folder}/messages-{family}.md"] = _family(language, family, members)
    return found


def names_of(listed: Mapping[str, Any]) -> Iterator[str]:
    """Return each name of a page as `module:name`."""
    for module, names in listed["names"].items():
        yield from (f"{module}:{name}" for name in names or public_names(importlib.import_module(module)))


def public_names(module: ModuleType) -> list[str]:
    """Those of `__all__`, modules last; without it, our own classes and functions without an underscore.

    A class that has a name of small letters as well, as `graph` for Graph, goes by that.
    """
    if hasattr(module, "__all__"):
        return sorted(module.__all__, key=lambda name: isinstance(getattr(module, name), ModuleType))
    own = {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and callable(value)
        and getattr(value, "__module__", "").startswith("jupyter_mlgpu")
    }
    small = {id(value) for name, value in own.items() if name.islower()}
    return [name for name, value in own.items() if name.islower() or id(value) not in small]


def described(name: str) -> str:
    """A directive that describes a function, class or module; names with a colon, as in PAGES."""
    module, _, attribute = name.partition(":")
    value = getattr(importlib.import_module(module), attribute)
    # Where it is imported from: what jupyter_mlgpu gives is named so, wherever it is written.
    full = f"{module}.{attribute}"
    if isinstance(value, ModuleType):
        return _module(value, full)
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, BaseException) else "class"
        return _directive(kind, f"{full}{_signature(value)}", _doc(value), list(_members(value)))
    return _directive("function", f"{full}{_signature(value)}", _doc(value), [])


def _module(module: ModuleType, full: str) -> str:
    """A module and its functions; after it, names are whole ones again."""
    inside = [described(f"{module.__name__}:{name}") for name in _own_names(module)]
    begin = f"## {full}\n\n```{{py:module}} {full}\n```\n\n```{{py:currentmodule}} None\n```"
    return "\n\n".join([begin, docstring(inspect.cleandoc(module.__doc__ or "")), *inside])


def _own_names(module: ModuleType) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and inspect.isfunction(value)
        and value.__module__.startswith(module.__name__)
    ]


def _directive(kind: str, head: str, doc: str | None, inside: list[str]) -> str:
    colons = ":" * (3 + max((len(run) for one in inside for run in re.findall(r"^:+", one, re.M)), default=0))
    body = "\n\n".join([docstring(inspect.cleandoc(doc or "")), *inside]).strip("\n")
    option = ":no-index:\n" if head.partition("(")[0] in _NOT_INDEXED else ""
    return f"{colons}{{py:{kind}}} {head}\n{option}\n{body}\n{colons}"


def _has_fields(owner: type) -> bool:
    return dataclasses.is_dataclass(owner) or issubclass(owner, Struct)


def _members(owner: type) -> Iterator[str]:
    """Fields, properties and methods that the class itself has, and that have no underscore in front."""
    comments = _comments(owner) if _has_fields(owner) else {}
    for name, annotation in owner.__annotations__.items() if _has_fields(owner) else ():
        if not name.startswith("_"):
            yield _field(name, str(annotation), comments.get(name, ""))
    for name, member in vars(owner).items():
        if name.startswith("_"):
            continue
        function = getattr(member, "__func__", member)
        if isinstance(member, property):
            yield _directive("property", name, _doc(member), [])
        elif inspect.isfunction(function):
            yield _directive("method", f"{name}{_signature(function, bound=True)}", _doc(function), [])


def _field(name: str, kind: str, about: str) -> str:
    return f":::{{py:attribute}} {name}\n:type: {kind}\n\n{plain(about)}\n:::"


def _comments(owner: type) -> dict[str, str]:
    """Return the text of the comments `#: ...` above fields, by field."""
    found: dict[str, str] = {}
    said: list[str] = []
    for line in inspect.getsource(owner).splitlines():
        if comment := re.match(r"\s*#: ?(.*)", line):
            said.append(comment[1])
        else:
            if said and (named := re.match(r"\s*(\w+):", line)):
                found[named[1]] = " ".join(said)
            said = []
    return found


def _doc(value: Any) -> str:
    """Its own docstring; a dataclass's made-up one is none."""
    doc = inspect.getdoc(value) or ""
    return "" if inspect.isclass(value) and doc.startswith(f"{value.__name__}(") else doc


class _Written:
    """An annotation as it stands in the source."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _signature(value: Any, *, bound: bool = False) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = [_written(one) for one in signature.parameters.values()]
    if bound and parameters and parameters[0].name in {"self", "cls"}:
        parameters = parameters[1:]
    gives = signature.return_annotation
    if isinstance(gives, str):
        gives = _Written(gives)
    if inspect.isclass(value):
        gives = inspect.Signature.empty
    # Defaults that are functions or objects would show an address of this process.
    return re.sub(
        r"<(?:function|class|object)? ?'?([\w.]+)[^>]*>",
        r"\1",
        str(signature.replace(parameters=parameters, return_annotation=gives)),
    )


def _written(parameter: inspect.Parameter) -> inspect.Parameter:
    kind = parameter.annotation
    return parameter.replace(annotation=_Written(kind)) if isinstance(kind, str) else parameter


#: How wide the help of a command is, in characters.
_WIDTH = 98
_SETTINGS = ROOT / "labextension" / "schema" / "sidebar.json"
_SCHEMA = ROOT / "jupyter_mlgpu" / "record" / "record.schema.json"


def magics() -> str:
    """Return a page of every magic with the help that `%NAME?` shows."""
    parts = []
    for name, kinds in magic_names().items():
        help_text = inspect.cleandoc(getattr(MlgpuMagics, name).__doc__ or "")
        parts.append(page(f"({magic_anchor(name)})=\n## {code(' and '.join(kinds))}", magic_help(help_text)))
    return page(
        "# Magics",
        "Available after `%load_ext jupyter_mlgpu`. In a notebook, a magic's name with a question mark "
        "(`%mlc_trace?`) shows the same help.",
        *parts,
    )


def magic_anchor(magic: str) -> str:
    """Return the name of the place at which a magic is explained."""
    return f"magic-{magic.replace('_', '-')}"


def magic_names() -> dict[str, tuple[str, ...]]:
    """Return each magic with the ways to write it: `%name` for a line, `%%name` for a cell."""
    found: dict[str, tuple[str, ...]] = {}
    for kind, marks in (("line", "%"), ("cell", "%%")):
        for name in MlgpuMagics.magics[kind]:
            found[name] = (*found.get(name, ()), marks + name)
    return dict(sorted(found.items()))


def commands() -> str:
    """Return a page of every command of `jupyter mlgpu` with its help."""
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
    parser = cli.command_parser(name)
    yield _help(parser)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below, one in action.choices.items():
                yield f"### jupyter mlgpu {name} {below}"
                yield _help(one)


def _help(parser: argparse.ArgumentParser) -> str:
    parser.formatter_class = partial(parser.formatter_class, width=_WIDTH)  # type: ignore[call-arg]
    return fence(parser.format_help())


def record() -> str:
    """Return a page of the record's schema, as a table and as JSON."""
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
    """Return a page of the settings and keys of JupyterLab's extension."""
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


_DOCTOR = ROOT / "tests" / "explain" / "doctor"
_THREAD = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)")

#: What stands around the texts, by language, and the names of the families of messages.
WORDS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    (ROOT / "docs" / "_troubles.toml").read_text(encoding="utf-8")
)
FAMILIES = WORDS["families"]


def by_family() -> dict[str, list[Definition]]:
    """Return the catalogue's definitions by the folder they are in."""
    found: dict[str, list[Definition]] = {}
    for definition in Catalogue.load().definitions.values():
        found.setdefault(definition.path.parent.name, []).append(definition)
    return found


def anchor(kind: str, name: str, language: str) -> str:
    """The name of the place in the site at which a message (`log`) or a check (`check`) is explained."""
    return f"{kind}-{name}" if language == "en" else f"{kind}-{language}-{name}"


def _messages(language: str, definitions: Mapping[str, Sequence[Definition]]) -> str:
    words = WORDS[language]
    rows = [
        (f"[{FAMILIES[family]}](messages-{family}.md)", str(len(members)))
        for family, members in definitions.items()
    ]
    return page(
        f"# {words['title']}",
        words["above"],
        table((words["who"], words["count"]), rows),
        toctree(*(f"messages-{family}" for family in definitions), hidden=True),
    )


def _family(language: str, family: str, members: Sequence[Definition]) -> str:
    words = WORDS[language]
    parts = []
    for verdict in VERDICTS:
        of_it = [one for one in members if one.verdict == verdict]
        if of_it:
            parts += [f"## {words[verdict]}", *(_message(one, language) for one in of_it)]
    # Hundreds of messages stand on a page: beside it, only the verdicts are listed.
    return page("---\ntocdepth: 2\n---", f"# {words['family'].format(family=FAMILIES[family])}", *parts)


def _message(definition: Definition, language: str) -> str:
    words, tables = WORDS[language], definition.tables
    meaning, advice = _explained(definition, language)
    lines = [f"**{words['meaning']}:** {plain(meaning)}", f"**{words['advice']}:** {plain(advice)}"]
    if "versions" in tables:
        lines.append(f"**{words['versions']}:** {plain(tables['versions'])}")
    if tables.get("references"):
        lines.append(f"**{words['references']}:** {'; '.join(map(_source, tables['references']))}")
    return page(
        f"({anchor('log', definition.id, language)})=\n### {definition.id}",
        fence(tables["examples"][0], "none"),
        *lines,
    ).rstrip()


def _explained(definition: Definition, language: str) -> tuple[str, str]:
    """Meaning and advice, filled from the example that is shown; where it is not recognised, unfilled."""
    example = definition.tables["examples"][0].encode()
    for _, known in messages_of([example + b"\n"], Catalogue.load()):
        if known is not None and known.id == definition.id:
            return known.meaning(language), known.advice(language)
    texts = definition.tables[language]
    return tuple(re.sub(r"\{\w+\}", "{*}", texts[name]) for name in ("meaning", "advice"))  # type: ignore[return-value]


def _source(reference: str) -> str:
    """A source as a link, where it is a public thread or an address."""
    if reference.startswith("https://"):
        return f"<{reference}>"
    if thread := _THREAD.fullmatch(reference):
        return f"[{plain(reference)}](https://github.com/{thread[1]}/issues/{thread[2]})"
    return plain(reference)


def doctor(language: str) -> str:
    """Return a page of every check of the doctor, with a finding of each."""
    words = WORDS[language]
    parts = [_check(one, language) for one in find_checks() if isinstance(one, Check)]
    return page("---\ntocdepth: 1\n---", f"# {words['doctor']}", words["doctor_above"], *parts)


def _check(check: Check, language: str) -> str:
    words = WORDS[language]
    case, finding = findings()[check.id]
    about = check.about if language == "en" else ""
    sources = ", ".join(f"<{one}>" for one in case["sources"])
    said = [
        f"**{words['says']}:** {plain(translated(finding.title, language))}",
        f"**{words['how']}:** {plain(translated(finding.evidence, language))}",
        f"**{words['remedy']}:**",
        fence(finding.remedy or "", "shell"),
        f"**{words['sure']}:** {plain(translated(finding.confidence or '', language))}",
        f"**{words['reported']}:** {plain(case['reported'])} {sources}",
    ]
    return page(
        f"({anchor('check', check.id, language)})=\n## {code(check.id)}: "
        f"{plain(translated(check.title, language))}",
        plain(about),
        *said,
    ).rstrip()


@cache
def findings() -> dict[str, tuple[dict[str, Any], CheckResult]]:
    """Return for each check a fault of tests/explain/doctor/broken, and the doctor's first finding there."""
    found: dict[str, tuple[dict[str, Any], CheckResult]] = {}
    for path in tracked(_DOCTOR / "broken", "*.json"):
        case = json.loads(path.read_text(encoding="utf-8"))
        if case["expect"] not in found:
            found[case["expect"]] = case, diagnose(changed(case["machine"], case["changes"])).findings[0]
    return found


_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|!~$&@^%])")
#: What begins a list or a heading where it begins a line.
_BEGINS = re.compile(r"^(\d*)([-+=:]|(?<=\d)[.)])")
_LISTED = re.compile(r"^(\s*)[*-] (.*)$")


def plain(text: str) -> str:
    """A text in which nothing is markup but `code` between backticks; one paragraph of it."""
    text = " ".join(text.split())
    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts += [_escaped(text[end : code.start()]), code.group()]
        end = code.end()
    return _BEGINS.sub(r"\1\\\2", "".join([*parts, _escaped(text[end:])]))


def code(text: str) -> str:
    """A short text as code within a line, whatever it holds."""
    text = " ".join(text.split())
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if "`" in (text[:1], text[-1:]) else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def fence(text: str, language: str = "text") -> str:
    """A block of code, whatever it holds."""
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its cells are Markdown of one line."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(_celled(cell) for cell in line)} |" for line in lines)


def page(*blocks: str) -> str:
    """Blocks as the text of a page, those that are empty left out."""
    return "\n\n".join(block for block in blocks if block) + "\n"


def toctree(*entries: str, hidden: bool = False) -> str:
    """The pages below this one, in order."""
    lines = ["```{toctree}", ":maxdepth: 1", *([":hidden:"] if hidden else []), "", *entries, "```"]
    return "\n".join(lines)


def docstring(text: str) -> str:
    """A docstring of this project as Markdown: prose, lists, examples, indented code."""
    return "\n\n".join(map(_block, blocks(text)))


def magic_help(text: str) -> str:
    """A magic's help: lines that show what to type, and prose between them."""
    return "\n\n".join(fence(one) if one.lstrip().startswith("%") else _block(one) for one in blocks(text))


def blocks(text: str) -> Iterator[str]:
    """The paragraphs of a cleaned docstring; indented ones that follow each other are one."""
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        if found and _indented(paragraph) and _indented(found[-1]):
            found[-1] += "\n\n" + paragraph
        elif paragraph.strip():
            found.append(paragraph)
    return iter(found)


def _block(paragraph: str) -> str:
    lines = paragraph.splitlines()
    if lines[0].lstrip().startswith(">>>"):
        return fence(_dedented(lines), "pycon")
    if _indented(paragraph):
        body = _dedented(lines)
        return fence(body, "text" if body.startswith("%") else "python")
    if any(_LISTED.match(line) for line in lines):
        return "\n".join(_listed(lines))
    return plain(paragraph)


def _listed(lines: Sequence[str]) -> Iterator[str]:
    items: list[str] = []
    for line in lines:
        match = _LISTED.match(line)
        if match or not items:
            items.append(match[2] if match else line)
            if not match:  # what stands before the first item
                yield plain(items.pop())
                yield ""
        else:
            items[-1] += " " + line.strip()
    yield from (f"* {plain(item)}" for item in items)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _celled(cell: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(cell.split()))


def _indented(paragraph: str) -> bool:
    return all(line.startswith("    ") for line in paragraph.splitlines() if line.strip())


def _dedented(lines: Sequence[str]) -> str:
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:].rstrip() for line in lines)
