"""The lessons' text: plain sentences out of docstrings, the same ones every time, and whose they are."""

from jupyter_mlgpu.lessons import text

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


def test_the_same_libraries_give_the_same_sentences_again():
    first = text.corpus(2100)
    text.by_library.cache_clear()
    assert text.corpus(2100) == first


def test_each_library_gives_its_share_and_no_sentence_stands_with_two():
    found = text.by_library(2100)
    assert set(found) == set(text.libraries())
    assert "python" in found
    assert all(some for some in found.values())
    everything = text.corpus(2100)
    assert len(everything) == len(set(everything)) == sum(map(len, found.values()))
    longest = max(sum(len(one.split()) for one in some) for some in found.values())
    assert longest < 2 * 2100  # the last file may bring more than the share


def test_the_source_names_every_library_and_its_version():
    words = text.source()
    assert all(f"{name} {version}" in words for name, version in text.libraries().items())
    assert "No network was used." in words
