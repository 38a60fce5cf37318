"""Lesson 10: what its text says of pieces, counts and neighbours holds in the saved notebook."""

import re

import pytest


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
