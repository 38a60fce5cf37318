"""The headline of a forecast: whether all operations have a kernel, and what happens to the others."""

from __future__ import annotations

import linecache
from collections.abc import Sequence

from msgspec.structs import replace

from jupyter_mlgpu.graphs.mps.forecast import FINE, ORDER, ForecastOperation, MpsForecast
from jupyter_mlgpu.graphs.mps.places import line_name
from jupyter_mlgpu.graphs.mps.traced import CodePlace
from jupyter_mlgpu.record.sentence import Sentence, folded, listed, say, say_count, with_commas

#: Most operations that are named for one reason, and most lines for one operation.
_NAMED, _PLACES = 3, 2
#: Number types that no kernel on MPS has, with those to use instead.
LACKING = {"float64": "float32", "complex128": "complex64"}


def headline(forecast: MpsForecast) -> Sentence:
    """Return the answer as one sentence."""
    subject: Sentence = forecast.subject
    if forecast.untraced:
        subject = say("traced part of the {subject}", subject=subject)
    total = forecast.kinds
    bad = {one.operation for one in forecast.operations if one.judgement not in FINE}
    fields = {"subject": subject, "version": forecast.version}
    if not bad:
        return say_count(
            "The only operation in the {subject} has a kernel on MPS (PyTorch {version}).",
            "All {count} kinds of operations in the {subject} have a kernel on MPS (PyTorch {version}).",
            total,
            **fields,
        )
    reasons = folded(lambda one, other: say("{one}; {other}", one=one, other=other), _reasons(forecast))
    if len(bad) == total:
        return say_count(
            "The only operation in the {subject} needs attention on MPS (PyTorch {version}): {reasons}.",
            "All {count} kinds of operations in the {subject} need attention on MPS (PyTorch {version}): "
            "{reasons}.",
            total,
            reasons=reasons,
            **fields,
        )
    return say_count(
        "{count} of {total} kinds of operations in the {subject} needs attention on MPS (PyTorch {version}): "
        "{reasons}.",
        "{count} of {total} kinds of operations in the {subject} need attention on MPS (PyTorch {version}): "
        "{reasons}.",
        len(bad),
        total=total,
        reasons=reasons,
        **fields,
    )


def _reasons(forecast: MpsForecast) -> list[Sentence]:
    """Return what happens, for each judgement that needs attention, and for each refused number type."""
    found = []
    for judgement in ORDER:
        operations = forecast.of(judgement) if judgement not in FINE else ()
        lacking = [one for one in operations if judgement == "type" and lacking_type(one)]
        for group in (lacking, [one for one in operations if one not in lacking]):
            if group:
                found.append(_reason(group))
    return found


def lacking_type(one: ForecastOperation) -> str:
    """Return the number type of an operation that no kernel of the GPU has, or an empty text."""
    return next((name for name in LACKING if name in one.dtypes), "")


def _reason(found: Sequence[ForecastOperation]) -> Sentence:
    """Return what happens to operations of the same judgement."""
    names, count = _names(found), len(found)
    match found[0].judgement:
        case "missing":
            return say_count(
                "{names} raises NotImplementedError, or runs on the CPU with PYTORCH_ENABLE_MPS_FALLBACK=1",
                "{names} raise NotImplementedError, or run on the CPU with PYTORCH_ENABLE_MPS_FALLBACK=1",
                count,
                names=names,
            )
        case "type" if lacking := lacking_type(found[0]):
            return say_count(
                "{names} raises an error on the GPU, which has no {type}: use {other}",
                "{names} raise an error on the GPU, which has no {type}: use {other}",
                count,
                names=names,
                type=lacking,
                other=LACKING[lacking],
            )
        case "type":
            return say_count(
                "{names} raises an error, because MPS refuses this number type or shape there",
                "{names} raise an error, because MPS refuses these number types or shapes there",
                count,
                names=names,
            )
        case "wrong":
            return say_count(
                "{names} is known to give wrong results ({issues})",
                "{names} are known to give wrong results ({issues})",
                count,
                names=names,
                issues=with_commas([*dict.fromkeys(one.source for one in found)][:_NAMED]),
            )
        case "fallback":
            return say_count(
                "{names} always runs on the CPU", "{names} always run on the CPU", count, names=names
            )
        case _:
            return say("nothing is known of {names}", names=names)


def _names(found: Sequence[ForecastOperation]) -> Sentence:
    """Return the names of the first operations, those with a place before those of ours."""
    placed = sorted(found, key=lambda one: all(where == CodePlace() for where in one.places))
    named = [_name(one) for one in placed[:_NAMED]]
    if len(found) > _NAMED:
        named.append(say("{count} more", count=len(found) - _NAMED))
    return listed(named)


def _name(one: ForecastOperation) -> Sentence:
    places = named_places(one)
    if not places:
        return say("`{name}`", name=one.operation)
    shown = [*places[:_PLACES], "…"] if len(places) > _PLACES else places
    return say("`{name}` ({place})", name=one.operation, place=with_commas(shown))


def named_places(one: ForecastOperation, *, code: bool = False) -> list[str]:
    """Return an operation's places in words, each once: layers of one line share it."""
    places = [replace(where, layer="") if where.line else where for where in one.places]
    return [place(where, code=code) for where in dict.fromkeys(places) if where != CodePlace()]


def place(where: CodePlace, *, code: bool = False) -> str:
    """Return a place in words: its line, or the layer if no code of the user's called it.

    With `code`, the line's text is added.
    """
    if not where.line:
        return say("layer {layer}", layer=where.layer) if where.layer else ""
    shown = line_name(where)
    text = linecache.getline(where.file, where.line).strip() if code else ""
    return say("{place}: {code}", place=shown, code=text) if text else shown
