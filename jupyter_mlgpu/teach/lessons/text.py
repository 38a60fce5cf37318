"""Text for the language lessons, without a network: the docstrings of installed libraries.

Every learner's disk has the documentation inside Python, NumPy, SciPy and similar libraries: a million words
of plain English about arrays and models. The files are read and never imported, so no framework is needed and
no code runs.

The same versions of the libraries give the same sentences in the same order on every machine.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import importlib.util
import inspect
import re
import sys
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from itertools import zip_longest
from pathlib import Path
from platform import python_version
from types import MappingProxyType

from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import say

#: The name to import and the name to install, in the order of preference.
_NAMES = {
    "python": "",
    "numpy": "numpy",
    "scipy": "scipy",
    "sklearn": "scikit-learn",
    "matplotlib": "matplotlib",
    "keras": "keras",
    "tensorflow": "tensorflow",
    "torch": "torch",
    "jax": "jax",
}
#: Number of libraries that are read. If TensorFlow is not installed, PyTorch or JAX takes its place.
_LIBRARIES = 7

#: The end of a sentence, a whole sentence, and a plain word.
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_WHOLE = re.compile(r"[A-Z].*[.!?]$")
_PLAIN = re.compile(r"[A-Za-z][a-z]*[-'a-z]*[,.;:!?)]*|\([a-z]+")
#: Starts of lines that are not prose, such as "rate: The learning rate" or "- a point". Then code,
#: directives, and rules below headings.
_HEAD = re.compile(r"[*\w.`]+( ?\([^)]*\))?:\s|[-*+] ")
_NO_TEXT = (">>>", ".. ", "...", "--", "==", "```")
#: A role such as :func:`~numpy.sum`, of which "sum" is kept; then other markup.
_ROLE = re.compile(r":[\w:+-]+:`~?(?:[^`<]*<)?(?:\w+\.)*([\w ]+)\(?\)?>?`")
_MARKUP = re.compile(r"[`*|]+|(?<=\w)_(?=\W)")

#: A sentence that describes what the last `corpus` was made of.
source = "No text has been read yet: text.corpus() reads it."

#: Number of sentences that stay together when a corpus is split.
_STRETCH = 20

# Folders whose texts are no documentation, or belong to another library.
_LEFT_OUT = {"tests", "test", "testing", "_test", "site-packages", "dist-packages", "_vendor", "idlelib"}


@cache
def libraries() -> Mapping[str, str]:
    """Return the libraries whose text is used, with their versions; at most seven."""
    found = {
        name: _version(name, distribution) if distribution else python_version()
        for name, distribution in _NAMES.items()
        if _folder(name) is not None
    }
    return MappingProxyType(dict(list(found.items())[:_LIBRARIES]))


def _version(package: str, distribution: str) -> str:
    """Return the installed version, even of another distribution such as `tensorflow-cpu`."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        others = metadata.packages_distributions().get(package, [])  # slow: reads every list of files
        return metadata.version(others[0]) if others else "of unknown version"


class Corpus(list[str]):
    """A list of different sentences.

    `libraries` names the library of each sentence, `words` is the total number of words, and `source` is a
    sentence that describes the text.
    """

    def __init__(self, found: list[tuple[str, str]]) -> None:
        super().__init__(sentence for sentence, _ in found)
        self.libraries = [library for _, library in found]
        self.words = sum(len(sentence.split()) for sentence in self)
        versions = ", ".join(f"{library} {version}" for library, version in libraries().items())
        source = say(
            "Data: {sentences} sentences, {words} words, from the docstrings on this machine ({versions}).",
            sentences=len(self),
            words=self.words,
            versions=versions,
        )
        self.source = translate(source)

    def split(self, share: float = 0.1) -> tuple[Corpus, Corpus]:
        """Split the corpus for training and testing; the second part has about this share.

        Groups of 20 sentences stay together, so that most docstrings are not split.
        """
        parts: tuple[list[tuple[str, str]], list[tuple[str, str]]] = ([], [])
        for place, pair in enumerate(zip(self, self.libraries, strict=True)):
            stretch = place // _STRETCH
            # The second part gets the next group whenever `share` times the number of groups passes an
            # integer.
            parts[int((stretch + 1) * share) > int(stretch * share)].append(pair)
        return Corpus(parts[0]), Corpus(parts[1])


