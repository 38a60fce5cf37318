"""Lesson 15: what its text says of the saved run is so, and its GPT is the one that lesson 16 gets."""

import re

import numpy as np
import pytest

from jupyter_mlgpu.record import cachefolder
from jupyter_mlgpu.teach.lessons import gpt, recordings, text, wordpieces


@pytest.fixture(scope="module")
def lesson(saved_lesson):
    return saved_lesson("15")


def rows(shown, columns):
    """The rows of a table in text, below its header."""
    found = [re.split(r" {2,}", line.strip()) for line in shown.splitlines()]
    return [row for row in found if len(row) == columns][1:]


def number(written):
    return float(written.replace(",", "").rstrip("%"))


def test_the_trained_gpt_is_better_than_both_baselines(lesson):
    uniform, bigram = map(float, re.findall(r"[a-z]+ ([\d.]+)", lesson.shown("baselines")))
    loss = float(re.search(r"loss ([\d.]+), \d+% right", lesson.shown("train"))[1])
    assert loss < bigram < uniform
    assert uniform == pytest.approx(np.log(gpt.VOCABULARY), abs=0.01)


def test_plain_numpy_says_what_keras_says_and_the_cache_changes_no_token(lesson):
    assert "approximate: yes" in lesson.shown("plain")
    assert "The same text: True" in lesson.shown("write-cached")


def test_the_likeliest_token_always_ends_in_repetition(lesson):
    greedy = next(row for row in rows(lesson.shown("write"), 2) if row[0] == "the likeliest")
    words = greedy[1].split()
    assert len(set(words)) < len(words) / 2


def test_with_the_cache_a_token_costs_nearly_the_same_at_any_length(lesson):
    charted = [list(map(number, row)) for row in rows(lesson.shown("growth"), 3)]
    assert [row[0] for row in charted] == [16, 32, 64, 128, 256, 512]
    _, again, kept = charted[-1]
    assert again > 10 * kept
    assert charted[-1][1] > 15 * charted[0][1]  # 32 times as long
    assert kept < 4 * charted[0][2]


def test_the_large_gpt_comes_nearer_to_the_bandwidth_than_the_small_one(lesson):
    reached = {row[0]: number(row[4]) for row in rows(lesson.shown("compare"), 5)}
    assert 50 < reached["large"] < 115
    assert reached["small"] < reached["large"]
    large = lesson.shown("large")
    assert "494 MB of weights" in large  # the smallest GPT-2 without its positions, in float32
    weights = 50_257 * 768 + 12 * 12 * 768**2
    assert round(4 * weights / 1e6) == 494


def test_on_the_recorded_gpu_the_formula_predicts_what_a_further_text_costs(lesson):
    measured = {int(row[0]): row for row in rows(lesson.shown("batch"), 6)}
    weights, cache = 2 * 6.65e9, 2 * 32 * 4096 * 256 * 2
    for texts, row in measured.items():
        allowed = texts * 4.8e12 / (weights + texts * cache)
        assert number(row[4]) == pytest.approx(allowed, abs=1)
        assert number(row[5]) == pytest.approx(100 * number(row[2]) / allowed, abs=0.5)
        assert 50 <= number(row[5]) <= 67  # "half to two thirds"
        assert number(row[3]) == pytest.approx(texts * cache / 1e6, abs=1)
    assert 95 < weights / cache < 105  # "about 100 texts"
    assert 2 * weights < 1e6 * number(measured[256][3]) < 3 * weights


def test_prefill_on_the_recorded_gpu_reaches_more_than_four_fifths_of_the_fastest_products(lesson):
    types = recordings.read(recordings.FOLDER / "04_types.json").data["rows"]
    fastest = max(float(row["TFLOP/s, median"]) for row in types if row["type"] == "bfloat16")
    reached = float(re.search(r"(\d+) TFLOP/s", lesson.shown("gpu-prefill"))[1])
    assert 0.8 * fastest < reached < fastest


def test_a_wrong_place_loses_most_of_what_was_gained_over_the_bigram(lesson):
    right, forgotten, bigram = map(float, re.findall(r" (\d+\.\d\d)", lesson.shown("break").splitlines()[-1]))
    assert right < bigram
    assert forgotten - right > (bigram - right) / 2


