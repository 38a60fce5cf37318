"""The words of Apple's ML Compute and their values, and errors for unknown words.

names.json has them from the metadata of the wheel pyobjc-framework-MLCompute 12.2.2, where `Add` of the
enumeration MLCArithmeticOperation is called MLCArithmeticOperationAdd; a test compares every value. The only
word that is not Apple's is the data type Float64: Apple's framework has none, the other engines do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from jupyter_mlgpu.record.errors import GraphError

ENUMERATIONS: dict[str, dict[str, int]] = json.loads(Path(__file__).with_name("names.json").read_text())


def choose(words: str | Iterable[str], word: str, where: str) -> str:
    """Return Apple's spelling of a word: `divide_no_nan` is DivideNoNaN.

    Case and underscores do not matter. `words` are the possible words, or the name of their enumeration.
    `where` is the caller's name for the message.

    Raises:
        GraphError: for any other word, with the nearest ones.
    """
    known = {_plain(name): name for name in (ENUMERATIONS[words] if isinstance(words, str) else words)}
    near = [known[one] for one in get_close_matches(_plain(str(word)), known, n=3, cutoff=0.6)]
    offered = f": did you mean {' or '.join(near)}?" if near else f"; it knows {', '.join(known.values())}."
    insist(_plain(str(word)) in known, f"{where} knows no {word!r}{offered}")
    return known[_plain(str(word))]


def options(enumeration: str, words: str | Iterable[str], where: str) -> frozenset[str]:
    """Return several words of an enumeration of flags; a single one may be given without a list."""
    given = [words] if isinstance(words, str) else words
    return frozenset(choose(enumeration, one, where) for one in given)


def _plain(word: str) -> str:
    return word.replace("_", "").replace(" ", "").lower()


def plain_words(name: str) -> str:
    """Return Apple's word in plain words: SoftmaxCrossEntropy is softmax cross entropy."""
    return re.sub("(?<=[a-z0-9])(?=[A-Z][a-z])", " ", name).lower()


def insist(truth: object, otherwise: str, error: type[Exception] = GraphError) -> None:
    """Raise the error with this sentence if the condition is not true."""
    if not truth:
        raise error(otherwise)
