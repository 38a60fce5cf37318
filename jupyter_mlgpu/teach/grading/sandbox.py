"""Places where a stranger's program can run and reach nothing: what wraps its command.

Each gives the program its own empty folder, an empty environment, no network, no sight of other processes,
and Python's files to read, less the solutions and answers among them (`sealed.py`). `probe.py` proves that
before anything is graded.
"""

from __future__ import annotations

import os
import shutil
import site
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import jupyter_mlgpu
from jupyter_mlgpu.teach.grading import syscalls
from jupyter_mlgpu.teach.grading.sealed import Sealed, sealed

#: The folder that a student's program begins in, and may write to.
HOME = "/home/student"
#: The user and group "nobody": whom nothing belongs to.
_NOBODY = "65534"

#: Bytes of a folder in memory that nothing is written to.
_LEAST = 64 * 1024

_OF_THE_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_OF_ETC = ("alternatives", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "ssl/certs")


class Sandbox(Protocol):
    """A way to run a command apart; `name` is what a configuration calls it, `title` says it to a reader.

    `in_memory` are the folders of the program's that lie in memory, which count as memory of its own.
    """

    name: str
    title: str
    in_memory: Sequence[str]

    def missing(self) -> str | None:
        """Why it cannot even be tried here; None: it can."""
        ...

    def command(self, words: Sequence[str], folder: Path, files: int) -> list[str]:
        """The command that runs `words` apart. `folder` is theirs; they may write `files` bytes in all."""
        ...


def environment(home: str) -> dict[str, str]:
    """All that a student's program finds in its environment: nothing of ours."""
    return {
        "HOME": home,
        "LANG": "C.UTF-8",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}/usr/bin{os.pathsep}/bin",
        "PYTHONPATH": os.pathsep.join(_beside()),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "TMPDIR": "/tmp" if home == HOME else home,
        "USER": "student",
    }


def libraries() -> list[Path]:
    """The folders with Python and its packages. Of a checkout only our package: labs lie beside it."""
    package = Path(jupyter_mlgpu.__file__).parent
    found = [Path(one) for one in (sys.prefix, sys.exec_prefix, sys.base_prefix, *site.getsitepackages())]
    found += [Path(one) for one in sys.path if Path(one).name in ("site-packages", "dist-packages")]
    found += [Path(sys.executable).resolve().parent.parent, package]
    known = [path for path in dict.fromkeys(found) if path.is_dir()]
    return [one for one in known if not any(other in one.parents for other in known)]


def covered() -> list[Sealed]:
    """What a sandbox has to cover of all that it shows."""
    of_the_system = [Path(one) for one in _OF_THE_SYSTEM if not Path(one).is_symlink()]
    return sealed([one for one in of_the_system if one.is_dir()] + libraries())


def _covering(one: Sealed) -> list[str]:
    """Bubblewrap's words for an empty folder over this one, in which nothing can be written either."""
    folder = str(one.folder)
    kept = [str(one.folder / name) for name in one.readable]
    made = ["--perms", "0755", "--size", str(_LEAST), "--tmpfs", folder]
    for path in kept:
        made += ["--ro-bind", path, path]
    return [*made, "--remount-ro", folder]


def _beside() -> list[str]:
    """Where Python has to look for our package, if not among the others."""
    root = Path(jupyter_mlgpu.__file__).parents[1]
    return [] if root.name in ("site-packages", "dist-packages") else [str(root)]


