"""What comments, docstrings and the documentation name is there: files, modules, functions, classes.

Texts are not run, so a name that has gone stays in them until somebody reads it. A file is known by the end
of its path. A name in backticks is looked for in the module or class that stands before its dot, and else
among the words of all programs: a test that knew which one is meant would have to understand the sentence.
"""

import ast
import builtins
import functools
import io
import keyword
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

import jupyter_mlgpu

ROOT = Path(__file__).parents[2]
PACKAGE = Path(jupyter_mlgpu.__file__).parent.name
DOORS = {
    "lessons": "teach.lessons",
    "logs": "explain.logs",
    "mlcompute": "graphs.mlcompute",
    "planning": "graphs.planning",
}
PROGRAMS = (".py", ".ts", ".tsx")
SETTINGS = (".toml", ".json", ".yml", ".css", ".cc", "Makefile", "Dockerfile")
#: What tells what was, and not what is; and programs of others, as they were found.
LEFT_OUT = (
    "CHANGELOG.md",
    "docs/measurements/",
    "docs/adr/",
    "tests/data/",
    "tests/structure/test_names_in_words.py",
)

#: Files that are named and not here: made by who reads, by a run or by a build, or others'.
OTHER_FILES = {
    "train.py": "the reader's program",
    "lesson.ipynb": "the reader's notebook",
    "lab.ipynb": "the teacher's notebook",
    "engines.json": "the reader's records",
    "claude_desktop_config.json": "the settings of an assistant's client",
    "zh/00_start_here.ipynb": "assembled when somebody wants it",
    "jupyterhub_config.py": "the hub's settings",
    "numpy.py": "a file that hides NumPy",
    "tensorflow.py": "a file that hides TensorFlow",
    "random.py": "a file that hides Python's own",
    "jupyter_mlgpu.py": "a file that hides the package",
    "lab/tree/jupyter_mlgpu/notebooks/00_start_here.ipynb": "the path in a hub's link",
    "torch/_inductor/config.py": "PyTorch's",
    "torch/version.py": "PyTorch's",
    "runtime/build.py": "XLA's",
    "RELEASE.md": "JAX's",
    "docs/kernels.md": "the community's Metal plug-in's",
}
#: Names in backticks of what is not ours, and in no program of ours.
OTHER_NAMES = {
    "AppleEnergyMetrics": "zeus-apple-silicon's class",
    "ipyparallel.AsyncResult": "ipyparallel's class",
    "ipyparallel.DirectView": "ipyparallel's class",
    "cpp.cxx": "a setting of torch.compile",
    "dangerouslySetInnerHTML": "what React code must not use",
    "api_token": "JupyterHub's setting of a service",
    "server_token_scopes": "JupyterHub's setting of a spawner",
    "kubectl": "the program of Kubernetes",
    "fs.protected_fifos": "a setting of Linux",
    "fs.protected_regular": "a setting of Linux",
    "fs.protected_symlinks": "a setting of Linux",
    "fusion.12": "an operation of XLA",
    "records.0.number": "a place in a report",
}

