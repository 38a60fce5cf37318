"""What a browser makes of a value, where its type does not say it: marks for a field's `Annotated[...]`.

`scripts/readers.py` makes the browser's readers of the types that browsers are sent, and of these. Python's
own reading heeds none of them: a record is kept whole, and a page shows a part of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from jupyter_mlgpu.record.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Most:
    """So many characters of a text or a sentence, or items of a list, are read; the rest is cut.

    A number that is larger cannot be read.
    """

    number: int


@dataclass(frozen=True, slots=True)
class Otherwise:
    """What stands for a value that cannot be read, where the field has no default.

    Without either its table cannot be read.
    """

    value: str | float | tuple[()]


@dataclass(frozen=True, slots=True)
class Printed:
    """A text that a program has printed or a user has named: what one does not see of it is written out."""


@dataclass(frozen=True, slots=True)
class InPlace:
    """A table that keeps its place in a list though nothing of it can be read: its fields have defaults."""


@dataclass(frozen=True, slots=True)
class Newest:
    """So many items of a list are read, its last ones."""

    number: int


@dataclass(frozen=True, slots=True)
class Called:
    """A field's name in the browser."""

    name: str


@dataclass(frozen=True, slots=True)
class Whether:
    """A browser asks only whether it is this word; its field has the word's name."""

    word: str


@dataclass(frozen=True, slots=True)
class Unread:
    """A field that no browser reads."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A list that counts for nothing where one of its items cannot be read, or where they are too many."""


#: A text for people: a sentence, or a name or figure in no language.
Said = Sentence | str
#: The same; where it cannot be read, nothing stands there.
MaybeSaid = Annotated[Said, Otherwise("")]
#: A number of at least 0.
Amount = Annotated[float, Meta(ge=0)]
