"""What a remedy is made of: lines for a shell, each a command or a comment.

Values of the facts, which may come from a file of somebody else's, stand in commands as words, and every word
is quoted here and nowhere else. What a shell itself is to understand (a pipe, a variable, `~`) is written as
it stands, with `as_written`, which takes nothing but a check's own letters: a test holds every call to that.

    run("pip", "install", f"torch=={version}") + as_written("pip check")
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jupyter_mlgpu.explain.doctor.facts import Package
from jupyter_mlgpu.measure.frameworks import registry


@dataclass(frozen=True, slots=True)
class Remedy:
    """Lines that can be pasted into a shell as they stand; made by the functions below alone."""

    lines: tuple[str, ...] = ()

    def __add__(self, other: Remedy) -> Remedy:
        return Remedy(self.lines + other.lines)

    def __str__(self) -> str:
        return "\n".join(self.lines)


NOTHING = Remedy()


@dataclass(frozen=True, slots=True)
class _Quoted:
    """A word that a shell reads as one."""

    text: str


def run(*words: str | _Quoted) -> Remedy:
    """A command; each word reaches the program letter by letter."""
    return Remedy((" ".join(one.text if isinstance(one, _Quoted) else _quote(one) for one in words),))


def path(name: str) -> _Quoted:
    """A file as a word: `~/` stays the home folder, and a name that begins with `-` is no option."""
    if name.startswith("~/"):
        rest = name[2:]
        return _Quoted(f"~/{_quote(rest)}" if rest else "~/")
    return _Quoted(_quote(f"./{name}" if name.startswith("-") else name))


def as_written(lines: str) -> Remedy:
    """Lines of a check's own, comments among them; never with anything put into them."""
    return Remedy(tuple(lines.split("\n")))


def showing_devices(framework: str) -> Remedy | None:
    """The line with which a framework says what devices it finds, in letters of its own description alone."""
    line = registry.framework(framework).show_devices if framework in registry.FRAMEWORKS else None
    return None if line is None else as_written(line)


def comment(words: str, instead: Remedy | None = None) -> Remedy:
    """A line that a shell passes over; `instead` is a command that it names, quoted as any other."""
    told = _on_one_line(words)
    return Remedy((f"# {told}: {instead}" if instead else f"# {told}",))


def pinned(names: Iterable[str], packages: Mapping[str, Package]) -> list[str]:
    """Each package with the version that is installed, `torch==2.13.0`, or its name alone where none is."""
    return [f"{name}=={packages[name].version}" if name in packages else name for name in names]


def _quote(word: str) -> str:
    return shlex.quote(_on_one_line(word))


def _on_one_line(text: str) -> str:
    """Without what ends a line or moves a cursor, also where no reading of facts refused it."""
    return "".join(one if one.isprintable() else " " for one in text)


#: After variables were set in a shell: a kernel has the variables of the server that started it.
FROM_THIS_SHELL = as_written("# Then start JupyterLab again from this shell.")
