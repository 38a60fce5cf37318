"""The catalogue of known messages, with one TOML file per message in `messages/<family>/<id>.toml`.

No file is read before the catalogue is first used. Then only the head of each file is read, up to the
examples; the rest is read when a message is first explained. Patterns are found by the words of a message.
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

#: Characters of a message's body that are compared with patterns.
COMPARED = 8 * 1024
#: The number of texts whose explanations are cached, and the length of the longest one.
_RECENT = 2_000
_SHORT = 1_000

#: The source of any fatal line of native code that nothing else explains.
FATAL = "FATAL"
_NATIVE = (".cc", ".cpp", ".cu", ".h", ".mm")

# A level or an exception before the message itself.
_LEAD = re.compile(
    r"(?:(?:WARNING|WARN|ERROR|INFO|FATAL|Warning|Error): )?"
    r"(?:(?:[A-Za-z_]\w*\.)*(?P<origin>_?[A-Z]\w*(?:Error|Exception|Warning)|(?<=\.)[A-Z]\w*)"
    r"(?: \(see above for traceback\))?: )?"
)

#: A pattern with this many literal characters is recognized without its source.
_DISTINCTIVE = 40

# What is needed to recognize a message is written before its examples.
_END_OF_HEAD = re.compile(r"^(?:examples\b|\[\[?[a-z])", re.MULTILINE)


@dataclass(frozen=True)
class Definition:
    """One message of the catalogue."""

    id: str
    path: Path
    verdict: Verdict
    patterns: tuple[Pattern, ...]
    sources: frozenset[str]
    #: The patterns of lines without a prefix that belong to the message, as they are written.
    continues: tuple[str, ...]
    #: All occurrences count as one, whatever their fields.
    fold: bool
    #: It appears only while a profiler is on.
    profiler: bool
    #: The text of the whole file.
    source: str = field(repr=False)

    @classmethod
    def from_text(cls, path: Path, source: str) -> Definition:
        """Return the definition in a file, of whose text only the part before the examples is parsed now."""
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
        """The compiled patterns of `continues`, which need to match only the beginning of a line."""
        return tuple(Pattern(source, opening=True) for source in self.continues)

    @cached_property
    def tables(self) -> Mapping[str, Any]:
        """The parsed file: texts by language, facts and the rest."""
        return tomllib.loads(self.source)


@dataclass(frozen=True)
class Explanation:
    """The catalogue's explanation of one message; `fields` are the values found in it."""

    definition: Definition = field(repr=False)
    fields: Mapping[str, Value]

    @property
    def id(self) -> str:
        """The message's id in the catalogue."""
        return self.definition.id

    @property
    def verdict(self) -> Verdict:
        """harmless, info, performance, action or fatal."""
        return self.definition.verdict

    @property
    def facts(self) -> Mapping[str, str]:
        """Facts for the record, by name; without those whose fields are missing in this wording."""
        facts = self.definition.tables.get("facts", {})
        return {
            name: fill(text, self.fields)
            for name, text in facts.items()
            if placeholders(text) <= self.fields.keys()
        }

    def meaning(self, language: str = "en") -> str:
        """Return what happened, in a sentence or two."""
        return fill(self.definition.tables[language]["meaning"], self.fields)

    def advice(self, language: str = "en") -> str:
        """Return what to do about it."""
        return fill(self.definition.tables[language]["advice"], self.fields)

    @property
    def may_continue(self) -> bool:
        """True if lines without a prefix can belong to the message."""
        return bool(self.definition.continues)

    def continued_by(self, line: str) -> bool:
        """Return True if a line without a prefix, next in the log, belongs to the message."""
        text = straighten(line)
        return any(pattern.match(text) is not None for pattern in self.definition.continuing)


class Catalogue:
    """All known messages."""

    def __init__(self, definitions: Sequence[Definition]) -> None:
        self.definitions = {definition.id: definition for definition in definitions}
        self._index = _index(definitions)
        self._words = set(self._index)
        #: Sources that have patterns without a word.
        self._sources = {
            source
            for definition in definitions
            for source in definition.sources
            if _from(source) in self._index
        }
        #: A cache, because a text is explained when a message is put together and again when it is counted.
        self._recent: dict[tuple[str | None, str], Explanation | None] = {}

    @classmethod
    def load(cls) -> Catalogue:
        """Return the package's own catalogue, read once per process."""
        return _load()

    def explain(self, message: Message) -> Explanation | None:
        """Return the explanation of a message, or None if it is not known."""
        found = self._explain(message.body, message.origin)
        if found is None and _ends_the_process(message):
            found = self._explain(message.body, FATAL)
        return found

    def knows(self, line: str) -> bool:
        """Return True if a line without a prefix has a meaning by itself."""
        return self._explain(line, None) is not None

    def has_words_of(self, text: str) -> bool:
        """Return True if any pattern could match such a text, whatever its digits."""
        return bool(self._candidates(straighten(text[:COMPARED]), None))

    def explain_all(self, message: Message) -> list[Explanation]:
        """Return every definition that matches a message, the best one first. For tests and authors."""
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
            # A message that is reported by another: "ERROR: RuntimeError: CUDA out of memory".
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
            # The later lines may not belong to the message: match its first one alone.
            found = _first_match(candidates, text.partition("\n")[0])
        return found

    def _candidates(self, text: str, origin: str | None) -> list[tuple[Pattern, Definition]]:
        """Return the patterns that may match, the one with most literal characters first."""
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
    """Return True if it is a fatal line of native code, after which nothing runs."""
    return message.level == FATAL and (message.origin or "").endswith(_NATIVE)


def _may_come_from(origin: str | None, pattern: Pattern, definition: Definition) -> bool:
    if not definition.sources or origin in definition.sources:
        return True
    # Lines are often pasted without their prefix; a long text is specific enough by itself.
    return origin is None and pattern.literals >= _DISTINCTIVE


def _rank(candidate: tuple[Pattern, Definition]) -> tuple[int, bool, int, str]:
    """Return a sort key: most literal characters first, then a bound source, then the fewest free slots."""
    pattern, definition = candidate
    return -pattern.literals, not definition.sources, pattern.free_slots, definition.id


def _first_match(candidates: Sequence[tuple[Pattern, Definition]], text: str) -> Explanation | None:
    for pattern, definition in candidates:
        fields = pattern.match(text)
        if fields is not None:
            return Explanation(definition, fields)
    return None


def read_definitions(folder: Path) -> list[Definition]:
    """Return the definitions below a folder. Raises ValueError for a file that is not a definition."""
    definitions = []
    for name in sorted(glob("*/*.toml", root_dir=folder)):  # pathlib's glob takes three times as long
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
    """Index each pattern by the rarest of its words, or by its sources if it has no word."""
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
