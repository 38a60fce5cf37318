"""What lessons say of models and frameworks, where the code can be asked."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

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


@pytest.mark.parametrize("d", [4, 64, 256])
def test_the_typical_score_of_random_vectors_is_the_root_of_their_length_as_lesson_eleven_says(d):
    draw = np.random.default_rng(11)
    queries, keys = draw.normal(size=(2, 1000, d))
    assert (queries @ keys.T).std() == pytest.approx(d**0.5, rel=0.05)


def test_float64_is_the_quicker_one_in_the_recording_that_lesson_four_explains(saved_lesson):
    assert "is *quicker* there than float32" in saved_lesson("04").prose("types-read")
    best = dict(line.split()[:3:2] for line in saved_lesson("04").shown("types").splitlines()
                if line.startswith("float"))  # fmt: skip
    assert float(best["float64"]) > float(best["float32"])


#: Prints whether a convolution of Keras gets channels last, and how many operations its batch normalization
#: and that of PyTorch start.
ASK_KERAS = """
import json
import keras, torch
from keras import layers
from torch.utils._python_dispatch import TorchDispatchMode

class Operations(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, arguments=(), named=None):
        started.append((str(function), arguments))
        return function(*arguments, **(named or {}))

def of(work):
    with Operations():
        work()
    found = list(started)
    started.clear()
    return found

started = []
pictures = torch.zeros(2, 8, 8, 4)
convolution, norm = layers.Conv2D(4, 3), layers.BatchNormalization()
convolution(pictures), norm(pictures, training=True)
convolved = dict(of(lambda: convolution(pictures)))
taken = convolved["aten.convolution.default"][0]
numbers = [torch.zeros(4) for _ in range(4)]
print(json.dumps([
    len(of(lambda: norm(pictures, training=True))),
    len(of(lambda: torch.nn.functional.batch_norm(taken, *numbers, training=True))),
]))
"""


@pytest.mark.needs("torch")
def test_keras_normalizes_a_batch_in_several_operations_on_pytorch_as_lesson_nine_says(saved_lesson):
    said = saved_lesson("09").prose("fit-strips-read")
    assert "as several operations where PyTorch has one" in said
    done = subprocess.run(
        [sys.executable, "-c", ASK_KERAS],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "KERAS_BACKEND": "torch"},
    )
    of_keras, of_torch = json.loads(done.stdout.splitlines()[-1])
    assert of_keras > 5 * of_torch
