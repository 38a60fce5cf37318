"""The reference of the public names: pages made of signatures and docstrings."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from docs_markdown import docstring, page, plain
from msgspec import Struct

import jupyter_mlgpu

#: By the page's name: its title, what stands above, and names as `module:name`. A module alone stands for all
#: of its public names.
PAGES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "package": (
        "jupyter_mlgpu",
        "What `import jupyter_mlgpu` provides. It imports no framework.",
        tuple(
            f"jupyter_mlgpu:{name}" for name in jupyter_mlgpu.__all__ if name not in {"__version__", "bench"}
        ),
    ),
    "data": (
        "Records and other results",
        "What the functions and magics return.",
        (
            "jupyter_mlgpu.record.frames:Records",
            *(
                f"jupyter_mlgpu.record.record:{name}"
                for name in (
                    "Record",
                    "Reading",
                    "DeviceUse",
                    "RanOn",
                    "Run",
                    "Cell",
                    "LogLine",
                    "OpStat",
                    "Fact",
                )
            ),
            "jupyter_mlgpu.record.limit:Limit",
            "jupyter_mlgpu.record.limit:HotLine",
            "jupyter_mlgpu.measure.tracing:TracedBlock",
            "jupyter_mlgpu.explain.comparing.compare:RecordComparison",
            "jupyter_mlgpu.explain.comparing.compare:Change",
            "jupyter_mlgpu.explain.memory_forecast:Forecast",
            "jupyter_mlgpu.graphs.planning.forecast:Plan",
            "jupyter_mlgpu.graphs.planning.forecast:Fallback",
            "jupyter_mlgpu.graphs.planning.forecast:Subgraph",
            "jupyter_mlgpu.experiment.race.result:RaceResult",
            "jupyter_mlgpu.experiment.race.result:Lane",
            "jupyter_mlgpu.experiment.race.result:Timing",
            "jupyter_mlgpu.explain.engines.collection:Collection",
            "jupyter_mlgpu.show.doctor.page:DiagnosisPage",
            "jupyter_mlgpu.explain.doctor.diagnose:CheckResult",
        ),
    ),
    "bench": (
        "jupyter_mlgpu.bench",
        "Benchmarks. The package itself can be called: `jupyter_mlgpu.bench(...)`.",
        (
            "jupyter_mlgpu.bench:bench",
            "jupyter_mlgpu.experiment.bench.run:BenchRun",
            "jupyter_mlgpu.experiment.bench.result:CaseResult",
            "jupyter_mlgpu.experiment.bench.quantity:Quantity",
            "jupyter_mlgpu.experiment.bench.against:Against",
            "jupyter_mlgpu.experiment.bench.against:Row",
        ),
    ),
    "lessons": (
        "jupyter_mlgpu.lessons",
        "What the lesson notebooks and the labs import.",
        ("jupyter_mlgpu.lessons",),
    ),
    "mlcompute": (
        "jupyter_mlgpu.mlcompute",
        "A static graph to learn from; [how to use it](../mlcompute.md).",
        ("jupyter_mlgpu.mlcompute",),
    ),
    "errors": (
        "jupyter_mlgpu.record.errors",
        "Errors that are raised. A magic shows an error as one line, a command on standard error.",
        ("jupyter_mlgpu.record.errors",),
    ),
}


#: Left out of the index: signatures that name the other class of that name would lead to either.
_NOT_INDEXED = {"jupyter_mlgpu.explain.doctor.diagnose.CheckResult"}


def pages() -> dict[str, str]:
    """The pages of the reference made of docstrings, by their place in the site."""
    return {
        f"reference/{name}.md": page(f"# {title}", above, *map(described, names_of(listed)))
        for name, (title, above, listed) in PAGES.items()
    }


def names_of(listed: tuple[str, ...]) -> Iterator[str]:
    """Each name as `module:name`, those of whole modules one by one."""
    for one in listed:
        if ":" in one:
            yield one
        else:
            yield from (f"{one}:{name}" for name in public_names(importlib.import_module(one)))


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
    """What the comments `#: ...` above fields say."""
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
