"""Builds remedies: lines for a shell, each a command or a comment.

Values of the facts may come from another person's file. They are used in commands as words, and every word is
quoted here and nowhere else. Text that the shell must interpret (a pipe, a variable, `~`) is passed to
`as_written`, which takes only a check's own literals; a test checks every call.

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
    """Lines that can be pasted into a shell; built only by the functions below."""

    lines: tuple[str, ...] = ()

    def __add__(self, other: Remedy) -> Remedy:
        return Remedy(self.lines + other.lines)

    def __str__(self) -> str:
        return "\n".join(self.lines)


NOTHING = Remedy()


@dataclass(frozen=True, slots=True)
class _Quoted:
    """A word that is already quoted for a shell."""

    text: str


def run(*words: str | _Quoted) -> Remedy:
    """Return a command; each word reaches the program unchanged."""
    return Remedy((" ".join(one.text if isinstance(one, _Quoted) else _quote(one) for one in words),))


def path(name: str) -> _Quoted:
    """Return a file name as a word: `~/` stays the home folder, and a leading `-` does not make an option."""
    if name.startswith("~/"):
        rest = name[2:]
        return _Quoted(f"~/{_quote(rest)}" if rest else "~/")
    return _Quoted(_quote(f"./{name}" if name.startswith("-") else name))


def as_written(lines: str) -> Remedy:
    """Return a check's own lines, including comments; no values may be inserted into them."""
    return Remedy(tuple(lines.split("\n")))


def showing_devices(framework: str) -> Remedy | None:
    """Return the line with which a framework prints its devices, from its description; None if unknown."""
    line = registry.framework(framework).show_devices if framework in registry.FRAMEWORKS else None
    return None if line is None else as_written(line)


def comment(words: str, instead: Remedy | None = None) -> Remedy:
    """Return a comment line; `instead` is a command that it mentions, quoted as any other."""
    text = _on_one_line(words)
    return Remedy((f"# {text}: {instead}" if instead else f"# {text}",))


def pinned(names: Iterable[str], packages: Mapping[str, Package]) -> list[str]:
    """Return each package with its installed version, `torch==2.13.0`, or only its name if not installed."""
    return [f"{name}=={packages[name].version}" if name in packages else name for name in names]


def _quote(word: str) -> str:
    return shlex.quote(_on_one_line(word))


def _on_one_line(text: str) -> str:
    """Return the text without line ends or cursor movements, in case the facts were not checked."""
    return "".join(one if one.isprintable() else " " for one in text)


#: Follows commands that set variables in a shell: a kernel gets the variables of the server that starts it.
FROM_THIS_SHELL = as_written("# Then start JupyterLab again from this shell.")
