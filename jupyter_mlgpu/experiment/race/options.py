"""Parse the options of `%%mlc_race`, without importing any framework."""

from __future__ import annotations

import keyword
import math
from dataclasses import dataclass
from pathlib import Path

from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.option_parser import json_path, magic_parser, whole_number
from jupyter_mlgpu.record.sentence import say

_HELP = say("For example `%%mlc_race --over n=100,1000 --devices cpu,gpu`; `%%mlc_race?` explains.")


@dataclass(frozen=True, slots=True)
class RaceOptions:
    """The options of a race; `sizes` is (None,) if the cell is raced as it is."""

    variable: str | None = None
    sizes: tuple[float | None, ...] = (None,)
    repeats: int = 10
    devices: tuple[DeviceWord, ...] = ()
    framework: str | None = None
    setup: str | None = None
    fresh: bool = False
    save: Path | None = None


def parse(line: str) -> RaceOptions:
    """Return the options of a line. Raises UsageError naming the word that is wrong."""
    parser = magic_parser("%%mlc_race", _HELP)
    for option in ("--over", "--setup", "--save"):
        parser.add_argument(option)
    parser.add_argument("--framework", type=str.lower)
    parser.add_argument("--repeats", default="10")
    parser.add_argument("--devices", default="")
    parser.add_argument("--fresh", action="store_true")
    found = parser.parse_line(line)
    variable, sizes = (None, (None,)) if found.over is None else _over(found.over)
    return RaceOptions(
        variable,
        sizes,
        whole_number(found.repeats, "--repeats", 10_000),
        tuple(DeviceWord.parse(one) for one in found.devices.split(",") if one),
        found.framework,
        found.setup,
        found.fresh,
        None if found.save is None else json_path(found.save, "--save", "race.json"),
    )


def _over(text: str) -> tuple[str, tuple[float | None, ...]]:
    """Parse `n=100,1e3` to ("n", (100, 1000)): in rising order, each once, whole numbers as int."""
    variable, equals, values = text.partition("=")
    if not equals or not variable.isidentifier() or keyword.iskeyword(variable):
        raise UsageError(
            say(
                "--over needs a variable and sizes without spaces, as in n=100,1000; found {found}.",
                found=repr(text),
            )
        )
    return variable, tuple(sorted({_size(one) for one in values.split(",")}))


def _size(text: str) -> float:
    try:
        value = float(text)
        fits = math.isfinite(value) and value > 0
    except ValueError:
        fits = False
    if not fits:
        raise UsageError(
            say(
                "--over takes numbers above 0, separated by commas, as in n=100,1e3; found {found}.",
                found=repr(text),
            )
        )
    # 1e3 is meant as a whole number: a size is usually a length.
    return int(value) if value.is_integer() else value
