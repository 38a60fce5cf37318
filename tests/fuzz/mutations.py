"""What strangers' files hold: real ones with something changed, as a value of their JSON or as bytes.

A value that JSON of Python cannot write (nesting without end, a number of 5,000 digits, a name that stands
twice) is written as a mark, in whose place the text is put.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

Seed = Any

#: What stands in a text for what `json.dumps` cannot write; see `_WRITTEN`.
_MARK = re.compile(r'"@@(?:(nested|object|digits|huge):(\d{1,7})|name:([^"@]*))@@"')

#: What stands in place of all marks of a file together, about.
MOST_BYTES = 10_000_000

ODD_TEXTS = (
    "",
    "\ud800",
    "tail \udfff of a pair",
    "\x00",
    "\x1b[2J\x1b]0;title\x07",
    "\r\n",
    "\u2028\u202e\ufeff",
    "<script>alert(1)</script>",
    "'; touch planted #",
    "$(touch planted)",
    "../../../etc/passwd",
    "yesterday",
    "banana",
    "9" * 400,
    "e\u0301" * 50,
    "x" * 20_000,
    "[bold]no[/nothing]",
    "{0.__class__}",
    "%s%n",
    "@@huge:3000000@@",
)
ODD_NUMBERS = (
    0,
    -1,
    1,
    -0.0,
    2**31,
    2**63,
    2**64 + 1,
    10**18,
    10**400,
    1e308,
    -1e308,
    5e-324,
    float("nan"),
    float("inf"),
    float("-inf"),
    "@@digits:4000@@",
    "@@digits:5000@@",
)
ODD_SHAPES: tuple[Any, ...] = (
    None,
    True,
    False,
    [],
    {},
    [[]],
    [None],
    {"": ""},
    [{}],
    "@@nested:100@@",
    "@@nested:900@@",
    "@@nested:100000@@",
    "@@object:900@@",
    "@@object:100000@@",
)
_ODD = st.one_of(
    st.sampled_from(ODD_SHAPES).map(copy.deepcopy),  # what is put in may be changed in its turn
    st.sampled_from(ODD_NUMBERS),
    st.sampled_from(ODD_TEXTS),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
)
_NAMES = st.sampled_from(
    ("", "schema", "kind", "unknown", "asked", "\ud800", "__class__", "x" * 5_000, "\x1b[m")
)
_INSERTED = st.sampled_from(
    (
        *(b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\x80", b"\xf4\x90\x80\x80", b"\xe2\x80\xa8", b"\x1b[2K"),
        *(b"\n", b"\r", b"\r\n", b'"', b"{", b"}", b"[", b"]", b",", b"\\", b"\\u0000", b"\\ud800"),
        *(b"NaN", b"-Infinity", b"1e999"),
    )
)


@st.composite
def of_json(draw: Any, seeds: Sequence[Seed]) -> bytes:
    """A file of one JSON value, with one to three things changed."""
    return _damaged(draw, _text(draw, _changed(draw, seeds)))


@st.composite
def of_lines(draw: Any, seeds: Sequence[Sequence[Seed]]) -> bytes:
    """A file of JSON Lines: some of them changed, and some of them whole."""
    lines = draw(st.sampled_from(seeds))
    changed = _text(draw, _changed(draw, lines))
    others = [_text(draw, one) for one in draw(st.lists(st.sampled_from(lines), max_size=3))]
    return _damaged(draw, b"\n".join([*others, changed, *others[:1]]) + b"\n")


@st.composite
def of_bytes(draw: Any, seeds: Sequence[bytes]) -> bytes:
    """A file without structure, such as a log."""
    data: bytes = draw(st.sampled_from(seeds))
    lines = data.split(b"\n")
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        lines[at] = draw(
            st.one_of(
                st.binary(max_size=60),
                st.sampled_from([one.encode(errors="surrogatepass") for one in ODD_TEXTS]),
                st.sampled_from((2, 50, 3_000)).map((lines[at][:1_000] or b"y").__mul__),
                st.just(lines[at][: draw(st.integers(0, 80))]),
            )
        )
    return _damaged(draw, b"\n".join(lines), always=True)


def _changed(draw: Any, seeds: Sequence[Seed]) -> Any:
    value = copy.deepcopy(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 3))):
        place = _near_the_top(draw, value) if draw(st.booleans()) else _anywhere(draw, value)
        if place is None:
            break
        draw(st.sampled_from(_CHANGES))(draw, *place)
    return value


def _anywhere(draw: Any, value: Any) -> tuple[Any, Any] | None:
    """One of all places."""
    places = list(_places(value))
    return places[draw(st.integers(0, len(places) - 1))] if places else None


def _near_the_top(draw: Any, value: Any) -> tuple[Any, Any] | None:
    """A place of a field that stands once, where a long list has thousands."""
    place = None
    while isinstance(value, dict | list) and value:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        place = value, draw(st.sampled_from(keys))
        value = value[place[1]]
        if not draw(st.integers(0, 2)):
            break
    return place


def _places(value: Any) -> Any:
    """Every holder in a value with every key in it: what can be changed."""
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        for key, one in holder.items() if isinstance(holder, dict) else enumerate(holder):
            yield holder, key
            if isinstance(one, dict | list):
                waiting.append(one)


def _replace(draw: Any, holder: Any, key: Any) -> None:
    holder[key] = draw(_ODD)


def _replace_number(draw: Any, holder: Any, key: Any) -> None:
    holder[key] = draw(st.sampled_from(ODD_NUMBERS))


def _remove(draw: Any, holder: Any, key: Any) -> None:
    del holder[key]


def _add(draw: Any, holder: Any, key: Any) -> None:
    if isinstance(holder, dict):
        holder[draw(_NAMES)] = draw(_ODD)
    else:
        holder.insert(key, draw(_ODD))


def _twice(draw: Any, holder: Any, key: Any) -> None:
    """The same name again, with another value; or the same item, a thousand times."""
    if isinstance(holder, dict):
        holder[f"@@name:{key}@@"] = draw(_ODD)
    else:
        holder.extend([holder[key]] * draw(st.sampled_from((1, 50, 1_000))))


def _spoil(draw: Any, holder: Any, key: Any) -> None:
    """A text with something odd in it."""
    if isinstance(holder[key], str):
        at = draw(st.integers(0, len(holder[key])))
        holder[key] = holder[key][:at] + draw(st.sampled_from(ODD_TEXTS)) + holder[key][at:]
    else:
        holder[key] = draw(_ODD)


def _wrap(draw: Any, holder: Any, key: Any) -> None:
    holder[key] = draw(st.sampled_from(([holder[key]], {"value": holder[key]}, str(holder[key])[:1_000])))


def _same_kind(draw: Any, holder: Any, key: Any) -> None:
    """Another value of the same kind, which a reader that only looks at kinds takes."""
    value = holder[key]
    if isinstance(value, bool) or value is None:
        holder[key] = draw(st.sampled_from((True, False, None)))
    elif isinstance(value, int | float):
        numbers = st.one_of(
            st.sampled_from((0, 1, 2, 10**6, 10**12, 2**63 - 1, 10**18))
            if isinstance(value, int)
            else st.floats(allow_nan=False, allow_infinity=False),
            st.sampled_from((value + 1, value * 1_000, value // 2, -value)),
        )
        holder[key] = draw(numbers)
    elif isinstance(value, str):
        holder[key] = draw(st.one_of(st.sampled_from(ODD_TEXTS), st.text(max_size=30), st.just(value[::-1])))
    elif isinstance(value, list):
        holder[key] = draw(st.sampled_from((value[:1], value[::-1], value * 2, [])))
    else:
        names = draw(st.lists(st.sampled_from(sorted(value)), unique=True)) if value else []
        holder[key] = {name: value[name] for name in names}


_CHANGES: tuple[Callable[[Any, Any, Any], None], ...] = (
    *[_same_kind] * 6,
    _replace,
    _replace_number,
    _remove,
    _add,
    _twice,
    _spoil,
    _wrap,
)


def _text(draw: Any, value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    return _written(text.encode(errors="surrogatepass"))


def _written(text: bytes) -> bytes:
    """With what stands in place of a mark; once there is much of that, little is put."""
    room = MOST_BYTES

    def instead(mark: re.Match[str]) -> str:
        nonlocal room
        kind, said, name = mark.groups()
        if kind is None:
            return f'"{name}"'
        written = _WRITTEN[kind](int(said) if room > 0 else 1)
        room -= len(written)
        return written

    return _MARK.sub(instead, text.decode(errors="surrogateescape")).encode(errors="surrogateescape")


_WRITTEN: dict[str, Callable[[int], str]] = {
    "digits": lambda count: "9" * count,
    "huge": lambda count: f'"{"y" * count}"',
    "nested": lambda count: "[" * count + "]" * count,
    "object": lambda count: '{"a":' * count + "0" + "}" * count,
}


def _damaged(draw: Any, data: bytes, *, always: bool = False) -> bytes:
    """One file in five, or every one, is damaged as bytes."""
    if not always and draw(st.integers(0, 4)):
        return data
    return draw(st.sampled_from(_DAMAGES))(draw, data)


def _cut(draw: Any, data: bytes) -> bytes:
    return data[: draw(st.integers(0, len(data)))]


def _insert(draw: Any, data: bytes) -> bytes:
    at = draw(st.integers(0, len(data)))
    return data[:at] + draw(_INSERTED) + data[at:]


def _noise(draw: Any, data: bytes) -> bytes:
    at = draw(st.integers(0, len(data)))
    return data[:at] + draw(st.binary(max_size=40)) + data[at + draw(st.integers(0, 40)) :]


def _joined(draw: Any, data: bytes) -> bytes:
    """A line that was torn: its end, and the next one's beginning, are missing."""
    lines = data.split(b"\n")
    at = draw(st.integers(0, len(lines) - 1))
    lines[at : at + 2] = [lines[at][: len(lines[at]) // 2] + b"".join(lines[at + 1 : at + 2])[3:]]
    return b"\n".join(lines)


_DAMAGES: tuple[Callable[[Any, bytes], bytes], ...] = (
    _cut,
    _insert,
    _noise,
    _joined,
    lambda draw, data: b"\xef\xbb\xbf" + data,
    lambda draw, data: data.replace(b"\n", b"\r\n"),
    lambda draw, data: data.decode(errors="replace").encode("utf-16"),
    lambda draw, data: data + data,
    lambda draw, data: b"",
)
