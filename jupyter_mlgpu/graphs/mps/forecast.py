"""Judges the operations of a traced step by the table of a PyTorch version."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cache
from importlib import metadata
from typing import Any, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from jupyter_mlgpu.graphs.mps import subjects
from jupyter_mlgpu.graphs.mps.traced import CodePlace, Phase, Traced, TracedOperation
from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record.displayable import Bundled
from jupyter_mlgpu.record.sentence import Sentence

Judgement = Literal["gpu", "composite", "fallback", "missing", "type", "wrong", "unknown"]

#: The order in which operations are listed: what stops a step comes first.
ORDER: tuple[Judgement, ...] = ("missing", "type", "wrong", "fallback", "unknown", "composite", "gpu")
#: Those that need no attention: a kernel of its own, or other operations, which are judged themselves.
FINE: frozenset[Judgement] = frozenset({"gpu", "composite"})


class Judged(Protocol):
    """A table's verdict on an operation: its `kind`, the `source` of it, and a `note`, which may be empty."""

    @property
    def kind(self) -> Judgement: ...
    @property
    def source(self) -> Sentence: ...
    @property
    def note(self) -> Sentence | None: ...


class VerdictTable(Protocol):
    """The operations of one PyTorch version."""

    def verdict(self, operation: str, dtypes: frozenset[str], ranks: frozenset[int] = ...) -> Judged: ...


class ForecastOperation(Struct, frozen=True):
    """One kind of operation with one judgement. `places` are its lines, in the order of the step."""

    operation: str
    judgement: Judgement
    source: Sentence
    note: Sentence
    changes: Sentence
    count: int
    phases: tuple[Phase, ...]
    dtypes: tuple[str, ...]
    places: tuple[CodePlace, ...]


class Around(Struct, frozen=True):
    """Lookups that a forecast needs beyond its own table: other versions' tables, and the cell of a line.

    `others` are the tables of other versions, by name. `changes` returns what versions changed for an
    operation, and `cell_of` the execution count of the cell that was compiled as a file.
    """

    others: tuple[tuple[str, VerdictTable], ...] = ()
    changes: Callable[[str], Sentence | None] = lambda operation: None
    cell_of: Callable[[str], int | None] = lambda file: None


class OtherVersion(Struct, frozen=True):
    """The operations of the step without a kernel in another version of PyTorch."""

    version: str
    missing: tuple[str, ...]


class MpsForecast(Bundled, Struct, frozen=True):
    """A forecast of where a step's operations run on a Mac. A notebook displays it as tables.

    `version` is that of the PyTorch whose operations were looked up.
    """

    subject: Sentence
    version: str
    operations: tuple[ForecastOperation, ...]
    others: tuple[OtherVersion, ...] = ()
    assumptions: tuple[Sentence, ...] = ()
    untraced: tuple[Sentence, ...] = ()

    @property
    def kinds(self) -> int:
        """The number of different operations."""
        return len({one.operation for one in self.operations})

    def of(self, judgement: Judgement) -> tuple[ForecastOperation, ...]:
        """Return the operations with a judgement, such as "missing", the most frequent first."""
        return tuple(one for one in self.operations if one.judgement == judgement)

    def summary(self) -> str:
        """Return the forecast in words."""
        return repr(self)

    def to_json(self) -> dict[str, Any]:
        """Return the forecast as JSON-ready data."""
        data = {name: getattr(self, name) for name in self.__struct_fields__}
        json_data: dict[str, Any] = decoding.to_json(data)
        return json_data


def judge(
    traced: Traced, table: VerdictTable, version: str, subject: Sentence, around: Around
) -> MpsForecast:
    """Return the forecast of a traced step by the table of a version."""
    found: dict[tuple[str, Judgement, Sentence], list[TracedOperation]] = defaultdict(list)
    notes: dict[tuple[str, Judgement, Sentence], Sentence] = {}
    for one, said in _visible(traced.operations, table):
        key = one.operation, said.kind, said.source
        found[key].append(one)
        notes[key] = said.note or Sentence("")
    operations = [
        ForecastOperation(
            operation,
            kind,
            source,
            notes[operation, kind, source],
            around.changes(operation) or Sentence(""),
            sum(one.count for one in traces),
            tuple(dict.fromkeys(one.phase for one in traces)),
            tuple(sorted(frozenset().union(*(one.dtypes for one in traces)))),
            tuple(dict.fromkeys(_in_cell(one.place, around) for one in traces)),
        )
        for (operation, kind, source), traces in found.items()
    ]
    operations.sort(key=lambda one: (ORDER.index(one.judgement), -one.count))
    elsewhere = tuple(OtherVersion(name, _missing(traced, other)) for name, other in around.others)
    return MpsForecast(subject, version, tuple(operations), elsewhere, traced.assumptions, traced.untraced)


def forecast(subject: Any, *inputs: Any) -> MpsForecast:
    """Forecast which operations of a PyTorch module or function have a kernel on a Mac's GPU.

    Nothing is computed, and no Mac is needed. A module with an input is planned as its forward pass, with a
    target to learn as its training step. A function is planned as it is, so it may be a whole training step
    of the user's own. Raises PlanError for what cannot be traced, and without PyTorch.
    """
    subjects.check(subject, inputs)
    from jupyter_mlgpu.graphs.mps import steps, tables
    from jupyter_mlgpu.graphs.mps.trace import trace
    from jupyter_mlgpu.measure.runtime import current

    inner = steps.unwrapped(subject)
    train = steps.is_module(inner) and steps.has_targets(inputs)
    name = steps.described(inner, train)
    traced = trace(inner, inputs, train=train)
    table = tables.load(metadata.version("torch"))
    if inner is not subject:
        traced = replace(traced, assumptions=(steps.left_out(subject), *traced.assumptions))
    if table.instead is not None:
        traced = replace(traced, assumptions=(table.instead, *traced.assumptions))
    others = tuple((one, tables.load(one)) for one in tables.versions() if one != table.version)
    around = Around(others, tables.changes, current().of_user)
    return judge(traced, table, table.version, name, around)


def _in_cell(place: CodePlace, around: Around) -> CodePlace:
    cell = around.cell_of(place.file) if place.file else None
    return replace(place, cell=cell) if cell else place


def _visible(
    operations: tuple[TracedOperation, ...], table: VerdictTable
) -> list[tuple[TracedOperation, Judged]]:
    """Return the operations with their verdicts, without those that another one hides.

    The code of a composite operation was traced whether or not this version has a kernel for it.
    """
    verdict = cache(table.verdict)  # a model has the same operation in each of its layers
    judged = [(one, verdict(one.operation, one.dtypes, one.ranks)) for one in operations]
    closed = {one.operation for one, said in judged if said.kind != "composite"}
    return [(one, said) for one, said in judged if one.within not in closed]


def _missing(traced: Traced, table: VerdictTable) -> tuple[str, ...]:
    visible = _visible(traced.operations, table)
    return tuple(dict.fromkeys(one.operation for one, said in visible if said.kind in ("missing", "type")))
