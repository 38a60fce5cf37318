"""Which tests run here, and what a run tells at its end: what was left out, and why.

    @pytest.mark.needs("torch", "jax")

A test that needs a framework that is not installed is left out. `make test-frameworks` has all of them
installed, and names them in JUPYTER_MLGPU_REQUIRE: then one that is missing is an error, so that no test is
left out unseen.

scripts/run_tests.py names a file in JUPYTER_MLGPU_TEST_REPORT, in which a run writes how it ended.

Each test has the mark of its kind: `small`, or what it needs, as its file (`pytestmark = pytest.mark.kernel`)
or its folder says. `-m kernel` reads the files of that kind alone, and those of a kind that cannot run here
are left out.
"""

from __future__ import annotations

import functools
import json
import os
import re
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.extras import installed

MODULES = {name: module for module, name in registry.MODULES.items()}
HERE = Path(__file__).parent
#: Folders whose tests are all of one kind.
FOLDERS = {
    "jupyter/lab": "browser",
    "measure/contract": "contract",
    "pages": "page",
    "teach/classes": "classroom",
    "teach/teacher": "hub",
}
KINDS = {
    "small": "no kernel and no browser",
    "kernel": "with a real kernel",
    **{kind: f"the tests of tests/{folder}" for folder, kind in FOLDERS.items()},
}
#: Without these the files of a kind cannot be read.
NEEDED = {
    "kernel": ["ipykernel", "jupyter_client"],
    "page": ["ipykernel", "jupyter_client"],
    "browser": ["playwright"],
}
_KERNEL = re.compile(r"^pytestmark = (\[\s*)?pytest\.mark\.kernel\b", re.MULTILINE)
_NEEDS = re.compile(r'^pytestmark = pytest\.mark\.needs\("(\w+)"\)', re.MULTILINE)
left_out = pytest.StashKey[Counter[str]]()
report = pytest.StashKey[str | None]()


def missing(names: tuple[str, ...] | list[str]) -> list[str]:
    """Those of these frameworks, or other modules, that are not installed here."""
    return [name for name in names if not installed(MODULES.get(name, name))]


#: Fixtures of tests with a kernel, for every room.
pytest_plugins = [] if missing(NEEDED["kernel"]) else ["tests.support.kernel_fixtures"]


@functools.cache
def kind_of(path: Path) -> str:
    """The kind of a file's tests; `small` outside of this folder, too."""
    for folder, kind in FOLDERS.items():
        if path.is_relative_to(HERE / folder):
            return kind
    return "kernel" if _KERNEL.search(path.read_text(encoding="utf-8")) else "small"


@functools.cache
def needs_of(path: Path) -> list[str]:
    """What a file's import needs: that of its kind, and what `pytestmark = pytest.mark.needs(...)` names."""
    return [*NEEDED.get(kind_of(path), []), *_NEEDS.findall(path.read_text(encoding="utf-8"))]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file or folder whose kind is not asked for, or cannot run here, is not even read."""
    if collection_path.is_dir():
        folders = {HERE / folder: kind for folder, kind in FOLDERS.items()}
        kind = folders.get(collection_path)
        needed = NEEDED.get(kind or "", [])
    else:
        is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
        kind = kind_of(collection_path) if is_test else None
        needed = needs_of(collection_path) if is_test else []
    if kind is None:
        return None
    asked = {one for one in KINDS if re.search(rf"(?<!not )\b{one}\b", config.option.markexpr)}
    if asked and kind not in asked:
        return True
    absent = missing(needed)
    config.stash[left_out].update(absent[:1])
    return True if absent else None


def pytest_configure(config: pytest.Config) -> None:
    # A shell's background job ignores Ctrl-C, one under nohup the end of its terminal, and both hand that
    # on to every process that they start: a program under test would ignore it, too. With a handler of ours
    # here, a child begins with the system's own answer.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)
    config.addinivalue_line(
        "markers", "needs(*names): runs only where these frameworks or modules are installed"
    )
    for kind, meaning in KINDS.items():
        config.addinivalue_line("markers", f"{kind}: {meaning}")
    config.stash[left_out] = Counter()
    # Neither a worker nor a run inside a test keeps anything.
    config.stash[report] = os.environ.pop("JUPYTER_MLGPU_TEST_REPORT", None)
    required = os.environ.get("JUPYTER_MLGPU_REQUIRE", "")
    if absent := missing([name for name in required.split(",") if name]):
        raise pytest.UsageError(
            f"JUPYTER_MLGPU_REQUIRE asks for {required}; not installed here: {', '.join(absent)}. "
            "`make test-frameworks` installs them."
        )


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    item.add_marker(kind_of(item.path))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.collectonly:
        return  # scripts/run_tests.py asks what would run where all is installed
    kept, without = [], []
    for item in items:
        absent = missing([name for mark in item.iter_markers("needs") for name in mark.args])
        config.stash[left_out].update(absent[:1])
        (without if absent else kept).append(item)
    if without:
        config.hook.pytest_deselected(items=without)
        items[:] = kept


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """With several workers, each has read all tests, and the first that ends tells what was left out."""
    if not node.config.stash[left_out]:
        node.config.stash[left_out].update(getattr(node, "workeroutput", {}).get("left_out", {}))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = dict(session.config.stash[left_out])
    elif exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and session.config.stash[report]:
        session.exitstatus = pytest.ExitCode.OK  # `make test PYTEST_ARGS="-k ..."`: another part has them


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if counts := config.stash[left_out]:
        parts = ", ".join(f"{count} for want of {name}" for name, count in counts.items())
        terminalreporter.write_line(
            f"Left out, for what they need is not installed here: {parts}. `make test-frameworks` runs them."
        )
    if path := config.stash[report]:
        keep(Path(path), terminalreporter)


def keep(path: Path, reporter: pytest.TerminalReporter) -> None:
    """Write how the run ended: what passed, what failed with its output, and why tests were skipped."""
    skipped = Counter(report.longrepr[2] for report in reporter.stats.get("skipped", []))
    failed: dict[str, str] = {}
    for one in (*reporter.stats.get("failed", []), *reporter.stats.get("error", [])):
        text = "\n".join([one.longreprtext, *(f"--- {title}\n{text}" for title, text in one.sections)])
        failed[one.nodeid] = f"{failed[one.nodeid]}\n\n{text}" if one.nodeid in failed else text
    told = {
        "passed": len(reporter.stats.get("passed", [])),
        "failed": failed,
        "skipped": {reason.removeprefix("Skipped: "): number for reason, number in skipped.items()},
    }
    path.write_text(json.dumps(told), encoding="utf-8")