def test_on_the_recorded_gpu_launches_cost_about_the_same_for_each_block(lesson):
    for row in recordings.read(recordings.FOLDER / "15_gpu.json").data["rows"]:
        measured = [row[name] for name in ("launched one by one, ms", "CUDA graph, ms", "fused as well, ms")]
        assert measured == sorted(measured, reverse=True)
        assert measured[-1] > row["least, ms a token"]
    found = rows(lesson.shown("gpu-table"), 8)
    assert [row[1] for row in found] == ["24", "48", "32"]
    one_by_one, beyond = ([number(row[column]) for row in found] for column in (4, 7))
    assert max(one_by_one) < 1.5 * min(one_by_one)
    assert max(beyond) < 1.5 * min(beyond)
    medium, _, largest = found
    assert number(medium[5]) > 9 * number(medium[2])
    assert 1 - number(largest[6]) / number(largest[5]) == pytest.approx(0.14, abs=0.01)
    assert 1 - number(medium[6]) / number(medium[5]) == pytest.approx(1 / 3, abs=0.02)


def test_no_token_sees_a_later_one():
    model = gpt.decoder(20, length=6)
    tokens = np.array([[5, 6, 7, 8, 9, 10]], "int32")
    changed = tokens.copy()
    changed[0, 4:] = 15
    before, after = (model.predict(one, verbose=0)[0] for one in (tokens, changed))
    assert np.allclose(before[:4], after[:4], atol=1e-5)
    assert not np.allclose(before[4], after[4], atol=1e-3)


def test_the_parameters_have_the_matrices_of_the_decoder():
    weights = gpt.decoder(20, length=6).get_weights()
    found = gpt.parameters(weights)
    assert found.words.shape == (20, gpt.WIDTH)
    assert found.nbytes == sum(one.nbytes for one in weights)
    assert [[one.shape for one in block] for block in found.blocks] == [
        [(128, 384), (128, 128), (128, 512), (512, 128)]
    ] * gpt.LAYERS
    assert found.empty_cache(7).shape == (gpt.LAYERS, 2, gpt.HEADS, 7, gpt.WIDTH // gpt.HEADS)


def test_random_parameters_have_the_sizes_asked_for():
    found = gpt.random_parameters(50, 32, layers=3, heads=4)
    assert found.nbytes == 4 * (50 * 32 + 3 * 12 * 32**2)
    assert found.words.dtype == "float32"
    assert found.words.std() == pytest.approx(0.02, rel=0.1)


def test_bigrams_are_shares_of_what_followed():
    shown, following = np.array([[0, 1, 0, 1]]), np.array([[1, 0, 1, 2]])
    found = gpt.bigrams(shown, following, 3)
    assert np.allclose(found.sum(axis=1), 1)
    assert found[0, 1] > found[0, 0] == found[0, 2] > 0
    assert found[1, 0] == found[1, 2]  # each followed once, and each is as frequent


@pytest.fixture
def tokenizer():
    return wordpieces.train_tokenizer(["the learning rate of the optimizer ."] * 5, 60)


def test_the_rows_are_the_whole_text_and_each_begins_with_the_last_token_of_the_one_before(tokenizer):
    found = gpt.rows(tokenizer, ["the learning rate of the optimizer ."] * 4, 9)
    assert found.shape[1] == 9
    assert (found[1:, 0] == found[:-1, -1]).all()
    text_again = tokenizer.decode(np.concatenate([found[0], *found[1:, 1:]]).tolist())
    assert text_again.startswith("the learning rate of the optimizer. the learning")


def test_each_batch_of_the_training_is_drawn_from_all_rows():
    numbered = np.arange(40 * 5).reshape(40, 5)
    data = gpt.training_data(numbered, lambda one: (one[:, :-1], one[:, 1:]), steps=5)
    assert data["x"].shape == data["y"].shape == (5 * gpt.BATCH, 4)
    assert (data["y"] == data["x"] + 1).all()
    assert len(set(data["x"][:40, 0].tolist())) == 40
    with pytest.raises(ValueError, match="read more text"):
        gpt.training_data(numbered[:3], lambda one: (one, one), steps=1)


class Model:
    """Two small tables of weights."""

    def get_weights(self):
        return [np.arange(6.0).reshape(2, 3), np.arange(4.0)]


def test_lesson_16_gets_what_lesson_15_kept(monkeypatch, tmp_path, tokenizer):
    monkeypatch.setenv(cachefolder.VARIABLE, str(tmp_path))
    assert gpt.keep(tokenizer, Model(), 600).startswith("Saved in your cache folder")
    found = gpt.pretrained(text.Corpus([]), steps=1)
    assert [one.tolist() for one in found.weights] == [one.tolist() for one in Model().get_weights()]
    assert "checksum correct. Lesson 15 made it, in 600 steps." in found.origin
