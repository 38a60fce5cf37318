"""Lesson 10: what its text says of pieces, counts and neighbours holds in the saved notebook."""

import re

import numpy as np
import pytest

from jupyter_mlgpu.teach.lessons.vectormaps import vector_map


@pytest.fixture(scope="module")
def lesson(saved_lesson):
    return saved_lesson("10")


def neighbours(shown):
    lines = [line.split() for line in shown.splitlines()]
    return {word: set(found) for word, *found in lines}


def test_the_data_is_named_and_reading_it_ran_nothing_on_a_device(lesson):
    assert re.match(r"Data: [\d,]+ sentences, [\d,]+ words, from the docstrings", lesson.shown("text"))
    assert lesson.receipt("text").device.ran_on == ()


def test_the_learners_way_of_cutting_is_that_of_the_package(lesson):
    agree, words = map(int, re.findall(r"\d+", lesson.shown("same")))
    assert agree == words > 100


def test_frequent_words_are_whole_and_rare_ones_are_cut(lesson):
    cut = {word: found for word, *found in map(str.split, lesson.shown("pieces").splitlines())}
    assert cut["matrix"] == ["matrix"]
    assert len(cut["unbelievably"]) > 2
    assert all(len(found) > 2 for found in map(str.split, lesson.shown("break-word").splitlines()))


def test_a_few_dozen_pieces_make_up_half_of_the_text(lesson):
    half = int(re.search(r"It was (\d+)\.", lesson.shown("often"))[1])
    assert 24 <= half <= 120


def test_the_company_of_a_word_is_everybodys_until_it_is_compared_with_chance(lesson):
    counted, compared = (
        lesson.shown(name).removeprefix("matrix, with: ").split() for name in ("company", "company-again")
    )
    assert {".", "the", "of"} <= set(counted)
    assert not set(counted) & set(compared)


def test_neighbours_keep_the_same_company_and_shuffling_takes_it_away(lesson):
    found = neighbours(lesson.shown("neighbours"))
    assert "right" in found["left"]
    assert "variance" in found["mean"]
    assert {"path", "open"} & found["file"]
    shuffled = neighbours(lesson.shown("break-order"))
    assert not any(found[word] & shuffled[word] for word in shuffled)


def test_the_map_has_its_blocks_along_the_diagonal(lesson):
    rows = [list(map(float, line.split()[1:])) for line in lesson.shown("groups").splitlines()[1:]]
    assert len(rows) == 12
    inside = [rows[i][j] for i in range(12) for j in range(12) if i // 3 == j // 3 and i != j]
    outside = [rows[i][j] for i in range(12) for j in range(12) if i // 3 != j // 3]
    assert min(inside) > max(outside)


def test_all_neighbours_come_from_one_product_on_a_device_quicker_than_the_counting(lesson):
    assert lesson.operations("alike") >= 1
    counting, product = (lesson.receipt(name).reading("wall_time").value for name in ("pairs", "alike"))
    assert product < counting


def places(shown):
    """The words of a map's table: the group, the place, and the nearest word of each."""
    found = re.findall(r"^(\w+) +(\S.*?) +(-?\d\.\d\d) +(-?\d\.\d\d) +(\w+)$", shown, re.MULTILINE)
    return {word: (group, (float(x), float(y)), nearest) for word, group, x, y, nearest in found}


def test_on_the_map_of_vectors_words_of_a_group_stand_together(lesson):
    found = places(lesson.shown("map"))
    assert len(found) > 18
    together = [group == found[nearest][0] for group, _, nearest in found.values()]
    assert sum(together) >= 0.8 * len(together)


def test_the_map_says_how_much_of_the_differences_it_shows_and_has_the_table_beside_it(lesson):
    assert 20 < int(re.search(r"have (\d+)% of the words' variance", lesson.shown("map"))[1]) < 100
    ids = list(lesson.cells)
    assert ids.index("map") + 2 == ids.index("groups")


def test_a_map_of_vectors_has_a_dot_and_a_word_for_each_and_a_table_of_places():
    found = vector_map([[0, 0], [1, 0], [0, 3]], {"animals": ["cat", "<dog>"], "machines": ["car"]})
    assert repr(found).splitlines() == [
        "A map of 3 words: animals, machines.",
        "word   group        x     y  nearest on this map",
        "cat    animals   0.00  0.00  <dog>",
        "<dog>  animals   1.00  0.00  cat",
        "car    machines  0.00  3.00  cat",
    ]
    assert found.svg.count("<circle") == 3 + 2  # the words, and the legend
    assert "&lt;dog&gt;" in found.svg
    assert "<dog>" not in found.svg


def test_a_step_to_the_right_is_as_long_on_the_map_as_a_step_up():
    drawn = vector_map([[0, 0], [4, 0], [0, 2]], {"": ["a", "b", "c"]}).svg
    dots = [tuple(map(float, one)) for one in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)][1:]
    (x, y), (right, _), (_, up) = dots
    assert right - x == pytest.approx(2 * (y - up), abs=0.3)


def test_words_that_lie_close_together_are_written_beside_each_other():
    crowd = {"numbers": ["one", "two", "three", "four", "five"]}
    drawn = vector_map([[0, 0], [0.01, 0], [0, 0.01], [0.01, 0.01], [1, 1]], crowd).svg
    found = re.findall(r'<text x="([\d.]+)" y="([\d.]+)">(\w+)</text>', drawn)
    corners = [(float(x), float(y), 6 * len(word)) for x, y, word in found]
    assert len(corners) == 5
    for number, (x, y, wide) in enumerate(corners):
        for other, down, breadth in corners[:number]:
            apart = x > other + breadth or other > x + wide or abs(y - down) > 10
            assert apart, found


@pytest.mark.parametrize("numbers", [[[0, 0]], np.zeros((2, 3)), "words", None])
def test_a_map_without_a_place_for_each_word_says_what_it_needs(numbers):
    with pytest.raises(ValueError, match=r"a place for each: \[2, 2\]; got"):
        vector_map(numbers, {"all": ["one", "two"]})


def test_python_waited_for_threads_of_the_package_while_more_than_one_core_was_busy(lesson):
    record = lesson.receipt("often")
    assert "larger than the wall time" in lesson.prose("often-read")
    assert record.reading("cpu_time").value > record.reading("wall_time").value