class Bubblewrap:
    """Linux namespaces through `bwrap`; for root, as the user "nobody" besides."""

    name = "bubblewrap"
    title = "bubblewrap (its own file system, processes and network)"
    in_memory: Sequence[str] = ("/dev/shm", "/tmp", HOME)

    def missing(self) -> str | None:
        """What is lacking for it here, in a sentence; None: nothing."""
        return syscalls.missing() if shutil.which("bwrap") else "bubblewrap (`bwrap`) is not installed"

    def command(self, words: Sequence[str], folder: Path, files: int) -> list[str]:
        """The words that run a program in it. Nothing of the machine can be written, `folder` is not used."""
        root = os.geteuid() == 0
        made = [sys.executable, "-IS", syscalls.__file__]  # starts what follows, with a filter
        made += ["bwrap", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
        # Root needs no namespace of users, and is better off as another user than as a root without rights.
        made += [f"--unshare-{one}" for one in ("ipc", "pid", "net", "uts")] if root else ["--unshare-all"]
        if root:
            made += ["--unshare-cgroup-try", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        for name, value in environment(HOME).items():
            made += ["--setenv", name, value]
        for text in _OF_THE_SYSTEM:
            path = Path(text)
            if path.is_symlink():
                made += ["--symlink", os.readlink(path), text]
            elif path.is_dir():
                made += ["--ro-bind", text, text]
        made += ["--perms", "0755", "--dir", "/etc", "--perms", "0755", "--dir", "/etc/ssl"]
        for name in _OF_ETC:
            made += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
        made += ["--proc", "/proc", "--dev", "/dev"]
        for place in self.in_memory:
            made += ["--perms", "1777", "--size", str(files), "--tmpfs", place]
        for path in libraries():
            if path.is_relative_to("/usr"):
                continue
            for above in [*path.parents][-2::-1]:  # which bwrap would make for root alone
                made += ["--perms", "0755", "--dir", str(above)]
            made += ["--ro-bind", str(path), str(path)]
        for one in covered():
            made += _covering(one)
        made += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME, "--"]
        if root:
            made += ["/usr/bin/setpriv", "--reuid", _NOBODY, "--regid", _NOBODY, "--clear-groups", "--"]
        return [*made, *words]


class SandboxExec:
    """macOS's `sandbox-exec` with a profile of ours. Other processes can be seen, and files' names."""

    name = "sandbox-exec"
    title = (
        "sandbox-exec (no network, no files of yours; the names of your programs can be seen; never run yet)"
    )
    in_memory: Sequence[str] = ()

    def missing(self) -> str | None:
        """What is lacking for it here, in a sentence; None: nothing."""
        return (
            None if sys.platform == "darwin" and shutil.which("sandbox-exec") else "sandbox-exec is macOS's"
        )

    def command(self, words: Sequence[str], folder: Path, files: int) -> list[str]:
        """The words that run a program in it; one file is held to `files` bytes, not all together."""
        given = [f"{name}={value}" for name, value in environment(str(folder)).items()]
        return ["sandbox-exec", "-p", profile(folder.resolve()), "/usr/bin/env", "-i", *given, *words]


def profile(folder: Path) -> str:
    """A profile in macOS's language: what is not of the system or of Python is out of reach.

    Of two rules that meet the same file, the later one holds.
    """
    readable = [Path(one) for one in ("/usr", "/bin", "/System", "/Library/Frameworks", "/opt/homebrew")]
    paths = " ".join(f"(subpath {_quoted(one)})" for one in [*readable, *libraries(), folder])
    return "\n".join(
        [
            "(version 1)",
            "(allow default)",
            "(deny network*)",
            "(deny signal (target others))",
            "(deny file-write*)",
            f'(allow file-write* (subpath {_quoted(folder)}) (literal "/dev/null"))',
            '(deny file-read-data (subpath "/Users") (subpath "/Volumes") (subpath "/private"))',
            '(deny file-read-data (subpath "/Library"))',
            f'(allow file-read* {paths} (subpath "/private/var/db"))',
            *(f"(deny file-read-data (subpath {_quoted(one.folder)}))" for one in covered()),
            *(
                f"(allow file-read-data (literal {_quoted(one.folder / name)}))"
                for one in covered()
                for name in one.readable
            ),
        ]
    )


def _quoted(path: Path) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


class SameUser:
    """No sandbox: a process of its own with an empty environment, which may do all that you may."""

    name = "same-user"
    title = "none: the students' code ran as you, with your files and your network"
    in_memory: Sequence[str] = ()

    def missing(self) -> str | None:
        """What is lacking for it here, in a sentence; None: nothing."""
        return None

    def command(self, words: Sequence[str], folder: Path, files: int) -> list[str]:
        """The words that run a program in it."""
        given = [f"{name}={value}" for name, value in environment(str(folder)).items()]
        return ["/usr/bin/env", "-i", *given, *words]


#: What is tried, in this order; the last one only when it is asked for.
SANDBOXES: Mapping[str, Sandbox] = {one.name: one for one in (Bubblewrap(), SandboxExec(), SameUser())}
