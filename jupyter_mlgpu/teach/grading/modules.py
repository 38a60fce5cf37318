"""Check that the modules which a lab imports can be imported where it is graded.

This runs once, before the first student: a module that is missing would otherwise fail each submission.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.errors import GradingError
from jupyter_mlgpu.record.extras import install_line
from jupyter_mlgpu.record.sentence import Sentence, joined, say
from jupyter_mlgpu.teach.grading.cells import plain_python
from jupyter_mlgpu.teach.grading.limits import Limits
from jupyter_mlgpu.teach.grading.sandbox import Sandbox

#: Seconds within which a module can be imported. A framework takes up to half a minute on a slow disk.
_LONGEST = 120
#: Packages for labs that the extra `classroom` installs. Each framework has an extra of its own name.
_OF_CLASSROOM = {"numpy"}


def require_modules(sandbox: Sandbox, folder: Path) -> None:
    """Raise GradingError with the line to type if a module that a lab imports cannot be imported.

    `folder` is the lab's own. Modules that are files in it are left out.
    """
    names = {
        name
        for path in sorted(folder.glob("*.ipynb"))
        for name in imported_modules(json.loads(path.read_bytes()))
        if not (folder / name).is_dir() and not (folder / f"{name}.py").is_file()
    }
    problems = {name: why for name in sorted(names) if (why := _why_not(sandbox, name)) is not None}
    if problems:
        raise GradingError(_sentence(folder.name, problems))


def imported_modules(notebook: Mapping[str, Any]) -> set[str]:
    """Return the top-level names of all modules that a lab's code cells import, except Python's own.

    Imports in a `try` are left out, because the cell expects that they may fail.
    """
    found: set[str] = set()
    for cell in notebook.get("cells", ()):
        if cell["cell_type"] == "code" and "raises-exception" not in cell["metadata"].get("tags", ()):
            try:
                tree = ast.parse(plain_python("".join(cell["source"])))
            except (SyntaxError, ValueError, RecursionError):
                continue
            found |= {name.partition(".")[0] for name in _imports(tree)}
    return found - sys.stdlib_module_names - {"jupyter_mlgpu"}


def _imports(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (one.name for one in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module
    elif not isinstance(node, ast.Try):
        for child in ast.iter_child_nodes(node):
            yield from _imports(child)


def _why_not(sandbox: Sandbox, name: str) -> str | None:
    """Return the error of importing a module in the sandbox, or None."""
    words = [sys.executable, "-c", f"import {name}"]
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                sandbox.command(words, Path(folder), Limits.of_this_machine().files),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_LONGEST,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    if done.returncode == 0:
        return None
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"status {done.returncode}"


def _sentence(lab: str, problems: Mapping[str, str]) -> Sentence:
    frameworks = [name for name in problems if name in registry.OWN]
    found = say(
        "{lab} cannot be graded with this Python, {python}, so no student's code was run: {problems}.",
        lab=lab,
        python=sys.executable,
        problems="; ".join(f"{name} ({why})" for name, why in problems.items()),
    )
    if problems.keys() <= {*registry.OWN, *_OF_CLASSROOM}:
        line = install_line(",".join(["classroom", *frameworks]))
        return joined(found, say("Run `{line}` and grade again.", line=line))
    return joined(found, say("Install these packages for it and grade again."))
