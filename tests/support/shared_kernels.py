"""Kernels that one test after the other uses, each finding what the first one found.

A test that leaves something behind fails, and the next one gets a kernel that nobody has used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.kernels import Notebook

LOAD = "%load_ext jupyter_mlgpu"

#: Takes back what device was asked for; no magic does.
NO_DEVICE = """
_selection = get_ipython()._jupyter_mlgpu.runtime.selection
_selection._words.clear()
"""

#: Takes away the names that a test has defined, `_` too, so that IPython keeps the last result there again.
TIDY = """
for _name in list(get_ipython().user_ns):
    if _name.strip("_") == "" or not (_name in {keep!r} or _name.startswith("_")):
        del get_ipython().user_ns[_name]
"""

#: What a test may not leave changed in a kernel that others use after it.
STATE = """
def _state():
    import os, sys
    from IPython import get_ipython
    shell = get_ipython()
    extension = getattr(shell, "_jupyter_mlgpu", None)
    state = {
        "working folder": os.getcwd(),
        "environment": dict(os.environ),
        "sys.path": list(sys.path),
        "standard streams": [type(sys.stdout).__name__, type(sys.stderr).__name__],
        "hooks": {name: len(calls) for name, calls in shell.events.callbacks.items()},
        "magics": sorted(shell.magics_manager.magics["line"]) + sorted(shell.magics_manager.magics["cell"]),
        "extension": extension is not None,
    }
    if extension is not None:
        asked = extension.snapshot()
        state["tracing"] = asked["tracing"]
        state["device"] = asked["device"]["requested"]
        state["choices"] = {name: asked["choices"][name] for name in ("device", "trace")}
    return state
"""


class Shared:
    """A kernel for one test after the other, on which `prepare` was run once; the extension stays loaded.

    Between two tests the records are cleared, and so are the names that cells have defined, but for those of
    `prepare`.
    """

    def __init__(self, folder: Path, environment: dict[str, str | None], *prepare: str) -> None:
        self.folder = folder
        self._environment = environment
        self._prepare = prepare
        self._notebook: Notebook | None = None
        self._names: list[str] = []
        self._state: dict[str, Any] = {}

    @contextmanager
    def lent(self) -> Iterator[Notebook]:
        """The kernel for one test; raises AssertionError where the test left it changed, and ends it then."""
        if self._notebook is None:
            self._notebook = self._started()
        notebook = self._notebook
        yield notebook
        changed = self._changes(notebook) if notebook.manager.is_alive() else ["it has ended"]
        if changed:
            self.close()
        assert not changed, f"a kernel that others use was left changed: {'; '.join(changed)}"

    def close(self) -> None:
        """End it; the next test gets a fresh one."""
        if self._notebook is not None:
            self._notebook.close()
            self._notebook = None

    def _started(self) -> Notebook:
        notebook = Notebook(self.folder, self._environment)
        notebook.connect()
        for code in self._prepare:
            result = notebook.run(code)
            assert result.status == "ok", result
        if LOAD in self._prepare:
            notebook.open_page()
        self._names = notebook.evaluate("sorted(get_ipython().user_ns)")
        self._state = self._read(notebook)
        return notebook

    def _changes(self, notebook: Notebook) -> list[str]:
        """What is otherwise than before the first test, in words; ready for the next test afterwards."""
        now = self._read(notebook)
        notebook.evaluate("None", prepare=TIDY.format(keep=self._names))
        if now["extension"]:
            notebook.run("%mlc_trace clear")
        notebook.broadcasts.clear()
        return [
            f"{what} was {self._state[what]!r}, is {now.get(what)!r}"
            for what in self._state
            if now.get(what) != self._state[what]
        ]

    def _read(self, notebook: Notebook) -> dict[str, Any]:
        state: dict[str, Any] = notebook.evaluate("_state()", prepare=STATE)
        return state


class Reloaded(Shared):
    """A kernel in which the extension is loaded for each test and unloaded after it: a run of its own.

    What a test changes in the extension is gone with it; that unloading leaves the kernel as it was is looked
    at each time.
    """

    @contextmanager
    def lent_in(self, folder: Path) -> Iterator[Notebook]:
        """The kernel for one test, which works in `folder`; raises as `lent` does."""
        with self.lent() as notebook:
            notebook.change_folder(folder)
            assert notebook.run(LOAD).status == "ok"
            notebook.open_page()
            yield notebook
            if notebook.manager.is_alive():
                self._put_back(notebook)

    def _put_back(self, notebook: Notebook) -> None:
        if notebook.evaluate("'jupyter_mlgpu' in get_ipython().extension_manager.loaded"):
            notebook.run("%unload_ext jupyter_mlgpu")
            notebook.hear_goodbye()
        notebook.change_folder(self.folder)


class ReloadedKernels:
    """One such kernel for each environment that is asked for, the last two of them."""

    def __init__(self, new_folder: Callable[[], Path]) -> None:
        self._new_folder = new_folder
        self._kernels: dict[frozenset[tuple[str, str | None]], Reloaded] = {}

    def get(self, environment: dict[str, str | None]) -> Reloaded:
        """The kernel with this environment."""
        key = frozenset(environment.items())
        kernel = self._kernels.pop(key, None) or Reloaded(self._new_folder(), environment)
        self._kernels[key] = kernel
        for old in list(self._kernels)[:-2]:
            self._kernels.pop(old).close()
        return kernel

    def close(self) -> None:
        """End them all."""
        for kernel in self._kernels.values():
            kernel.close()
