"""The catalogue: what messages mean. One TOML file a message, in `messages/<family>/<id>.toml`.

Nothing is read before the catalogue is first asked for, and then only the head of each file, up to the
examples; the rest is read when a message is first explained. A message finds its patterns by its words.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from glob import glob
from pathlib import Path
from typing import Any

from jupyter_mlgpu.explain.logs.parse import Message
from jupyter_mlgpu.explain.logs.template import Pattern, Value, fill, placeholders, straighten, words_of
from jupyter_mlgpu.record.record import Verdict

FOLDER = Path(__file__).parent / "messages"
VERDICTS: tuple[Verdict, ...] = ("fatal", "action", "performance", "info", "harmless")
LANGUAGES = ("en", "zh")

#: How much of a message's body is compared with patterns.
COMPARED = 8 * 1024
#: So many texts are remembered with what they mean, if they are not longer than this.
_RECENT = 2_000
_SHORT = 1_000

#: The source of any fatal line of native code that nothing else explains.
FATAL = "FATAL"
_NATIVE = (".cc", ".cpp", ".cu", ".h", ".mm")

# A level or an exception that stands before the message itself.
_LEAD = re.compile(
    r"(?:(?:WARNING|WARN|ERROR|INFO|FATAL|Warning|Error): )?"
    r"(?:(?:[A-Za-z_]\w*\.)*(?P<origin>_?[A-Z]\w*(?:Error|Exception|Warning)|(?<=\.)[A-Z]\w*)"
    r"(?: \(see above for traceback\))?: )?"
)

#: A pattern with so many literal characters needs no source to be recognised.
_TELLING = 40

# What is needed to recognise a message stands before its examples.
_END_OF_HEAD = re.compile(r"^(?:examples\b|\[\[?[a-z])", re.MULTILINE)


@dataclass(frozen=True)
class Definition:
    """One message of the catalogue."""

    id: str
    path: Path
    verdict: Verdict
    patterns: tuple[Pattern, ...]
    sources: frozenset[str]
    #: The patterns of lines without prefix that belong to the message, as they are written.
    continues: tuple[str, ...]
    #: All occurrences are one, whatever their fields.
    fold: bool
    #: It comes only while a profiler is on.
    profiler: bool
    #: The whole file.
    source: str = field(repr=False)

    @classmethod
    def from_text(cls, path: Path, source: str) -> Definition:
        """The definition in a file; of its text, only what stands before the examples is read now."""
        end = _END_OF_HEAD.search(source)
        head = tomllib.loads(source[: end.start()] if end else source)
        return cls(
            id=path.stem,
            path=path,
            verdict=head["verdict"],
            patterns=tuple(Pattern(source) for source in head["patterns"]),
            sources=frozenset(head.get("sources", ())),
            continues=tuple(head.get("continues", ())),
            fold=head.get("fold", False),
            profiler=head.get("profiler", False),
            source=source,
        )

    @cached_property
    def continuing(self) -> tuple[Pattern, ...]:
        """`continues`, compiled; of a line that belongs to a message they know only how it begins."""
        return tuple(Pattern(source, opening=True) for source in self.continues)

    @cached_property
    def tables(self) -> Mapping[str, Any]:
        """The whole file: texts by language, facts and what else it has."""
        return tomllib.loads(self.source)


@dataclass(frozen=True)
class Explanation:
    """What the catalogue says of one message; `fields` are the values found in it."""

    definition: Definition = field(repr=False)
    fields: Mapping[str, Value]

    @property
    def id(self) -> str:
        """The message's name in the catalogue."""
        return self.definition.id

    @property
    def verdict(self) -> Verdict:
        """harmless, info, performance, action or fatal."""
        return self.definition.verdict

    @property
    def facts(self) -> Mapping[str, str]:
        """Facts for the record, by name; without those whose fields this wording lacks."""
        facts = self.definition.tables.get("facts", {})
        return {
            name: fill(text, self.fields)
            for name, text in facts.items()
            if placeholders(text) <= self.fields.keys()
        }

    def meaning(self, language: str = "en") -> str:
        """What happened, in a sentence or two."""
        return fill(self.definition.tables[language]["meaning"], self.fields)

    def advice(self, language: str = "en") -> str:
        """What to do about it."""
        return fill(self.definition.tables[language]["advice"], self.fields)

    @property
    def may_continue(self) -> bool:
        """Whether there are lines without prefix that belong to the message."""
        return bool(self.definition.continues)

    def continued_by(self, line: str) -> bool:
        """Whether a line without prefix, next in the log, belongs to the message."""
        text = straighten(line)
        return any(pattern.match(text) is not None for pattern in self.definition.continuing)


