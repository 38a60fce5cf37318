"""The parser of the words after a magic or a command. A mistyped word gives an error of one sentence.

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
    """Return a sentence that rejects an unknown word, suggests the nearest known one and lists all of them.

    `what` is the kind of word: `say("framework")`.
    """
    quoted = repr(word) if word.isprintable() else f"'{visible_line(word)}'"
    message = say("Unknown {what} {word}.", what=what, word=quoted)
    if after:
        message = say("Unknown {what} {word} after {magic}.", what=what, word=quoted, magic=after)
    return joined(message, *nearest(word, known), say("Choose {known}.", known=", ".join(known)))


def nearest(word: str, known: Collection[str], likeness: float = 0.6) -> list[Sentence]:
    """Return a sentence that suggests the most similar known word, in a list.

    The list is empty if no word reaches `likeness`, from 0 to 1.
    """
    from difflib import get_close_matches  # imported here because it is seldom needed

    written = {one.lower().lstrip("-%"): one for one in known}  # dashes must not make words similar
    found = get_close_matches(word.lower().lstrip("-%"), written, 1, likeness)
    return [say("Did you mean {word}?", word=written[one]) for one in found]


def whole_number(word: str, option: str, most: int) -> int:
    """Return a whole number from 1 to `most`.

    Raises UsageError, which names the `option`, for another word.
    """
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
    """Return the path of a JSON file.

    Raises UsageError, which names the `option`, for another kind of file.
    """
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
    """An argparse parser that raises UsageError for a mistyped line, where argparse would end the kernel.

    The error's sentence ends with `explained`: what to type instead.
    """

    explained: str = ""

    def parse_line(self, line: str | Sequence[str]) -> argparse.Namespace:
        """Parse the words after a magic. Options may stand between other words, each once.

        A string is split as a shell splits it. A sequence of words is used as it is.
        """
        words = split(line, self.prog, self.explained) if isinstance(line, str) else list(line)
        options = [word.partition("=")[0] for word in words if word.startswith("--")]
        for option in options:
            if options.count(option) > 1:
                twice = say("{word} appears twice after {magic}: give it once.", word=option, magic=self.prog)
                raise UsageError(joined(twice, self.explained))
        return self.parse_intermixed_args(words)

    def error(self, message: str) -> NoReturn:
        """Raise UsageError with what is wrong and the word that was probably meant."""
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
    """Return a parser without options for a magic. Its errors end with `explained`: what to type instead."""
    parser = WordsParser(prog=magic, add_help=False, allow_abbrev=False)
    parser.explained = explained
    return parser


def split(line: str, magic: str, explained: str) -> list[str]:
    """Return the words of a line, split as a shell does.

    Raises UsageError for an unmatched quotation mark.
    """
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if sys.platform == "win32":
        lexer.escape = ""  # on Windows a backslash separates folders
    try:
        return list(lexer)
    except ValueError:
        alone = say("Unmatched quotation mark in {line} after {magic}.", line=repr(line), magic=magic)
        raise UsageError(joined(alone, explained)) from None
