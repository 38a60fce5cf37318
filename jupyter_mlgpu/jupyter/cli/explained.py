"""Renders an explained log as text for a terminal: worst messages first, each kind once."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from jupyter_mlgpu.explain.logs.catalogue import VERDICTS, Catalogue, Explanation
from jupyter_mlgpu.explain.logs.fold import shape_of
from jupyter_mlgpu.explain.logs.parse import Message
from jupyter_mlgpu.measure.capture.stretch import Notes
from jupyter_mlgpu.record.record import LogLine
from jupyter_mlgpu.record.visible import visible
from jupyter_mlgpu.show.receipts import notes as words_of_notes

#: Most different meanings shown of one message of the catalogue, and most shapes of unknown messages.
MEANINGS = 10
SHAPES = 200
_LINES, _CHARACTERS = 12, 2_000

_WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        **words_of_notes.VERDICTS,
        "empty": "This log contains no messages.",
        "others": "… and {count} more like this one.",
        "shapes": "… and {count} more of other forms.",
        "shape": "The messages below are not in the catalogue; those differing only in numbers are merged.",
        "cut": "… [{count} more characters]",
        "notes": "Notes",
    },
    "zh": {
        "fatal": "致命",
        "action": "需要处理",
        "performance": "性能",
        "info": "信息",
        "harmless": "无害",
        "unknown": "未知",
        "empty": "日志里没有任何消息。",
        "others": "……还有 {count} 条类似的消息。",
        "shapes": "……还有 {count} 条其他形式的消息。",
        "shape": "以下消息不在目录里。只有数字不同的消息合并为一条。",
        "cut": "……还有 {count} 个字符",
        "notes": "说明",
    },
}
_STYLES = {
    "fatal": "bold red",
    "action": "bold yellow",
    "performance": "bold magenta",
    "info": "bold blue",
    "harmless": "bold green",
    "unknown": "bold",
}


def report(notes: Notes, catalogue: Catalogue, language: str) -> Iterator[str]:
    """Yield the text in parts."""
    words = _WORDS[language]
    by_verdict: dict[str, list[LogLine]] = {}
    for line in notes.lines:
        by_verdict.setdefault(line.verdict, []).append(line)
    verdicts = [verdict for verdict in (*VERDICTS, "unknown") if verdict in by_verdict]
    if not verdicts:
        yield words["empty"] + "\n"
    else:
        counts = [
            f"{sum(line.count for line in by_verdict[each]):,} {words[each].lower()}" for each in verdicts
        ]
        yield ", ".join(counts) + "\n"
    for verdict in verdicts:
        yield "\n" + _styled(words[verdict], _STYLES[verdict])
        if verdict == "unknown":
            yield from _unknown(by_verdict[verdict], words)
        else:
            yield from _known(by_verdict[verdict], catalogue, language)
    if notes.notes:
        yield "\n" + _styled(words["notes"], "bold")
        yield from (f"  {visible(note)}\n" for note in notes.notes)


def _known(lines: list[LogLine], catalogue: Catalogue, language: str) -> Iterator[str]:
    words = _WORDS[language]
    lines = sorted(lines, key=lambda line: line.id or "")  # stable: lines of a message stay in order
    for name, group in groupby(lines, key=lambda line: line.id or ""):
        meanings: dict[str, list[LogLine]] = {}
        for line in group:
            known = Explanation(catalogue.definitions[name], line.fields)
            meanings.setdefault(f"{known.meaning(language)}\n{known.advice(language)}", []).append(line)
        for meaning, same in list(meanings.items())[:MEANINGS]:
            explanation, _, advice = meaning.partition("\n")
            yield _entry(same, words, explanation, f"→ {advice}")
        more = sum(line.count for same in list(meanings.values())[MEANINGS:] for line in same)
        if more:
            yield f"  {words['others'].format(count=f'{more:,}')}\n"


def _unknown(lines: Iterable[LogLine], words: Mapping[str, str]) -> Iterator[str]:
    yield f"  {words['shape']}\n"
    shapes: dict[str, list[LogLine]] = {}
    for line in lines:
        shapes.setdefault(shape_of(Message(line.text, line.text)), []).append(line)
    ordered = list(shapes.values())
    for same in ordered[:SHAPES]:
        yield _entry(same, words)
    more = sum(line.count for same in ordered[SHAPES:] for line in same)
    if more:
        yield f"  {words['shapes'].format(count=f'{more:,}')}\n"


def _entry(lines: list[LogLine], words: Mapping[str, str], *sentences: str) -> str:
    """Return the text of one message: its meaning, its count, and the message as printed."""
    count = sum(line.count for line in lines)
    name = f"[{lines[0].id}] " if lines[0].id else ""
    text = lines[0].text
    if len(text) > _CHARACTERS:
        text = text[:_CHARACTERS] + words["cut"].format(count=f"{len(text) - _CHARACTERS:,}")
    printed = text.split("\n")
    if len(printed) > _LINES:
        printed = [*printed[: _LINES - 1], "…"]
    parts = [f"  {visible(sentence)}\n" for sentence in sentences]
    parts += [f"  {name}×{count:,}\n"] if name or count > 1 else []
    parts += [_styled(f"    {visible(line)}", "dim") for line in printed]
    return "\n" + "".join(parts)


def _styled(text: str, style: str) -> str:
    """Return a line in a style, if stdout is a terminal that supports it."""
    from rich.console import Console
    from rich.text import Text

    buffer = io.StringIO()
    console = Console(file=buffer, force_terminal=sys.stdout.isatty(), soft_wrap=True)
    console.print(Text(text, style=style))
    return buffer.getvalue()
