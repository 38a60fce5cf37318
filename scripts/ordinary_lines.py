"""Write down lines that hold nothing secret: tests/data/secrets/ordinary.txt, which redaction must leave as
they are.

    python scripts/ordinary_lines.py           # with the packages of `make install`

Lines of Python code from the standard library and from packages whose licences allow quoting (BSD, MIT,
Apache 2.0, PSF). Half of them are drawn by chance, the other half from lines with a word that makes redaction
look twice (`token`, `key`, `://`). Lines of our own, `own`, are not written down: they stand in the project.

The file is kept, and was read: lines that name somebody's home are left out, and so are those in
`NOT_ORDINARY`, which do hold a credential.
"""

from __future__ import annotations

import importlib.util
import json
import random
import re
import sysconfig
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from tracked import tracked

ROOT = Path(__file__).parent.parent
KEPT = ROOT / "tests" / "data" / "secrets" / "ordinary.txt"
PACKAGES = (
    "huggingface_hub",
    "jupyter_server",
    "keras",
    "requests",
    "IPython",
    "tokenizers",
    "numpy",
    "kagglehub",
)
#: So many lines of each half.
OF_EACH_HALF = 700

_TRICKY = re.compile(
    r"(?i)token|secret|passw|passwd|api_?key|\bkey|credential|cookie|auth|login|://|@|bearer|signature|users|home"
)
_HOME = re.compile(r"/(?:home|Users)/\w|/root/|[A-Z]:\\+Users|\.xplane\.pb")
#: What stands in the sources and does hold a credential, or what looks like one on purpose, by a piece of it.
NOT_ORDINARY: tuple[str, ...] = ()


def code(files: Iterable[Path]) -> Iterator[str]:
    """Lines of Python files, without their indentation."""
    for file in sorted(files):
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            if 8 <= len(line.strip()) <= 200:
                yield line.strip()


def first_lines() -> Iterator[str]:
    """What the lessons' cells begin with."""
    for notebook in tracked(ROOT / "notebooks", "**/*.ipynb"):
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                yield "".join(cell["source"]).strip().partition("\n")[0]


def log_lines() -> Iterator[str]:
    """Messages of frameworks and of drivers, and what training loops print."""
    for file in tracked(ROOT / "jupyter_mlgpu" / "explain" / "logs" / "messages", "*/*.toml"):
        for example in tomllib.loads(file.read_text(encoding="utf-8"))["examples"]:
            yield from example.splitlines()
    yield from (ROOT / "tests" / "data" / "ordinary_lines.txt").read_text(encoding="utf-8").splitlines()


def own() -> list[str]:
    """First lines of the lessons' cells, and log lines: the catalogue's examples and those in tests/data."""
    return _ordinary([*first_lines(), *log_lines()])


def lines() -> list[str]:
    """The lines of code, each once."""
    library = Path(sysconfig.get_path("stdlib"))
    sources = list(code(library.glob("*.py"))) + list(code(library.glob("[a-e]*/*.py")))
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise SystemExit(f"{name} is not installed: run this with the Python of `make install`.")
        sources += code(Path(spec.origin).parent.rglob("*.py"))
    sources = list(dict.fromkeys(sources))
    chance = random.Random(21)
    tricky = [line for line in sources if _TRICKY.search(line)]
    drawn = [*chance.sample(sources, OF_EACH_HALF), *chance.sample(tricky, OF_EACH_HALF)]
    return _ordinary(drawn)


def _ordinary(found: Iterable[str]) -> list[str]:
    return [
        line
        for line in dict.fromkeys(found)
        if line.strip() and not _HOME.search(line) and not any(piece in line for piece in NOT_ORDINARY)
    ]


if __name__ == "__main__":
    KEPT.write_text("\n".join(lines()) + "\n", encoding="utf-8")
