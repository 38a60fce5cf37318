"""An ordinary cell, of which only its own profile says what limits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tests.limits import program


@dataclass(frozen=True)
class Ordinary:
    """A cell as tutorials have it: `before` are the cells of set-up, `code` is the one that is asked about.

    `getters` are functions of the cells that get data ready; those of libraries are known.
    """

    id: str
    framework: Literal["tensorflow", "torch"]
    code: str
    before: Sequence[str] = ()
    getters: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Cells stand indented in their modules."""
        object.__setattr__(self, "code", program.cell(self.code))
        object.__setattr__(self, "before", tuple(map(program.cell, self.before)))
