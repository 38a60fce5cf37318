"""Which tests run here: one that needs a framework that is not installed is left out, and the end says so.

    @pytest.mark.needs("torch", "jax")

`make test-frameworks` has all of them installed, and names them in JUPYTER_MLGPU_REQUIRE: then one that is
missing is an error, so that no test is left out unseen.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

import pytest

from jupyter_mlgpu.backends import registry
from jupyter_mlgpu.backends.modules import installed

MODULES = {name: module for module, name in registry.MODULES.items()}
left_out = pytest.StashKey[Counter[str]]()


def missing(names: tuple[str, ...] | list[str]) -> list[str]:
    """Those of these frameworks, or other modules, that are not installed here."""
    return [name for name in names if not installed(MODULES.get(name, name))]


def pytest_configure(config: pytest.Config) -> None:
    # A shell's background job ignores Ctrl-C, and hands that on to every process it starts: a program under
    # test would ignore it, too. With a handler of ours here, a child begins with the system's own answer.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line(
        "markers", "needs(*names): runs only where these frameworks or modules are installed"
    )
    config.stash[left_out] = Counter()
    required = os.environ.get("JUPYTER_MLGPU_REQUIRE", "")
    if absent := missing([name for name in required.split(",") if name]):
        raise pytest.UsageError(
            f"JUPYTER_MLGPU_REQUIRE asks for {required}; not installed here: {', '.join(absent)}. "
            "`make test-frameworks` installs them."
        )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    kept, without = [], []
    for item in items:
        absent = missing([name for mark in item.iter_markers("needs") for name in mark.args])
        config.stash[left_out].update(absent[:1])
        (without if absent else kept).append(item)
    if without:
        config.hook.pytest_deselected(items=without)
        items[:] = kept


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if counts := config.stash[left_out]:
        parts = ", ".join(f"{count} for want of {name}" for name, count in counts.items())
        terminalreporter.write_line(
            f"Left out, for what they need is not installed here: {parts}. `make test-frameworks` runs them."
        )
