"""Code run as IPython runs a cell: compiled as a file of its own, whose lines `linecache` has."""

import itertools
import linecache
from contextlib import contextmanager

_numbers = itertools.count(1)


class _Cell:
    def __init__(self, code, names):
        self._code, self.names = code, names

    def __call__(self):
        exec(self._code, self.names)


@contextmanager
def run_as_cell(source, **names):
    """Gives a function that runs the code (its `names` are the code's), and the name of its file."""
    filename = f"<a cell of a test {next(_numbers)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    try:
        yield _Cell(compile(source, filename, "exec"), {"__name__": "__main__", **names}), filename
    finally:
        del linecache.cache[filename]
