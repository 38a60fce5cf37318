"""The browser reads what Python sends as Python's types say it: its readers are made of them."""

from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import pytest
import readers
from msgspec import Struct
from typescript import File, Writer

from jupyter_mlgpu.record.bounds import Called, Most, Otherwise, Printed, Said, Unread
from jupyter_mlgpu.record.decoding import Count, Name, Share

FILES = {str(path.relative_to(readers.BROWSER)): (path, text) for path, text in readers.written()}


class Spot(NamedTuple):
    """A place."""

    x: float
    label: Annotated[str, Otherwise("")]


class Sample(Struct):
    """A table of each kind of field."""

    id: Name
    runs: Count
    cost: Share | None
    mode: Annotated[Literal["light", "profiled"], Otherwise("light")]
    elapsed_s: Annotated[Count, Called("elapsed")]
    secret: Annotated[str, Unread()]
    spots: Annotated[tuple[Spot, ...], Most(5)]
    line: Annotated[str, Printed(), Most(8_000)] = ""
    said: Said = ""
    late: bool = False


class Message(TypedDict):
    """One with a part that may not be there."""

    sample: Sample
    spots: NotRequired[list[Spot]]


def written(*kinds: type) -> str:
    ((_, text),) = Writer(Path(), [File("kernel/some.ts", "Some.", kinds)], {}).written()
    return text


@pytest.mark.parametrize("name", FILES)
def test_the_browsers_readers_are_those_of_the_types_in_python(name):
    path, text = FILES[name]
    assert path.read_text(encoding="utf-8") == text, "run `make schemas`"


def test_a_field_without_a_default_is_needed_and_the_others_have_theirs():
    _, _, reader = written(Sample).partition("readSample = shape(")
    needed, _, others = reader.partition(" },\n  {")
    for field in (
        "id: word",
        "runs: count",
        "elapsed: named('elapsed_s', count)",
        "spots: listOrNullOf(readSpot, 5)",
    ):
        assert f" {field}" in needed
    for field in (
        "cost: amount",
        "mode: or('light', oneOf('light', 'profiled'))",
        "line: or('', printedIn(8000))",
        "said: said",
        "late: flag",
    ):
        assert f" {field}" in others
    assert "secret" not in reader


def test_a_type_is_what_its_reader_gives():
    text = written(Message)
    assert "export type ISample = Read<typeof readSample>;" in text
    assert "export const readSpot = rowOf({ x: finite }, { label: or('', text) });" in text
    assert (
        "export const readMessage = shape({ sample: readSample }, { spots: listOrNullOf(readSpot) });" in text
    )


def test_a_type_that_nobody_can_check_has_no_reader():
    class Loose(Struct):
        anything: Any

    with pytest.raises(AssertionError, match="no reader"):
        written(Loose)
