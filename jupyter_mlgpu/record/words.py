"""The words after a magic, taken apart in one place, and one sentence for what is typed wrongly.

words = typed("--cell 3 trace.json", "%mlc_trace export", HELP, values=("--cell",), flags=("--xprof",))
words.places                # ("trace.json",)
words.options               # {"--cell": "3"}
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.sentence import Sentence, joined, say
from jupyter_mlgpu.record.visible import visible_line


@dataclass(frozen=True, slots=True)
class Words:
    """`places` are the words that are no options; `options` have their values, "" where they take none."""

    places: tuple[str, ...]
    options: Mapping[str, str]


def typed(
    line: str | Sequence[str],
    magic: str,
    explained: str,
    *,
    values: Collection[str] = (),
    flags: Collection[str] = (),
    places: bool = True,
) -> Words:
    """The words of a line after `magic`; raises UsageError, which ends in `explained`: what to type instead.

    `values` are the options that take a value, `flags` those that take none; `places` tells whether other
    words may stand there. A line that is split already is taken as it is.
    """
    parts = split(line, magic, explained) if isinstance(line, str) else list(line)
    others: list[str] = []
    options: dict[str, str] = {}
    while parts:
        word = parts.pop(0)
        if word in options:
            twice = say("{word} appears twice after {magic}: give it once.", word=word, magic=magic)
            raise UsageError(joined(twice, explained))
        if word in values:
            if not parts or parts[0].startswith("--"):
                raise UsageError(joined(say("{word} needs a value.", word=word), explained))
            options[word] = parts.pop(0)
        elif word in flags:
            options[word] = ""
        elif places and not word.startswith("--"):
            others.append(word)
        else:
            raise UsageError(joined(unknown(say("word"), word, (*values, *flags), magic), explained))
    return Words(tuple(others), options)


def unknown(what: Sentence, word: str, known: Collection[str], after: str = "") -> Sentence:
    """That a word is none of those known, which is nearest to it, and which there are.

    `what` it should be: `say("framework")`.
    """
    said = say("Unknown {what} {word}.", what=what, word=repr(word))
    if after:
        said = say("Unknown {what} {word} after {magic}.", what=what, word=repr(word), magic=after)
    return joined(said, *nearest(word, known), say("Choose {known}.", known=", ".join(known)))


def nearest(word: str, known: Collection[str], likeness: float = 0.6) -> list[Sentence]:
    """The word that may be meant, in a sentence; empty where none is as near as `likeness`, from 0 to 1."""
    from difflib import get_close_matches  # seldom needed

    written = {one.lower().lstrip("-%"): one for one in known}  # two words are not alike for their dashes
    found = get_close_matches(word.lower().lstrip("-%"), written, 1, likeness)
    return [say("Did you mean {word}?", word=written[one]) for one in found]


def whole_number(word: str, option: str, most: int) -> int:
    """A whole number from 1 to `most`; raises UsageError for another word after `option`."""
    if not word.isdecimal() or not 1 <= int(word) <= most:
        raise UsageError(
            say(
                "{word} takes a whole number from 1 to {most}, not {found}.",
                word=option,
                most=most,
                found=repr(word),
            )
        )
    return int(word)


def json_path(word: str, option: str, example: str) -> Path:
    """The name of a JSON file; raises UsageError for another one after `option`."""
    path = Path(word)
    if path.suffix != ".json":
        raise UsageError(
            say(
                "{word} takes the name of a JSON file, as in {example}, not {found}.",
                word=option,
                example=example,
                found=repr(word),
            )
        )
    return path


class WordsParser(argparse.ArgumentParser):
    """argparse's, for words that a shell takes, too: it raises UsageError, which ends in `explained`."""

    explained = ""

    def error(self, message: str) -> NoReturn:
        """Say in a sentence what is wrong, as all our errors do, and what may be meant; a kernel goes on."""
        known = [one for action in self._actions for one in (*action.option_strings, *(action.choices or ()))]
        wrong = re.search(r"unrecognized arguments: (\S+)|invalid choice: '([^']*)'", message)
        near = nearest(wrong[1] or wrong[2], list(map(str, known))) if wrong else []
        said = visible_line(f"{message[:1].upper()}{message[1:]}.")
        raise UsageError(" ".join([said, *near, self.explained]))


def split(line: str, magic: str, explained: str) -> list[str]:
    """The words of a line, as a shell parts them; raises UsageError where a quotation mark stands alone."""
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if sys.platform == "win32":
        lexer.escape = ""  # there, a backslash stands between folders
    try:
        return list(lexer)
    except ValueError:
        alone = say("Unmatched quotation mark in {line} after {magic}.", line=repr(line), magic=magic)
        raise UsageError(joined(alone, explained)) from None
