"""Copy the lessons and their solutions to a folder, where you can run and change them.

Files that already exist are kept: run the command again after an update, and new files are added. Use
--replace to replace changed files with the originals, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from jupyter_mlgpu.jupyter.cli.terminal import tell
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.files import write_atomically
from jupyter_mlgpu.record.sentence import Sentence, say, say_count
from jupyter_mlgpu.record.visible import visible_line
from jupyter_mlgpu.teach.commands.trust import trust
from jupyter_mlgpu.teach.lessons import shipped

EXAMPLE = """\
examples:
  jupyter mlgpu lessons my-lessons
  jupyter mlgpu lessons my-lessons --language zh
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `jupyter mlgpu lessons`."""
    every_day = parser.add_argument_group("every day")
    every_day.add_argument("folder", type=Path, metavar="DIR", help="folder to copy to; created if missing")
    every_day.add_argument(
        "--language",
        choices=shipped.LANGUAGES,
        default="en",
        help="zh adds the Chinese lessons, in DIR/zh (default: English alone)",
    )
    more = parser.add_argument_group("more")
    more.add_argument(
        "--replace", action="store_true", help="replace existing files; your changes to them are lost"
    )


def main(arguments: argparse.Namespace) -> int:
    """Copy the lessons, and return the exit status."""
    copied = copy(arguments.folder, arguments.language, replace=arguments.replace)
    for sentence in _messages(arguments.folder, arguments.language, copied):
        tell(sentence)
    return 0


@dataclass(frozen=True)
class Copied:
    """The number of files copied to `target`, and existing files that differ from ours and were kept."""

    target: Path
    count: int
    differing: tuple[Path, ...]

    @property
    def sentence(self) -> Sentence:
        """The number of files and their folder, in a sentence."""
        return say_count(
            "Copied {count} file to {folder}.",
            "Copied {count} files to {folder}.",
            self.count,
            folder=self.target,
        )


def copy(target: Path, language: str, *, replace: bool = False) -> Copied:
    """Copy the lessons in a language to a folder, which is created if necessary, and trust the copies.

    Existing files are kept unless `replace` is True. Raises UsageError if something is in the way.
    """
    wanted = list(shipped.files(language))
    _check(target, wanted)
    copied, kept = [], []
    for path in wanted:
        data = shipped.content(path)
        there = _lies_there(target / path)
        if not there or (replace and (target / path).read_bytes() != data):
            # A link must not lead the copy out of the folder.
            write_atomically(target / path, data, follow=False)
            copied.append(data)
        elif not replace and (target / path).read_bytes() != data:
            kept.append(path)
    if copied:
        trust(copied)
    return Copied(target, len(copied), tuple(kept))


def _check(target: Path, wanted: Iterable[Path]) -> None:
    """Raise UsageError if a file stands in the way of a folder, or a folder in the way of a file."""
    folders = {target, *(target / parent for path in wanted for parent in path.parents)}
    for folder in sorted(folders):
        if _lies_there(folder) and not folder.is_dir():
            raise UsageError(
                say("{path} is not a folder: move it away, or choose another folder.", path=folder)
            )
    for path in wanted:
        if _lies_there(target / path) and not (target / path).is_file():
            raise UsageError(
                say(
                    "{path} is not a regular file: move it away, or choose another folder.",
                    path=target / path,
                )
            )


def _lies_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _messages(target: Path, language: str, copied: Copied) -> Iterable[Sentence]:
    yield copied.sentence
    if copied.differing:
        yield say_count(
            "{count} file there differs from ours and was left as it is (--replace replaces it): {names}.",
            "{count} files there differ from ours and were left so (--replace replaces them): {names}.",
            len(copied.differing),
            names=", ".join(map(visible_line, copied.differing)),
        )
    if missing := shipped.missing_framework():
        yield missing
    yield say(
        "Start with: {command}", command=f"jupyter lab {visible_line(target / shipped.first(language))}"
    )