_FILE = re.compile(
    r"(?<![\w/.:@*{}<>$~-])((?:[\w-]+/)*[\w-]+\.(?:py|ts|tsx|toml|ipynb|md|cjs))(?![\w/]|\.\w)"
)
#: A part of a path that stands for others, as in `notebooks/NN_slug.ipynb`.
_ANY = re.compile(r"(?<![A-Za-z])(?:NN|ID|NAME|FAMILY)(?![A-Za-z])")
_QUOTED = re.compile(r"(?<!`)`([A-Za-z_]\w*(?:\.\w+)*)(?:\(\))?`(?!`)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_COMMENT = re.compile(r"/\*.*?\*/|(?<![:\w])//[^\n]*", re.DOTALL)
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


@functools.cache
def files() -> tuple[str, ...]:
    command = ["git", "ls-files"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("This needs git and a clone: what a build has left lying about names nothing.")
    return tuple(one for one in sorted(listed.stdout.splitlines()) if (ROOT / one).is_file())


@functools.cache
def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


@functools.cache
def ends() -> frozenset[str]:
    """Each file's path from each of its folders on."""
    parts = [path.split("/") for path in files()]
    return frozenset("/".join(one[start:]) for one in parts for start in range(len(one)))


@functools.cache
def words_of(path: str) -> frozenset[str]:
    """The words of one program without its comments and docstrings."""
    if not path.endswith(".py"):
        return frozenset(
            _WORD.findall(_COMMENT.sub("", read(path)) if path.endswith(PROGRAMS) else read(path))
        )
    said = {(node.lineno, node.col_offset) for node in docstrings(path)}
    code = [one.string for one in tokens(path) if one.type != tokenize.COMMENT and one.start not in said]
    return frozenset(_WORD.findall(" ".join(code)))


@functools.cache
def tokens(path: str) -> tuple[tokenize.TokenInfo, ...]:
    return tuple(tokenize.generate_tokens(io.StringIO(read(path)).readline))


@functools.cache
def docstrings(path: str) -> tuple[ast.Constant, ...]:
    found = []
    for node in ast.walk(ast.parse(read(path))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            match node.body:
                case [ast.Expr(value=ast.Constant(value=str()) as said), *_]:
                    found.append(said)
    return tuple(found)


@functools.cache
def words() -> frozenset[str]:
    """All words of all programs and settings, of their files' names, and Python's own."""
    found = {*dir(builtins), *keyword.kwlist, *_WORD.findall(" ".join(files()))}
    for path in files():
        if path.endswith((*PROGRAMS, ".cjs", *SETTINGS)) and not path.startswith(LEFT_OUT):
            found |= words_of(path)
    return frozenset(found)


@functools.cache
def modules() -> dict[str, str]:
    """The package's modules as `notebook.record_stages`, and their files."""
    paths = [path for path in files() if path.startswith(f"{PACKAGE}/") and path.endswith(".py")]
    named = {path: path.removesuffix(".py").removesuffix("/__init__").split("/")[1:] for path in paths}
    return {".".join(parts): path for path, parts in named.items() if parts}


@functools.cache
def classes() -> dict[str, list[str]]:
    """Our classes, and the files in which they stand."""
    found: dict[str, list[str]] = {}
    for path in files():
        if path.endswith(".py"):
            for name in re.findall(r"^class (\w+)", read(path), flags=re.MULTILINE):
                found.setdefault(name, []).append(path)
    return found


def is_file(name: str) -> bool:
    # `tensorflow_placement.py, _graphs.py` says the first part once.
    short = name.startswith("_") and any(end.endswith(name) for end in ends())
    return short or name in ends() or name in OTHER_FILES or _ANY.search(name) is not None


def is_name(name: str) -> bool:
    if name in OTHER_NAMES or is_file(name):
        return True
    parts = name.removeprefix(f"{PACKAGE}.").split(".")
    if name.startswith(f"{PACKAGE}."):
        parts = [*DOORS.get(parts[0], parts[0]).split("."), *parts[1:]]
    for length in range(len(parts), 0, -1):
        module = modules().get(".".join(parts[:length]))
        if module is not None:
            return words_of(module).issuperset(parts[length:])
    if len(parts) == 2 and parts[0] in classes():
        return any(parts[1] in words_of(path) for path in classes()[parts[0]])
    return words().issuperset(parts)


def texts(path: str) -> Iterator[tuple[int, str]]:
    """A program's comments and docstrings, or a page, with the number of their first line."""
    source = read(path)
    if path.endswith(".py"):
        for token in tokens(path):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
        for said in docstrings(path):
            yield said.lineno, str(said.value)
    elif path.endswith(PROGRAMS):
        for found in _COMMENT.finditer(source):
            yield source.count("\n", 0, found.start()) + 1, found[0]
    else:
        yield 1, _FENCED.sub(lambda block: "\n" * block[0].count("\n"), source)


@functools.cache
def named() -> tuple[tuple[str, str, bool], ...]:
    """Where each name stands, the name, and whether it is that of a file."""
    return tuple(_named())


def _named() -> Iterator[tuple[str, str, bool]]:
    for path in files():
        if path.endswith((*PROGRAMS, ".md")) and not path.startswith(LEFT_OUT):
            for line, text in texts(path):
                for pattern in (_FILE, _QUOTED):
                    for found in pattern.finditer(text):
                        place = f"{path}:{line + text.count(chr(10), 0, found.start())}"
                        yield place, found[1], pattern is _FILE


def test_every_file_and_name_that_a_text_names_is_there():
    lacking = [
        f"{place}: {name}" for place, name, of_file in named() if not (is_file if of_file else is_name)(name)
    ]
    assert lacking == [], "mend the text, or say in this test whose name it is"


def test_no_exception_is_of_a_name_that_is_there_or_that_nobody_names():
    said = {name for _, name, _ in named()}
    assert (OTHER_FILES.keys() | OTHER_NAMES.keys()) - said == set()
    assert [name for name in OTHER_FILES if name in ends()] == []
    assert [name for name in OTHER_NAMES if words().issuperset(name.split("."))] == []


def test_a_name_that_is_there_is_known_and_one_that_has_gone_is_not():
    for name in ("Record.to_json", "record.record.Record", "record/record.py", "NN_slug.ipynb"):
        assert is_name(name), name
    for name in ("gone_for_good", "Record.gone_for_good", "record.record.gone_for_good", "gone_for_good.py"):
        assert not is_name(name), name