def corpus(words: int = 300_000) -> Corpus:
    """Return a corpus of about `words` words, or fewer if the libraries have fewer.

    Each library gives an equal share, as far as it has one. Docstrings of the libraries alternate. A sentence
    that occurs twice is left out, because its library would be unclear.
    """
    global source
    share = words // len(libraries())
    with _without_collector():
        found = {library: _docstrings_of(library, share) for library in libraries()}
    times = Counter(one for some in found.values() for docstring in some for one in docstring)
    built = Corpus(
        [
            (sentence, library)
            for turn in zip_longest(*found.values(), fillvalue=())
            for library, docstring in zip(found, turn, strict=True)
            for sentence in docstring
            if times[sentence] == 1
        ]
    )
    source = built.source
    return built


def of(package: str) -> Corpus:
    """Return the sentences of one installed package, which need not be one of `libraries`.

    None of IPython's is in `corpus`: it is a text that the models of the lessons have not read.
    """
    with _without_collector():
        found = _docstrings_of(package, sys.maxsize)
    return Corpus([(sentence, package) for docstring in found for sentence in docstring])


@contextmanager
def _without_collector() -> Iterator[None]:
    """Switch off Python's cyclic garbage collector within the block.

    Millions of syntax tree nodes are created and freed, none in a cycle. The collector would take a third of
    the time (measured).
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def sentences(docstring: str) -> Iterator[str]:
    """Yield the plain English sentences of one docstring, without code, tables and parameter lists."""
    for block in _blocks(docstring):
        for one in _SENTENCE_END.split(_without_markup(block)):
            words = one.split()
            if not (3 <= len(words) <= 40 and _WHOLE.match(one)):
                continue
            if sum(map(_is_plain, words)) >= 0.8 * len(words):
                yield one


@cache  # a million words have only about ten thousand different ones
def _is_plain(word: str) -> bool:
    return _PLAIN.fullmatch(word) is not None


def _docstrings_of(library: str, words: int) -> list[tuple[str, ...]]:
    """Return the new sentences of each docstring of a library, up to about `words` words."""
    folder = _folder(library)
    assert folder is not None, f"{library} is not installed"
    seen: set[str] = set()
    found = []
    # Whole files in the order of their hashed names, until there are enough words: reading all of TensorFlow
    # takes 10 s.
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.py")}
    for name in sorted(
        (name for name in paths if not _LEFT_OUT & set(name.split("/"))),
        key=lambda name: hashlib.sha256(name.encode()).digest(),
    ):
        for docstring in _docstrings(paths[name]):
            new = tuple(one for one in dict.fromkeys(sentences(docstring)) if one not in seen)
            seen.update(new)
            found.append(new)
            words -= sum(len(one.split()) for one in new)
        if words <= 0:
            break
    return found


def _docstrings(path: Path) -> Iterator[str]:
    code = path.read_text(encoding="utf-8", errors="replace")
    if '"""' not in code and "'''" not in code:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in a library must not bother the learner
        try:
            tree = ast.parse(code)
        except (SyntaxError, ValueError):  # a template, or code for another Python version
            return
    yield from _walk_docstrings(tree)


def _walk_docstrings(node: ast.AST) -> Iterator[str]:
    """Yield the docstrings of a node and of its definitions; only statements are visited, for speed."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield ast.get_docstring(node) or ""
    for one in getattr(node, "body", ()):
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call):
            if getattr(one.value.func, "id", "") == "add_newdoc":
                # NumPy documents functions written in C with calls.
                yield from (inspect.cleandoc(_text(argument)) for argument in one.value.args)
        else:
            yield from _walk_docstrings(one)


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _blocks(docstring: str) -> Iterator[str]:
    """Yield paragraphs as one line each, without code and headings."""
    block: list[str] = []
    fenced = False
    for line in [*docstring.splitlines(), ""]:
        text = line.strip()
        if text.startswith("```"):
            fenced = not fenced
        head = _HEAD.match(text)
        if head or fenced or not text or text.startswith(_NO_TEXT) or " : " in text:
            yield " ".join(block)
            block = []
            text = text[head.end() :] if head and not fenced else ""
        if text:
            block.append(text)


def _without_markup(block: str) -> str:
    return _MARKUP.sub("", _ROLE.sub(r"\1", block) if ":`" in block else block)


def _folder(library: str) -> Path | None:
    if library == "python":
        return Path(sysconfig.get_path("stdlib"))
    spec = importlib.util.find_spec(library)
    return Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None
