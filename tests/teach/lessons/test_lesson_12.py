"""Lesson 12: what its text says of the saved run is true, and the model is what the text says."""

import re
from pathlib import Path
from types import SimpleNamespace

import lesson_solutions  # scripts/
import nbformat
import numpy as np
import pytest

from jupyter_mlgpu.teach.lessons import pretraining

LESSON = Path(__file__).resolve().parents[3] / "notebooks" / "12_bert_from_nothing.ipynb"


@pytest.fixture(scope="module")
def lesson():
    return nbformat.read(LESSON, 4)


def printed(lesson, name):
    cell = next(cell for cell in lesson.cells if cell.id == name)
    return "".join(
        output.get("text") or output.get("data", {}).get("text/plain", "")
        for output in cell.outputs
        if not any("mlgpu" in kind for kind in output.get("data", {}))
    )


def guessers(lesson):
    """Loss, percentage right, and percentage right at [MASK], of each guesser in the lesson's table."""
    rows = re.findall(r"^(uniform|unigram|copying|BERT from nothing) +(.+)$", printed(lesson, "result"), re.M)
    return {name: tuple(map(float, numbers.split())) for name, numbers in rows}


def steps_of(lesson):
    (train,) = [cell.source for cell in lesson.cells if cell.id == "train"]
    (steps,) = re.findall(r"^steps = (\d+)$", train, re.M)
    return int(steps)


def test_more_than_a_fifth_of_the_hidden_words_are_guessed_right_and_the_loss_is_below_all_baselines(lesson):
    found = guessers(lesson)
    assert found["BERT from nothing"][1] > 20
    losses = [found[name][0] for name in ("BERT from nothing", "copying", "unigram", "uniform")]
    assert losses == sorted(losses)
    assert found["uniform"][0] == pytest.approx(np.log(3000), abs=0.01)


def test_at_mask_copying_helps_nothing_and_the_model_is_right_more_than_twice_as_often(lesson):
    found = guessers(lesson)
    assert found["copying"][1] > found["unigram"][1] + 5
    assert found["copying"][2] == found["unigram"][2]
    assert 2 * found["unigram"][2] < found["BERT from nothing"][2] < found["BERT from nothing"][1]


def baselines_of(lesson, hidden, places, wanted, counts):
    """What the lesson's cell of baselines computes where `hidden` is shown; each token has the same share."""
    (source,) = [cell.source for cell in lesson.cells if cell.id == "baselines"]
    names = {
        "np": np,
        "testing": None,
        "tokenizer": None,
        "rows": np.arange(pretraining.VOCABULARY),
        "disguised": SimpleNamespace(answer=None),
        "lost": SimpleNamespace(answer=lambda losses, chosen: (losses * chosen).sum() / chosen.sum()),
        "name": str,
        "wordpieces": SimpleNamespace(MASK=4, SPECIAL=range(5), rows=lambda *_: np.zeros((1, 1))),
        "pretraining": SimpleNamespace(
            VOCABULARY=pretraining.VOCABULARY,
            masked=lambda *_: ((hidden, places), wanted, counts),
        ),
    }
    exec(source, names)
    return names


def test_the_copying_baseline_gives_a_visible_token_half_of_the_probability(lesson, capsys):
    # A mask, a token as it is, another token, and a place that was not chosen.
    found = baselines_of(
        lesson,
        hidden=np.array([[4, 11, 12, 13]]),
        places=np.array([[0, 1, 2, 3]]),
        wanted=np.array([[10, 11, 99, 13]]),
        counts=np.array([[1.0, 1.0, 1.0, 0.0]]),
    )
    share = found["share"][10]
    wanted = -np.log([share, 0.5 + share / 2, share / 2]).mean()
    assert found["copying"] == pytest.approx(wanted)
    assert found["copying_right"] == pytest.approx(1 / 3)
    assert found["masks"].tolist() == [[1, 0, 0, 0]]
    assert "3 were chosen" in capsys.readouterr().out


def filled(lesson):
    """The guesses for each sentence, before and after the training."""
    rows = [
        re.split(r" {2,}", line.strip()) for line in printed(lesson, "fill").splitlines() if "[MASK]" in line
    ]
    return {row[0]: [re.findall(r"(\S+) \d+%", one) for one in row[1:]] for row in rows}


