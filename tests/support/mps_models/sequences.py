"""Models of texts, speech and other sequences."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence


class Classifier(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.embedding = nn.Embedding(1000, 32, padding_idx=0)
        self.layer = kind(32, 64, batch_first=True, **options)
        self.out = nn.Linear(64 * (2 if options.get("bidirectional") else 1), 4)

    def forward(self, words):
        return self.out(self.layer(self.embedding(words))[0][:, -1])


def _classified(kind, **options):
    return Classifier(kind, **options), torch.randint(0, 1000, (16, 40)), torch.randint(0, 4, (16,))


def lstm_classifier():
    return _classified(nn.LSTM, num_layers=2, bidirectional=True)


def gru_classifier():
    return _classified(nn.GRU, num_layers=2, dropout=0.3)


def rnn_classifier():
    return _classified(nn.RNN, nonlinearity="relu")


class Packed(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.embedding = nn.Embedding(1000, 32)
        self.layer = kind(32, 64, batch_first=True, bidirectional=True)
        self.options, self.out = options, nn.Linear(128, 4)

    def forward(self, words, lengths):
        packed = pack_padded_sequence(self.embedding(words), lengths, batch_first=True, **self.options)
        made, lengths = pad_packed_sequence(self.layer(packed)[0], batch_first=True)
        there = torch.arange(made.shape[1])[None] < lengths[:, None]
        return self.out((made * there[..., None].to(made)).sum(1) / lengths[:, None].to(made))


def _packed(kind, lengths, **options):
    model = Packed(kind, **options)
    optimizer = torch.optim.Adam(model.parameters())

    def step(texts, classes):
        words = pad_sequence(texts, batch_first=True)
        loss = F.cross_entropy(model(words, torch.tensor([len(one) for one in texts], device="cpu")), classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step, [torch.randint(0, 1000, (one,)) for one in lengths], torch.randint(0, 4, (len(lengths),))


def packed_lstm():
    return _packed(nn.LSTM, (9, 7, 4, 2))


def packed_gru():
    return _packed(nn.GRU, (4, 9, 2, 7), enforce_sorted=False)


class Seq2Seq(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.source, self.target = nn.Embedding(100, width), nn.Embedding(100, width)
        self.encoder = nn.GRU(width, width, batch_first=True)
        self.decoder = nn.GRUCell(2 * width, width)
        self.score = nn.Linear(2 * width, 1)
        self.out = nn.Linear(width, 100)

    def forward(self, source, target):
        memory, state = self.encoder(self.source(source))
        state, made = state[0], []
        word = target[:, 0]
        for at in range(target.shape[1]):
            query = state[:, None].expand_as(memory)
            weights = self.score(torch.cat([query, memory], -1).tanh()).softmax(1)
            context = (weights * memory).sum(1)
            state = self.decoder(torch.cat([self.target(word), context], -1), state)
            made.append(self.out(state))
            word = target[:, at] if torch.rand(1, device="cpu").item() < 0.5 else made[-1].argmax(-1)
        return torch.stack(made, 1)


def seq2seq():
    words = torch.randint(0, 100, (8, 12))
    return Seq2Seq(), words, torch.randint(0, 100, (8, 10)), torch.randint(0, 100, (8, 10))


def ctc_speech():
    model = nn.ModuleDict({"lstm": nn.LSTM(20, 32, bidirectional=True), "out": nn.Linear(64, 29)})
    loss_of = nn.CTCLoss()

    def step(sound, letters):
        scores = model["out"](model["lstm"](sound)[0]).log_softmax(-1)
        lengths = torch.full((4,), 50, dtype=torch.long), torch.full((4,), 10, dtype=torch.long)
        loss_of(scores, letters, *lengths).backward()

    return step, torch.randn(50, 4, 20), torch.randint(1, 29, (4, 10))


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.users, self.items = nn.Embedding(100, 16), nn.Embedding(200, 16, sparse=False)
        self.tags = nn.EmbeddingBag(50, 16, mode="mean")
        self.bias = nn.Embedding(200, 1)

    def forward(self, users, items, tags, starts):
        item = self.items(items) + self.tags(tags, starts)
        return (self.users(users) * item).sum(1) + self.bias(items).squeeze(1)


def recommender():
    users, items = torch.randint(0, 100, (32,)), torch.randint(0, 200, (32,))
    return Recommender(), users, items, torch.randint(0, 50, (64,)), torch.arange(0, 64, 2), torch.rand(32)


def own_lstm_cell():
    width = 16
    gates, out = nn.Linear(2 * width, 4 * width), nn.Linear(width, 1)
    cell = nn.LSTMCell(width, width)

    def step(x, y):
        hidden = state = inner = outer = torch.zeros(x.shape[1], width)
        for now in x:
            i, f, g, o = gates(torch.cat([now, hidden], 1)).chunk(4, 1)
            state = f.sigmoid() * state + i.sigmoid() * g.tanh()
            hidden = o.sigmoid() * state.tanh()
            inner, outer = cell(now, (inner, outer))
        F.l1_loss(out(hidden + inner)[:, 0], y).backward()

    return step, torch.randn(6, 8, width), torch.randn(8)
