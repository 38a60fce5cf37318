"""The lessons' text: plain sentences out of docstrings, the same ones every time, and whose they are."""

import pytest

from jupyter_mlgpu.teach.lessons import text

DOCSTRING = """Add two columns of numbers, row by row.

The columns must have the same length. If they do not, then a `ValueError` is
raised by :func:`~numpy.broadcast_to`. Short one.

Parameters
----------
x : array_like
    The column that comes first.
rate: A float, the learning rate
    of the whole model.

>>> add([1], [2])  # This is a line of code.
[3]

```
This is not a sentence of English.
```

.. deprecated:: 1.0
   Use another function in its place.
The set {1, 2} = {2, 1} \\in [x].
"""


def test_plain_sentences_are_kept_whole_and_without_markup():
    assert list(text.sentences(DOCSTRING)) == [
        "Add two columns of numbers, row by row.",
        "The columns must have the same length.",
        "If they do not, then a ValueError is raised by broadcast_to.",
        "The column that comes first.",
        "A float, the learning rate of the whole model.",
        "Use another function in its place.",
    ]


@pytest.fixture(scope="module")
def found():
    return text.corpus(1400)


@pytest.mark.slow
def test_the_same_libraries_give_the_same_sentences_again(found):
    assert text.corpus(1400) == found


def test_each_library_gives_some_and_no_sentence_stands_with_two(found):
    assert len(found.libraries) == len(found) == len(set(found))
    assert set(found.libraries) == set(text.libraries()) >= {"python"}
    assert 700 < found.words == sum(len(one.split()) for one in found)


def test_the_source_names_every_library_and_its_version_and_how_much_it_is(found):
    assert all(f"{name} {version}" in found.source for name, version in text.libraries().items())
    assert f"{len(found):,} sentences, {found.words:,} words" in found.source
    assert text.source == found.source


def test_stretches_of_sentences_are_put_apart_for_testing(found):
    first, last = found.split(0.25)
    assert sorted([*first, *last]) == sorted(found)
    assert list(last[:20]) == found[60:80]
    assert abs(len(last) - 0.25 * len(found)) <= 20
    assert [library for one, library in zip(found, found.libraries, strict=True) if one in set(last)] == (
        last.libraries
    )