def test_it_says_rate_among_the_first_three_for_the_gap_after_learning_and_only_after_the_training(lesson):
    before, after = filled(lesson)["the learning [MASK] of the optimizer"]
    assert "rate" in after
    assert "rate" not in before


def test_the_lesson_ends_with_the_reader_s_own_sentence_filled_by_both_models(lesson):
    found = filled(lesson)
    assert len(found) == 5
    assert all(len(before) == len(after) == 3 for before, after in found.values())
    sources = {cell.id: cell.source for cell in lesson.cells}
    names = list(sources)
    assert names.index("mine") + 1 == names.index("fill") == names.index("fill-read") - 1
    assert names[names.index("fill-read") + 1 :] == ["extra-says", "extra", "extra-check", "extra-look"]


def test_a_comparison_leaves_the_trained_parameters_in_the_model(lesson):
    (source,) = [cell.source for cell in lesson.cells if cell.id == "fill"]

    class Model:
        def set_weights(self, weights):
            self.weights = weights

    def fill(model, tokenizer, sentence, best):
        return [(f"{sentence} by {model.weights}", 0.5)][:best]

    shown, model = [], Model()
    fills = SimpleNamespace(fill=fill)
    names = {"mine": "A [MASK].", "model": model, "tokenizer": None, "pretraining": fills, "reading": []}
    exec(source, {**names, "untrained": "0", "trained": "1", "figures": lambda _, rows: shown.extend(rows)})
    assert model.weights == "1"
    assert shown[0] == {
        "sentence": "A [MASK].",
        "before training": "A [MASK]. by 0 50%",
        "after training": "A [MASK]. by 1 50%",
    }
    assert len(shown) == 6


def test_with_shuffled_words_little_more_than_copying_is_left(lesson):
    found = re.findall(
        r"loss (\d+\.\d+), (\d+\.\d+)% right, (\d+\.\d+)% at \[MASK\]", printed(lesson, "break-order")
    )
    (_, _, in_order), (loss, right, mixed) = [tuple(map(float, one)) for one in found]
    copying_loss, copying_right, at_masks = guessers(lesson)["copying"]
    assert loss == pytest.approx(copying_loss, abs=0.3)
    assert right == pytest.approx(copying_right, abs=4)
    assert mixed - at_masks < (in_order - at_masks) / 2


def test_the_shuffle_moves_no_chosen_token_and_no_special_one(lesson):
    (source,) = [cell.source for cell in lesson.cells if cell.id == "break-order"]
    shown = np.array([[2, *range(10, 40), 4, 3, 0, 0]])
    places, counts = np.array([[1, 5, 31, 7]]), np.array([[1.0, 1.0, 1.0, 0.0]])
    names = {
        "np": np,
        "hidden": (shown, places),
        "counts": counts,
        "wordpieces": SimpleNamespace(SPECIAL=range(5)),
        "draw": np.random.default_rng(12),
        "score": lambda *_: (0, 0, 0),
        "model": None,
        "loss": 0,
        "right": 0,
        "right_masks": 0,
    }
    exec(source, names)
    (before,), (after,) = shown, names["shuffled"]
    stay = [0, 1, 5, 31, 32, 33, 34]
    assert after[stay].tolist() == before[stay].tolist()
    assert sorted(after) == sorted(before)
    assert (after != before).sum() > 15


def test_training_begins_at_the_unigram_line_and_falls_below(lesson):
    losses = [float(one) for one in re.findall(r"loss: (\d+\.\d+)", printed(lesson, "train"))]
    unigram = guessers(lesson)["unigram"][0]
    assert len(losses) == steps_of(lesson) // 150
    assert losses[0] == pytest.approx(unigram, abs=0.3)
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < unigram - 1


def test_the_encoder_does_not_see_padding():
    from jupyter_mlgpu.teach.lessons import bert

    encoder = bert.encoder(30, length=8)
    rows = np.array([[2, 7, 9, 3, 0, 0, 0, 0]], "int32")
    before = encoder.predict(rows, verbose=0)[0, :4]
    words = encoder.get_layer("words")
    vectors = words.get_weights()[0]
    vectors[0] += 5
    words.set_weights([vectors])
    np.testing.assert_allclose(encoder.predict(rows, verbose=0)[0, :4], before, atol=1e-5)
    vectors[9] += np.arange(bert.WIDTH)
    words.set_weights([vectors])
    assert not np.allclose(encoder.predict(rows, verbose=0)[0, :4], before, atol=1e-2)


