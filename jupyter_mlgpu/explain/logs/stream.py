"""Explain a whole log message by message, without keeping anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jupyter_mlgpu.explain.logs import prefixes
from jupyter_mlgpu.explain.logs.catalogue import Catalogue, Explanation
from jupyter_mlgpu.explain.logs.lines import LineSplitter, text_of
from jupyter_mlgpu.explain.logs.parse import Message, Parser

_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"000000000")
_REMEMBERED = 10_000


def messages(blocks: Iterable[bytes], catalogue: Catalogue) -> Iterator[tuple[Message, Explanation | None]]:
    """Yield the messages of a log that comes in blocks, in order, with their explanations."""
    parser = Parser(catalogue)
    # Shapes of lines without a prefix that no pattern can match: most lines of most logs. All digits count as
    # equal. Whether a shape is plain is checked when it comes a second time.
    plain: dict[bytes, bool | None] = {}
    for line in _lines(blocks):
        shape = line.translate(_DIGITS_ALIKE)
        text = text_of(line)
        overwritten = line.endswith(b"\r")
        is_plain = plain.get(shape)
        if is_plain and (overwritten or not parser.takes_plain):
            for message in parser.finish():
                yield message, catalogue.explain(message)
            yield Message(text, text.strip(), overwritten=overwritten), None
            continue
        for message in parser.push(text, overwritten=overwritten):
            yield message, catalogue.explain(message)
        if parser.is_open and parser.takes_nothing:
            for message in parser.finish():
                yield message, catalogue.explain(message)
            if is_plain is None:
                if len(plain) >= _REMEMBERED:
                    plain.clear()
                plain[shape] = _is_plain(text, catalogue) if shape in plain else None
    for message in parser.finish():
        yield message, catalogue.explain(message)


def _lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    splitter = LineSplitter()
    for block in blocks:
        yield from splitter.feed(block)
    yield from splitter.finish()


def _is_plain(text: str, catalogue: Catalogue) -> bool:
    return not (
        not text.strip()
        or text[0].isspace()
        or prefixes.undecorated(text)
        or prefixes.read(text)
        or prefixes.split_inside(text, 1)
        or catalogue.has_words_of(text)
    )
