"""Real text with no network: the prose in the docstrings of the libraries that are installed.

Their files are read, not imported. For the same versions of the libraries the text is the same, on every
machine.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
from collections.abc import Iterator
from importlib import metadata
from itertools import zip_longest
from pathlib import Path

#: The libraries, by the name of their package; the first is Python's own manual, as `help()` shows it.
LIBRARIES = ("python", "numpy", "scipy", "sklearn", "matplotlib", "keras", "tensorflow")

_DISTRIBUTIONS = {"sklearn": "scikit-learn"}

#: A sentence has so many words.
_FEWEST, _MOST = 5, 60

#: What the last `corpus` was made of, in a sentence.
source = "No text has been read yet: text.corpus() reads it."

_MARKUP = re.compile(
    r":[\w:+-]+:`~?([^`<]+?)(?:\s*<[^>]*>)?`|`{1,2}([^`]+)`{1,2}_{0,2}|\*{1,2}(\S[^*]*?)\*{1,2}"
)
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_WORD = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)*")
_TITLE = re.compile(r"[=\-~^]{3,}")


class Corpus(list[str]):
    """Sentences, each once; `libraries` says which library each is from, `source` what was read."""

    def __init__(self, found: list[tuple[str, str]], words: int) -> None:
        super().__init__(sentence for sentence, _ in found)
        self.libraries = [library for _, library in found]
        self.words = words
        self.source = _source(self)


def corpus(words: int = 300_000) -> Corpus:
    """Sentences of about so many words in all, or of all there are; the libraries take turns.

    `text.source` then says what it was made of. A library that is not installed is left out.
    """
    global source
    found: dict[str, str] = {}
    count = 0
    for turn in zip_longest(*(_sentences(library) for library in LIBRARIES)):
        for library, sentence in zip(LIBRARIES, turn, strict=True):
            if sentence is not None and sentence not in found:
                found[sentence] = library
                count += len(sentence.split())
        if count >= words:
            break
    made = Corpus(list(found.items()), count)
    source = made.source
    return made


def _source(made: Corpus) -> str:
    used = [library for library in LIBRARIES if library in made.libraries]
    names = [_versioned(library) for library in used]
    return f"Data: {len(made):,} sentences, {made.words:,} words, from the docstrings of {', '.join(names)}."


def _versioned(library: str) -> str:
    if library == "python":
        from platform import python_version

        return f"Python {python_version()} (its manual's topics)"
    name = _DISTRIBUTIONS.get(library, library)
    return f"{name} {metadata.version(name)}"


def _sentences(library: str) -> Iterator[str]:
    for text in _topics() if library == "python" else _docstrings(library):
        for paragraph in _paragraphs(text):
            for sentence in _END.split(_plain(paragraph)):
                if _is_prose(sentence):
                    yield sentence


def _topics() -> Iterator[str]:
    try:
        from pydoc_data.topics import topics
    except ImportError:  # some builds of Python leave them out
        return
    for _, text in sorted(topics.items()):
        yield text


def _docstrings(library: str) -> Iterator[str]:
    """The docstrings of a package's files, in the order of the files' names; tests are left out."""
    spec = importlib.util.find_spec(library)
    for root in spec.submodule_search_locations or [] if spec else []:
        for path in sorted(Path(root).rglob("*.py"), key=lambda one: one.relative_to(root).as_posix()):
            if {"tests", "testing", "_vendor", "externals"} & set(path.relative_to(root).parts):
                continue
            try:
                tree = ast.parse(path.read_text(encoding="utf-8"))
            except (OSError, SyntaxError, UnicodeDecodeError):
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                    text = ast.get_docstring(node, clean=False)
                    if text:
                        yield text


def _paragraphs(text: str) -> Iterator[str]:
    """Runs of lines at one indentation that are neither code, nor a list's or table's, nor a title."""
    block: list[str] = []
    for line in [*inspect.cleandoc(text).splitlines(), ""]:
        indented = line[:1].isspace()
        if not line.strip() or _TITLE.match(line.strip()):
            if block and not any(one.startswith((">>>", "...", "|", "#", "@", "..")) for one in block):
                yield " ".join(block)
            block = []
        elif not indented or block or (line.startswith("    ") and _WORD.match(line.strip())):
            block.append(line.strip())


def _plain(paragraph: str) -> str:
    text = _MARKUP.sub(lambda found: next(filter(None, found.groups())), paragraph)
    return re.sub(r"\s+", " ", text).strip()


def _is_prose(sentence: str) -> bool:
    """Whether a sentence begins as one, ends as one, and is made of words, for the most part."""
    words = sentence.split()
    if not (_FEWEST <= len(words) <= _MOST and sentence[0].isupper() and sentence[-1] in ".!?"):
        return False
    plain = sum(_WORD.fullmatch(word.strip(".,;:!?()\"'")) is not None for word in words)
    return plain >= 0.85 * len(words)
