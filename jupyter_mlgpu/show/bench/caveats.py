"""Caveats about benchmark figures, each written once with its number of cases and the range of figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from jupyter_mlgpu.record.sentence import Field, Sentence, say

#: Most cases that are named. Of more cases only the number is given.
_NAMED = 3
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def merged_sentences(said: Sequence[tuple[str, str]], total: int) -> list[Sentence]:
    """Return sentences about cases, given as (sentence, case), each once.

    Those that differ only in figures are merged. `total` is the number of all cases.
    """
    alike: dict[str, list[tuple[str, str]]] = {}
    for sentence, case in said:
        alike.setdefault(getattr(sentence, "template", sentence), []).append((sentence, case))
    found = []
    for group in alike.values():
        cases = list(dict.fromkeys(case for _, case in group))
        sentence = _merge([sentence for sentence, _ in group])
        if len(cases) <= _NAMED:
            found.append(say("{cases}: {sentence}", cases=", ".join(cases), sentence=sentence))
        else:
            numbers = {"count": len(cases), "total": total}
            found.append(say("For {count} of {total} cases: {sentence}", **numbers, sentence=sentence))
    return found


def _merge(sentences: Sequence[str]) -> str:
    """Return one sentence for several with the same template."""
    different = list(dict.fromkeys(sentences))
    first = different[0]
    if len(different) == 1 or not isinstance(first, Sentence):
        return first
    fields: dict[str, Field] = {}
    for name in first.fields:
        values = dict.fromkeys(
            one.fields[name] for one in different if isinstance(one, Sentence) and name in one.fields
        )
        fields[name] = next(iter(values)) if len(values) == 1 else _range([str(one) for one in values])
    return Sentence(first.template, fields, first.plural)


def _range(values: Iterable[str]) -> str:
    """Return `12% to 31%` for texts that differ in one number, otherwise all texts."""
    values = list(values)
    pieces = [_NUMBER.split(one) for one in values]
    numbers = [_NUMBER.findall(one) for one in values]
    if all(one == pieces[0] for one in pieces) and len(numbers[0]) == 1:
        ordered = sorted((one for (one,) in numbers), key=lambda one: float(one.replace(",", "")))
        before, after = pieces[0]
        percent = re.match(r"\s?%", after)
        unit = percent[0] if percent else ""
        return f"{before}{ordered[0]}{unit} to {ordered[-1]}{after}"
    return ", ".join(values)
