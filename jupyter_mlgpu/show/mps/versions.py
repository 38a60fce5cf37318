"""The table of the same step in other versions of PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from jupyter_mlgpu.graphs.mps.forecast import MpsForecast, OtherVersion
from jupyter_mlgpu.graphs.mps.spans import number
from jupyter_mlgpu.record.sentence import Sentence, listed, say, say_count, with_commas
from jupyter_mlgpu.show.page.model import Table

#: Most operations that are named for a version.
_NAMED = 8


def versions(forecast: MpsForecast) -> Sentence | Table | None:
    """Return what cannot run on the GPU by version, neighbours with the same in one row.

    It is a sentence where all versions have the same, and None where nothing is missing in any.
    """
    own = tuple(dict.fromkeys(one.operation for kind in ("missing", "type") for one in forecast.of(kind)))
    every = sorted(
        (*forecast.others, OtherVersion(forecast.version, own)), key=lambda one: number(one.version)
    )
    groups = [list(found) for _, found in groupby(every, key=lambda one: frozenset(one.missing))]
    if len(every) == 1 or not any(one.missing for one in every):
        return None
    if len(groups) == 1:
        return say_count(
            "No PyTorch from {first} to {last} runs {names} on the GPU as it is used here.",
            "No PyTorch from {first} to {last} runs {names} on the GPU as they are used here.",
            len(own),
            first=every[0].version,
            last=every[-1].version,
            names=listed([say("`{name}`", name=one) for one in _shown(own)]),
        )
    columns = say("PyTorch"), say("operation")
    rows = tuple(
        (_span(found), with_commas(_shown(found[0].missing)) if found[0].missing else say("none"))
        for found in groups
    )
    return Table(columns, rows, (), say("What cannot run on the GPU, by version of PyTorch"))


def _span(found: Sequence[OtherVersion]) -> str:
    first, last = found[0].version, found[-1].version
    return first if first == last else say("{first} to {last}", first=first, last=last)


def _shown(names: Sequence[str]) -> list[str]:
    more = [say("{count} more", count=len(names) - _NAMED)] if len(names) > _NAMED else []
    return [*names[:_NAMED], *more]
