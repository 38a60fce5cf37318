"""Marks for a field's `Annotated[...]` that say how a browser reads its value.

`scripts/readers.py` generates the browser's readers from the types of messages and from these marks. Python
ignores the marks when it reads data: a record is kept whole, and only the page shows a part of it.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from jupyter_mlgpu.record.sentence import Sentence


class Most(Struct, frozen=True):
    """The largest length or number that a browser accepts.

    A longer text, sentence or list is cut to this length. A larger number cannot be read.
    """

    number: int


class Otherwise(Struct, frozen=True):
    """The value to use if the field's value cannot be read and the field has no default.

    If a field has neither, its whole table cannot be read.
    """

    value: str | float | tuple[()]


class Printed(Struct, frozen=True):
    """A text printed by a program or named by a user. Its invisible characters are escaped."""


class InPlace(Struct, frozen=True):
    """A table that keeps its place in a list even if nothing in it can be read.

    All its fields have defaults.
    """


class Newest(Struct, frozen=True):
    """The number of items read from the end of a list."""

    number: int


class Called(Struct, frozen=True):
    """The field's name in the browser, if it differs from the name in Python."""

    name: str


class Unread(Struct, frozen=True):
    """A field that no browser reads."""


class Whole(Struct, frozen=True):
    """A list that is ignored if one of its items cannot be read, or if it has too many items."""


#: Text for people: a sentence, or a name or figure that needs no translation.
Said = Sentence | str
#: The same, but empty if it cannot be read.
MaybeSaid = Annotated[Said, Otherwise("")]
#: A number of at least 0.
Amount = Annotated[float, Meta(ge=0)]
