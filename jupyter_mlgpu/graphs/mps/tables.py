"""Tables of where each of PyTorch's operations runs on a Mac, by the version of PyTorch.

    table = load("2.13.0")
    table.verdict("_linalg_svd", frozenset({"float32"})).kind  # "missing"
    changes("_linalg_svd")  # "has a kernel since 2.14"

This imports no PyTorch: a Mac's version may be another than the one here.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from jupyter_mlgpu.graphs.mps import composites, limits, wrong
from jupyter_mlgpu.graphs.mps.spans import holds, in_words, number
from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record.sentence import Sentence, joined, say

#: On the GPU; made of others that are; always on the CPU; not there: NotImplementedError, or the CPU with
#: PYTORCH_ENABLE_MPS_FALLBACK=1; refused for its number type or rank; known to be wrong; not in the table.
Kind = Literal["gpu", "composite", "fallback", "missing", "type", "wrong", "unknown"]
#: PyTorch's own libraries beside ATen.
_LIBRARIES = frozenset({"quantized", "_quantized", "sparse", "mkldnn", "mkldnn_prepacked", "xnnpack"})
#: Layouts of tensors, which a trace gives beside the number types.
_LAYOUTS = frozenset({"sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged"})
#: The worst first: what decides over a composite operation.
_WORST: tuple[Kind, ...] = ("missing", "type", "wrong", "fallback", "unknown", "composite", "gpu")


@dataclass(frozen=True)
class MpsVerdict:
    """A verdict on an operation: where it runs (`kind`), how that is known (`source`), and a `note`."""

    kind: Kind
    source: Sentence
    note: Sentence | None = None


@dataclass(frozen=True)
class Wheel:
    """The wheel that the table was read from, and the commit that it was built from."""

    version: str
    name: str
    sha256: str
    commit: str


@dataclass(frozen=True)
class _Data:
    """operations.json: names by kind and range of versions, and error texts, each with its function."""

    script: int
    builds: Mapping[str, Wheel]
    operations: Mapping[Kind, Mapping[str, tuple[str, ...]]]
    refusals: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class OperationTable:
    """The operations of one version of PyTorch. `asked` is the version asked for, which may have no table."""

    version: str
    asked: str
    build: Wheel
    kinds: Mapping[str, Kind]

    @property
    def instead(self) -> Sentence | None:
        """A sentence that says that this is the table of another version than the one asked for, or None."""
        if number(self.asked) == number(self.version):
            return None
        return say(
            "There is no table for PyTorch {asked}; that of {version} is used.",
            asked=self.asked,
            version=self.version,
        )

    def verdict(
        self, operation: str, dtypes: frozenset[str], ranks: frozenset[int] = frozenset()
    ) -> MpsVerdict:
        """Return what an operation would do with tensors of these types and numbers of dimensions.

        `operation` is an ATen name with its overload (`addmm`, `add.Tensor`), `dtypes` are names such as
        `float32`, of tensors only: a Python number is none. `ranks` may be left out if not known.
        """
        name = operation.removeprefix("aten::")
        if "::" in name:
            library = name.partition("::")[0]
            if library in _LIBRARIES:
                return MpsVerdict(
                    "unknown", say("PyTorch has no list of its {library} operations.", library=library)
                )
            return MpsVerdict("unknown", say("It is no operation of PyTorch's own."))
        if not _LAYOUTS.isdisjoint(dtypes):
            return MpsVerdict("unknown", say("Kernels for sparse and nested tensors are not in this list."))
        kind = self.kinds.get(name)
        called = composites.calls(name)
        if called and (kind in (None, "composite") or name in composites.INSTEAD):
            return self._by_calls(called, dtypes, ranks)
        refused = limits.rows(name, dtypes, ranks, self.version)
        note = self._note((name,), dtypes, ranks)
        if refused and refused[0].when is None:
            return MpsVerdict("type", self._error(refused[0].text), note)
        if kind is None:
            return MpsVerdict(
                "unknown", say("PyTorch {version} has no such operation.", version=self.version)
            )
        known = wrong.rows(name, dtypes, ranks, self.version)
        if known and known[0].usual:
            return MpsVerdict("wrong", issue(known[0].issue), note)
        return MpsVerdict(kind, self._registration(kind), note)

    def _by_calls(self, called: tuple[str, ...], dtypes: frozenset[str], ranks: frozenset[int]) -> MpsVerdict:
        """Return the worst verdict of the operations that decide over another."""
        verdicts = [(self.verdict(one, dtypes, ranks), one) for one in called]
        found, worst = min(verdicts, key=lambda pair: _WORST.index(pair[0].kind))
        kind: Kind = "composite" if found.kind == "gpu" else found.kind
        note = self._note(called, dtypes, ranks)
        calls = say("On MPS it calls `{called}`.", called=worst)
        return MpsVerdict(kind, found.source, joined(calls, note) if note else calls)

    def _note(
        self, operations: tuple[str, ...], dtypes: frozenset[str], ranks: frozenset[int]
    ) -> Sentence | None:
        """Return what may go wrong under conditions that types and ranks do not show, or None."""
        sentences = []
        for name in operations:
            for limit in limits.rows(name, dtypes, ranks, self.version):
                if limit.when is not None:
                    sentences.append(say("Fails where {when}.", when=limit.when))
            sentences += [_known(row) for row in wrong.rows(name, dtypes, ranks, self.version)]
            if self.kinds.get(name) == "missing":
                sentences += [
                    say("Where `{caller}` calls it, that one runs on the CPU.", caller=caller)
                    for caller, called in composites.CALLS.items()
                    if self.kinds.get(caller) == "fallback" and name in called
                ]
        return joined(*sentences) if sentences else None

    def _registration(self, kind: Kind) -> Sentence:
        version = self.build.version
        if kind == "gpu":
            return say("native_functions.yaml of PyTorch {version}: registered for MPS", version=version)
        if kind == "composite":
            return say(
                "native_functions.yaml of PyTorch {version}: made of other operations", version=version
            )
        if kind == "fallback":
            return say("MPSFallback.mm of PyTorch {version}: sent to the CPU", version=version)
        return say("native_functions.yaml of PyTorch {version}: not registered for MPS", version=version)

    def _error(self, text: str) -> Sentence:
        return say("error text of PyTorch {version}: {text}", version=self.build.version, text=text)


def _known(row: wrong.Wrong) -> Sentence:
    at = say(
        "{issue}, {versions}",
        issue=issue(row.issue),
        versions=in_words(row.versions, versions()),
    )
    if row.effect == "ends":
        return say("Known to end the process where {when} ({issue}).", when=row.when, issue=at)
    if row.effect == "raises":
        return say("Known to raise an error where {when} ({issue}).", when=row.when, issue=at)
    if row.effect == "cpu":
        return say("Its kernel computes on the CPU where {when} ({issue}).", when=row.when, issue=at)
    return say("Known to be wrong where {when} ({issue}).", when=row.when, issue=at)


def issue(number: int) -> Sentence:
    """Return the name of one of PyTorch's issues: pytorch#190064."""
    return say("pytorch#{issue}", issue=str(number))


