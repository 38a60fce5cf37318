"""Answers of any form side by side: what is the same, what is said where it is not, and what is shown."""

import numpy as np
import pytest

from jupyter_mlgpu.teach.lessons import cmp
from jupyter_mlgpu.teach.lessons.differences import compare
from jupyter_mlgpu.teach.lessons.values import read


def difference(yours, wanted, tolerance=1e-5):
    right = read(wanted)
    return compare(read(yours, like=right), right, tolerance, {})


@pytest.mark.parametrize(
    ("yours", "wanted"),
    [
        (3, 3.0),
        ([1, 2], np.array([1.0, 2.0])),
        (np.float32(0.1) + np.float32(0.2), 0.3),
        ([-np.inf, 1.0], [-np.inf, 1.0]),
        ("un", "un"),
        (["un", "##able"], ["un", "##able"]),
        (("a", "b"), ["a", "b"]),
        (np.array(["a", "b"]), ["a", "b"]),
        ([2, [1.0, 2.0]], (2, np.array([1.0, 2.0]))),
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
        ({"b", "a"}, {"a", "b"}),
        ([("rate", 0.5), ("step", 0.25)], [("rate", 0.5), ("step", 0.25)]),
        (True, True),
    ],
)
def test_these_are_the_same(yours, wanted):
    assert difference(yours, wanted).same is True


@pytest.mark.parametrize(
    ("yours", "wanted", "said"),
    [
        (3, 4, "wrong numbers"),
        (100_000, 100_001, "wrong numbers"),  # whole numbers are not rounded
        (1e-8, 2e-8, "wrong numbers"),  # small ones are not all alike
        (np.nan, np.nan, "wrong numbers"),
        ([1.0], [1.0, 2.0], "shape [1]; it should be [2]"),
        (1.0, [1.0], "shape []; it should be [1]"),
        ("unable", "unknown", "the wrong text, from character 3 on"),
        ("un", "unable", "from character 3 on"),
        (["a", "b"], ["a", "c"], "wrong values"),
        (["a"], ["a", "c"], "1 value; there should be 2"),
        (3, "three", "a number; it should be a text"),
        (object(), [1.0], "a object; it should be numbers of shape [1]"),
        ((1, [2.0, 3.0]), (1, [2.0, 4.0]), "the wrong numbers, in part [1]"),
        ((1, [2.0]), ([2.0], [3.0], 1), "2 values; there should be 3"),
        ({"a": 1}, {"b": 1}, "wrong values"),
        ({"a": [1.0]}, {"b": [1.0]}, "gives nothing for 'b'"),
        (False, True, "wrong numbers"),
    ],
)
def test_these_differ_and_it_is_said_how_with_something_to_look_at(yours, wanted, said):
    found = difference(yours, wanted)
    assert found.same is False
    assert said in found.what
    assert found.shown
    assert all(one.text() and one.html() for one in found.shown)


@pytest.mark.parametrize(
    ("yours", "wanted"),
    [(None, 3), (..., "text"), ((1, ...), (1, [2.0])), (["a", None], ["a", "b"]), ((None, None), (1, 2))],
)
def test_what_is_missing_somewhere_is_open(yours, wanted):
    assert difference(yours, wanted).same is None


def test_a_large_array_is_a_picture_of_yours_what_it_should_be_and_the_difference():
    wanted = np.zeros((5, 6))
    yours = wanted.copy()
    yours[2, 3] = -0.5
    (shown,) = difference(yours, wanted).shown
    assert shown.svg.count("<rect") == 1 + 3 * 30
    for title in ("yours", "should be", "difference"):
        assert f">{title}</text>" in shown.svg
    assert shown.words == "1 of 30 numbers differ; the largest difference, 0.5, is at [2, 3]."
    assert str(shown.html()).startswith('<img src="data:image/svg+xml;base64,')


def test_a_large_open_array_is_a_question_mark_beside_what_should_come():
    (shown,) = difference(None, np.arange(30.0).reshape(5, 6)).shown
    assert ">?</text>" in shown.svg
    assert "from 0 to 29" in shown.words


def test_a_very_large_array_is_drawn_in_part_and_it_is_said():
    (shown,) = difference(np.ones((100, 4, 50)), np.zeros((100, 4, 50))).shown
    assert shown.svg.count("<rect") == 1 + 3 * 32 * 32
    assert "The picture shows the first 32 rows and columns." in shown.words


def test_numbers_that_are_none_are_drawn_too():
    yours = np.full((5, 5), np.nan)
    yours[0] = np.inf
    (shown,) = difference(yours, np.eye(5)).shown
    assert "nan" not in shown.svg
    assert "#999999" in shown.svg
    assert "the largest difference, inf" in shown.words


def test_long_lists_show_the_places_that_differ():
    wanted = [f"word{number}" for number in range(40)]
    yours = ["other" if number == 33 else word for number, word in enumerate(wanted)]
    (shown,) = difference(yours, wanted).shown
    assert shown.rows == (("", "yours", "should be"), ("[33]", "'other'", "'word33'"))


def test_cmp_prints_one_line_and_shows_the_difference(capsys):
    found = cmp("the slope", [1.0, 2.0], [1.0, 2.0])
    assert capsys.readouterr().out == "the slope: exact: yes, approximate: yes, largest difference: 0\n"
    assert (found.exact, found.approximate, found.largest) == (True, True, 0.0)
    found = cmp("the slope", [1.0, 2.0 + 1e-7], [1.0, 2.0])
    assert (found.exact, found.approximate) == (False, True)
    assert capsys.readouterr().out.startswith("the slope: exact: no, approximate: yes")
    found = cmp("the slope", np.zeros((5, 5)), np.eye(5))
    assert (found.exact, found.approximate, found.largest) == (False, False, 1.0)
    assert "<img " in found._repr_html_()
    assert found.line not in found._repr_html_(), "it was printed already"


@pytest.mark.parametrize(
    ("yours", "wanted", "line"),
    [
        (None, [1.0], "the slope: yours is still open."),
        (..., np.eye(9), "the slope: yours is still open."),
        ([1.0], [1.0, 2.0], "the slope: gives shape [1]; it should be [2]"),
        (object(), [1.0], "the slope: gives a object; it should be numbers of shape [1]"),
        ([1.0], None, "the slope: there is nothing to compare it with yet."),
        ([np.nan], [1.0], "the slope: exact: no, approximate: no, largest difference: not a number"),
        ("a", "a", "the slope: the same"),
        ([], [], "the slope: exact: yes, approximate: yes, largest difference: 0"),
    ],
)
def test_cmp_raises_for_nothing(capsys, yours, wanted, line):
    assert repr(cmp("the slope", yours, wanted)).splitlines()[0] == line
    assert capsys.readouterr().out == f"{line}\n"
