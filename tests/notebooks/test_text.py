"""The text that lessons learn from: prose from docstrings, the same each time, each sentence once."""

import re

import pytest

from jupyter_mlgpu.lessons import text


@pytest.fixture(scope="module")
def corpus():
    return text.corpus(words=3_000)


def test_it_is_about_as_long_as_asked_and_says_what_it_was_made_of(corpus):
    assert 3_000 <= corpus.words < 3_500
    assert corpus.words == sum(len(sentence.split()) for sentence in corpus)
    assert text.source == corpus.source
    assert re.fullmatch(
        rf"Data: {len(corpus)} sentences, 3,\d\d\d words, from the docstrings of Python 3\.[\d.]+ "
        r"\(its manual's topics\).*, numpy [\d.]+.*\.",
        corpus.source,
    )


def test_it_is_the_same_each_time_and_longer_ones_begin_as_shorter_ones(corpus):
    again = text.corpus(words=3_000)
    assert again == corpus
    assert again.libraries == corpus.libraries
    assert text.corpus(words=4_000)[: len(corpus)] == corpus


def test_it_is_made_of_whole_sentences_each_of_them_once(corpus):
    assert len(set(corpus)) == len(corpus)
    assert all(5 <= len(sentence.split()) <= 60 for sentence in corpus)
    assert all(sentence[0].isupper() and sentence[-1] in ".!?" for sentence in corpus)
    assert not [sentence for sentence in corpus if ">>>" in sentence]


def test_the_libraries_take_turns(corpus):
    assert len(corpus.libraries) == len(corpus)
    assert corpus.libraries[:2] == ["python", "numpy"]
    assert corpus.libraries.count("numpy") > 20


def package(folder, name, **files):
    (folder / name).mkdir()
    for file, source in {"__init__": "", **files}.items():
        (folder / name / f"{file}.py").write_text(source, encoding="utf-8")


def test_prose_is_found_in_docstrings_without_importing_anything(tmp_path, monkeypatch):
    package(
        tmp_path,
        "prose",
        one='''"""The sum of all of the ``values`` of a table.

Parameters
----------
x : array

    The :class:`table.Table` is read from left to right.

>>> The code is left out of the text as well.
"""
raise SystemExit

class Table:
    def add(self):
        """Adds a row to the end of the table. It says nothing else about the row at all."""

if True:
    def broken():
        """1 + 2 = 3 4 5 is no prose, = = = = at all."""
''',
        two="this is no Python",
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(text, "LIBRARIES", ("prose", "not_installed_anywhere"))
    monkeypatch.setattr(text.metadata, "version", lambda name: "1.0")
    found = text.corpus(words=1_000)
    assert found == [
        "The sum of all of the values of a table.",
        "The table.Table is read from left to right.",
        "Adds a row to the end of the table.",
        "It says nothing else about the row at all.",
    ]
    assert found.source == "Data: 4 sentences, 36 words, from the docstrings of prose 1.0."
