"""What stands at the top of a module is used by more than tests: a program, a notebook, a page, a setting."""

import ast
import functools
import re
from collections import Counter
from pathlib import Path

from tracked import tracked

import jupyter_mlgpu

PACKAGE = Path(jupyter_mlgpu.__file__).parent
ROOT = PACKAGE.parent
#: The names that users call; those that no lesson shows have nobody here but tests.
FOR_USERS = PACKAGE / "graphs" / "mlcompute" / "__init__.py"
#: Read by others, who know the name.
ASKED_FOR = {
    "_jupyter_server_extension_points": "Jupyter Server asks for it",
    "_load_jupyter_server_extension": "Jupyter Server asks for it",
    "unload_ipython_extension": "IPython asks for it",
}
_WORD = re.compile(r"\w+")


@functools.cache
def trees() -> dict[Path, ast.Module]:
    folders = [PACKAGE, *(ROOT / name for name in ("scripts", "benchmarks", "binder", "docs"))]
    paths = [path for folder in folders for path in tracked(folder, "**/*.py")]
    programs = [path for path in paths if "testing" not in path.parts]
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in programs}


def loaded(tree: ast.AST) -> Counter[str]:
    """The names that a piece of a program reads, and those that its short texts hold."""
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name) | ast.alias(name=name):
                found[name] += 1
            case ast.Constant(value=str(text)) if len(text) < 100:
                found.update(_WORD.findall(text))
    return found


@functools.cache
def told() -> frozenset[str]:
    """The words of notebooks, pages and settings."""
    listed = [ROOT / "pyproject.toml", ROOT / "Makefile", ROOT / "README.md"]
    folders = [ROOT / name for name in ("notebooks", "docs", "jupyter-config")]
    listed += [
        p for one in folders for p in tracked(one, "**/*") if p.suffix in {".ipynb", ".md", ".toml", ".json"}
    ]
    texts = [p.read_text(encoding="utf-8") for p in listed if not {"adr", "measurements"} & set(p.parts)]
    return frozenset(word for text in texts for word in _WORD.findall(text))


def names_of(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef(decorator_list=[ast.Attribute(attr="register")]):
            return []  # whoever shows a result finds its page by the result's type
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [one.id for one in targets if isinstance(one, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def test_nothing_at_the_top_of_a_module_is_used_by_tests_alone():
    everywhere: Counter[str] = Counter()
    for tree in trees().values():
        everywhere.update(loaded(tree))
    unused = [
        f"{path.relative_to(ROOT)}:{statement.lineno}: {name}"
        for path, tree in trees().items()
        if path.is_relative_to(PACKAGE) and path != FOR_USERS
        for statement in tree.body
        for name in names_of(statement)
        # What reads itself is not read by others.
        if everywhere[name] <= loaded(statement)[name]
        and name not in told() | ASKED_FOR.keys()
        and not name.startswith("__")
    ]
    assert unused == []
