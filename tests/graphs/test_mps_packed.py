"""Steps with packed sequences are traced whole, by lengths that are known or the longest."""

from __future__ import annotations

import pytest

from jupyter_mlgpu.graphs.mps.trace import trace
from tests.support.later import Later

pytestmark = pytest.mark.needs("torch")

torch, nn, rnn = Later("torch"), Later("torch.nn"), Later("torch.nn.utils.rnn")


def counts(traced):
    found = {}
    for one in traced.operations:
        found[one.operation] = found.get(one.operation, 0) + one.count
    return found


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("batch_first", [True, False])
def test_a_packed_layer_is_traced_whole(kind, batch_first):
    layer = getattr(nn, kind)(4, 8, batch_first=batch_first, bidirectional=True)

    def step(x):
        packed = rnn.pack_padded_sequence(x, [5, 3], batch_first=batch_first)
        out, lengths = rnn.pad_packed_sequence(layer(packed)[0], batch_first=batch_first)
        assert (out.shape, lengths.shape) == ((2, 5, 16) if batch_first else (5, 2, 16), (2,))
        out.sum().backward()

    x = torch.randn(*((2, 5) if batch_first else (5, 2)), 4, requires_grad=True)
    traced = trace(step, (x,), train=False)
    assert traced.untraced == ()
    assert traced.assumptions == ()
    assert {"_pack_padded_sequence", "_pack_padded_sequence_backward"} <= set(counts(traced))


def test_a_packed_lstm_is_made_of_single_operations_as_on_mps():
    layer = nn.LSTM(4, 8)

    def step(x):
        return layer(rnn.pack_padded_sequence(x, [5, 3]))[1][0]

    traced = trace(step, (torch.randn(5, 2, 4),), train=False)
    assert "_lstm_mps" not in counts(traced)
    assert "sigmoid_" in counts(traced)


def test_lengths_in_any_order_are_known():
    def step(x):
        packed = rnn.pack_padded_sequence(x, torch.tensor([2, 4, 1]), enforce_sorted=False)
        assert packed.batch_sizes.tolist() == [3, 2, 1, 1]
        return packed.data.exp()

    traced = trace(step, (torch.randn(4, 3, 2),), train=False)
    assert (traced.assumptions, traced.untraced) == ((), ())


def test_lengths_that_are_values_are_the_longest_and_told():
    layer = nn.GRU(4, 8)

    def step(x, lengths):
        return layer(rnn.pack_padded_sequence(x, lengths))[1].exp()

    traced = trace(step, (torch.randn(5, 2, 4), torch.tensor([5, 3])), train=False)
    assert traced.untraced == ()
    assert "all were taken to be the longest" in str(traced.assumptions)
    assert "exp" in counts(traced)


def test_long_packed_sequences_are_traced_for_few_steps():
    layer = nn.LSTM(4, 8)

    def step(texts):
        out, lengths = rnn.pad_packed_sequence(layer(rnn.pack_sequence(texts))[0])
        assert out.shape == (5_000, 2, 8)
        return out.exp(), lengths.max()

    traced = trace(step, ([torch.randn(5_000, 4), torch.randn(40, 4)],), train=False)
    assert traced.untraced == ()
    assert "8 of its 5,000 steps" in str(traced.assumptions)
