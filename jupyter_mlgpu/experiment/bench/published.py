"""Published figures, by others and by us on other machines, each with its source: `published.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record.errors import BenchError
from jupyter_mlgpu.record.option_parser import nearest
from jupyter_mlgpu.record.sentence import joined, say

PATH = Path(__file__).parent / "published.json"


@dataclass(frozen=True, slots=True)
class Published:
    """One published figure: `name` is the word after `--against`, `version` the version of the source.

    `framework` is the one that computed, also where Keras was used. `parameters`, `type_` and `options` are
    those of the case, as far as the source states them: options are None if it does not. `what` says in a few
    words what was run there. `watts` and `memory` (bytes) are None if the source has none.
    """

    name: str
    hardware: str
    version: str
    framework: str
    case: str
    parameters: Mapping[str, Any]
    type_: str
    options: tuple[str, ...] | None
    value: int | float
    unit: str
    watts: int | float | None
    memory: int | float | None
    what: str
    source: str


@cache
def entries() -> tuple[Published, ...]:
    """Return all published figures, in the order of the file."""
    data = json.loads(PATH.read_text(encoding="utf-8"))
    sources = data["sources"]
    data_of_entries = [one | {"source": sources[one["source"]]} for one in data["entries"]]
    return decoding.decode(tuple[Published, ...], data_of_entries, PATH.name)


def names() -> tuple[str, ...]:
    """Return the names that `--against` knows."""
    return tuple(dict.fromkeys(one.name for one in entries()))


def by_name(name: str) -> tuple[Published, ...]:
    """Return the figures of a name. Raises BenchError with the nearest name for an unknown one."""
    found = tuple(one for one in entries() if one.name == name.lower())
    if not found:
        raise BenchError(
            joined(
                say("No file or published results are named {name}.", name=repr(name)),
                *nearest(name, names()),
                say("Choose {known}, or a file written by --out.", known=", ".join(names())),
            )
        )
    return found
