"""Run the cells of tests/data/learner_cells in a kernel, and tell what their receipts say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.kernels import Notebook, Result

FOLDER = Path(__file__).parents[1] / "data" / "learner_cells"


@dataclass(frozen=True)
class LearnerCell:
    """A cell, and its number and title after `# %%`."""

    title: str
    source: str

    @property
    def number(self) -> str:
        return self.title.partition(" ")[0]


@dataclass(frozen=True)
class LearnerResult:
    """What a cell gave back, and for how many nanoseconds the GPU worked for it (None: not known)."""

    cell: LearnerCell
    result: Result
    gpu_ns: int | None = None

    @property
    def places(self) -> list[str] | None:
        """The devices that the receipt names, or None where it says that they are not known."""
        ran_on = self.result.receipt["device"]["ran_on"]
        return None if ran_on is None else [one["device"] for one in ran_on]

    @property
    def text(self) -> str:
        """The receipt as plain text."""
        return next(
            (
                data["text/plain"]
                for kind, data in self.result.outputs
                if kind == "display_data" and self.result.receipt and "text/plain" in data
            ),
            "",
        )

    def lines(self) -> Iterator[str]:
        """What somebody sees: the title, the error, and the receipt."""
        yield f"== {self.cell.title}: {self.result.status}"
        if self.result.error:
            yield f"   {self.result.error[:300]}"
        yield from (f"   {line}" for line in self.text.splitlines())


def cells(name: str) -> list[LearnerCell]:
    """The cells of a file."""
    parts = re.split(r"^# %% (.*)\n", (FOLDER / name).read_text("utf-8"), flags=re.MULTILINE)
    return [LearnerCell(title, source) for title, source in zip(parts[1::2], parts[2::2], strict=True)]


def run(notebook: Notebook, name: str, gpu_ns: str = "None", on: str = "mps") -> list[LearnerResult]:
    """Run them all; `gpu_ns` is an expression for the nanoseconds that the GPU has worked so far.

    `on` takes the place of the device `mps`.
    """
    found = []
    before: Any = None
    for cell in cells(name):
        result = notebook.run(_moved(cell.source, on), timeout=300)
        after = notebook.evaluate(gpu_ns)
        worked = None if after is None else after - (before or 0)
        found.append(LearnerResult(cell, result, worked))
        before = after
    return found


def _moved(source: str, on: str) -> str:
    """The source with another device than `mps`."""
    return source if on == "mps" else source.replace("torch.backends.mps", f"torch.{on}").replace("mps", on)


def table(results: list[LearnerResult]) -> str:
    """A line a cell: how long the GPU worked, where it ran by the receipt, and the receipt's headline."""
    rows = []
    for one in results:
        gpu = "-" if one.gpu_ns is None else f"{one.gpu_ns / 1e6:.1f} ms"
        places = "not known" if one.places is None else ", ".join(one.places) or "nowhere"
        headline = one.text.partition("\n")[0]
        rows.append(f"{one.cell.title:40.40} {gpu:>11} {places:16} {headline}")
    return "\n".join(rows)