#: The cells in which the lesson builds its encoder, in their order.
BUILDING = ("import", "embedding", "norm", "norm-check", "attention", "block", "block-check", "encoder")


def built_by_the_cells(notebook, tokens):
    """The encoder that these cells build, with `tokens` in the place of the lesson's rows."""
    sources = {cell.id: cell.source for cell in notebook.cells}
    assert [name for name in sources if name in BUILDING] == [*BUILDING]
    names = {"rows": tokens}
    for name in BUILDING:
        exec(sources[name], names)
    return names["encoder"]


@pytest.mark.slow
@pytest.mark.parametrize("filled", [False, True], ids=["blanks open", "blanks filled in"])
def test_the_encoder_that_the_lesson_builds_says_what_keras_own_layers_say_with_its_parameters(
    lesson, filled
):
    from jupyter_mlgpu.teach.lessons import bert

    draw = np.random.default_rng(12)
    tokens = draw.integers(5, 40, (40, bert.LENGTH)).astype("int32")
    tokens[:, 20:] = 0  # [PAD]
    encoder = built_by_the_cells(lesson_solutions.build(lesson, LESSON) if filled else lesson, tokens)
    encoder.set_weights([draw.normal(0, 0.1, one.shape) for one in encoder.get_weights()])
    ready_made = bert.ready_made(encoder)
    assert encoder.count_params() == ready_made.count_params()
    vectors = encoder.predict(tokens[:4], verbose=0)
    assert vectors.std() == pytest.approx(1, abs=0.01)
    np.testing.assert_allclose(vectors, ready_made.predict(tokens[:4], verbose=0), atol=1e-4)


def test_the_model_is_built_in_the_lesson_and_the_module_has_what_it_does_not_build(lesson):
    from jupyter_mlgpu.teach.lessons import bert

    used = set(re.findall(r"\bbert\.(\w+)", "\n".join(one.source for one in lesson.cells)))
    assert "encoder" not in used
    assert all(hasattr(bert, name) for name in used)


def test_after_the_training_both_encoders_say_the_same_and_the_ready_made_one_is_kept(lesson):
    shown = printed(lesson, "keep")
    assert "built here and ready-made: exact: no, approximate: yes" in shown
    assert "Saved in your cache folder" in shown


@pytest.mark.slow
def test_a_model_learns_from_one_sentence_which_words_there_are_and_guesses_among_them():
    import keras

    from jupyter_mlgpu.teach.lessons import bert, pretraining, wordpieces

    sentence = "the learning rate of the optimizer is small ."
    tokenizer = wordpieces.train_tokenizer([sentence] * 64, 80)
    rows = np.tile(wordpieces.rows(tokenizer, [sentence] * 64), (8, 1))
    keras.utils.set_random_seed(0)
    encoder = bert.encoder(pretraining.VOCABULARY)
    model = bert.ready_to_train(bert.masked_language_model(encoder, pretraining.GUESSES), steps=60)
    data = pretraining.training_data(rows, pretraining.reference_disguise(), steps=60)
    history = model.fit(**data, steps_per_epoch=20, epochs=3, shuffle=False, verbose=0).history["loss"]
    assert history[0] > 4 > history[2]  # of 3,000 tokens, equally likely, a guess costs 8
    likely = pretraining.fill(model, tokenizer, "the learning [MASK] of the optimizer is small .")
    assert {token for token, _ in likely} <= set(tokenizer.encode(sentence).tokens)
    chances = [chance for _, chance in likely]
    assert chances == sorted(chances, reverse=True)
    assert 0.5 < sum(chances) <= 1.001


def test_the_text_counts_the_rows_of_the_training(lesson):
    sources = {cell.id: cell.source for cell in lesson.cells}
    steps = steps_of(lesson)
    told = f"{steps * pretraining.BATCH:,} rows ({steps:,} steps of {pretraining.BATCH})"
    assert told in sources["train-read"]


def test_pieces_of_banana_come_before_any_whole_word_in_the_gap_beside_it(lesson):
    line = next(one for one in printed(lesson, "break-all").splitlines() if "banana" in one)
    found = re.findall(r"(\S+) \d+%", line)
    assert found[:2] == ["##an", "##a"]
    assert not any(one.startswith("##") for one in found[2:])
