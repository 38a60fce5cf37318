"""Cells for the check of results, and a device that is wrong on purpose."""

from __future__ import annotations

import linecache
import re
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"


@dataclass(frozen=True)
class CheckCell:
    title: str
    code: str
    #: The number of the line that is marked as wrong, from 1.
    wrong: int | None


def cells(name: str) -> list[CheckCell]:
    """The cells of a file below tests/data."""
    found = []
    for part in re.split(r"^# %% ", (DATA / name).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, _, code = part.partition("\n")
        marked = [number for number, line in enumerate(code.splitlines(), 1) if line.endswith("# wrong")]
        found.append(CheckCell(title, code, marked[0] if marked else None))
    return found


def run(cell: CheckCell, **names):
    """Run a cell's code as a cell of a notebook, with a file name of its own."""
    import torch

    file = f"/cells/{cell.title}.py"
    linecache.cache[file] = (len(cell.code), None, cell.code.splitlines(keepends=True), file)
    namespace = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, **names}
    exec(compile(cell.code, file, "exec"), namespace)
    return namespace


def wrong_device(operation: str):
    """A dispatch mode in which one operation gives a wrong number, 2 % off or of another whole value."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class WrongDevice(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            if function._schema.name.replace("::", ".") == operation:
                spoil(args[0] if result is None else result)
            return result

    def spoil(result):
        if not isinstance(result, torch.Tensor):
            return spoil(next(one for one in result if one is not None))
        place = int(result.abs().argmax()) if result.dtype != torch.bool else 0
        at = []
        for size in reversed(result.shape):
            at.insert(0, place % size)
            place //= size
        value = result[tuple(at)].item()
        if result.dtype == torch.bool:
            value = not value
        elif result.is_floating_point() or result.is_complex():
            value *= 1.02
        else:
            value -= 1
        result[tuple(at)] = value
        return None

    return WrongDevice()
