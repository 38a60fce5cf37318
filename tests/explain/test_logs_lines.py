"""Bytes are cut into lines, whatever they are and however they come."""

import random
import time
import tracemalloc

import pytest

from jupyter_mlgpu.explain.logs.lines import LONGEST, MOST_BYTES, LineSplitter, text_of


def lines_of(*pieces: bytes) -> list[bytes]:
    splitter = LineSplitter()
    return [line for piece in pieces for line in splitter.feed(piece)] + splitter.finish()


def test_newlines_end_lines_and_the_last_one_needs_none():
    assert lines_of(b"a\nb\n\nc") == [b"a", b"b", b"", b"c"]


def test_windows_line_ends_are_one_end():
    assert lines_of(b"a\r\nb\r\nc\r\n") == [b"a", b"b", b"c"]


def test_a_lone_carriage_return_ends_a_line_that_was_overwritten():
    assert lines_of(b"10%\r20%\rdone\n") == [b"10%\r", b"20%\r", b"done"]


def test_a_carriage_return_at_the_end_of_a_piece_waits_for_what_follows():
    splitter = LineSplitter()
    assert splitter.feed(b"a\r") == []
    assert splitter.feed(b"\nb\r") == [b"a"]
    assert splitter.feed(b"c\n") == [b"b\r", b"c"]


def test_a_carriage_return_at_the_very_end_is_kept():
    assert lines_of(b"10%\r") == [b"10%\r"]


@pytest.mark.parametrize("seed", range(20))
def test_how_the_bytes_are_cut_makes_no_difference(seed):
    chance = random.Random(seed)
    data = b"".join(chance.choices([b"word", b" ", b"\n", b"\r\n", b"\r", "é".encode(), b"\x00"], k=300))
    cuts = sorted(chance.choices(range(len(data)), k=40))
    pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    assert lines_of(*pieces) == lines_of(data)


def test_zero_bytes_are_kept():
    assert text_of(b"a\x00b") == "a\x00b"


def test_what_is_not_utf_8_is_shown_escaped():
    assert text_of("naïve".encode("latin-1")) == "na\\xefve"


def test_terminal_escapes_and_backspaces_are_taken_out():
    assert (
        text_of(b"\x1b[1;31mred\x1b[0m \x1b]0;title\x07and\x1b[?25l 9/10\x08\x08\x08\x08\r") == "red and 9/10"
    )


def test_a_long_line_is_cut_and_says_so():
    splitter = LineSplitter()
    (line,) = splitter.feed(b"x" * (LONGEST + 10) + b"\n")
    assert text_of(line) == "x" * MOST_BYTES + f"… [{LONGEST + 10 - MOST_BYTES:,} more bytes not kept]"
    assert (splitter.cut_lines, splitter.cut_bytes) == (1, LONGEST + 10 - MOST_BYTES)


def test_a_line_of_just_the_longest_length_is_whole():
    assert lines_of(b"x" * LONGEST + b"\n") == [b"x" * LONGEST]


@pytest.mark.parametrize("shift", [b"", b"a", b"ab"])
def test_a_long_line_is_not_cut_within_a_character(shift):
    (line,) = lines_of(shift, *["€".encode() * 1000] * 60)
    assert "\\x" not in text_of(line)


@pytest.mark.parametrize("piece", [64 * 1024, 1024, 50_000_000])
def test_50_mb_on_one_line_cost_little_time_and_memory(piece):
    whole = bytes(50_000_000)
    splitter = LineSplitter()
    tracemalloc.start()
    started = time.process_time()
    for start in range(0, len(whole), piece):
        assert splitter.feed(whole[start : start + piece]) == []
    lines = splitter.finish()
    seconds = time.process_time() - started
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(lines[0]) < MOST_BYTES + 100
    assert splitter.cut_bytes == 50_000_000 - MOST_BYTES
    assert seconds < 5
    assert peak < 60_000_000
