"""Lesson 15: what its text says of the saved run is so, and its GPT is the one that lesson 16 gets."""

import re

import numpy as np
import pytest

from jupyter_mlgpu.record import cachefolder
from jupyter_mlgpu.teach.lessons import bert, gpt, recordings, text, wordpieces


@pytest.fixture(scope="module")
def lesson(saved_lesson):
    return saved_lesson("15")


def rows(shown, columns):
    """The rows of a table in text, below its header."""
    found = [re.split(r" {2,}", line.strip()) for line in shown.splitlines()]
    return [row for row in found if len(row) == columns][1:]


def number(written):
    return float(written.replace(",", "").rstrip("%"))


def test_the_trained_gpt_is_better_than_all_three_baselines(lesson):
    uniform, unigram, bigram = map(float, re.findall(r"[a-z]+ ([\d.]+)", lesson.shown("baselines")))
    loss = float(re.search(r"loss ([\d.]+), \d+% right", lesson.shown("train"))[1])
    assert loss < bigram < unigram < uniform
    assert uniform == pytest.approx(np.log(gpt.VOCABULARY), abs=0.01)


def test_plain_numpy_says_what_keras_says_and_the_cache_changes_no_token(lesson):
    assert "approximate: yes" in lesson.shown("plain")
    assert "The same text: True" in lesson.shown("write-cached")


def test_the_likeliest_token_always_ends_in_repetition(lesson):
    greedy = next(row for row in rows(lesson.shown("write"), 3) if row[0] == "0")
    words = greedy[2].split()
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


def test_several_texts_at_once_give_more_tokens_but_not_in_proportion(lesson):
    measured = {int(row[0]): number(row[1]) for row in rows(lesson.shown("batch"), 3)}
    assert list(measured) == [1, 2, 4, 8, 16, 32, 64]
    assert measured[64] > measured[16] > measured[4] > measured[1]
    assert measured[64] < 64 * measured[1]


def test_a_forgotten_place_loses_most_of_what_was_gained_over_the_bigram(lesson):
    bigram, right, forgotten, far = (number(row[2]) for row in rows(lesson.shown("break"), 3))
    assert right < bigram
    assert forgotten - right > (bigram - right) / 2
    assert far > right


def test_on_the_recorded_gpu_nothing_is_faster_than_the_bytes_allow(lesson):
    for row in recordings.read(recordings.FOLDER / "15_gpu.json").data["rows"]:
        measured = [row[name] for name in ("launched one by one, ms", "CUDA graph, ms", "fused as well, ms")]
        assert measured == sorted(measured, reverse=True)
        assert measured[-1] > row["least, ms a token"]
        assert row["of the bandwidth"] == f"{row['least, ms a token'] / measured[-1]:.0%}"
    batches = recordings.read(recordings.FOLDER / "15_gpu_batch.json").data["rows"]
    assert [row["tokens/s"] for row in batches] == sorted(row["tokens/s"] for row in batches)
    assert batches[-1]["ms a step"] < batches[0]["ms a step"] * batches[-1]["texts at once"] / 10
    largest = 1000 * 13.3  # MB of weights
    assert 2 * largest < batches[-1]["MB of caches"] < 3 * largest
    assert "more than twice the bytes of the weights" in lesson.prose("gpu-read")


def test_the_lesson_s_decoder_is_that_of_the_module(lesson):
    names = {
        "ops": __import__("keras").ops,
        "layers": __import__("keras").layers,
        "keras": __import__("keras"),
    }
    names |= {"np": np, "bert": bert, "gpt": gpt}
    draw = np.random.default_rng(0)
    names["rows"] = draw.integers(5, gpt.VOCABULARY, (50, gpt.LENGTH + 1)).astype("int32")
    exec(lesson.cells["decoder"].source, names)
    ours = gpt.decoder(gpt.VOCABULARY)
    ours.set_weights(names["model"].get_weights())
    tokens = names["rows"][:2, :-1]
    assert np.allclose(ours.predict(tokens, verbose=0), names["model"].predict(tokens, verbose=0), atol=1e-4)


def test_no_token_sees_a_later_one():
    model = gpt.decoder(20, length=6)
    tokens = np.array([[5, 6, 7, 8, 9, 10]], "int32")
    changed = tokens.copy()
    changed[0, 4:] = 15
    before, after = (model.predict(one, verbose=0)[0] for one in (tokens, changed))
    assert np.allclose(before[:4], after[:4], atol=1e-5)
    assert not np.allclose(before[4], after[4], atol=1e-3)


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
