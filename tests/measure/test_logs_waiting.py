"""What was written is put down at once, and read a little at a time."""

import pytest

from jupyter_mlgpu.explain.logs.catalogue import Catalogue
from jupyter_mlgpu.explain.logs.reader import LogReader
from jupyter_mlgpu.measure.capture import stretch as stretch_module
from jupyter_mlgpu.measure.capture.stretch import Stretch


@pytest.fixture
def stretch():
    return Stretch(lambda: LogReader(Catalogue.load()))


def texts(notes):
    return [line.text for line in notes.lines]


def test_an_empty_stretch_has_nothing_to_say(stretch):
    assert stretch.is_empty
    assert stretch.read()
    assert stretch.notes() is None


def test_putting_down_reads_nothing(stretch):
    stretch.take("stderr", b"one\n", "now")
    assert not stretch.is_empty
    assert stretch.take_new(10) == ()
    assert stretch.waiting == 4


def test_reading_to_the_end_gives_all_lines_in_the_order_in_which_they_came(stretch):
    stretch.take("stderr", b"native\n", "now")
    stretch.say("logging", "WARNING:a:logged", "WARNING", "a", "now")
    stretch.take("stdout", b"later\n", "now")
    assert stretch.read()
    assert sorted(texts(stretch.notes())) == ["WARNING:a:logged", "later", "native"]
    assert stretch.waiting == 0


def test_without_time_a_part_is_told_and_later_all_of_it(stretch):
    lines = [b"line %s\n" % bytes([65 + n % 26, 97 + n // 26 % 26]) for n in range(200)]
    stretch.take("stderr", b"".join(lines[:100]), "now")
    stretch.read()
    stretch.take("stderr", b"".join(lines[100:]), "now")
    assert not stretch.read(seconds=0)
    part = stretch.notes()
    assert not part.whole
    assert 0 < len(part.lines) <= 100
    assert stretch.read()
    whole = stretch.notes()
    assert whole.whole
    assert texts(whole) == [line.decode().strip() for line in lines]


def test_large_pieces_are_read_block_by_block(stretch, monkeypatch):
    monkeypatch.setattr(stretch_module, "BLOCK", 7)
    stretch.take("stderr", b"a longer line than a block\nand another\n", "now")
    assert stretch.read()
    assert texts(stretch.notes()) == ["a longer line than a block", "and another"]


def test_more_than_may_wait_is_counted_and_said(stretch, monkeypatch):
    monkeypatch.setattr(stretch_module, "MOST_WAITING", 10)
    stretch.take("stderr", b"12345\n", "now")
    stretch.take("stderr", b"123456789\n", "now")
    stretch.read()
    notes = stretch.notes()
    assert texts(notes) == ["12345"]
    assert any(note.startswith("10 bytes of native output") for note in notes.notes)


def test_what_was_lost_is_said(stretch):
    stretch.lost("A program emptied stderr.")
    assert not stretch.is_empty
    assert stretch.notes().notes == ("A program emptied stderr.",)
