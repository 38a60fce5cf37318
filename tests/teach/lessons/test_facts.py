"""What lessons say of models and frameworks, where the code can be asked."""

import numpy as np

from jupyter_mlgpu.teach.lessons import bert


def test_the_little_bert_evens_out_before_each_part_and_has_no_segments_as_lesson_twelve_says(saved_lesson):
    said = saved_lesson("12").prose("model-says")
    assert "pre-norm" in said
    assert "segment embeddings" in said
    model = bert.encoder(vocabulary=20, length=8)
    assert [one.name for one in model.inputs] == ["tokens"]  # BERT takes segments as well
    attention = [one for one in model.layers if type(one).__name__ == "MultiHeadAttention"]
    assert len(attention) == bert.LAYERS
    for layer in attention:
        query = layer._inbound_nodes[0].input_tensors[0]
        assert type(query._keras_history.operation).__name__ == "LayerNormalization"
    assert type(model.layers[-1]).__name__ == "LayerNormalization"


def test_the_vectors_of_lesson_ten_put_rows_together_with_the_smallest_error_and_not_along_their_differences(
    saved_lesson,
):
    """A table that is not centred: its first direction is near the mean, along which rows hardly differ."""
    assert "put together again with the smallest error" in saved_lesson("10").prose("company-again-read")
    draw = np.random.default_rng(10)
    table = 5 + draw.normal(size=(200, 3)) * [0.1, 0.1, 2]
    u, s, directions = np.linalg.svd(table, full_matrices=False)
    differ_most = np.linalg.svd(table - table.mean(axis=0))[2][0]
    assert abs(directions[0] @ differ_most) < 0.8
    rebuilt = (u[:, :1] * s[:1]) @ directions[:1]
    along_differences = np.outer(table @ differ_most, differ_most)
    assert ((table - rebuilt) ** 2).sum() < ((table - along_differences) ** 2).sum()


def test_float64_is_the_quicker_one_in_the_recording_that_lesson_four_explains(saved_lesson):
    assert "is *quicker* there than float32" in saved_lesson("04").prose("types-read")
    best = dict(line.split()[:3:2] for line in saved_lesson("04").shown("types").splitlines()
                if line.startswith("float"))  # fmt: skip
    assert float(best["float64"]) > float(best["float32"])