@functools.cache
def _data() -> _Data:
    text = resources.files("jupyter_mlgpu.graphs.mps").joinpath("operations.json").read_text("utf-8")
    return decoding.decode(_Data, json.loads(text), "the table of MPS's operations")


def versions() -> tuple[str, ...]:
    """Return the minor versions of PyTorch that have a table, the oldest first."""
    return tuple(_data().builds)


def load(version: str) -> OperationTable:
    """Return the table of a version of PyTorch (`2.13`, `2.13.1+cpu`), or that of the nearest version.

    Raises PlanError for what is no version.
    """
    asked = number(version)
    older = [one for one in versions() if number(one) <= asked]
    return _table(older[-1] if older else versions()[0], version)


@functools.lru_cache(maxsize=16)
def _table(version: str, asked: str) -> OperationTable:
    kinds = {
        name: kind
        for kind, ranges in _data().operations.items()
        for span, names in ranges.items()
        if holds(span, version)
        for name in names
    }
    return OperationTable(version, asked, _data().builds[version], kinds)


def refusals(version: str) -> dict[str, str]:
    """Return the error texts of a version's MPS code, each with its function, empty if not known."""
    spans = _data().refusals.items()
    return {text: name for span, texts in spans if holds(span, version) for text, name in texts.items()}


def changes(operation: str) -> Sentence | None:
    """Return which version changed where an operation runs, None if none did: "has a kernel since 2.14"."""
    found = []
    before: str | None = None
    for version in versions():
        verdict = load(version).verdict(operation, frozenset())
        now = "runs" if verdict.kind in ("gpu", "composite", "wrong") else verdict.kind
        if before in ("missing", "fallback") and now == "runs":
            found.append(say("has a kernel since {version}", version=version))
        elif before == "unknown" and now == "runs":
            found.append(say("is new in {version}", version=version))
        elif before not in (None, "unknown") and now == "unknown":
            found.append(say("was removed in {version}", version=version))
        before = now
    return joined(*found) if found else None
