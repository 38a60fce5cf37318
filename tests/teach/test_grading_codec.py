"""What crosses between the grader and a student's process: plain data, built anew, and nothing else."""

import enum
import json
import math

import pytest

from jupyter_mlgpu.record.errors import CrossingError
from jupyter_mlgpu.teach.grading import codec


def crossed(value):
    """The value after it has gone to the other side."""
    return codec.decode(codec.unpack(codec.pack({"value": codec.encode(value)}))["value"])


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(10**40),
        1.5,
        -0.0,
        math.inf,
        "é\ud800",
        b"\0\xff",
        complex(1, math.inf),
        [],
        [1, [2.0, "three"]],
        (1,),
        {1},
        {"a": [1], (1, 2): {"b": None}},
    ],
    ids=repr,
)
def test_plain_data_arrives_as_it_left(value):
    arrived = crossed(value)
    assert repr(arrived) == repr(value)
    assert type(arrived) is type(value)


def test_what_is_no_number_arrives_so():
    assert math.isnan(crossed(math.nan))


class LyingInt(int):
    def __eq__(self, other):
        return True

    def __index__(self):
        return 7

    __hash__ = int.__hash__


class LyingText(str):
    def __eq__(self, other):
        return True

    def __str__(self):
        return "other"

    __hash__ = str.__hash__


class LyingDict(dict):
    def items(self):
        return [("points", 100)]


class Colour(enum.IntEnum):
    RED = 3


@pytest.mark.parametrize(
    ("lying", "plain"),
    [(LyingInt(3), 3), (LyingText("a"), "a"), (LyingDict(a=1), {"a": 1}), (Colour.RED, 3)],
    ids=["int", "text", "dict", "enum"],
)
def test_a_subclass_arrives_as_what_it_is_made_of(lying, plain):
    arrived = crossed(lying)
    assert type(arrived) is type(plain)
    assert arrived == plain
    assert arrived != "anything else"


class EqualToEverything:
    def __eq__(self, other):
        return True

    __hash__ = None


@pytest.mark.parametrize(
    "value",
    [EqualToEverything(), object(), len, [iter(())], {"a": range(3)}],
    ids=["equal to everything", "object", "function", "iterator", "range"],
)
def test_what_is_no_plain_data_does_not_leave(value):
    with pytest.raises(CrossingError, match="is not plain data"):
        codec.encode(value)


def test_what_holds_itself_does_not_leave():
    endless = []
    endless.append(endless)
    with pytest.raises(CrossingError, match="nested more than"):
        codec.encode(endless)


def test_functions_cross_as_numbers_and_only_where_they_are_known():
    given = []
    data = codec.encode({"f": len}, lambda function: given.append(function) or 0)
    assert json.dumps(data)
    assert codec.decode(data, lambda number: given[number])["f"] is len
    with pytest.raises(CrossingError):
        codec.decode(data)


HOSTILE = [
    5,
    {"py/object": "os.system"},
    [],
    [[]],
    ["pickle", "gASVIQAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOU"],
    ["int", "0x"],
    ["int", 5],
    ["int", "9" * 10, "9"],
    ["float", "1e400"],
    ["float", ["list"]],
    ["complex", "a", "b"],
    ["complex", ["list"], 1.0],
    ["bytes", "no base64!"],
    ["bytes", 3],
    ["set", ["list"]],
    ["dict", ["a"]],
    ["dict", "ab"],
    ["dict", [["list"], None]],
    ["dict", [["dict"], None]],
    ["function", 0],
    ["array", "|O", [1], "AAAAAAAAAAA="],
    ["array", "<f8", [2], "AAAAAAAAAAA="],
    ["array", "<f8", [-1], "AAAAAAAAAAA="],
    ["array", "<f8", [2**62, 4], ""],
    ["array", "<f8", [True], "AAAAAAAAAAA="],
    ["array", "<f8", [1] * 40, "AAAAAAAAAAA="],
    ["array", "<f8,<f8", [1], "AAAAAAAAAAA="],
    ["array", ["list"], [1], ""],
    ["array", "<f8"],
    ["scalar", "<f8", [1], "AAAAAAAAAAA="],
]


@pytest.mark.needs("numpy")
@pytest.mark.parametrize("data", HOSTILE, ids=lambda one: json.dumps(one)[:40])
def test_anything_else_that_arrives_is_refused_in_one_sentence(data):
    with pytest.raises(CrossingError) as refused:
        codec.decode(data)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"x",
        b"[1]",
        b'{"a": NaN}',
        b"[" * 100_000,
        b'{"a": ' + b"9" * 10_000 + b"}",
        b"\xff",
        b'{"a": 1} {}',
    ],
    ids=lambda one: repr(one[:12]),
)
def test_a_line_that_is_no_message_is_refused(line):
    with pytest.raises(CrossingError, match="is not a message"):
        codec.unpack(line)


def test_what_is_nested_too_deep_is_refused():
    data = None
    for _ in range(codec.DEPTH + 5):
        data = ["list", data]
    with pytest.raises(CrossingError, match="nested more than"):
        codec.decode(data)


def test_what_is_too_large_does_not_leave():
    with pytest.raises(CrossingError, match="too large to be judged"):
        codec.pack({"value": "x" * codec.LIMIT})


@pytest.mark.needs("numpy")
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "complex128"])
def test_arrays_and_numbers_of_numpy_arrive_as_they_left(dtype):
    import numpy as np

    array = np.arange(6).reshape(2, 3).astype(dtype)
    arrived = crossed(array)
    assert arrived.dtype == array.dtype
    assert np.array_equal(arrived, array)
    arrived[0, 0] = 1  # one's own, to write into
    assert type(crossed(array[1, 2])) is type(array[1, 2])


@pytest.mark.needs("numpy")
def test_an_array_of_objects_or_a_lying_class_does_not_leave_as_itself():
    import numpy as np

    class Lying(np.ndarray):
        def __eq__(self, other):
            return True

        __hash__ = None

    assert type(crossed(np.arange(3).view(Lying))) is np.ndarray
    with pytest.raises(CrossingError, match="cannot be judged"):
        codec.encode(np.array([object()]))
