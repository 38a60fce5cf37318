"""The parser of what is typed after a magic or a command, and one sentence for what is typed wrongly.

parser = magic_parser("%mlc_trace export", HELP)
parser.add_argument("places", nargs="*")
parser.add_argument("--cell")
found = parser.parse_line("--cell 3 trace.json")    # Namespace(places=["trace.json"], cell="3")
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NoReturn

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.sentence import Sentence, joined, say
from jupyter_mlgpu.record.visible import visible_line


def unknown(what: Sentence, word: str, known: Collection[str], after: str = "") -> Sentence:
    """That a word is none of those known, which is nearest to it, and which there are.

    `what` it should be: `say("framework")`.
    """
    quoted = repr(word) if word.isprintable() else f"'{visible_line(word)}'"
    said = say("Unknown {what} {word}.", what=what, word=quoted)
    if after:
        said = say("Unknown {what} {word} after {magic}.", what=what, word=quoted, magic=after)
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
    """argparse's parser; what is typed wrongly raises UsageError, so that a kernel goes on.

    The error is one sentence that ends in `explained`: what to type instead.
    """

    explained: str = ""

    def parse_line(self, line: str | Sequence[str]) -> argparse.Namespace:
        """Parse what was typed after a magic; options may stand between other words, each once.

        A text is split as a shell splits it; words that are split already are taken as they are.
        """
        words = split(line, self.prog, self.explained) if isinstance(line, str) else list(line)
        options = [word.partition("=")[0] for word in words if word.startswith("--")]
        for option in options:
            if options.count(option) > 1:
                twice = say("{word} appears twice after {magic}: give it once.", word=option, magic=self.prog)
                raise UsageError(joined(twice, self.explained))
        return self.parse_intermixed_args(words)

    def error(self, message: str) -> NoReturn:
        """Raise UsageError that says what is wrong, as all our errors do, and what may be meant."""
        raise UsageError(joined(self._sentence(message), *filter(None, [self.explained])))

    def _sentence(self, message: str) -> str:
        if wrong := re.search(r"unrecognized arguments: ([^ ]+)", message):
            options = [one for action in self._actions for one in action.option_strings]
            return unknown(say("word"), wrong[1], options, self.prog)
        if wrong := re.search(r"argument (\S+): expected (?:at least )?one argument", message):
            return say("{word} needs a value.", word=wrong[1])
        if wrong := re.search(r"argument (\S+): not allowed with argument (\S+)", message):
            return say("{word} and {other} cannot be combined: choose one.", word=wrong[2], other=wrong[1])
        if wrong := re.search(r"argument (\S+): invalid choice: '([^']*)'", message):
            choices = [str(one) for action in self._actions for one in action.choices or ()]
            return unknown(say("word"), wrong[2], choices, wrong[1])
        return visible_line(f"{message[:1].upper()}{message[1:]}.")


def magic_parser(magic: str, explained: Sentence) -> WordsParser:
    """Return a parser without options for a magic, whose errors end in `explained`: what to type instead."""
    parser = WordsParser(prog=magic, add_help=False, allow_abbrev=False)
    parser.explained = explained
    return parser


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
