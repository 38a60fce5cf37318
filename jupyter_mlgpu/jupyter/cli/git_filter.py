"""Have git leave our receipts out of what is committed: a clean filter, set up in one repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from jupyter_mlgpu.record.errors import MlgpuError, UsageError
from jupyter_mlgpu.record.visible import visible_line

NAME = "jupyter-mlgpu"
_LINE = f"*.ipynb filter={NAME}"
# By Python's own path: git runs it without the environment in which the command was found.
_MAIN = "import sys; from jupyter_mlgpu.jupyter.cli import main; sys.exit(main())"
_UNSET = ("unspecified", "unset")


def install(*, everything: bool = False) -> str:
    """Set it up in the repository of this folder; returns what was done, and how it is undone.

    Raises UsageError outside of a repository, and where another filter has the notebooks already.
    """
    found = _git("check-attr", "filter", "--", "a.ipynb").rpartition(": ")[2]
    if found not in (*_UNSET, NAME):
        raise UsageError(
            f"Notebooks already go through the git filter {found!r}, and git runs only one: "
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
        said = error.stderr.strip().splitlines()
        raise UsageError(f"git failed here ({said[0] if said else 'it gave no reason'}).") from error
    return done.stdout.strip()
