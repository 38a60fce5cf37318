"""Cuts the serialised XSpace of TensorFlow's and JAX's profilers before it is parsed.

A parsed event takes about ten times the bytes of a serialised one, so a profile of ten million events must be
cut in serialised form. Protocol buffers allow that: a message is a sequence of fields, and without some of
them it is still a message. Field numbers are those of tsl/profiler/protobuf/xplane.proto.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from jupyter_mlgpu.measure.ops.events import LIMIT
from jupyter_mlgpu.record.sentence import say

#: Bytes up to which a profile is not cut: an event with its times takes at least 12 bytes.
UNCOUNTED = 12 * LIMIT

_PLANES = 1  # XSpace.planes
_LINES = 3  # XPlane.lines
_EVENTS = 4  # XLine.events
_LENGTH_DELIMITED = 2
_EVENT = _EVENTS << 3 | _LENGTH_DELIMITED
_FIXED = {1: 8, 5: 4}


def cut(data: bytes, limit: int = LIMIT, uncounted: int = UNCOUNTED) -> tuple[bytes, int]:
    """Return the profile with at most `limit` events, and how many were left out.

    The same part of every line is kept: its first events. Raises ValueError for data that is no XSpace.
    """
    if len(data) <= uncounted:
        return data, 0
    total = sum(_count(line) for plane in fields(data, _PLANES) for line in fields(plane, _LINES))
    if total <= limit:
        return data, 0
    left_out = 0

    def cut_line(line: bytes) -> bytes:
        nonlocal left_out
        keep = _count(line) * limit // total
        parts = []
        place = 0
        while place < len(line):
            if line[place] == _EVENT:
                end, kept = _run(line, place, keep)
                parts.append(line[place:end])
                keep -= kept
                place, more = _run(line, end)
                left_out += more
            else:
                _, end, _ = _field(line, place)
                parts.append(line[place:end])
                place = end
        return b"".join(parts)

    result = _rewritten(data, _PLANES, lambda plane: _rewritten(plane, _LINES, cut_line))
    return result, left_out


def _rewritten(message: bytes, number: int, change: Callable[[bytes], bytes]) -> bytes:
    parts = []
    for found, start, end, body in _fields(message):
        if found != number or body is None:
            parts.append(message[start:end])
            continue
        changed = change(message[body:end])
        parts += [_varint(number << 3 | _LENGTH_DELIMITED), _varint(len(changed)), changed]
    return b"".join(parts)


def _count(line: bytes) -> int:
    """Return the number of events of a line."""
    count = place = 0
    while place < len(line):
        if line[place] == _EVENT:
            place, more = _run(line, place)
            count += more
        else:
            _, place, _ = _field(line, place)
    return count


def _run(line: bytes, place: int, most: int | None = None) -> tuple[int, int]:
    """Return the end of the consecutive events from `place` on, and their number, at most `most`."""
    count = 0
    size = len(line)
    while place < size and line[place] == _EVENT and count != most:
        if place + 1 < size and line[place + 1] < 128:  # the common case: this loop runs over millions
            place += 2 + line[place + 1]
        else:
            _, place, _ = _field(line, place)
        count += 1
    if place > size:
        raise ValueError(say("the profile ends too early"))
    return place, count


def fields(message: bytes, number: int) -> Iterator[bytes]:
    """Yield the bodies of a message's length-delimited fields with this number."""
    for found, _, end, body in _fields(message):
        if found == number and body is not None:
            yield message[body:end]


def _fields(message: bytes) -> Iterator[tuple[int, int, int, int | None]]:
    """Yield number, start, end and body start of each field; without a length, the last one is None."""
    place = 0
    while place < len(message):
        number, end, body = _field(message, place)
        yield number, place, end, body
        place = end


def _field(message: bytes, place: int) -> tuple[int, int, int | None]:
    """Return number, end and body start of the field at `place`. Raises ValueError if there is none."""
    tag, place = _read_varint(message, place)
    kind = tag & 7
    body = None
    if kind == _LENGTH_DELIMITED:
        count, body = _read_varint(message, place)
        place = body + count
    elif kind == 0:
        _, place = _read_varint(message, place)
    elif kind in _FIXED:
        place += _FIXED[kind]
    else:
        raise ValueError(say("the profile is damaged"))
    if place > len(message):
        raise ValueError(say("the profile ends too early"))
    return tag >> 3, place, body


def _read_varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(message):
        byte = message[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7
    raise ValueError(say("the profile ends too early"))


def _varint(value: int) -> bytes:
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    data.append(value)
    return bytes(data)
