"""The words after `%%mlc_race`, understood without asking any framework."""

from __future__ import annotations

import keyword
import math
import shlex
from dataclasses import dataclass
from pathlib import Path

from jupyter_mlgpu.record.devicewords import DeviceWord
from jupyter_mlgpu.record.errors import UsageError

_EXAMPLE = "for example `%%mlc_race --over n=100,1000 --devices cpu,gpu`; `%%mlc_race?` explains."

_WITH_VALUE = ("--over", "--repeats", "--devices", "--framework", "--setup", "--save")


@dataclass(frozen=True, slots=True)
class RaceOptions:
    """What was asked for; `sizes` is (None,) where the cell is raced as it is."""

    variable: str | None = None
    sizes: tuple[float | None, ...] = (None,)
    repeats: int = 10
    devices: tuple[DeviceWord, ...] = ()
    framework: str | None = None
    setup: str | None = None
    fresh: bool = False
    save: Path | None = None


def parse(line: str) -> RaceOptions:
    """The options of a line; raises UsageError naming the word that is wrong."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"The line after %%mlc_race cannot be read ({error}), {_EXAMPLE}") from None
    found: dict[str, str] = {}
    fresh = False
    while words:
        word = words.pop(0)
        if word == "--fresh":
            fresh = True
        elif word not in _WITH_VALUE:
            known = ", ".join([*_WITH_VALUE, "--fresh"])
            raise UsageError(f"Unknown word {word!r} after %%mlc_race. Choose {known}, {_EXAMPLE}")
        elif word in found:
            raise UsageError(f"{word} stands twice after %%mlc_race: give it once, {_EXAMPLE}")
        elif not words or words[0].startswith("--"):
            raise UsageError(f"{word} needs a value, {_EXAMPLE}")
        else:
            found[word] = words.pop(0)
    variable, sizes = _over(found["--over"]) if "--over" in found else (None, (None,))
    return RaceOptions(
        variable,
        sizes,
        _repeats(found.get("--repeats", "10")),
        tuple(DeviceWord.parse(one) for one in found.get("--devices", "").split(",") if one),
        found["--framework"].lower() if "--framework" in found else None,
        found.get("--setup"),
        fresh,
        _save(found["--save"]) if "--save" in found else None,
    )


def _over(text: str) -> tuple[str, tuple[float | None, ...]]:
    """`n=100,1e3` as ("n", (100, 1000)): in rising order, each once, whole numbers as int."""
    variable, equals, values = text.partition("=")
    if not equals or not variable.isidentifier() or keyword.iskeyword(variable):
        raise UsageError(
            f"--over needs a variable and sizes without spaces, as in n=100,1000; found {text!r}."
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
            f"--over takes numbers above 0, separated by commas, as in n=100,1e3; found {text!r}."
        )
    # 1e3 is meant as a whole number: a size is mostly a length.
    return int(value) if value.is_integer() else value


def _repeats(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 10_000:
        raise UsageError(f"--repeats takes a whole number from 1 to 10000, found {text!r}.")
    return int(text)


def _save(text: str) -> Path:
    path = Path(text)
    if path.suffix != ".json":
        raise UsageError(
            f"--save takes the name of a JSON file, as in race.json, and found {text!r}; the chart is saved "
            "beside it as race.svg."
        )
    return path
