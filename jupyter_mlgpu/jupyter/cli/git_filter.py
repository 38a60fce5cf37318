"""Sets up a clean filter in one git repository, which leaves our receipts out of commits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from jupyter_mlgpu.record.errors import MlgpuError, UsageError
from jupyter_mlgpu.record.visible import visible_line

NAME = "jupyter-mlgpu"
_LINE = f"*.ipynb filter={NAME}"
# With the full path of Python: git runs the filter without the environment that found the command.
_MAIN = "import sys; from jupyter_mlgpu.jupyter.cli import main; sys.exit(main())"
_UNSET = ("unspecified", "unset")


def install(*, everything: bool = False) -> str:
    """Set up the filter in the current repository; return a text on what was done and how to undo it.

    Raises UsageError outside a repository, or if notebooks already have another filter.
    """
    current_filter = _git("check-attr", "filter", "--", "a.ipynb").rpartition(": ")[2]
    if current_filter not in (*_UNSET, NAME):
        raise UsageError(
            f"Notebooks already go through the git filter {current_filter!r}, and git runs only one: "
            "add `jupyter mlgpu strip -` to that filter."
        )
    words = "strip --all -" if everything else "strip -"
    _git("config", f"filter.{NAME}.clean", f'"{Path(sys.executable).as_posix()}" -c "{_MAIN}" {words}')
    attributes = Path(_git("rev-parse", "--git-path", "info/attributes"))
    try:
        attributes.parent.mkdir(parents=True, exist_ok=True)
        lines = attributes.read_text(encoding="utf-8").splitlines() if attributes.exists() else []
        if _LINE not in lines:
            attributes.write_text("\n".join([*lines, _LINE, ""]), encoding="utf-8")
    except OSError as error:
        raise MlgpuError(f"{visible_line(attributes)} cannot be written ({error.strerror}).") from error
    what = "all outputs of jupyter_mlgpu" if everything else "receipts"
    return (
        f"From now on, git leaves {what} out of commits in this repository; your files keep them. "
        f"To undo it: git config --remove-section filter.{NAME}"
    )


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise UsageError("git was not found on the PATH.") from error
    except subprocess.CalledProcessError as error:
        lines = error.stderr.strip().splitlines()
        raise UsageError(f"git failed here ({lines[0] if lines else 'it gave no reason'}).") from error
    return done.stdout.strip()
