"""Python code as a cell: compiled once, run many times, with the value of its last expression."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import linecache
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import CodeType
from typing import Any

from jupyter_mlgpu.record.errors import UsageError

Compile = Callable[[Any, str, str], Any]


@dataclass(frozen=True, slots=True)
class CompiledCell:
    """Compiled code: its statements, and separately its last expression, whose value `run` returns."""

    statements: CodeType
    last: CodeType | None

    def run(self, namespace: dict[str, Any]) -> object:
        """Run the code in a namespace; its own exceptions are passed on."""
        exec(self.statements, namespace)
        return None if self.last is None else eval(self.last, namespace)


def program(tree: ast.Module, filename: str, compiler: Compile = compile) -> CompiledCell:
    """Compile a syntax tree. Raises SyntaxError, and UsageError for `await` outside of a function."""
    last = None
    statements = tree.body
    if statements and isinstance(statements[-1], ast.Expr):
        last = ast.Expression(statements[-1].value)
        statements = statements[:-1]
    _refuse_await(tree, filename)
    return CompiledCell(
        compiler(ast.Module(statements, []), filename, "exec"),
        None if last is None else compiler(last, filename, "eval"),
    )


def from_source(source: str, filename: str) -> CompiledCell:
    """Compile Python code; its lines are kept for tracebacks."""
    lines = source.splitlines(keepends=True)
    linecache.cache[filename] = (len(source), None, lines, filename)
    return program(ast.parse(source, filename), filename)


class PlainCell:
    """A cell in a namespace of its own; `variable` is the name of the size, if there is one."""

    def __init__(self, body: CompiledCell, *, setup: CompiledCell | None, variable: str | None) -> None:
        self.namespace: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__}
        self._body = body
        self._setup = setup
        self._variable = variable

    def setup(self) -> None:
        """Run the setup cell once, untimed."""
        if self._setup is not None:
            self._setup.run(self.namespace)

    def prepare(self, size: float | None) -> None:
        """Set the variable to its size."""
        if self._variable is not None:
            self.namespace[self._variable] = size

    def run(self) -> object:
        """Run the cell once."""
        return self._body.run(self.namespace)

    def quiet(self) -> AbstractContextManager[object]:
        """Return a context manager that hides what the cell prints."""
        return _quiet()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def _refuse_await(tree: ast.Module, filename: str) -> None:
    code = compile(tree, filename, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if code.co_flags & inspect.CO_COROUTINE:
        raise UsageError(
            "A cell with `await` outside of a function cannot be raced: its time includes the event loop's. "
            "Race code without `await` instead."
        )
