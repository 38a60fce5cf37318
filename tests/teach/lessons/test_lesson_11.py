"""Lesson 11: what its text says of looking, of order and of cost holds in the saved notebook."""

import re

import pytest

from jupyter_mlgpu.teach.lessons.wordmaps import word_map


@pytest.fixture(scope="module")
def lesson(saved_lesson):
    return saved_lesson("11")


def weights(shown):
    """The rows of a word map: the word of each, and its weights."""
    lines = re.findall(r"^(\S.*?)((?: +[01]\.\d\d)+)$", shown, re.MULTILINE)
    return [(word, list(map(float, found.split()))) for word, found in lines]


def test_a_soft_lookup_finds_what_is_alike_and_the_mean_where_nothing_is_asked(lesson):
    shown = lesson.shown("lookup")
    assert re.search(r"^\(nothing\) +2\.5 wheels$", shown, re.MULTILINE)
    rows = dict(weights(shown))
    assert rows["(nothing)"] == [0.25] * 4
    assert sum(rows["kitten"][:2]) > 0.9
    assert sum(rows["bus"][2:]) > 0.9


def test_attention_alone_does_not_know_the_order_and_positions_bring_it_in(lesson):
    assert "approximate: yes" in lesson.shown("shuffle")
    assert "approximate: no" in lesson.shown("places")


def test_the_trained_network_writes_backwards_and_looks_from_the_other_end(lesson):
    shown = lesson.shown("heat")
    assert shown.startswith("attention -> noitnetta\n")
    rows = weights(shown)
    assert [word for word, _ in rows] == list("noitnetta")
    assert all(row[-1 - place] > 0.9 for place, (_, row) in enumerate(rows))


def test_the_mask_leaves_nothing_above_the_diagonal(lesson):
    rows = [row for _, row in weights(lesson.shown("causal-map"))]
    assert len(rows) == 6
    assert rows[0] == [1, 0, 0, 0, 0, 0]
    assert all(set(row[place + 1 :]) <= {0} for place, row in enumerate(rows))
    assert all(sum(row) == pytest.approx(1, abs=0.03) for row in rows)


def test_two_heads_do_what_one_cannot_with_as_many_parameters(lesson):
    found = re.findall(r"heads: (\d), parameters: ([\d,]+), right: (\d+)%", lesson.shown("two-sided"))
    (one, parameters, half), (two, as_many, all_of_them) = found
    assert (one, two) == ("1", "2")
    assert parameters == as_many
    assert int(half) < 70
    assert int(all_of_them) > 95


def test_each_of_the_two_heads_has_taken_one_side(lesson):
    maps = [one.data["text/plain"] for one in lesson.cells["two-heads"].outputs[:2]]
    sides = []
    for head in map(weights, maps):
        assert len(head) == 9
        looked_at = [max(range(9), key=row.__getitem__) for _, row in head]
        sides.append({(key - place) % 9 for place, key in enumerate(looked_at)})
    assert sorted(map(sorted, sides)) == [[1], [8]]


def test_attention_grows_faster_than_the_dense_layers(lesson):
    grown = [
        int(one.replace(",", "")) for one in re.findall(r"([\d,]+) times\b", lesson.shown("cost-compare"))
    ]
    longer, attention, dense = grown[-3:]
    assert longer == 64
    assert attention > dense


def test_the_receipt_of_the_sweep_shows_what_the_weights_take(lesson):
    before, sweep = (
        lesson.receipt(name).reading("peak_memory_process").value for name in ("predict", "cost")
    )
    assert sweep - before > 2 * 4 * 4096**2 * 4  # the scores and the weights of four heads
    assert re.search(r"131,072 words: +256\.000 GiB", lesson.shown("memory"))


def test_without_positions_equal_letters_look_alike_and_the_most_frequent_is_said(lesson):
    shown = lesson.shown("break-places")
    assert "attention -> ttttttttt\n" in shown
    found = [float(one) for one in re.findall(r"accuracy: ([\d.]+)", shown)]
    best = float(re.search(r"right for ([\d.]+)%", shown)[1]) / 100
    assert found[-1] == pytest.approx(best, abs=0.01)
    rows = weights(shown)
    assert [word for word, _ in rows] == list("attention")
    assert rows[1] == rows[2] == rows[5]


def test_without_the_root_long_vectors_look_at_one_key(lesson):
    found = re.findall(r"largest weight ([\d.]+) with the root, ([\d.]+) without", lesson.shown("break-root"))
    rooted, plain = ([float(one) for one in column] for column in zip(*found, strict=True))
    assert max(rooted) < 0.2
    assert plain == sorted(plain)
    assert plain[-1] > 0.8


def test_a_word_map_says_its_numbers_and_draws_a_square_for_each():
    found = word_map([[0.25, 0.75]], ["<it>"], ["cat", "mat"])
    assert repr(found) == "      cat   mat\n<it>  0.25  0.75"
    assert found.svg.count('stroke="#d1d9e0"') == 2
    assert "&lt;it&gt;" in found.svg
    assert "<it>" not in found.svg


@pytest.mark.parametrize("numbers", [[[0.5]], "words", None])
def test_a_word_map_of_another_shape_says_which_it_needs(numbers):
    with pytest.raises(ValueError, match=r"needs numbers of shape \[1, 2\]; got"):
        word_map(numbers, ["it"], ["cat", "mat"])
