"""The serialised XSpace of TensorFlow's and JAX's profilers, cut before it is read.

A parsed event takes about ten times the bytes of a serialised one, so a profile of ten million events must
be cut while it is bytes. Protocol buffers allow that: a message is a sequence of fields, and one with some
fields taken out is a message still. Numbers of fields are those of tsl/profiler/protobuf/xplane.proto.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from jupyter_mlgpu.ops.events import LIMIT

#: Bytes up to which a profile is read as it is: an event with its times takes 12 bytes and more.
UNCOUNTED = 12 * LIMIT

_PLANES = 1  # XSpace.planes
_LINES = 3  # XPlane.lines
_EVENTS = 4  # XLine.events
_LENGTH_DELIMITED = 2
_FIXED = {1: 8, 5: 4}


def cut(data: bytes, limit: int = LIMIT, uncounted: int = UNCOUNTED) -> tuple[bytes, int]:
    """The profile with at most `limit` events, and how many were left out.

    Of every line the same part is kept, its first events. Raises ValueError for what is no such message.
    """
    if len(data) <= uncounted:
        return data, 0
    view = memoryview(data)
    total = sum(1 for plane in _inner(view, _PLANES) for line in _inner(plane, _LINES) for _ in _events(line))
    if total <= limit:
        return data, 0
    left_out = 0

    def cut_line(line: memoryview) -> bytes:
        nonlocal left_out
        count = sum(1 for _ in _events(line))
        keep = count * limit // total
        left_out += count - keep
        parts = []
        for number, start, end, _ in _fields(line):
            if number == _EVENTS:
                keep -= 1
                if keep < 0:
                    continue
            parts.append(bytes(line[start:end]))
        return b"".join(parts)

    made = _rewritten(view, _PLANES, lambda plane: _rewritten(plane, _LINES, cut_line))
    return made, left_out


def _rewritten(message: memoryview, number: int, change: Callable[[memoryview], bytes]) -> bytes:
    parts = []
    for found, start, end, body in _fields(message):
        if found != number or body is None:
            parts.append(bytes(message[start:end]))
            continue
        changed = change(message[body:end])
        parts += [_varint(number << 3 | _LENGTH_DELIMITED), _varint(len(changed)), changed]
    return b"".join(parts)


def _events(line: memoryview) -> Iterator[memoryview]:
    return _inner(line, _EVENTS)


def _inner(message: memoryview, number: int) -> Iterator[memoryview]:
    for found, _, end, body in _fields(message):
        if found == number and body is not None:
            yield message[body:end]


def _fields(message: memoryview) -> Iterator[tuple[int, int, int, int | None]]:
    """Number, start, end and, of what has a length, the start of the body, of each field."""
    place = 0
    size = len(message)
    while place < size:
        start = place
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
            raise ValueError("the profile is damaged")
        if place > size:
            raise ValueError("the profile ends too early")
        yield tag >> 3, start, place, body


def _read_varint(message: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if place >= len(message):
            raise ValueError("the profile ends too early")
        byte = message[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    made.append(value)
    return bytes(made)
