"""What lessons 12 and 13 do before a model learns: rows, hidden places, vectors made of counts."""

import pytest

from jupyter_mlgpu.teach.lessons import bert, pretraining, wordpieces

np = pytest.importorskip("numpy", reason="NumPy is not installed here")

SENTENCES = [
    "The learning rate of the optimizer is small.",
    "The learning rate of the model is large.",
    "Returns the number of rows in the array.",
] * 3


@pytest.fixture(scope="module")
def tokenizer():
    pytest.importorskip("tokenizers", reason="tokenizers is not installed here")
    return wordpieces.train_tokenizer(SENTENCES, 100)


def test_special_tokens_come_first_and_words_are_small_letters(tokenizer):
    assert [tokenizer.id_to_token(one) for one in range(5)] == list(wordpieces.SPECIAL)
    assert "learning" in tokenizer.encode(SENTENCES[0]).tokens


def test_the_same_sentences_always_give_the_same_tokens():
    # All pairs of letters are equally frequent, so that only the order of the letters decides.
    words = [" ".join(f"{a}{b}{c}" for a in "abcdef" for b in "ghijkl" for c in "mnopqr")] * 3
    found = {str(sorted(wordpieces.train_tokenizer(words, 60).get_vocab().items())) for _ in range(5)}
    assert len(found) == 1


def test_pieces_inside_a_word_are_shown_and_special_tokens_are_not(tokenizer):
    cut = tokenizer.encode("learningrates [SEP]")
    assert any(one.startswith("##") for one in cut.tokens)
    assert tokenizer.decode(cut.ids) == "learningrates"


def test_a_row_holds_whole_sentences_and_ends_with_padding(tokenizer):
    rows = wordpieces.rows(tokenizer, SENTENCES, length=32)
    assert rows.shape[1] == 32
    assert (rows[:, 0] == wordpieces.CLS).all()
    assert (rows == wordpieces.SEP).sum() == len(SENTENCES)
    for row in rows:
        filled = row[: np.flatnonzero(row)[-1] + 1]
        assert filled[-1] == wordpieces.SEP
        assert (filled != wordpieces.PAD).all()


def test_a_sentence_that_is_too_long_is_cut_off(tokenizer):
    rows = wordpieces.single_rows(tokenizer, iter(SENTENCES[:2]), length=6)
    assert rows.shape == (2, 6)
    assert rows[:, 0].tolist() == [wordpieces.CLS] * 2
    assert rows[:, -1].tolist() == [wordpieces.SEP] * 2


def test_about_15_percent_are_hidden_and_never_a_special_token():
    rows = np.random.default_rng(0).integers(0, 3000, (500, 64))
    rows[:, 0] = wordpieces.CLS
    chosen = wordpieces.choose(rows, np.random.default_rng(1).random(rows.shape))
    assert 0.14 < chosen[rows >= 5].mean() < 0.16
    assert not chosen[rows < 5].any()


def test_of_the_hidden_places_80_percent_show_a_mask_and_10_percent_another_token():
    rows = np.random.default_rng(0).integers(5, 3000, (2000, 64)).astype("int32")
    draw = np.random.default_rng(1)
    (shown, places), wanted, counts = pretraining.masked(rows, pretraining.reference_disguise(), draw)
    at_places = np.take_along_axis(shown, places, axis=1)[counts == 1]
    wanted = wanted[counts == 1]
    assert 0.78 < (at_places == wordpieces.MASK).mean() < 0.82
    assert 0.08 < (at_places == wanted).mean() < 0.12
    changed = (shown != rows).sum()
    assert changed == (at_places != wanted).sum()  # nothing is changed where nothing has to be guessed


def test_each_time_through_the_rows_other_places_are_hidden_and_with_the_same_seed_the_same_ones():
    rows = np.random.default_rng(0).integers(5, 3000, (2 * pretraining.BATCH + 8, 64)).astype("int32")
    disguise = pretraining.reference_disguise()
    first, second = (pretraining.training_data(rows, disguise, steps=5, seed=3) for _ in range(2))
    shown, places = first["x"]
    assert shown.shape == (5 * pretraining.BATCH, 64)
    assert len(places) == len(first["y"]) == len(first["sample_weight"]) == len(shown)
    assert (shown == second["x"][0]).all()
    assert len({one.tobytes() for one in shown}) == len(shown)  # a row that comes again hides others


def test_too_few_rows_for_a_batch_are_told():
    rows = np.full((pretraining.BATCH - 1, 64), 7, "int32")
    with pytest.raises(ValueError, match="made of 32 rows, found 31 in all"):
        pretraining.training_data(rows, pretraining.reference_disguise(), steps=1)


def test_tokens_with_the_same_neighbours_begin_with_similar_vectors():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed here")
    # 10 and 11 stand between the same tokens, 12 between others.
    rows = np.array([[20, 10, 21, 0], [20, 11, 21, 0], [30, 12, 31, 0], [32, 13, 33, 0]] * 5)
    # All directions that there are: of equal ones, which are kept differs from machine to machine.
    vectors = bert.vectors_from_counts(rows, 40, width=8, window=1)
    assert vectors.shape == (40, 8)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    assert unit[10] @ unit[11] > 0.99
    assert abs(unit[10] @ unit[12]) < 0.01


def test_positions_are_sines_and_cosines_of_a_tenth():
    positions = bert.positions(64)
    assert positions.shape == (64, bert.WIDTH)
    assert positions[0, ::2].tolist() == [0] * (bert.WIDTH // 2)
    assert abs(positions).max() <= 0.1
    assert positions[5, 0] == pytest.approx(0.1 * np.sin(5))
