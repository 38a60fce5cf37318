"""`images`: arrays as grey pictures, as text, and what cannot be one."""

import base64
import re
import struct
import zlib

import pytest

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.teach.lessons import images

np = pytest.importorskip("numpy", reason="NumPy is not installed here")


def pixels(shown):
    """The grey values of the first picture, read from its PNG."""
    data = base64.b64decode(re.search(r"image/png;base64,([^\"]+)", shown._repr_html_())[1])
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, place = {}, 8
    while place < len(data):
        (length,) = struct.unpack(">I", data[place : place + 4])
        kind, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        assert struct.unpack(">I", data[place + 8 + length : place + 12 + length]) == (
            zlib.crc32(kind + body),
        )
        chunks[kind] = body
        place += 12 + length
    columns, rows = struct.unpack(">II", chunks[b"IHDR"][:8])
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(rows, columns + 1)
    return lines[:, 1:]


def test_the_lowest_number_is_black_and_the_highest_white():
    assert pixels(images({"slope": [[-1, 0, 1], [1, 0, -1]]})).tolist() == [[0, 128, 255], [255, 128, 0]]


def test_each_picture_has_its_title_and_says_in_words_what_it_is():
    html = images({"a <digit>": np.eye(3), "map": np.eye(2)})._repr_html_()
    assert html.count("<img ") == 2
    assert "<div>a &lt;digit&gt;</div>" in html
    assert 'alt="map: a grayscale picture of 2 by 2 numbers"' in html


def test_in_a_terminal_it_is_drawn_with_characters():
    assert repr(images({"corner": [[0, 1], [0, 0.5]]})).splitlines() == ["corner", "  @@", "  ++"]


def test_all_numbers_alike_are_black_and_what_is_no_number_too():
    assert pixels(images({"flat": [[3, 3]]})).tolist() == [[0, 0]]
    assert pixels(images({"hole": [[1, np.nan, 2]]})).tolist() == [[0, 0, 255]]


@pytest.mark.parametrize("wrong", [[1, 2, 3], np.zeros((2, 2, 1)), np.zeros((0, 3))])
def test_what_has_no_rows_and_columns_is_refused_in_a_sentence(wrong):
    with pytest.raises(UsageError, match="needs rows and columns"):
        images({"wrong": wrong})
