"""The headline of a forecast: whether all operations have a kernel, and what happens to the others."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from pathlib import Path

from jupyter_mlgpu.graphs.mps.forecast import FINE, ORDER, ForecastOperation, MpsForecast
from jupyter_mlgpu.graphs.mps.traced import CodePlace
from jupyter_mlgpu.record.sentence import Sentence, folded, listed, say, say_count

#: Most operations that are named for one reason, and most lines for one operation.
_NAMED, _PLACES = 3, 2


def headline(forecast: MpsForecast) -> Sentence:
    """Return the answer as one sentence."""
    answer = _answer(forecast)
    return say("As far as it could be traced: {answer}", answer=answer) if forecast.untraced else answer


def _answer(forecast: MpsForecast) -> Sentence:
    total = forecast.kinds
    bad = {one.operation for one in forecast.operations if one.judgement not in FINE}
    fields = {"subject": forecast.subject, "version": forecast.version}
    if not bad:
        return say_count(
            "The only kind of operation of this {subject} has a kernel on MPS (PyTorch {version}).",
            "All {count} kinds of operations of this {subject} have a kernel on MPS (PyTorch {version}).",
            total,
            **fields,
        )
    reasons = [one for kind in ORDER if kind not in FINE and (one := forecast.of(kind))]
    return say(
        "{bad} of {total} kinds of operations of this {subject} need attention on MPS (PyTorch {version}): "
        "{reasons}.",
        bad=len(bad),
        total=total,
        reasons=folded(
            lambda one, other: say("{one}; {other}", one=one, other=other), [*map(_reason, reasons)]
        ),
        **fields,
    )


def _reason(found: Sequence[ForecastOperation]) -> Sentence:
    """Return what happens to operations of the same judgement."""
    names, count = _names(found), len(found)
    match found[0].judgement:
        case "missing":
            return say_count(
                "{names} raises NotImplementedError, and with PYTORCH_ENABLE_MPS_FALLBACK=1 runs on the CPU",
                "{names} raise NotImplementedError, and with PYTORCH_ENABLE_MPS_FALLBACK=1 run on the CPU",
                count,
                names=names,
            )
        case "type":
            return say_count(
                "{names} raises an error, because the GPU has no such number type",
                "{names} raise an error, because the GPU has no such number types",
                count,
                names=names,
            )
        case "wrong":
            return say_count(
                "{names} is known to give wrong results",
                "{names} are known to give wrong results",
                count,
                names=names,
            )
        case "fallback":
            return say_count(
                "{names} always runs on the CPU", "{names} always run on the CPU", count, names=names
            )
        case _:
            return say("nothing is known of {names}", names=names)


def _names(found: Sequence[ForecastOperation]) -> Sentence:
    named = [_name(one) for one in found[:_NAMED]]
    if len(found) > _NAMED:
        named.append(say("{count} more", count=len(found) - _NAMED))
    return listed(named)


def _name(one: ForecastOperation) -> Sentence:
    places = [place(where) for where in one.places[:_PLACES] if where != CodePlace()]
    if not places:
        return say("`{name}`", name=one.operation)
    if len(one.places) > _PLACES:
        places.append("…")
    return say("`{name}` ({place})", name=one.operation, place=_commas(places))


def place(where: CodePlace, *, code: bool = False) -> str:
    """Return a place in words: its line, or the layer if no code of the user's called it.

    With `code`, the line's text is added.
    """
    if not where.line:
        return say("layer {layer}", layer=where.layer) if where.layer else ""
    shown = _line(where)
    text = linecache.getline(where.file, where.line).strip() if code else ""
    return say("{place}: `{code}`", place=shown, code=text) if text else shown


def _line(where: CodePlace) -> Sentence:
    line, file = str(where.line), Path(where.file)
    if where.cell:
        return say("line {line} of [{cell}]", line=line, cell=str(where.cell))
    if file.is_file() and "ipykernel_" not in where.file:
        return say("line {line} of {file}", line=line, file=file.name)
    return say("line {line}", line=line)


def _commas(parts: Sequence[str]) -> str:
    return folded(lambda one, other: say("{one}, {other}", one=one, other=other), parts)