class Catalogue:
    """All messages that we know."""

    def __init__(self, definitions: Sequence[Definition]) -> None:
        self.definitions = {definition.id: definition for definition in definitions}
        self._index = _index(definitions)
        self._words = set(self._index)
        #: Those that have patterns without a word.
        self._sources = {
            source
            for definition in definitions
            for source in definition.sources
            if _from(source) in self._index
        }
        #: The same text is asked for by whoever puts a message together and by whoever counts it.
        self._recent: dict[tuple[str | None, str], Explanation | None] = {}

    @classmethod
    def load(cls) -> Catalogue:
        """The package's own catalogue, read once in a process."""
        return _load()

    def explain(self, message: Message) -> Explanation | None:
        """What a message means, or None where we do not know."""
        found = self._explain(message.body, message.origin)
        if found is None and _ends_the_process(message):
            found = self._explain(message.body, FATAL)
        return found

    def knows(self, line: str) -> bool:
        """Whether a line without prefix means something by itself."""
        return self._explain(line, None) is not None

    def has_words_of(self, text: str) -> bool:
        """Whether any pattern could match such a text at all, whatever the digits in it."""
        return bool(self._candidates(straighten(text[:COMPARED]), None))

    def explain_all(self, message: Message) -> list[Explanation]:
        """Every definition that matches a message, the one that is meant first. For tests and writers."""
        text = straighten(message.body[:COMPARED])
        found: dict[str, Explanation] = {}
        for origin in (message.origin, *([FATAL] if _ends_the_process(message) else [])):
            for pattern, definition in self._candidates(text, origin):
                fields = pattern.match(text)
                if fields is not None:
                    found.setdefault(definition.id, Explanation(definition, fields))
        return list(found.values())

    def _explain(self, body: str, origin: str | None) -> Explanation | None:
        key = (origin, body)
        recent = self._recent
        if key in recent:
            return recent[key]
        text = straighten(body[:COMPARED])
        found = self._look_up(text, origin)
        if found is None and (lead := _LEAD.match(text)) and lead.end():
            # A message that another one reports: "ERROR: RuntimeError: CUDA out of memory".
            found = self._look_up(text[lead.end() :], lead["origin"] or origin)
        if len(body) <= _SHORT:
            if len(recent) >= _RECENT:
                recent.clear()
            recent[key] = found
        return found

    def _look_up(self, text: str, origin: str | None) -> Explanation | None:
        candidates = self._candidates(text, origin)
        if not candidates:
            return None
        found = _first_match(candidates, text)
        if found is None and "\n" in text:
            # Lines that only seemed to belong to it do not keep its first one from being known.
            found = _first_match(candidates, text.partition("\n")[0])
        return found

    def _candidates(self, text: str, origin: str | None) -> list[tuple[Pattern, Definition]]:
        """The patterns that may match, the one with most literal characters first."""
        words = words_of(text)
        keys = self._words & words
        if origin in self._sources:
            keys.add(_from(origin))
        if not keys:
            return []
        found = [
            (pattern, definition)
            for key in keys
            for pattern, definition in self._index[key]
            if pattern.words <= words and _may_come_from(origin, pattern, definition)
        ]
        if len(found) > 1:
            found.sort(key=_rank)
        return found


def _ends_the_process(message: Message) -> bool:
    """Whatever a fatal line of native code says, nothing runs after it."""
    return message.level == FATAL and (message.origin or "").endswith(_NATIVE)


def _may_come_from(origin: str | None, pattern: Pattern, definition: Definition) -> bool:
    if not definition.sources or origin in definition.sources:
        return True
    # People paste lines without what stands before them; a long text tells enough by itself.
    return origin is None and pattern.literals >= _TELLING


def _rank(candidate: tuple[Pattern, Definition]) -> tuple[int, bool, int, str]:
    """The most literal pattern first; of equals, the one bound to a source, then the one with least slots."""
    pattern, definition = candidate
    return -pattern.literals, not definition.sources, pattern.free_slots, definition.id


def _first_match(candidates: Sequence[tuple[Pattern, Definition]], text: str) -> Explanation | None:
    for pattern, definition in candidates:
        fields = pattern.match(text)
        if fields is not None:
            return Explanation(definition, fields)
    return None


def read_definitions(folder: Path) -> list[Definition]:
    """The definitions below a folder. Raises ValueError for a file that is none."""
    definitions = []
    for name in sorted(glob("*/*.toml", root_dir=folder)):  # pathlib's own takes three times as long
        path = folder / name
        try:
            definitions.append(Definition.from_text(path, path.read_text(encoding="utf-8")))
        except (ValueError, LookupError, TypeError) as error:
            raise ValueError(f"{path}: {error}") from error
    return definitions


@cache
def _load() -> Catalogue:
    return Catalogue(read_definitions(FOLDER))


def _index(definitions: Sequence[Definition]) -> dict[str, list[tuple[Pattern, Definition]]]:
    """Each pattern below the rarest of its words; below its sources where it has no word."""
    pairs = [(pattern, definition) for definition in definitions for pattern in definition.patterns]
    frequency = Counter(word for pattern, _ in pairs for word in pattern.words)
    index: dict[str, list[tuple[Pattern, Definition]]] = {}
    for pattern, definition in pairs:
        if pattern.words:
            keys = [min(pattern.words, key=lambda word: (frequency[word], -len(word), word))]
        else:
            keys = [_from(source) for source in definition.sources]
        for key in keys:
            index.setdefault(key, []).append((pattern, definition))
    return index


def _from(origin: str | None) -> str:
    return f"from {origin}"
