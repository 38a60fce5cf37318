"""Run cells without a notebook, one after the other in one namespace."""

from __future__ import annotations

import ast
import asyncio
import inspect
import linecache
import multiprocessing
import os
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

Argument = TypeVar("Argument")
Result = TypeVar("Result")
_FILE = re.compile(r"<cell (\d+)>")


class Cells:
    """A namespace in which cells are run.

    Their source can be looked up, as AutoGraph and Dynamo do, `await` may stand at the top, and the names are
    those of the module `__main__`, as in a notebook: what is pickled for another process is looked for there.
    """

    def __init__(self) -> None:
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        self.names: dict[str, Any] = vars(module)
        self._count = 0

    def compiled(self, code: str) -> types.CodeType:
        """Compile the code of a cell."""
        self._count += 1
        name = f"<cell {self._count}>"
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        ready: types.CodeType = compile(code, name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        return ready

    def of_user(self, filename: str) -> int | None:
        """Return the number of the cell whose code a file is; None of another file."""
        found = _FILE.fullmatch(filename)
        return None if found is None else int(found[1])

    def run(self, code: str | types.CodeType) -> None:
        """Run a cell; its exception is its own."""
        ready = self.compiled(code) if isinstance(code, str) else code
        if ready.co_flags & inspect.CO_COROUTINE:
            asyncio.run(eval(ready, self.names))
        else:
            exec(ready, self.names)

    def clear(self) -> None:
        """Forget what the cells have defined."""
        for name in [name for name in self.names if not name.startswith("__")]:
            del self.names[name]


def in_a_fresh_process(
    function: Callable[[Argument], Result], arguments: Iterable[Argument]
) -> Iterator[Result]:
    """Call a function with each of these, all in one new process; what the cells print there is left out."""
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawning, initializer=_prepare) as process:
        yield from process.map(function, arguments)


def _prepare() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    # A spawned process would spawn its own children, and those of a cell are forked where that is usual.
    multiprocessing.set_start_method(None, force=True)
