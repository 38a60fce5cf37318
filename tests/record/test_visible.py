"""What one does not see in a text is written out, so that it does nothing to a terminal."""

from pathlib import Path

import pytest

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.incoming import read_bytes
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.visible import visible, visible_line

HOSTILE = "\x1b]0;evil\x07\x1b[31m\u202e\ud800.ipynb"
WRITTEN_OUT = r"\u001b]0;evil\u0007\u001b[31m\u202e\ud800.ipynb"


def test_control_characters_half_characters_and_turned_directions_are_written_out():
    assert visible(HOSTILE) == WRITTEN_OUT
    assert visible_line(HOSTILE) == WRITTEN_OUT


def test_ends_of_lines_and_tabs_stay_in_a_text_and_not_in_a_name():
    assert visible("a\tb\r\nc\n") == "a\tb\nc\n"
    assert visible_line("a\tb\r\nc\u2028") == r"a\u0009b\u000d\u000ac\u2028"


@pytest.mark.parametrize(
    "name", ["lesson 1.ipynb", "第一课\u3000笔记.ipynb", "naïve\u00a0👩\u200d🔬.ipynb", r"C:\notes"]
)
def test_what_can_be_seen_stays(name):
    assert visible(name) == visible_line(name) == name


def test_a_path_in_a_sentence_is_one_line():
    assert say("{path} is a folder.", path=Path(f"{HOSTILE}\n")) == rf"{WRITTEN_OUT}\u000a is a folder."


def test_a_file_that_cannot_be_read_is_named_on_one_line(tmp_path):
    with pytest.raises(UsageError) as refused:
        read_bytes(tmp_path / f"\n{HOSTILE[:-7]}", most=1, what="a notebook")
    assert str(refused.value).isprintable()
